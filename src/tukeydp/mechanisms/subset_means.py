"""Depth of subset means: the mean of any table, by the exponential mechanism on means of secretly dealt blocks."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.trusted.block_steps import (
    SubsetPlan,
)
from tukeydp.trusted.parameters import FloatArray

# Depth of subset means: the mean of any table, by the exponential mechanism on means of secretly dealt blocks.
#
# Rows are dealt to N blocks; each block's mean, corrected for skewness, is one row of a table on which `boxem` runs.
# With r dealings the table has r N rows and epsilon is divided by r (docs/proofs/mean.md, section 3). Block means are
# nearly symmetric about the mean where rows are not, and a missing cell is left out of its own column's mean only.
# Where blocks are of a few rows, each dealing counts twice, shifted to either side by the same random amounts: that
# smooths out what skewness and ties are left.

# Rows of the block table that further dealings fill up to, and dealings at most: more bring nothing measurable.
_ENOUGH_ROWS, _MOST_PARTITIONS = 4000, 8
_FEWEST_BLOCKS = 16
# Steps of the grid in a predicted error. More bring no accuracy, and where many rows share a value a single point has
# to outweigh all the empty ones between: columns of few values would lose.
_STEPS_IN_AN_ERROR = 16
_FEWEST_STEPS, _MOST_STEPS = 2**8, 2**40
# Median error of a deep point among the means of N blocks, in sqrt(n/N) d^power standard deviations over (epsilon n),
# and of what a median loses against a mean, in standard deviations over sqrt(n). Fitted to made-up tables.
_BY_DEPTH, _POWER, _BY_MEDIAN = 3.4, 0.6, 0.35
# How far block means are shifted, in their own standard deviations, by rows of a block. With less, skewed and yes/no
# columns keep their bias; with more the shifts themselves are the larger error. From three to eight rows most blocks
# of columns that are nine tenths zeros have equal means: unshifted, several such columns have no deep point, and a
# release is a random one.
_SHIFTED_ROWS, _SHIFTS = (1.0, 2.0, 4.0, 8.0, 16.0), (1.25, 0.85, 0.4, 0.3, 0.0)
_LEAST_SHIFT = 0.2  # below, shifts do nothing and cost a dealing


def subset_plan(
    n: int,
    d: int,
    epsilon: Fraction,
    widths: FloatArray,
    blocks: int | None = None,
    partitions: int | None = None,
    doubt: float = 1.0,
    smooth: bool = False,
) -> SubsetPlan | None:
    """The fewest blocks that keep a safe distance from the cliff; None if n rows are too few even one by one.

    `widths` are the bounds in standard deviations, known or assumed; blocks suffice also if they are `doubt` times as
    wide. `smooth`: block means of a few rows are shifted. Where widths are too large that does little; where they are
    too small it costs accuracy, in proportion.
    """
    width = doubt * math.exp(float(np.log(widths).mean()))
    count = blocks or fewest_blocks(n, d, float(epsilon), width)
    smooth = smooth and (partitions or 2) % 2 == 0  # shifts come in pairs
    shift = block_shift(n / count if count else 1.0) if smooth else 0.0
    if shift:
        # Shifted means are spread wider, so that bounds are narrower beside them.
        count = blocks or fewest_blocks(n, d, float(epsilon), width / math.hypot(1.0, shift))
    if count is None:
        return None
    counted = partitions or (1 if count >= n and not shift else dealings_for(count))
    plan = SubsetPlan(count, counted, grid_steps(scatter(n, d, float(epsilon), count), widths))
    return shifted(plan, n, shift, widths) if shift else plan


def shifted(plan: SubsetPlan, n: int, shift: float, widths: FloatArray) -> SubsetPlan:
    """The plan with shifts by so many standard deviations of means of n rows' blocks, between bounds so wide."""
    sizes = tuple((2.0 * shift * math.sqrt(plan.blocks / n) / widths).tolist())
    return replace(plan, partitions=2 * math.ceil(plan.partitions / 2), shifts=sizes)


def dealings_for(blocks: int) -> int:
    """How many times rows are dealt to so many blocks."""
    return max(1, min(_MOST_PARTITIONS, _ENOUGH_ROWS // blocks))


def shifted_spread(plan: SubsetPlan, n: int) -> float:
    """Of shifted means of n rows' blocks, in standard deviations of unshifted ones; 1 without shifts."""
    return math.hypot(1.0, block_shift(n / plan.blocks)) if plan.shifts else 1.0


def block_shift(rows: float) -> float:
    """In standard deviations of means of so many rows."""
    shift = float(np.interp(rows, _SHIFTED_ROWS, _SHIFTS))
    return shift if shift >= _LEAST_SHIFT else 0.0


def fewest_blocks(n: int, d: int, epsilon: float, width: float) -> int | None:
    """As few blocks as the cliff allows, with means of n/N rows sqrt(n/N) times less spread than rows."""

    def safe(blocks: int) -> bool:
        return log_odds(blocks, d, epsilon) - d * math.log(width * math.sqrt(n / blocks)) >= SAFE

    if not safe(n):
        return None
    low, high = min(_FEWEST_BLOCKS, n) - 1, n
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def scatter(n: int, d: int, epsilon: float, blocks: int) -> float:
    """Predicted median error without bias, in standard deviations of a column."""
    by_depth = _BY_DEPTH * math.sqrt(n / blocks) * d**_POWER / (epsilon * n)
    return math.hypot(by_depth, _BY_MEDIAN / math.sqrt(n))


def grid_steps(error: float, widths: FloatArray) -> tuple[int, ...]:
    """Steps between the bounds, of one size in standard deviations, so that directions are round in them."""
    return tuple(
        min(_MOST_STEPS, max(_FEWEST_STEPS, math.ceil(_STEPS_IN_AN_ERROR * w / error))) for w in widths.tolist()
    )
