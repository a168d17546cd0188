"""Compiled sweeps over the halfspaces through a point: floats with error bounds, so that every count is an interval.

A *row* of work is the plane left when the vectors are projected along one of them (d = 3) or two (d = 4); in the plane
a line rotates about the origin and counts the weight on its one side. Vectors are sorted by angle; where neighbours are
too close for the error bound, the states between them are taken at their most optimistic for the lower end of the count
and left out for the upper end. Vectors too short after projection to have a reliable angle count as anywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.compiled_code import compiled

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
