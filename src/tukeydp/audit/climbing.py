"""Hill climbing over tables and swaps of one row: a stubborn adversary who never gets tired of small changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from tukeydp.arrays import FloatArray

Score = TypeVar("Score", float, tuple[float, float])
Row = Callable[[np.random.Generator], FloatArray]


def climb(
    score: Callable[[FloatArray, FloatArray], Score], n: int, row: Row, steps: int, random: np.random.Generator
) -> Score:
    """The largest score of (table, neighbour) that was found. A step redraws a row of the table, or the swapped one."""
    x = np.array([row(random) for _ in range(n)])
    place, other = int(random.integers(n)), row(random)
    best = score(x, _swapped(x, place, other))
    for _ in range(steps):
        tried, tried_place, tried_other = x.copy(), place, other
        kind = random.random()
        if kind < 0.6:
            tried[random.integers(n)] = row(random)
        elif kind < 0.9:
            tried_other = row(random)
        else:
            tried_place = int(random.integers(n))
        found = score(tried, _swapped(tried, tried_place, tried_other))
        if found >= best:
            best, x, place, other = found, tried, tried_place, tried_other
    return best


def _swapped(x: FloatArray, place: int, other: FloatArray) -> FloatArray:
    swapped = x.copy()
    swapped[place] = other
    return swapped
