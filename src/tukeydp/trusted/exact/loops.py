"""The compiled loops of exact depth: sweeps by angle, ties in integers of two digits, and the search by cones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.matrices import Integers
from tukeydp.trusted.parameters import FloatArray

# A fixed generic rotation of the plane, by one radian, keeps lattice directions away from the start of the sweep. Speed
# only: a row with a vector close to the start is done in integers.
COS, SIN = 0.5403023058681398, 0.8414709848078965


def _filled(vectors: Any, scale: Any, first: int, ratio: float, index_bits: int, keys: Any, usable: Any) -> None:
    """`fill_keys`, all vectors together."""
    d = vectors.shape[1]
    fraction = 2.0 ** (61 - index_bits - 1)
    numbers = np.arange(len(vectors))
    for r in range(len(keys)):
        i, others = first + r, numbers
        x, y = vectors[:, 0], vectors[:, 1]
        if d == 3:
            k = int(np.abs(vectors[i]).argmax())
            if abs(vectors[i, k]) * ratio < scale[i] or vectors[i, k] == 0.0:
                usable[r] = -1
                continue
            p, q = 0 if k != 0 else 1, 2 if k != 2 else 1
            factor = vectors[:, k] / vectors[i, k]
            x, y = vectors[:, p] - factor * vectors[i, p], vectors[:, q] - factor * vectors[i, q]
            others = numbers[numbers != i]
        unsure = (scale > ratio * (np.abs(x) + np.abs(y))) | ((x == 0.0) & (y == 0.0))
        kept = others[~unsure[others]]
        keys[r, : len(kept)] = angle_keys(x[kept], y[kept], fraction, index_bits, kept)
        usable[r] = len(kept)


def angle_keys(x: Any, y: Any, fraction: float, index_bits: int, numbers: Any) -> Any:
    """Keys of vectors of the plane: angle, side, index."""
    a, b = COS * x - SIN * y, SIN * x + COS * y
    side = (b < 0.0) | ((b == 0.0) & (a < 0.0))
    a, b = np.where(side, -a, a), np.where(side, -b, b)
    t = 1.0 - a / (np.abs(a) + b)
    return ((((t * fraction).astype(np.int64) << 1) | side) << index_bits) | numbers


@compiled(plain=_filled)
def fill_keys(
    vectors: Any,
    scale: Any,
    first: int,
    ratio: float,
    index_bits: int,
    keys: Any,
    usable: Any,
) -> None:
    """Sort keys of all vectors in the planes of rows first, first + 1, ...: angle, side, index.

    Projected components are off by at most (error of the vectors) * scale; a vector is given an angle only if scale is
    at most `ratio` times its length in the plane. `usable[r]` counts the keys of row r, or is -1 for a row whose own
    vector is too short to project along.
    """
    m, d = vectors.shape
    fraction = 2.0 ** (61 - index_bits - 1)
    for r in range(keys.shape[0]):
        i = first + r
        k = 0
        if d == 3:
            for c in range(1, 3):
                if abs(vectors[i, c]) > abs(vectors[i, k]):
                    k = c
            if abs(vectors[i, k]) * ratio < scale[i] or vectors[i, k] == 0.0:
                usable[r] = -1
                continue
        count = 0
        for j in range(m):
            if d == 3:
                if j == i:
                    continue
                factor = vectors[j, k] / vectors[i, k]
                p = 0 if k != 0 else 1
                q = 2 if k != 2 else 1
                x = vectors[j, p] - factor * vectors[i, p]
                y = vectors[j, q] - factor * vectors[i, q]
            else:
                x = vectors[j, 0]
                y = vectors[j, 1]
            if scale[j] > ratio * (abs(x) + abs(y)) or (x == 0.0 and y == 0.0):
                continue
            a = COS * x - SIN * y
            b = SIN * x + COS * y
            side = 0
            if b < 0.0 or (b == 0.0 and a < 0.0):
                a, b, side = -a, -b, 1
            # Rises from 0 to 2 with the angle.
            t = 1.0 - a / (abs(a) + b)
            keys[r, count] = (((np.int64(t * fraction) << 1) | side) << index_bits) | j
            count += 1
        usable[r] = count


def _scanned(
    keys: Any,
    usable: Any,
    weights: Any,
    own: Any,
    total: int,
    tolerance: float,
    index_bits: int,
    bounds: Any,
    turn: Any,
) -> None:
    """`scan_keys`, all keys of a row together."""
    fraction = 2.0 ** (61 - index_bits - 1)
    near, whole_turn = int(tolerance * fraction), int(2.0 * fraction)
    for r in range(len(keys)):
        count = int(usable[r])
        bounds[r] = 0, total
        if count < 0:
            continue
        swept = sweep(keys[r, :count], weights, near, index_bits)
        missing, whole, here = total - own[r] - swept.whole, swept.whole, swept.here
        start = min(here[0], whole - here[0])
        turn[r] = 0.0, 0.0 if here[0] <= whole - here[0] else 1.0
        if count:
            if swept.first[0] <= near or swept.last[-1] >= whole_turn - near:
                continue
            turn[r, 0] = 0.5 * float(swept.first[0]) / fraction
        mixed = (swept.gone != 0) & (swept.come != 0)
        between = np.minimum(here[:-1] - swept.gone, whole - here[:-1] - swept.come)[mixed]
        value = np.minimum(here, whole - here)
        best = int(value.argmin())
        if best:
            end = swept.first[best] if best < len(swept.first) else whole_turn
            turn[r] = (
                0.5 * float(swept.last[best - 1] + end) / fraction,
                0.0 if here[best] <= whole - here[best] else 1.0,
            )
        bounds[r] = max(min(start, value.min(), between.min(initial=start)), 0), value.min() + missing


class Swept(NamedTuple):
    """The sweep over one row's sorted keys: their weight, that on one side before and after each group of keys that are
    near each other, what each group takes off it and brings, the angles of a group's first and last key, its start.
    """

    whole: Any
    here: Any
    gone: Any
    come: Any
    first: Any
    last: Any
    starts: Any


def sweep(keys: Any, weights: Any, near: int, index_bits: int) -> Swept:
    angles = keys >> (index_bits + 1)
    weight = weights[keys & ((1 << index_bits) - 1)]
    leaves = (keys >> index_bits) & 1 == 0
    fresh = np.ones(len(keys), dtype=np.bool_)
    fresh[1:] = np.diff(angles) > near
    starts = np.flatnonzero(fresh)
    gone, come = (
        np.add.reduceat(np.where(some, weight, 0), starts) if len(keys) else np.zeros(0, dtype=np.int64)
        for some in (leaves, ~leaves)
    )
    here = weight[leaves].sum() + np.concatenate([[0], np.cumsum(come - gone)])
    ends = np.append(starts[1:], len(keys))[: len(starts)] - 1
    return Swept(weight.sum(), here, gone, come, angles[starts], angles[ends], starts)


@compiled(plain=_scanned)
def scan_keys(
    keys: Any,
    usable: Any,
    weights: Any,
    own: Any,
    total: int,
    tolerance: float,
    index_bits: int,
    bounds: Any,
    turn: Any,
) -> None:
    """From sorted keys, bounds[r] = (lower, upper) of the least weight on one side of a line, over all generic lines.

    `turn[r]` = (t, side) of a line that attains the upper bound if no vector is unusable. own[r] is the weight of the
    vectors that span the row, which a generic halfspace can leave out.
    """
    fraction = 2.0 ** (61 - index_bits - 1)
    near = np.int64(tolerance * fraction)
    mask = (np.int64(1) << index_bits) - 1
    for r in range(keys.shape[0]):
        if usable[r] < 0:
            bounds[r, 0] = 0
            bounds[r, 1] = total
            continue
        count = usable[r]
        plus = 0
        whole = 0
        for c in range(count):
            w = weights[keys[r, c] & mask]
            whole += w
            if (keys[r, c] >> index_bits) & 1 == 0:
                plus += w
        missing = total - own[r] - whole
        here = plus
        lower = min(here, whole - here)
        upper = lower
        turn[r, 0] = 0.0
        turn[r, 1] = 0.0 if here <= whole - here else 1.0
        last = np.int64(0)
        if count:
            head = keys[r, 0] >> (index_bits + 1)
            tail = keys[r, count - 1] >> (index_bits + 1)
            last = head
            if head <= near or tail >= np.int64(2.0 * fraction) - near:
                # The start of the sweep itself is in doubt.
                bounds[r, 0] = 0
                bounds[r, 1] = total
                continue
            turn[r, 0] = 0.5 * head / fraction
        c = 0
        while c < count:
            gone = 0
            come = 0
            last = keys[r, c] >> (index_bits + 1)
            while c < count and (keys[r, c] >> (index_bits + 1)) - last <= near:
                last = keys[r, c] >> (index_bits + 1)
                w = weights[keys[r, c] & mask]
                if (keys[r, c] >> index_bits) & 1 == 0:
                    gone += w
                else:
                    come += w
                c += 1
            if gone and come:
                lower = min(lower, here - gone, whole - here - come)
            here += come - gone
            value = min(here, whole - here)
            lower = min(lower, value)
            if value < upper:
                upper = value
                end = keys[r, c] >> (index_bits + 1) if c < count else np.int64(2.0 * fraction)
                turn[r, 0] = 0.5 * (last + end) / fraction
                turn[r, 1] = 0.0 if here <= whole - here else 1.0
        bounds[r, 0] = max(lower, 0)
        bounds[r, 1] = upper + missing


# Compiled arithmetic with twice the digits of a float: a number is an unevaluated sum of two floats (Dekker 1971).
#
# A sum or a product of numbers a, b is off by at most 2^-102 of |a| + |b| or |a b|.


_HALVES = 2.0**27 + 1.0
_EXACT = 2**53  # integers below this are floats


def doubled(vectors: Integers) -> FloatArray:
    """Nonzero integer vectors (m, d) as numbers (m, d, 2), each vector over a power of two: no entry exceeds one."""
    largest = np.abs(vectors).max(axis=1).tolist()
    if max(largest) < _EXACT:
        beyond = np.exp2([[c.bit_length()] for c in largest])
        return np.stack([vectors.astype(np.float64) / beyond, np.zeros(vectors.shape)], axis=2)
    beyond_long = [1 << c.bit_length() for c in largest]
    return np.array([[_two(c, b) for c in v] for v, b in zip(vectors.tolist(), beyond_long, strict=True)])


def _two(numerator: int, denominator: int) -> tuple[float, float]:
    high = numerator / denominator
    top, bottom = high.as_integer_ratio()
    return high, (numerator * bottom - top * denominator) / (denominator * bottom)


@compiled
def minor(u: Any, v: Any, a: int, b: int) -> Any:
    """The determinant of two vectors in columns a and b."""
    x, y = _product(u[a, 0], u[a, 1], v[b, 0], v[b, 1])
    z, w = _product(u[b, 0], u[b, 1], v[a, 0], v[a, 1])
    return _sum(x, y, -z, -w)


@compiled
def sum_of_products(factors: Any, vector: Any, columns: Any) -> float:
    """The sum of three factors times entries of a vector, as one float."""
    high = low = 0.0
    for i in range(3):
        c = columns[i]
        x, y = _product(factors[i, 0], factors[i, 1], vector[c, 0], vector[c, 1])
        high, low = _sum(high, low, x, y)
    return high


@compiled
def _product(a: float, a_low: float, b: float, b_low: float) -> Any:
    product = a * b
    a_half, b_half = _half(a), _half(b)
    a_rest, b_rest = a - a_half, b - b_half
    error = ((a_half * b_half - product) + a_half * b_rest + a_rest * b_half) + a_rest * b_rest
    return _tidy(product, error + (a * b_low + a_low * b))


@compiled
def _sum(a: float, a_low: float, b: float, b_low: float) -> Any:
    total = a + b
    of_b = total - a
    error = (a - (total - of_b)) + (b - of_b)
    return _tidy(total, error + (a_low + b_low))


@compiled
def _half(a: float) -> float:
    """The first half of a float's digits."""
    large = _HALVES * a
    return large - (large - a)


