"""Where the halfspaces of level sets come from, and those of finitely many directions. Not private: all of it is data.

Everything geometric happens in coordinates z = (x - centre) / scale, where scale is a power of two for each column and
centre takes the value of some row in each column. Floats, off by rounding; `depth_at_least` alone is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.geometry.frames import Frame, frame

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
