"""Small regions with integer halfspaces."""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes.linear_programs import Region


def region(normals, offsets, bound: int) -> Region:
    """{normals y <= offsets, |y| <= bound}."""
    normals = np.asarray(normals, dtype=np.int64)
    d = normals.shape[1]
    normals[~normals.any(axis=1), 0] = 1  # directions are never zero
    units = np.eye(d, dtype=np.int64)
    return Region(
        integers(np.vstack([normals, units, -units])),
        integers([*map(int, offsets), *([bound] * 2 * d)]),
        integers(np.zeros(d, dtype=np.int64)),
        np.full(d, float(bound)),
    )


def ends(d: int, bound: int):
    return integers(np.full(d, -bound)), integers(np.full(d, bound))
