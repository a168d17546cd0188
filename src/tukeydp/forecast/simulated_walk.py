"""Draws from the exponential mechanism over depth, for forecasts only: a random walk in floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.parameters import FloatArray, IntArray

if TYPE_CHECKING:
    from tukeydp.forecast.walk_loops import Body

# Steps of a walk before it counts, and those that do: fixed ones, and so many for each column. A step moves every
# column once, and after five to ten the point has forgotten where it was. More take longer, with fewer quantiles are
# uncertain.
_WARMING, _WALKED = (10, 2), (50, 8)
# Steps for each column in the estimate of a size, and more where so many do not come by the middle. Fewer leave its log
# uncertain by more than a few tenths.
_SIZED = (20, 160, 1280)
# A walk that only climbs ends so far below the deepest point, at most, as a share of the rows: what it has not come to
# counts up to there.
_SHORT = 0.015
_STEEP = 100.0  # for epsilon/2 when climbing: the next level is always the deepest
_ROUNDING = 1e-6  # of the largest product: what 32-bit floats may be off by, and a little more
_LEAST_SHARE = 1e-300  # for its log, where epsilon is astronomical
_NOTHING = 1e-60  # in place of an entry 0: no point between two ranks is ever that near to one
# Log of a share of the draws: what weighs less than this, next to the rest, is left out.
_NEGLIGIBLE = -6.0
_LEAST, _MOST = 1e-12, 1e9  # halves of epsilons beyond are walked as these: nothing changes, and floats hold them


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Levels between two breaks, and the log of a bound on their weight; these columns are one point there."""

    lowest: int
    highest: int
    log_bound: float
    pinned: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Walked:
    """Points of a stretch, one a row, the log of its weight, and a bound on that of levels the walk is cut off from."""

    points: FloatArray
    log_weight: float
    log_unseen: float = -math.inf


def half_of(epsilon: Fraction) -> float:
    """What a walk takes for half of epsilon."""
    return float(min(max(epsilon / 2, Fraction(_LEAST)), Fraction(_MOST)))


def walked_draws(
    rows: IntArray, directions: IntArray, within: Box, half_epsilon: float, rng: np.random.Generator
) -> FloatArray | None:
    """Grid points (one a row) with about the law of boxem on these rows; None where a walk cannot tell.

    That is: where levels that it did not come to may have weight, by the order statistics of the columns alone.
    """
    if not len(rows):
        return None
    middle = np.floor(np.median(rows, axis=0))
    centred = (rows - middle).astype(np.float32)
    low, high = (np.array(ends, dtype=np.float64) - middle for ends in (within.low, within.high))
    body = _body(centred, directions, low, high, half_epsilon)
    found = _all_walked(body, _widths(body, directions), centred.mean(axis=0).astype(np.float64), rng)
    return None if found is None else found + middle


def walked_in_parts(
    rows: IntArray,
    parts: Sequence[tuple[slice, IntArray]],
    within: Box,
    half_epsilon: float,
    rng: np.random.Generator,
) -> FloatArray | None:
    """The same where blocks of columns are drawn by themselves, each with its share of epsilon."""
    found = []
    for columns, directions in parts:
        share = (columns.stop - columns.start) / rows.shape[1]
        box = Box(within.low[columns], within.high[columns])
        points = walked_draws(rows[:, columns], directions, box, half_epsilon * share, rng)
        if points is None:
            return None
        found.append(points)
    count = min(map(len, found))
    return np.hstack([points[np.linspace(0, len(points) - 1, count).astype(np.int64)] for points in found])


def _body(
    rows: NDArray[np.float32], directions: IntArray, low: FloatArray, high: FloatArray, half_epsilon: float
) -> Body:
    from tukeydp.forecast.walk_loops import Body, products

    lengths = np.linalg.norm(directions.astype(np.float64), axis=1)
    entries = np.ascontiguousarray((directions / lengths[:, np.newaxis]).T)
    ranked = products(rows, entries.astype(np.float32))
    ranked.sort(axis=1)
    slack = _ROUNDING * np.maximum(np.abs(ranked[:, [0, -1]]).max(axis=1).astype(np.float64), 1.0)
    inverses = 1.0 / np.where(entries == 0.0, _NOTHING, entries)
    return Body(entries, inverses, np.ascontiguousarray(ranked.T), slack, low, high, half_epsilon)


def _all_walked(body: Body, widths: FloatArray, means: FloatArray, rng: np.random.Generator) -> FloatArray | None:
    """Draws from all stretches that have weight, as many from each as its weight says."""
    d = len(body.low)
    count = _WALKED[0] + _WALKED[1] * d
    walked = [_Walked(rng.uniform(body.low, body.high, (count, d)), float(np.log(widths[0] + 1.0).sum()))]
    # Medians, 0, may be a corner that many rows share, which no move of one column leads out of.
    starts, deepest = _climbed(body, [np.zeros(d), means], len(widths) - 1, rng)
    widths = widths[: deepest + _short(body) + 1]
    bounds = np.log(widths + 1.0).sum(axis=1) + body.half_epsilon * np.arange(len(widths))
    for stretch in sorted(_stretches(widths, bounds), key=lambda stretch: -stretch.log_bound):
        if stretch.log_bound < max(one.log_weight for one in walked) + _NEGLIGIBLE:
            break
        here = _walked(stretch, starts, bounds, body, rng)
        if here is None:
            return None
        walked.append(here)
    most = max(one.log_weight for one in walked)
    if max(one.log_unseen for one in walked) > most + _NEGLIGIBLE:
        return None
    weights = np.exp([one.log_weight - most for one in walked])
    numbers = rng.multinomial(count, weights / weights.sum())
    # Evenly along each walk, whose neighbouring points are alike.
    places = [np.linspace(0, len(one.points) - 1, k).astype(np.int64) for one, k in zip(walked, numbers, strict=True)]
    return np.concatenate([one.points[at] for one, at in zip(walked, places, strict=True)])


