"""A notion of depth on the rows of one table: directions that were chosen without them, and what decides the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from tukeydp.trusted.directions import fitting
from tukeydp.trusted.exact.deciding import GridDepth, first_envelope, require_exact_differences
from tukeydp.trusted.exact.depth import least_weight, proven
from tukeydp.trusted.exact.vectors import from_integers
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.streams.rows import StreamedRows

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


Parts = Sequence[tuple[slice, IntArray]]  # blocks of columns that lie side by side, and the directions in each


def in_parts(rows: IntArray | StreamedRows, parts: Parts, grid: Grid) -> PreparedDepth | PreparedBlocks:
    """Depth along the directions of all columns, or of each block by itself."""
    if [columns.start for columns, _ in parts] + [grid.d] != [0] + [columns.stop for columns, _ in parts]:
        raise ValueError("blocks are of all columns, each in one")
    if len(parts) == 1:
        return along(rows, parts[0][1], grid)

    def of(columns: slice) -> IntArray | StreamedRows:
        return rows.of(columns, len(parts)) if isinstance(rows, StreamedRows) else rows[:, columns]

    prepared = tuple((columns, along(of(columns), directions, grid.of(columns))) for columns, directions in parts)
    return PreparedBlocks(prepared, in_all_columns(parts, grid.d))


def in_all_columns(parts: Parts, d: int) -> IntArray:
    """Directions in some columns as directions in all."""
    found = [np.zeros((len(directions), d), dtype=np.int64) for _, directions in parts]
    for whole, (columns, directions) in zip(found, parts, strict=True):
        whole[:, columns] = directions
    return np.concatenate(found)


def along(rows: IntArray | StreamedRows, directions: IntArray, grid: Grid, lowest: int | None = None) -> PreparedDepth:
    """Depth along finitely many directions, none of whose products with grid points leaves 62 bits."""
    directions = fitting(directions, grid)
    levels: LevelSets
    if isinstance(rows, StreamedRows):
        from tukeydp.trusted.streams.streamed_levels import streamed_level_sets

        levels = streamed_level_sets(rows, directions)
    else:
        levels = level_sets(rows, directions, lowest)
    return PreparedDepth(levels, directions, None, lambda: levels)


def usual(rows: IntArray, grid: Grid, key: bytes, count: int | None = None) -> PreparedDepth:
    """Depth along the directions that are usual for so many rows, `count` where their number is secret."""
    ((_, directions),) = _CHOICE[0](len(rows) if count is None else count, grid, key, None)
    return along(rows, directions, grid)


def usual_to_draw(
    rows: IntArray, grid: Grid, key: bytes, count: int, epsilon: Fraction
) -> PreparedDepth | PreparedBlocks:
    """What deep points are usually drawn by, with weights e^(epsilon T / 2): many columns in blocks."""
    return in_parts(rows, _CHOICE[0](count, grid, key, epsilon), grid)


# Of so many rows, on a grid, by a public key; with an epsilon for draws of deep points, else in one part.
_CHOICE: list[Callable[[int, Grid, bytes, Fraction | None], Parts]] = []


def choose_by(choice: Callable[[int, Grid, bytes, Fraction | None], Parts]) -> None:
    """Have `usual` directions chosen by this function of public numbers, which never sees rows."""
    _CHOICE[:] = [choice]


def along_all(rows: IntArray, grid: Grid, outer: Callable[[], IntArray]) -> PreparedDepth:
    """Tukey depth itself; `outer` are public directions."""
    require_exact_differences(grid)
    if grid.d > 1:
        _compile_sweep()
    if grid.d > 2:
        _compile_searches()

    @cache
    def along_public() -> LevelSets:
        return level_sets(rows, fitting(outer(), grid))

    envelope = level_sets(rows, first_envelope(rows, grid))
    return PreparedDepth(envelope, np.empty((0, grid.d), dtype=np.int64), GridDepth(rows, grid), along_public)


@cache
def _compile_sweep() -> None:
    """Use the sweep once on fixed vectors: whether its code is kept in a file must not depend on the rows."""
    least_weight(from_integers([[1, 0], [0, 1], [-1, -1]], [1, 1, 1]), threads=1)


@cache
def _compile_searches() -> None:
    """The same for the search by cones and for ties, which more than two columns need."""
    from tukeydp.trusted.exact.sweeps import tied_rows

    vectors = from_integers([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]], [1, 1, 1, 1])
    proven(vectors, 1)
    tied_rows(vectors, [(0,)], 1)
