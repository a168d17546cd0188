"""A dataset and a notion of depth as a nest of polytopes: which levels have points, their shapes and volumes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.tables import finite_rows, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Notion
from tukeydp.depth.of_points import depth_along, is_deep
from tukeydp.paper.halfspaces import (
    AlongDirections,
    Equation,
    Frame,
    Halfspaces,
    LevelHalfspaces,
    MergedRows,
    RationalPoint,
    ThroughRows,
    frame,
)
from tukeydp.paper.polytopes import EMPTY, FLAT, chebyshev_ball, distinct, polytope, unresolved, vertex_cones
from tukeydp.trusted.bits import SystemRandomness, derived_key
from tukeydp.trusted.directions import unit_vectors
from tukeydp.trusted.exact.deciding import starting_directions
from tukeydp.trusted.matrices import reduced_echelon
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.threads import available_cores, for_each

# The affine hull of the rows, in rational arithmetic: which columns determine the others.

# Smallest singular value, relative to the largest coordinate, from which on floats may say that rows span all columns:
# far above rounding (1e-16), so that they never say so wrongly. Larger: speed only, more data take the rational way.
_SURELY_FULL = 1e-6


@dataclass(frozen=True, eq=False)
class Hull:
    """The affine hull of the data: every column is base + slopes (columns - base there), exactly."""

    columns: list[int]
    base: list[Fraction]
    slopes: list[list[Fraction]]

    def lifted(self, vertices: FloatArray) -> FloatArray:
        slopes = np.array([[float(c) for c in row] for row in self.slopes])
        base = np.array([float(c) for c in self.base])
        lifted = base + (vertices - base[self.columns]) @ slopes
        lifted[:, self.columns] = vertices
        return lifted


def affine_hull(rows: FloatArray, z: FloatArray) -> Hull:
    """Which columns determine the others, and how. Floats tell most full-dimensional data at once."""
    n, d = rows.shape
    base = [Fraction(c) for c in rows[0].tolist()]
    if n > d:
        size = np.abs(z).max()
        if np.isfinite(size) and np.linalg.svd((z - z[0]) / max(size, 1.0), compute_uv=False)[-1] > _SURELY_FULL:
            return Hull(list(range(d)), base, [[Fraction(int(i == j)) for j in range(d)] for i in range(d)])
    basis: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in np.unique(rows, axis=0).tolist():
        basis.append([Fraction(a) - b for a, b in zip(row, base, strict=True)])
        pivots = reduced_echelon(basis, d)
        del basis[len(pivots) :]  # a row that depends on those before it is zero now
        if len(pivots) == d:
            break
    return Hull(pivots, base, basis)


# Exact level sets of many rows by cutting planes: only the hyperplanes that bound one level, not all through d rows.
#
# Halfspaces <a_i, z> <= b_i that hold for the level set describe it completely if they imply every other one: if the
# directions fall into cones of d normals each (a complete fan), and within each cone
#
#     sum of shares * b_i  <=  level-th largest <v, row>    for every v = sum of shares * a_i,
#
# which `normal_cones` decides. The fan is the normal fan of {A z <= b}, so a cone that fails shows a vertex which is
# not deep enough, and descent along the ray to it finds a facet, mostly, that cuts it off. Nothing here needs the level
# set to have an inner point: where there is none, the fan of the slightly widened polytope serves as well.
#
# Not private: all of it is the data. Floats, off by rounding; `depth_at_least` alone is exact.

# A polytope with a smaller Chebyshev radius (in units of the columns' spread) is widened by the difference before its
# vertices are computed. Smaller: Qhull fails on slivers. Larger: cuts are looked for a little outside; speed only.
_ROOM = 1e-8
# Each halfspace is moved by up to this part of its slack, so that no more than d meet in a vertex. Above rounding.
# Smaller: Qhull merges facets and the fan has gaps. Larger: vertices, and what is found there, are off by as much.
_JOGGLE = 1e-13
_GOLDEN = 0.6180339887498949  # multiples of the golden section, modulo 1, are well apart
# How often one halfspace may be added again after it was dropped. Fewer: one that matters may stay away, and the level
# set is too large. More: where rounding brings it back for ever, speed only.
_AGAIN = 3
# A halfspace cuts a vertex off if the vertex is beyond it by this part of 1 + |offset|. Smaller: rounding cuts again
# and again. Larger: the level set is too large by as much.
_CUT = 1e-11
# Rows are made round if the ratio of their widths is in between. Above the first that is not needed; below the second
# rows are flat as far as floats can tell, and stretching would blow up rounding.
_NARROW, _NARROWEST = 1e-2, 1e-10
# Rows farther out, in units of the columns' spread, have no say in how rows are made round; speed only.
_OUTLYING = 16.0
_KEPT = 4  # levels whose halfspaces are remembered; speed only
_NEXT = 0.1  # a level no farther than this part of it starts from the halfspaces found last; speed only
_BLOCK = 16  # cones that a thread takes at a time; speed only
# Normals, and offsets o as o / (1 + |o|), that agree to so many bits are one halfspace. More: a halfspace is
# added again though it is there, at most `_AGAIN` times. Fewer: one that matters is not added.
_SAME_BITS = 40


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Halfspaces of one level: through d rows each, or through the first of `members` only, the others being -1."""

    normals: FloatArray
    offsets: FloatArray
    members: IntArray

    def with_more(self, more: _Bounds) -> _Bounds:
        return _Bounds(
            np.vstack([self.normals, more.normals]),
            np.append(self.offsets, more.offsets),
            np.vstack([self.members, more.members]),
        )

    def some(self, which: IntArray) -> _Bounds:
        return _Bounds(self.normals[which], self.offsets[which], self.members[which])

    def keys(self) -> list[bytes]:
        """Equal for halfspaces that are equal up to rounding, nearly always."""
        place = self.offsets / (1.0 + np.abs(self.offsets))
        table = np.rint(np.column_stack([self.normals, place]) * 2.0**_SAME_BITS).astype(np.int64)
        return [row.tobytes() for row in table]