@compiled
def _tidy(high: float, low: float) -> Any:
    total = high + low
    return total, low - (total - high)


# Compiled sweeps of rows in doubt, with twice the digits; which vectors coincide in a plane is decided by residues.
#
# A determinant that every modulus divides is zero if their product exceeds its size: no long integers are needed.
# What lies in the plane that a row projects along is found likewise, and told apart from what is only close to it.
#
# Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile.


# In the place of bounds: rows whose two vectors are parallel and project along no plane, and rows that stay in doubt.
NO_PLANE, IN_DOUBT = -2, -1
# Not only speed: docs/proofs/exact-depth.md, section 3. A vector has an angle if this much of it is left in the plane,
# and angles closer than the tolerance may coincide.
_LEFT, _TOLERANCE = 2.0**-52, 2.0**-35


class Exactly(NamedTuple):
    """Vectors (m, 4, 2) with twice the digits of a float, no entry above one, and (q, m, 4) modulo q numbers < 2^31."""

    digits: Any
    moduli: Any
    residues: Any


def _filled_ties(vectors: Any, first: int, chosen: Any, index_bits: int, keys: Any, usable: Any) -> None:
    """`fill_chosen`, all vectors together: the same sums and products, of arrays."""
    fraction = 2.0 ** (61 - index_bits - 1)
    digits = np.ascontiguousarray(np.moveaxis(vectors.digits[: keys.shape[1]], 0, 2))
    minors, columns = np.zeros((2, 3, 2)), np.zeros((2, 3), dtype=np.int64)
    for r in range(len(chosen)):
        if not _project(vectors.digits[first], vectors.digits[chosen[r]], minors, columns):
            usable[r] = -1
            continue
        x, y = (sum_of_products(minors[i], digits, columns[i]) for i in range(2))
        kept = np.flatnonzero(np.abs(x) + np.abs(y) >= _LEFT)
        keys[r, : len(kept)] = angle_keys(x[kept], y[kept], fraction, index_bits, kept)
        usable[r] = len(kept)


