"""The compiled loop of `cones.all_deep`: many points at once, each normal for the point that is farthest along it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tukeydp.depth.cone_search import IN_DOUBT, NO_ROOM, PROVEN, REFUTED, choose_edge


@njit(nogil=True, cache=True)
def search_hull(
    rows: Any, weights: Any, margins: Any, points: Any, least: float, work: int, deepest: int, pool: Any
) -> Any:
    """Whether every halfspace with a point on its edge and none beyond weighs at least `least`; a point if refuted.

    Rows and points are given by their products with d independent normals, from where all cones are spanned. For a
    normal v let h(v) be the largest product of a point. It is convex, so that in a cone h is at most what it is
    between the corners: a row whose product exceeds h at all corners, beyond its margin, exceeds it for every normal of
    the cone. A row whose product is below that of one and the same point at all corners never exceeds h. The others are
    *open*: a row of `pool` holds its products less h at the corners, its margin, its weight and its number.
    """
    m, d = rows.shape
    ends = np.zeros(deepest + 2, dtype=np.int64)
    left = np.zeros((deepest + 1, 3), dtype=np.int64)
    sure = np.zeros(deepest + 1)
    corners = np.zeros((deepest + 1, d, d))
    support = np.zeros((deepest + 1, d))  # h at the corners
    beyond = np.zeros(d)  # h at the corners, less what one point has there
    for signs in range(2**d):
        for a in range(d):
            corners[0, a, :] = 0.0
            corners[0, a, a] = -1.0 if (signs >> a) & 1 else 1.0
            support[0, a] = _farthest(points, corners[0, a])[0]
        inside = 0.0
        for i in range(m):
            above = 0
            for a in range(d):
                pool[i, a] = rows[i, a] * corners[0, a, a] - support[0, a]
                above += pool[i, a] > margins[i]
            if above == d:
                inside += weights[i]
        t = -1
        if inside < least:
            t = 0
            inside = 0.0
            _of_one(points, corners[0], support[0], beyond)
            end = 0
            for i in range(m):
                above = 0
                below = 0
                for a in range(d):
                    product = pool[i, a]
                    pool[end, a] = product
                    above += product > margins[i]
                    below += product + beyond[a] < -margins[i]
                if above == d:
                    inside += weights[i]
                elif below < d:
                    pool[end, d] = margins[i]
                    pool[end, d + 1] = weights[i]
                    pool[end, d + 2] = i
                    end += 1
            ends[0], ends[1], left[0, 2], sure[0] = 0, end, 0, inside
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return IN_DOUBT, 0
                if 2 * end - start > len(pool):
                    return NO_ROOM, 0
                choose_edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            for c in range(d):
                for e in range(d):
                    corners[t + 1, c, e] = corners[t, c, e]
                support[t + 1, c] = support[t, c]
            for e in range(d):
                corners[t + 1, moved, e] = 0.5 * (corners[t, a, e] + corners[t, b, e])
            support[t + 1, moved], farthest = _farthest(points, corners[t + 1, moved])
            shift = 0.5 * (support[t, a] + support[t, b]) - support[t + 1, moved]
            _of_one(points, corners[t + 1], support[t + 1], beyond)
            inside = sure[t]
            near = sure[t]
            fresh = end
            for i in range(start, end):
                margin = pool[i, d]
                middle = 0.5 * (pool[i, a] + pool[i, b]) + shift
                above = 0
                below = 0
                for c in range(d):
                    product = middle if c == moved else pool[i, c]
                    pool[fresh, c] = product
                    above += product > margin
                    below += product + beyond[c] < -margin
                weight = pool[i, d + 1]
                if middle >= -margin:
                    near += weight
                if above == d:
                    inside += weight
                elif below < d:
                    pool[fresh, d] = margin
                    pool[fresh, d + 1] = weight
                    pool[fresh, d + 2] = pool[i, d + 2]
                    fresh += 1
            if near < least:
                return REFUTED, farthest
            if inside < least:
                t += 1
                ends[t + 1], left[t, 2], sure[t] = fresh, 0, inside
    return PROVEN, 0


@njit(nogil=True, cache=True)
def _farthest(points: Any, normal: Any) -> Any:
    """The largest product of a point with a normal, and which point."""
    best = -np.inf
    which = 0
    for k in range(len(points)):
        product = 0.0
        for a in range(len(normal)):
            product += points[k, a] * normal[a]
        if product > best:
            best, which = product, k
    return best, which


@njit(nogil=True, cache=True)
def _of_one(points: Any, corners: Any, support: Any, beyond: Any) -> None:
    """By how much h exceeds, at each corner, the products of the point that is farthest along all together."""
    d = len(corners)
    together = np.zeros(d)
    for a in range(d):
        for e in range(d):
            together[e] += corners[a, e]
    _, which = _farthest(points, together)
    for a in range(d):
        product = 0.0
        for e in range(d):
            product += points[which, e] * corners[a, e]
        beyond[a] = support[a] - product
