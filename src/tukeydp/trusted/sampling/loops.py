"""The compiled loops of the draw: proposals, their first bytes, tilted boxes, and lists of deep points.

Integers only: 64-bit words decide levels, coordinates and membership. Run under plain threads (they release the GIL);
numba's own threading would break forked children. What is compiled in memory here is kept in files by `compiling`. The
same on whole arrays stands in `plain_proposals`, or above each loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.compiled_code import COMPILES, compiled, compiled_in_memory
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.records import (
    ACCEPTED,
    EXHAUSTED,
    SHALLOW,
    SPARE,
    STARVED,
    UNDECIDED,
    PieceTable,
    Proposals,
    Ranks,
    Slabs,
    UniformDraw,
    proposals,
    ranks,
    slabs,
    uniform_draw,
)
from tukeydp.trusted.sampling import plain_proposals
from tukeydp.trusted.sampling.plain_proposals import high_words
from tukeydp.trusted.shapes import SHARE_BITS, Parallelepiped, TiltedBox

__all__ = [
    "ACCEPTED",
    "EXHAUSTED",
    "SHALLOW",
    "SPARE",
    "STARVED",
    "UNDECIDED",
    "PieceTable",
    "Proposals",
    "Ranks",
    "Slabs",
    "UniformDraw",
    "count_inside",
    "high_word",
    "proposals",
    "propose",
    "ranks",
    "slabs",
    "uniform_draw",
]


def high_word(a: Any, b: Any) -> Any:
    """The upper 64 bits of the 128-bit product of two unsigned words."""
    return np.uint64((int(a) * int(b)) >> 64)


if COMPILES:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def high_word(typingctx: Any, a: Any, b: Any) -> Any:
        """The same, as one instruction."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), codegen


@compiled_in_memory
def _place(z: Any, low: Any, width: Any, ends: Any) -> None:
    """Replace the number z[0] of a point in pieces by the point."""
    piece = np.searchsorted(ends, z[0], side="right")
    rest = z[0] - (ends[piece - 1] if piece else 0)
    for j in range(len(z)):
        z[j] = low[piece, j] + rest % width[piece, j]
        rest //= width[piece, j]


