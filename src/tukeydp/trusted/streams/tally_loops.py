"""The loops of a pass over rows, compiled, with their records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import IntArray


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


def _tallied(columns: Any, directions: Any, first: int, last: int, layout: Layout, room: Room, scratch: Any) -> None:
    """`tally`, all rows together."""
    counts, rooms, places, kept = room
    for v in range(first, last):
        projected = directions[v] @ columns
        start, end = layout.starts[v], layout.starts[v + 1]
        cells = start + v + np.searchsorted(layout.edges[start:end], projected, side="right")
        if len(kept):
            # Those of a cell in their order, numbered from what it has so far.
            order = np.argsort(cells, kind="stable")
            sorted_cells = cells[order]
            number = np.arange(len(cells)) - np.searchsorted(sorted_cells, sorted_cells) + counts[sorted_cells]
            has_room = number < rooms[sorted_cells]
            kept[(places[sorted_cells] + number)[has_room]] = projected[order[has_room]]
        np.add.at(counts, cells, 1)


@compiled(plain=_tallied)
def tally(columns: Any, directions: Any, first: int, last: int, layout: Layout, room: Room, scratch: Any) -> None:
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


def _mixed(rows: Any) -> Any:
    """`checksum`, all rows together."""
    mixed = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in rows.T.astype(np.uint64):
        mixed = (mixed ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed.sum(dtype=np.uint64)


@compiled(plain=_mixed)
def checksum(rows: Any) -> Any:
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
