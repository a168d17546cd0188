"""Depth of subset means: the mean of any table, by the exponential mechanism on means of secretly dealt blocks.

Rows are dealt to N blocks; each block's mean, corrected for skewness, is one row of a table on which `boxem` runs.
With r dealings the table has r N rows and epsilon is divided by r (docs/proofs/mean.md, section 3). Block means are
nearly symmetric about the mean where rows are not, and a missing cell is left out of its own column's mean only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import relative_grid
from tukeydp.data.dealing import block_table, filled_at_the_ends, secret_order
from tukeydp.depth.choice import chosen_notion
from tukeydp.exact.boxes import whole_grid
from tukeydp.mechanisms.block_statistics import corrected_means
from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.randomness import Keystream, derived_key
from tukeydp.sampling.cutting_planes import DepthSampler

# Rows of the block table that further dealings fill up to, and dealings at most: more bring nothing measurable.
_ENOUGH_ROWS, _MOST_PARTITIONS = 4000, 8
_FEWEST_BLOCKS = 16
# Steps of the grid in a predicted error. More bring no accuracy, and where many rows share a value a single point has
# to outweigh all the empty ones between: columns of few values would lose.
_STEPS_IN_AN_ERROR = 16
_FEWEST_STEPS, _MOST_STEPS = 2**8, 2**40
# Median error of a deep point among the means of N blocks, in sqrt(n/N) standard deviations over (epsilon n), and of
# what a median loses against a mean, in standard deviations over sqrt(n). Fitted to made-up tables; accuracy only.
_BY_DEPTH, _BY_MEDIAN = 5.0, 0.35


@dataclass(frozen=True)
class SubsetPlan:
    """How many blocks each dealing has, how many dealings, and the steps of the grid. All public."""

    blocks: int
    partitions: int
    steps: tuple[int, ...]


def subset_plan(
    n: int,
    d: int,
    epsilon: Fraction,
    widths: FloatArray,
    blocks: int | None = None,
    partitions: int | None = None,
    doubt: float = 1.0,
) -> SubsetPlan | None:
    """The fewest blocks that keep a safe distance from the cliff; None if n rows are too few even one by one.

    `widths` are the bounds in standard deviations, known or assumed; blocks suffice also if they are `doubt` times as
    wide.
    """
    width = doubt * math.exp(float(np.log(widths).mean()))
    count = blocks or fewest_blocks(n, d, float(epsilon), width)
    if count is None:
        return None
    dealings = 1 if count >= n else max(1, min(_MOST_PARTITIONS, _ENOUGH_ROWS // count))
    return SubsetPlan(count, partitions or dealings, grid_steps(scatter(n, d, float(epsilon), count), widths))


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
    by_depth = _BY_DEPTH * math.sqrt(n / blocks) * d**0.25 / (epsilon * n)
    return math.hypot(by_depth, _BY_MEDIAN / math.sqrt(n))


def grid_steps(error: float, widths: FloatArray) -> tuple[int, ...]:
    """Steps between the bounds, of one size in standard deviations, so that directions are round in them."""
    return tuple(
        min(_MOST_STEPS, max(_FEWEST_STEPS, math.ceil(_STEPS_IN_AN_ERROR * w / error))) for w in widths.tolist()
    )


def subset_point(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> list[int]:
    """A grid point deep among the block means: pure epsilon-DP in the rows of `relative` (numbers from -1 to 1)."""
    return subset_sampler(relative, epsilon, plan, public_key, secret_key).draw(derived_key("draw", secret_key))


def subset_sampler(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> DepthSampler:
    """What `subset_point` draws from, once; each further draw spends its epsilon again."""
    n, d = relative.shape
    parts = (
        [relative]
        if plan.blocks >= n and plan.partitions == 1
        else [
            block_table(
                relative,
                plan.blocks,
                secret_order(n, Keystream(derived_key("dealing", i, secret_key))),
                corrected_means,
            )
            for i in range(plan.partitions)
        ]
    )
    table = filled_at_the_ends(np.concatenate(parts), Keystream(derived_key("coins", secret_key)))
    grid = relative_grid(plan.steps)
    prepared = chosen_notion(None, len(table), d).prepare(grid.snap(table), grid, public_key)
    return DepthSampler(prepared, within=whole_grid(grid), epsilon=epsilon / plan.partitions)
