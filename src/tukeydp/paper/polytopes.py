"""Bounded polytopes {z : A z <= b}: Chebyshev balls, hulls, vertices, facets and volume. Floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.hints.float_programs import add_rows, quiet_solver
from tukeydp.paper.polytope_kernels import chain
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError

# The Chebyshev ball of a polytope {z : normals z <= offsets}: the largest ball inside. Floats.

# Radii in units of the columns' spread. Above FLAT a set has an inner point, below -EMPTY it has no point; in between
# exact arithmetic looks for one. Both are at least the solver's tolerance: with a smaller FLAT rounding passes for an
# inside, with a smaller EMPTY for emptiness. Larger: thin level sets get the volume 0, and more is decided exactly.
FLAT, EMPTY = 1e-10, 1e-8

# Largest coordinate and radius, so that the program is bounded. Level sets that end farther out have another ball than
# the largest; any ball inside will do.
_FARTHEST = 1e7
# A row is violated if it is off by more than this part of 1 + |offset|: below what the solver resolves. Larger: the
# ball sticks out by as much. Smaller: rounding adds rows that change nothing.
_VIOLATED = 1e-12
_FIRST_ROWS = 64  # rows of the first program where there are many; speed only
_PRESSED = 1e-9  # multipliers below this are rounding; with a larger one, rows that press a set flat are missed
_OPTIONS = {
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,  # HiGHS takes no smaller ones
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class ChebyshevBall:
    """The largest ball inside a polytope: its radius is negative if the polytope is empty, zero if it is flat.

    `pressed` are rows whose multipliers are positive: if the radius is zero they hold with equality everywhere.
    """

    centre: FloatArray
    radius: float
    pressed: IntArray


def chebyshev_ball(normals: FloatArray, offsets: FloatArray) -> ChebyshevBall:
    """Linear program: most slack common to all rows. Only rows that some solution violates enter the program."""
    m, d = normals.shape
    far = np.full(d + 1, _FARTHEST)
    solver = quiet_solver(-far, far, **_OPTIONS)
    solver.changeColCost(d, -1.0)
    held = np.empty(0, dtype=np.int64)
    fresh = np.arange(m) if m <= 4 * _FIRST_ROWS else np.linspace(0, m - 1, _FIRST_ROWS).astype(np.int64)
    z, radius = np.zeros(d), np.inf
    while len(fresh):
        rows = np.column_stack([normals[fresh], np.ones(len(fresh))])
        add_rows(solver, rows, np.full(len(fresh), -np.inf), offsets[fresh])
        held = np.append(held, fresh)
        solver.run()
        solution = solver.getSolution()
        found = np.array(solution.col_value)
        if len(found) != d + 1 or not np.isfinite(found).all():
            break
        z, radius = found[:d], float(found[d])
        short = radius - (offsets - normals @ z)
        short[held] = 0.0
        worst = np.argsort(short)[-4 * d :] if m > 4 * d else np.arange(m)
        fresh = worst[short[worst] > _VIOLATED * (1.0 + np.abs(offsets[worst]))]
    duals = np.array(solution.row_dual)
    pressed = held[np.abs(duals) > _PRESSED] if len(duals) == len(held) else np.empty(0, dtype=np.int64)
    return ChebyshevBall(z, float(min(radius, (offsets - normals @ z).min())), pressed)


# Convex hulls in the plane. Floats.

_MANY_POINTS = 2000  # from here on the hull is compiled; speed only


def planar_hull(points: FloatArray) -> IntArray:
    """Indices of the corners of the convex hull, counterclockwise."""
    x, y = points.T
    order = np.lexsort((y, x))
    hull = np.empty(2 * len(points) + 2, dtype=np.int64)
    if len(points) >= _MANY_POINTS:
        from tukeydp.paper.polytope_kernels import compiled_chain

        return hull[: compiled_chain(x.copy(), y.copy(), order, hull)].copy()
    found = hull.tolist()
    return np.array(found[: chain(x.tolist(), y.tolist(), order.tolist(), found)], dtype=np.int64)


# Bounded polytopes {z : A z <= b} with unit normals: vertices, facets and volume. Floats.
#
# With the origin inside, facets are the corners of the convex hull of the dual points a / b, and vertices its facets.
# The dual hull is triangulated, so that every vertex lies on just d facets (vertices where more meet appear several
# times): the faces of dimension k are the sets of d - k facets that some vertex has, and
#
#     volume of a face = 1/k * sum over its own facets of (height above it) * (volume of it)    (Lasserre 1983),
#
# heights being measured from a point inside the face, so that all terms are positive and nothing cancels.

# Coordinates are in units of the middle half of the rows. A vertex farther out is given up: products of such numbers
# have no digits left. Larger: vertices and volumes come out that are wrong.
_FAR = 1e9
# The facets' areas times their normals must add up to zero, within this part of all areas. Far above rounding.
# Smaller: good triangulations are thrown away (speed only, others are tried). Larger: one with gaps may pass.
_OPEN = 1e-7
# Ratio of widths below which a polytope is first stretched to be as wide as it is long. Larger: speed only. Smaller:
# Qhull works on a sliver, and loses digits.
_NARROW = 1e-2
# Halfspaces are moved outwards by up to these parts of their slacks, one after the other until Qhull's triangulation
# closes. More than rounding, so that no more than d meet in a vertex; the volume is off by as much.
_JOGGLES = (1e-10, 1e-9, 1e-8)
# Multiples of the golden section, modulo 1, are well apart: no two halfspaces are moved by the same part.
_GOLDEN = 0.6180339887498949
# Vertices are one if they agree in so many steps a unit, the unit being their typical distance from the middle. More:
# equal vertices are listed several times. Fewer: short edges vanish.
_STEPS_A_UNIT = 1e10


@dataclass(frozen=True, eq=False)
class Polytope:
    """`facets` are the rows of (A, b) that touch it; vertex i, of those that may repeat, lies on facets[corners[i]]."""

    vertices: FloatArray
    facets: IntArray
    corners: IntArray
    volume: float

    def moved(self, stretch: FloatArray, centre: FloatArray) -> Polytope:
        """Its image under z -> centre + stretch z."""
        volume = self.volume * float(abs(np.linalg.det(stretch)))
        return Polytope(centre + self.vertices @ stretch.T, self.facets, self.corners, volume)

    def bounding(self) -> IntArray:
        """The facets with at least d different vertices: others only touch, as rounding has it."""
        d = self.vertices.shape[1]
        which = _same(self.vertices)
        pairs = np.unique(np.column_stack([self.corners.ravel(), np.repeat(which, d)]), axis=0)
        return self.facets[np.bincount(pairs[:, 0], minlength=len(self.facets)) >= d]


def unresolved(level: int) -> ParameterError:
    """What to raise for a level whose polytope is None."""
    rule = f"must be one whose set reaches at most {_FAR:g} times as far as the middle half of the rows"
    return ParameterError("level", rule, level)


def polytope(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> Polytope | None:
    """The bounded polytope around a point strictly inside it; None if it reaches farther than floats can resolve."""
    from scipy.spatial import QhullError

    try:
        with np.errstate(all="ignore"):
            found = _polytope(normals, offsets, inside)
    except (QhullError, np.linalg.LinAlgError):
        return None
    return found if np.abs(found.vertices).max() <= _FAR else None


def _polytope(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> Polytope:
    slacks = offsets - normals @ inside
    if normals.shape[1] == 1:
        return _interval(normals[:, 0], slacks, inside)
    # The dual points have its widths inverse. In coordinates w, z = inside + stretch w, it is as wide as it is long.
    widths, axes = np.linalg.svd(normals / slacks[:, np.newaxis], full_matrices=False)[1:]
    if widths[-1] > _NARROW * widths[0]:
        return _around_origin(normals, slacks).moved(np.eye(len(inside)), inside)
    stretch = axes.T * (widths[-1] / widths)
    rounder = normals @ stretch
    lengths = np.linalg.norm(rounder, axis=1)
    return _around_origin(rounder / lengths[:, np.newaxis], slacks / lengths).moved(stretch, inside)


def _around_origin(normals: FloatArray, slacks: FloatArray) -> Polytope:
    if normals.shape[1] == 2:
        return _polygon(normals, slacks)
    from scipy.spatial import ConvexHull, QhullError

    d = normals.shape[1]
    dual = normals / slacks[:, np.newaxis]
    try:
        hull = ConvexHull(dual, qhull_options="Qt" if d < 5 else "Qt Qx")
    except QhullError:
        hull = ConvexHull(dual, qhull_options="QJ")
    vertices, facets, corners = _from_dual(hull)
    volume = _simple_volume(normals[facets], slacks[facets], vertices, corners)
    for joggle in _JOGGLES:
        if volume is not None:
            break
        # Once more, each halfspace moved by a little more than rounding, so that no more than d meet in a vertex.
        apart = slacks * (1.0 + joggle * np.modf(np.arange(len(slacks)) * _GOLDEN)[0])
        moved, touched, simple = _from_dual(ConvexHull(normals / apart[:, np.newaxis], qhull_options="Qt"))
        volume = _simple_volume(normals[touched], apart[touched], moved, simple)
    if volume is None:
        volume = float(ConvexHull(distinct(vertices), qhull_options="QJ").volume)
    return Polytope(vertices, facets, corners, volume)


def vertex_cones(normals: FloatArray, slacks: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices of a polytope around the origin, its facets, and the d facets (in ascending order) at each vertex."""
    if normals.shape[1] == 2:
        with np.errstate(all="ignore"):
            found = _polygon(normals, slacks)
        return found.vertices, found.facets, np.sort(found.corners, axis=1)
    from scipy.spatial import ConvexHull, QhullError

    dual = normals / slacks[:, np.newaxis]
    try:
        return _from_dual(ConvexHull(dual, qhull_options="Qt"))
    except QhullError:
        return _from_dual(ConvexHull(dual, qhull_options="QJ"))


