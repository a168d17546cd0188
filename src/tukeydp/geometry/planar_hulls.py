"""Compiled convex hulls in the plane, and by them areas of polygons {z : normals z <= slacks} around the origin.

The lines that bound such a polygon are the corners of the hull of the dual points normal / slack. Floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# Dual points closer than this part of their size stand for one line given twice. Rounding moves a dual point by about
# 1e-16 of its size. Smaller: an edge without length appears, whose corners are 0/0. Larger: a short edge is lost.
_SAME = 1e-13


@njit(nogil=True, cache=True)
def planar_hull(points: Any, hull: Any) -> int:
    """Indices of the corners of the convex hull, counterclockwise, into `hull`; returns how many.

    Andrew's monotone chain (1979).
    """
    m = len(points)
    order = np.argsort(points[:, 0], kind="mergesort")
    # Equal first coordinates: by the second.
    for a in range(1, m):
        b = a
        while (
            b > 0 and points[order[b], 0] == points[order[b - 1], 0] and points[order[b], 1] < points[order[b - 1], 1]
        ):
            order[b], order[b - 1] = order[b - 1], order[b]
            b -= 1
    count = 0
    for a in range(m):
        while count >= 2 and _right_turn(points, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    lower = count
    for a in range(m - 2, -1, -1):
        while count > lower and _right_turn(points, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    # The chain ends where it began. Corners that are equal up to rounding stand for one halfspace given twice.
    kept = 0
    for c in range(count - 1):
        if kept == 0 or not _coincide(points, hull[kept - 1], hull[c]):
            hull[kept] = hull[c]
            kept += 1
    while kept > 1 and _coincide(points, hull[kept - 1], hull[0]):
        kept -= 1
    return max(kept, 1)


@njit(nogil=True, cache=True)
def _coincide(points: Any, a: int, b: int) -> bool:
    apart = max(abs(points[a, 0] - points[b, 0]), abs(points[a, 1] - points[b, 1]))
    return apart <= _SAME * max(abs(points[a, 0]), abs(points[a, 1]))


@njit(nogil=True, cache=True)
def _right_turn(points: Any, a: int, b: int, c: int) -> bool:
    return (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) <= (points[b, 1] - points[a, 1]) * (
        points[c, 0] - points[a, 0]
    )


@njit(nogil=True, cache=True, error_model="numpy")
def polygon_areas(normals: Any, slacks: Any, sums: Any) -> None:
    """Areas of {normals z <= slack} in the plane, one for each row of slacks, all positive (the origin is inside)."""
    k = len(normals)
    hull = np.empty(2 * k + 2, dtype=np.int64)
    dual = np.empty((k, 2))
    for row in range(len(slacks)):
        for i in range(k):
            dual[i, 0] = normals[i, 0] / slacks[row, i]
            dual[i, 1] = normals[i, 1] / slacks[row, i]
        count = planar_hull(dual, hull)
        twice = 0.0
        for c in range(count):
            h, i, j = hull[c - 1 if c else count - 1], hull[c], hull[c + 1 if c + 1 < count else 0]
            # The edge on line i runs from the corner with line h to the corner with line j.
            before = normals[h, 0] * normals[i, 1] - normals[h, 1] * normals[i, 0]
            after = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
            one = (slacks[row, h] - slacks[row, i] * _dot(normals, h, i)) / before
            two = (slacks[row, j] - slacks[row, i] * _dot(normals, i, j)) / after
            twice += slacks[row, i] * (one + two)
        sums[row] = 0.5 * twice


@njit(nogil=True, cache=True)
def _dot(normals: Any, i: int, j: int) -> float:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]
