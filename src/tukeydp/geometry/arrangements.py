"""Compiled search for the cell of least weight in an arrangement of weighted halfspaces within a simplex. Floats.

Each lightest cell borders on the zero set of some row (or no row cuts the simplex), where the row itself can be left
out: that lowers the dimension by one, until a segment is left to sweep. The part of the simplex still looked at is kept
as the convex hull of its corners, and rows by their heights there, so that all steps are convex combinations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled

# Two crossings closer than this, as parts of a segment, leave no cell between them: a few units of rounding. Smaller:
# cells that rounding made are counted. Larger: true cells are missed, and a bound of the level set with them.
_NO_ROOM = 1e-15


@compiled
def lightest_cell(heights: Any, weights: Any, always: int, level: int, shares: Any) -> int:
    """Least weight over the simplex, which all rows cut; `always` weighs without cutting it.

    Depth k of the search is a part of the simplex on the zero sets of k rows, its corners in columns of shares.
    """
    d = heights.shape[1]
    corners = np.eye(d)
    if d == 2:
        return _sweep(heights, weights, corners, always, shares)
    least = always + weights.sum()
    all_heights = [heights for _ in range(d)]
    all_weights = [weights for _ in range(d)]
    all_corners = [corners for _ in range(d)]
    all_indices = [np.arange(len(weights)) for _ in range(d)]
    all_always = np.full(d, always)
    cursor = np.zeros(d, dtype=np.int64)
    inner = np.empty(d)
    depth = 0
    while depth >= 0:
        i = cursor[depth]
        if i == len(all_weights[depth]):
            depth -= 1
            continue
        cursor[depth] += 1
        section = _section(all_heights[depth], all_corners[depth], i)
        kept = np.empty((len(all_weights[depth]), len(section)))
        indices = np.empty(len(kept), dtype=np.int64)
        number, earlier, added = _cutting(all_heights[depth], all_weights[depth], i, kept, indices)
        weighing = all_always[depth] + added
        if weighing >= least:
            continue
        if number == 0:
            found = weighing
            for c in range(d):
                inner[c] = _mean(section[:, c])
        elif d - depth == 3:
            found = _sweep(kept[:number], all_weights[depth][indices[:number]], section, weighing, inner)
        else:
            # Pairs with an earlier row have been looked at.
            depth += 1
            all_heights[depth] = kept[:number].copy()
            all_weights[depth] = all_weights[depth - 1][indices[:number]]
            all_indices[depth] = all_indices[depth - 1][indices[:number]]
            all_corners[depth] = section
            all_always[depth] = weighing
            cursor[depth] = earlier
            continue
        if found < least:
            least = found
            shares[:] = inner
            if least < level:
                # From the border into the cell: off the zero sets of the rows that were left out, the last one first.
                leaving = np.empty(depth + 1, dtype=np.int64)
                for k in range(depth + 1):
                    leaving[k] = all_indices[k][cursor[k] - 1]
                for k in range(depth, -1, -1):
                    lowest = np.argmin(all_heights[k][cursor[k] - 1])
                    _move_towards(heights, all_corners[k][lowest], leaving[: k + 1], shares)
                return least
    return least


@compiled
def _mean(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


@compiled
def _move_towards(heights: Any, corner: Any, on: Any, shares: Any) -> None:
    """Move half as far as no row changes sides, but for those in `on`, whose height is zero so far."""
    m, d = heights.shape
    room = 1.0
    for j in range(m):
        known = False
        for i in on:
            if i == j:
                known = True
        if known:
            continue
        here = 0.0
        there = 0.0
        for c in range(d):
            here += heights[j, c] * shares[c]
            there += heights[j, c] * corner[c]
        if (here >= 0.0) != (there >= 0.0):
            room = min(room, here / (here - there))
    for c in range(d):
        shares[c] += 0.5 * room * (corner[c] - shares[c])


@compiled
def _section(heights: Any, corners: Any, i: int) -> Any:
    """Corners, and maybe other points, of the part where row i has height zero: between each two on different sides."""
    k = heights.shape[1]
    up = 0
    for r in range(k):
        if heights[i, r] >= 0.0:
            up += 1
    section = np.empty((up * (k - up), corners.shape[1]))
    at = 0
    for p in range(k):
        if heights[i, p] < 0.0:
            continue
        for q in range(k):
            if heights[i, q] >= 0.0:
                continue
            part = heights[i, q] / (heights[i, q] - heights[i, p])
            for c in range(corners.shape[1]):
                section[at, c] = part * corners[p, c] + (1.0 - part) * corners[q, c]
            at += 1
    return section


def _all_cutting(heights: Any, weights: Any, i: int, kept: Any, indices: Any) -> tuple[int, int, int]:
    """`_cutting`, all rows together."""
    above, below = np.flatnonzero(~(heights[i] < 0.0)), np.flatnonzero(~(heights[i] >= 0.0))
    p, q = np.repeat(above, len(below)), np.tile(below, len(above))
    part = heights[i, q] / (heights[i, q] - heights[i, p])
    on_section = part * heights[:, p] + (1.0 - part) * heights[:, q]
    low, high = on_section.min(axis=1, initial=np.inf), on_section.max(axis=1, initial=-np.inf)
    others = np.arange(len(heights)) != i
    cut = np.flatnonzero(others & ~(low >= 0.0) & (high >= 0.0))
    kept[: len(cut)], indices[: len(cut)] = on_section[cut], cut
    return len(cut), int((cut < i).sum()), int(weights[others & (low >= 0.0)].sum())


@compiled(plain=_all_cutting)
def _cutting(heights: Any, weights: Any, i: int, kept: Any, indices: Any) -> tuple[int, int, int]:
    """Heights, on the section of row i, of the other rows that cut it, and which these are.

    Returns how many, how many of them are before row i, and the weight of the rows that are above all of it.
    """
    m, k = heights.shape
    number = 0
    earlier = 0
    above = 0
    for j in range(m):
        if j == i:
            continue
        low = np.inf
        high = -np.inf
        at = 0
        for p in range(k):
            if heights[i, p] < 0.0:
                continue
            for q in range(k):
                if heights[i, q] >= 0.0:
                    continue
                part = heights[i, q] / (heights[i, q] - heights[i, p])
                height = part * heights[j, p] + (1.0 - part) * heights[j, q]
                kept[number, at] = height
                low = min(low, height)
                high = max(high, height)
                at += 1
        if low >= 0.0:
            above += weights[j]
        elif high >= 0.0:
            indices[number] = j
            number += 1
            if j < i:
                earlier += 1
    return number, earlier, above


def _swept(heights: Any, weights: Any, corners: Any, always: int, shares: Any) -> int:
    """`_sweep`, all rows together."""
    k = heights.shape[1]
    start, end = 0, 0
    longest = -1.0
    for p in range(k):
        for q in range(p + 1, k):
            apart = np.abs(corners[p] - corners[q]).max()
            if apart > longest:
                longest, start, end = apart, p, q
    a, b = heights[:, start], heights[:, end]
    crossing = np.flatnonzero(np.where(a >= 0.0, b < 0.0, b >= 0.0))
    crossings = a[crossing] / (a[crossing] - b[crossing])
    order = np.argsort(crossings, kind="stable")
    changes = np.where(a >= 0.0, -weights, weights)[crossing][order]
    here = always + weights[a >= 0.0].sum() + np.concatenate([[0], np.cumsum(changes)])
    ends = np.concatenate([[0.0], crossings[order], [1.0]])
    least, best = always + weights.sum(), 0.5
    room = np.flatnonzero((here < least) & (np.diff(ends) > _NO_ROOM))
    if len(room):
        c = room[here[room].argmin()]
        least, best = here[c], 0.5 * (ends[c] + ends[c + 1])
    shares[:] = (1.0 - best) * corners[start] + best * corners[end]
    return int(least)


@compiled(plain=_swept)
def _sweep(heights: Any, weights: Any, corners: Any, always: int, shares: Any) -> int:
    """Least weight along a segment, which the corners lie on."""
    m, k = heights.shape
    start, end = 0, 0
    longest = -1.0
    for p in range(k):
        for q in range(p + 1, k):
            apart = 0.0
            for c in range(corners.shape[1]):
                apart = max(apart, abs(corners[p, c] - corners[q, c]))
            if apart > longest:
                longest = apart
                start, end = p, q
    here = always
    crossings = np.empty(m)
    changes = np.empty(m, dtype=np.int64)
    count = 0
    for j in range(m):
        a = heights[j, start]
        b = heights[j, end]
        if a >= 0.0:
            here += weights[j]
            if b < 0.0:
                crossings[count] = a / (a - b)
                changes[count] = -weights[j]
                count += 1
        elif b >= 0.0:
            crossings[count] = a / (a - b)
            changes[count] = weights[j]
            count += 1
    order = np.argsort(crossings[:count])
    least = always + weights.sum()
    best = 0.5
    before = 0.0
    for c in range(count + 1):
        there = crossings[order[c]] if c < count else 1.0
        if here < least and there - before > _NO_ROOM:
            least = here
            best = 0.5 * (before + there)
        if c < count:
            here += changes[order[c]]
            before = there
    for c in range(corners.shape[1]):
        shares[c] = (1.0 - best) * corners[start, c] + best * corners[end, c]
    return least
