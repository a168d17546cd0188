"""Largest values of linear functions on level sets, compiled: the dual simplex method, with floats for hints.

    maximise cost.z   over   low <= <v_i, z> <= high  (k slabs of length one),   floor <= z <= ceiling.

Levels, and boxes to stay in, differ only in the right-hand sides. Multipliers stay admissible whatever these are: a
program goes on from the basis of the one before. A basis is d rows: row r < k is <v_r, z> <= high, k <= r < 2k is
-<v, z> <= -low, then come z <= ceiling and -z <= -floor. Nothing here decides anything: see `certificates`.

Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile at the first call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import FloatArray

# Hints only, all of them.
_VIOLATED = 1e-9  # of a row of length one: what is violated by less counts as kept
_PIVOTS = 2000  # for one program; one that is not done by then gives the bound it has reached
_FRESH = 64  # pivots after which the inverse is computed anew: errors grow with each
# Of the length of a cost: how much is added to its entries, each a different amount. Most multipliers of a unit vector
# vanish at the start, and without this the method could go round in circles among bases of equal value. It makes
# certificates looser by as much, which is nothing.
_UNEQUAL = 1e-7
_GOLDEN = 0.6180339887498949  # its multiples, less their whole parts, are spread evenly: amounts that all differ


class Ends(NamedTuple):
    """Right-hand sides: of the slabs, one row for each level, and of the variables."""

    low: FloatArray
    high: FloatArray
    floor: FloatArray
    ceiling: FloatArray


class Optima(NamedTuple):
    """For each level the rows with a multiplier, these, and where the largest value was found.

    A level that has no point within the ends has d + 1 rows, whose multipliers prove that; all others have d, then -1.
    """

    rows: NDArray[np.int32]
    weights: FloatArray
    corners: FloatArray


def first_basis(cost: FloatArray, slabs: int) -> NDArray[np.int32]:
    """The corner of the variables' ends that lies farthest along the cost."""
    d = len(cost)
    return np.array([2 * slabs + j + (d if cost[j] < 0 else 0) for j in range(d)], dtype=np.int32)


def room(levels: int, d: int) -> Optima:
    """Room for the optima of so many levels."""
    return Optima(
        np.empty((levels, d + 1), dtype=np.int32), np.empty((levels, d + 1), dtype=np.float64), np.empty((levels, d))
    )


@compiled
def maximise(cost: Any, columns: Any, ends: Ends, basis: Any, found: Optima) -> None:
    """Solve the program of every level, one after another, and leave the last one's basis behind.

    `columns` holds the slabs' directions, one a column.
    """
    d, k = columns.shape
    uneven = np.empty(d)
    for j in range(d):
        extra = _UNEQUAL * (0.5 + ((j + 1) * _GOLDEN) % 1.0)
        uneven[j] = cost[j] - extra if cost[j] < 0 else cost[j] + extra
    inverse = np.empty((d, d))
    work = np.empty((d, d))
    z, right, weights, entries = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    at, over = np.empty(k), np.empty(k)
    age = _FRESH
    for level in range(len(ends.low)):
        low, high = ends.low[level], ends.high[level]
        proof = -1
        excess = 0.0
        for _ in range(_PIVOTS):
            if age >= _FRESH:
                if not _invert(basis, columns, work, inverse):
                    # Floats cannot tell the rows of this basis apart: start again.
                    for j in range(d):
                        basis[j] = 2 * k + j + (d if cost[j] < 0 else 0)
                    _invert(basis, columns, work, inverse)
                age = 0
            for i in range(d):
                right[i] = _right_side(basis[i], low, high, ends.floor, ends.ceiling)
            _solve(inverse, right, z)
            row, excess = _most_violated(z, columns, low, high, ends.floor, ends.ceiling, at, over)
            if row < 0:
                break
            # The row as a combination of those of the basis; the one whose multiplier vanishes first leaves.
            _fill(entries, row, columns)
            _times(entries, inverse, weights)
            _times(uneven, inverse, right)
            out = _leaving(right, weights)
            if out < 0:
                proof = row
                break
            basis[out] = row
            _exchange(inverse, weights, out)
            age += 1
        _write(found, level, cost, columns, basis, inverse, z, right, entries)
        if proof >= 0:
            _write_proof(found, level, proof, weights, excess, ends)


@compiled
def _right_side(row: int, low: Any, high: Any, floor: Any, ceiling: Any) -> float:
    k, d = len(low), len(floor)
    if row < k:
        return high[row]
    if row < 2 * k:
        return -low[row - k]
    if row < 2 * k + d:
        return ceiling[row - 2 * k]
    return -floor[row - 2 * k - d]