@compiled(plain=_filled_ties)
def fill_chosen(vectors: Any, first: int, chosen: Any, index_bits: int, keys: Any, usable: Any) -> None:
    """Sort keys as `fill_keys` has them; row r projects along the vectors `first` and chosen[r].

    usable[r] counts the keys of row r, or is -1 where the two are too close to parallel.
    """
    fraction = 2.0 ** (61 - index_bits - 1)
    minors = np.zeros((2, 3, 2))
    columns = np.zeros((2, 3), dtype=np.int64)
    for r in range(len(chosen)):
        if not _project(vectors.digits[first], vectors.digits[chosen[r]], minors, columns):
            usable[r] = -1
            continue
        count = 0
        for k in range(keys.shape[1]):
            x = sum_of_products(minors[0], vectors.digits[k], columns[0])
            y = sum_of_products(minors[1], vectors.digits[k], columns[1])
            if not abs(x) + abs(y) >= _LEFT:
                continue
            a = COS * x - SIN * y
            b = SIN * x + COS * y
            side = 0
            if b < 0.0 or (b == 0.0 and a < 0.0):
                a, b, side = -a, -b, 1
            t = 1.0 - a / (abs(a) + b)
            keys[r, count] = (((np.int64(t * fraction) << 1) | side) << index_bits) | k
            count += 1
        usable[r] = count


