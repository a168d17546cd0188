"""All deep grid points of a small box, compiled: one column after another is fixed, and what cannot be deep is left.

A *visit* fixes one more column of a point. For direction v, what the columns fixed so far add to <v, y>, and the least
and the most that the others can add, are integers. If even the most is below the level's smallest rank, or the least
above its largest, no point that goes on from here is in the level, and none is visited. So every point of the level is
come to (docs/proofs/boxem.md, section 4). A program takes as long as hundreds of visits.

The level rises with the deepest point found: levels further below have too little weight for a list.

Plain loops throughout: assigning to slices, or numpy's functions, would take seconds more to compile at the first call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.sampling.branches.nodes import depth_of
from tukeydp.trusted.compiled_code import compiled_in_memory
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.records import Ranks

# Directions that are tried by themselves before all of them: those that rejected last. Speed only: with fewer more
# visits go through all directions, with more the few take as long as these.
_FIRST = 16
_WALKS = 64  # at most, for an estimate of the visits: within a factor of two or so, in a few milliseconds


class Listed(NamedTuple):
    """Room for points, one a row, and for each a number that it is not deeper than."""

    points: NDArray[np.int64]
    cap: IntArray


class Walk(NamedTuple):
    """A box; its columns of more than one point, in the order they are fixed; what a step along each adds to the sums,
    one column for each direction; and the sums at `low`.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    columns: IntArray
    slopes: IntArray
    start: IntArray


class Bounds(NamedTuple):
    """After each number of fixed columns, between what the sum so far must lie, one column for each direction."""

    least: IntArray
    most: IntArray


@compiled_in_memory
def climbed(start: Any, low: Any, high: Any, ranks: Ranks) -> int:
    """The depth of a point from which no step along a column leads to a deeper one, as far as the ranks tell."""
    y = start.copy()
    best = depth_of(y, ranks, 0)
    better = True
    while better:
        better = False
        for j in range(len(y)):
            for step in (-1, 1):
                if low[j] <= y[j] + step <= high[j]:
                    y[j] += step
                    depth = depth_of(y, ranks, best)
                    if depth > best:
                        best, better = depth, True
                    else:
                        y[j] -= step
    return best


@compiled_in_memory
def about_visits(walk: Walk, level: int, most: int, ranks: Ranks) -> float:
    """About how many visits a list takes, from random walks that stop after `most` visits in all.

    The estimate of Knuth ("Estimating the efficiency of backtrack programs", 1975): how many ways there were to go on,
    multiplied along the walk. Speed only, so that any numbers will do for random ones.
    """
    deep, k = walk.slopes.shape
    bounds = _bounds(walk, level, ranks)
    sums = np.empty((deep + 1, k), dtype=np.int64)
    first = np.zeros(_FIRST, dtype=np.int64)
    for i in range(k):
        sums[0, i] = walk.start[i]
    total, walks, visits, state = 0.0, 0, 0, np.uint64(1)
    while visits < most and walks < _WALKS:
        ways, at, open_ways = 1.0, 0, 1
        while at < deep and open_ways:
            j = walk.columns[at]
            steps = walk.high[j] - walk.low[j] + 1
            visits += steps
            total += ways * steps
            open_ways, taken = 0, 0
            for step in range(steps):
                if _goes_on(sums[at], sums[at + 1], walk.slopes[at], step, bounds.least[at], bounds.most[at], first):
                    open_ways += 1
                    # Each of them is taken with equal chance, whatever their number.
                    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                    if (state >> np.uint64(33)) % np.uint64(open_ways) == 0:
                        taken = step
            _goes_on(sums[at], sums[at + 1], walk.slopes[at], taken, bounds.least[at], bounds.most[at], first)
            ways *= open_ways
            at += 1
        walks += 1
    return total / walks


@compiled_in_memory
def list_points(
    walk: Walk, level: int, top: int, margin: int, ranks: Ranks, most: int, found: Listed
) -> tuple[int, int, int]:
    """The points of depth >= level of a box, of which none is deeper than `top`.

    The level rises to `margin` below the deepest point found, and further where there is no room. Returns how many
    points were found, the level at the end, and the number of visits; if these would be more than `most`, the level is
    -1: then the list is of no use.
    """
    low, high, columns, slopes = walk.low, walk.high, walk.columns, walk.slopes
    deep, k = slopes.shape
    y = low.copy()
    bounds = _bounds(walk, level, ranks)
    sums = np.empty((deep + 1, k), dtype=np.int64)
    for i in range(k):
        sums[0, i] = walk.start[i]
    first = np.zeros(_FIRST, dtype=np.int64)
    count, visits, at = 0, 0, 0
    y[columns[0]] -= 1
    while at >= 0:
        j = columns[at]
        if y[j] == high[j]:
            y[j] = low[j]
            at -= 1
            continue
        y[j] += 1
        visits += 1
        if visits > most:
            return 0, -1, visits
        step = y[j] - low[j]
        if not _goes_on(sums[at], sums[at + 1], slopes[at], step, bounds.least[at], bounds.most[at], first):
            continue
        if at + 1 < deep:
            at += 1
            y[columns[at]] = low[columns[at]] - 1
            continue
        cap = _cap_of(y, top, level, ranks)
        if cap < level:
            continue
        before = level
        if count == len(found.cap):
            level, count = _thinned(found, count, level)
            if level > top:
                return 0, level, visits
        if cap >= level:
            for c in range(len(y)):
                found.points[count, c] = y[c]
            found.cap[count] = cap
            count += 1
            level = max(level, cap - margin)
        if level > before:
            bounds = _bounds(walk, level, ranks)
    return _kept(found, count, level), level, visits


