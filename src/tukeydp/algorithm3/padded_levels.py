"""Level sets padded by boxes, so that counting in boxes is accurate on every dataset (docs/proofs/algorithm3.md, 5).

Beside the grid there is a second copy of it, each of whose points weighs `padding`. A point has its usual depth on the
grid, and its depth along the axes alone on the copy. Both are 1-sensitive, so this is a depth like any other; its
level l is the level set Y_l together with the copy of its box A_l = {y : depth along the axes >= l}, and has the size

    |Y_l| + padding |A_l|  >=  padding |A_l|,

which a fixed number of uniform points of A_l tells to any relative accuracy. Which copy a point came from is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.data.grid import Grid
from tukeydp.depth.levels import LevelSets, level_sets


@dataclass(frozen=True, eq=False)
class PaddedLevels:
    """The padded levels 0 ... highest of one dataset; the axes always count. Not private: all of this is the data."""

    levels: LevelSets
    axes: LevelSets
    grid: Grid
    padding: Fraction
    highest: int

    @property
    def d(self) -> int:
        return self.grid.d

    def box(self, level: int) -> tuple[IntArray, IntArray] | None:
        """Smallest and largest coordinates of A_l, or None if it is empty."""
        if level == 0:
            return self.grid.low, self.grid.high
        if level > self.axes.rows:
            return None
        low, high = self.axes.offsets(level)
        return (low, high) if (low <= high).all() else None

    def box_size(self, level: int) -> int:
        box = self.box(level)
        return 0 if box is None else prod((int(b) - int(a) + 1 for a, b in zip(*box, strict=True)), start=1)


def padded_levels(rows: IntArray, directions: IntArray, grid: Grid, *, padding: Fraction, highest: int) -> PaddedLevels:
    """Rows and directions on the grid; `highest` is public, and deeper points count as this deep."""
    axes = level_sets(rows, np.eye(grid.d, dtype=np.int64), lowest=1)
    return PaddedLevels(level_sets(rows, directions, lowest=1), axes, grid, padding, highest)
