"""The grid points of a region: its tight box, and counting them up to a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tukeydp.exact.linear_programs import Region, maximum
from tukeydp.sizes.few_values import counts_of_parts, has_few_values
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import LIMIT

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


def points_of(region: Region, box: Box) -> Iterator[IntArray]:
    """The region's grid points, one by one; `box` contains them all."""
    for part in _small_boxes(region, box):
        yield from _inside(region, part)


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
