"""Depth of subset means: the mean of any table, by the exponential mechanism on means of secretly dealt blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tukeydp.depth.notions import Notion
from tukeydp.mechanisms.cliff import SAFE, drawn_notion, log_odds
from tukeydp.sampling.cutting_planes import BlockSampler, DepthSampler, point_sampler
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import block_table, drawn_block_table, drawn_blocks, filled_at_the_ends, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import DEPTH, Score, depth_of_blocks, kappa
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import Grid, relative_grid

# Statistics of one block of rows, for many blocks of one size at once. NaN is a missing cell.
#
# Each is a function of its own block (docs/proofs/mean.md, section 2): sums run over the rows of a block in the order
# in which they were dealt, and no block is standardised, centred or completed by others. Without bounds cells may be
# infinite or their sums too large for a float: that happens in silence, a warning would tell of the data.

# Small blocks underestimate their skewness: Johnson's correction is raised by this factor (theory: 1 for large blocks).
# It moves the bias of a skewed column's release, never the guarantee; with 2.5 some shapes get worse.
_RAISED = 1.5
_FEWEST = 3  # values, for a third moment


@np.errstate(all="ignore")  # no cell may warn, whatever the caller has set
def means(blocks: FloatArray) -> FloatArray:
    """The mean of the values that each block has in each column; NaN where it has none."""
    present, values = _parts(blocks)
    return _quotient(values.sum(axis=1), present)


@np.errstate(all="ignore")
def corrected_means(blocks: FloatArray) -> FloatArray:
    """The means, moved so that their *median* is nearer to the population's mean (Johnson 1978).

    The median of the mean of m values lies skewness / (6 m) standard deviations off; each block estimates that from its
    own values. Never beyond the block's own smallest and largest value; the plain mean where a block has fewer than
    three values or no spread.
    """
    present, values = _parts(blocks)
    mean = _quotient(values.sum(axis=1), present)
    centred = np.where(np.isnan(blocks), 0.0, blocks - mean[:, np.newaxis, :])
    # Products are correctly rounded whatever their place in an array; powers need not be.
    squared = centred * centred
    second, third = squared.sum(axis=1), (squared * centred).sum(axis=1)
    low = np.where(np.isnan(blocks), np.inf, blocks).min(axis=1, initial=np.inf)
    high = np.where(np.isnan(blocks), -np.inf, blocks).max(axis=1, initial=-np.inf)
    return corrected(Moments(present, mean, second, third, low, high))


class Moments(NamedTuple):
    """Of each block and column: number of values, mean, sums of squares and cubes around it, smallest, largest."""

    present: FloatArray
    mean: FloatArray
    second: FloatArray
    third: FloatArray
    low: FloatArray
    high: FloatArray


@np.errstate(all="ignore")
def corrected(block: Moments) -> FloatArray:
    """The means, corrected for skewness: elementwise, so that no block changes another."""
    variance = block.second / (block.present - 1)
    cumulant = block.third * block.present / ((block.present - 1) * (block.present - 2))
    shift = _RAISED * cumulant / (6 * block.present * variance)
    usable = (block.present >= _FEWEST) & np.isfinite(shift)
    moved = np.clip(block.mean + np.where(usable, shift, 0.0), block.low, block.high)
    return np.asarray(np.where(usable, moved, block.mean))


def counts(blocks: FloatArray) -> FloatArray:
    """How many values each block has in each column."""
    return _parts(blocks)[0]


def _parts(blocks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers of values (blocks, columns), and the cells with zeros for missing ones."""
    missing = np.isnan(blocks)
    return (~missing).sum(axis=1).astype(np.float64), np.where(missing, 0.0, blocks)


def _quotient(total: FloatArray, present: FloatArray) -> FloatArray:
    return np.asarray(np.where(present > 0, total / present, np.nan))


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


@dataclass(frozen=True)
class SubsetPlan:
    """How many blocks each dealing has, how often they count, and the steps of the grid. Public, or released before.

    `shifts` are the standard deviations of the shifts, as numbers from -1 to 1, empty for none. With them every second
    partition is the one before it, shifted to the other side. `dealing` is how rows come to blocks: by a secret "order"
    of all of them, or, where their number is secret, by "draws" of each row, or not at all: "rows" count by themselves.
    In "passes" over a table larger than memory each row draws its block too, but the number of rows is public.
    """

    blocks: int
    partitions: int
    steps: tuple[int, ...]
    shifts: tuple[float, ...] = ()
    dealing: str = "order"

    @property
    def neighbours(self) -> str:
        """Between which tables the plan's draw is private."""
        return "swap" if self.dealing in ("order", "passes") else "add-remove"

    @property
    def score(self) -> Score:
        """A changed block is a swap in the block table, also where a row was added; a row by itself is one row more
        (docs/proofs/add-remove.md, section 4)."""
        return DEPTH if self.dealing == "rows" else depth_of_blocks(self.partitions)

    def sampler_epsilon(self, epsilon: Fraction) -> Fraction:
        """For all partitions together, in a sampler of weights e^(epsilon T / 2)."""
        return 2 * self.partitions * kappa(epsilon, *self.score, self.neighbours)


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


