"""Passes over rows that are streamed: projections counted between edges, and kept where asked for.

Every projection of every row falls into exactly one cell of its direction, edge <= projection < next edge, and counts
there, in integers. So counts prove where a rank lies, whatever the edges are and wherever they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.streams.rows import StreamedRows, changed
from tukeydp.trusted.threads import available_cores

_BUCKETS = 4096  # in which the edges of a direction are looked up: more are faster as long as they fit in the cache
_ROWS_AT_A_TIME = 2048  # rows projected on one direction after the other, so that they stay in the cache


@cache
def compile_once() -> None:
    """Count fixed rows: whether the compiled code is kept in a file must not depend on the caller's."""
    rows = np.array([[0, 1], [2, 3]])
    NOTHING.then(rows)
    _Work(np.array([[1, 0]]), [Question(np.array([1]), np.array([1, 0]))]).count(rows, 0, 1)


@dataclass(frozen=True)
class Seen:
    """What is the same in every pass over the same rows, in whatever order: their number and a checksum."""

    rows: int
    checksum: int

    def then(self, block: IntArray) -> Seen:
        from tukeydp.trusted.streams.tally_loops import checksum

        return Seen(self.rows + len(block), (self.checksum + int(checksum(block))) % 2**64)


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
    """How many projections each cell has, and those that were to be kept, sorted, by the number of their cell."""

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
                pending = [_started(pool, work.count, block, a, b) for a, b in pairwise(ends)]
            for future in pending:
                future.result()
        if seen != self._seen:
            raise changed()
        tallies = work.tallies()
        if any(int(tally.counts.sum()) != seen.rows for tally in tallies):
            raise ArithmeticError("every row must count once in every direction")
        return tallies


def _started(pool: ThreadPoolExecutor, work: Callable[..., None], *arguments: Any) -> Future[None]:
    """In a thread if one can be started, else here and now: an error would depend on the data.

    Done once: a pool that could not start a thread has the work in its queue all the same, for threads it has or will.
    """
    done: Future[None] = Future()
    begun = Lock()

    def once() -> None:
        if begun.acquire(blocking=False):
            try:
                work(*arguments)
            except Exception as error:
                done.set_exception(error)
            else:
                done.set_result(None)

    with suppress(RuntimeError):
        pool.submit(once)
        return done
    once()
    return done


class _Work:
    """The questions of all directions, laid out for the compiled loop."""

    def __init__(self, directions: IntArray, questions: Sequence[Question]) -> None:
        from tukeydp.trusted.streams.tally_loops import Layout, Room, tally

        self._directions, self._tally = directions, tally
        starts = np.cumsum([0, *(len(question.edges) for question in questions)])
        guides = [_guide(question.edges) for question in questions]
        self._layout = Layout(
            np.concatenate([question.edges for question in questions]),
            starts,
            np.array([guide for guide, _ in guides]),
            np.array([shift for _, shift in guides], dtype=np.int64),
        )
        rooms = np.concatenate([question.rooms for question in questions])
        kept = np.empty(int(rooms.sum()), dtype=np.int64)
        self._room = Room(np.zeros(len(rooms), dtype=np.int64), rooms, np.cumsum(rooms) - rooms, kept)

    def count(self, block: IntArray, first: int, last: int) -> None:
        """Count a block along some of the directions: other threads count it along others."""
        scratch = np.empty(_ROWS_AT_A_TIME, dtype=np.int64)
        for start in range(0, len(block), _ROWS_AT_A_TIME):
            columns = np.ascontiguousarray(block[start : start + _ROWS_AT_A_TIME].T)
            self._tally(columns, self._directions, first, last, self._layout, self._room, scratch)

    def tallies(self) -> list[Tally]:
        starts, (counts, rooms, places, all_kept) = self._layout.starts, self._room
        found = []
        for v, (start, end) in enumerate(pairwise(starts.tolist())):
            cells = slice(start + v, end + v + 1)
            kept = {}
            for cell in (np.flatnonzero(rooms[cells]) + cells.start).tolist():
                if counts[cell] != rooms[cell]:
                    raise changed()
                kept[cell - cells.start] = values = all_kept[places[cell] : places[cell] + rooms[cell]]
                values.sort()
            found.append(Tally(counts[cells], kept))
        return found


def _guide(edges: IntArray) -> tuple[NDArray[np.int32], int]:
    """Where edges begin in buckets of equal width, a power of two."""
    if not len(edges):
        return np.zeros(_BUCKETS + 2, dtype=np.int32), 0
    first, last = int(edges[0]), int(edges[-1])
    shift = max(0, (last - first).bit_length() - _BUCKETS.bit_length() + 1)
    # Distances from the first edge may be 2^63, between the least and the largest edge there can be.
    ends = np.array([min(bucket << shift, 2**64 - 1) for bucket in range(_BUCKETS + 2)], dtype=np.uint64)
    away = edges.astype(np.uint64) - np.array(first).astype(np.uint64)
    return np.searchsorted(away, ends, side="left").astype(np.int32), shift