class ByCuttingPlanes:
    """Exact depth of rows that lie in no hyperplane: the bounds of a level are found when it is asked for.

    The search is done over coordinates w = z @ roundness, in which narrow data are about as wide as they are long.
    """

    def __init__(self, rows: MergedRows) -> None:
        self._rows = rows
        self._roundness = _roundness(rows.z)
        # Where little is left of differences, extended precision (where there is any) keeps their digits.
        self._w = np.ascontiguousarray(rows.z.astype(np.longdouble) @ self._roundness, dtype=np.float64)
        self._found: dict[int, _Bounds] = {}
        d = rows.d
        self._last: tuple[int, FloatArray] | None = None
        self._axes = np.vstack([np.eye(d), -np.eye(d)])
        self._first = np.vstack([self._axes, unit_vectors(starting_directions(d), d, derived_key("carving", d))])

    @property
    def frame(self) -> Frame:
        return self._rows.frame

    @property
    def most(self) -> int:
        return self._rows.most

    def facets(self, level: int) -> Halfspaces:
        bounds = self._bounds(level)
        return Halfspaces(bounds.normals, bounds.offsets, np.arange(len(bounds.offsets)))

    all = facets

    def equation(self, name: int, level: int) -> Equation:
        bounds = self._bounds(level)
        members = bounds.members[name]
        if members[-1] < 0:
            return self._rows.equation_along(bounds.normals[name], int(members[0]))
        return self._rows.equation_through(members)

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        return self._rows.depth_at_least(y, level)

    def _bounds(self, level: int) -> _Bounds:
        if level not in self._found:
            while len(self._found) >= _KEPT:
                self._found.pop(next(iter(self._found)))
            first = self._first
            if self._last and abs(level - self._last[0]) <= _NEXT * level:
                # Bounds of a neighbouring level have nearly the directions wanted.
                first = np.vstack([self._axes, self._last[1]])
            found = self._cut_down(level, self._along(first, level))
            self._last = level, found.normals
            self._found[level] = self._in_frame(found)
        return self._found[level]

    def _in_frame(self, bounds: _Bounds) -> _Bounds:
        """The same halfspaces over z."""
        from tukeydp.paper.polytope_kernels import beside_planes

        d, z = self._rows.d, self._rows.z
        normals = bounds.normals @ self._roundness.T
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        through = np.flatnonzero(bounds.members[:, -1] >= 0)
        tuples = np.ascontiguousarray(bounds.members[through])
        again, unused = np.empty((len(tuples), d)), np.zeros((2, len(tuples)), dtype=np.int64)
        beside_planes(z, self._rows.weights, tuples, 0, len(tuples), again, *unused)
        signs = np.where(np.einsum("ij,ij->i", again, normals[through]) < 0, -1.0, 1.0)
        spans = again.any(axis=1)
        normals[through[spans]] = (signs[:, np.newaxis] * again)[spans]
        return _Bounds(normals, _offsets(z, normals, bounds.members), bounds.members)

    def _cut_down(self, level: int, bounds: _Bounds) -> _Bounds:
        """Add bounds until they imply all others, or show that the level has no point. Drop those that are implied."""
        from scipy.spatial import QhullError

        active = np.arange(len(bounds.offsets))
        added = Counter(bounds.keys())
        settled: set[bytes] = set()
        while True:
            held = bounds.some(active)
            ball = chebyshev_ball(held.normals, held.offsets)
            if ball.radius < -EMPTY:
                return held
            widened = max(0.0, _ROOM - ball.radius)
            slacks = held.offsets - held.normals @ ball.centre + widened
            slacks *= 1.0 + _JOGGLE * np.modf(active * _GOLDEN)[0]
            try:
                rays, facets, corners = vertex_cones(held.normals, slacks)
            except QhullError:
                raise unresolved(level) from None
            active = active[facets]
            cones = active[corners]
            names = [cone.tobytes() for cone in cones]
            fresh = [i for i, name in enumerate(names) if name not in settled]
            settled.update(names)
            more = self._refuting(level, bounds, ball.centre, cones[fresh], rays[fresh], widened)
            keys = more.keys()
            # One that was dropped may have to come back, but rounding must not keep that up for ever.
            new = [i for key, i in {key: i for i, key in enumerate(keys)}.items() if added[key] < _AGAIN]
            if not new:
                return bounds.some(active)
            added.update(keys[i] for i in new)
            active = np.append(active, len(bounds.offsets) + np.arange(len(new)))
            bounds = bounds.with_more(more.some(np.array(new)))

    def _refuting(
        self, level: int, bounds: _Bounds, centre: FloatArray, cones: IntArray, rays: FloatArray, widened: float
    ) -> _Bounds:
        """Bounds that the present ones do not imply, at least one for each cone that has any."""
        from tukeydp.paper.polytope_kernels import Bounds, Cones, Findings, Rows, examine

        count, d = cones.shape
        findings = Findings(np.zeros(count, dtype=np.bool_), np.zeros((count, d)), np.full((count, d), -1))
        rows = Rows(z=self._w, points=self._w - centre, weights=self._rows.weights)
        held = Bounds(bounds.normals, bounds.offsets, bounds.members)
        fan = Cones(cones, rays)

        def work(first: int) -> None:
            examine(rows, held, fan, level, first, min(first + _BLOCK, count), findings)

        for_each(range(0, count, _BLOCK), work, min(available_cores(), -(-count // _BLOCK)))
        refuted = findings.refuted
        rays = rays[refuted]
        through, good = self._through(findings.members[refuted], rays, level)
        excess = np.einsum("ij,ij->i", through.normals, rays[good] + centre) - through.offsets
        # Descent may be caught by rows that are equal up to rounding.
        good[good] = excess > widened + _CUT * (1.0 + np.abs(through.offsets))
        plain = self._along(findings.directions[refuted][~good], level)
        return through.with_more(plain)

    def _through(self, members: IntArray, rays: FloatArray, level: int) -> tuple[_Bounds, NDArray[np.bool_]]:
        """The halfspaces, along the rays, on hyperplanes through d rows, and which of them hold for the level."""
        from tukeydp.paper.polytope_kernels import beside_planes

        w, n = self._w, self._rows.n
        whole = (members >= 0).all(axis=1)
        tuples = np.sort(members[whole], axis=1)
        normals = np.empty((len(tuples), self._rows.d))
        above, below = np.zeros(len(tuples), dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
        beside_planes(w, self._rows.weights, tuples, 0, len(tuples), normals, above, below)
        signs = np.where(np.einsum("ij,ij->i", normals, rays[whole]) > 0, 1.0, -1.0)
        beyond, behind = np.where(signs > 0, above, below), np.where(signs > 0, below, above)
        holds = (beyond < level) & (level <= n - behind) & normals.any(axis=1)
        good: NDArray[np.bool_] = np.array(whole)
        good[whole] = holds
        normals, tuples = (signs[:, np.newaxis] * normals)[holds], tuples[holds]
        return _Bounds(normals, _offsets(w, normals, tuples), tuples), good

    def _along(self, directions: FloatArray, level: int) -> _Bounds:
        """The halfspaces of the level with these normals."""
        from tukeydp.paper.polytope_kernels import ranked

        w, weights = self._w, self._rows.weights
        count, d = directions.shape
        normals = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        members = np.full((count, d), -1)
        for i in range(count):
            members[i, 0] = ranked(w @ normals[i], weights, level)
        return _Bounds(normals, _offsets(w, normals, members), members)


def _offsets(points: FloatArray, normals: FloatArray, members: IntArray) -> FloatArray:
    """Offsets of hyperplanes through points: from the first member, closest to the middle, where it rounds least."""
    return np.asarray(np.einsum("ij,ij->i", normals, points[members[:, 0]]))


def _roundness(z: FloatArray) -> FloatArray:
    """A matrix that makes the rows, but for outliers, about round if they are far from it; the identity otherwise."""
    d = z.shape[1]
    near = z[np.abs(z).max(axis=1) <= _OUTLYING]
    widths, axes = np.linalg.svd(near - near.mean(axis=0), full_matrices=False)[1:]
    if len(widths) < d or not widths[0] * _NARROWEST < widths[-1] < widths[0] * _NARROW:
        return np.eye(d)
    return np.asarray(axes.T / (widths / widths[0]))


# Degenerate level sets, those without an inner point: single points, segments, polytopes of lower dimension.
#
# Floats find where such a set would be. Whether it is there is decided in rational arithmetic, by the exact depth of a
# rational point on the hyperplanes that pin it down.

# A halfspace whose edge is closer than this (in units of the columns' spread) to the centre holds with equality there,
# and one whose normal has less than this left within a subspace is parallel to it. Above EMPTY, so that the halfspaces
# that press a set flat are among them. Smaller: some are missed, and no candidate lies on all hyperplanes that matter.
# Larger: others are taken for them. Either way a level that has a point may count as empty; never the other way round.
_ACTIVE = 1e-7
# Candidates of each kind that are tried, and hyperplanes they are made from. Fewer save time, and may miss the point.
_MOST_ATTEMPTS = 40
_MOST_HYPERPLANES = 12
# Cosine from which on two hyperplanes are parallel; rounding makes 1 - 1e-16. Speed only: parallel ones are no help.
_PARALLEL = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class DegenerateLevelSet:
    """A level set of lower dimension: its vertices, and the halfspaces that bound it."""

    vertices: FloatArray
    halfspaces: Halfspaces


def degenerate_level_set(source: LevelHalfspaces, level: int) -> DegenerateLevelSet | None:
    """The level set, known to have no inner point; None if it has no point at all."""
    from scipy.linalg import null_space

    bounds = source.all(level)
    if not len(bounds.names):
        return None
    d = bounds.normals.shape[1]
    centre, basis = np.zeros(d), np.eye(d)
    while basis.shape[1]:
        normals, offsets = _restricted(bounds, centre, basis)
        if not len(normals):
            break
        ball = chebyshev_ball(normals, offsets)
        if ball.radius < -EMPTY:
            return None
        centre = centre + basis @ ball.centre
        if ball.radius > FLAT or not len(ball.pressed):
            break
        basis = basis @ null_space(normals[ball.pressed], rcond=_ACTIVE)
    if not any(source.depth_at_least(y, level) for y in _candidates(source, bounds, level, centre, basis)):
        return None
    active = np.abs(bounds.offsets - bounds.normals @ centre) <= _ACTIVE * (1.0 + np.abs(bounds.offsets))
    if not basis.shape[1]:
        return DegenerateLevelSet(centre[np.newaxis], _some(bounds, np.flatnonzero(active)))
    normals, offsets = _restricted(bounds, centre, basis)
    inside = polytope(normals, offsets, np.zeros(basis.shape[1]))
    if inside is None:
        raise unresolved(level)
    crossing = np.flatnonzero(np.linalg.norm(bounds.normals @ basis, axis=1) > _ACTIVE)
    return DegenerateLevelSet(
        centre + inside.vertices @ basis.T, _some(bounds, np.append(np.flatnonzero(active), crossing[inside.facets]))
    )


def _some(bounds: Halfspaces, which: IntArray) -> Halfspaces:
    return Halfspaces(bounds.normals[which], bounds.offsets[which], bounds.names[which])


def _restricted(bounds: Halfspaces, centre: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The halfspaces within centre + span(basis), without those parallel to it."""
    normals = bounds.normals @ basis
    lengths = np.linalg.norm(normals, axis=1)
    crossing = lengths > _ACTIVE
    offsets = (bounds.offsets - bounds.normals @ centre)[crossing] / lengths[crossing]
    return normals[crossing] / lengths[crossing, np.newaxis], offsets


def _candidates(
    source: LevelHalfspaces, bounds: Halfspaces, level: int, centre: FloatArray, basis: FloatArray
) -> Iterator[Sequence[Fraction]]:
    """Rational points that would lie in the level set: rows inside it, and the centre moved onto its hyperplanes."""
    size = 1.0 + np.abs(centre).max()
    z = source.frame.z
    close = np.argsort(np.abs(z - centre).max(axis=1), kind="stable")[:_MOST_ATTEMPTS]
    # Data that are flat but for rounding have slivers for level sets: then rows are the only points at hand.
    within = (z[close] @ bounds.normals.T <= bounds.offsets + _ACTIVE * size).all(axis=1)
    for row in np.unique(source.frame.rows[close[within]], axis=0):
        yield [Fraction(c) for c in row.tolist()]
    start = source.frame.exactly(centre)
    yield start
    slack = np.abs(bounds.offsets - bounds.normals @ centre)
    active = np.argsort(slack, kind="stable")
    active = active[slack[active] <= _ACTIVE * size]
    codimension = bounds.normals.shape[1] - basis.shape[1]
    for chosen in islice(_independent(bounds.normals, active, codimension), _MOST_ATTEMPTS):
        moved = _onto(start, [source.equation(int(bounds.names[i]), level) for i in chosen])
        if moved is not None:
            yield moved


def _independent(normals: FloatArray, active: IntArray, size: int) -> Iterator[tuple[int, ...]]:
    """Independent rows: at first one of each direction, as many as are needed, then any."""
    distinct: list[int] = []
    for i in active.tolist():
        if all(abs(normals[i] @ normals[j]) < _PARALLEL for j in distinct):
            distinct.append(i)
        if len(distinct) == _MOST_HYPERPLANES:
            break
    for chosen in combinations(distinct, size):
        if size and np.linalg.svd(normals[list(chosen)], compute_uv=False)[-1] > _ACTIVE:
            yield chosen


def _onto(start: Sequence[Fraction], equations: Sequence[Equation]) -> list[Fraction] | None:
    """The point moved onto all hyperplanes, changing as few coordinates as there are equations."""
    d = len(start)
    rows = [
        list(normal) + [offset - sum((a * b for a, b in zip(normal, start, strict=True)), start=Fraction(0))]
        for normal, offset in equations
    ]
    pivots = reduced_echelon(rows, d)
    if len(pivots) < len(rows):
        return None
    moved = list(start)
    for row, pivot in zip(rows, pivots, strict=True):
        moved[pivot] += row[d]
    return moved


# A dataset and a notion of depth as a nest of polytopes: which levels have points, their shapes and volumes.
#
# Not private: all of this is the data. Vertices and volumes are floats; which points belong to a level is decided
# exactly. That a thin level set (Chebyshev radius below 1e-10 of the data's spread, given volume 0) has a point is
# shown by a rational point of that exact depth; if none of the points tried has it, the level counts as empty.

# Slack, in units of the columns' spread, that a common centre must have in a level set. Larger: speed only. Much
# smaller: the dual points lose digits.
_WELL_INSIDE = 1e-3
_FEW_TUPLES = 22_000_000  # hyperplanes through d rows that are looked at one by one; time and memory only
_FEW_HALFSPACES = 400  # up to which clipping facet by facet beats a hull; speed only


@dataclass(frozen=True, eq=False)
class LevelPolytope:
    """One level set that is not empty, in data units: {y : normals y <= offsets}."""

    vertices: FloatArray
    volume: float
    normals: FloatArray
    offsets: FloatArray


@dataclass(frozen=True, eq=False)
class Body:
    """A dataset with its notion: halfspaces in the columns that matter, and the way back to all columns.

    `hull` is set if exact depth confines the sets to a flat, `unbounded` if the directions leave one free. Without
    `halfspaces` all rows are one point (`hull` without columns) or there are no rows.
    """

    rows: FloatArray
    halfspaces: LevelHalfspaces | None
    hull: Hull | None
    unbounded: bool
    decide: Callable[[FloatArray, int], NDArray[np.bool_]]

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    def volumes(self) -> FloatArray:
        if self.halfspaces is None:
            return np.append(np.inf, np.zeros(len(self.rows)))
        solid = _highest_solid(self.halfspaces)
        inner = _volumes(self.halfspaces, solid) if self.hull is None and not self.unbounded else np.zeros(solid)
        if self.unbounded:
            inner[:] = np.inf
        return np.concatenate([[np.inf], inner, np.zeros(_highest(self.halfspaces, solid) - solid)])

    def top(self) -> int:
        """The highest level that has a point."""
        return len(self.rows) if self.halfspaces is None else _highest(self.halfspaces, _highest_solid(self.halfspaces))

    def shape(self, level: int) -> LevelPolytope | None:
        """The level set, or None if it is empty."""
        if level > len(self.rows):
            return None
        if self.halfspaces is None:
            return LevelPolytope(self.rows[:1].copy(), 0.0, *_pinned(self.rows[0], np.eye(self.d)))
        if level > self.halfspaces.most:
            return None
        centre = _inside(self.halfspaces, level)
        if centre is None:
            flat = degenerate_level_set(self.halfspaces, level)
            return None if flat is None else self._in_units(flat.vertices, 0.0, flat.halfspaces)
        bounds = self.halfspaces.facets(level)
        solid = polytope(bounds.normals, bounds.offsets, centre)
        if solid is None:
            raise unresolved(level)
        bounding = solid.bounding()
        facets = Halfspaces(bounds.normals[bounding], bounds.offsets[bounding], bounds.names[bounding])
        return self._in_units(distinct(solid.vertices), solid.volume, facets)

    def _in_units(self, z: FloatArray, volume: float, bounds: Halfspaces) -> LevelPolytope:
        assert self.halfspaces is not None
        place = self.halfspaces.frame
        with np.errstate(over="ignore", invalid="ignore"):
            normals, offsets = _in_data_units(bounds, place)
            seen = LevelPolytope(place.units(z), volume * float(np.prod(place.scale)), normals, offsets)
            return seen if self.hull is None else self._in_all_columns(seen, self.hull)

    def _in_all_columns(self, seen: LevelPolytope, hull: Hull) -> LevelPolytope:
        if self.unbounded:
            volume = np.inf if seen.volume > 0 else 0.0
            return LevelPolytope(np.empty((0, self.d)), volume, seen.normals @ _floats(hull.slopes), seen.offsets)
        wide = np.zeros((len(seen.normals), self.d))
        wide[:, hull.columns] = seen.normals
        vertices = hull.lifted(seen.vertices)
        across, ends = _pinned(vertices[0], _across(hull))
        return LevelPolytope(vertices, 0.0, np.vstack([wide, across]), np.append(seen.offsets, ends))


def body_of(x: Any, depth: Notion, every_level: bool = False) -> Body:
    """Read the data. `every_level` says that all levels will be wanted, which then share what they can."""
    cells = read_table(x).cells
    rows = finite_rows(cells) + 0.0
    n, d = cells.shape
    directions = chosen_notion(depth, n, d).in_data_units(d, SystemRandomness().key())
    if directions is None:
        return _exact_body(rows, every_level)

    def decide(points: FloatArray, level: int) -> NDArray[np.bool_]:
        return depth_along(points, rows, directions) >= level

    if not len(rows):
        return Body(rows, None, None, False, decide)
    echelon = [list(v) for v in directions]
    pivots = reduced_echelon(echelon, d)
    if len(pivots) == d:
        return Body(rows, AlongDirections(rows, directions), None, False, decide)
    # Directions span a subspace: with v = sum of v[pivot] * echelon row, the sums <echelon row, y> are all that counts.
    spanned = echelon[: len(pivots)]
    seen = _floats([[_product(e, row) for e in spanned] for row in rows.tolist()])
    cuts = AlongDirections(seen, [[v[p] for p in pivots] for v in directions])
    return Body(rows, cuts, Hull(pivots, [], spanned), True, decide)


def _exact_body(rows: FloatArray, every_level: bool) -> Body:
    def decide(points: FloatArray, level: int) -> NDArray[np.bool_]:
        return is_deep(points, rows, level)

    if not len(rows):
        return Body(rows, None, None, False, decide)
    hull = affine_hull(rows, frame(rows).z)
    if not hull.columns:
        return Body(rows, None, hull, False, decide)
    kept = np.ascontiguousarray(rows[:, hull.columns])
    cuts: LevelHalfspaces = (
        AlongDirections(kept, [[Fraction(1)]]) if len(hull.columns) == 1 else _exact_cuts(kept, every_level)
    )
    return Body(rows, cuts, hull if len(hull.columns) < rows.shape[1] else None, False, decide)


def _exact_cuts(rows: FloatArray, every_level: bool) -> LevelHalfspaces:
    merged = MergedRows(rows)
    few = math.comb(len(merged.z), merged.d) <= _FEW_TUPLES
    return ThroughRows(merged) if every_level and few else ByCuttingPlanes(merged)


def _product(v: list[Fraction], row: list[float]) -> Fraction:
    return sum((a * Fraction(b) for a, b in zip(v, row, strict=True)), start=Fraction(0))


def _floats(rows: list[list[Fraction]]) -> FloatArray:
    return np.array([[float(c) for c in row] for row in rows])


def _in_data_units(bounds: Halfspaces, place: Frame) -> tuple[FloatArray, FloatArray]:
    """The halfspaces over y = centre + scale * z, again with unit normals."""
    normals = bounds.normals / (place.scale / place.scale.max())
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / lengths[:, np.newaxis]
    return normals, bounds.offsets * (place.scale.max() / lengths) + normals @ place.centre


def _across(hull: Hull) -> FloatArray:
    """Normals of the hyperplanes that meet in the affine hull."""
    slopes = _floats(hull.slopes)
    others = [c for c in range(slopes.shape[1]) if c not in hull.columns]
    normals = np.zeros((len(others), slopes.shape[1]))
    for r, c in enumerate(others):
        normals[r, c] = 1.0
        normals[r, hull.columns] = -slopes[:, c]
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def _pinned(point: FloatArray, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both halfspaces of each normal, through the point."""
    return np.vstack([normals, -normals]), np.append(normals @ point, -(normals @ point))


def _inside(halfspaces: LevelHalfspaces, level: int, verify: bool = True) -> FloatArray | None:
    """An inner point of the level set; None if it has none.

    The facets of a level set without inner points may enclose more than it. So the corners of a simplex around the
    point must be deep as well: then the level set has inner points, and facets enclose nothing else.
    """
    bounds = halfspaces.facets(level)
    d = bounds.normals.shape[1]
    if len(bounds.names) <= d:
        return None
    ball = chebyshev_ball(bounds.normals, bounds.offsets)
    if not ball.radius > FLAT:
        return None
    if verify and isinstance(halfspaces, ThroughRows):
        around = np.vstack([np.eye(d), np.full((1, d), -1.0 / np.sqrt(d))]) * (0.5 * ball.radius)
        if not all(halfspaces.depth_at_least(halfspaces.frame.exactly(ball.centre + step), level) for step in around):
            return None
    return ball.centre


def _highest_solid(halfspaces: LevelHalfspaces) -> int:
    """The highest level with an inner point. Unverified answers are never too low, and one check mostly confirms."""
    guess = _last(0, halfspaces.most, lambda level: _inside(halfspaces, level, verify=False) is not None)
    if guess == 0 or _inside(halfspaces, guess) is not None:
        return guess
    return _last(0, guess - 1, lambda level: _inside(halfspaces, level) is not None)


def _highest(halfspaces: LevelHalfspaces, solid: int) -> int:
    """The highest level with a point."""
    most = halfspaces.most
    if solid >= most or degenerate_level_set(halfspaces, solid + 1) is None:
        return solid
    return _last(solid + 1, most, lambda level: degenerate_level_set(halfspaces, level) is not None)


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last of low ... high at which a property holds, given that it holds at `low` and, once lost, stays lost."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _volumes(halfspaces: LevelHalfspaces, solid: int) -> FloatArray:
    """Volumes of levels 1 ... solid, in data units."""
    if not solid:
        return np.empty(0)
    centre = _inside(halfspaces, solid, verify=False)
    assert centre is not None
    with np.errstate(over="ignore"):
        unit = float(np.prod(halfspaces.frame.scale))
        levels = np.arange(1, solid + 1)
        if (
            isinstance(halfspaces, AlongDirections)
            and halfspaces.normals.shape[1] in (2, 3)
            and len(halfspaces.normals) <= _FEW_HALFSPACES
        ):
            return _by_clipping(halfspaces, levels, centre) * unit
        return np.array([_volume(halfspaces, int(level), centre) for level in levels]) * unit


def _volume(halfspaces: LevelHalfspaces, level: int, centre: FloatArray) -> float:
    bounds = halfspaces.facets(level)
    if (bounds.offsets - bounds.normals @ centre).min() < _WELL_INSIDE:
        centre = chebyshev_ball(bounds.normals, bounds.offsets).centre
    solid = polytope(bounds.normals, bounds.offsets, centre)
    return np.nan if solid is None else solid.volume


def _by_clipping(halfspaces: AlongDirections, levels: IntArray, centre: FloatArray) -> FloatArray:
    from tukeydp.paper.polytope_kernels import polygon_areas, polyhedron_volumes

    slacks = np.ascontiguousarray(halfspaces.offsets(levels) - halfspaces.normals @ centre)
    sums = np.zeros(len(levels))
    (polygon_areas if halfspaces.normals.shape[1] == 2 else polyhedron_volumes)(halfspaces.normals, slacks, sums)
    return sums
