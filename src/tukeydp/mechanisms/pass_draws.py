"""Means and spreads of a table that is read in passes: the plans of `mean_plans`, drawn from sums and counts alone.

Each step is the one for tables in memory, from the point where its sums, counts or block means are there. Two-step
means take three passes: blocks for centre and spread; counts for radii and missing cells; clipped sums
(docs/proofs/out-of-core.md, sections 2 to 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import BoundedColumns, relative_grid
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.mechanisms.clip_radii import RADII, radii_of_counts
from tukeydp.mechanisms.clipped_sum import (
    ClipRange,
    noised_mean,
    noised_rough_mean,
    noised_shares,
    within_bounds,
    without_missing,
)
from tukeydp.mechanisms.mean_plans import ROUGH, CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.passes import Beyond, BlockSums, Clipped, Values
from tukeydp.mechanisms.spread_step import SpreadPlan, log_sizes, octave_draws
from tukeydp.mechanisms.subset_means import SubsetPlan, block_sampler
from tukeydp.mechanisms.two_step import TwoStepPlan, at_least_narrowest
from tukeydp.randomness import Keystream, derived_key

PassPlan = CubeMean | SubsetMean | TwoStepMean


def drawn_in_passes(
    plan: PassPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, secret_key: bytes
) -> list[Fraction]:
    """A mean as numbers from -1 to 1: pure epsilon-DP with the plan's epsilon."""
    if isinstance(plan, CubeMean):
        return _cube(plan, table, columns, secret_key)
    if isinstance(plan, SubsetMean):
        blocks = subset_sums(plan.plan, columns, secret_key)
        (sums,) = table.total(blocks)
        y = subset_draw(blocks, sums, plan.epsilon, plan.plan, public_key, secret_key)
        return relative_grid(plan.plan.steps).rational_point(y)
    return _two_steps(plan.plan, table, columns, public_key, secret_key)


def _cube(plan: CubeMean, table: LazyTable, columns: BoundedColumns, secret_key: bytes) -> list[Fraction]:
    first, second = (Keystream(derived_key("step", i, secret_key)).bits(0) for i in range(2))
    if plan.fill is not None:
        fill, rest = np.array(plan.fill), plan.epsilon
    else:
        (found,) = table.total(Values(columns))
        rough = ROUGH * plan.epsilon
        fill = noised_rough_mean(found[: table.d], found[table.d :], rough, first)
        rest = plan.epsilon - rough
    ends = np.ones(table.d)
    where = ClipRange(-ends, ends, fill)
    (sums,) = table.total(Clipped(columns, where))
    return within_bounds(noised_mean(sums, table.n, where, rest, second))


def subset_sums(plan: SubsetPlan, columns: BoundedColumns, secret_key: bytes) -> BlockSums:
    """What a pass adds up for depth of subset means, all dealings at once."""
    return BlockSums(columns, plan.blocks, plan.partitions, derived_key("dealings", secret_key))


def subset_draw(
    blocks: BlockSums, sums: Sequence[int], epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> list[int]:
    """A grid point deep among the block means."""
    means = np.concatenate([found for found, _ in blocks.tables(sums)])
    return block_sampler(means, epsilon, plan, public_key, secret_key).draw(derived_key("draw", secret_key))


def spread_sums(plan: SpreadPlan, columns: BoundedColumns, secret_key: bytes) -> BlockSums:
    """What a pass adds up for the spread: halves 2b and 2b + 1 are those of block b."""
    return BlockSums(columns, 2 * plan.pairs, 1, derived_key("dealing", secret_key))


def spread_draw(
    blocks: BlockSums, sums: Sequence[int], epsilon: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> FloatArray:
    """log2 of each column's standard deviation in widths of its bounds: pure epsilon-DP."""
    ((means, counts),) = blocks.tables(sums)
    dealt = log_sizes(means[0::2], means[1::2], counts[0::2], counts[1::2])
    return octave_draws(dealt, epsilon, plan, public_key, secret_key)(derived_key("draw", secret_key))


def _two_steps(
    plan: TwoStepPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, secret_key: bytes
) -> list[Fraction]:
    keys = [derived_key("step", i, secret_key) for i in range(5)]
    centre, spread = _centre_and_spread(plan, table, columns, public_key, keys)
    bits = [Keystream(key).bits(0) for key in keys[2:]]
    (found,) = table.total(Beyond(columns, centre, spread))
    missing, beyond = found[: table.d], np.array(found[table.d :], dtype=np.int64).reshape(table.d, len(RADII))
    radii = radii_of_counts(beyond, plan.epsilons[2], bits[0])
    low, high = np.maximum(-1.0, centre - radii * spread), np.minimum(1.0, centre + radii * spread)
    shares = noised_shares(missing, table.n, plan.epsilons[3], bits[1])
    where = ClipRange(low, high, centre)
    (sums,) = table.total(Clipped(columns, where))
    mean = noised_mean(sums, table.n, where, plan.epsilons[4], bits[2])
    return within_bounds(without_missing(mean, centre, shares))


def _centre_and_spread(
    plan: TwoStepPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, keys: Sequence[bytes]
) -> tuple[FloatArray, FloatArray]:
    """Both from one pass: blocks of their own, drawn with keys of their own."""
    blocks = subset_sums(plan.centre, columns, keys[0])
    if plan.spread is None:
        (sums,) = table.total(blocks)
        spread = 2.0 * np.array(plan.known)
    else:
        halves = spread_sums(plan.spread, columns, keys[1])
        sums, of_halves = table.total(blocks, halves)
        given = (plan.epsilons[1], plan.spread, derived_key("spread", public_key), keys[1])
        spread = at_least_narrowest(spread_draw(halves, of_halves, *given))
    y = subset_draw(blocks, sums, plan.epsilons[0], plan.centre, public_key, keys[0])
    return relative_grid(plan.centre.steps).point(y), spread
