"""What a notion of depth is: which halfspaces count, chosen without the data.

To add one: subclass `FiniteNotion` in a file of its own (docs/extending.md) and register it in `__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.data.streams import StreamedRows
from tukeydp.depth.deciding import GridDepth
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import IntArray, ParameterError
from tukeydp.trusted.rows import DEFAULT_BITS, Grid

# Bits of a grid without bounds: the rest of 62 is for directions of up to `_MANY_COLUMNS` entries.
WIDE_BITS, _MANY_COLUMNS = 50, 64
# A point below one row in so many is rarely asked for: only then all order statistics are found. Speed only.
_SHALLOW = 16


@dataclass(frozen=True, eq=False)
class PreparedDepth:
    """A notion on one dataset. Not private: all of this is the data.

    Invariant: a point's depth along the directions of `levels` is at least its depth, so that their level sets contain
    the true ones. Without a `decide` they are the true ones.

    Attributes
    ----------
    levels
        Level sets along finitely many directions: what the sampler proposes from.
    directions
        The public directions that a release lists.
    decide
        Decides what finitely many directions cannot.
    along_public
        Level sets along directions that were chosen without the data and contain the true ones: REM's test measures
        them from above.
    """

    levels: LevelSets
    directions: IntArray
    decide: GridDepth | None
    along_public: Callable[[], LevelSets]

    def depth(self, point: Sequence[int]) -> int:
        """The depth of a grid point, exactly."""
        if self.decide is not None:
            return self.decide.depth(point)
        points = np.array([point], dtype=np.int64)
        likely = max(1, self.levels.rows // _SHALLOW)
        found = int(self.levels.depths(points, likely)[0])
        return found if found >= likely else int(self.levels.depths(points)[0])


@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """Blocks of columns, each with a depth of its own, on one dataset. Not private.

    What is drawn by is the mean over all columns of the depth in a column's block (docs/proofs/boxem.md, section 9).
    """

    parts: tuple[tuple[slice, PreparedDepth], ...]
    directions: IntArray

    def depth(self, point: Sequence[int]) -> int:
        """The least depth of the point in any block, exactly: along all directions."""
        return min(part.depth(point[columns]) for columns, part in self.parts)


class Notion(ABC):
    """Which halfspaces count. A frozen value that knows nothing of the data.

    Privacy rests on one property: replacing one row changes the depth of any point by at most 1. Counting rows in
    closed halfspaces has it, whatever the directions, as long as they are chosen without the data.
    """

    @abstractmethod
    def size(self, d: int) -> int:
        """How many directions are projected on in d columns: decides memory, before any is drawn."""

    @abstractmethod
    def prepare(
        self, rows: IntArray | StreamedRows, grid: Grid, key: bytes, lowest: int | None = None
    ) -> PreparedDepth:
        """The notion on rows of grid coordinates; `key` is public randomness. Not every notion takes streamed rows.

        `lowest` is the lowest level that will be asked for, None for deep ones only: it affects speed.
        """

    def prepared_to_draw(self, rows: IntArray | StreamedRows, grid: Grid, key: bytes) -> PreparedDepth | PreparedBlocks:
        """What deep points are drawn by: one depth, or one for each block of columns."""
        return self.prepare(rows, grid, key)

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

    def parts_on_grid(self, grid: Grid, key: bytes) -> list[tuple[slice, IntArray]]:
        """The blocks of columns that are drawn by themselves, with their directions; all of them are one."""
        return [(slice(0, grid.d), self.on_grid(grid, key))]

    def prepare(
        self, rows: IntArray | StreamedRows, grid: Grid, key: bytes, lowest: int | None = None
    ) -> PreparedDepth:
        return self._prepared(rows, self.on_grid(grid, key), lowest)

    @staticmethod
    def _prepared(rows: IntArray | StreamedRows, directions: IntArray, lowest: int | None = None) -> PreparedDepth:
        levels: LevelSets
        if isinstance(rows, StreamedRows):
            from tukeydp.depth.streamed_levels import streamed_level_sets

            levels = streamed_level_sets(rows, directions)
        else:
            levels = level_sets(rows, directions, lowest)
        return PreparedDepth(levels, directions, None, lambda: levels)


def not_streamed(depth: Notion) -> ParameterError:
    """For notions that need all rows at once."""
    rule = "must name finitely many directions where rows are streamed, say td.Spread(30): others need all rows at once"
    return ParameterError("depth", rule, repr(depth)[:60])


def require_finite(depth: Notion) -> FiniteNotion:
    """For what works with finitely many directions only."""
    if not isinstance(depth, FiniteNotion):
        raise ParameterError("depth", "must name finitely many directions", repr(depth)[:60])
    return depth
