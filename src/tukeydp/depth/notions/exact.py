"""Tukey depth itself."""

from __future__ import annotations

from dataclasses import dataclass

from tukeydp.depth.notions.any_scale import AnyScale
from tukeydp.depth.notions.axis_aligned import AxisAligned
from tukeydp.depth.notions.base import Notion
from tukeydp.depth.notions.drawn import default_directions
from tukeydp.trusted.exact.deciding import starting_directions
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import Grid

# Bits of a column's grid with bounds: so that the normal of any hyperplane near grid points can be written to within a
# step. Finer grids make nearly flat data slow; the law does not depend on it. Without bounds: as wide as still is fast.
_BITS, _WIDE_BITS = 30, 42


@dataclass(frozen=True)
class Exact(Notion):
    """Tukey depth itself: every direction counts. Unchanged by rotation and stretching of the data.

    Cost
    ----
    One depth takes n log n steps in one or two columns, n^2 log n in three, n^3 log n in four, and a factor n more for
    each further column.
    """

    def size(self, d: int) -> int:
        return starting_directions(d)

    def grid_bits(self, d: int) -> int:
        return _BITS

    def wide_bits(self, d: int) -> int:
        return _WIDE_BITS

    def simplest(self, d: int) -> Notion:
        return AxisAligned() if d == 1 else self

    def on_grid(self, grid: Grid, key: bytes) -> None:
        """None: every direction counts."""

    def outer(self, grid: Grid, key: bytes) -> IntArray:
        return AnyScale(default_directions(grid.d)).on_grid(grid, key)

    def in_data_units(self, d: int, key: bytes) -> None:
        return None
