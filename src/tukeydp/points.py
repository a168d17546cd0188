"""Counting the grid points of a region, up to a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tukeydp.certificates import Box
from tukeydp.grid import IntArray
from tukeydp.linear import Region, integers, maximum

_AT_ONCE = 2**16


def count_up_to(limit: int, region: Region, box: Box) -> int:
    """How many grid points the region has, or `limit` if there are more. Exact; `box` contains them all."""
    found = 0
    for part in _small_boxes(region, box):
        found += int(_inside(region, _points(part)).sum())
        if found >= limit:
            return limit
    return found


def points_of(region: Region, box: Box) -> Iterator[IntArray]:
    """The region's grid points, one by one; `box` contains them all."""
    for part in _small_boxes(region, box):
        points = _points(part)
        yield from points[_inside(region, points)]


def _small_boxes(region: Region, box: Box) -> Iterator[Box]:
    """Disjoint boxes of a few points each that cover the region's grid points: cut the narrowest column in two."""
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
        for half in (upper, lower):
            tight = _tightened(region, half)
            if tight is not None:
                stack.append(tight)


def _tightened(region: Region, box: Box) -> Box | None:
    """The tight box of what the region has inside `box`; None if that is nothing."""
    d = region.d
    ends = integers([*box.high, *(-a for a in box.low)])
    part = replace(
        region, offsets=np.concatenate([region.offsets[: -2 * d], np.minimum(region.offsets[-2 * d :], ends)])
    )
    ends_found: list[list[int]] = [[], []]
    for j in range(d):
        for side, sign in enumerate((-1, 1)):
            best = maximum(part, [sign * int(i == j) for i in range(d)])
            if best is None:
                return None
            ends_found[side].append(sign * math.floor(best.value))
    return Box(tuple(ends_found[0]), tuple(ends_found[1]))


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


def _inside(region: Region, points: IntArray) -> NDArray[np.bool_]:
    try:
        # Grid points of the public box: their projections on public directions fit in 64 bits, as do all offsets.
        normals, offsets = region.normals.astype(np.int64), region.offsets.astype(np.int64)
        return np.asarray((points @ normals.T <= offsets).all(axis=1))
    except OverflowError:
        return np.asarray((integers(points) @ region.normals.T <= region.offsets).all(axis=1), dtype=np.bool_)
