"""About where a table lies and how large it is: hints for floats, which decide nothing. Not private.

`ordered` is an array of rows with each column sorted by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import FloatArray, IntArray

# A column may be mostly one value: then its scale is its whole range over this. A wrong value costs speed only.
_WHOLE_RANGES = 1000.0


def middle_range(ordered: NDArray[Any]) -> FloatArray:
    """The first positive range of each column's middle half, three quarters, ..., all; zero if all are equal."""
    last = len(ordered) - 1
    found = np.zeros(ordered.shape[1])
    cut = len(ordered) // 4
    while True:
        found = np.where(found > 0, found, ordered[last - cut] - ordered[cut])
        if cut == 0:
            return found
        cut //= 2


def centre_and_scale(ordered: IntArray) -> tuple[IntArray, FloatArray]:
    """The middle value of each column of grid points, and its interquartile range or what is left of it, at least 1."""
    quarter = len(ordered) // 4
    spread = (ordered[-1 - quarter] - ordered[quarter]).astype(np.float64)
    whole = (ordered[-1] - ordered[0]).astype(np.float64)
    return ordered[len(ordered) // 2], np.maximum(np.maximum(spread, whole / _WHOLE_RANGES), 1.0)