@compiled
def _project(u: Any, v: Any, minors: Any, columns: Any) -> bool:
    """What takes a vector to the plane left by u and v: its determinants with them in three columns, two of them fixed.

    False if those two may tell nothing.
    """
    largest = 0.0
    first = second = 0
    for a in range(4):
        for b in range(a + 1, 4):
            size = abs(minor(u, v, a, b)[0])
            if size > largest:
                largest, first, second = size, a, b
    if not largest >= _LEFT:
        return False
    component = 0
    for c in range(4):
        if c not in (first, second):
            columns[component, 0], columns[component, 1], columns[component, 2] = first, second, c
            for i in range(3):
                high, low = minor(u, v, columns[component, (i + 1) % 3], columns[component, (i + 2) % 3])
                minors[component, i, 0], minors[component, i, 1] = high, low
            component += 1
    return True


def _scanned_ties(
    keys: Any,
    usable: Any,
    weights: Any,
    vectors: Any,
    first: int,
    chosen: Any,
    index_bits: int,
    bounds: Any,
    inside: Any,
) -> None:
    """`scan_ties`, all keys of a row together."""
    fraction = 2.0 ** (61 - index_bits - 1)
    near, mask = int(_TOLERANCE * fraction), (1 << index_bits) - 1
    minors = np.zeros((len(vectors.moduli), 6), dtype=np.int64)
    for r in range(len(chosen)):
        bounds[r] = IN_DOUBT if _minors(vectors, first, chosen[r], minors) else NO_PLANE
        if usable[r] <= 0:
            continue
        row = keys[r, : usable[r]]
        swept = sweep(row, weights, near, index_bits)
        if swept.first[0] <= near or swept.last[-1] >= int(2.0 * fraction) - near:
            continue
        inside[r, : len(weights)] = True
        inside[r, row & mask] = False
        if not _all_inside(vectors, minors, inside[r]):
            continue
        number = row & mask
        parted = np.zeros(len(row), dtype=np.int64)
        parted[1:] = ~_all_coincide(vectors, minors, number[:-1], number[1:])
        parted[swept.starts] = 0
        untied = np.add.reduceat(parted, swept.starts) > 0
        whole, here = swept.whole, swept.here
        mixed = (swept.gone != 0) & (swept.come != 0) & untied
        upper = np.minimum(here, whole - here).min()
        between = np.minimum(here[:-1] - swept.gone, whole - here[:-1] - swept.come)[mixed]
        start = min(here[0], whole - here[0])
        bounds[r] = max(min(between.min(initial=start), upper), 0), upper


