"""The values of each column in each group, in order: what stands at a rank, and which ranks a step has.

A unit is one column of one group. In memory its steps are sorted; of a lazy frame they are counted up to public or
released edges, pass by pass, until what was asked for is certain: the same answers, so that a draw does not know which
it was (docs/proofs/out-of-core.md). Not private: all of this is the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.records import Records
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.steps import Place, listed

# Edges of one pass, over all units: a count for each, as Python integers. Fewer mean more passes.
_EDGES = 2**17
_FEWEST = 16  # edges of one gap at least, so that passes are few

Asked = Sequence[tuple[int, IntArray]]  # units, and ranks or steps of each


class SortedValues(Protocol):
    """By unit, numbered group by group, and in it column by column."""

    @property
    def counts(self) -> Sequence[int]:
        """How many values are there."""
        ...

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        """Say what will be asked, all at once."""
        ...

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        """The steps of the values of these ranks, counted from 0."""
        ...

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        """How many values lie below each step, and how many up to it."""
        ...


def sorted_values(records: Records, grid: Grid) -> SortedValues:
    """The values of all units, clipped to the bounds and rounded to the grid, each by itself; missing ones left out."""
    if isinstance(records.table, LazyTable):
        return CountedValues(records, grid)
    return HeldValues([np.sort(steps_of(cells[:, j], grid, j)) for _, cells in records.parts() for j in range(grid.d)])


def steps_of(cells: FloatArray, grid: Grid, j: int) -> IntArray:
    """The column's values as steps from the lower bound, each by itself; missing cells are left out."""
    one = Grid(grid.lower[j : j + 1], grid.step[j : j + 1], grid.cells[j : j + 1])
    return one.snap(cells[:, np.newaxis])[:, 0] + grid.cells[j] // 2  # the grid counts from its middle


@dataclass(frozen=True, eq=False)
class HeldValues:
    """Sorted steps of each unit, in memory."""

    values: Sequence[IntArray]

    @property
    def counts(self) -> list[int]:
        return [len(one) for one in self.values]

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        """Everything is there."""

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        return self.values[unit][ranks]

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        below, up_to = (np.searchsorted(self.values[unit], steps, side=side) for side in ("left", "right"))
        return below.astype(np.int64), up_to.astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountsUpTo:
    """For each unit how many values lie above the edge before, and at most at each edge: edges ascend."""

    grid: Grid
    edges: tuple[IntArray, ...]

    @property
    def length(self) -> int:
        return sum(map(len, self.edges))

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        d = self.grid.d
        inside, groups = listed(cells, d)
        found = []
        for g in range(len(self.edges) // d):
            own = inside if cells.shape[1] == d else inside[groups == g]
            for j in range(d):
                edges = self.edges[g * d + j]
                if len(edges):
                    bins = np.searchsorted(edges, steps_of(own[:, j], self.grid, j), side="left")
                    found.append(np.bincount(bins, minlength=len(edges) + 1)[:-1])
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


class CountedValues:
    """The same of a lazy frame: what is known is how many values lie at or below some steps of each unit."""

    def __init__(self, records: Records, grid: Grid) -> None:
        self._records, self._grid = records, grid
        units = (records.count or 1) * grid.d
        self._edges = [np.array([-1], dtype=np.int64) for _ in range(units)]
        self._up_to = [np.array([0], dtype=np.int64) for _ in range(units)]
        self._count([np.array([grid.cells[u % grid.d]], dtype=np.int64) for u in range(units)])

    @property
    def counts(self) -> list[int]:
        return [int(up_to[-1]) for up_to in self._up_to]

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        edges = _by_unit([(unit, np.concatenate([some - 1, some])) for unit, some in steps])
        missing = {unit: np.setdiff1d(some, self._edges[unit]) for unit, some in edges.items()}
        if any(map(len, missing.values())):
            self._count([missing.get(u, _NONE) for u in range(len(self._edges))])
        places = _by_unit(ranks)
        while True:
            gaps = {unit: self._gaps(unit, some) for unit, some in places.items()}
            number = sum(len(low) for low, _ in gaps.values())
            if not number:
                return
            each = max(_FEWEST, _EDGES // number)
            self._count([_between(*gaps[u], each) if u in gaps else _NONE for u in range(len(self._edges))])

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        self.ask(ranks=[(unit, ranks)])
        return self._edges[unit][np.searchsorted(self._up_to[unit], ranks, side="right")]

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        self.ask(steps=[(unit, steps)])
        below, up_to = (self._up_to[unit][np.searchsorted(self._edges[unit], edge)] for edge in (steps - 1, steps))
        return below, up_to

    def _gaps(self, unit: int, ranks: IntArray) -> tuple[IntArray, IntArray]:
        """Edges around each rank's value, where more than one step lies between them."""
        upper = np.unique(np.searchsorted(self._up_to[unit], ranks, side="right"))
        low, high = self._edges[unit][upper - 1], self._edges[unit][upper]
        return low[high - low > 1], high[high - low > 1]

    def _count(self, edges: list[IntArray]) -> None:
        """One pass: what lies up to these edges, none of which is known."""
        (found,) = self._records.total(CountsUpTo(self._grid, tuple(edges)))
        start = 0
        for unit, new in enumerate(edges):
            more = np.array(found[start : start + len(new)], dtype=np.int64)
            start += len(new)
            if len(new):
                both = np.concatenate([self._edges[unit], new])
                order = np.argsort(both, kind="stable")
                up_to = np.concatenate([self._up_to[unit], np.cumsum(more)])
                self._edges[unit], self._up_to[unit] = both[order], up_to[order]


_NONE = np.empty(0, dtype=np.int64)


def _by_unit(asked: Asked) -> dict[int, IntArray]:
    found: dict[int, list[IntArray]] = {}
    for unit, some in asked:
        found.setdefault(unit, []).append(some)
    return {unit: np.unique(np.concatenate(some)) for unit, some in found.items()}


def _between(low: IntArray, high: IntArray, each: int) -> IntArray:
    """Up to `each` edges inside every gap, evenly."""
    inside = [np.unique(_evenly(a, b, each)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return np.concatenate([_NONE, *inside])


def _evenly(low: int, high: int, each: int) -> IntArray:
    if high - low - 1 <= each:
        return np.arange(low + 1, high, dtype=np.int64)
    return low + (high - low) // (each + 1) * np.arange(1, each + 1, dtype=np.int64)
