"""Caps of boxes, compiled: a linear program in floats for hints, its certificate in 64-bit integers.

The cap of a box is a number that no grid point in it is deeper than. It comes from the program of
`hints.LinearPrograms.emptiness` with the box for a domain (the largest slack t of all slabs of a level), solved by the
dual simplex method: its multipliers are admissible whatever the level and the ends of the box, so that a box goes on
from the basis of the one it was cut from, and a level from that of the one above. Multipliers are rounded to integers,
and the certificate of `trusted/certificates.py` is evaluated with them: nothing else lowers a cap.

Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile at the first call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.compiled_code import compiled_in_memory
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.records import Ranks

# Hints only: caps are certified in integers.
_VIOLATED = 1e-9  # of a row of length one: what is violated by less counts as kept
_PIVOTS = 400  # for one box; a program that is not done by then gives the best cap it has found
# Of a weight, which is at most 1 but for rounding. What keeps the certificate's sums below 2^62 rests on it: `branches`
# chooses the scale of the multipliers for weights up to this.
LARGEST_WEIGHT = 1.5


class Slopes(NamedTuple):
    """The directions in floats, one a column and of length one, and their lengths; weight w makes the integer
    multiplier w * scale / length.
    """

    columns: FloatArray
    lengths: FloatArray
    scale: float


def _certified(multipliers: Any, low: Any, high: Any, cap: int, ranks: Ranks) -> int:
    """`certified` on whole arrays."""
    kept = ranks.projections.shape[1]
    used = np.flatnonzero(multipliers)
    some = multipliers[used]
    rest = -(some @ ranks.directions[used])
    ends = (rest * np.where(rest > 0, high, low)).sum()
    below, above = int(ranks.left_out), int(cap) + 1
    while below + 1 < above:
        level = (below + above) // 2
        place = np.where(some > 0, kept + ranks.left_out - level, level - 1 - ranks.left_out)
        if ends + (some * ranks.projections[used, place]).sum() < 0:
            above = level
        else:
            below = level
    return below


@compiled_in_memory(plain=_certified)
def certified(multipliers: Any, low: Any, high: Any, cap: int, ranks: Ranks) -> int:
    """The highest level up to `cap` that integer multipliers do not prove empty in a box.

    sum_i u_i <v_i, y> - (sum_i u_i v_i) y = 0 for every y; if the left side is negative at its largest on the level,
    that has no point there. All sums are below 2^62: `Tree` chose the scale of the multipliers for it.
    """
    kept = ranks.projections.shape[1]
    used = np.empty(len(multipliers), dtype=np.int64)
    count = 0
    for i in range(len(multipliers)):
        if multipliers[i] != 0:
            used[count] = i
            count += 1
    ends = np.int64(0)
    for j in range(len(low)):
        rest = np.int64(0)
        for u in range(count):
            rest -= multipliers[used[u]] * ranks.directions[used[u], j]
        ends += rest * (high[j] if rest > 0 else low[j])
    # The bound falls as the level rises: `below` is not proven empty, `above` is, or is beyond the cap.
    below, above = ranks.left_out, cap + 1
    while below + 1 < above:
        level = (below + above) // 2
        total = ends
        for u in range(count):
            i = used[u]
            place = kept + ranks.left_out - level if multipliers[i] > 0 else level - 1 - ranks.left_out
            total += multipliers[i] * ranks.projections[i, place]
        if total < 0:
            above = level
        else:
            below = level
    return below


@compiled_in_memory
def program(low: Any, high: Any, cap: int, basis: Any, ranks: Ranks, slopes: Slopes) -> Any:
    """About the most central point of the highest level that is not empty in a box, and multipliers against the next.

    Rows r < k are <v_r, z> + t <= largest, k <= r < 2k are -<v, z> + t <= -smallest, then z <= high, -z <= -low; t is
    the largest slack. `basis` holds d + 1 rows with multipliers >= 0, and is left as it is at the end.
    """
    d, k = slopes.columns.shape
    found = np.zeros(k, dtype=np.int64)
    inverse = _inverted(basis, slopes)
    ends = np.empty(2 * k)
    right = np.empty(d + 1)
    weights, entries, x = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    at = np.empty(k)
    level = cap
    _set_ends(ends, level, ranks, slopes)
    for _ in range(_PIVOTS):
        for i in range(d + 1):
            right[i] = _right_side(basis[i], ends, low, high)
        _solve(inverse, right, x)
        if x[d] < -_VIOLATED:
            # These multipliers prove the level empty, and others below it.
            _rounded(found, basis, inverse[d], slopes)
            level = certified(found, low, high, level, ranks)
            if level <= ranks.left_out:
                break
            before = x[d]
            _set_ends(ends, level, ranks, slopes)
            total = 0.0
            for c in range(d + 1):
                total += inverse[d, c] * _right_side(basis[c], ends, low, high)
            if total <= before:  # rounding: no step forward
                break
            if total < -_VIOLATED:
                break
            continue
        row = _most_violated(x, ends, low, high, slopes.columns, at)
        if row < 0:
            break
        # The row as a combination of those of the basis; the one whose multiplier vanishes first leaves.
        _fill_row(entries, row, slopes)
        _times(entries, inverse, weights)
        out, best = -1, np.inf
        for i in range(d + 1):
            if weights[i] > _VIOLATED and max(inverse[d, i], 0.0) / weights[i] < best:
                out, best = i, max(inverse[d, i], 0.0) / weights[i]
        if out < 0:
            break
        basis[out] = row
        _exchange(inverse, weights, out)
    return x, found


def _solved(inverse: Any, right: Any, x: Any) -> None:
    x[:] = 0.0
    for c in range(len(right)):
        x += inverse[:, c] * right[c]


@compiled_in_memory(plain=_solved)
def _solve(inverse: Any, right: Any, x: Any) -> None:
    for i in range(len(x)):
        total = 0.0
        for c in range(len(right)):
            total += inverse[i, c] * right[c]
        x[i] = total


def _worst(x: Any, ends: Any, low: Any, high: Any, columns: Any, at: Any) -> int:
    """`_most_violated` on whole arrays."""
    d, k = columns.shape
    at[:] = 0.0
    for j in range(d):
        at += columns[j] * x[j]
    # In the order they are looked at, of which the first of the largest counts.
    slabs = np.stack([at + x[d] - ends[:k], x[d] - at - ends[k:]], axis=1).ravel()
    over = np.concatenate([slabs, np.stack([x[:d] - high, low - x[:d]], axis=1).ravel()])
    over[~(over > _VIOLATED)] = -np.inf
    which = int(over.argmax())
    if not over[which] > _VIOLATED:
        return -1
    end = which - 2 * k
    return which % 2 * k + which // 2 if end < 0 else 2 * k + end % 2 * d + end // 2


@compiled_in_memory(plain=_worst)
def _most_violated(x: Any, ends: Any, low: Any, high: Any, columns: Any, at: Any) -> int:
    """The row that is violated most, -1 if none is."""
    d, k = columns.shape
    for i in range(k):
        at[i] = 0.0
    for j in range(d):
        for i in range(k):
            at[i] += columns[j, i] * x[j]
    row, worst = -1, _VIOLATED
    for i in range(k):
        over = at[i] + x[d] - ends[i]
        under = x[d] - at[i] - ends[k + i]
        if over > worst:
            row, worst = i, over
        if under > worst:
            row, worst = k + i, under
    for j in range(d):
        if x[j] - high[j] > worst:
            row, worst = 2 * k + j, x[j] - high[j]
        if low[j] - x[j] > worst:
            row, worst = 2 * k + d + j, low[j] - x[j]
    return row


def _product(entries: Any, inverse: Any, product: Any) -> None:
    product[:] = 0.0
    for j in np.flatnonzero(entries):
        product += entries[j] * inverse[j]


@compiled_in_memory(plain=_product)
def _times(entries: Any, inverse: Any, product: Any) -> None:
    for i in range(len(product)):
        product[i] = 0.0
    for j in range(len(entries)):
        if entries[j] != 0.0:
            for i in range(len(product)):
                product[i] += entries[j] * inverse[j, i]


def _exchanged(inverse: Any, weights: Any, out: int) -> None:
    head, weights[out] = weights[out], 0.0
    inverse[:, out] /= head
    inverse -= weights * inverse[:, out, np.newaxis]


@compiled_in_memory(plain=_exchanged)
def _exchange(inverse: Any, weights: Any, out: int) -> None:
    """The inverse after a new row, so much of each old one, took the place of `out`."""
    head, weights[out] = weights[out], 0.0
    for i in range(len(weights)):
        inverse[i, out] /= head
        factor = inverse[i, out]
        for c in range(len(weights)):
            inverse[i, c] -= weights[c] * factor


def _all_ends(ends: Any, level: int, ranks: Ranks, slopes: Slopes) -> None:
    k, kept = len(slopes.lengths), ranks.projections.shape[1]
    ends[:k] = ranks.projections[:, kept + ranks.left_out - level] / slopes.lengths
    ends[k:] = -ranks.projections[:, level - 1 - ranks.left_out] / slopes.lengths


@compiled_in_memory(plain=_all_ends)
def _set_ends(ends: Any, level: int, ranks: Ranks, slopes: Slopes) -> None:
    k = len(slopes.lengths)
    kept = ranks.projections.shape[1]
    for i in range(k):
        ends[i] = ranks.projections[i, kept + ranks.left_out - level] / slopes.lengths[i]
        ends[k + i] = -ranks.projections[i, level - 1 - ranks.left_out] / slopes.lengths[i]


def _filled(entries: Any, row: int, slopes: Slopes) -> None:
    d, k = slopes.columns.shape
    entries[:] = 0.0
    if row < 2 * k:
        entries[:d] = slopes.columns[:, row % k] if row < k else -slopes.columns[:, row % k]
        entries[d] = 1.0
    else:
        entries[(row - 2 * k) % d] = 1.0 if row < 2 * k + d else -1.0


@compiled_in_memory(plain=_filled)
def _fill_row(entries: Any, row: int, slopes: Slopes) -> None:
    """A row of the program: its entries for z, then the one for t."""
    d, k = slopes.columns.shape
    for j in range(d + 1):
        entries[j] = 0.0
    if row < 2 * k:
        for j in range(d):
            entries[j] = slopes.columns[j, row % k] if row < k else -slopes.columns[j, row % k]
        entries[d] = 1.0
    else:
        entries[(row - 2 * k) % d] = 1.0 if row < 2 * k + d else -1.0


@compiled_in_memory
def _right_side(row: int, ends: Any, low: Any, high: Any) -> float:
    j = row - len(ends)
    if j < 0:
        return ends[row]
    return float(high[j]) if j < len(low) else -float(low[j - len(low)])


@compiled_in_memory
def _rounded(found: Any, basis: Any, weights: Any, slopes: Slopes) -> None:
    """Integer multipliers of the directions; none if a weight is not between 0 and 1, as all of them should be."""
    k = len(slopes.lengths)
    for i in range(k):
        found[i] = 0
    for i in range(len(basis)):
        if not abs(weights[i]) <= LARGEST_WEIGHT and basis[i] < 2 * k:
            for j in range(k):
                found[j] = 0
            return
        if basis[i] < 2 * k:
            part = np.int64(np.rint(weights[i] / slopes.lengths[basis[i] % k] * slopes.scale))  # below 2^62
            found[basis[i] % k] += part if basis[i] < k else -part


def _inverse(basis: Any, slopes: Slopes) -> Any:
    """`_inverted` on whole arrays."""
    d = len(slopes.columns)
    work = np.zeros((d + 1, 2 * (d + 1)))
    work[:, d + 1 :] = np.eye(d + 1)
    for i in range(d + 1):
        _filled(work[i, : d + 1], basis[i], slopes)
    for c in range(d + 1):
        sizes = np.abs(work[c:, c])
        # The first of the largest; what is no number is larger than nothing, and nothing than it.
        pivot = c if np.isnan(sizes[0]) else c + int(np.where(np.isnan(sizes), -1.0, sizes).argmax())
        work[[c, pivot]] = work[[pivot, c]]
        work[c] /= work[c, c]
        factor = work[:, c].copy()
        factor[c] = 0.0
        for other in np.flatnonzero(factor):
            work[other] -= factor[other] * work[c]
    return work[:, d + 1 :].copy()


@compiled_in_memory(plain=_inverse)
def _inverted(basis: Any, slopes: Slopes) -> Any:
    """The inverse of the rows of a basis, by elimination with pivots."""
    d = len(slopes.columns)
    work = np.zeros((d + 1, 2 * (d + 1)))
    for i in range(d + 1):
        _fill_row(work[i, : d + 1], basis[i], slopes)
        work[i, d + 1 + i] = 1.0
    for c in range(d + 1):
        pivot = c
        for i in range(c + 1, d + 1):
            if abs(work[i, c]) > abs(work[pivot, c]):
                pivot = i
        if pivot != c:
            for j in range(2 * (d + 1)):
                work[c, j], work[pivot, j] = work[pivot, j], work[c, j]
        head = work[c, c]
        for j in range(2 * (d + 1)):
            work[c, j] /= head
        for i in range(d + 1):
            if i != c and work[i, c] != 0.0:
                factor = work[i, c]
                for j in range(2 * (d + 1)):
                    work[i, j] -= factor * work[c, j]
    return work[:, d + 1 :].copy()
