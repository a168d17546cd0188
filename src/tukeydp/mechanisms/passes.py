"""Means and spreads of a table that is read in passes: plans from public numbers, draws from sums and counts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.engines.batches import Place
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.mechanisms.clipped_mean import ClippedMean, windowed_plan
from tukeydp.mechanisms.clipped_sum import (
    RADII,
    STEPS,
    ClipRange,
    from_the_middle,
    noised_mean,
    noised_rough_mean,
    noised_shares,
    radii_of_counts,
    rows_beyond,
    within_bounds,
    without_missing,
)
from tukeydp.mechanisms.mean_of_secret_size import fewest_drawn_blocks
from tukeydp.mechanisms.mean_plans import CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import checked_way, known_widths, way_error
from tukeydp.mechanisms.spread_step import SpreadPlan, log_sizes, octave_draws
from tukeydp.mechanisms.subset_means import SubsetPlan, block_sampler, dealings_for, grid_steps, scatter
from tukeydp.mechanisms.two_step import DOUBT, TwoStepPlan, at_least_narrowest, two_step_plan
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import drawn_blocks
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief, show
from tukeydp.trusted.prices import depth_of_blocks
from tukeydp.trusted.release import Charge, Paid, Run
from tukeydp.trusted.rows import BoundedColumns, relative_grid

# What rows add to a pass over a table that is larger than memory: sums and counts of integers.
#
# Each is a frozen value that travels to where the rows are. Cells become integers one by one, by the code that serves
# tables in memory too; what is added up afterwards is exact, in any order (docs/proofs/out-of-core.md, section 1).


@dataclass(frozen=True)
class Values:
    """For each column the sum of its values from the middle of the bounds, then how many there are."""

    columns: BoundedColumns

    @property
    def length(self) -> int:
        return 2 * self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        values, there = from_the_middle(self.columns.relative(cells))
        return np.concatenate([values.sum(axis=0), there.sum(axis=0)])


@dataclass(frozen=True)
class Clipped:
    """For each column the sum of its cells in whole steps of a range."""

    columns: BoundedColumns
    where: ClipRange

    @property
    def length(self) -> int:
        return self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        return np.asarray(self.where.steps(self.columns.relative(cells)).sum(axis=0))


@dataclass(frozen=True)
class Beyond:
    """For each column the number of missing cells, then for each column and radius that of rows farther out."""

    columns: BoundedColumns
    centre: FloatArray
    spread: FloatArray

    @property
    def length(self) -> int:
        return self.columns.d * (1 + len(RADII))

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        relative = self.columns.relative(cells)
        beyond = rows_beyond(relative, self.centre, self.spread)
        return np.concatenate([np.isnan(relative).sum(axis=0), beyond.reshape(-1)])


@dataclass(frozen=True)
class BlockSums:
    """Every row draws a block for each dealing; for each dealing, block and column the values' sum and number.

    A row's numbers are drawn here, for the piece of rows that it comes in, and used here: they are never a column of
    any table. `key` is secret, and serves one pass.
    """

    columns: BoundedColumns
    blocks: int
    dealings: int
    key: bytes = field(repr=False)

    @property
    def length(self) -> int:
        return 2 * self.dealings * self.blocks * self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        values, there = (part.astype(np.float64) for part in from_the_middle(self.columns.relative(cells)))
        found = np.empty((self.dealings, 2, self.columns.d, self.blocks), dtype=np.int64)
        for i in range(self.dealings):
            stream = Keystream(derived_key("numbers", i, place, self.key))
            numbers = drawn_blocks(len(cells), self.blocks, stream)
            for j in range(self.columns.d):
                found[i, 0, j] = _sums(numbers, values[:, j], self.blocks)
                found[i, 1, j] = _sums(numbers, there[:, j], self.blocks)
        return found.reshape(-1)

    def tables(self, total: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
        """For each dealing the blocks' means, from -1 to 1 and NaN where there is no value, and numbers of values.

        A mean is the float nearest to the quotient of two integers: a function of its own block.
        """
        shaped = np.array(list(total), dtype=object).reshape(self.dealings, 2, self.columns.d, self.blocks)
        half = STEPS // 2
        tables = []
        for sums, counts in shaped:
            means = [s / (half * c) if c else np.nan for s, c in zip(sums.flat, counts.flat, strict=True)]
            table = np.array(means, dtype=np.float64).reshape(sums.shape).T
            tables.append((table, counts.astype(np.float64).T))
        return tables


def _sums(numbers: IntArray, weights: FloatArray, blocks: int) -> IntArray:
    """Of each block's weights. Floats that hold integers: over a piece sums are below 2^53, so exact (`PIECE`)."""
    return np.bincount(numbers, weights, minlength=blocks).astype(np.int64)


# Means and spreads of a table that is read in passes: the plans of `mean_plans`, drawn from sums and counts alone.
#
# Each step is the one for tables in memory, from the point where its sums, counts or block means are there. Two-step
# means take three passes: blocks for centre and spread; counts for radii and missing cells; clipped sums
# (docs/proofs/out-of-core.md, sections 2 to 4).

PassPlan = CubeMean | SubsetMean | TwoStepMean | ClippedMean