def _all_coincide(vectors: Any, minors: Any, j: Any, k: Any) -> Any:
    """`_coincide` for many pairs."""
    coincide = np.ones(len(j), dtype=np.bool_)
    for q in range(len(vectors.moduli)):
        p, u, v, s = vectors.moduli[q], vectors.residues[q, j].T, vectors.residues[q, k].T, minors[q]
        total = s[0] * ((u[2] * v[3] - u[3] * v[2]) % p) % p - s[1] * ((u[1] * v[3] - u[3] * v[1]) % p) % p
        total += s[2] * ((u[1] * v[2] - u[2] * v[1]) % p) % p + s[3] * ((u[0] * v[3] - u[3] * v[0]) % p) % p
        total += s[5] * ((u[0] * v[1] - u[1] * v[0]) % p) % p - s[4] * ((u[0] * v[2] - u[2] * v[0]) % p) % p
        coincide &= total % p == 0
    return coincide


@compiled(plain=_scanned_ties)
def scan_ties(
    keys: Any,
    usable: Any,
    weights: Any,
    vectors: Any,
    first: int,
    chosen: Any,
    index_bits: int,
    bounds: Any,
    inside: Any,
) -> None:
    """From sorted keys, bounds[r] of the least weight on one side of a line, over all generic lines of the row's plane.

    inside[r] are the vectors in the plane that is projected along: they weigh nothing here. NO_PLANE and IN_DOUBT are
    no bounds.
    """
    fraction = 2.0 ** (61 - index_bits - 1)
    near = np.int64(_TOLERANCE * fraction)
    mask = (np.int64(1) << index_bits) - 1
    minors = np.zeros((len(vectors.moduli), 6), dtype=np.int64)
    for r in range(len(chosen)):
        bounds[r, 0] = bounds[r, 1] = IN_DOUBT if _minors(vectors, first, chosen[r], minors) else NO_PLANE
        count = usable[r]
        if count <= 0:
            continue
        head, tail = keys[r, 0] >> (index_bits + 1), keys[r, count - 1] >> (index_bits + 1)
        if head <= near or tail >= np.int64(2.0 * fraction) - near:
            continue
        for k in range(len(weights)):
            inside[r, k] = True
        whole = here = 0
        for c in range(count):
            k = keys[r, c] & mask
            inside[r, k] = False
            whole += weights[k]
            if (keys[r, c] >> index_bits) & 1 == 0:
                here += weights[k]
        if not _all_inside(vectors, minors, inside[r]):
            continue
        lower = upper = min(here, whole - here)
        c = 0
        while c < count:
            gone = come = 0
            tied = True
            start = c
            last = keys[r, c] >> (index_bits + 1)
            while c < count and (keys[r, c] >> (index_bits + 1)) - last <= near:
                last = keys[r, c] >> (index_bits + 1)
                k = keys[r, c] & mask
                if c > start and tied:
                    tied = _coincide(vectors, minors, keys[r, c - 1] & mask, k)
                if (keys[r, c] >> index_bits) & 1 == 0:
                    gone += weights[k]
                else:
                    come += weights[k]
                c += 1
            if gone and come and not tied:
                lower = min(lower, here - gone, whole - here - come)
            here += come - gone
            upper = min(upper, here, whole - here)
        bounds[r, 0], bounds[r, 1] = max(min(lower, upper), 0), upper


