"""Andrew's monotone chain (1979): the corners of a convex hull in the plane. Floats.

One text, run as it is for few points (planar_hulls.py) and compiled for many (polygon_areas.py): compiling takes longer
than a thousand small hulls, and both round alike.
"""

from __future__ import annotations

from typing import Any

# Dual points closer than this part of their size stand for one line given twice. Rounding moves a dual point by about
# 1e-16 of its size. Smaller: an edge without length appears, whose corners are 0/0. Larger: a short edge is lost.
_SAME = 1e-13


def chain(x: Any, y: Any, order: Any, hull: Any) -> int:
    """The corners of the hull of points, listed in `order` by x and then y, into `hull`; returns how many."""
    m = len(x)
    count = 0
    for a in range(m):
        while count >= 2 and right_turn(x, y, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    lower = count
    for a in range(m - 2, -1, -1):
        while count > lower and right_turn(x, y, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    # The chain ends where it began. Corners that are equal up to rounding stand for one halfspace given twice.
    kept = 0
    for c in range(count - 1):
        if kept == 0 or not coincide(x, y, hull[kept - 1], hull[c]):
            hull[kept] = hull[c]
            kept += 1
    while kept > 1 and coincide(x, y, hull[kept - 1], hull[0]):
        kept -= 1
    return max(kept, 1)


def coincide(x: Any, y: Any, a: int, b: int) -> bool:
    """Whether two points are one up to rounding."""
    apart = max(abs(x[a] - x[b]), abs(y[a] - y[b]))
    return apart <= _SAME * max(abs(x[a]), abs(y[a]))


def right_turn(x: Any, y: Any, a: int, b: int, c: int) -> bool:
    """Whether the way from a over b to c does not turn left."""
    return (x[b] - x[a]) * (y[c] - y[a]) <= (y[b] - y[a]) * (x[c] - x[a])