def drawn_in_passes(
    plan: PassPlan, table: LazyTable, columns: BoundedColumns, public_key: bytes, charge: Charge
) -> list[Fraction]:
    """A mean as numbers from -1 to 1: pure epsilon-DP with the plan's epsilon."""
    if isinstance(plan, CubeMean):
        return _cube(plan, table, columns, charge)
    if isinstance(plan, ClippedMean):
        return plan.run(table.total, columns, table.n, charge).means()[0]
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


# Which way to a mean of a table that is read in passes, from public numbers alone.
#
# Between bounds: cube noise, depth of the means of drawn blocks, or two steps. The scale of the columns is not found by
# pairs of rows as in memory (`scale_step`), which would be half as many as there are rows: where no `sd` is given, the
# spread of each column is a step of the two-step mean.

# Integers that a pass adds up, for each batch anew: 2^22 of them are 64 MiB in two limbs. More would no longer be a
# table that is small beside the rows.
MOST_SUMS = 2**22
_SKEWNESS = 1.0  # of the columns that errors are predicted for, half of that of exponential ones


def refuse_in_passes(**given: Any) -> None:
    """What takes a table in memory is refused by name for a lazy frame, before anything is computed."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise ParameterError(name, "must be left out for a lazy frame: collect it first", brief(value))


def fits_in_a_pass(blocks: int, d: int) -> bool:
    """Whether a pass can add up sums and numbers of so many blocks, all dealings together; public numbers only."""
    return 2 * blocks * d <= MOST_SUMS


def require_sums(blocks: int, dealings: int, d: int) -> None:
    if not fits_in_a_pass(blocks * dealings, d):
        rule = f"times partitions and columns must be at most {MOST_SUMS // 2} for a lazy frame"
        raise ParameterError("blocks", rule, blocks * dealings * d)


def pass_plan(
    n: int,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    mechanism: str = "auto",
    sd: Any = None,
    blocks: Any = None,
    partitions: Any = None,
) -> PassPlan:
    """The plan asked for by name, or the one with the smallest predicted error."""
    mechanism, blocks, partitions = checked_way(n, mechanism, blocks, partitions)
    widths, known = known_widths(columns, sd), sd is not None
    found: list[PassPlan] = [CubeMean(epsilon)]
    if mechanism in ("auto", "subset"):
        found += _subset(n, epsilon, widths, known, blocks, partitions, forced=mechanism == "subset")
    if mechanism in ("auto", "two-step"):
        found += _two_step(n, epsilon, widths, known, forced=mechanism == "two-step")
    asked = [plan for plan in found if mechanism in ("auto", plan.mechanism)]
    best = min(asked, key=lambda plan: _error(plan, n, widths, DOUBT if known else 1.0))
    windowed = windowed_plan(n, columns, epsilon, widths.tolist()) if known and mechanism == "auto" else None
    if windowed is not None and isinstance(best, CubeMean):
        return windowed if way_error(windowed, n, widths) < way_error(best, n, widths) else best
    return best


def _error(plan: PassPlan, n: int, widths: FloatArray, doubt: float) -> float:
    """Predicted median error in standard deviations; that of depth of subset means must win by a factor."""
    if not isinstance(plan, SubsetMean):
        return way_error(plan, n, widths)
    # Block means are not corrected for skewness here: their median is off by skewness / (6 rows of a block).
    bias = _SKEWNESS * plan.plan.blocks / (6.0 * n)
    return doubt * (scatter(n, len(widths), float(plan.epsilon), plan.plan.blocks) + bias)


def _subset(
    n: int,
    epsilon: Fraction,
    widths: FloatArray,
    known: bool,
    blocks: int | None,
    partitions: int | None,
    forced: bool,
) -> list[PassPlan]:
    d = len(widths)
    count = blocks or _blocks(n, d, epsilon, widths, known)
    if count is None and forced:  # too few rows for it: the release says so
        count = n
    if count is None:
        return []
    dealings = partitions or dealings_for(count)
    if forced:
        require_sums(count, dealings, d)
    if not fits_in_a_pass(count * dealings, d):
        return []
    steps = grid_steps(scatter(n, d, float(epsilon), count), widths)
    return [SubsetMean(epsilon, SubsetPlan(count, dealings, steps, dealing="passes"))]


def _blocks(n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool) -> int | None:
    width = (DOUBT if known else 1.0) * math.exp(float(np.log(widths).mean()))
    return fewest_drawn_blocks(n, d, float(epsilon), width)


def _two_step(n: int, epsilon: Fraction, widths: FloatArray, known: bool, forced: bool) -> list[PassPlan]:
    plan = two_step_plan(n, len(widths), epsilon, widths, known, forced)
    if plan is None:
        return []
    plan = in_passes(plan)
    blocks = plan.centre.blocks + (0 if plan.spread is None else 2 * plan.spread.pairs)
    if not fits_in_a_pass(blocks, len(widths)):
        if forced:
            raise ParameterError("epsilon", "must be larger for a two-step mean of a lazy frame", show(epsilon))
        return []
    return [TwoStepMean(epsilon, plan)]


def in_passes(plan: TwoStepPlan) -> TwoStepPlan:
    """The plan with rows that draw their blocks by themselves; once for the centre, which need not be accurate."""
    centre = replace(plan.centre, dealing="passes", partitions=1, shifts=())
    return replace(plan, centre=centre, spread=None if plan.spread is None else replace(plan.spread, drawn=True))
