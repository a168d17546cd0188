"""Convex hulls in the plane. Floats."""

from __future__ import annotations

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.geometry.monotone_chain import chain

_MANY_POINTS = 2000  # from here on the hull is compiled; speed only


def planar_hull(points: FloatArray) -> IntArray:
    """Indices of the corners of the convex hull, counterclockwise."""
    x, y = points.T
    order = np.lexsort((y, x))
    hull = np.empty(2 * len(points) + 2, dtype=np.int64)
    if len(points) >= _MANY_POINTS:
        from tukeydp.geometry.polygon_areas import compiled_chain

        return hull[: compiled_chain(x.copy(), y.copy(), order, hull)].copy()
    found = hull.tolist()
    return np.array(found[: chain(x.tolist(), y.tolist(), order.tolist(), found)], dtype=np.int64)
