"""Passes over rows that are streamed: projections counted between edges, and kept where asked for.

Every projection of every row falls into exactly one cell of its direction, edge <= projection < next edge, and counts
there, in integers. So counts prove where a rank lies, whatever the edges are and wherever they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tukeydp.arrays import IntArray
from tukeydp.data.streams import StreamedRows, changed
from tukeydp.threads import available_cores

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


class Layout(NamedTuple):
    """Edges of all directions, one direction behind the other, and where to look for a projection among them.

    Those of direction v are edges[starts[v] : starts[v + 1]]. Where a projection p is at least the first of them and
    below the last, it has at least guide[v, b] and at most guide[v, b + 1] edges at or below it, where b is
    (p - first) >> shifts[v].
    """

    edges: IntArray
    starts: IntArray
    guide: NDArray[np.int32]
    shifts: IntArray


class Room(NamedTuple):
    """How many projections a cell has so far, how many are kept, and from where on in `kept`; cells as in `Layout`.

    Direction v has its cells, one more than edges, from starts[v] + v on.
    """

    counts: IntArray
    rooms: IntArray
    places: IntArray
    kept: IntArray


class _Work:
    """The questions of all directions, laid out for the compiled loop."""

    def __init__(self, directions: IntArray, questions: Sequence[Question]) -> None:
        self._directions = directions
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
            _tally(columns, self._directions, first, last, self._layout, self._room, scratch)

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


@njit(nogil=True, cache=True)
def _tally(columns: Any, directions: Any, first: int, last: int, layout: Layout, room: Room, scratch: Any) -> None:
    """Project rows, given by columns, on the directions first ... last - 1, count, and keep what has room."""
    edges, starts, guide, shifts = layout.edges, layout.starts, layout.guide, layout.shifts
    counts, rooms, places, kept = room.counts, room.rooms, room.places, room.kept
    d, n = columns.shape
    keeping = len(kept) > 0
    for v in range(first, last):
        start, end = starts[v], starts[v + 1]
        scratch[:n] = directions[v, 0] * columns[0]
        for j in range(1, d):
            c = directions[v, j]
            if c:
                for i in range(n):
                    scratch[i] += c * columns[j, i]
        for i in range(n):
            p = scratch[i]
            if start == end or p < edges[start]:
                at = start
            elif p >= edges[end - 1]:
                at = end
            else:
                bucket = (p - edges[start]) >> shifts[v]
                at, beyond = start + guide[v, bucket], start + guide[v, bucket + 1]
                while at < beyond:
                    middle = (at + beyond) >> 1
                    if edges[middle] <= p:
                        at = middle + 1
                    else:
                        beyond = middle
            cell = at + v
            if keeping and counts[cell] < rooms[cell]:
                kept[places[cell] + counts[cell]] = p
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