@compiled
def _minors(vectors: Any, i: int, j: int, found: Any) -> bool:
    """The minors of two vectors modulo each number, columns 01, 02, 03, 12, 13, 23; False if all are zero."""
    some = False
    for q in range(len(vectors.moduli)):
        p, u, v = vectors.moduli[q], vectors.residues[q, i], vectors.residues[q, j]
        at = 0
        for a in range(4):
            for b in range(a + 1, 4):
                found[q, at] = (u[a] * v[b] - u[b] * v[a]) % p
                some = some or found[q, at] != 0
                at += 1
    return some


@compiled
def _all_inside(vectors: Any, minors: Any, which: Any) -> bool:
    """Whether all of these are in the plane of the two vectors: with them all minors of three columns vanish."""
    for k in range(len(which)):
        for q in range(len(vectors.moduli) if which[k] else 0):
            p, v, s = vectors.moduli[q], vectors.residues[q, k], minors[q]
            if (
                (s[0] * v[2] % p - s[1] * v[1] % p + s[3] * v[0] % p) % p
                or (s[0] * v[3] % p - s[2] * v[1] % p + s[4] * v[0] % p) % p
                or (s[1] * v[3] % p - s[2] * v[2] % p + s[5] * v[0] % p) % p
                or (s[3] * v[3] % p - s[4] * v[2] % p + s[5] * v[1] % p) % p
            ):
                return False
    return True


@compiled
def _coincide(vectors: Any, minors: Any, j: int, k: int) -> bool:
    """Whether two vectors are parallel or opposite once projected: the determinant of all four vanishes."""
    for q in range(len(vectors.moduli)):
        p, u, v, s = vectors.moduli[q], vectors.residues[q, j], vectors.residues[q, k], minors[q]
        total = s[0] * ((u[2] * v[3] - u[3] * v[2]) % p) % p - s[1] * ((u[1] * v[3] - u[3] * v[1]) % p) % p
        total += s[2] * ((u[1] * v[2] - u[2] * v[1]) % p) % p + s[3] * ((u[0] * v[3] - u[3] * v[0]) % p) % p
        total += s[5] * ((u[0] * v[1] - u[1] * v[0]) % p) % p - s[4] * ((u[0] * v[2] - u[2] * v[0]) % p) % p
        if total % p:
            return False
    return True


# The compiled loop of `cones`: cones of halfspace normals, cut in two until each is proven or a corner refutes.


