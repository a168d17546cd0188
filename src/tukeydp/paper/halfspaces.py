"""Where the halfspaces of level sets come from: finitely many directions, or hyperplanes through rows. Not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np

from tukeydp.data.scale import middle_range
from tukeydp.trusted.exact.deciding import Surroundings
from tukeydp.trusted.exact.depth import Vectors, exact_row
from tukeydp.trusted.exact.vectors import Vector
from tukeydp.trusted.matrices import rational_determinant
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError
from tukeydp.trusted.threads import available_cores, for_each

# Coordinates in which a dataset is of size one, whatever its units and wherever it lies.

# Largest coordinate, in units of a column's spread: the square of a larger one is no float.
_FAR = 1e150


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
    scale = middle_range(ordered / 4)  # so that no difference overflows
    scale[scale == 0] = np.maximum(np.abs(ordered[0, scale == 0]), 1.0)
    scale = np.ldexp(1.0, np.clip(np.frexp(scale)[1] + 2, -1000, 1000))
    centre = ordered[n // 2]
    with np.errstate(all="ignore"):
        # Dividing by a power of two is exact and keeps the difference from overflowing.
        z = rows / scale - centre / scale
    if rows.shape[1] > 1 and not np.abs(z).max() <= _FAR:
        rule = f"must not reach farther than {_FAR:g} times the range of a column's middle half"
        raise ParameterError("x", rule, "a row beyond that")
    return Frame(rows, centre, scale, z)


# Where the halfspaces of level sets come from, and those of finitely many directions. Not private: all of it is data.
#
# Everything geometric happens in coordinates z = (x - centre) / scale, where scale is a power of two for each column
# and centre takes the value of some row in each column. Floats, off by rounding; `depth_at_least` alone is exact.

Equation = tuple[list[Fraction], Fraction]
RationalPoint = Sequence[Fraction]

# Projections closer than this part of 1 + their size are compared exactly. Rounding makes about 1e-15. Smaller than
# that: a tie is decided by rounding. Larger: speed only.
_NEAR = 1e-7


@dataclass(frozen=True, eq=False)
class Halfspaces:
    """An H-representation {z : normals z <= offsets}, of unit normals; `names` tells the source which they are."""

    normals: FloatArray
    offsets: FloatArray
    names: IntArray


class LevelHalfspaces(Protocol):
    """Where the halfspaces of every level come from."""

    @property
    def frame(self) -> Frame: ...

    @property
    def most(self) -> int:
        """No level above this has any point."""
        ...

    def facets(self, level: int) -> Halfspaces:
        """Halfspaces whose intersection is the level set, *if* the level set has an inner point."""
        ...

    def all(self, level: int) -> Halfspaces:
        """Halfspaces whose intersection is the level set."""
        ...

    def equation(self, name: int, level: int) -> Equation:
        """The hyperplane of a halfspace, exactly, in data units."""
        ...

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        """Whether the point has this depth, exactly."""
        ...


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

    def facets(self, level: int) -> Halfspaces:
        return Halfspaces(self._normals, self.offsets(np.array([level]))[0], np.arange(len(self._normals)))

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


# Rows of exact depth with duplicates merged: coordinates, hyperplanes through them, and the exact depth of a point.

# A difference to the nearest float that is this much longer than the rest of the point keeps its relative accuracy.
_CLEAR = 2.0**10
# Rows in the plane up to which a depth is found in integers at once; sweeps are worth compiling for more. Speed only.
_FEW_IN_THE_PLANE = 500


class MergedRows:
    """Distinct rows (m, d) with weights, and the same in the frame's coordinates (`z`): those in the middle first.

    The first of several rows on a hyperplane is then the one from which others are seen most sharply.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.frame = frame(rows)
        self.n = len(rows)
        distinct, counts = np.unique(rows + 0.0, axis=0, return_counts=True)
        order = np.argsort(np.abs(self.frame.inwards(distinct)).max(axis=1), kind="stable")
        self.distinct: FloatArray = distinct[order]
        self.weights: IntArray = counts[order].astype(np.int64)
        self.z = np.ascontiguousarray(self.frame.inwards(self.distinct))
        self._ordered = np.sort(rows, axis=0)

    @property
    def d(self) -> int:
        return self.distinct.shape[1]

    @property
    def most(self) -> int:
        """No level above this has any point, as the axes show."""
        low, high = 0, self.n
        while low < high:
            middle = (low + high + 1) // 2
            fits = (self._ordered[middle - 1] <= self._ordered[self.n - middle]).all()
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def along_axes(self, level: int) -> Halfspaces:
        """Both halfspaces of each axis, named 0 ... 2d - 1."""
        ends = self.frame.inwards(self._ordered[[self.n - level, level - 1]])
        axes = np.eye(self.d)
        return Halfspaces(np.vstack([axes, -axes]), np.append(ends[0], -ends[1]), np.arange(2 * self.d))

    def axis_equation(self, name: int, level: int) -> Equation:
        column, lower = name % self.d, name >= self.d
        unit = [Fraction(int(c == column)) for c in range(self.d)]
        return unit, Fraction(float(self._ordered[level - 1 if lower else self.n - level, column]))

    def equation_through(self, members: Sequence[int] | IntArray) -> Equation:
        """The hyperplane through d rows."""
        points = [[Fraction(c) for c in self.distinct[j].tolist()] for j in members]
        edges = [[a - b for a, b in zip(p, points[0], strict=True)] for p in points[1:]]
        normal = [
            (-1) ** c * rational_determinant([[e[j] for j in range(self.d) if j != c] for e in edges])
            for c in range(self.d)
        ]
        return normal, _product(normal, points[0])

    def equation_along(self, v: FloatArray, row: int) -> Equation:
        """The hyperplane through one row with normal v over the frame's coordinates."""
        normal = [Fraction(c) / Fraction(s) for c, s in zip(v.tolist(), self.frame.scale.tolist(), strict=True)]
        return normal, _product(normal, [Fraction(c) for c in self.distinct[row].tolist()])

    def depth_at_least(self, y: RationalPoint, level: int) -> bool:
        """Whether the point has this exact depth."""
        near = np.array([float(c) for c in y])
        here = 0
        others = np.ones(len(self.distinct), dtype=np.bool_)
        for j in np.flatnonzero((self.distinct == near).all(axis=1)).tolist():
            if all(Fraction(a) == b for a, b in zip(self.distinct[j].tolist(), y, strict=True)):
                here, others[j] = int(self.weights[j]), False
        vectors = from_rational(self.distinct[others], y, self.weights[others])
        if self.d == 2 and 0 < len(vectors.weights) <= _FEW_IN_THE_PLANE:
            return here + exact_row(vectors, ())[0] >= level
        return Surroundings(here, vectors).refuted(level) is None


