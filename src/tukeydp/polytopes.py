"""Bounded polytopes {z : A z <= b} with unit normals: an inner ball, vertices, facets and volume. Floats.

With the origin inside, facets are the corners of the convex hull of the dual points a / b, and vertices its facets. The
dual hull is triangulated, so that every vertex lies on just d facets (vertices where more meet appear several times):
the faces of dimension k are the sets of d - k facets that some vertex has, and

    volume of a face = 1/k * sum over its own facets of (height above it) * (volume of it),

heights being measured from a point inside the face, so that all terms are positive and nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.grid import FloatArray, IntArray

_REACH = 1e7
_VIOLATED = 1e-12
_FIRST_ROWS = 64
_OPEN = 1e-7
_OPTIONS = {
    "output_flag": False,
    "presolve": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class Ball:
    """The largest ball inside a polytope: its radius is negative if the polytope is empty, zero if it is flat.

    `pressed` are rows whose multipliers are positive: if the radius is zero they hold with equality everywhere.
    """

    centre: FloatArray
    radius: float
    pressed: IntArray


@dataclass(frozen=True, eq=False)
class Polytope:
    """`facets` are the rows of (A, b) that touch it; vertex i, of those that may repeat, lies on facets[corners[i]]."""

    vertices: FloatArray
    facets: IntArray
    corners: IntArray
    volume: float

    def bounding(self) -> IntArray:
        """The facets with at least d different vertices: others only touch, as rounding has it."""
        d = self.vertices.shape[1]
        which = _same(self.vertices)
        pairs = np.unique(np.column_stack([self.corners.ravel(), np.repeat(which, d)]), axis=0)
        return self.facets[np.bincount(pairs[:, 0], minlength=len(self.facets)) >= d]


def inner_ball(normals: FloatArray, offsets: FloatArray) -> Ball:
    """Linear program: most slack common to all rows. Only rows that some solution violates enter the program."""
    import highspy

    m, d = normals.shape
    solver: Any = highspy.Highs()
    for option, value in _OPTIONS.items():
        solver.setOptionValue(option, value)
    for _ in range(d):
        solver.addVar(-_REACH, _REACH)
    solver.addVar(-_REACH, _REACH)
    solver.changeColCost(d, -1.0)
    columns = np.arange(d + 1, dtype=np.int32)
    held = np.empty(0, dtype=np.int64)
    fresh = np.arange(m) if m <= 4 * _FIRST_ROWS else np.linspace(0, m - 1, _FIRST_ROWS).astype(np.int64)
    z, radius = np.zeros(d), np.inf
    while len(fresh):
        rows = np.column_stack([normals[fresh], np.ones(len(fresh))])
        starts = np.arange(0, rows.size, d + 1, dtype=np.int32)
        unbounded = np.full(len(fresh), -np.inf)
        solver.addRows(
            len(fresh), unbounded, offsets[fresh], rows.size, starts, np.tile(columns, len(fresh)), rows.ravel()
        )
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
    pressed = held[np.abs(duals) > 1e-9] if len(duals) == len(held) else np.empty(0, dtype=np.int64)
    return Ball(z, float(min(radius, (offsets - normals @ z).min())), pressed)


def polytope(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> Polytope:
    """The bounded polytope around a point strictly inside it."""
    slacks = offsets - normals @ inside
    d = normals.shape[1]
    if d == 1:
        return _interval(normals[:, 0], slacks, inside)
    if d == 2:
        return _polygon(normals, slacks, inside)
    from scipy.spatial import ConvexHull, QhullError

    dual = normals / slacks[:, np.newaxis]
    try:
        hull = ConvexHull(dual, qhull_options="Qt" if d < 5 else "Qt Qx")
    except QhullError:
        hull = ConvexHull(dual, qhull_options="QJ")
    vertices, facets, corners = _from_dual(hull)
    volume = _simple_volume(normals[facets], slacks[facets], vertices, corners)
    if volume is None:
        # Once more, each halfspace moved by a little more than rounding, so that no more than d meet in a vertex.
        moved, touched, simple = _from_dual(ConvexHull(dual, qhull_options="QJ"))
        volume = _simple_volume(normals[touched], slacks[touched], moved, simple)
    if volume is None:
        volume = float(ConvexHull(distinct(vertices), qhull_options="QJ").volume)
    return Polytope(vertices + inside, facets, corners, volume)


def _from_dual(hull: Any) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices, facets, and the facets of each vertex: a dual facet <u, w> = -offset is the vertex u / -offset."""
    d = hull.simplices.shape[1]
    facets, which = np.unique(hull.simplices, return_inverse=True)
    corners = np.sort(which.reshape(-1, d), axis=1)
    return hull.equations[:, :d] / -hull.equations[:, d:], facets, corners


