"""Passes over rows that are streamed: projections counted between edges, and kept where asked for.

Every projection of every row falls into exactly one cell of its direction, edge <= projection < next edge, and counts
there, in integers. So counts prove where a rank lies, whatever the edges are and wherever they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from tukeydp.arrays import IntArray
from tukeydp.data.streams import StreamedRows, changed
from tukeydp.threads import available_cores

_ROWS_AT_A_TIME = 2048  # rows projected on one direction after the other, so that they stay in the cache


@dataclass(frozen=True)
class Seen:
    """What is the same in every pass over the same rows, in whatever order: their number and a checksum."""

    rows: int
    checksum: int

    def then(self, block: IntArray) -> Seen:
        return Seen(self.rows + len(block), (self.checksum + int(_checksum(block))) % 2**64)


NOTHING = Seen(0, 0)


@dataclass(frozen=True, eq=False)
class Question:
    """Edges of one direction, ascending, and for each of the cells between them how many projections to keep.

    There is a cell below the first edge and one from the last edge up: one more than edges. `rooms` are the counts that
    cells are known to have, or 0.
    """

    edges: IntArray
    rooms: IntArray


@dataclass(frozen=True, eq=False)
class Tally:
    """How many projections each cell has, and those of the cells that were to be kept, sorted, by number of the cell."""

    counts: IntArray
    kept: dict[int, IntArray]


class Passes:
    """Passes over the same rows; one that sees other rows than the first raises, and nothing it counted is used."""

    def __init__(self, rows: StreamedRows, directions: IntArray, seen: Seen) -> None:
        self._rows, self._directions, self._seen = rows, directions, seen
        self.taken = 0  # how many there were

    def run(
        self, questions: Sequence[Question], watch: Callable[[int, IntArray], None] = lambda at, block: None
    ) -> list[Tally]:
        """One pass: a tally for each direction. `watch` is shown every block, and the number of its first row."""
        self.taken += 1
        work = _Work(self._directions, questions)
        seen = NOTHING
        cores = max(1, min(available_cores(), len(self._directions)))
        ends = np.linspace(0, len(self._directions), cores + 1).astype(int).tolist()
        with ThreadPoolExecutor(cores) as pool:
            pending: list[Future[None]] = []
            for block in self._rows.blocks():
                watch(seen.rows, block)
                seen = seen.then(block)
                for future in pending:
                    future.result()
                # The next block is read while this one is counted.
                pending = [_started(pool, work.count, block, a, b) for a, b in zip(ends, ends[1:], strict=False)]
            for future in pending:
                future.result()
        if seen != self._seen:
            raise changed()
        return work.tallies()


def _started(pool: ThreadPoolExecutor, work: Callable[..., None], *arguments: Any) -> Future[None]:
    """In a thread if one can be started, else here and now: an error would depend on the data."""
    try:
        return pool.submit(work, *arguments)
    except RuntimeError:
        done: Future[None] = Future()
        work(*arguments)
        done.set_result(None)
        return done


class _Work:
    """The questions of all directions, laid out one behind the other for the compiled loop."""

    def __init__(self, directions: IntArray, questions: Sequence[Question]) -> None:
        self._directions = directions
        self._edges = np.concatenate([question.edges for question in questions])
        self._starts = np.cumsum([0, *(len(question.edges) for question in questions)])
        self._rooms = np.concatenate([question.rooms for question in questions])
        self._places = np.cumsum(self._rooms) - self._rooms
        self._counts = np.zeros(len(self._rooms), dtype=np.int64)
        self._kept = np.empty(int(self._rooms.sum()), dtype=np.int64)

    def count(self, block: IntArray, first: int, last: int) -> None:
        """Count a block along some of the directions: other threads count it along others."""
        for start in range(0, len(block), _ROWS_AT_A_TIME):
            _tally(
                block[start : start + _ROWS_AT_A_TIME], self._directions, first, last, self._edges, self._starts,
                self._counts, self._rooms, self._places, self._kept,
            )  # fmt: skip

    def tallies(self) -> list[Tally]:
        found = []
        for v, (start, end) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            cells = slice(start + v, end + v + 1)
            kept = {}
            for cell in (np.flatnonzero(self._rooms[cells]) + cells.start).tolist():
                values = self._kept[self._places[cell] : self._places[cell] + self._rooms[cell]]
                if self._counts[cell] != self._rooms[cell]:
                    raise changed()
                values.sort()
                kept[cell - int(cells.start)] = values
            found.append(Tally(self._counts[cells], kept))
        return found


@njit(nogil=True, cache=True)
def _tally(
    rows: Any, directions: Any, first: int, last: int, edges: Any, starts: Any, counts: Any, rooms: Any, places: Any,
    kept: Any,
) -> None:  # fmt: skip
    """Project rows on the directions first ... last - 1, count, and keep what has room."""
    d = rows.shape[1]
    for v in range(first, last):
        low, count = starts[v], starts[v + 1] - starts[v]
        for i in range(len(rows)):
            projected = np.int64(0)
            for j in range(d):
                projected += directions[v, j] * rows[i, j]
            # How many edges are at most the projection: halving without branches that depend on it.
            base, left = low, count
            while left > 0:
                half = (left + 1) >> 1
                base += half * (edges[base + half - 1] <= projected)
                left -= half
            cell = base + v
            if counts[cell] < rooms[cell]:
                kept[places[cell] + counts[cell]] = projected
            counts[cell] += 1


@njit(nogil=True, cache=True)
def _checksum(rows: Any) -> Any:
    """A sum over rows, so that their order does not matter, of a mixture of each row's coordinates (splitmix64)."""
    total = np.uint64(0)
    for i in range(rows.shape[0]):
        mixed = np.uint64(0x9E3779B97F4A7C15)
        for j in range(rows.shape[1]):
            mixed = (mixed ^ np.uint64(rows[i, j])) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(31)
        total += mixed
    return total
