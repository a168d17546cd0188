"""The middle order statistics of the projections of many rows: the few that can be among them are kept and sorted.

Two values, from the projections of a sample, are taken to enclose the ranks asked for (Floyd and Rivest 1975). All
projections are counted against them, so that a pair that does not enclose the ranks is noticed, whatever the rows are:
then that direction is sorted without them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import IntArray

# Speed and memory only, all of them.
MANY_ROWS = 2**17  # from here on the sample costs less than it saves
TOGETHER = 8  # directions whose projections are computed and counted together
_SAMPLE = 2**14  # rows in the sample, or up to twice as many
_ERRORS = 4.0  # how many standard errors of a sample's rank the two values are apart from it: one in 30,000 fails
_CHUNK = 2**13  # rows at a time: their projections on the directions taken together stay in the processor's cache
_EXACT_FLOAT = 2.0**53  # integers below this are floats, and so are sums of products that stay below it in any order
_SHORT = 2.0**31  # integers below this fit in 32 bits, which are sorted in half the time


def middle_ranks(rows: IntArray, directions: IntArray, out: int) -> IntArray:
    """The sorted projections on each direction without the `out` smallest and the `out` largest, 1 <= out < m / 2."""
    m = len(rows)
    computed, stored = _number_kinds(rows, directions)
    least, most = _enclosing(rows, directions, out, computed)
    below, kept = _counted(rows, directions.astype(computed), least, most, stored)
    found = np.empty((len(directions), m - 2 * out), dtype=np.int64)
    for row, v, under, some in zip(found, directions, below.tolist(), kept, strict=True):
        values = some
        if under > out or m - under - len(some) > out:
            values, under = rows @ v, 0
        first = out - under
        values.partition((first, first + m - 2 * out - 1))
        middle = values[first : first + m - 2 * out]
        middle.sort()
        row[:] = middle
    return found


def _number_kinds(rows: IntArray, directions: IntArray) -> tuple[Any, Any]:
    """What projections are computed and sorted in: floats and short integers where they are exact, which is faster."""
    largest = max(-int(rows.min()), int(rows.max()))
    span = float((np.abs(directions).astype(np.float64).sum(axis=1) * largest).max())
    if span >= _EXACT_FLOAT / 2:
        return np.int64, np.int64
    return np.float64, np.int32 if span < _SHORT / 2 else np.int64


def _enclosing(rows: IntArray, directions: IntArray, out: int, kind: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each direction two values, likely ones, with at most `out` projections below the one and above the other."""
    some = directions @ np.ascontiguousarray(rows[:: max(1, len(rows) // _SAMPLE)].T)
    s = some.shape[1]
    margin = math.ceil(_ERRORS * math.sqrt(s) / 2.0)
    at = max(0, out * s // len(rows) - margin)
    some.partition([at, s - 1 - at], axis=1)
    return some[:, at : at + 1].astype(kind), some[:, s - 1 - at : s - at].astype(kind)


def _counted(
    rows: IntArray, directions: NDArray[Any], least: NDArray[Any], most: NDArray[Any], stored: Any
) -> tuple[IntArray, list[NDArray[Any]]]:
    """How many projections on each direction are below `least`, and those from `least` to `most`."""
    below = np.zeros(len(directions), dtype=np.int64)
    kept: list[list[NDArray[Any]]] = [[] for _ in directions]
    for start in range(0, len(rows), _CHUNK):
        some = np.ascontiguousarray(rows[start : start + _CHUNK].T).astype(directions.dtype, copy=False)
        projected = directions @ some
        inside = projected >= least
        below += some.shape[1] - np.count_nonzero(inside, axis=1)
        inside &= projected <= most
        for parts, values, chosen in zip(kept, projected, inside, strict=True):
            parts.append(np.compress(chosen, values).astype(stored, copy=False))
    return below, [np.concatenate(parts) for parts in kept]
