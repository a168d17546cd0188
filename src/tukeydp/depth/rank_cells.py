"""Which ranks lie between which edges: what counting passes have proven about one direction's projections.

Cell j holds the projections from edge j - 1 up to below edge j, and these are the ranks below[j] ... below[j + 1] - 1,
counted from 0. A rank is *found* if its cell has a single value or its projections have been kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.rows import LIMIT


class RankCells:
    """One direction. The edges are hints, what is counted between them is exact. Not private: this is the data."""

    def __init__(self, edges: IntArray, counts: IntArray) -> None:
        self.edges, self.below = edges, np.concatenate([[0], np.cumsum(counts)])
        self._kept: dict[int, IntArray] = {}  # by the rank of the first: cells may be numbered anew

    @property
    def rows(self) -> int:
        return int(self.below[-1])

    @property
    def kept(self) -> int:
        """How many projections are held."""
        return sum(len(values) for values in self._kept.values())

    def forget(self) -> None:
        self._kept = {}

    def keep(self, cell: int, values: IntArray) -> None:
        """All projections of a cell, sorted."""
        self._kept[int(self.below[cell])] = values

    def cell_of(self, rank: int) -> int:
        """The cell with this rank; empty cells have none."""
        return bisect_right(self.below, rank) - 1

    def ends(self, cell: int) -> tuple[int, int]:
        """The least value that the cell may have, and the least beyond it."""
        low = int(self.edges[cell - 1]) if cell else -LIMIT
        return low, int(self.edges[cell]) if cell < len(self.edges) else LIMIT

    def missing(self, first: int, last: int) -> Iterator[int]:
        """The cells of the ranks first ... last that have not been found."""
        for cell in range(self.cell_of(first), self.cell_of(last) + 1):
            if self.below[cell] < self.below[cell + 1] and not self._known(cell):
                yield cell

    def count(self, cell: int) -> int:
        return int(self.below[cell + 1] - self.below[cell])

    def found(self, first: int, last: int) -> IntArray:
        """The projections of the ranks first ... last, all of which must have been found."""
        parts = []
        while first <= last:
            cell = self.cell_of(first)
            start, end = int(self.below[cell]), int(self.below[cell + 1])
            stop = min(last + 1, end)
            if start in self._kept:
                parts.append(self._kept[start][first - start : stop - start])
            elif self._single(cell):
                parts.append(np.full(stop - first, self.ends(cell)[0], dtype=np.int64))
            else:
                raise LookupError("a rank that has not been found")
            first = stop
        return np.concatenate(parts)

    def found_around(self, rank: int) -> tuple[int, int]:
        """The first and the last of the ranks around one that have been found, itself among them."""
        first = last = self.cell_of(rank)
        while first and (self.count(first - 1) == 0 or self._known(first - 1)):
            first -= 1
        while last + 1 < len(self.below) - 1 and (self.count(last + 1) == 0 or self._known(last + 1)):
            last += 1
        return int(self.below[first]), int(self.below[last + 1]) - 1

    def divide(self, cell: int, edges: IntArray, counts: IntArray) -> None:
        """Further edges inside a cell, and what was counted between them."""
        start, end = int(self.below[cell]), int(self.below[cell + 1])
        inner = start + np.cumsum(counts)
        if int(inner[-1]) != end:
            raise ArithmeticError("parts of a cell must have its count")
        self.edges = np.concatenate([self.edges[:cell], edges, self.edges[cell:]])
        self.below = np.concatenate([self.below[: cell + 1], inner[:-1], self.below[cell + 1 :]])

    def splits(self, cell: int, pieces: int) -> IntArray:
        """Edges that cut a cell's values, which are several, into pieces of about equal width."""
        low, high = self.ends(cell)
        inside = {low + (high - low) * i // pieces for i in range(1, pieces)} - {low, high}
        return np.array(sorted(inside), dtype=np.int64)

    def rough(self, rank: int) -> int:
        """About the projection of a rank: never outside its cell, and growing with the rank."""
        cell = self.cell_of(rank)
        start = int(self.below[cell])
        if start in self._kept:
            return int(self._kept[start][rank - start])
        low, high = self.ends(cell)
        if cell == 0:
            return high - 1
        if cell == len(self.edges):
            return low
        share = (rank - start + 0.5) / self.count(cell)
        return min(high - 1, low + int(share * (high - low)))

    def bounds_at(self, values: IntArray) -> tuple[IntArray, IntArray]:
        """For each value: no more projections than these are at most it, and at least it."""
        cells = np.searchsorted(self.edges, values, side="right")
        return self.below[cells + 1], self.rows - self.below[cells]

    def rough_at(self, values: IntArray) -> FloatArray:
        """About how many projections are below each value."""
        inner = self.below[1:-1].astype(np.float64)
        return np.asarray(np.interp(values.astype(np.float64), self.edges.astype(np.float64), inner))

    def _known(self, cell: int) -> bool:
        return self._single(cell) or int(self.below[cell]) in self._kept

    def _single(self, cell: int) -> bool:
        low, high = self.ends(cell)
        return high - low == 1


def edges_by(sample: IntArray, cells: int) -> IntArray:
    """Edges between which a sorted sample has about equally many values; a frequent value gets a cell of its own."""
    picked = sample[(np.arange(1, cells) * len(sample)) // cells]
    values, times = np.unique(picked, return_counts=True)
    return np.union1d(values, values[times > 1] + 1)
