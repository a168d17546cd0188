"""Rows of exact depth with duplicates merged: coordinates, hyperplanes through them, and the exact depth of a point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.deciding import Surroundings
from tukeydp.depth.exact_depth import Vectors, exact_row
from tukeydp.depth.projections import Vector
from tukeydp.exact.matrices import rational_determinant
from tukeydp.geometry.frames import frame
from tukeydp.geometry.halfspaces import Equation, Halfspaces, RationalPoint

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
