"""Boxes of grid points, along the axes or along a basis of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tukeydp.data.grid import Grid
from tukeydp.exact.lattice import Basis


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

    def holds(self, y: Sequence[int]) -> bool:
        """Whether a point is in a box along the axes."""
        return all(a <= c <= b for a, c, b in zip(self.low, y, self.high, strict=True))

    def meet(self, other: Box) -> Box:
        """The common points of two boxes along the axes."""
        return Box(tuple(map(max, self.low, other.low)), tuple(map(min, self.high, other.high)))


def whole_grid(grid: Grid) -> Box:
    """All points of the public grid."""
    return Box(tuple(grid.low.tolist()), tuple(grid.high.tolist()))
