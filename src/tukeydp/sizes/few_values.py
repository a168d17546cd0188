"""Grid points of a region whose box has few values in each column: one column after the other.

The first columns of a point are given up as soon as no others can bring it back behind some halfspace. In many columns
nearly all points of a box are given up after a few of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tukeydp.exact.linear_programs import Region
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.rows import LIMIT

# Speed and memory only: values of a column, beginnings of points that are looked at together, and numbers held at once.
_MOST_VALUES, _AT_ONCE, _MOST_NUMBERS = 16, 256, 2**22


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
    at_once = max(1, min(_AT_ONCE, _MOST_NUMBERS // (_MOST_VALUES * len(normals))))
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