@compiled_in_memory(plain=plain_proposals.propose)
def propose(
    words: Any, cursor: int, proposals: Proposals, ranks: Ranks, order: Any, z: Any, y: Any
) -> tuple[int, int, int]:
    """Run proposals on `words` from `cursor` on until one is accepted, undecided, or the words run out.

    Returns a status, the next cursor and a detail: for UNDECIDED the position of the word that did not decide
    a level, for STARVED the row of the table whose coordinates are still to be drawn, for SHALLOW a level that is not
    among the projections: with a wider window, start again from the cursor.

    `order` lists the directions in the order they are tried. It is rearranged so that those that reject move
    forward; any order gives the same answer. The accepted point is left in `y`; `z` is scratch space.
    """
    # Taken out of the records once: inside the loop that would count references.
    first, last, level_of, box_of = proposals.first, proposals.last, proposals.level, proposals.box
    guide, slanted, inverse = proposals.guide, proposals.slanted, proposals.inverse
    low, width, leftover = proposals.boxes.low, proposals.boxes.width, proposals.boxes.leftover
    floor, ceiling, parts = proposals.floor, proposals.ceiling, proposals.parts
    piece_low, piece_width, piece_ends = proposals.pieces.low, proposals.pieces.width, proposals.pieces.ends
    directions, projections, left_out, highest = ranks.directions, ranks.projections, ranks.left_out, ranks.highest
    d = directions.shape[1]
    k = directions.shape[0]
    rows = projections.shape[1] + 2 * left_out
    end = len(words)
    while cursor + 1 + d + SPARE <= end:
        here = cursor
        word = words[cursor]
        cursor += 1
        # The last interval that starts at or below the word.
        i = guide[word >> np.uint64(56)]
        while i + 1 < len(first) and first[i + 1] <= word:
            i += 1
        if word < first[i] or word > last[i]:
            return UNDECIDED, cursor, here
        level = level_of[i]
        if level > 0 and (level <= left_out or level > highest):
            return SHALLOW, here, level
        box = box_of[i]
        for j in range(1 if parts[box] else d):
            # Uniform in the box: the upper half of word * width, redrawn where the lower half falls among the
            # 2^64 mod width leftovers (Lemire 2019).
            while True:
                if cursor >= end:
                    return STARVED, cursor, i
                word = words[cursor]
                cursor += 1
                if word * width[box, j] >= leftover[box, j]:
                    break
            z[j] = low[box, j] + np.int64(high_word(word, width[box, j]))
        if parts[box]:
            _place(z, piece_low, piece_width, piece_ends[: parts[box]])
        accepted = True
        if slanted[box]:
            # Back to the point's own coordinates, which may lie outside the public box: test that before projecting.
            for j in range(d):
                total = np.int64(0)
                for c in range(d):
                    total += inverse[box, j, c] * z[c]
                y[j] = total
                if total < floor[j] or total > ceiling[j]:
                    accepted = False
                    break
            if not accepted:
                continue
        else:
            for j in range(d):
                y[j] = z[j]
        if level == 0:
            return ACCEPTED, cursor, i
        for position in range(k):
            row = order[position]
            projected = np.int64(0)
            for j in range(d):
                projected += directions[row, j] * y[j]
            if (
                projected < projections[row, level - 1 - left_out]
                or projected > projections[row, rows - level - left_out]
            ):
                order[position] = order[position // 2]
                order[position // 2] = row
                accepted = False
                break
        if accepted:
            return ACCEPTED, cursor, i
    return EXHAUSTED, cursor, 0


@compiled_in_memory(plain=plain_proposals.count_inside)
def count_inside(words: Any, box: UniformDraw, slabs: Slabs, wanted: int) -> tuple[int, int]:
    """Draw up to `wanted` uniform points of a box; returns how many the words sufficed for, and how many of those
    lie in the slabs.

    A point whose words run out is not counted as drawn: how many words it takes does not depend on its value, so the
    points that are drawn stay uniform.
    """
    low, width, leftover = box.low, box.width, box.leftover
    directions, smallest, largest = slabs.directions, slabs.smallest, slabs.largest
    k, d = directions.shape
    y = np.empty(d, dtype=np.int64)
    cursor, drawn, inside = 0, 0, 0
    while drawn < wanted:
        for j in range(d):
            while True:
                if cursor >= len(words):
                    return drawn, inside
                word = words[cursor]
                cursor += 1
                if word * width[j] >= leftover[j]:
                    break
            y[j] = low[j] + np.int64(high_word(word, width[j]))
        drawn += 1
        hit = True
        for row in range(k):
            projected = np.int64(0)
            for j in range(d):
                projected += directions[row, j] * y[j]
            if projected < smallest[row] or projected > largest[row]:
                hit = False
                break
        inside += hit
    return drawn, inside


# Proposals for tables of many columns, compiled: the first byte of each coordinate rejects nearly all of them.
#
# Integers only. A proposal's level takes a word; of the uniform numbers behind its d coordinates only the first byte
# is looked at, for many proposals of the same level at once. A proposal is dropped if it violates a direction
# whatever the bytes that follow; the others are *candidates*, and are finished elsewhere (docs/proofs/boxem.md,
# section 6).


# Proposals that are tested together: so many that loops over them are worth it, so few that they stay in the cache.
_TOGETHER = 2048
_AT_ONCE = 16  # directions that are tried together without numba. Speed only
_WORTH_MOVING = 0.8  # the share of proposals that are dropped before those left are moved together
_LEADING = 12  # bits of a word by which its row is guessed: nearly always it is the one
NO_ROW = -1  # in place of a row: the word does not tell the level


class Words(NamedTuple):
    """Words first[i] ... last[i] mean row i of the table; the search for a word's i starts at guide[leading bits]."""

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    guide: IntArray


class Filter(NamedTuple):
    """What the first bytes t of a proposal from some rows of the table must satisfy for it to be a candidate:

        smallest[slot, i] <= sum_j coefficients[box[slot], i, j] t_j <= largest[slot, i]   for every direction i.

    slot[row] is -1 for rows that are not tested: all their proposals are candidates.
    """

    slot: IntArray
    box: IntArray
    coefficients: NDArray[np.int32]
    smallest: NDArray[np.int32]
    largest: NDArray[np.int32]


class Order(NamedTuple):
    """The order in which directions are tried, how often each was, and rejected; any order gives the same answer."""

    directions: IntArray
    tried: IntArray
    rejected: IntArray


class Candidates(NamedTuple):
    """Numbers of proposals, their rows of the table, and their first bytes where these were drawn.

    `row_of` and `by_slot` are scratch space, for one number each of every proposal. Used again and again: memory fresh
    from the system costs as much time as the tests.
    """

    number: IntArray
    row: IntArray
    drawn: NDArray[np.bool_]
    first_bytes: NDArray[np.uint8]
    row_of: NDArray[np.int32]
    by_slot: NDArray[np.int32]


def words_of(first: NDArray[np.uint64], last: NDArray[np.uint64]) -> Words:
    """The table with its guide."""
    leading = np.arange(2**_LEADING, dtype=np.uint64) << np.uint64(64 - _LEADING)
    return Words(first, last, np.maximum(np.searchsorted(first, leading, side="right") - 1, 0))


def room(proposals: int, d: int) -> Candidates:
    """Room for as many candidates as there are proposals."""
    return Candidates(
        np.empty(proposals, dtype=np.int64),
        np.empty(proposals, dtype=np.int64),
        np.empty(proposals, dtype=np.bool_),
        np.empty((proposals, d), dtype=np.uint8),
        np.empty(proposals, dtype=np.int32),
        np.empty(proposals, dtype=np.int32),
    )


def _candidates(words: Any, stream: Any, table: Words, filter: Filter, order: Order, found: Candidates) -> int:
    """`candidates` on whole arrays."""
    row = rows_of(words, table)
    slot = np.where(row != NO_ROW, filter.slot[row], -1)
    count = _write(np.flatnonzero(slot < 0), row, None, found, 0)
    d, at = filter.coefficients.shape[2], 0
    for s in range(len(filter.box)):
        of_slot = np.flatnonzero(slot == s)
        for begin in range(0, len(of_slot), _TOGETHER):
            some = of_slot[begin : begin + _TOGETHER]
            first_bytes = stream[at : at + d * len(some)].reshape(d, len(some))
            at += d * len(some)
            limits = filter.coefficients[filter.box[s]], filter.smallest[s], filter.largest[s]
            left = _left(first_bytes.astype(np.int32), *limits, order)
            count = _write(some[left], row, first_bytes[:, left].T, found, count)
    return count


def rows_of(words: Any, table: Words) -> IntArray:
    """The row of the table that each word means, or NO_ROW."""
    row = np.maximum(np.searchsorted(table.first, words, side="right") - 1, 0)
    return np.where((words < table.first[row]) | (words > table.last[row]), NO_ROW, row)


def _write(which: IntArray, row: IntArray, first_bytes: Any, found: Candidates, count: int) -> int:
    """Add candidates to those found; how many these are now."""
    to = slice(count, count + len(which))
    found.number[to], found.row[to], found.drawn[to] = which, row[which], first_bytes is not None
    if first_bytes is not None:
        found.first_bytes[to] = first_bytes
    return count + len(which)


def _left(first_bytes: Any, coefficients: Any, smallest: Any, largest: Any, order: Order) -> IntArray:
    """Which proposals of one level no direction rejects."""
    alive = np.arange(first_bytes.shape[1])
    for begin in range(0, len(order.directions), _AT_ONCE):
        some = order.directions[begin : begin + _AT_ONCE]
        sums = coefficients[some] @ first_bytes[:, alive]
        wrong = (sums < smallest[some, np.newaxis]) | (sums > largest[some, np.newaxis])
        order.tried[some] += len(alive)
        order.rejected[some] += wrong.sum(axis=1)
        alive = alive[~wrong.any(axis=0)]
    return alive


@compiled(plain=_candidates)
def candidates(words: Any, stream: Any, table: Words, filter: Filter, order: Order, found: Candidates) -> int:
    """Make one proposal of each word; returns how many candidates were found, in any order.

    Proposals are sorted by level before their bytes are taken from the `stream`, which is independent of the words.
    """
    # Taken out of the records once: inside the loops that would count references.
    first, last, guide = table.first, table.last, table.guide
    slot_of, box, coefficients = filter.slot, filter.box, filter.coefficients
    smallest, largest = filter.smallest, filter.largest
    number, row_found, drawn, bytes_found = found.number, found.row, found.drawn, found.first_bytes
    row_of, by_slot = found.row_of, found.by_slot
    n, slots, d = len(words), len(box), coefficients.shape[2]
    ends = np.zeros(slots + 1, dtype=np.int64)
    count = 0
    for p in range(n):
        word = words[p]
        row = guide[word >> np.uint64(64 - _LEADING)]
        while row + 1 < len(first) and first[row + 1] <= word:
            row += 1
        if word < first[row] or word > last[row]:
            row = NO_ROW
        row_of[p] = row
        slot = slot_of[row] if row != NO_ROW else -1
        if slot >= 0:
            ends[slot + 1] += 1
        else:
            number[count], row_found[count], drawn[count] = p, row, False
            count += 1
    for slot in range(slots):
        ends[slot + 1] += ends[slot]
    for p in range(n):
        slot = slot_of[row_of[p]] if row_of[p] != NO_ROW else -1
        if slot >= 0:
            by_slot[ends[slot]] = p
            ends[slot] += 1
    first_bytes = np.empty((d, _TOGETHER), dtype=np.uint8)
    alive, places = np.empty(_TOGETHER, dtype=np.int64), np.empty(_TOGETHER, dtype=np.int64)
    dead = np.empty(_TOGETHER, dtype=np.uint8)
    sums = np.empty(_TOGETHER, dtype=np.int32)
    at, begin = 0, 0
    for slot in range(slots):
        while begin < ends[slot]:
            m = min(_TOGETHER, ends[slot] - begin)
            for j in range(d):
                drawn_bytes, column = stream[at : at + m], first_bytes[j]
                for b in range(m):
                    column[b] = drawn_bytes[b]
                at += m
            for b in range(m):
                alive[b] = by_slot[begin + b]
            begin += m
            m = _test(
                m, coefficients[box[slot]], smallest[slot], largest[slot], order,
                first_bytes, alive, places, dead, sums,
            )  # fmt: skip
            for b in range(m):
                number[count], row_found[count], drawn[count] = alive[b], row_of[alive[b]], True
                for j in range(d):
                    bytes_found[count, j] = first_bytes[j, b]
                count += 1
    return count


@compiled
def _test(
    m: int, coefficients: Any, smallest: Any, largest: Any, order: Order,
    first_bytes: Any, alive: Any, places: Any, dead: Any, sums: Any,
) -> int:  # fmt: skip
    """Test m proposals of one level against the directions, one after another; those left are moved to the front."""
    directions, tried, rejected = order.directions, order.tried, order.rejected
    for b in range(m):
        dead[b] = 0
    gone = 0
    for position in range(len(directions)):
        i = directions[position]
        _project(m, coefficients[i], first_bytes, sums)
        least, most = smallest[i], largest[i]
        total = 0
        for b in range(m):
            dead[b] |= np.uint8((sums[b] < least) | (sums[b] > most))
            total += dead[b]
        tried[i] += m - gone
        rejected[i] += total - gone
        gone = total
        if gone == m:
            return 0
        if gone >= _WORTH_MOVING * m:
            m = _packed(m, first_bytes, alive, dead, places)
            gone = 0
    return _packed(m, first_bytes, alive, dead, places)


@compiled
def _project(m: int, coefficients: Any, first_bytes: Any, sums: Any) -> None:
    """Four columns at a time: sums are read and written less often."""
    d = len(coefficients)
    for b in range(m):
        sums[b] = 0
    for q in range(d // 4):
        j = 4 * q
        c0, c1, c2, c3 = coefficients[j], coefficients[j + 1], coefficients[j + 2], coefficients[j + 3]
        t0, t1, t2, t3 = first_bytes[j], first_bytes[j + 1], first_bytes[j + 2], first_bytes[j + 3]
        for b in range(m):
            # Of 32 bits all along: with more, fewer would be added at a time.
            left = np.int32(np.int32(c0 * t0[b]) + np.int32(c1 * t1[b]))
            right = np.int32(np.int32(c2 * t2[b]) + np.int32(c3 * t3[b]))
            sums[b] = np.int32(sums[b] + np.int32(left + right))
    for j in range(d - d % 4, d):
        c, t = coefficients[j], first_bytes[j]
        for b in range(m):
            sums[b] = np.int32(sums[b] + np.int32(c * t[b]))


@compiled
def _packed(m: int, first_bytes: Any, alive: Any, dead: Any, places: Any) -> int:
    """Move those that are not dead to the front; how many they are."""
    kept = 0
    for b in range(m):
        if not dead[b]:
            alive[kept], places[kept] = alive[b], b
            kept += 1
    for j in range(len(first_bytes)):
        column = first_bytes[j]
        for b in range(kept):
            column[b] = column[places[b]]
    for b in range(kept):
        dead[b] = 0
    return kept


# A level's slabs in the coordinates of a tilted parallelepiped, in floats, and wide enough for all their roundings.


# Of the largest sum, how far floats may be off: 2^-53 for each of a few hundred roundings is less than 2^-44.
_ROUNDINGS = 2.0**-40


class RoughSlabs(NamedTuple):
    """Points in the level have least[slot, i] <= sum_j slopes[frame[slot], i, j] s_j <= most[slot, i], s from the low
    corner.

    Slots of other boxes have bounds that nothing is beyond.
    """

    slopes: FloatArray
    frame: IntArray
    least: FloatArray
    most: FloatArray


def rough_slabs(directions: IntArray, boxes: Sequence[Any], ranks: Sequence[tuple[IntArray, IntArray]]) -> RoughSlabs:
    """For the box and the two ranks of each slot."""
    frames: dict[int, int] = {}
    slopes = [np.zeros(directions.shape)]
    frame = np.zeros(len(boxes), dtype=np.int64)
    least = np.full((len(boxes), len(directions)), -np.inf)
    most = np.full((len(boxes), len(directions)), np.inf)
    half = np.abs(directions).sum(axis=1) / 2
    for slot, (box, (smallest, largest)) in enumerate(zip(boxes, ranks, strict=True)):
        if not isinstance(box, TiltedBox) or not isinstance(box.box, Parallelepiped):
            continue
        shape = box.box
        if id(shape.frame) not in frames:
            frames[id(shape.frame)] = len(slopes)
            slopes.append(shape.frame.turned(directions).astype(np.float64) * shape.frame.unit)
        frame[slot] = frames[id(shape.frame)]
        first, last = shape.at_corner(directions)
        low, high = (smallest - last).astype(np.float64), (largest - first).astype(np.float64)
        sums = np.abs(slopes[frame[slot]]) @ np.array(shape.widths, dtype=np.float64)
        off = half + 1 + _ROUNDINGS * (sums + np.abs(low) + np.abs(high))
        least[slot], most[slot] = low - off, high + off
    return RoughSlabs(np.array(slopes), frame, least, most)


# Proposals from tilted boxes, compiled: cells first, points of cells only where that may be enough.
#
# Integers only. A proposal takes a word for its level, one to decide whether its point is kept, and half a word for
# each cell. The heights of its cells alone reject most: where their sum is above the box's highest, the point is not
# in the level, and far below it hardly any is kept. The others are *survivors*: their points are drawn, one word a
# coordinate, and tested against all directions (docs/proofs/boxem.md, section 4, "Tilted boxes").


_POINTS_TOGETHER = 1024  # points that are tested together without numba. Speed only
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
    slot = np.where(row != NO_ROW, slots.slot[row], -1)
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
            row = NO_ROW
        slot = slot_of[row] if row != NO_ROW else -1
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
    slot_of = np.where(row != NO_ROW, slots.slot[row], -1)
    for slot in np.unique(slot_of[slot_of >= 0]).tolist():
        box, of_slot = slots.box[slot], np.flatnonzero(slot_of == slot)
        for begin in range(0, len(of_slot), _POINTS_TOGETHER):
            some = of_slot[begin : begin + _POINTS_TOGETHER]
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
        slot = slot_of[row] if row != NO_ROW else -1
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


# All deep grid points of a small box, compiled: one column after another is fixed, and what cannot be deep is left.
#
# A *visit* fixes one more column of a point. For direction v, what the columns fixed so far add to <v, y>, and the
# least and the most that the others can add, are integers. If even the most is below the level's smallest rank, or
# the least above its largest, no point that goes on from here is in the level, and none is visited. So every point of
# the level is come to (docs/proofs/boxem.md, section 4). A program takes as long as hundreds of visits.
#
# The level rises with the deepest point found: levels further below have too little weight for a list.
#
# Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile at the first
# call.


# Directions that are tried by themselves before all of them: those that rejected last. Speed only: with fewer more
# visits go through all directions, with more the few take as long as these.
_FIRST = 16
_WALKS = 64  # at most, for an estimate of the visits: within a factor of two or so, in a few milliseconds


class Listed(NamedTuple):
    """Room for points, one a row, and for each a number that it is not deeper than."""

    points: NDArray[np.int64]
    cap: IntArray


class Walk(NamedTuple):
    """A box; its columns of more than one point, in the order they are fixed; what a step along each adds to the sums,
    one column for each direction; and the sums at `low`.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    columns: IntArray
    slopes: IntArray
    start: IntArray


class Bounds(NamedTuple):
    """After each number of fixed columns, between what the sum so far must lie, one column for each direction."""

    least: IntArray
    most: IntArray


@compiled_in_memory
def climbed(start: Any, low: Any, high: Any, ranks: Ranks) -> int:
    """The depth of a point from which no step along a column leads to a deeper one, as far as the ranks tell."""
    y = start.copy()
    best = depth_of(y, ranks, 0)
    better = True
    while better:
        better = False
        for j in range(len(y)):
            for step in (-1, 1):
                if low[j] <= y[j] + step <= high[j]:
                    y[j] += step
                    depth = depth_of(y, ranks, best)
                    if depth > best:
                        best, better = depth, True
                    else:
                        y[j] -= step
    return best


@compiled_in_memory
def about_visits(walk: Walk, level: int, most: int, ranks: Ranks) -> float:
    """About how many visits a list takes, from random walks that stop after `most` visits in all.

    The estimate of Knuth ("Estimating the efficiency of backtrack programs", 1975): how many ways there were to go on,
    multiplied along the walk. Speed only, so that any numbers will do for random ones.
    """
    deep, k = walk.slopes.shape
    bounds = _bounds(walk, level, ranks)
    sums = np.empty((deep + 1, k), dtype=np.int64)
    first = np.zeros(_FIRST, dtype=np.int64)
    for i in range(k):
        sums[0, i] = walk.start[i]
    total, walks, visits, state = 0.0, 0, 0, np.uint64(1)
    while visits < most and walks < _WALKS:
        ways, at, open_ways = 1.0, 0, 1
        while at < deep and open_ways:
            j = walk.columns[at]
            steps = walk.high[j] - walk.low[j] + 1
            visits += steps
            total += ways * steps
            open_ways, taken = 0, 0
            for step in range(steps):
                if _goes_on(sums[at], sums[at + 1], walk.slopes[at], step, bounds.least[at], bounds.most[at], first):
                    open_ways += 1
                    # Each of them is taken with equal chance, whatever their number.
                    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                    if (state >> np.uint64(33)) % np.uint64(open_ways) == 0:
                        taken = step
            _goes_on(sums[at], sums[at + 1], walk.slopes[at], taken, bounds.least[at], bounds.most[at], first)
            ways *= open_ways
            at += 1
        walks += 1
    return total / walks


@compiled_in_memory
def list_points(
    walk: Walk, level: int, top: int, margin: int, ranks: Ranks, most: int, found: Listed
) -> tuple[int, int, int]:
    """The points of depth >= level of a box, of which none is deeper than `top`.

    The level rises to `margin` below the deepest point found, and further where there is no room. Returns how many
    points were found, the level at the end, and the number of visits; if these would be more than `most`, the level is
    -1: then the list is of no use.
    """
    low, high, columns, slopes = walk.low, walk.high, walk.columns, walk.slopes
    deep, k = slopes.shape
    y = low.copy()
    bounds = _bounds(walk, level, ranks)
    sums = np.empty((deep + 1, k), dtype=np.int64)
    for i in range(k):
        sums[0, i] = walk.start[i]
    first = np.zeros(_FIRST, dtype=np.int64)
    count, visits, at = 0, 0, 0
    y[columns[0]] -= 1
    while at >= 0:
        j = columns[at]
        if y[j] == high[j]:
            y[j] = low[j]
            at -= 1
            continue
        y[j] += 1
        visits += 1
        if visits > most:
            return 0, -1, visits
        step = y[j] - low[j]
        if not _goes_on(sums[at], sums[at + 1], slopes[at], step, bounds.least[at], bounds.most[at], first):
            continue
        if at + 1 < deep:
            at += 1
            y[columns[at]] = low[columns[at]] - 1
            continue
        cap = _cap_of(y, top, level, ranks)
        if cap < level:
            continue
        before = level
        if count == len(found.cap):
            level, count = _thinned(found, count, level)
            if level > top:
                return 0, level, visits
        if cap >= level:
            for c in range(len(y)):
                found.points[count, c] = y[c]
            found.cap[count] = cap
            count += 1
            level = max(level, cap - margin)
        if level > before:
            bounds = _bounds(walk, level, ranks)
    return _kept(found, count, level), level, visits


def _all_go_on(before: Any, after: Any, slopes: Any, step: int, least: Any, most: Any, first: Any) -> bool:
    """`_goes_on` for all directions together; `first` is left as it is."""
    np.add(before, slopes * step, out=after)
    return not ((after < least) | (after > most)).any()


@compiled_in_memory(plain=_all_go_on)
def _goes_on(before: Any, after: Any, slopes: Any, step: int, least: Any, most: Any, first: Any) -> bool:
    """Whether the sums with one more column fixed are between their bounds; then all of them are in `after`."""
    for p in range(len(first)):
        i = first[p]
        total = before[i] + slopes[i] * step
        if total < least[i] or total > most[i]:
            first[p], first[p // 2] = first[p // 2], i
            return False
    wrong = 0
    for i in range(len(after)):
        total = before[i] + slopes[i] * step
        after[i] = total
        wrong += (total < least[i]) | (total > most[i])
    if wrong:
        for i in range(len(after)):
            if after[i] < least[i] or after[i] > most[i]:
                first[len(first) - 1] = i
                break
    return wrong == 0


def _all_bounds(walk: Walk, level: int, ranks: Ranks) -> Bounds:
    """`_bounds` for all directions together."""
    kept = ranks.projections.shape[1]
    least, most = np.empty((2, *walk.slopes.shape), dtype=np.int64)
    least[-1] = ranks.projections[:, level - 1 - ranks.left_out]
    most[-1] = ranks.projections[:, kept + ranks.left_out - level]
    widths = (walk.high - walk.low)[walk.columns]
    for at in range(len(least) - 2, -1, -1):
        rest = walk.slopes[at + 1] * widths[at + 1]
        least[at] = least[at + 1] - np.maximum(rest, 0)
        most[at] = most[at + 1] - np.minimum(rest, 0)
    return Bounds(least, most)


@compiled_in_memory(plain=_all_bounds)
def _bounds(walk: Walk, level: int, ranks: Ranks) -> Bounds:
    """What the level's two ranks leave for the columns up to each one: the others, counted from `low`, add the rest."""
    kept = ranks.projections.shape[1]
    deep, k = walk.slopes.shape
    least, most = np.empty((deep, k), dtype=np.int64), np.empty((deep, k), dtype=np.int64)
    for i in range(k):
        least[deep - 1, i] = ranks.projections[i, level - 1 - ranks.left_out]
        most[deep - 1, i] = ranks.projections[i, kept + ranks.left_out - level]
    for at in range(deep - 2, -1, -1):
        width = walk.high[walk.columns[at + 1]] - walk.low[walk.columns[at + 1]]
        for i in range(k):
            rest = walk.slopes[at + 1, i] * width
            least[at, i] = least[at + 1, i] - max(rest, 0)
            most[at, i] = most[at + 1, i] - min(rest, 0)
    return Bounds(least, most)


@compiled_in_memory
def _cap_of(y: Any, top: int, level: int, ranks: Ranks) -> int:
    """A number that the point is not deeper than: its depth, where the ranks tell it, or something below `level`."""
    depth = depth_of(y, ranks, level - 1)
    # Equal projections may run on past both ends of the ranks: then they do not tell.
    return min(depth, top) if depth < ranks.highest else top


@compiled_in_memory
def _thinned(found: Listed, count: int, level: int) -> tuple[int, int]:
    """A higher level, and how many points it has: at most half of the room."""
    above = found.cap[0]
    for p in range(count):
        above = max(above, found.cap[p])
    below, above = level, above + 1
    while below + 1 < above:
        middle = (below + above) // 2
        deeper = 0
        for p in range(count):
            deeper += found.cap[p] >= middle
        if 2 * deeper > count:
            below = middle
        else:
            above = middle
    return above, _kept(found, count, above)


def _all_kept(found: Listed, count: int, level: int) -> int:
    which = np.flatnonzero(found.cap[:count] >= level)
    found.points[: len(which)], found.cap[: len(which)] = found.points[which], found.cap[which]
    return len(which)


@compiled_in_memory(plain=_all_kept)
def _kept(found: Listed, count: int, level: int) -> int:
    """Move the points of the level to the front; how many they are."""
    kept = 0
    for p in range(count):
        if found.cap[p] >= level:
            for c in range(found.points.shape[1]):
                found.points[kept, c] = found.points[p, c]
            found.cap[kept] = found.cap[p]
            kept += 1
    return kept


def _depth(y: Any, ranks: Ranks, enough: int) -> int:
    """`depth_of` for all directions together."""
    at = ranks.directions @ y
    below = ranks.left_out + _all_smaller(ranks.projections, at, True)
    above = ranks.left_out + ranks.projections.shape[1] - _all_smaller(ranks.projections, at, False)
    least = np.minimum(ranks.highest, np.minimum.accumulate(np.minimum(below, above)))
    shallow = np.flatnonzero(least <= enough)
    return int(least[shallow[0]] if len(shallow) else least[-1])


def _all_smaller(projections: Any, at: Any, equal_too: bool) -> Any:
    rows, last = np.arange(len(at)), projections.shape[1] - 1
    first, end = np.zeros(len(at), dtype=np.int64), np.full(len(at), last + 1)
    for _ in range((last + 1).bit_length()):
        middle = (first + end) >> 1
        value = projections[rows, np.minimum(middle, last)]
        beyond = (first < end) & ((value <= at) if equal_too else (value < at))
        first, end = np.where(beyond, middle + 1, first), np.where(beyond, end, middle)
    return first


@compiled_in_memory(plain=_depth)
def depth_of(y: Any, ranks: Ranks, enough: int) -> int:
    """A depth as far as the ranks tell: a count that leaves them stops at their end. If it is at most `enough`, so is
    what is returned, but it may be more than the depth.
    """
    kept = ranks.projections.shape[1]
    least = ranks.highest
    for i in range(len(ranks.directions)):
        at = np.int64(0)
        for j in range(len(y)):
            at += ranks.directions[i, j] * y[j]
        below = ranks.left_out + _smaller(ranks.projections, i, at, True)
        above = ranks.left_out + kept - _smaller(ranks.projections, i, at, False)
        least = min(least, below, above)
        if least <= enough:
            break
    return least


@compiled_in_memory
def _smaller(projections: Any, i: int, at: int, equal_too: bool) -> int:
    """How many of direction i's projections, in ascending order, are below `at`, or also equal to it."""
    first, end = 0, projections.shape[1]
    while first < end:
        middle = (first + end) // 2
        value = projections[i, middle]
        if value < at or (equal_too and value == at):
            first = middle + 1
        else:
            end = middle
    return first