def _interval(signs: FloatArray, slacks: FloatArray, inside: FloatArray) -> Polytope:
    ends = slacks / signs  # signs are +1 and -1
    right = int(np.argmin(np.where(signs > 0, ends, np.inf)))
    left = int(np.argmax(np.where(signs < 0, ends, -np.inf)))
    vertices = np.array([[ends[left]], [ends[right]]])
    return Polytope(vertices + inside, np.array([left, right]), np.array([[0], [1]]), float(ends[right] - ends[left]))


def _polygon(normals: FloatArray, slacks: FloatArray, inside: FloatArray) -> Polytope:
    from tukeydp.planes import planar_hull

    dual = normals / slacks[:, np.newaxis]
    order = np.empty(2 * len(dual) + 2, dtype=np.int64)
    corners = order[: planar_hull(dual, order)].copy()
    one, two = normals[corners], np.roll(normals[corners], -1, axis=0)
    s, t = slacks[corners], np.roll(slacks[corners], -1)
    cross = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    vertices = np.column_stack([s * two[:, 1] - t * one[:, 1], t * one[:, 0] - s * two[:, 0]]) / cross[:, np.newaxis]
    x, y = vertices.T
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    pairs = np.column_stack([np.arange(len(corners)), np.roll(np.arange(len(corners)), -1)])
    return Polytope(vertices + inside, corners, pairs, max(area, 0.0))


def _simple_volume(normals: FloatArray, slacks: FloatArray, vertices: FloatArray, corners: IntArray) -> float | None:
    """Volume from the vertices and, for each, the d facets it lies on (sorted); the origin is inside.

    None if some edge has not just two ends, or if the facets do not close (Minkowski: the sum of area * normal is
    zero). Where very many facets meet, Qhull's triangulation may have gaps.
    """
    d = normals.shape[1]
    faces, centres, volumes = corners, vertices, np.ones(len(vertices))
    for k in range(1, d):
        inner, outer, which, dropped = _one_dimension_up(faces, len(normals))
        count = np.bincount(which, minlength=len(outer))
        if k == 1 and (count != 2).any():
            return None
        middles = np.zeros((len(outer), d))
        np.add.at(middles, which, centres[inner])
        middles /= count[:, np.newaxis]
        apart = middles[which] - centres[inner]
        if k == 1:
            heights = np.linalg.norm(apart, axis=1)
        else:
            heights = np.abs(np.einsum("ij,ij->i", _within(normals, outer, which, dropped), apart))
        sums = np.bincount(which, weights=heights * volumes[inner], minlength=len(outer)) / k
        faces, centres, volumes = outer, middles, sums
    if np.abs(volumes @ normals[faces[:, 0]]).max() > _OPEN * volumes.sum():
        return None
    return float(np.sum(slacks[faces[:, 0]] * volumes)) / d


def distinct(vertices: FloatArray) -> FloatArray:
    """Vertices where many facets meet come several times, equal up to rounding."""
    _, first = np.unique(_same(vertices), return_index=True)
    return vertices[np.sort(first)]


def _same(vertices: FloatArray) -> IntArray:
    """A number for each vertex, the same for those equal up to rounding."""
    size = max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-300)
    table = np.rint((vertices - vertices[0]) / size * 1e10)
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


def _within(normals: FloatArray, outer: IntArray, which: IntArray, dropped: IntArray) -> FloatArray:
    """Unit normals, inside each outer face, of the facets it has: zero where they are no proper facets of it."""
    basis: list[FloatArray] = []
    for j in range(outer.shape[1]):
        v = normals[outer[:, j]]
        basis.append(_unit(_without(v, basis)))
    v = normals[dropped]
    return _unit(_without(v, [q[which] for q in basis]))


def _without(v: FloatArray, basis: list[FloatArray]) -> FloatArray:
    for _ in range(2):
        for q in basis:
            v = v - np.einsum("ij,ij->i", v, q)[:, np.newaxis] * q
    return v


def _unit(v: FloatArray) -> FloatArray:
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.where(length > 1e-12, v / np.maximum(length, 1e-300), 0.0)
