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
from tukeydp.mechanisms.mean_plans import CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.passes import Beyond, BlockSums, Clipped, Values
from tukeydp.mechanisms.spread_step import SpreadPlan, log_sizes, octave_draws
from tukeydp.mechanisms.subset_means import SubsetPlan, block_sampler
from tukeydp.mechanisms.two_step import TwoStepPlan, at_least_narrowest
from tukeydp.randomness import derived_key
from tukeydp.trusted.prices import depth_of_blocks
from tukeydp.trusted.release import Charge, Paid, Run

PassPlan = CubeMean | SubsetMean | TwoStepMean


def drawn_in_passes(
    plan: PassPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, charge: Charge
) -> list[Fraction]:
    """A mean as numbers from -1 to 1: pure epsilon-DP with the plan's epsilon."""
    if isinstance(plan, CubeMean):
        return _cube(plan, table, columns, charge)
    if isinstance(plan, SubsetMean):
        paid = charge.for_bounded_range()
        blocks = subset_sums(plan.plan, columns, paid)
        (sums,) = table.total(blocks)
        y = subset_draw(blocks, sums, plan.plan, public_key, paid)
        return relative_grid(plan.plan.steps).rational_point(y)
    return _two_steps(plan.plan, table, columns, public_key, charge)


def _cube(plan: CubeMean, table: LazyTable, columns: BoundedColumns, charge: Charge) -> list[Fraction]:
    run = charge.split(plan.parts)
    if plan.fill is not None:
        fill = np.array(plan.fill)
    else:
        (found,) = table.total(Values(columns))
        fill = noised_rough_mean(found[: table.d], found[table.d :], run.charge("rough", "step", 0))
    ends = np.ones(table.d)
    where = ClipRange(-ends, ends, fill)
    (sums,) = table.total(Clipped(columns, where))
    return within_bounds(noised_mean(sums, table.n, where, run.charge("mean", "step", 1)))


def subset_sums(plan: SubsetPlan, columns: BoundedColumns, paid: Paid) -> BlockSums:
    """What a pass adds up for depth of subset means, all dealings at once."""
    return BlockSums(columns, plan.blocks, plan.partitions, paid.key("dealings"))


def subset_draw(blocks: BlockSums, sums: Sequence[int], plan: SubsetPlan, public_key: bytes, paid: Paid) -> list[int]:
    """A grid point deep among the block means."""
    means = np.concatenate([found for found, _ in blocks.tables(sums)])
    return block_sampler(means, paid.epsilon, plan, public_key, paid.key()).draw(paid.key("draw"))


def spread_sums(plan: SpreadPlan, columns: BoundedColumns, paid: Paid) -> BlockSums:
    """What a pass adds up for the spread: halves 2b and 2b + 1 are those of block b."""
    return BlockSums(columns, 2 * plan.pairs, 1, paid.key("dealing"))


def spread_draw(blocks: BlockSums, sums: Sequence[int], plan: SpreadPlan, public_key: bytes, paid: Paid) -> FloatArray:
    """log2 of each column's standard deviation in widths of its bounds: pure epsilon-DP."""
    ((means, counts),) = blocks.tables(sums)
    dealt = log_sizes(means[0::2], means[1::2], counts[0::2], counts[1::2])
    in_sampler = 2 * paid.weight(depth_of_blocks(1))
    return octave_draws(dealt, in_sampler, plan, public_key, paid.key())(paid.key("draw"))


def _two_steps(
    plan: TwoStepPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, charge: Charge
) -> list[Fraction]:
    run = charge.split(plan.parts)
    centre, spread = _centre_and_spread(plan, table, columns, public_key, run)
    (found,) = table.total(Beyond(columns, centre, spread))
    missing, beyond = found[: table.d], np.array(found[table.d :], dtype=np.int64).reshape(table.d, len(RADII))
    radii = radii_of_counts(beyond, run.charge("radii", "step", 2))
    low, high = np.maximum(-1.0, centre - radii * spread), np.minimum(1.0, centre + radii * spread)
    shares = noised_shares(missing, table.n, run.charge("missing", "step", 3))
    where = ClipRange(low, high, centre)
    (sums,) = table.total(Clipped(columns, where))
    mean = noised_mean(sums, table.n, where, run.charge("mean", "step", 4))
    return within_bounds(without_missing(mean, centre, shares))


def _centre_and_spread(
    plan: TwoStepPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, run: Run
) -> tuple[FloatArray, FloatArray]:
    """Both from one pass: blocks of their own, drawn with keys of their own."""
    paid = run.charge("centre", "step", 0).for_bounded_range()
    blocks = subset_sums(plan.centre, columns, paid)
    if plan.spread is None:
        (sums,) = table.total(blocks)
        spread = 2.0 * np.array(plan.known)
    else:
        for_spread = run.charge("spread", "step", 1).for_bounded_range()
        halves = spread_sums(plan.spread, columns, for_spread)
        sums, of_halves = table.total(blocks, halves)
        spread_key = derived_key("spread", public_key)
        spread = at_least_narrowest(spread_draw(halves, of_halves, plan.spread, spread_key, for_spread))
    y = subset_draw(blocks, sums, plan.centre, public_key, paid)
    return relative_grid(plan.centre.steps).point(y), spread
