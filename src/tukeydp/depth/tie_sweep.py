"""Compiled sweeps of rows in doubt, with twice the digits; which vectors coincide in a plane is decided by residues.

A determinant that every modulus divides is zero if their product exceeds its size: no long integers are needed. What
lies in the plane that a row projects along is found likewise, and told apart from what is only close to it.

Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.depth.angular_sweep import COS, SIN, angle_keys, sweep
from tukeydp.depth.double_digits import minor, sum_of_products
from tukeydp.trusted.compiled_code import compiled

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


def _filled(vectors: Any, first: int, chosen: Any, index_bits: int, keys: Any, usable: Any) -> None:
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


@compiled(plain=_filled)
def fill_chosen(vectors: Any, first: int, chosen: Any, index_bits: int, keys: Any, usable: Any) -> None:
    """Sort keys as `angular_sweep.fill_keys` has them; row r projects along the vectors `first` and chosen[r].

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


def _scanned(
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


@compiled(plain=_scanned)
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