def _from_dual(hull: Any) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices, facets, and the facets of each vertex: a dual facet <u, w> = -offset is the vertex u / -offset."""
    d = hull.simplices.shape[1]
    facets, which = np.unique(hull.simplices, return_inverse=True)
    corners = np.sort(which.reshape(-1, d), axis=1)
    with np.errstate(all="ignore"):
        vertices = hull.equations[:, :d] / -hull.equations[:, d:]
    return vertices, facets, corners


def _interval(signs: FloatArray, slacks: FloatArray, inside: FloatArray) -> Polytope:
    ends = slacks / signs  # signs are +1 and -1
    right = int(np.argmin(np.where(signs > 0, ends, np.inf)))
    left = int(np.argmax(np.where(signs < 0, ends, -np.inf)))
    vertices = np.array([[ends[left]], [ends[right]]])
    return Polytope(vertices + inside, np.array([left, right]), np.array([[0], [1]]), float(ends[right] - ends[left]))


def _polygon(normals: FloatArray, slacks: FloatArray) -> Polytope:
    corners = planar_hull(normals / slacks[:, np.newaxis])
    one, two = normals[corners], np.roll(normals[corners], -1, axis=0)
    s, t = slacks[corners], np.roll(slacks[corners], -1)
    cross = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    vertices = np.column_stack([s * two[:, 1] - t * one[:, 1], t * one[:, 0] - s * two[:, 0]]) / cross[:, np.newaxis]
    x, y = vertices.T
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    pairs = np.column_stack([np.arange(len(corners)), np.roll(np.arange(len(corners)), -1)])
    return Polytope(vertices, corners, pairs, max(area, 0.0))


def _simple_volume(normals: FloatArray, slacks: FloatArray, vertices: FloatArray, corners: IntArray) -> float | None:
    """Volume from the vertices and, for each, the d facets it lies on (sorted); the origin is inside.

    None if some edge has not just two ends, or if the facets do not close (Minkowski: the sum of area * normal is
    zero). Where very many facets meet, Qhull's triangulation may have gaps.
    """
    from tukeydp.paper.polytope_kernels import outer_face_volumes

    d = normals.shape[1]
    faces, centres, volumes = corners, vertices, np.ones(len(vertices))
    for k in range(1, d):
        inner, outer, which, dropped = _one_dimension_up(faces, len(normals))
        if k == 1 and (np.bincount(which, minlength=len(outer)) != 2).any():
            return None
        middles, larger = np.empty((len(outer), d)), np.empty(len(outer))
        outer_face_volumes(
            normals,
            outer=outer,
            inner=inner,
            which=which,
            dropped=dropped,
            centres=centres,
            volumes=volumes,
            middles=middles,
            larger=larger,
        )
        faces, centres, volumes = outer, middles, larger
    if np.abs(volumes @ normals[faces[:, 0]]).max() > _OPEN * volumes.sum():
        return None
    return float(np.sum(slacks[faces[:, 0]] * volumes)) / d


def distinct(vertices: FloatArray) -> FloatArray:
    """Vertices where many facets meet come several times, equal up to rounding."""
    _, first = np.unique(_same(vertices), return_index=True)
    return vertices[np.sort(first)]


def _same(vertices: FloatArray) -> IntArray:
    """A number for each vertex, the same for those equal up to rounding."""
    apart = vertices - np.median(vertices, axis=0)
    size = max(float(np.median(np.abs(apart).max(axis=1))), float(np.abs(apart).max()) * 1e-100, 1e-300)
    # Nearly all are of this size; the few that may be much farther away are rounded relative to their distance.
    table = np.rint(np.arcsinh(apart / size) * _STEPS_A_UNIT)
    return np.unique(table, axis=0, return_inverse=True)[1].ravel()


def _one_dimension_up(faces: IntArray, facets: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Each face lies in the faces with one facet fewer: pairs (inner, which outer), the outer, what was dropped."""
    m, size = faces.shape
    kept = [np.delete(faces, j, axis=1) for j in range(size)]
    rows = np.concatenate(kept)
    bits = max(1, int(facets).bit_length())
    if bits * (size - 1) <= 62:
        keys = rows @ (1 << (bits * np.arange(size - 1, dtype=np.int64)))
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.tile(np.arange(m), size), rows[first], which.ravel(), faces.T.ravel()


