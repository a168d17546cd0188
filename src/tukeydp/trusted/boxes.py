"""Boxes of grid points, along the axes or along a basis of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.trusted.bits import Bits
from tukeydp.trusted.matrices import Basis
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import Grid


@dataclass(frozen=True)
class Box:
    """The grid points low_j <= z_j <= high_j, both ends included; empty if some low_j > high_j.

    z are a point's own coordinates, or those in a basis of the grid, z = U y: then as many points, and perhaps some
    outside the public box.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    basis: Basis | None = None

    @property
    def size(self) -> int:
        return math.prod(max(0, b - a + 1) for a, b in zip(self.low, self.high, strict=True))

    def point(self, coordinates: Sequence[int]) -> list[int]:
        """The grid point with these coordinates."""
        return list(coordinates) if self.basis is None else self.basis.point(coordinates)

    def uniform(self, bits: Bits) -> list[int]:
        """One of the grid points, all alike likely."""
        return self.point([a + bits.below(b - a + 1) for a, b in zip(self.low, self.high, strict=True)])

    def holds(self, y: Sequence[int]) -> bool:
        """Whether a point is in a box along the axes."""
        return all(a <= c <= b for a, c, b in zip(self.low, y, self.high, strict=True))

    def meet(self, other: Box) -> Box:
        """The common points of two boxes along the axes."""
        return Box(tuple(map(max, self.low, other.low)), tuple(map(min, self.high, other.high)))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Disjoint boxes along the axes, one a row, none empty; `ends` counts the points of each and those before it."""

    low: IntArray
    high: IntArray
    ends: IntArray


@dataclass(frozen=True, eq=False)
class Union:
    """The first `count` of some pieces without the first `start` of them, taken together."""

    pieces: Pieces
    count: int
    start: int = 0

    @property
    def first(self) -> int:
        """The number of its first point, counted over all pieces."""
        return int(self.pieces.ends[self.start - 1]) if self.start else 0

    @property
    def size(self) -> int:
        return int(self.pieces.ends[self.count - 1]) - self.first

    def uniform(self, bits: Bits) -> list[int]:
        """One of the grid points, all alike likely."""
        return self.point(self.first + bits.below(self.size))

    def point(self, number: int) -> list[int]:
        """The point of this number, counted from 0, piece by piece; in each the first coordinate runs fastest."""
        piece = int(np.searchsorted(self.pieces.ends, number, side="right"))
        rest = number - (int(self.pieces.ends[piece - 1]) if piece else 0)
        found = []
        for a, b in zip(self.pieces.low[piece].tolist(), self.pieces.high[piece].tolist(), strict=True):
            rest, place = divmod(rest, b - a + 1)
            found.append(a + place)
        return found

    def holds(self, y: Sequence[int]) -> bool:
        """Whether a point is in one of the boxes."""
        low, high = self.pieces.low[self.start : self.count], self.pieces.high[self.start : self.count]
        return bool(((low <= y) & (y <= high)).all(axis=1).any())


def whole_grid(grid: Grid) -> Box:
    """All points of the public grid."""
    return Box(tuple(grid.low.tolist()), tuple(grid.high.tolist()))
