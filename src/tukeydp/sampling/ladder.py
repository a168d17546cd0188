"""Which levels get a box of their own: a trade between linear programs and rejected proposals.

Speed only. The sampler's law is the same for every choice, and every number here is a float estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.levels import LevelSets

_CANDIDATES = 48  # levels to choose from besides the known ones; a plan's time grows with the square
_LARGEST = 600.0  # log of a ratio of sizes: larger ones count as this. Beyond 709 the estimates would be infinite


@dataclass(frozen=True)
class Ladder:
    """Levels that should have boxes, and how many proposals one accepted point is then expected to take."""

    levels: tuple[int, ...]
    proposals: float


def plan_ladder(
    levels: LevelSets,
    *,
    lowest: int,
    top: int,
    log_sizes: Mapping[int, float],
    half_epsilon: float,
    box_cost: float,
    proposals: float,
) -> Ladder:
    """Choose the levels whose boxes minimise box_cost * (new boxes) + expected proposals.

    Parameters
    ----------
    log_sizes
        Log sizes of the boxes there already are, which cost nothing; one of them at level `lowest`.
    box_cost
        What a new box costs, in proposals.
    proposals
        How many one accepted point would take if every level had a box of its own.
    """
    # Extreme epsilons overflow and underflow here; any answer will do for them, but none may warn.
    with np.errstate(all="ignore"):
        return _plan(levels, lowest, top, log_sizes, half_epsilon, box_cost, proposals)


def _plan(
    levels: LevelSets,
    lowest: int,
    top: int,
    log_sizes: Mapping[int, float],
    half_epsilon: float,
    box_cost: float,
    proposals: float,
) -> Ladder:
    """Shortest path over the steps: from each, every end its group may have."""
    steps = _candidates(lowest, top, log_sizes)
    sizes = _estimates(levels, steps, top, log_sizes)
    cost = np.where([int(level) in log_sizes for level in steps], 0.0, box_cost)
    # A group runs from its own step to just below the next chosen one, at last to the top.
    ends = np.append(steps[1:] - 1, top)
    grow = half_epsilon * (ends - top)

    def mass(i: int) -> FloatArray:
        """Log weight of a group that starts at step i, for every end it may have: (q^end - q^(start-1)) size."""
        share = np.expm1(-half_epsilon * (ends[i:] - steps[i] + 1)) if i else np.full(len(ends), -1.0)
        return grow[i:] + np.log(-share) + sizes[i]

    ideal = np.logaddexp.reduce([mass(i)[0] for i in range(len(steps))])
    best = np.zeros(len(steps) + 1)
    chosen = np.zeros(len(steps), dtype=np.int64)
    for i in range(len(steps) - 1, -1, -1):
        total = proposals * np.exp(np.minimum(mass(i) - ideal, _LARGEST)) + best[i + 1 :]
        total[:-1] += cost[i + 1 :]
        chosen[i] = i + 1 + int(np.argmin(total))
        best[i] = total.min()
    picked: list[int] = []
    expected = 0.0
    i = 0
    while i < len(steps):
        j = int(chosen[i])
        expected += proposals * float(np.exp(min(mass(i)[j - i - 1] - ideal, _LARGEST)))
        if i:
            picked.append(int(steps[i]))
        i = j
    return Ladder(tuple(picked), expected)


def _candidates(lowest: int, top: int, known: Mapping[int, float]) -> IntArray:
    """Levels to choose from, ascending from `lowest`: dense below the top, thinning out geometrically."""
    gaps = np.rint(np.geomspace(1, top - lowest + 1, _CANDIDATES)).astype(np.int64) - 1
    steps = {lowest, *(top - gap for gap in gaps.tolist()), *(level for level in known if level <= top)}
    return np.array(sorted(level for level in steps if level >= lowest), dtype=np.int64)


def _estimates(levels: LevelSets, steps: IntArray, top: int, known: Mapping[int, float]) -> FloatArray:
    """Log sizes of the boxes at `steps`: the spread of the sample's quantiles, corrected where boxes are known."""
    place = np.clip(steps / max(1, levels.rows), 0.0, 0.5)
    last = len(levels.sample) - 1
    index = np.floor(place * last).astype(np.int64)
    widths = (levels.sample[last - index] - levels.sample[index]).astype(np.float64)
    # A level set shrinks to a point at its own top, wherever the quantiles stand there.
    at_top = widths[-1] * (1.0 - 1.0 / (2.0 + top - steps))[:, np.newaxis]
    rough = np.log(np.maximum(widths - at_top, 1.0)).sum(axis=1)
    # The box at the lowest level may be the public one, which says nothing about the sizes above it.
    where = [i for i, level in enumerate(steps) if i and int(level) in known]
    if where:
        gap = [known[int(steps[i])] - rough[i] for i in where]
        rough = rough + np.interp(np.arange(len(steps)), where, gap)
    rough[0] = known[int(steps[0])]
    return rough