# Any bounded polytope {y : A y <= b} in coordinates of its own size, and its volume up to rounding.

# Half the side of the box that is added around a polytope whose bounding box is [-1, 1]^d. The excess is more than the
# solver's rounding, so that the box cuts nothing off; a larger one only guards less against rows opened by rounding.
_UNIT_BOX = 1.0 + 1e-9


@dataclass(frozen=True, eq=False)
class NormalisedPolytope:
    """A polytope with inner points, scaled so that its bounding box is [-1, 1]^d; unit normals."""

    normals: FloatArray
    offsets: FloatArray
    inside: FloatArray
    log_unit: float

    def in_units(self, log_volume: float) -> float:
        """A volume in the caller's units, infinite where no float holds it."""
        total = log_volume + self.log_unit
        return math.exp(total) if total < math.log(np.finfo(np.float64).max) else math.inf


def normalised(A: Any, b: Any) -> NormalisedPolytope | None:
    """The polytope {y : A y <= b} in coordinates of its own size; None if it is empty or flat to floats."""
    unit_normals, distances = _unit_rows(A, b)
    unit = _unit_of_length(distances)
    scaled = _in_unit_box(unit_normals, distances / unit)
    if scaled is None:
        return None
    normals, offsets, log_unit = scaled
    ball = chebyshev_ball(normals, offsets)
    if not ball.radius > FLAT:
        return None
    return NormalisedPolytope(normals, offsets, ball.centre, log_unit + normals.shape[1] * math.log(unit))