def _all_go_on(before: Any, after: Any, slopes: Any, step: int, least: Any, most: Any, first: Any) -> bool:
    """`_goes_on` for all directions together; `first` is left as it is."""
    np.add(before, slopes * step, out=after)
    return not ((after < least) | (after > most)).any()


@compiled_in_memory(plain=_all_go_on)
def _goes_on(before: Any, after: Any, slopes: Any, step: int, least: Any, most: Any, first: Any) -> bool:
    """Whether the sums with one more column fixed are between their bounds; then all of them are in `after`."""
    for p in range(len(first)):
        i = first[p]
        total = before[i] + slopes[i] * step
        if total < least[i] or total > most[i]:
            first[p], first[p // 2] = first[p // 2], i
            return False
    wrong = 0
    for i in range(len(after)):
        total = before[i] + slopes[i] * step
        after[i] = total
        wrong += (total < least[i]) | (total > most[i])
    if wrong:
        for i in range(len(after)):
            if after[i] < least[i] or after[i] > most[i]:
                first[len(first) - 1] = i
                break
    return wrong == 0


def _all_bounds(walk: Walk, level: int, ranks: Ranks) -> Bounds:
    """`_bounds` for all directions together."""
    kept = ranks.projections.shape[1]
    least, most = np.empty((2, *walk.slopes.shape), dtype=np.int64)
    least[-1] = ranks.projections[:, level - 1 - ranks.left_out]
    most[-1] = ranks.projections[:, kept + ranks.left_out - level]
    widths = (walk.high - walk.low)[walk.columns]
    for at in range(len(least) - 2, -1, -1):
        rest = walk.slopes[at + 1] * widths[at + 1]
        least[at] = least[at + 1] - np.maximum(rest, 0)
        most[at] = most[at + 1] - np.minimum(rest, 0)
    return Bounds(least, most)


@compiled_in_memory(plain=_all_bounds)
def _bounds(walk: Walk, level: int, ranks: Ranks) -> Bounds:
    """What the level's two ranks leave for the columns up to each one: the others, counted from `low`, add the rest."""
    kept = ranks.projections.shape[1]
    deep, k = walk.slopes.shape
    least, most = np.empty((deep, k), dtype=np.int64), np.empty((deep, k), dtype=np.int64)
    for i in range(k):
        least[deep - 1, i] = ranks.projections[i, level - 1 - ranks.left_out]
        most[deep - 1, i] = ranks.projections[i, kept + ranks.left_out - level]
    for at in range(deep - 2, -1, -1):
        width = walk.high[walk.columns[at + 1]] - walk.low[walk.columns[at + 1]]
        for i in range(k):
            rest = walk.slopes[at + 1, i] * width
            least[at, i] = least[at + 1, i] - max(rest, 0)
            most[at, i] = most[at + 1, i] - min(rest, 0)
    return Bounds(least, most)


@compiled_in_memory
def _cap_of(y: Any, top: int, level: int, ranks: Ranks) -> int:
    """A number that the point is not deeper than: its depth, where the ranks tell it, or something below `level`."""
    depth = depth_of(y, ranks, level - 1)
    # Equal projections may run on past both ends of the ranks: then they do not tell.
    return min(depth, top) if depth < ranks.highest else top


@compiled_in_memory
def _thinned(found: Listed, count: int, level: int) -> tuple[int, int]:
    """A higher level, and how many points it has: at most half of the room."""
    above = found.cap[0]
    for p in range(count):
        above = max(above, found.cap[p])
    below, above = level, above + 1
    while below + 1 < above:
        middle = (below + above) // 2
        deeper = 0
        for p in range(count):
            deeper += found.cap[p] >= middle
        if 2 * deeper > count:
            below = middle
        else:
            above = middle
    return above, _kept(found, count, above)


def _all_kept(found: Listed, count: int, level: int) -> int:
    which = np.flatnonzero(found.cap[:count] >= level)
    found.points[: len(which)], found.cap[: len(which)] = found.points[which], found.cap[which]
    return len(which)


@compiled_in_memory(plain=_all_kept)
def _kept(found: Listed, count: int, level: int) -> int:
    """Move the points of the level to the front; how many they are."""
    kept = 0
    for p in range(count):
        if found.cap[p] >= level:
            for c in range(found.points.shape[1]):
                found.points[kept, c] = found.points[p, c]
            found.cap[kept] = found.cap[p]
            kept += 1
    return kept
