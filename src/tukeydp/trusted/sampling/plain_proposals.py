"""The loops over proposals in NumPy, many at a time: the same answers as the compiled ones, word for word.

A proposal from a box takes 1 + d words unless one of its coordinates has to be redrawn, which happens with chance
width / 2^64 at most: that proposal is drawn by itself, word by word. Where there are pieces, from which a point takes
one word, all are.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.records import (
    ACCEPTED,
    EXHAUSTED,
    SHALLOW,
    SPARE,
    STARVED,
    UNDECIDED,
    Proposals,
    Ranks,
    Slabs,
    UniformDraw,
)

_AT_ONCE, _AT_MOST = 64, 1024  # proposals looked at together: at first, and at most. Speed only
_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)


def propose(
    words: Any, cursor: int, proposals: Proposals, ranks: Ranks, order: Any, z: Any, y: Any
) -> tuple[int, int, int]:
    """As `loops.propose`; `order` and `z` are left as they are."""
    if proposals.parts.any():
        return _propose_one_by_one(words, cursor, proposals, ranks, y)
    d = ranks.directions.shape[1]
    together = _AT_ONCE
    while cursor + 1 + d + SPARE <= len(words):
        count = min(together, (len(words) - cursor - 1 - d - SPARE) // (1 + d) + 1)
        block = words[cursor : cursor + count * (1 + d)].reshape(count, 1 + d)
        which = _intervals(proposals, block[:, 0])
        level, box = proposals.level[which], proposals.box[which]
        undecided = (block[:, 0] < proposals.first[which]) | (block[:, 0] > proposals.last[which])
        shallow = (level > 0) & ((level <= ranks.left_out) | (level > ranks.highest))
        widths = proposals.boxes.width[box]
        redrawn = (block[:, 1:] * widths < proposals.boxes.leftover[box]).any(axis=1)
        stops = np.flatnonzero(undecided | shallow | redrawn)
        clear = int(stops[0]) if len(stops) else count
        drawn = proposals.boxes.low[box[:clear]] + high_words(block[:clear, 1:], widths[:clear]).astype(np.int64)
        found = _first_accepted(proposals, ranks, drawn, level[:clear], box[:clear], y)
        if found is not None:
            return ACCEPTED, cursor + (found + 1) * (1 + d), int(which[found])
        cursor += clear * (1 + d)
        if clear < count:
            if undecided[clear]:
                return UNDECIDED, cursor + 1, cursor
            if shallow[clear]:
                return SHALLOW, cursor, int(level[clear])
            alone, cursor = _drawn_alone(words, cursor + 1, _of_box(proposals, int(box[clear])))
            if alone is None:
                return STARVED, cursor, int(which[clear])
            one = slice(clear, clear + 1)
            if _first_accepted(proposals, ranks, alone, level[one], box[one], y) is not None:
                return ACCEPTED, cursor, int(which[clear])
        together = min(2 * together, _AT_MOST)
    return EXHAUSTED, cursor, 0


def _propose_one_by_one(words: Any, cursor: int, proposals: Proposals, ranks: Ranks, y: Any) -> tuple[int, int, int]:
    d = ranks.directions.shape[1]
    first, last = proposals.first.tolist(), proposals.last.tolist()
    while cursor + 1 + d + SPARE <= len(words):
        here, word = cursor, int(words[cursor])
        i = max(bisect_right(first, word) - 1, 0)
        if word < first[i] or word > last[i]:
            return UNDECIDED, cursor + 1, here
        level, box = int(proposals.level[i]), int(proposals.box[i])
        if level > 0 and (level <= ranks.left_out or level > ranks.highest):
            return SHALLOW, here, level
        parts = int(proposals.parts[box])
        drawn, cursor = _drawn_alone(words, cursor + 1, _of_box(proposals, box, 1 if parts else d))
        if drawn is None:
            return STARVED, cursor, i
        if parts:
            drawn = _placed(int(drawn[0, 0]), proposals, parts)
        one = slice(i, i + 1)
        if _first_accepted(proposals, ranks, drawn, proposals.level[one], proposals.box[one], y) is not None:
            return ACCEPTED, cursor, i
    return EXHAUSTED, cursor, 0


def _placed(number: int, proposals: Proposals, parts: int) -> IntArray:
    """The point of this number in the first `parts` pieces."""
    low, width, ends = proposals.pieces
    piece = int(np.searchsorted(ends[:parts], number, side="right"))
    rest = number - (int(ends[piece - 1]) if piece else 0)
    point = []
    for start, steps in zip(low[piece].tolist(), width[piece].tolist(), strict=True):
        rest, step = divmod(rest, steps)
        point.append(start + step)
    return np.array([point], dtype=np.int64)


def count_inside(words: Any, box: UniformDraw, slabs: Slabs, wanted: int) -> tuple[int, int]:
    """As `loops.count_inside`."""
    d = len(box.low)
    cursor = drawn = inside = 0
    while drawn < wanted and cursor + d <= len(words):
        count = min(_AT_MOST, wanted - drawn, (len(words) - cursor) // d)
        block = words[cursor : cursor + count * d].reshape(count, d)
        redrawn = np.flatnonzero((block * box.width < box.leftover).any(axis=1))
        clear = int(redrawn[0]) if len(redrawn) else count
        points = box.low + high_words(block[:clear], box.width).astype(np.int64)
        inside += _within(points, slabs)
        drawn, cursor = drawn + clear, cursor + clear * d
        if clear < count:
            alone, cursor = _drawn_alone(words, cursor, box)
            if alone is None:
                break
            drawn, inside = drawn + 1, inside + _within(alone, slabs)
    return drawn, inside


def _within(points: IntArray, slabs: Slabs) -> int:
    """How many of the points lie in all slabs."""
    projected = points @ slabs.directions.T
    return int(((projected >= slabs.smallest) & (projected <= slabs.largest)).all(axis=1).sum())


def _intervals(proposals: Proposals, words: NDArray[np.uint64]) -> IntArray:
    """The last interval that starts at or below each word."""
    return np.asarray(np.maximum(np.searchsorted(proposals.first, words, side="right") - 1, 0))


def high_words(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The upper 64 bits of the 128-bit products, from products of halves, none of which overflows."""
    low = (a & _LOWER) * (b & _LOWER)
    middle = (a >> _HALF) * (b & _LOWER) + (low >> _HALF)
    other = (a & _LOWER) * (b >> _HALF) + (middle & _LOWER)
    return np.asarray((a >> _HALF) * (b >> _HALF) + (middle >> _HALF) + (other >> _HALF))


