"""The halfspaces of exact depth, from every hyperplane through d rows. Not private: all of it is the data."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.geometry.distinct_rows import MergedRows
from tukeydp.geometry.frames import Frame
from tukeydp.geometry.halfspaces import Equation, Halfspaces, RationalPoint
from tukeydp.geometry.lines_through_rows import beside_lines
from tukeydp.threads import available_cores, for_each

_BLOCK = 4096  # hyperplanes that a thread takes at a time; speed only
# Normals, and offsets o as o / (1 + |o|), that agree to so many bits are one halfspace. More: repeated
# halfspaces are kept, speed only. Fewer: two that differ count as one, and the level set is too large.
_SAME_BITS = 30


class ThroughRows:
    """Exact depth of rows that lie in no hyperplane: all hyperplanes through d of them.

    A hyperplane with c rows strictly on one side and t on it bounds the levels c + 1 to c + t from that side. It can
    hold a facet of a full-dimensional level set l only if the facet's points have depth l - c among the t rows within
    the hyperplane; almost all of its points have depth at most t/2 there, and 1 if the t rows are a simplex.
    """

    def __init__(self, rows: MergedRows) -> None:
        self._rows, self._n = rows, rows.n
        z, weights, d = rows.z, rows.weights, rows.d
        members, normals, above, below = beside_lines(z, weights) if d == 2 else _planes(z, weights)
        spans = normals.any(axis=1)
        if not spans.all():
            members, normals, above, below = members[spans], normals[spans], above[spans], below[spans]
        self._members, self._normals = members, normals
        # From the member closest to the middle, where the product rounds least.
        self._offsets = np.einsum("ij,ij->i", normals, z[members[:, 0]])
        self._count = len(normals)
        self._beyond = np.concatenate([above, below])
        on = self._n - above - below
        self._on = np.concatenate([on, on])
        # Up to d rows on it, a hyperplane is a facet of one level only; others come many times, and serve many levels.
        narrow = np.flatnonzero(self._on <= d)
        self._narrow = narrow[np.argsort(self._beyond[narrow], kind="stable")]
        self._start = np.searchsorted(self._beyond[self._narrow], np.arange(self._n + 2))
        self._wide = self._distinct(np.flatnonzero(self._on > d))

    @property
    def frame(self) -> Frame:
        return self._rows.frame

    @property
    def most(self) -> int:
        return self._rows.most

    def facets(self, level: int) -> Halfspaces:
        narrow = self._narrow[self._start[level - 1] : self._start[level]]
        beyond, on = self._beyond[self._wide], self._on[self._wide]
        return self._cut(np.append(narrow, self._wide[(beyond < level) & (level <= beyond + on // 2)]))

    def all(self, level: int) -> Halfspaces:
        names = np.append(self._narrow, self._wide)
        beyond = self._beyond[names]
        cut = self._cut(names[(beyond < level) & (level <= beyond + self._on[names])])
        # The axes too, under negative names: where data are flat but for rounding, no other halfspace cuts the flat.
        axes = self._rows.along_axes(level)
        return Halfspaces(
            np.vstack([cut.normals, axes.normals]),
            np.append(cut.offsets, axes.offsets),
            np.append(cut.names, -1 - axes.names),
        )

    def _cut(self, names: IntArray) -> Halfspaces:
        which = np.where(names < self._count, names, names - self._count)
        signs = np.where(names < self._count, 1.0, -1.0)
        return Halfspaces(signs[:, np.newaxis] * self._normals[which], signs * self._offsets[which], names)

    def _distinct(self, names: IntArray) -> IntArray:
        """One of each kind of halfspaces that are equal up to rounding."""
        cut = self._cut(names)
        place = cut.offsets / (1.0 + np.abs(cut.offsets))  # rounded like the normals, however far away
        table = np.rint(np.column_stack([cut.normals, place]) * 2.0**_SAME_BITS).astype(np.int64)
        # A multiply-add hash modulo 2^64 with random odd multipliers. Small ones would not do: normals (1, 1, 0) and
        # (-1, 0, 1) have the same sum with 1, 3 and 5.
        odd = np.random.default_rng(0).integers(2**62, size=table.shape[1] + 2) * 2 + 1
        keys = np.column_stack([table, self._beyond[names], self._on[names]]) @ odd
        _, first = np.unique(keys, return_index=True)
        return names[first]

    def equation(self, name: int, level: int) -> Equation:
        if name < 0:
            return self._rows.axis_equation(-1 - name, level)
        return self._rows.equation_through(self._members[name % self._count])

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        return self._rows.depth_at_least(y, level)


def _planes(z: FloatArray, weights: IntArray) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    from tukeydp.geometry.halfspace_counts import beside_planes

    n, d = z.shape
    count = math.comb(n, d)
    members = np.fromiter((c for tuple_ in combinations(range(n), d) for c in tuple_), dtype=np.int64, count=count * d)
    members = members.reshape(count, d)
    normals = np.empty((count, d))
    above, below = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)

    def work(first: int) -> None:
        beside_planes(z, weights, members, first, min(first + _BLOCK, count), normals, above, below)

    for_each(range(0, count, _BLOCK), work, available_cores())
    return members, normals, above, below
