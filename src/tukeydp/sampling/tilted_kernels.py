"""Proposals from tilted boxes, compiled: cells first, points of cells only where that may be enough.

Integers only. A proposal takes a word for its level, one to decide whether its point is kept, and half a word for each
cell. The heights of its cells alone reject most: where their sum is above the box's highest, the point is not in the
level, and far below it hardly any is kept. The others are *survivors*: their points are drawn, one word a coordinate,
and tested against all directions (docs/proofs/boxem.md, section 4, "Tilted boxes").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.sampling.coarse_kernels import UNDECIDED, Words, rows_of
from tukeydp.sampling.kernels import high_word
from tukeydp.sampling.plain_proposals import high_words
from tukeydp.sampling.rough_slabs import RoughSlabs
from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.shapes import SHARE_BITS

_TOGETHER = 1024  # points that are tested together without numba. Speed only
GUIDE_BITS = 9  # of a share by which its cell is guessed. Speed only
ALONG_THE_AXES, SLANTED, ROUNDED = 0, 1, 2  # kinds of boxes: points are coordinates, turned ones, or rounded real ones
REJECTED, PASSED, BY_HAND = 0, 1, 2  # what became of a survivor: in the level or not, or not to be told here


class Tilts(NamedTuple):
    """Tilted boxes: cells as in `trusted.shapes.Cells`, `guide` where to look for a share's cell."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    heights: NDArray[np.int32]
    guide: NDArray[np.int32]
    highest: IntArray
    kind: IntArray
    inverse: NDArray[np.int64]


class Slots(NamedTuple):
    """Rows of the table whose proposals are made here: slot[row], -1 for others; its box and its level's two ranks."""

    slot: IntArray
    box: IntArray
    smallest: NDArray[np.int64]
    largest: NDArray[np.int64]
    rough: RoughSlabs


class Survivors(NamedTuple):
    """Numbers of proposals, their rows of the table, the cells of their points, these, and what became of them."""

    number: IntArray
    row: IntArray
    cells: NDArray[np.int32]
    points: NDArray[np.int64]
    state: NDArray[np.int8]


class Limits(NamedTuple):
    """So much below the highest, words up to `words` may keep a point; and the ends of the public box."""

    words: NDArray[np.uint64]
    floor: NDArray[np.int64]
    ceiling: NDArray[np.int64]


def _survivors(
    words: Any, keeping: Any, shares: Any, table: Words, slots: Slots, tilts: Tilts, limits: Limits, found: Survivors
) -> int:
    """`survivors` on whole arrays."""
    row = rows_of(words, table)
    slot = np.where(row != UNDECIDED, slots.slot[row], -1)
    box = np.where(slot >= 0, slots.box[slot], -1)
    kept = slot < 0
    cells = np.zeros((len(words), tilts.heights.shape[1]), dtype=np.int32)
    for b in np.unique(box[~kept]).tolist():
        some = np.flatnonzero(box == b)
        left = np.full(len(some), tilts.highest[b])
        for j in range(cells.shape[1]):
            share = (shares[some, j] >> np.uint32(32 - SHARE_BITS)).astype(np.int64)
            cells[some, j] = np.searchsorted(tilts.ends[b, j, 1:], share, side="right")
            left -= tilts.heights[b, j, cells[some, j]]
        likely = limits.words[np.clip(left, 0, len(limits.words) - 1)]
        kept[some] = (left >= 0) & (keeping[some] <= likely)
    number = np.flatnonzero(kept)
    to = slice(0, len(number))
    found.number[to], found.row[to], found.cells[to] = number, row[number], cells[number]
    return len(number)


@compiled(plain=_survivors)
def survivors(
    words: Any, keeping: Any, shares: Any, table: Words, slots: Slots, tilts: Tilts, limits: Limits, found: Survivors
) -> int:
    """Make one proposal of each word, as far as its cells; returns how many survive, in the order of the words."""
    first, last, guide_of_words, slot_of = table.first, table.last, table.guide, slots.slot
    ends, heights, guide, bounds = tilts.ends, tilts.heights, tilts.guide, limits.words
    number, row_found, cells = found.number, found.row, found.cells
    d = heights.shape[1]
    leading = np.uint64(64)
    size = len(guide_of_words)
    while size > 1:
        leading -= np.uint64(1)
        size >>= 1
    count = 0
    for p in range(len(words)):
        word = words[p]
        row = guide_of_words[word >> leading]
        while row + 1 < len(first) and first[row + 1] <= word:
            row += 1
        if word < first[row] or word > last[row]:
            row = UNDECIDED
        slot = slot_of[row] if row != UNDECIDED else -1
        number[count], row_found[count] = p, row
        if slot < 0:
            count += 1
            continue
        box = slots.box[slot]
        left = tilts.highest[box]
        for j in range(d):
            share = np.int64(shares[p, j] >> np.uint32(32 - SHARE_BITS))
            cell = guide[box, j, share >> (SHARE_BITS - GUIDE_BITS)]
            while ends[box, j, cell + 1] <= share:
                cell += 1
            cells[count, j] = cell
            left -= heights[box, j, cell]
        if left >= 0 and keeping[p] <= bounds[min(left, len(bounds) - 1)]:
            count += 1
    return count