def _of_box(proposals: Proposals, box: int, columns: int | None = None) -> UniformDraw:
    """One of the boxes, or the first columns of it."""
    low, width, leftover = proposals.boxes
    return UniformDraw(low[box, :columns], width[box, :columns], leftover[box, :columns])


def _drawn_alone(words: Any, cursor: int, box: UniformDraw) -> tuple[IntArray | None, int]:
    """One point of a box (Lemire 2019), and the next word; None if the words run out."""
    low, width, leftover = (ends.tolist() for ends in box)
    point = []
    for j in range(len(low)):
        while True:
            if cursor >= len(words):
                return None, cursor
            product = int(words[cursor]) * width[j]
            cursor += 1
            if product % 2**64 >= leftover[j]:
                break
        point.append(low[j] + (product >> 64))
    return np.array([point], dtype=np.int64), cursor


def _first_accepted(
    proposals: Proposals, ranks: Ranks, drawn: IntArray, level: IntArray, box: IntArray, y: Any
) -> int | None:
    """The first of the proposals that is accepted, its point left in `y`."""
    slanted = proposals.slanted[box]
    alive = np.arange(len(drawn))
    if slanted.any():
        # Back to the points' own coordinates, which may lie outside the public box: test that before projecting.
        turned = np.einsum("ijc,ic->ij", proposals.inverse[box[slanted]], drawn[slanted])
        drawn = drawn.copy()
        drawn[slanted] = turned
        outside = ((turned < proposals.floor) | (turned > proposals.ceiling)).any(axis=1)
        alive = np.delete(alive, np.flatnonzero(slanted)[outside])
    rows = ranks.projections.shape[1] + 2 * ranks.left_out
    # A few directions first: most points are rejected by them.
    few = 2 * drawn.shape[1]
    for part in (slice(0, few), slice(few, None)):
        deep = alive[level[alive] > 0]
        projected = drawn[deep] @ ranks.directions[part].T
        smallest = ranks.projections[part, level[deep] - 1 - ranks.left_out].T
        largest = ranks.projections[part, rows - level[deep] - ranks.left_out].T
        rejected = ((projected < smallest) | (projected > largest)).any(axis=1)
        alive = np.setdiff1d(alive, deep[rejected], assume_unique=True)
    if not len(alive):
        return None
    y[:] = drawn[alive[0]]
    return int(alive[0])
