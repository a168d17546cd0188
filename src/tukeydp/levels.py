"""Level sets of one dataset under a finite set of directions, by order statistics of integer projections.

Level l >= 1 is the set of grid points y with, for every direction v,
    l-th smallest projection <= <v, y> <= l-th largest projection
(closed halfspaces on both sides). Level 0 is everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.grid import IntArray

_SAMPLE = 2048


@dataclass(frozen=True, eq=False)
class LevelSets:
    """Directions (k, d) and, for each, the sorted projections (k, m) of the m rows without a missing cell.

    `sample` holds some of the rows (the middle of the grid if there are none), each column sorted: a hint about
    place and shape for whoever wants to be fast, which never decides anything. Not private: all of this is the data.
    """

    directions: IntArray
    projections: IntArray
    sample: IntArray

    @property
    def d(self) -> int:
        return self.directions.shape[1]

    @property
    def rows(self) -> int:
        return self.projections.shape[1]

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        """Smallest and largest projection allowed at `level`, one per direction; 1 <= level <= rows."""
        return self.projections[:, level - 1], self.projections[:, self.rows - level]

    def contains(self, y: Sequence[int], level: int) -> bool:
        """Whether the grid point y has depth >= level."""
        if level <= 0:
            return True
        if level > self.rows:
            return False
        low, high = self.offsets(level)
        projected = self.directions @ np.asarray(y, dtype=np.int64)
        return bool((low <= projected).all() and (projected <= high).all())

    def depths(self, points: IntArray) -> IntArray:
        """Depth of many grid points (m, d) at once."""
        least = np.full(len(points), self.rows, dtype=np.int64)
        for v, sorted_projections in zip(self.directions, self.projections, strict=True):
            at = points @ v
            below = np.searchsorted(sorted_projections, at, side="right")
            above = self.rows - np.searchsorted(sorted_projections, at, side="left")
            least = np.minimum(least, np.minimum(below, above))
        return least

    def highest_unbroken(self) -> int:
        """The highest level at which no single direction contradicts itself (smallest > largest allowed)."""
        low, high = 0, self.rows
        while low < high:
            middle = (low + high + 1) // 2
            smallest, largest = self.offsets(middle)
            if (smallest <= largest).all():
                low = middle
            else:
                high = middle - 1
        return low


def level_sets(rows: IntArray, directions: IntArray) -> LevelSets:
    """Project the rows (m, d) on every direction and sort. Exact int64: the directions were checked for it."""
    # Row by row of the result, so that each sort runs over contiguous memory and nothing is copied twice.
    projections = np.empty((len(directions), len(rows)), dtype=np.int64)
    np.matmul(directions, rows.T, out=projections)
    projections.sort(axis=1)
    some = rows[:: max(1, len(rows) // _SAMPLE)] if len(rows) else np.zeros((1, rows.shape[1]), dtype=np.int64)
    sample = np.sort(some, axis=0)
    return LevelSets(np.ascontiguousarray(directions), projections, sample)
