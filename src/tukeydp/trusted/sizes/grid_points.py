"""The grid points of a region: its tight box, and counting them up to a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import LIMIT
from tukeydp.trusted.sizes.linear_programs import Region, maximum

# Speed and memory only: values of a column, beginnings of points that are looked at together, and numbers held at once.
_MOST_VALUES, _VALUES_AT_ONCE, _MOST_NUMBERS = 16, 256, 2**22


def has_few_values(region: Region, box: Box) -> bool:
    """Whether the box has few values in each column, and products fit in 64 bits."""
    widest = max(b - a for a, b in zip(box.low, box.high, strict=True)) + 1
    if not 0 < widest <= _MOST_VALUES or widest * len(region.normals) > _MOST_NUMBERS:
        return False
    extent = max(map(abs, [*box.low, *box.high]))
    products = np.abs(region.normals).sum(axis=1).max() * max(1, extent)
    return bool(2 * products < LIMIT and np.abs(region.offsets).max() < LIMIT)


def counts_of_parts(region: Region, box: Box) -> Iterator[int]:
    """Numbers of grid points, part by part; the parts are disjoint and make up the region. Exact.

    The part about the centre of the box comes first: most points are there.
    """
    low, high = np.array(box.low, dtype=np.int64), np.array(box.high, dtype=np.int64)
    normals, offsets = region.normals.astype(np.int64), region.offsets.astype(np.int64)
    cutting = np.maximum(normals * low, normals * high).sum(axis=1) > offsets
    normals, offsets = normals[cutting], offsets[cutting]
    if not len(normals):
        yield box.size
        return
    d = normals.shape[1]
    # least[j], middle[j]: of all columns from j on, the least that they can add, and about what they add at the centre.
    zero = np.zeros((1, len(normals)), dtype=np.int64)
    least = np.vstack([np.cumsum(np.minimum(normals * low, normals * high).T[::-1], axis=0)[::-1], zero])
    middle = np.vstack([np.cumsum((normals * (low + high) // 2).T[::-1], axis=0)[::-1], zero])
    at_once = max(1, min(_VALUES_AT_ONCE, _MOST_NUMBERS // (_MOST_VALUES * len(normals))))
    stack = [(0, zero)]
    while stack:
        j, sums = stack.pop()
        values = np.arange(low[j], high[j] + 1)
        sums = (sums[:, np.newaxis] + values[:, np.newaxis] * normals[:, j]).reshape(-1, len(normals))
        sums = sums[(sums + least[j + 1] <= offsets).all(axis=1)]
        if j + 1 == d:
            yield len(sums)
            continue
        # The last on the stack comes next: the beginnings whose points stay farthest behind the halfspaces.
        sums = sums[np.argsort((sums + middle[j + 1] - offsets).max(axis=1), kind="stable")]
        parts = [sums[a : a + at_once] for a in range(0, len(sums), at_once)]
        stack += [(j + 1, part) for part in reversed(parts)]


# The grid points of a region: its tight box, and counting them up to a limit.


# Speed and memory only: counts are exact whatever they are.
_AT_ONCE = 2**16  # grid points looked at together
_NOT_WORTH_IT = 2**20  # to look at so many points takes no longer than the linear programs of a tight box
_ROWS_AT_ONCE = 16  # halfspaces after which the points outside are dropped

Ends = tuple[tuple[int, ...], tuple[int, ...]]
Bases = dict[int, tuple[int, ...]]


def count_up_to(limit: int, region: Region, box: Box) -> int:
    """How many grid points the region has, or `limit` if there are more. Exact; `box` contains them all."""
    few = box.size > 0 and has_few_values(region, box)
    parts = counts_of_parts(region, box) if few else (len(_inside(region, p)) for p in _small_boxes(region, box))
    found = 0
    for count in parts:
        found += count
        if found >= limit:
            return limit
    return found


def tight_ends(region: Region, bases: Bases | None = None) -> Ends | None:
    """Smallest and largest coordinate of a region, rounded to grid points inside; None if it is empty. Exact.

    `bases` remembers where the linear programs ended, to start from there next time.
    """
    bases = {} if bases is None else bases
    ends = []
    for i, objective in enumerate(units(region.d)):
        best = maximum(region, objective, bases.get(i))
        if best is None:
            return None
        bases[i] = best.basis
        ends.append(math.floor(best.value))
    return tuple(-b for b in ends[1::2]), tuple(ends[::2])


def units(d: int) -> list[list[int]]:
    """The axes' unit vectors, each followed by its opposite."""
    return [[sign * int(i == j) for i in range(d)] for j in range(d) for sign in (1, -1)]


def _small_boxes(region: Region, box: Box) -> Iterator[Box]:
    """Disjoint boxes of a few points each that cover the region's grid points: cut the narrowest column in two.

    The half with the centre comes first: most points are there.
    """
    d = region.d
    bases: Bases = {}
    stack = [box]
    while stack:
        part = stack.pop()
        if part.size <= _AT_ONCE:
            if part.size:
                yield part
            continue
        widths = [b - a for a, b in zip(part.low, part.high, strict=True)]
        column = min((w, j) for j, w in enumerate(widths) if w > 0)[1]
        middle = (part.low[column] + part.high[column]) // 2
        lower = Box(part.low, _replaced(part.high, column, middle))
        upper = Box(_replaced(part.low, column, middle + 1), part.high)
        for half in (upper, lower) if region.centre[column] <= middle else (lower, upper):
            if half.size <= _NOT_WORTH_IT:
                stack.append(half)
                continue
            bounds = np.minimum(region.offsets[-2 * d :], integers([*half.high, *(-a for a in half.low)]))
            ends = tight_ends(replace(region, offsets=np.concatenate([region.offsets[: -2 * d], bounds])), bases)
            if ends is not None:
                stack.append(Box(*ends))


def _replaced(ends: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*ends[:column], value, *ends[column + 1 :])


def _points(box: Box) -> IntArray:
    """All grid points of a box of few points."""
    rest = np.arange(box.size, dtype=np.int64)
    columns = []
    for a, b in zip(box.low, box.high, strict=True):
        rest, place = np.divmod(rest, b - a + 1)
        columns.append(a + place)
    return np.column_stack(columns)


def _inside(region: Region, box: Box) -> IntArray:
    """The region's grid points in a box of few points, one block of rows after another.

    Rows that no point of the box violates are left out; those that cut off most come first.
    """
    ends = region.normals * integers(list(box.low)), region.normals * integers(list(box.high))
    excess = np.maximum(*ends).sum(axis=1) - region.offsets
    cutting = np.flatnonzero(excess > 0)
    share = excess[cutting] / np.abs(region.normals[cutting]).sum(axis=1)
    cutting = cutting[np.argsort(-share.astype(np.float64), kind="stable")]
    normals, offsets = region.normals[cutting], region.offsets[cutting]
    # The envelope of exact depth has normals so long that a product may not fit in 64 bits: Python's integers then.
    largest = np.maximum(*map(np.abs, ends))[cutting].sum(axis=1)
    if max(largest.max(initial=0), np.abs(offsets).max(initial=0)) < LIMIT:
        normals, offsets = normals.astype(np.int64), offsets.astype(np.int64)
    points = _points(box)
    for start in range(0, len(cutting), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        products = (points if normals.dtype == np.int64 else integers(points)) @ normals[block].T
        points = points[(products <= offsets[block]).all(axis=1).astype(np.bool_)]
    return points
