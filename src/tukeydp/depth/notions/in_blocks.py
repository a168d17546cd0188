"""Many columns in blocks, each with directions of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from tukeydp.depth.notions.base import FiniteNotion
from tukeydp.depth.notions.spread import Spread
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.directions import fitting
from tukeydp.trusted.parameters import IntArray, checked_integer
from tukeydp.trusted.prepared import in_all_columns
from tukeydp.trusted.rows import Grid

_MOST_COLUMNS = 20  # of a block: with so many `Spread` has most directions, and a draw takes a fraction of a second


class _Block(NamedTuple):
    """Columns of a block, and its directions in them."""

    columns: slice
    notion: Spread

    @property
    def d(self) -> int:
        return int(self.columns.stop - self.columns.start)


@dataclass(frozen=True)
class InBlocks(FiniteNotion):
    """Neighbouring columns in blocks of about equal size, as few as `columns` allows; in each a `Spread`.

    Deep points are drawn block by block (`prepared_blocks`): many directions in twenty columns at a time come closer
    than the few that a draw in all columns at once can have.

    Parameters
    ----------
    directions
        Besides the axes of a block, at most. None: as many as `Spread` takes for its columns.
    columns
        Of a block, at most.
    """

    directions: int | None = None
    columns: int = _MOST_COLUMNS

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_integer("columns", self.columns, least=1))
        Spread(self.directions)  # has the same limits

    def blocks(self, d: int) -> list[_Block]:
        count = -(-d // self.columns)
        ends = [d * i // count for i in range(count + 1)]
        return [_Block(slice(a, b), self._spread(b - a)) for a, b in pairwise(ends)]

    def _spread(self, d: int) -> Spread:
        usual = Spread.usual(d)
        return Spread(usual if self.directions is None else min(usual, self.directions))

    def size(self, d: int) -> int:
        return sum(block.notion.size(block.d) for block in self.blocks(d))

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        return fitting(in_all_columns(self.parts_on_grid(grid, key), grid.d), grid)

    def parts_on_grid(self, grid: Grid, key: bytes) -> list[tuple[slice, IntArray]]:
        return [
            (block.columns, block.notion.on_grid(grid.of(block.columns), derived_key("block", i, key)))
            for i, block in enumerate(self.blocks(grid.d))
        ]

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        zero = Fraction(0)
        return [
            [zero] * block.columns.start + line + [zero] * (d - block.columns.stop)
            for i, block in enumerate(self.blocks(d))
            for line in block.notion.in_data_units(block.d, derived_key("block", i, key))
        ]
