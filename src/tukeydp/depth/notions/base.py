"""What a notion of depth is: which halfspaces count, chosen without the data.

To add one: subclass `FiniteNotion` in a file of its own (docs/extending.md) and register it in `__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import tukeydp.hints  # noqa: F401 - offers what guides searches in a depth that is prepared here
from tukeydp.trusted.parameters import IntArray, ParameterError
from tukeydp.trusted.prepared import Parts, PreparedBlocks, PreparedDepth, along, along_all, in_parts
from tukeydp.trusted.rows import DEFAULT_BITS, Grid
from tukeydp.trusted.streams.rows import StreamedRows

# Bits of a grid without bounds: the rest of 62 is for directions of up to `_MANY_COLUMNS` entries.
WIDE_BITS, _MANY_COLUMNS = 50, 64


class Notion(ABC):
    """Which halfspaces count. A frozen value that knows nothing of the data.

    Privacy rests on one property: replacing one row changes the depth of any point by at most 1. Counting rows in
    closed halfspaces has it, whatever the directions, as long as they are chosen without the data.
    """

    @abstractmethod
    def size(self, d: int) -> int:
        """How many directions are projected on in d columns: decides memory, before any is drawn."""

    @abstractmethod
    def on_grid(self, grid: Grid, key: bytes) -> IntArray | None:
        """Integer directions in grid coordinates, one per row, every projection below `grid.LIMIT`; None if every
        direction counts. `key` is public randomness.
        """

    def prepare(
        self, rows: IntArray | StreamedRows, grid: Grid, key: bytes, lowest: int | None = None
    ) -> PreparedDepth:
        """The notion on rows of grid coordinates, which it does not see. Finitely many directions take streamed rows.

        `lowest` is the lowest level that will be asked for, None for deep ones only: it affects speed.
        """
        directions = self.on_grid(grid, key)
        if directions is not None:
            return along(rows, directions, grid, lowest)
        if isinstance(rows, StreamedRows):
            raise not_streamed(self)
        return along_all(rows, grid, lambda: self.outer(grid, key))

    def outer(self, grid: Grid, key: bytes) -> IntArray:
        """Where every direction counts: finitely many, along which REM measures level sets from above."""
        raise NotImplementedError

    def prepared_to_draw(self, rows: IntArray | StreamedRows, grid: Grid, key: bytes) -> PreparedDepth | PreparedBlocks:
        """What deep points are drawn by: one depth, or one for each block of columns."""
        parts = self.parts_on_grid(grid, key)
        return self.prepare(rows, grid, key) if parts is None else in_parts(rows, parts, grid)

    def parts_on_grid(self, grid: Grid, key: bytes) -> Parts | None:
        """The blocks of columns that are drawn by themselves, with their directions; None if every direction counts."""
        directions = self.on_grid(grid, key)
        return None if directions is None else [(slice(0, grid.d), directions)]

    @abstractmethod
    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]] | None:
        """Directions for data without a grid, exactly; None if every direction counts."""

    def grid_bits(self, d: int) -> int:
        """Bits of a column's default grid between bounds, so that the directions fit beside them."""
        return DEFAULT_BITS

    def wide_bits(self, d: int) -> int:
        """Bits of a column's grid without bounds."""
        return WIDE_BITS if d <= _MANY_COLUMNS else self.grid_bits(d)

    def simplest(self, d: int) -> Notion:
        """The same depth in d columns, by the simplest notion that gives it."""
        return self

    @classmethod
    def with_options(cls, directions: int | None, axes: bool) -> Notion:
        """From the options of the command line."""
        if directions is not None or not axes:
            raise ParameterError("directions", f"must be left out with {cls.__name__} depth", directions)
        return cls()


class FiniteNotion(Notion):
    """Finitely many directions, each with both of its halfspaces."""

    @abstractmethod
    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        """Integer directions in grid coordinates, one per row, every projection below `grid.LIMIT`."""

    def parts_on_grid(self, grid: Grid, key: bytes) -> Parts:
        return [(slice(0, grid.d), self.on_grid(grid, key))]


def not_streamed(depth: Notion) -> ParameterError:
    """For notions that need all rows at once."""
    rule = "must name finitely many directions where rows are streamed, say td.Spread(30): others need all rows at once"
    return ParameterError("depth", rule, repr(depth)[:60])


def require_finite(depth: Notion) -> FiniteNotion:
    """For what works with finitely many directions only."""
    if not isinstance(depth, FiniteNotion):
        raise ParameterError("depth", "must name finitely many directions", repr(depth)[:60])
    return depth