PROVEN, REFUTED, OPEN, NO_ROOM = 1, 0, -1, -2


def _searched(
    vectors: Any,
    weights: Any,
    margins: Any,
    least: float,
    together: Any,
    extra: float,
    work: int,
    deepest: int,
    pool: Any,
) -> Any:
    """`search`, all vectors of a cone together. Weights are whole numbers: their sums are exact in any order."""
    m, d = vectors.shape
    ends, left = [0] * (deepest + 2), np.zeros((deepest + 1, 3), dtype=np.int64)
    sure = np.zeros((deepest + 1, 2))
    corners = np.zeros((deepest + 1, d, d))
    normal = np.zeros(d)
    group = together.sum()
    rows = np.column_stack([vectors, margins, weights, np.arange(m)])
    for signs in range(2 ** (d - 1)):
        side = np.array([-1.0 if (signs >> a) & 1 else 1.0 for a in range(d)])
        corners[0] = np.diag(side)
        products = vectors * side
        above, below = (products > margins[:, np.newaxis]).all(axis=1), (products < -margins[:, np.newaxis]).all(axis=1)
        opened = ~(above | below)
        end = int(opened.sum())
        pool[:end] = rows[opened]
        pool[:end, :d] = products[opened]
        inside, outside = weights[above].sum(), weights[below].sum()
        t = -1
        if inside < least or outside < least:
            t = 0
            ends[0], ends[1], left[0, 2], sure[0] = 0, end, 0, (inside, outside)
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return OPEN, normal, start, end if work >= 0 else start
                if 2 * end - start > len(pool):
                    return NO_ROOM, normal, start, end
                _edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            some = pool[start:end].copy()
            margin, weight = some[:, d], some[:, d + 1]
            middle = 0.5 * (some[:, a] + some[:, b])
            near, far = weight[middle >= -margin].sum(), weight[middle <= margin].sum()
            if sure[t, 0] + near < least or sure[t, 1] + far < least:
                sign = 0.5 if sure[t, 0] + near < least else -0.5
                return REFUTED, sign * (corners[t, a] + corners[t, b]), start, end
            some[:, moved] = middle
            above = (some[:, :d] > margin[:, np.newaxis]).all(axis=1)
            below = (some[:, :d] < -margin[:, np.newaxis]).all(axis=1)
            inside, outside = sure[t, 0] + weight[above].sum(), sure[t, 1] + weight[below].sum()
            still = some[~(above | below)]
            pool[end : end + len(still)] = still
            more = extra if together[still[:, d + 2].astype(np.int64)].sum() == group else 0.0
            if inside + more < least or outside + more < least:
                corners[t + 1] = corners[t]
                corners[t + 1, moved] = 0.5 * (corners[t, a] + corners[t, b])
                t += 1
                ends[t + 1], left[t, 2], sure[t] = end + len(still), 0, (inside, outside)
    return PROVEN, normal, 0, 0


def _edge(opened: Any, corners: Any, edge: Any) -> None:
    """`_choose_edge`, all vectors together."""
    d = len(corners)
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            crossed = opened[opened[:, a] * opened[:, b] <= 0.0, d + 1].sum()
            longer = crossed * length_of(corners, a, b)
            if longer > best:
                best = longer
                edge[0], edge[1] = a, b


def length_of(corners: Any, a: int, b: int) -> float:
    """Of an edge, added up in order."""
    length = 0.0
    for difference in np.abs(corners[a] - corners[b]).tolist():
        length += difference
    return length


