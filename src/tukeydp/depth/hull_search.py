"""The compiled loop of `cones.all_deep`: many points at once, each normal for the point that is farthest along it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled
from tukeydp.depth.cone_search import IN_DOUBT, NO_ROOM, PROVEN, REFUTED, length_of


def _searched(
    rows: Any, weights: Any, margins: Any, points: Any, least: float, work: int, deepest: int, pool: Any
) -> Any:
    """`search_hull`, all rows of a cone together. Weights are whole numbers: their sums are exact in any order."""
    d = rows.shape[1]
    every, bits = 2**d - 1, 1 << np.arange(d)
    ends, left = [0] * (deepest + 2), np.zeros((deepest + 1, 3), dtype=np.int64)
    sure = np.zeros(deepest + 1)
    corners, support = np.zeros((deepest + 1, d, d)), np.zeros((deepest + 1, d))
    beyond = np.zeros(d)
    for signs in range(2**d):
        side = np.array([-1.0 if (signs >> a) & 1 else 1.0 for a in range(d)])
        corners[0] = np.diag(side)
        for a in range(d):
            support[0, a] = _far(points, corners[0, a])[0]
        products = rows * side - support[0]
        above = (products > margins[:, np.newaxis]) @ bits
        opened = above != every
        end = int(opened.sum())
        pool[:end] = np.column_stack([products, margins, weights, above])[opened]
        inside = weights[~opened].sum()
        t = -1
        if inside < least:
            t = 0
            ends[0], ends[1], left[0, 2], sure[0] = 0, end, 0, inside
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return IN_DOUBT, corners[0, 0]
                if 2 * end - start > len(pool):
                    return NO_ROOM, corners[0, 0]
                _edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            corners[t + 1], support[t + 1] = corners[t], support[t]
            corners[t + 1, moved] = 0.5 * (corners[t, a] + corners[t, b])
            support[t + 1, moved] = _far(points, corners[t + 1, moved])[0]
            shift = 0.5 * (support[t, a] + support[t, b]) - support[t + 1, moved]
            _all_of_one(points, corners[t + 1], support[t + 1], beyond)
            some = pool[start:end].copy()
            margin, weight = some[:, d], some[:, d + 1]
            middle = 0.5 * (some[:, a] + some[:, b]) + shift
            above = some[:, d + 2].astype(np.int64) & ~(1 << moved) | ((middle > margin).astype(np.int64) << moved)
            if sure[t] + weight[middle >= -margin].sum() < least:
                return REFUTED, corners[t + 1, moved]
            some[:, moved], some[:, d + 2] = middle, above
            inside = sure[t] + weight[above == every].sum()
            below = (above == 0) & (some[:, :d] + beyond < -margin[:, np.newaxis]).all(axis=1)
            still = some[(above != every) & ~below]
            pool[end : end + len(still)] = still
            if inside < least:
                t += 1
                ends[t + 1], left[t, 2], sure[t] = end + len(still), 0, inside
    return PROVEN, corners[0, 0]


def _edge(opened: Any, corners: Any, edge: Any) -> None:
    """`_choose_edge`, all rows together."""
    d = len(corners)
    sides = np.arange(2**d)
    by_sides = np.bincount(opened[:, d + 2].astype(np.int64), weights=opened[:, d + 1], minlength=2**d)
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            longer = by_sides[(sides >> a) & 1 != (sides >> b) & 1].sum() * length_of(corners, a, b)
            if longer > best:
                best = longer
                edge[0], edge[1] = a, b


def _far(points: Any, normal: Any) -> Any:
    """`_farthest`, all points together."""
    product = np.zeros(len(points))
    for a in range(len(normal)):
        product += points[:, a] * normal[a]
    which = int(product.argmax()) if len(points) else 0
    return (product[which] if len(points) else -np.inf), which


def _all_of_one(points: Any, corners: Any, support: Any, beyond: Any) -> None:
    """`_of_one` on whole arrays."""
    together, products = np.zeros(len(corners)), np.zeros(len(corners))
    for corner in corners:
        together += corner
    which = _far(points, together)[1]
    for e in range(len(corners)):
        products += points[which, e] * corners[:, e]
    beyond[:] = support - products


@compiled(plain=_searched)
def search_hull(
    rows: Any, weights: Any, margins: Any, points: Any, least: float, work: int, deepest: int, pool: Any
) -> Any:
    """Whether every halfspace with a point on its edge and none beyond weighs at least `least`; a normal if refuted.

    Rows and points are given by their products with d independent normals, from where all cones are spanned. For a
    normal v let h(v) be the largest product of a point. It is convex, so that in a cone h is at most what it is
    between the corners: a row whose product exceeds h at all corners, beyond its margin, exceeds it for every normal of
    the cone. A row whose product is below that of one and the same point at all corners never exceeds h. The others are
    *open*: a row of `pool` holds its products less h at the corners, its margin, its weight, and a bit for each corner
    where it is beyond the margin.
    """
    m, d = rows.shape
    every = 2**d - 1
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
        end = 0
        for i in range(m):
            above = 0
            for a in range(d):
                pool[end, a] = rows[i, a] * corners[0, a, a] - support[0, a]
                if pool[end, a] > margins[i]:
                    above |= 1 << a
            if above == every:
                inside += weights[i]
            else:
                pool[end, d], pool[end, d + 1], pool[end, d + 2] = margins[i], weights[i], above
                end += 1
        t = -1
        if inside < least:
            t = 0
            ends[0], ends[1], left[0, 2], sure[0] = 0, end, 0, inside
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return IN_DOUBT, corners[0, 0]
                if 2 * end - start > len(pool):
                    return NO_ROOM, corners[0, 0]
                _choose_edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            for c in range(d):
                for e in range(d):
                    corners[t + 1, c, e] = corners[t, c, e]
                support[t + 1, c] = support[t, c]
            for e in range(d):
                corners[t + 1, moved, e] = 0.5 * (corners[t, a, e] + corners[t, b, e])
            support[t + 1, moved] = _farthest(points, corners[t + 1, moved])[0]
            shift = 0.5 * (support[t, a] + support[t, b]) - support[t + 1, moved]
            _of_one(points, corners[t + 1], support[t + 1], beyond)
            inside = near = sure[t]
            bit = 1 << moved
            fresh = end
            for i in range(start, end):
                margin, weight = pool[i, d], pool[i, d + 1]
                middle = 0.5 * (pool[i, a] + pool[i, b]) + shift
                above = int(pool[i, d + 2]) & ~bit
                if middle > margin:
                    above |= bit
                if middle >= -margin:
                    near += weight
                if above == every:
                    inside += weight
                    continue
                for c in range(d):
                    pool[fresh, c] = pool[i, c]
                pool[fresh, moved] = middle
                if above == 0:
                    below = 0
                    for c in range(d):
                        below += pool[fresh, c] + beyond[c] < -margin
                    if below == d:
                        continue
                pool[fresh, d], pool[fresh, d + 1], pool[fresh, d + 2] = margin, weight, above
                fresh += 1
            if near < least:
                return REFUTED, corners[t + 1, moved]
            if inside < least:
                t += 1
                ends[t + 1], left[t, 2], sure[t] = fresh, 0, inside
    return PROVEN, corners[0, 0]


@compiled(plain=_edge)
def _choose_edge(opened: Any, corners: Any, edge: Any) -> None:
    """The edge that most weight of open rows changes sides along, for its length."""
    d = len(corners)
    by_sides = np.zeros(2**d)
    for i in range(len(opened)):
        by_sides[int(opened[i, d + 2])] += opened[i, d + 1]
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            crossed = 0.0
            for sides in range(2**d):
                if (sides >> a) & 1 != (sides >> b) & 1:
                    crossed += by_sides[sides]
            length = 0.0
            for c in range(d):
                length += abs(corners[a, c] - corners[b, c])
            if crossed * length > best:
                best = crossed * length
                edge[0], edge[1] = a, b


@compiled(plain=_far)
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


@compiled(plain=_all_of_one)
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
