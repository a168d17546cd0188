"""The spread of every column, by depth of log differences between halves of secretly dealt blocks.

The halves of a block give u = |difference of means| / sqrt(1/m_a + 1/m_b), whose median is 0.6745 standard deviations
where block means are about Gaussian, whatever is missing. It is a function of the block's own rows. The
deepest point of the log differences, on a grid of eighths of an octave, is released by `boxem`: pure epsilon-DP
(docs/proofs/mean.md, section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.dealing import block_table, secret_order
from tukeydp.data.grid import Grid
from tukeydp.depth.choice import chosen_notion
from tukeydp.exact.boxes import whole_grid
from tukeydp.mechanisms.block_statistics import counts, means
from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.randomness import Keystream, derived_key
from tukeydp.sampling.cutting_planes import DepthSampler

# Octaves below the width of the bounds that are told apart, and steps of an octave. On a finer grid a value shared by
# many pairs would be one point against all the empty ones between, and lose.
OCTAVES, _STEPS = 30, 8
# Width of that range in standard deviations of what is ranked: log differences spread over an octave or so.
_ASSUMED_WIDTH = 25.0
_FEWEST_PAIRS = 16
# Chance of the lower end, in sixteenths: for missing differences, and for zero ones. With 9, eight ninths of a column's
# differences may be zero before it counts as a column of equal values.
_EVEN, _ZERO_LOW = 8, 9
_MEDIAN = 0.6744897501960817  # of the size of a standard Gaussian variable


@dataclass(frozen=True)
class SpreadPlan:
    """How many pairs of blocks. Public."""

    pairs: int


def spread_plan(n: int, d: int, epsilon: Fraction) -> SpreadPlan | None:
    """The fewest pairs that keep a safe distance from the cliff; None if n rows are too few."""

    def safe(pairs: int) -> bool:
        return log_odds(pairs, d, float(epsilon)) - d * math.log(_ASSUMED_WIDTH) >= SAFE

    low, high = _FEWEST_PAIRS - 1, n // 2
    if high < _FEWEST_PAIRS or not safe(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return SpreadPlan(high)


def log_differences(blocks: FloatArray) -> FloatArray:
    """log2 of the difference between the halves of each block, in widths of the bounds; NaN if a half has no value."""
    half = blocks.shape[1] // 2
    first, second = blocks[:, :half], blocks[:, half : 2 * half]
    with np.errstate(all="ignore"):
        # Relative cells run from -1 to 1: twice the share of the width.
        size = np.abs(means(first) - means(second)) / 2 / np.sqrt(1 / counts(first) + 1 / counts(second))
        return np.asarray(np.clip(np.log2(size), -OCTAVES, 0.0))


def at_the_ends(table: FloatArray, stream: Keystream) -> FloatArray:
    """Differences that are missing, or zero, at one end of the range by a secret coin for each.

    They favour neither side, so that the others decide: in a yes/no column most differences of single rows are zero,
    and say nothing of its spread. Zero ones fall a little more often to the lower end, where a column of equal values
    belongs. A coin depends on its place alone, so rows of the result are functions of rows of the table.
    """
    sixteenths = stream.words(0, table.size).reshape(table.shape) >> np.uint64(60)
    missing = np.isnan(table)
    low = sixteenths < np.where(missing, _EVEN, _ZERO_LOW).astype(np.uint64)
    return np.where(missing | (table <= -OCTAVES), np.where(low, -float(OCTAVES), 0.0), table)


def spread_octaves(
    relative: FloatArray, epsilon: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> FloatArray:
    """log2 of each column's standard deviation in widths of its bounds: pure epsilon-DP."""
    return spread_draws(relative, epsilon, plan, public_key, secret_key)(derived_key("draw", secret_key))


def spread_draws(
    relative: FloatArray, epsilon: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> Callable[[bytes], FloatArray]:
    """What `spread_octaves` draws from, once; each further key spends its epsilon again."""
    n, d = relative.shape
    order = secret_order(n, Keystream(derived_key("dealing", secret_key)))
    table = at_the_ends(
        block_table(relative, plan.pairs, order, log_differences), Keystream(derived_key("coins", secret_key))
    )
    cells = OCTAVES * _STEPS
    grid = Grid((Fraction(-OCTAVES),) * d, (Fraction(1, _STEPS),) * d, (cells,) * d)
    prepared = chosen_notion(None, plan.pairs, d).prepare(grid.snap(table), grid, public_key)
    sampler = DepthSampler(prepared, within=whole_grid(grid), epsilon=epsilon)
    return lambda key: np.asarray(grid.point(sampler.draw(key)) - math.log2(_MEDIAN))
