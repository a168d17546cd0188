"""Exact level sets of many rows by cutting planes: only the hyperplanes that bound one level, not all through d rows.

Halfspaces <a_i, z> <= b_i that hold for the level set describe it completely if they imply every other one: if the
directions fall into cones of d normals each (a complete fan), and within each cone

    sum of shares * b_i  <=  level-th largest <v, row>    for every v = sum of shares * a_i,

which `normal_cones` decides. The fan is the normal fan of {A z <= b}, so a cone that fails shows a vertex which is not
deep enough, and descent along the ray to it finds a facet, mostly, that cuts it off. Nothing here needs the level set
to have an inner point: where there is none, the fan of the slightly widened polytope serves as well.

Not private: all of it is the data. Floats, off by rounding; `depth_at_least` alone is exact.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.directions import unit_vectors
from tukeydp.depth.exact_envelope import starting_directions
from tukeydp.geometry.chebyshev_balls import EMPTY, chebyshev_ball
from tukeydp.geometry.distinct_rows import MergedRows
from tukeydp.geometry.frames import Frame
from tukeydp.geometry.halfspaces import Equation, Halfspaces, RationalPoint
from tukeydp.geometry.polytopes import unresolved, vertex_cones
from tukeydp.randomness import derived_key
from tukeydp.threads import available_cores, for_each

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
        from tukeydp.geometry.halfspace_counts import beside_planes

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
        from tukeydp.geometry.normal_cones import Bounds, Cones, Findings, Rows, examine

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
        from tukeydp.geometry.halfspace_counts import beside_planes

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
        from tukeydp.geometry.facet_descent import ranked

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
