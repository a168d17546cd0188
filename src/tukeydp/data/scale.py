"""About where a table lies and how large it is: hints for floats, which decide nothing. Not private.

`ordered` is an array of rows with each column sorted by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import FloatArray


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
