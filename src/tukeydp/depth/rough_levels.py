"""About the level sets of rows that are streamed, without a pass over them: what searches are rehearsed on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tukeydp.depth.rank_cells import RankCells
from tukeydp.trusted.levels import LevelSets, Window
from tukeydp.trusted.parameters import IntArray


class RoughLevels(LevelSets):
    """About the same level sets, from counts between edges alone; `asked` are the levels asked about.

    Nested like true level sets, so that a sampler can be prepared for them: what it asks for there, it will ask for.
    """

    def __init__(
        self, cells: Sequence[RankCells], directions: IntArray, sample: IntArray, twin: LevelSets | None = None
    ) -> None:
        self._cells, self.asked, self._twin = cells, set[int](), twin
        m = cells[0].rows
        nothing = Window(np.empty((len(directions), 0), dtype=np.int64), m, 2 * m, 0)
        super().__init__(directions, np.empty((0, directions.shape[1]), dtype=np.int64), nothing, sample)

    @property
    def rows(self) -> int:
        return self._cells[0].rows

    @property
    def rough(self) -> LevelSets | None:
        """Searches over levels ask a twin first, so that the true levels' searches are rehearsed."""
        return self._twin

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        self.asked.add(level)
        smallest = np.array([cells.rough(level - 1) for cells in self._cells], dtype=np.int64)
        return smallest, np.array([cells.rough(self.rows - level) for cells in self._cells], dtype=np.int64)

    def depths(self, points: IntArray, least: int = 1) -> IntArray:
        found = np.full(len(points), float(self.rows))
        for v, cells in zip(self.directions, self._cells, strict=True):
            below = cells.rough_at(points @ v)
            found = np.minimum(found, np.minimum(below, self.rows - below))
        return found.astype(np.int64)