def _tested(
    count: int, words: Any, slots: Slots, tilts: Tilts, directions: Any, order: Any, limits: Limits, found: Survivors
) -> None:
    """`test` on whole arrays; `order` is left as it is."""
    found.state[:count] = BY_HAND
    row = found.row[:count]
    slot_of = np.where(row != UNDECIDED, slots.slot[row], -1)
    for slot in np.unique(slot_of[slot_of >= 0]).tolist():
        box, of_slot = slots.box[slot], np.flatnonzero(slot_of == slot)
        for begin in range(0, len(of_slot), _TOGETHER):
            some = of_slot[begin : begin + _TOGETHER]
            columns = np.arange(words.shape[1])
            low, end = (tilts.starts[box][columns, found.cells[some] + i] for i in (0, 1))
            if tilts.kind[box] == ROUNDED:
                found.state[some[_all_far_out(words[some], low, end, tilts.starts[box, :, 0], slots, slot)]] = REJECTED
                continue
            width = (end - low).astype(np.uint64)
            lower = words[some] * width
            by_hand = ((lower < width) & (lower < (np.uint64(0) - width) % width)).any(axis=1)
            y = low + high_words(words[some], width).astype(np.int64)
            if tilts.kind[box] == SLANTED:
                y = y @ tilts.inverse[box].T
            found.points[some] = y
            projected = y @ directions.T
            right = ((y >= limits.floor) & (y <= limits.ceiling)).all(axis=1)
            right &= ((projected >= slots.smallest[slot]) & (projected <= slots.largest[slot])).all(axis=1)
            found.state[some] = np.where(by_hand, BY_HAND, np.where(right, PASSED, REJECTED))


def _all_far_out(words: Any, low: Any, end: Any, corner: Any, slots: Slots, slot: int) -> Any:
    """`_far_out` for many points of a slot; sums are added up in the same order."""
    s = (low - corner).astype(np.float64) + (end - low).astype(np.float64) * (words.astype(np.float64) * 2.0**-64)
    slopes = slots.rough.slopes[slots.rough.frame[slot]]
    at = np.zeros((len(s), len(slopes)))
    for j in range(s.shape[1]):
        at += slopes[:, j] * s[:, j, np.newaxis]
    return ((at < slots.rough.least[slot]) | (at > slots.rough.most[slot])).any(axis=1)


@compiled(plain=_tested)
def test(
    count: int, words: Any, slots: Slots, tilts: Tilts, directions: Any, order: Any, limits: Limits, found: Survivors
) -> None:
    """Draw the points of survivors and test them; `order` is rearranged so that directions that reject come first."""
    starts, inverse, slot_of, smallest, largest = tilts.starts, tilts.inverse, slots.slot, slots.smallest, slots.largest
    cells, points, state = found.cells, found.points, found.state
    k, d = directions.shape
    z = np.empty(d, dtype=np.int64)
    for i in range(count):
        state[i] = BY_HAND
        row = found.row[i]
        slot = slot_of[row] if row != UNDECIDED else -1
        if slot < 0:
            continue
        box = slots.box[slot]
        if tilts.kind[box] == ROUNDED:
            if _far_out(i, words, starts[box], cells, slots.rough, slot, order):
                state[i] = REJECTED
            continue
        redrawn = False
        for j in range(d):
            low = starts[box, j, cells[i, j]]
            width = np.uint64(starts[box, j, cells[i, j] + 1] - low)
            # Leftover words, 2^64 mod width of them, would make some points likelier (Lemire 2019).
            lower = words[i, j] * width
            redrawn |= lower < width and lower < (np.uint64(0) - width) % width
            z[j] = low + np.int64(high_word(words[i, j], width))
        if redrawn:
            continue
        y = points[i]
        state[i] = PASSED
        for j in range(d):
            total = z[j]
            if tilts.kind[box] == SLANTED:
                total = np.int64(0)
                for c in range(d):
                    total += inverse[box, j, c] * z[c]
            y[j] = total
            if total < limits.floor[j] or total > limits.ceiling[j]:
                state[i] = REJECTED
        if state[i] == REJECTED:
            continue
        for position in range(k):
            direction = order[position]
            projected = np.int64(0)
            for j in range(d):
                projected += directions[direction, j] * y[j]
            if projected < smallest[slot, direction] or projected > largest[slot, direction]:
                order[position] = order[position // 2]
                order[position // 2] = direction
                state[i] = REJECTED
                break


@compiled
def _far_out(i: int, words: Any, starts: Any, cells: Any, rough: RoughSlabs, slot: int, order: Any) -> bool:
    """Whether a rounded point is certainly not in its level, by floats."""
    d = len(starts)
    slopes, least, most = rough.slopes[rough.frame[slot]], rough.least[slot], rough.most[slot]
    s = np.empty(d)
    for j in range(d):
        low = starts[j, cells[i, j]]
        width = starts[j, cells[i, j] + 1] - low
        s[j] = np.float64(low - starts[j, 0]) + np.float64(width) * (np.float64(words[i, j]) * 2.0**-64)
    for position in range(len(order)):
        direction = order[position]
        at = 0.0
        for j in range(d):
            at += slopes[direction, j] * s[j]
        if at < least[direction] or at > most[direction]:
            order[position] = order[position // 2]
            order[position // 2] = direction
            return True
    return False
