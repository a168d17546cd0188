"""The loop of branch and bound, compiled: the heaviest box is capped, or cut in two."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.hints.programs import Slopes, certified, program
from tukeydp.trusted.compiled_code import compiled_in_memory
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.records import Ranks
from tukeydp.trusted.sampling.loops import depth_of

_FRACTIONAL = 1e-6  # of a grid step: how far from an integer a coordinate must be to be worth a cut there. Speed only


class Nodes(NamedTuple):
    """Disjoint boxes that cover the root, one a row; the first `count` are in use.

    `weight` is the log of (e^(epsilon/2))^cap times the number of points, `heap` a heap by it, the heaviest first. A
    node that is `open` has its parent's cap so far. `column` and `cut` say how to split it, -1 if it is a single point.

    How each came about, so that whoever does not trust this can check it: node i was split off `parent` beyond the
    coordinate `at` of the column `along`, and multipliers `values` of the directions `rows` prove its cap.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    cap: IntArray
    basis: NDArray[np.int32]
    weight: FloatArray
    open: NDArray[np.bool_]
    column: IntArray
    cut: IntArray
    heap: IntArray
    parent: IntArray
    along: IntArray
    at: IntArray
    rows: IntArray
    values: IntArray


@compiled_in_memory
def grow(nodes: Nodes, count: int, most: int, steps: int, half_epsilon: float, ranks: Ranks, slopes: Slopes) -> Any:
    """Take the heaviest node, so many times: cap it if it is open, else split it.

    Returns the number of nodes, of steps taken, and the depth of the deepest point found.
    """
    deepest = 0
    taken = 0
    while taken < steps and count < most:
        here = nodes.heap[0]
        if nodes.open[here]:
            deepest = max(deepest, _cap(nodes, here, ranks, slopes, deepest))
            nodes.weight[here] = _log_weight(nodes, here, half_epsilon)
            _sink(nodes, count)
            taken += 1
        elif nodes.column[here] < 0:
            break
        else:
            _split(nodes, here, count)
            nodes.weight[here] = _log_weight(nodes, here, half_epsilon)
            _sink(nodes, count)
            nodes.weight[count] = _log_weight(nodes, count, half_epsilon)
            nodes.heap[count] = count
            count += 1
            _rise(nodes, count - 1)
    return count, taken, deepest


@compiled_in_memory
def _log_weight(nodes: Nodes, here: int, half_epsilon: float) -> float:
    total = half_epsilon * nodes.cap[here]
    for j in range(nodes.low.shape[1]):
        total += math.log(nodes.high[here, j] - nodes.low[here, j] + 1.0)
    return total


@compiled_in_memory
def _split(nodes: Nodes, here: int, fresh: int) -> None:
    """Two open nodes in place of one: up to the cut, and beyond it."""
    for i in range(nodes.low.shape[1]):
        nodes.low[fresh, i] = nodes.low[here, i]
        nodes.high[fresh, i] = nodes.high[here, i]
    for i in range(nodes.basis.shape[1]):
        nodes.basis[fresh, i] = nodes.basis[here, i]
        nodes.rows[fresh, i] = nodes.rows[here, i]
        nodes.values[fresh, i] = nodes.values[here, i]
    nodes.cap[fresh] = nodes.cap[here]
    j = nodes.column[here]
    nodes.parent[fresh], nodes.along[fresh], nodes.at[fresh] = here, j, nodes.cut[here]
    nodes.high[here, j] = nodes.cut[here]
    nodes.low[fresh, j] = nodes.cut[here] + 1
    nodes.open[here] = nodes.open[fresh] = True


@compiled_in_memory
def _sink(nodes: Nodes, count: int) -> None:
    """The first of the heap may have become lighter: move it down."""
    heap, weight = nodes.heap, nodes.weight
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and weight[heap[child + 1]] > weight[heap[child]]:
            child += 1
        if weight[heap[child]] <= weight[heap[at]]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@compiled_in_memory
def _rise(nodes: Nodes, at: int) -> None:
    heap, weight = nodes.heap, nodes.weight
    while at and weight[heap[at]] > weight[heap[(at - 1) // 2]]:
        heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
        at = (at - 1) // 2


@compiled_in_memory
def _cap(nodes: Nodes, here: int, ranks: Ranks, slopes: Slopes, deepest: int) -> int:
    """Lower a node's cap as far as its program proves, and choose where to split it; the depth of one of its points,
    or a number up to `deepest`.
    """
    low, high = nodes.low[here], nodes.high[here]
    nodes.open[here] = False
    nodes.column[here] = -1
    d = len(low)
    point = low.copy()
    widest = 0
    for j in range(d):
        if high[j] - low[j] > high[widest] - low[widest]:
            widest = j
    if high[widest] == low[widest]:
        depth = depth_of(point, ranks, 0)
        # Equal projections may run on past both ends of the ranks: then they do not tell.
        if depth < ranks.highest:
            nodes.cap[here] = min(nodes.cap[here], depth)
        return depth
    if nodes.cap[here] <= ranks.left_out:  # below what the ranks tell of: no program, and nothing to gain by a cut
        return 0
    z, multipliers = program(low, high, nodes.cap[here], nodes.basis[here], ranks, slopes)
    cap = certified(multipliers, low, high, nodes.cap[here], ranks)
    if cap < nodes.cap[here]:
        nodes.cap[here] = cap
        _note(nodes, here, multipliers)
    column, farthest = widest, _FRACTIONAL
    for j in range(d):
        nearest = np.rint(z[j])
        if abs(z[j] - nearest) > farthest and low[j] < high[j]:
            column, farthest = j, abs(z[j] - nearest)
        point[j] = min(high[j], max(low[j], _whole(nearest)))
    nodes.column[here] = column
    nodes.cut[here] = min(high[column] - 1, max(low[column], _whole(np.floor(z[column]))))
    return depth_of(point, ranks, deepest)


def _truncated(value: float) -> int:
    """What the processor makes of a float that is no 64-bit integer, too."""
    return int(value) if abs(value) < 2.0**63 else -(2**63)


@compiled_in_memory(plain=_truncated)
def _whole(value: float) -> Any:
    return np.int64(value)


@compiled_in_memory
def _note(nodes: Nodes, here: int, multipliers: Any) -> None:
    """Keep the multipliers that prove a cap: one for each row of a basis at most."""
    kept = 0
    for i in range(len(multipliers)):
        if multipliers[i] != 0 and kept < nodes.rows.shape[1]:
            nodes.rows[here, kept] = i
            nodes.values[here, kept] = multipliers[i]
            kept += 1
    for i in range(kept, nodes.rows.shape[1]):
        nodes.rows[here, i] = 0
        nodes.values[here, i] = 0