def _solved(inverse: Any, right: Any, z: Any) -> None:
    z[:] = 0.0
    for i in range(len(right)):
        z += inverse[:, i] * right[i]


@compiled(plain=_solved)
def _solve(inverse: Any, right: Any, z: Any) -> None:
    for j in range(len(z)):
        total = 0.0
        for i in range(len(right)):
            total += inverse[j, i] * right[i]
        z[j] = total


def _filled(entries: Any, row: int, columns: Any) -> None:
    d, k = columns.shape
    entries[:] = 0.0
    if row < 2 * k:
        entries[:] = columns[:, row] if row < k else -columns[:, row - k]
    else:
        entries[(row - 2 * k) % d] = 1.0 if row < 2 * k + d else -1.0


@compiled(plain=_filled)
def _fill(entries: Any, row: int, columns: Any) -> None:
    d, k = columns.shape
    for j in range(d):
        if row < k:
            entries[j] = columns[j, row]
        elif row < 2 * k:
            entries[j] = -columns[j, row - k]
        else:
            entries[j] = 0.0
    if row >= 2 * k:
        entries[(row - 2 * k) % d] = 1.0 if row < 2 * k + d else -1.0


def _product(entries: Any, inverse: Any, product: Any) -> None:
    product[:] = 0.0
    for j in np.flatnonzero(entries):
        product += entries[j] * inverse[j]


@compiled(plain=_product)
def _times(entries: Any, inverse: Any, product: Any) -> None:
    for i in range(len(product)):
        product[i] = 0.0
    for j in range(len(entries)):
        if entries[j] != 0.0:
            for i in range(len(product)):
                product[i] += entries[j] * inverse[j, i]