def subset_point(relative: FloatArray, charge: Charge, plan: SubsetPlan, public_key: bytes) -> list[int]:
    """A grid point deep among the block means: pure epsilon-DP in the rows of `relative` (numbers from -1 to 1)."""
    paid = charge.for_bounded_range().under(plan.neighbours)
    return subset_sampler(relative, paid.epsilon, plan, public_key, paid.key()).draw(paid.key("draw"))


def subset_sampler(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> DepthSampler | BlockSampler:
    """What `subset_point` draws from, once; each further draw spends its epsilon again."""
    return block_sampler(counted_means(relative, plan, secret_key), epsilon, plan, public_key, secret_key)


def block_sampler(
    means: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> DepthSampler | BlockSampler:
    """The same from the table of block means that counts."""
    depth = block_depth(means, epsilon, plan, secret_key)
    prepared = depth.notion.prepared_to_draw(depth.rows, depth.grid, public_key)
    return point_sampler(prepared, within=whole_grid(depth.grid), epsilon=depth.epsilon)


@dataclass(frozen=True, eq=False)
class BlockDepth:
    """Block means on their grid, and whose depth counts by which epsilon. Not private."""

    rows: IntArray
    grid: Grid
    notion: Notion
    epsilon: Fraction


def block_depth(means: FloatArray, epsilon: Fraction, plan: SubsetPlan, secret_key: bytes) -> BlockDepth:
    """What `block_sampler` draws by."""
    table = filled_at_the_ends(means, Keystream(derived_key("coins", secret_key)))
    grid = relative_grid(plan.steps)
    # How many rows there are is not asked where it is secret: the plan says how many are counted on.
    counted = len(table) if plan.neighbours == "swap" else plan.partitions * plan.blocks
    in_sampler = plan.sampler_epsilon(epsilon) / plan.partitions
    notion = drawn_notion(None, counted, table.shape[1], in_sampler)
    return BlockDepth(grid.snap(table), grid, notion, in_sampler)


def counted_means(relative: FloatArray, plan: SubsetPlan, secret_key: bytes) -> FloatArray:
    """The table that depth is computed of: partitions times blocks rows, of which a row of the data moves `partitions`.

    Shifts depend on the place alone, so that each row is a function of its own block.
    """
    dealt = range(plan.partitions // 2 if plan.shifts else plan.partitions)
    parts = []
    for i in dealt:
        means = _dealt_means(relative, plan, derived_key("dealing", i, secret_key))
        if plan.shifts:
            away = _shifts(means.shape, plan.shifts, Keystream(derived_key("shifts", i, secret_key)))
            parts += [np.clip(means + away, -1.0, 1.0), np.clip(means - away, -1.0, 1.0)]
        else:
            parts.append(means)
    return np.concatenate(parts)


def _dealt_means(relative: FloatArray, plan: SubsetPlan, key: bytes) -> FloatArray:
    n = len(relative)
    if plan.dealing == "rows":
        return relative
    if plan.dealing in ("draws", "passes"):
        numbers = drawn_blocks(n, plan.blocks, Keystream(derived_key("blocks", key)))
        statistic = corrected_means if plan.dealing == "draws" else means  # passes add up values, not their cubes
        return drawn_block_table(relative, plan.blocks, numbers, secret_order(n, Keystream(key)), statistic)
    if plan.blocks >= n and len(plan.shifts) == 0 and plan.partitions == 1:
        return relative  # rows by themselves: no block to deal them to
    return block_table(relative, plan.blocks, secret_order(n, Keystream(key)), corrected_means)


def _shifts(shape: tuple[int, ...], sizes: tuple[float, ...], stream: Keystream) -> FloatArray:
    """Gaussian shifts of the given standard deviations, for each place its own."""
    from scipy.special import ndtri

    uniform = (stream.words(0, shape[0] * shape[1]) >> np.uint64(12)).astype(np.float64)
    return np.asarray(ndtri((uniform.reshape(shape) + 0.5) * 2.0**-52) * np.array(sizes))
