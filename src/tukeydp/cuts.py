"""The halfspaces that bound the level sets of a dataset, for each notion of depth. Not private: all of it is the data.

Everything geometric happens in coordinates z = (x - centre) / scale, where scale is a power of two for each column and
centre takes the value of some row in each column. Floats, off by rounding; `depth_at_least` alone is exact.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np

from tukeydp.cores import available_cores, in_threads
from tukeydp.errors import ParameterError
from tukeydp.grid import FloatArray, IntArray
from tukeydp.halfspaces import from_integers, least_weight

Equation = tuple[list[Fraction], Fraction]
RationalPoint = Sequence[Fraction]

_MOST_TUPLES = 22_000_000
_NEAR = 1e-7
_FAR = 1e9


@dataclass(frozen=True, eq=False)
class Cut:
    """Halfspaces normals z <= offsets, of unit normals; `names` tells the source which they are."""

    normals: FloatArray
    offsets: FloatArray
    names: IntArray


class Cuts(Protocol):
    """Where the halfspaces of every level come from."""

    @property
    def frame(self) -> Frame: ...

    @property
    def most(self) -> int:
        """No level above this has any point."""
        ...

    def facets(self, level: int) -> Cut:
        """Halfspaces whose intersection is the level set, *if* the level set has an inner point."""
        ...

    def all(self, level: int) -> Cut:
        """Halfspaces whose intersection is the level set."""
        ...

    def equation(self, name: int, level: int) -> Equation:
        """The hyperplane of a halfspace, exactly, in data units."""
        ...

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        """Whether the point has this depth, exactly."""
        ...


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows in coordinates of size one."""

    rows: FloatArray
    centre: FloatArray
    scale: FloatArray
    z: FloatArray

    def exactly(self, z: FloatArray) -> list[Fraction]:
        """A point in data units, without rounding."""
        return [
            Fraction(c) + Fraction(s) * Fraction(t)
            for c, s, t in zip(self.centre.tolist(), self.scale.tolist(), z.tolist(), strict=True)
        ]

    def units(self, z: FloatArray) -> FloatArray:
        return self.centre + self.scale * z

    def inwards(self, points: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return (points / self.scale) - (self.centre / self.scale)


def frame(rows: FloatArray) -> Frame:
    """The middle value of each column, and the first positive range of its middle half, three quarters, ..., all."""
    n = len(rows)
    ordered = np.sort(rows, axis=0)
    scale = np.zeros(rows.shape[1])
    depth = n // 4
    while True:
        with np.errstate(over="ignore"):
            spread = ordered[n - 1 - depth] / 4 - ordered[depth] / 4
        scale = np.where(scale > 0, scale, spread)
        if depth == 0:
            break
        depth //= 2
    scale[scale == 0] = np.maximum(np.abs(ordered[0, scale == 0]), 1.0)
    scale = np.ldexp(1.0, np.clip(np.frexp(scale)[1] + 2, -1000, 1000))
    centre = ordered[n // 2]
    with np.errstate(all="ignore"):
        # Dividing by a power of two is exact and keeps the difference from overflowing.
        z = rows / scale - centre / scale
    if rows.shape[1] > 1 and np.abs(z).max() > _FAR:
        rule = (
            f"must not reach farther than {_FAR:g} times the range of a column's middle half, for floats to resolve it"
        )
        raise ParameterError("x", rule, "a row beyond that")
    return Frame(rows, centre, scale, z)


class AlongDirections:
    """Finitely many directions: two order statistics of projections for each."""

    def __init__(self, rows: FloatArray, directions: Sequence[Sequence[Fraction]]) -> None:
        self._frame = frame(rows)
        self._exact = [list(v) for v in directions]
        largest = [max(map(abs, v)) for v in directions]
        shadow = np.array([[float(c / m) for c in v] for v, m in zip(directions, largest, strict=True)])
        stretched = shadow * (self._frame.scale / self._frame.scale.max())
        self._vectors: FloatArray = stretched / np.linalg.norm(stretched, axis=1, keepdims=True)
        self._projected = np.ascontiguousarray(self._vectors @ self._frame.z.T)
        self._order = np.argsort(self._projected, axis=1)
        self._sorted = np.take_along_axis(self._projected, self._order, axis=1)
        self._normals = np.vstack([self._vectors, -self._vectors])

    @property
    def frame(self) -> Frame:
        return self._frame

    @property
    def most(self) -> int:
        low, high = 0, len(self._frame.rows)
        while low < high:
            middle = (low + high + 1) // 2
            gap = self._sorted[:, len(self._frame.rows) - middle] - self._sorted[:, middle - 1]
            low, high = (middle, high) if (gap > -_NEAR).all() else (low, middle - 1)
        return low

    @property
    def normals(self) -> FloatArray:
        return self._normals

    def offsets(self, levels: IntArray) -> FloatArray:
        """One row of offsets for each level."""
        return np.hstack([self._sorted[:, -levels].T, -self._sorted[:, levels - 1].T])

    def facets(self, level: int) -> Cut:
        return Cut(self._normals, self.offsets(np.array([level]))[0], np.arange(len(self._normals)))

    all = facets

    def equation(self, name: int, level: int) -> Equation:
        k = len(self._vectors)
        i = name % k
        rank = len(self._frame.rows) - level if name < k else level - 1
        around = self._sorted[i]
        near = np.flatnonzero(np.abs(around - around[rank]) <= _NEAR * (1.0 + abs(around[rank])))
        values = sorted(self._along(i, self._frame.rows[self._order[i, j]]) for j in near.tolist())
        return self._exact[i], values[rank - int(near[0])]

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        n = len(self._frame.rows)
        parts = zip(y, self._frame.centre.tolist(), self._frame.scale.tolist(), strict=True)
        z = np.array([float((c - Fraction(m)) / Fraction(s)) for c, m, s in parts])
        for i, v in enumerate(self._vectors):
            at = float(v @ z)
            slack = _NEAR * (1.0 + abs(at))
            first, last = np.searchsorted(self._sorted[i], [at - slack, at + slack]).tolist()
            there = sum((a * b for a, b in zip(self._exact[i], y, strict=True)), start=Fraction(0))
            near = [self._along(i, self._frame.rows[j]) for j in self._order[i, first:last].tolist()]
            below = first + sum(value <= there for value in near)
            above = n - last + sum(value >= there for value in near)
            if min(below, above) < level:
                return False
        return True

    def _along(self, i: int, row: FloatArray) -> Fraction:
        return sum((a * Fraction(b) for a, b in zip(self._exact[i], row.tolist(), strict=True)), start=Fraction(0))


def require_few_tuples(n: int, d: int) -> None:
    """Refuse more hyperplanes than can be looked at one by one; n and d are public."""
    if math.comb(n, d) > _MOST_TUPLES:
        most = next(m for m in range(n, 0, -1) if math.comb(m, d) <= _MOST_TUPLES)
        rule = f"must name finitely many directions for more than {most} rows in {d} columns"
        raise ParameterError("depth", rule, f"td.Exact() with {n} rows")


class ThroughRows:
    """Exact depth of rows that lie in no hyperplane: all hyperplanes through d of them.

    A hyperplane with c rows strictly on one side and t on it bounds the levels c + 1 to c + t from that side. It can
    hold a facet of a full-dimensional level set l only if the facet's points have depth l - c among the t rows within
    the hyperplane; almost all of its points have depth at most t/2 there, and 1 if the t rows are a simplex.
    """

    def __init__(self, rows: FloatArray) -> None:
        self._frame = frame(rows)
        unique, counts = np.unique(rows + 0.0, axis=0, return_counts=True)
        self._rows, self._weights = unique, counts.astype(np.int64)
        self._n = len(rows)
        d = unique.shape[1]
        z = self._frame.inwards(unique)
        members, normals, above, below = _lines(z, self._weights) if d == 2 else _planes(z, self._weights)
        spans = normals.any(axis=1)
        if not spans.all():
            members, normals, above, below = members[spans], normals[spans], above[spans], below[spans]
        self._members, self._normals = members, normals
        # From the member closest to the centre, where the product rounds least.
        closest = np.argmin(np.abs(z).max(axis=1)[members], axis=1)
        self._offsets = np.einsum("ij,ij->i", normals, z[members[np.arange(len(members)), closest]])
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
        return self._frame

    @property
    def most(self) -> int:
        ordered = np.sort(self._frame.rows, axis=0)
        low, high = 0, self._n
        while low < high:
            middle = (low + high + 1) // 2
            fits = (ordered[middle - 1] <= ordered[self._n - middle]).all()
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def facets(self, level: int) -> Cut:
        narrow = self._narrow[self._start[level - 1] : self._start[level]]
        beyond, on = self._beyond[self._wide], self._on[self._wide]
        return self._cut(np.append(narrow, self._wide[(beyond < level) & (level <= beyond + on // 2)]))

    def all(self, level: int) -> Cut:
        names = np.append(self._narrow, self._wide)
        beyond = self._beyond[names]
        cut = self._cut(names[(beyond < level) & (level <= beyond + self._on[names])])
        # The axes too, under negative names: where data are flat but for rounding, no other halfspace cuts the flat.
        z, d = np.sort(self._frame.z, axis=0), self._rows.shape[1]
        return Cut(
            np.vstack([cut.normals, np.eye(d), -np.eye(d)]),
            np.concatenate([cut.offsets, z[self._n - level], -z[level - 1]]),
            np.append(cut.names, -1 - np.arange(2 * d)),
        )

    def _cut(self, names: IntArray) -> Cut:
        which = np.where(names < self._count, names, names - self._count)
        signs = np.where(names < self._count, 1.0, -1.0)
        return Cut(signs[:, np.newaxis] * self._normals[which], signs * self._offsets[which], names)

    def _distinct(self, names: IntArray) -> IntArray:
        """One of each kind of halfspaces that are equal up to rounding."""
        cut = self._cut(names)
        place = cut.offsets / (1.0 + np.abs(cut.offsets))  # rounded like the normals, however far away
        table = np.rint(np.column_stack([cut.normals, place]) * 2.0**30).astype(np.int64)
        # A hash: columns times odd numbers, modulo 2^64.
        odd = np.array([0x9E3779B97F4A7C15 * (2 * c + 1) % 2**63 | 1 for c in range(table.shape[1] + 2)])
        keys = np.column_stack([table, self._beyond[names], self._on[names]]) @ odd
        _, first = np.unique(keys, return_index=True)
        return names[first]

    def equation(self, name: int, level: int) -> Equation:
        if name < 0:
            column, lower = (-1 - name) % self._rows.shape[1], -1 - name >= self._rows.shape[1]
            ordered = np.sort(self._frame.rows[:, column])
            unit = [Fraction(int(c == column)) for c in range(self._rows.shape[1])]
            return unit, Fraction(float(ordered[level - 1 if lower else self._n - level]))
        points = [[Fraction(c) for c in self._rows[j].tolist()] for j in self._members[name % self._count].tolist()]
        edges = [[a - b for a, b in zip(p, points[0], strict=True)] for p in points[1:]]
        d = len(points[0])
        normal = [(-1) ** c * _determinant([[e[j] for j in range(d) if j != c] for e in edges]) for c in range(d)]
        return normal, sum((a * b for a, b in zip(normal, points[0], strict=True)), start=Fraction(0))

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        here, vectors, weights = 0, [], []
        for row, weight in zip(self._rows.tolist(), self._weights.tolist(), strict=True):
            offset = [Fraction(a) - b for a, b in zip(row, y, strict=True)]
            if any(offset):
                common = math.lcm(*(part.denominator for part in offset))
                vectors.append([int(part * common) for part in offset])
                weights.append(weight)
            else:
                here += weight
        if not vectors:
            return here >= level
        return here + least_weight(from_integers(vectors, weights), level - here).least >= level


def _lines(z: FloatArray, weights: IntArray) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    from tukeydp.planes import beside_lines

    n = len(z)
    pairs = np.column_stack(np.triu_indices(n, 1))
    start = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1)), [0]])[:n].astype(np.int64)
    normals = np.empty((len(pairs), 2))
    above, below = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)
    cores = available_cores()
    firsts = iter(range(cores))

    def work(stopped: threading.Event) -> None:
        for first in firsts:
            if stopped.is_set():
                return
            beside_lines(z, weights, first, cores, start, normals, above, below)

    in_threads(work, cores)
    return pairs, normals, above, below


def _planes(z: FloatArray, weights: IntArray) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    from tukeydp.planes import beside_planes

    n, d = z.shape
    count = math.comb(n, d)
    members = np.fromiter((c for tuple_ in combinations(range(n), d) for c in tuple_), dtype=np.int64, count=count * d)
    members = members.reshape(count, d)
    normals = np.empty((count, d))
    above, below = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    block = 4096
    starts = iter(range(0, count, block))

    def work(stopped: threading.Event) -> None:
        for first in starts:
            if stopped.is_set():
                return
            beside_planes(z, weights, members, first, min(first + block, count), normals, above, below)

    in_threads(work, available_cores())
    return members, normals, above, below


def _determinant(matrix: list[list[Fraction]]) -> Fraction:
    if len(matrix) == 1:
        return matrix[0][0]
    return sum(
        (
            (-1) ** j * matrix[0][j] * _determinant([row[:j] + row[j + 1 :] for row in matrix[1:]])
            for j in range(len(matrix))
            if matrix[0][j]
        ),
        start=Fraction(0),
    )
