"""Proposals for tables of many columns, compiled: the first byte of each coordinate rejects nearly all of them.

Integers only. A proposal's level takes a word; of the uniform numbers behind its d coordinates only the first byte is
looked at, for many proposals of the same level at once. A proposal is dropped if it violates a direction whatever the
bytes that follow; the others are *candidates*, and are finished elsewhere (docs/proofs/boxem.md, section 6).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import IntArray

# Proposals that are tested together: so many that loops over them are worth it, so few that they stay in the cache.
_TOGETHER = 2048
_AT_ONCE = 16  # directions that are tried together without numba. Speed only
_WORTH_MOVING = 0.8  # the share of proposals that are dropped before those left are moved together
_LEADING = 12  # bits of a word by which its row is guessed: nearly always it is the one
UNDECIDED = -1  # in place of a row: the word does not tell the level


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
    slot = np.where(row != UNDECIDED, filter.slot[row], -1)
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
    """The row of the table that each word means, or UNDECIDED."""
    row = np.maximum(np.searchsorted(table.first, words, side="right") - 1, 0)
    return np.where((words < table.first[row]) | (words > table.last[row]), UNDECIDED, row)


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
            row = UNDECIDED
        row_of[p] = row
        slot = slot_of[row] if row != UNDECIDED else -1
        if slot >= 0:
            ends[slot + 1] += 1
        else:
            number[count], row_found[count], drawn[count] = p, row, False
            count += 1
    for slot in range(slots):
        ends[slot + 1] += ends[slot]
    for p in range(n):
        slot = slot_of[row_of[p]] if row_of[p] != UNDECIDED else -1
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
