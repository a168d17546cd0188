"""Tukey depth itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from tukeydp.data.streams import StreamedRows
from tukeydp.depth.cones import proven
from tukeydp.depth.deciding import GridDepth
from tukeydp.depth.exact_depth import least_weight
from tukeydp.depth.exact_envelope import first_envelope, require_exact_differences, starting_directions
from tukeydp.depth.notions.any_scale import AnyScale
from tukeydp.depth.notions.axis_aligned import AxisAligned
from tukeydp.depth.notions.base import Notion, PreparedDepth, not_streamed
from tukeydp.depth.notions.drawn import default_directions
from tukeydp.depth.vectors import from_integers
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import Grid

# Bits of a column's grid with bounds: so that the normal of any hyperplane near grid points can be written to within a
# step. Finer grids make nearly flat data slow; the law does not depend on it. Without bounds: as wide as still is fast.
_BITS, _WIDE_BITS = 30, 42


@cache
def _compile_sweep() -> None:
    """Use the sweep once on fixed vectors: whether its code is kept in a file must not depend on the rows."""
    least_weight(from_integers([[1, 0], [0, 1], [-1, -1]], [1, 1, 1]), threads=1)


@cache
def _compile_searches() -> None:
    """The same for the search by cones and for ties, which more than two columns need."""
    from tukeydp.depth.tied_rows import tied_rows

    vectors = from_integers([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]], [1, 1, 1, 1])
    proven(vectors, 1)
    tied_rows(vectors, [(0,)], 1)


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

    def prepare(
        self, rows: IntArray | StreamedRows, grid: Grid, key: bytes, lowest: int | None = None
    ) -> PreparedDepth:
        if isinstance(rows, StreamedRows):
            raise not_streamed(self)
        require_exact_differences(grid)
        if grid.d > 1:
            _compile_sweep()
        if grid.d > 2:
            _compile_searches()

        @cache
        def along_public() -> LevelSets:
            return level_sets(rows, AnyScale(default_directions(grid.d)).on_grid(grid, key))

        envelope = level_sets(rows, first_envelope(rows, grid))
        return PreparedDepth(envelope, np.empty((0, grid.d), dtype=np.int64), GridDepth(rows, grid), along_public)

    def in_data_units(self, d: int, key: bytes) -> None:
        return None
