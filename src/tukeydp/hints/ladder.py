"""Which levels get a box of their own: a trade between linear programs and rejected proposals.

Speed only. The sampler's law is the same for every choice, and every number here is a float estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.hints.breaks import Break, sample_places
from tukeydp.trusted.covers import View
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray

_CANDIDATES = 48  # levels to choose from besides the known ones; a plan's time grows with the square
_BELOW_A_BREAK = 12  # and below each break, where the levels of most weight may be
_LARGEST = 600.0  # log of a ratio of sizes: larger ones count as this. Beyond 709 the estimates would be infinite


@dataclass(frozen=True)
class Ladder:
    """Levels that should have boxes, and how many proposals one accepted point is then expected to take."""

    levels: tuple[int, ...]
    proposals: float


def plan_ladder(
    levels: LevelSets | View,
    *,
    lowest: int,
    top: int,
    log_sizes: Mapping[int, float],
    half_epsilon: float,
    box_cost: float,
    proposals: float,
    breaks: Sequence[Break] = (),
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
    breaks
        Where columns of few values fall in width.
    """
    # Extreme epsilons overflow and underflow here; any answer will do for them, but none may warn.
    with np.errstate(all="ignore"):
        return _plan(levels, lowest, top, log_sizes, half_epsilon, box_cost, proposals, breaks)


def _plan(
    levels: LevelSets | View,
    lowest: int,
    top: int,
    log_sizes: Mapping[int, float],
    half_epsilon: float,
    box_cost: float,
    proposals: float,
    breaks: Sequence[Break],
) -> Ladder:
    """Shortest path over the steps: from each, every end its group may have."""
    steps = _candidates(lowest, top, log_sizes, breaks)
    sizes = _estimates(levels, steps, top, log_sizes, breaks)
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


def _candidates(lowest: int, top: int, known: Mapping[int, float], breaks: Sequence[Break] = ()) -> IntArray:
    """Levels to choose from, ascending from `lowest`: dense below the top and below breaks, thinning out from there."""
    steps = {lowest, *_below(top + 1, lowest, _CANDIDATES), *(level for level in known if level <= top)}
    behind = lowest
    for level in sorted({b.level for b in breaks if lowest < b.level <= top}):
        steps |= {level, *_below(level, behind, _BELOW_A_BREAK)}
        behind = level
    return np.array(sorted(level for level in steps if level >= lowest), dtype=np.int64)


def _below(level: int, behind: int, count: int) -> list[int]:
    """So many levels from level - 1 down to `behind`."""
    gaps = np.rint(np.geomspace(1, level - behind, count)).astype(np.int64)
    return (level - gaps).tolist()


def _estimates(
    levels: LevelSets | View, steps: IntArray, top: int, known: Mapping[int, float], breaks: Sequence[Break] = ()
) -> FloatArray:
    """Log sizes of the boxes at `steps`: the spread of the sample's quantiles, corrected where boxes are known."""
    index = sample_places(levels, steps, breaks)
    columns = np.arange(levels.d)
    widths = (levels.sample[len(levels.sample) - 1 - index, columns] - levels.sample[index, columns]).astype(np.float64)
    # A level set shrinks to a point at its own top, wherever the quantiles stand there.
    at_top = widths[-1] * (1.0 - 1.0 / (2.0 + top - steps))[:, np.newaxis]
    rough = np.log(np.maximum(widths - at_top, 1.0)).sum(axis=1)
    # What is known below a break says nothing about sizes above it.
    stretch = np.searchsorted([b.level for b in breaks], steps, side="right")
    # The box at the lowest level may be the public one, which says nothing about the sizes above it.
    where = np.array([i for i, level in enumerate(steps) if i and int(level) in known], dtype=np.int64)
    gap = np.array([known[int(steps[i])] - rough[i] for i in where])
    for one in np.unique(stretch):
        here, there = np.flatnonzero(stretch == one), stretch[where] == one
        if there.any():
            rough[here] += np.interp(here, where[there], gap[there])
    rough[0] = known[int(steps[0])]
    return rough
