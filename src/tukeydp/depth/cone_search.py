"""The compiled loop of `cones`: cones of halfspace normals, cut in two until each is proven or a corner refutes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.trusted.compiled_code import compiled

PROVEN, REFUTED, IN_DOUBT, NO_ROOM = 1, 0, -1, -2


def _searched(
    vectors: Any,
    weights: Any,
    margins: Any,
    least: float,
    together: Any,
    extra: float,
    work: int,
    deepest: int,
    pool: Any,
) -> Any:
    """`search`, all vectors of a cone together. Weights are whole numbers: their sums are exact in any order."""
    m, d = vectors.shape
    ends, left = [0] * (deepest + 2), np.zeros((deepest + 1, 3), dtype=np.int64)
    sure = np.zeros((deepest + 1, 2))
    corners = np.zeros((deepest + 1, d, d))
    normal = np.zeros(d)
    group = together.sum()
    rows = np.column_stack([vectors, margins, weights, np.arange(m)])
    for signs in range(2 ** (d - 1)):
        side = np.array([-1.0 if (signs >> a) & 1 else 1.0 for a in range(d)])
        corners[0] = np.diag(side)
        products = vectors * side
        above, below = (products > margins[:, np.newaxis]).all(axis=1), (products < -margins[:, np.newaxis]).all(axis=1)
        opened = ~(above | below)
        end = int(opened.sum())
        pool[:end] = rows[opened]
        pool[:end, :d] = products[opened]
        inside, outside = weights[above].sum(), weights[below].sum()
        t = -1
        if inside < least or outside < least:
            t = 0
            ends[0], ends[1], left[0, 2], sure[0] = 0, end, 0, (inside, outside)
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return IN_DOUBT, normal, start, end if work >= 0 else start
                if 2 * end - start > len(pool):
                    return NO_ROOM, normal, start, end
                _edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            some = pool[start:end].copy()
            margin, weight = some[:, d], some[:, d + 1]
            middle = 0.5 * (some[:, a] + some[:, b])
            near, far = weight[middle >= -margin].sum(), weight[middle <= margin].sum()
            if sure[t, 0] + near < least or sure[t, 1] + far < least:
                sign = 0.5 if sure[t, 0] + near < least else -0.5
                return REFUTED, sign * (corners[t, a] + corners[t, b]), start, end
            some[:, moved] = middle
            above = (some[:, :d] > margin[:, np.newaxis]).all(axis=1)
            below = (some[:, :d] < -margin[:, np.newaxis]).all(axis=1)
            inside, outside = sure[t, 0] + weight[above].sum(), sure[t, 1] + weight[below].sum()
            still = some[~(above | below)]
            pool[end : end + len(still)] = still
            more = extra if together[still[:, d + 2].astype(np.int64)].sum() == group else 0.0
            if inside + more < least or outside + more < least:
                corners[t + 1] = corners[t]
                corners[t + 1, moved] = 0.5 * (corners[t, a] + corners[t, b])
                t += 1
                ends[t + 1], left[t, 2], sure[t] = end + len(still), 0, (inside, outside)
    return PROVEN, normal, 0, 0


def _edge(opened: Any, corners: Any, edge: Any) -> None:
    """`_choose_edge`, all vectors together."""
    d = len(corners)
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            crossed = opened[opened[:, a] * opened[:, b] <= 0.0, d + 1].sum()
            longer = crossed * length_of(corners, a, b)
            if longer > best:
                best = longer
                edge[0], edge[1] = a, b


def length_of(corners: Any, a: int, b: int) -> float:
    """Of an edge, added up in order."""
    length = 0.0
    for difference in np.abs(corners[a] - corners[b]).tolist():
        length += difference
    return length


@compiled(plain=_searched)
def search(
    vectors: Any,
    weights: Any,
    margins: Any,
    least: float,
    together: Any,
    extra: float,
    work: int,
    deepest: int,
    pool: Any,
) -> Any:
    """Whether every generic open halfspace weighs at least `least`; a normal if refuted; the pool's open rows in doubt.

    A cone is spanned by d corners. Vectors whose products with all corners are beyond their margin on one side are on
    that side of every normal of the cone; the others are *open*. A row of `pool` is an open vector of a cone on the
    path from the root: its products with the corners, its margin, its weight and its number. Of the vectors that are
    `together` every halfspace has at least the weight `extra`. `work` is the most open vectors looked at in all,
    `deepest` the most cuts on a path.
    """
    m, d = vectors.shape
    ends = np.zeros(deepest + 2, dtype=np.int64)  # the pool's rows of cone t are ends[t] ... ends[t + 1] - 1
    left = np.zeros((deepest + 1, 3), dtype=np.int64)  # the edge to cut, and how many halves were looked at
    sure = np.zeros((deepest + 1, 2))  # weights surely inside, surely outside
    corners = np.zeros((deepest + 1, d, d))
    normal = np.zeros(d)
    group = together.sum()
    for signs in range(2 ** (d - 1)):  # opposite normals are looked at together
        for a in range(d):
            corners[0, a, :] = 0.0
            corners[0, a, a] = -1.0 if (signs >> a) & 1 else 1.0
        inside = 0.0
        outside = 0.0
        end = 0
        for i in range(m):
            above = 0
            below = 0
            for a in range(d):
                product = vectors[i, a] * corners[0, a, a]
                pool[end, a] = product
                above += product > margins[i]
                below += product < -margins[i]
            if above == d:
                inside += weights[i]
            elif below == d:
                outside += weights[i]
            else:
                pool[end, d] = margins[i]
                pool[end, d + 1] = weights[i]
                pool[end, d + 2] = i
                end += 1
        t = -1
        if inside < least or outside < least:
            t = 0
            ends[0], ends[1], left[0, 2] = 0, end, 0
            sure[0, 0], sure[0, 1] = inside, outside
        while t >= 0:
            start, end = ends[t], ends[t + 1]
            if left[t, 2] == 2:
                t -= 1
                continue
            if left[t, 2] == 0:
                work -= end - start
                if t >= deepest or work < 0:
                    return IN_DOUBT, normal, start, end if work >= 0 else start
                if 2 * end - start > len(pool):
                    return NO_ROOM, normal, start, end
                _choose_edge(pool[start:end], corners[t], left[t])
            a, b = left[t, 0], left[t, 1]
            moved = a if left[t, 2] == 0 else b
            left[t, 2] += 1
            inside, outside = sure[t, 0], sure[t, 1]
            near = far = 0.0
            fresh = end
            opened = 0
            for i in range(start, end):
                margin = pool[i, d]
                middle = 0.5 * (pool[i, a] + pool[i, b])
                above = 0
                below = 0
                for c in range(d):
                    product = middle if c == moved else pool[i, c]
                    pool[fresh, c] = product
                    above += product > margin
                    below += product < -margin
                weight = pool[i, d + 1]
                if middle >= -margin:
                    near += weight
                if middle <= margin:
                    far += weight
                if above == d:
                    inside += weight
                elif below == d:
                    outside += weight
                else:
                    pool[fresh, d] = margin
                    pool[fresh, d + 1] = weight
                    pool[fresh, d + 2] = pool[i, d + 2]
                    opened += together[int(pool[i, d + 2])]
                    fresh += 1
            if sure[t, 0] + near < least or sure[t, 1] + far < least:
                sign = 0.5 if sure[t, 0] + near < least else -0.5
                for c in range(d):
                    normal[c] = sign * (corners[t, a, c] + corners[t, b, c])
                return REFUTED, normal, start, end
            some = extra if opened == group else 0.0
            if inside + some < least or outside + some < least:
                for c in range(d):
                    for e in range(d):
                        corners[t + 1, c, e] = corners[t, c, e]
                for e in range(d):
                    corners[t + 1, moved, e] = 0.5 * (corners[t, a, e] + corners[t, b, e])
                t += 1
                ends[t + 1], left[t, 2] = fresh, 0
                sure[t, 0], sure[t, 1] = inside, outside
    return PROVEN, normal, 0, 0


@compiled(plain=_edge)
def _choose_edge(opened: Any, corners: Any, edge: Any) -> None:
    """The edge that most weight of open vectors changes sides along, for its length."""
    d = len(corners)
    best = -1.0
    for a in range(d):
        for b in range(a + 1, d):
            crossed = 0.0
            for i in range(len(opened)):
                if opened[i, a] * opened[i, b] <= 0.0:
                    crossed += opened[i, d + 1]
            length = 0.0
            for c in range(d):
                length += abs(corners[a, c] - corners[b, c])
            if crossed * length > best:
                best = crossed * length
                edge[0], edge[1] = a, b