def _worst(
    z: Any, columns: Any, low: Any, high: Any, floor: Any, ceiling: Any, at: Any, over: Any
) -> tuple[int, float]:
    """`_most_violated` on whole arrays."""
    d, k = columns.shape
    at[:] = 0.0
    for j in range(d):
        at += columns[j] * z[j]
    above, below = at - high, low - at
    over[:] = np.where(below > above, below, above)
    row, worst = _first_above(over, _VIOLATED)
    if row >= 0 and below[row] == worst:
        row += k
    ends = np.stack([z - ceiling, floor - z], axis=1).ravel()
    end, farther = _first_above(ends, worst)
    return (row, worst) if end < 0 else (2 * k + end % 2 * d + end // 2, farther)


def _first_above(values: Any, least: float) -> tuple[int, float]:
    """The first of the largest values, if they exceed `least`."""
    beyond = np.where(values > least, values, -np.inf)
    which = int(beyond.argmax())
    return (which, values[which]) if beyond[which] > least else (-1, least)


@compiled(plain=_worst)
def _most_violated(
    z: Any, columns: Any, low: Any, high: Any, floor: Any, ceiling: Any, at: Any, over: Any
) -> tuple[int, float]:
    """The row that z violates most, -1 if none, and by how much."""
    d, k = columns.shape
    for i in range(k):
        at[i] = 0.0
    for j in range(d):
        for i in range(k):
            at[i] += columns[j, i] * z[j]
    for i in range(k):
        over[i] = max(at[i] - high[i], low[i] - at[i])
    row, worst = -1, _VIOLATED
    for i in range(k):
        if over[i] > worst:
            row, worst = i, over[i]
    if row >= 0 and low[row] - at[row] == worst:
        row += k
    for j in range(d):
        if z[j] - ceiling[j] > worst:
            row, worst = 2 * k + j, z[j] - ceiling[j]
        if floor[j] - z[j] > worst:
            row, worst = 2 * k + d + j, floor[j] - z[j]
    return row, worst


def _left(multipliers: Any, weights: Any) -> int:
    """`_leaving` on whole arrays."""
    may = weights > _VIOLATED
    ratios = np.full(len(weights), np.inf)
    np.divide(np.where(multipliers < 0.0, 0.0, multipliers), weights, out=ratios, where=may)
    ratios[np.isnan(ratios)] = np.inf
    out = int(ratios.argmin())
    return out if ratios[out] < np.inf else -1


@compiled(plain=_left)
def _leaving(multipliers: Any, weights: Any) -> int:
    """Which of the basis leaves; -1 if none can, for then no point keeps all rows."""
    out, best = -1, np.inf
    for i in range(len(weights)):
        if weights[i] > _VIOLATED:
            ratio = max(multipliers[i], 0.0) / weights[i]
            if ratio < best:
                out, best = i, ratio
    return out


def _exchanged(inverse: Any, weights: Any, out: int) -> None:
    factor = inverse[:, out] / weights[out]
    inverse -= weights * factor[:, np.newaxis]
    inverse[:, out] = factor


@compiled(plain=_exchanged)
def _exchange(inverse: Any, weights: Any, out: int) -> None:
    """The inverse after a new row, so much of each old one, took the place of `out`."""
    d = len(weights)
    head = weights[out]
    for j in range(d):
        factor = inverse[j, out] / head
        for i in range(d):
            inverse[j, i] -= weights[i] * factor
        inverse[j, out] = factor


def _inverted(basis: Any, columns: Any, work: Any, inverse: Any) -> bool:
    """`_invert` on whole arrays."""
    d = len(basis)
    for i in range(d):
        _filled(work[i], basis[i], columns)
    inverse[:] = np.eye(d)
    for c in range(d):
        sizes = np.abs(work[c:, c])
        # The first of the largest; what is no number is larger than nothing, and nothing than it.
        pivot = c if np.isnan(sizes[0]) else c + int(np.where(np.isnan(sizes), -1.0, sizes).argmax())
        head = work[pivot, c]
        if not abs(head) > 0.0:
            return False
        for matrix in (work, inverse):
            matrix[[c, pivot]] = matrix[[pivot, c]]
            matrix[c] /= head
        factor = work[:, c].copy()
        factor[c] = 0.0
        for other in np.flatnonzero(factor):
            work[other] -= factor[other] * work[c]
            inverse[other] -= factor[other] * inverse[c]
    return True


@compiled(plain=_inverted)
def _invert(basis: Any, columns: Any, work: Any, inverse: Any) -> bool:
    """The inverse of the rows of a basis, by elimination with pivots; False if there is none."""
    d = len(basis)
    for i in range(d):
        _fill(work[i], basis[i], columns)
        for j in range(d):
            inverse[i, j] = 1.0 if i == j else 0.0
    for c in range(d):
        pivot = c
        for i in range(c + 1, d):
            if abs(work[i, c]) > abs(work[pivot, c]):
                pivot = i
        head = work[pivot, c]
        if not abs(head) > 0.0:
            return False
        for j in range(d):
            work[c, j], work[pivot, j] = work[pivot, j], work[c, j]
            inverse[c, j], inverse[pivot, j] = inverse[pivot, j], inverse[c, j]
        for j in range(d):
            work[c, j] /= head
            inverse[c, j] /= head
        for i in range(d):
            factor = work[i, c]
            if i != c and factor != 0.0:
                for j in range(d):
                    work[i, j] -= factor * work[c, j]
                    inverse[i, j] -= factor * inverse[c, j]
    return True


def _written(
    found: Optima, level: int, cost: Any, columns: Any, basis: Any, inverse: Any, z: Any, rest: Any, entries: Any
) -> None:
    """`_write` on whole arrays."""
    d = len(basis)
    rows, weights = found.rows[level], found.weights[level]
    rows[:d], rows[d], weights[d] = basis, -1, 0.0
    weights[:d] = 0.0
    for j in range(d):
        weights[:d] += cost[j] * inverse[j]
    found.corners[level], rest[:] = z, cost
    for i in range(d):
        _filled(entries, basis[i], columns)
        rest -= weights[i] * entries
    more = np.zeros(d)
    for j in range(d):
        more += rest[j] * inverse[j]
    weights[:d] += more


@compiled(plain=_written)
def _write(
    found: Optima, level: int, cost: Any, columns: Any, basis: Any, inverse: Any, z: Any, rest: Any, entries: Any
) -> None:
    """The multipliers of the cost itself, with one step against rounding errors."""
    d = len(basis)
    rows, weights, corners = found.rows, found.weights, found.corners
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += cost[j] * inverse[j, i]
        weights[level, i] = total
        rows[level, i] = basis[i]
    rows[level, d] = -1
    weights[level, d] = 0.0
    for j in range(d):
        corners[level, j] = z[j]
        rest[j] = cost[j]
    for i in range(d):
        _fill(entries, basis[i], columns)
        for j in range(d):
            rest[j] -= weights[level, i] * entries[j]
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += rest[j] * inverse[j, i]
        weights[level, i] += total


@compiled
def _write_proof(found: Optima, level: int, row: int, combination: Any, excess: float, ends: Ends) -> None:
    """Add a proof that the level is empty, so many times that the bound falls below every value a cost can have."""
    d = len(combination)
    values = 0.0
    for j in range(d):
        values += max(abs(ends.floor[j]), abs(ends.ceiling[j]))
    times = 2.0 * values / excess
    for i in range(d):
        found.weights[level, i] -= times * combination[i]
    found.rows[level, d] = row
    found.weights[level, d] = times