def exact_log_volume(body: NormalisedPolytope) -> float:
    """From the vertices: correct up to rounding."""
    shape = polytope(body.normals, body.offsets, body.inside)
    if shape is None:
        raise ParameterError("A, b", "must describe a polytope that floats can resolve", "one that they cannot")
    return math.log(shape.volume)


def require_bounded(normals: FloatArray, offsets: FloatArray) -> None:
    """Refuse a polytope that is unbounded, unless it is empty or flat. Two linear programs for each column."""
    unit_normals, distances = _unit_rows(normals, offsets)
    _in_unit_box(unit_normals, distances / _unit_of_length(distances))


def _unit_rows(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    """The halfspaces with normals of length one, without those that hold everywhere."""
    try:
        normals, offsets = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("A, b", "must be arrays of numbers", type(a).__name__) from None
    if normals.ndim != 2 or offsets.shape != normals.shape[:1] or not normals.size:
        rule = "must have shapes (m, d) and (m,), m and d at least 1"
        raise ParameterError("A, b", rule, f"{normals.shape} and {offsets.shape}")
    if not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        raise ParameterError("A, b", "must be finite", "an infinite or missing entry")
    sizes = np.abs(normals).max(axis=1)
    if (offsets[sizes == 0.0] < 0.0).any():
        return np.zeros((1, normals.shape[1])), -np.ones(1)
    normals, offsets, sizes = normals[sizes > 0.0], offsets[sizes > 0.0], sizes[sizes > 0.0]
    normals, offsets = normals / sizes[:, np.newaxis], offsets / sizes
    lengths = np.linalg.norm(normals, axis=1)
    return normals / lengths[:, np.newaxis], offsets / lengths


def _unit_of_length(offsets: FloatArray) -> float:
    """A power of two by which to divide offsets that are all small or all large.

    To a solver numbers below 1e-9 are nothing, and from 1e20 on infinite. Offsets to both sides of 1 stay as they are:
    the large ones may be of rows that do not matter.
    """
    sizes = np.abs(offsets[offsets != 0.0])
    if not len(sizes):
        return 1.0
    return 2.0 ** math.floor(math.log2(float(np.clip(1.0, sizes.min(), sizes.max()))))


def _in_unit_box(normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, FloatArray, float] | None:
    """The polytope in coordinates in which its bounding box is [-1, 1]^d, and log of the unit; None without volume.

    Two linear programs for each column.
    """
    import highspy

    m, d = normals.shape
    unbounded = np.full(d, np.inf)
    solver = quiet_solver(-unbounded, unbounded)
    if m:
        add_rows(solver, normals, np.full(m, -np.inf), offsets)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    ends = np.empty((2, d))
    for column in range(d):
        for side, sign in enumerate((1.0, -1.0)):
            solver.changeColCost(column, sign)
            solver.run()
            if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                _require_flat(normals, offsets)
                return None
            ends[side, column] = sign * solver.getInfo().objective_function_value
        solver.changeColCost(column, 0.0)
    half = 0.5 * (ends[1] - ends[0])
    if not (half > FLAT * np.abs(ends).max()).all():
        return None
    seen = normals * half
    lengths = np.linalg.norm(seen, axis=1)
    inward = (offsets - normals @ (0.5 * (ends[0] + ends[1]))) / lengths
    box = np.vstack([np.eye(d), -np.eye(d)])
    # The box's own rows change nothing, and keep rounding in nearly parallel rows from opening the polytope.
    return (
        np.vstack([seen / lengths[:, np.newaxis], box]),
        np.append(inward, np.full(2 * d, _UNIT_BOX)),
        float(np.log(half).sum()),
    )


def _require_flat(normals: FloatArray, offsets: FloatArray) -> None:
    """An unbounded polytope has no volume if it is flat; otherwise it is refused."""
    if not len(normals) or chebyshev_ball(normals, offsets).radius > FLAT:
        raise ParameterError("A, b", "must describe a bounded polytope", "one that is unbounded in some direction")