def _widths(body: Body, directions: IntArray) -> FloatArray:
    """Of all columns, for each level from 0 up to the highest unbroken, by the directions along columns alone."""
    m = len(body.ranks)
    widths = np.repeat((body.high - body.low)[np.newaxis], m + 1, axis=0)
    for row in np.flatnonzero(np.count_nonzero(directions, axis=1) == 1):
        ranked = body.ranks[:, row].astype(np.float64)
        column = int(np.argmax(directions[row] != 0))
        widths[1:, column] = np.minimum(widths[1:, column], ranked[::-1] - ranked)
    top = (m + 1) // 2  # up to here no direction contradicts itself
    while top < m and (body.ranks[m - top - 1] >= body.ranks[top]).all():
        top += 1
    return np.maximum(widths[: top + 1], 0.0)


def _climbed(
    body: Body, starts: Sequence[FloatArray], top: int, rng: np.random.Generator
) -> tuple[list[FloatArray], int]:
    """Points that climbing leads to, with where it started, and the depth of the deepest."""
    from tukeydp.forecast.walk_loops import depth, walk

    d = len(body.low)
    found, deepest = list(starts), 0
    for start in starts:
        known = depth(start, top, body)
        deepest = max(deepest, known)
        if known:
            shares = rng.random((_WARMING[0] + _WARMING[1] * d, d + 1))
            points, levels, _ = walk(start.copy(), 1, top, shares, body._replace(half_epsilon=_STEEP))
            found.append(points[-1])
            deepest = max(deepest, int(levels[-1]))
    return found, deepest


def _short(body: Body) -> int:
    return math.ceil(_SHORT * len(body.ranks))


def _stretches(widths: FloatArray, bounds: FloatArray) -> list[_Stretch]:
    """Levels from 1 up, cut where other columns are one point."""
    pinned = widths < 1.0
    changes = np.flatnonzero((pinned[2:] != pinned[1:-1]).any(axis=1)) + 2
    ends = [1, *changes.tolist(), len(widths)]
    return [_Stretch(a, b - 1, float(np.logaddexp.reduce(bounds[a:b])), pinned[a]) for a, b in pairwise(ends) if a < b]


def _walked(
    stretch: _Stretch, starts: Sequence[FloatArray], bounds: FloatArray, body: Body, rng: np.random.Generator
) -> _Walked | None:
    """A walk over a stretch; None where it is unclear whether it has a point, or how many."""
    from tukeydp.forecast.walk_loops import depth, log_points, walk

    d = len(body.low)
    # What is one point is the median, 0.
    body = body._replace(low=np.where(stretch.pinned, 0.0, body.low), high=np.where(stretch.pinned, 0.0, body.high))
    placed = [np.where(stretch.pinned, 0.0, start) for start in starts]
    known = [depth(y, stretch.highest, body) for y in placed]
    if max(known) < stretch.lowest:
        placed, _ = _climbed(body, placed, stretch.highest, rng)
        known = [depth(y, stretch.highest, body) for y in placed]
    if max(known) < stretch.lowest:
        return _Walked(np.empty((0, d)), -math.inf) if max(known) + _short(body) < stretch.lowest else None
    # The last: where climbing from the means led, rather than a corner.
    start = [y for y, deep in zip(placed, known, strict=True) if deep >= stretch.lowest][-1]
    warming = _WARMING[0] + _WARMING[1] * d
    steps = warming + _WALKED[0] + _WALKED[1] * d
    points, levels, depths = walk(start, stretch.lowest, stretch.highest, rng.random((steps, d + 1)), body)
    points, levels, depths = points[warming:], levels[warming:], depths[warming:]
    level = int(np.sort(levels)[len(levels) // 2])
    inside = points[levels >= level]
    for steps in _SIZED:
        size = log_points(inside.mean(axis=0), inside[0].copy(), level, rng.random((steps, d)), body)
        if math.isfinite(size):
            break
    else:
        return None
    # Points of the level are seen with weights e^(half_epsilon T): undo that for their number over all weight.
    share = np.where(depths >= level, np.exp(body.half_epsilon * (level - np.maximum(depths, level))), 0.0).mean()
    weight = size + body.half_epsilon * level - math.log(max(share, _LEAST_SHARE))
    return _Walked(points, weight, _log_unseen(bounds[stretch.lowest : levels.min()]))


def _log_unseen(bounds: FloatArray) -> float:
    """Of the levels below a walk: where bounds on weights fall away from it and rise again, all that is further out."""
    valley = int(np.argmin(bounds)) if len(bounds) else 0
    return float(np.logaddexp.reduce(bounds[:valley])) if valley else -math.inf
