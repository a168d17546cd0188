"""What rows add to a pass over a table that is larger than memory: sums and counts of integers.

Each is a frozen value that travels to where the rows are. Cells become integers one by one, by the code that serves
tables in memory too; what is added up afterwards is exact, in any order (docs/proofs/out-of-core.md, section 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.bounded import BoundedColumns
from tukeydp.data.dealing import drawn_blocks
from tukeydp.data.engines.batches import Place
from tukeydp.mechanisms.clip_radii import RADII, rows_beyond
from tukeydp.mechanisms.clipped_sum import STEPS, ClipRange, from_the_middle
from tukeydp.randomness import Keystream, derived_key


@dataclass(frozen=True)
class Values:
    """For each column the sum of its values from the middle of the bounds, then how many there are."""

    columns: BoundedColumns

    @property
    def length(self) -> int:
        return 2 * self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        values, there = from_the_middle(self.columns.relative(cells))
        return np.concatenate([values.sum(axis=0), there.sum(axis=0)])


@dataclass(frozen=True)
class Clipped:
    """For each column the sum of its cells in whole steps of a range."""

    columns: BoundedColumns
    where: ClipRange

    @property
    def length(self) -> int:
        return self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        return np.asarray(self.where.steps(self.columns.relative(cells)).sum(axis=0))


@dataclass(frozen=True)
class Beyond:
    """For each column the number of missing cells, then for each column and radius that of rows farther out."""

    columns: BoundedColumns
    centre: FloatArray
    spread: FloatArray

    @property
    def length(self) -> int:
        return self.columns.d * (1 + len(RADII))

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        relative = self.columns.relative(cells)
        beyond = rows_beyond(relative, self.centre, self.spread)
        return np.concatenate([np.isnan(relative).sum(axis=0), beyond.reshape(-1)])


@dataclass(frozen=True)
class BlockSums:
    """Every row draws a block for each dealing; for each dealing, block and column the values' sum and number.

    A row's numbers are drawn here, for the piece of rows that it comes in, and used here: they are never a column of
    any table. `key` is secret, and serves one pass.
    """

    columns: BoundedColumns
    blocks: int
    dealings: int
    key: bytes = field(repr=False)

    @property
    def length(self) -> int:
        return 2 * self.dealings * self.blocks * self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        values, there = (part.astype(np.float64) for part in from_the_middle(self.columns.relative(cells)))
        found = np.empty((self.dealings, 2, self.columns.d, self.blocks), dtype=np.int64)
        for i in range(self.dealings):
            stream = Keystream(derived_key("numbers", i, place, self.key))
            numbers = drawn_blocks(len(cells), self.blocks, stream)
            for j in range(self.columns.d):
                found[i, 0, j] = _sums(numbers, values[:, j], self.blocks)
                found[i, 1, j] = _sums(numbers, there[:, j], self.blocks)
        return found.reshape(-1)

    def tables(self, total: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
        """For each dealing the blocks' means, from -1 to 1 and NaN where there is no value, and numbers of values.

        A mean is the float nearest to the quotient of two integers: a function of its own block.
        """
        shaped = np.array(list(total), dtype=object).reshape(self.dealings, 2, self.columns.d, self.blocks)
        half = STEPS // 2
        tables = []
        for sums, counts in shaped:
            means = [s / (half * c) if c else np.nan for s, c in zip(sums.flat, counts.flat, strict=True)]
            table = np.array(means, dtype=np.float64).reshape(sums.shape).T
            tables.append((table, counts.astype(np.float64).T))
        return tables


def _sums(numbers: IntArray, weights: FloatArray, blocks: int) -> IntArray:
    """Of each block's weights. Floats that hold integers: over a piece sums are below 2^53, so exact (`PIECE`)."""
    return np.bincount(numbers, weights, minlength=blocks).astype(np.int64)