@compiled(plain=_searched)
def search(
    vectors: Any,
    weights: Any,
    margins: Any,
    least: float,
    together: Any,
    extra: float,
    work: int,
    deepest: int,
    pool: Any,
) -> Any:
    """Whether every generic open halfspace weighs at least `least`; a normal if refuted; the pool's open rows in doubt.

    A cone is spanned by d corners. Vectors whose products with all corners are beyond their margin on one side are on
    that side of every normal of the cone; the others are *open*. A row of `pool` is an open vector of a cone on the
    path from the root: its products with the corners, its margin, its weight and its number. Of the vectors that are
    `together` every halfspace has at least the weight `extra`. `work` is the most open vectors looked at in all,
    `deepest` the most cuts on a path.
    """
    m, d = vectors.shape
    ends = np.zeros(deepest + 2, dtype=np.int64)  # the pool's rows of cone t are ends[t] ... ends[t + 1] - 1
    left = np.zeros((deepest + 1, 3), dtype=np.int64)  # the edge to cut, and how many halves were looked at
    sure = np.zeros((deepest + 1, 2))  # weights surely inside, surely outside
    corners = np.zeros((deepest + 1, d, d))
    normal = np.zeros(d)
    group = together.sum()
    for signs in range(2 ** (d - 1)):  # opposite normals are looked at together
        for a in range(d):
            corners[0, a, :] = 0.0
            corners[0, a, a] = -1.0 if (signs >> a) & 1 else 1.0
        inside = 0.0
        outside = 0.0
        end = 0
        for i in range(m):
            above = 0
            below = 0
            for a in range(d):
                product = vectors[i, a] * corners[0, a, a]
                pool[end, a] = product
                above += product > margins[i]
                below += product < -margins[i]
            if above == d:
                inside += weights[i]
            elif below == d:
                outside += weights[i]
            else:
                pool[end, d] = margins[i]
                pool[end, d + 1] = weights[i]
                pool[end, d + 2] = i
                end += 1
        t = -1
        if inside < least or outside < least:
            t = 0
            ends[0], ends[1], left[0, 2] = 0, end, 0
            sure[0, 0], sure[0, 1] = inside, outside
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return OPEN, normal, start, end if work >= 0 else start
                if 2 * end - start > len(pool):
                    return NO_ROOM, normal, start, end
                _choose_edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            inside, outside = sure[t, 0], sure[t, 1]
            near = far = 0.0
            fresh = end
            opened = 0
            for i in range(start, end):
                margin = pool[i, d]
                middle = 0.5 * (pool[i, a] + pool[i, b])
                above = 0
                below = 0
                for c in range(d):
                    product = middle if c == moved else pool[i, c]
                    pool[fresh, c] = product
                    above += product > margin
                    below += product < -margin
                weight = pool[i, d + 1]
                if middle >= -margin:
                    near += weight
                if middle <= margin:
                    far += weight
                if above == d:
                    inside += weight
                elif below == d:
                    outside += weight
                else:
                    pool[fresh, d] = margin
                    pool[fresh, d + 1] = weight
                    pool[fresh, d + 2] = pool[i, d + 2]
                    opened += together[int(pool[i, d + 2])]
                    fresh += 1
            if sure[t, 0] + near < least or sure[t, 1] + far < least:
                sign = 0.5 if sure[t, 0] + near < least else -0.5
                for c in range(d):
                    normal[c] = sign * (corners[t, a, c] + corners[t, b, c])
                return REFUTED, normal, start, end
            some = extra if opened == group else 0.0
            if inside + some < least or outside + some < least:
                for c in range(d):
                    for e in range(d):
                        corners[t + 1, c, e] = corners[t, c, e]
                for e in range(d):
                    corners[t + 1, moved, e] = 0.5 * (corners[t, a, e] + corners[t, b, e])
                t += 1
                ends[t + 1], left[t, 2] = fresh, 0
                sure[t, 0], sure[t, 1] = inside, outside
    return PROVEN, normal, 0, 0


@compiled(plain=_edge)
def _choose_edge(opened: Any, corners: Any, edge: Any) -> None:
    """The edge that most weight of open vectors changes sides along, for its length."""
    d = len(corners)
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            crossed = 0.0
            for i in range(len(opened)):
                if opened[i, a] * opened[i, b] <= 0.0:
                    crossed += opened[i, d + 1]
            length = 0.0
            for c in range(d):
                length += abs(corners[a, c] - corners[b, c])
            if crossed * length > best:
                best = crossed * length
                edge[0], edge[1] = a, b