def from_rational(rows: FloatArray, y: RationalPoint, weights: IntArray) -> Vectors:
    """Vectors from a rational point to distinct rows, none of them equal to it."""

    def exactly(j: int) -> Vector:
        parts = [Fraction(a) - b for a, b in zip(rows[j].tolist(), y, strict=True)]
        common = math.lcm(*(part.denominator for part in parts))
        return [int(part * common) for part in parts]

    # The point as a sum of two floats: each step is off by 2^-53 of a difference, which is little unless it cancels.
    near = np.array([float(c) for c in y])
    rest = np.array([float(c - Fraction(a)) for c, a in zip(y, near.tolist(), strict=True)])
    with np.errstate(all="ignore"):
        first = rows - near
        shadow = first - rest
        lengths = np.abs(shadow).max(axis=1, keepdims=True)
        shadow = shadow / lengths
        clear = (lengths[:, 0] > _CLEAR * np.abs(rest).max()) & (lengths[:, 0] > 1e-290) & np.isfinite(lengths[:, 0])
    for j in np.flatnonzero(~clear).tolist():
        v = exactly(j)
        shadow[j] = [c / max(map(abs, v)) for c in v]
    return Vectors(np.ascontiguousarray(shadow), weights, exactly)


def _product(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), start=Fraction(0))


# The lines through pairs of rows in the plane, and the weight strictly on either side of each.
#
# Floats with a tolerance, as in halfspace_counts.py. Sorts and searches of NumPy are as fast as compiled ones here, and
# nothing has to be compiled for a first call.

# Angles, in radians, closer than this are equal. Differences of floats are exact to 2^-53, about 1e-16, and some
# products and sums follow. Smaller: rows on a line are counted beside it, and facets are missed. Larger: rows close to
# it are counted on it, and the level set is off by as much.
_SAME = 1e-13
_WORTH_A_THREAD = 500  # rows; with fewer, starting threads takes longer than they save. Speed only


def beside_lines(z: FloatArray, weights: IntArray) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """For all pairs of rows, in the order of `np.triu_indices`: the pair, a unit normal, the weight on its two sides.

    The rows are distinct.
    """
    n = len(z)
    pairs = np.column_stack(np.triu_indices(n, 1))
    start = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    normals = np.empty((len(pairs), 2))
    above, below = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)

    def work(i: int) -> None:
        here = slice(start[i], start[i + 1])
        edges = z[i + 1 :] - z[i]
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        normals[here, 0], normals[here, 1] = -edges[:, 1] / lengths, edges[:, 0] / lengths
        above[here], below[here] = _beside_lines_of(z, weights, i)

    for_each(range(n - 1), work, available_cores() if n >= _WORTH_A_THREAD else 1)
    return pairs, normals, above, below


def _beside_lines_of(z: FloatArray, weights: IntArray, i: int) -> tuple[IntArray, IntArray]:
    """The weight on the left and on the right of the lines from row i to each later row."""
    others = np.delete(np.arange(len(z)), i)
    edges = z[others] - z[i]
    angle = np.arctan2(edges[:, 1], edges[:, 0])
    order = np.argsort(angle)
    # Twice around, so that every half turn is one stretch; prefix[c] is the weight of the first c.
    once = angle[order]
    turned = np.concatenate([once, once + 2.0 * np.pi])
    prefix = np.concatenate([[0], np.cumsum(np.tile(weights[others[order]], 2))])
    own = np.flatnonzero(others[order] > i)
    at = once[own]
    left = turned.searchsorted(at + _SAME, side="right")  # first entry surely past the line's own angle
    half = turned.searchsorted(at + np.pi - _SAME, side="left")  # first entry not surely before its opposite
    past = turned.searchsorted(at + np.pi + _SAME, side="right")  # first entry surely past its opposite
    again = turned.searchsorted(at + 2.0 * np.pi - _SAME, side="left")  # first entry not surely before the full turn
    above, below = np.empty((2, len(own)), dtype=np.int64)
    later = others[order[own]] - i - 1
    above[later] = np.maximum(prefix[half] - prefix[left], 0)
    below[later] = np.clip(prefix[again] - prefix[past], 0, weights.sum())
    return above, below


# The halfspaces of exact depth, from every hyperplane through d rows. Not private: all of it is the data.

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
    from tukeydp.paper.polytope_kernels import beside_planes

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
