"""Values of blocks of rows that were dealt in secret, and the draws by their depth.

docs/proofs/mean.md, sections 1 to 5. Each statistic is a function of its own block: sums run over its rows in the order
in which they were dealt, and no block is standardised, centred or completed by others. NaN is a missing cell; nothing
warns of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import (
    block_table,
    drawn_block_table,
    drawn_blocks,
    filled_at_the_ends,
    one_by_one,
    secret_order,
)
from tukeydp.trusted.clipped_sums import STEPS, from_the_middle
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.points import sampler_on
from tukeydp.trusted.prepared import along, usual, usual_to_draw
from tukeydp.trusted.prices import DEPTH, Score, depth_of_blocks, kappa
from tukeydp.trusted.release import Charge, Misuse, Paid
from tukeydp.trusted.rows import BoundedColumns, Grid, relative_grid
from tukeydp.trusted.sampling.draws import BlockSampler, DepthSampler
from tukeydp.trusted.steps import Place

# Small blocks underestimate their skewness: Johnson's correction is raised by this factor (theory: 1 for large blocks).
# It moves the bias of a skewed column's release, never the guarantee; with 2.5 some shapes get worse.
_RAISED, _FEWEST = 1.5, 3  # and values, for a third moment


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

    def __post_init__(self) -> None:
        if self.dealing == "rows" and (self.partitions > 1 or self.shifts):
            raise Misuse("rows by themselves are in one partition: each of them moves one row")

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
    prepared = usual_to_draw(depth.rows, depth.grid, public_key, depth.counted, depth.epsilon)
    return sampler_on(prepared, depth.grid, depth.epsilon)


@dataclass(frozen=True, eq=False)
class BlockDepth:
    """Block means on their grid, whose depth counts by which epsilon, and how many are counted on. Not private."""

    rows: IntArray
    grid: Grid
    epsilon: Fraction
    counted: int


def block_depth(means: FloatArray, epsilon: Fraction, plan: SubsetPlan, secret_key: bytes) -> BlockDepth:
    """What `block_sampler` draws by."""
    table = filled_at_the_ends(means, Keystream(derived_key("coins", secret_key)))
    grid = relative_grid(plan.steps)
    # How many rows there are is not asked where it is secret: the plan says how many are counted on.
    counted = len(table) if plan.neighbours == "swap" else plan.partitions * plan.blocks
    return BlockDepth(grid.snap(table), grid, plan.sampler_epsilon(epsilon) / plan.partitions, counted)


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
    uniform = (stream.words(0, shape[0] * shape[1]) >> np.uint64(12)).astype(np.float64)
    gauss = map(NormalDist().inv_cdf, ((uniform + 0.5) * 2.0**-52).tolist())
    return np.fromiter(gauss, np.float64, uniform.size).reshape(shape) * np.array(sizes)


# Octaves below the width of the bounds that are told apart, and steps of an octave. On a finer grid a value shared by
# many pairs would be one point against all the empty ones between, and lose.
OCTAVES, _OCTAVE_STEPS = 30, 8
# Columns above which depth is taken along the axes alone. A spread is one column's matter, so that slanted directions
# add little; in so many columns they leave levels that fill next to nothing of any box, and a draw may take days.
_MANY_COLUMNS = 20
# Chance of the lower end, in sixteenths: for missing differences, and for zero ones. With 9, eight ninths of a column's
# differences may be zero before it counts as a column of equal values; with 10, for blocks of more parts, which are
# zero less often, four fifths, and a column of equal values is surely found.
_EVEN, _ZERO_LOW, _ZERO_LOW_OF_PARTS = 8, 9, 10
_MEDIAN = 0.6744897501960817  # of the size of a standard Gaussian variable


@dataclass(frozen=True)
class SpreadPlan:
    """How many blocks (pairs of halves), how many parts each has, and how far below the width they reach. Public.

    `drawn`: the number of rows is secret, and every row draws its block by itself.
    """

    pairs: int
    parts: int = 2
    octaves: int = OCTAVES
    drawn: bool = False


def log_differences(blocks: FloatArray) -> FloatArray:
    """log2 of the difference between the halves of each block, in widths of the bounds; NaN if a half has no value."""
    half = blocks.shape[1] // 2
    first, second = blocks[:, :half], blocks[:, half : 2 * half]
    return log_sizes(means(first), means(second), counts(first), counts(second))


def log_sizes(first: FloatArray, second: FloatArray, m_first: FloatArray, m_second: FloatArray) -> FloatArray:
    """log2 of differences between means of so many values, on the scale of one value; elementwise."""
    with np.errstate(all="ignore"):
        # Relative cells run from -1 to 1: twice the share of the width.
        size = np.abs(first - second) / 2 / np.sqrt(1 / m_first + 1 / m_second)
        return np.asarray(np.clip(np.log2(size), -OCTAVES, 0.0))


def log_deviations(blocks: FloatArray, parts: int, least: int = OCTAVES) -> FloatArray:
    """log2 of the standard deviation between the parts of each block, on the scale of `log_differences`.

    Parts are means of rows that were dealt side by side, weighted by how many values they have; with two parts this
    would be `log_differences` but for the odd row. NaN if fewer than two parts have a value; what is below 2^-least
    counts as no deviation.
    """
    places = np.array_split(np.arange(blocks.shape[1]), parts)
    found = [(means(blocks[:, rows]), counts(blocks[:, rows])) for rows in places]
    centres, weights = (np.stack([part[i] for part in found]) for i in range(2))
    there = (weights > 0).sum(axis=0)
    with np.errstate(all="ignore"):
        centres = np.where(weights > 0, centres, 0.0)
        away = centres - (weights * centres).sum(axis=0) / weights.sum(axis=0)
        deviation = np.sqrt((weights * away**2).sum(axis=0) / (there - 1))
        # Relative cells run from -1 to 1: twice the share of the width.
        size = deviation / 2 * (_MEDIAN / _MEDIANS)[there]
        return np.asarray(np.clip(np.log2(size), -least, 0.0))


# Median of the standard deviation of k standard Gaussian values, for k from 2: sqrt of a chi-squared median over k - 1.
_MEDIANS = np.array(
    [np.nan, np.nan, 0.6744897501960812, 0.8325546111576979, 0.8880641651696379, 0.9160641325847938, 0.9328944410913301]
)


def at_the_ends(
    table: FloatArray, stream: Keystream, octaves: int = OCTAVES, least: int = OCTAVES, zero_low: int = _ZERO_LOW
) -> FloatArray:
    """Differences that are missing, or zero, at one end of the range by a secret coin for each.

    They favour neither side, so that the others decide: in a yes/no column most differences of single rows are zero,
    and say nothing of its spread. Zero ones fall a little more often to the lower end, where a column of equal values
    belongs. A coin depends on its place alone, so rows of the result are functions of rows of the table. Zero is what
    lies at -least; the range ends at -octaves.
    """
    sixteenths = stream.words(0, table.size).reshape(table.shape) >> np.uint64(60)
    missing = np.isnan(table)
    low = sixteenths < np.where(missing, _EVEN, zero_low).astype(np.uint64)
    return np.where(missing | (table <= -least), np.where(low, -float(octaves), 0.0), table)


def spread_octaves(relative: FloatArray, charge: Charge, plan: SpreadPlan, public_key: bytes) -> FloatArray:
    """log2 of each column's standard deviation in widths of its bounds: pure epsilon-DP."""
    paid = charge.for_bounded_range()
    if not plan.drawn:  # where each row draws its block by itself, a row more or less moves one block, else all
        paid = paid.under("swap")
    in_sampler = 2 * paid.weight(depth_of_blocks(1))
    return spread_draws(relative, in_sampler, plan, public_key, paid.key())(paid.key("draw"))


def grouped_octaves(
    relative: FloatArray, groups: IntArray, count: int, charge: Charge, plan: SpreadPlan, public_key: bytes
) -> list[FloatArray]:
    """The same for every group, all of them together: every row draws a block of its group by itself.

    A row's number hangs on no other row and on no group, so that one that moves changes a block in each of two.
    """
    paid = charge.for_bounded_range()
    in_sampler = 2 * paid.weight(depth_of_blocks(1), count)
    dealt = dealt_blocks(relative, plan, paid.key("dealing"), groups, count)
    found = []
    for g in range(count):
        rows = dealt[g * plan.pairs : (g + 1) * plan.pairs]
        found.append(octave_draws(rows, in_sampler, plan, public_key, paid.key("coins", g))(paid.key("draw", g)))
    return found


def spread_draws(
    relative: FloatArray, in_sampler: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> Callable[[bytes], FloatArray]:
    """What `spread_octaves` draws from, once; each further key spends its epsilon again."""
    dealt = dealt_blocks(relative, plan, derived_key("dealing", secret_key))
    return octave_draws(dealt, in_sampler, plan, public_key, secret_key)


def dealt_blocks(
    relative: FloatArray, plan: SpreadPlan, dealing: bytes, groups: IntArray | None = None, count: int = 1
) -> FloatArray:
    """The table of the blocks' log differences; with groups that of the first one's blocks, then the next one's."""
    n = len(relative)
    order = secret_order(n, Keystream(dealing))
    least = max(OCTAVES, plan.octaves)
    halves = plan.parts == 2 and least == OCTAVES
    statistic = log_differences if halves else partial(log_deviations, parts=plan.parts, least=least)
    if plan.drawn:
        numbers = drawn_blocks(n, plan.pairs, Keystream(derived_key("blocks", dealing)))
        own = partial(one_by_one, statistic)
        return drawn_block_table(relative, plan.pairs, numbers, order, own, groups, count)
    return block_table(relative, plan.pairs, order, statistic)


def octave_draws(
    dealt: FloatArray, in_sampler: Fraction, plan: SpreadPlan, public_key: bytes, secret_key: bytes
) -> Callable[[bytes], FloatArray]:
    """The same from the table of the blocks' log differences."""
    d, least = dealt.shape[1], max(OCTAVES, plan.octaves)
    table = at_the_ends(
        dealt,
        Keystream(derived_key("coins", secret_key)),
        plan.octaves,
        least,
        _ZERO_LOW if plan.parts == 2 else _ZERO_LOW_OF_PARTS,
    )
    cells = plan.octaves * _OCTAVE_STEPS
    grid = Grid((Fraction(-plan.octaves),) * d, (Fraction(1, _OCTAVE_STEPS),) * d, (cells,) * d)
    rows, axes = grid.snap(table), np.eye(d, dtype=np.int64)
    prepared = along(rows, axes, grid) if d > _MANY_COLUMNS else usual(rows, grid, public_key, plan.pairs)
    sampler = sampler_on(prepared, grid, in_sampler)
    return lambda key: np.asarray(grid.point(sampler.draw(key)) - math.log2(_MEDIAN))


# Octaves by which spreads may differ from those assumed, down and up, and steps of an octave.
_DOWN, _UP, _FACTOR_STEPS = 4, 6, 8
# Chance of the lower end, in sixteenths, for pairs of equal rows. Mostly the upper one: where most pairs are equal, the
# spread is anybody's guess, and bounds that seem narrow lead to noise, which is safe. With 9 such tables (rare yes/no
# columns, nearly all zeros) had any scale, then blocks that are too few, and six of ten releases were random points
# between the bounds. With 0 tables of common yes/no columns seem more spread than they are.
_EQUAL_LOW = 2


def log_factors(blocks: FloatArray, assumed: FloatArray) -> FloatArray:
    """log2 of a pair's differences over those assumed, averaged over the columns in which its two rows differ.

    Half of log2 of the share of columns that differ is added: a yes/no column differs by 1 in a share of the pairs that
    is twice its variance, and would look too spread. A third row of a block is left out. -inf where all comparable
    columns are equal, NaN where none can be compared.
    """
    first, second = blocks[:, 0], blocks[:, 1]
    with np.errstate(all="ignore"):
        # Relative cells run from -1 to 1, twice the share of the width, and differ by sqrt(2) standard deviations.
        logs = np.log2(np.abs(first - second) * (assumed / 2.0 / math.sqrt(2.0)))
    differ, there = np.isfinite(logs).sum(axis=1), (~np.isnan(logs)).sum(axis=1)
    total = np.where(np.isfinite(logs), logs, 0.0).sum(axis=1)
    some = np.maximum(1, differ)
    equal = np.where(there == 0, np.nan, -np.inf)
    return np.asarray(np.where(differ > 0, total / some + np.log2(some / np.maximum(1, there)) / 2.0, equal))


def _factors_at_the_ends(table: FloatArray, stream: Keystream) -> FloatArray:
    """Pairs that say nothing at one end of the range, by a secret coin for each place."""
    sixteenths = stream.words(0, table.size).reshape(table.shape) >> np.uint64(60)
    low = sixteenths < np.where(np.isnan(table), 8, _EQUAL_LOW).astype(np.uint64)
    return np.where(np.isfinite(table), table, np.where(low, -float(_DOWN), float(_UP)))


# Rows of every group dealt to blocks by secret draws, and the means of the blocks (docs/proofs/groups.md, section 7).
#
# Every row of the table draws its block number by itself, before its group is looked at. A number by the row's place
# within its group would shift for all later rows when one leaves. So one row that is swapped, or moves from one group
# to another, changes at most one block of each of the two groups.

Means = list[list[Fraction | None]]


def grouped_block_means(
    relative: FloatArray, groups: IntArray, count: int, blocks: int, partitions: int, secret_key: bytes
) -> FloatArray:
    """For each of `count` groups a table of partitions times blocks rows, shape (count, rows, d); NaN is missing.

    A row of the data moves at most `partitions` rows of one group's table. Rows with a group of -1 are in none.
    """
    dealt = [
        _one_dealing(relative, groups, count, blocks, derived_key("dealing", i, secret_key)) for i in range(partitions)
    ]
    return np.concatenate(dealt, axis=1)


def _one_dealing(relative: FloatArray, groups: IntArray, count: int, blocks: int, key: bytes) -> FloatArray:
    """Rows are shuffled first, so that the order in which a block is summed tells nothing of a file's order."""
    n, d = relative.shape
    order = secret_order(n, Keystream(derived_key("order", key)))
    numbers = drawn_blocks(n, blocks, Keystream(derived_key("numbers", key)))
    members = groups[order] >= 0
    places = (groups[order] * blocks + numbers)[members]
    cells = relative[order][members]
    means = np.column_stack([block_means(cells[:, j], places, count * blocks) for j in range(d)])
    return means.reshape(count, blocks, d)


@np.errstate(all="ignore")  # no cell may warn
def block_means(cells: FloatArray, places: IntArray, count: int) -> FloatArray:
    """The mean of each block, corrected for skewness; NaN where a block has no value.

    Sums run over a block's own rows in the order of `cells`, one after the other (`np.bincount` adds so): what comes
    out for a block depends on its own rows and on nothing else, to the last digit.
    """
    there = ~np.isnan(cells)
    values, places = cells[there], places[there]
    present = np.bincount(places, minlength=count).astype(np.float64)
    mean = np.where(present > 0, _sums(places, values, count) / present, np.nan)
    centred = values - mean[places]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, places, values)
    np.maximum.at(high, places, values)
    # Products, not powers: a product is the same float wherever in an array it stands.
    squares = centred * centred
    second, third = _sums(places, squares, count), _sums(places, squares * centred, count)
    return corrected(Moments(present, mean, second, third, low, high))


def _sums(places: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(places, values, count), dtype=np.float64)


def partly_filled(table: FloatArray, stream: Keystream) -> FloatArray:
    """Missing cells at either end, by a secret coin for each place, but for rows without any value: those stay missing.

    Each row of the result is a function of the same row and of its place (docs/proofs/mean.md, section 2).
    """
    nothing = np.isnan(table).all(axis=1, keepdims=True)
    return np.where(nothing, np.nan, filled_at_the_ends(table, stream))


def deep_rows_of_groups(
    relative: FloatArray, groups: IntArray, count: int, steps: tuple[int, ...], public_key: bytes, charge: Charge
) -> Means:
    """A deep point among each group's rows: pure epsilon-DP for all groups together."""
    paid = charge.for_bounded_range().under("swap")
    # The coins hang on a row's place in the whole table, not in its group: those of other rows stay when it moves.
    filled = partly_filled(relative, Keystream(paid.key("coins")))
    tables = [filled[groups == g] for g in range(count)]
    return _deep_points(tables, len(relative), steps, 2 * paid.weight(DEPTH, count), public_key, paid)


def deep_blocks_of_groups(
    relative: FloatArray,
    groups: IntArray,
    count: int,
    blocks: int,
    partitions: int,
    steps: tuple[int, ...],
    public_key: bytes,
    charge: Charge,
) -> Means:
    """A deep point among each group's block means: two draws of bounded range epsilon / 2 at most, given the blocks."""
    paid = charge.consume(rho=charge.epsilon**2 / 16).under("swap")
    means = grouped_block_means(relative, groups, count, blocks, partitions, paid.key())
    tables = [partly_filled(means[g], Keystream(paid.key("coins", g))) for g in range(count)]
    # One group alone has as much noise as several: forecasts and the number of blocks count on it.
    each = 2 * paid.weight(depth_of_blocks(partitions), keys=max(2, count))
    return _deep_points(tables, means.shape[1], steps, each, public_key, paid)


def _deep_points(
    tables: list[FloatArray], rows: int, steps: tuple[int, ...], epsilon: Fraction, public_key: bytes, paid: Paid
) -> Means:
    """A deep point of each group's table, each by its own key; `rows` is public, and no table has more."""
    grid = relative_grid(steps)
    found: Means = []
    for g, table in enumerate(tables):
        prepared = usual_to_draw(grid.snap(table), grid, public_key, rows, epsilon)
        y = sampler_on(prepared, grid, epsilon).draw(paid.key("draw", g))
        found.append(list(grid.rational_point(y)))
    return found


def drawn_factor(relative: FloatArray, charge: Charge, assumed: FloatArray, public_key: bytes) -> float:
    """log2 of a factor between differences of pairs of rows and those assumed, which are public: pure epsilon-DP."""
    paid = charge.for_bounded_range().under("swap")
    order = secret_order(len(relative), Keystream(paid.key("dealing")))
    # Columns become one, so that a pair is a row of one number.
    pairs = block_table(relative, len(relative) // 2, order, lambda blocks: log_factors(blocks, assumed)[:, np.newaxis])
    table = _factors_at_the_ends(pairs, Keystream(paid.key("coins")))
    grid = Grid((Fraction(-_DOWN),), (Fraction(1, _FACTOR_STEPS),), ((_DOWN + _UP) * _FACTOR_STEPS,))
    prepared = usual(grid.snap(table), grid, public_key)
    y = sampler_on(prepared, grid, 2 * paid.weight(depth_of_blocks(1))).draw(paid.key("draw"))
    return float(grid.point(y)[0])


class SubsetPass:
    """Depth of subset means of rows that are read in passes: what a pass adds up, and one draw from it."""

    def __init__(self, plan: SubsetPlan, columns: BoundedColumns, charge: Charge) -> None:
        self._plan, self._paid = plan, charge.for_bounded_range().under(plan.neighbours)
        self.sums = BlockSums(columns, plan.blocks, plan.partitions, self._paid.key("dealings"))

    def draw(self, total: Sequence[int], public_key: bytes) -> list[int]:
        """A grid point deep among the block means: pure epsilon-DP."""
        means = np.concatenate([found for found, _ in self.sums.tables(total)])
        paid = self._paid
        return block_sampler(means, paid.epsilon, self._plan, public_key, paid.key()).draw(paid.key("draw"))


class SpreadPass:
    """Spreads of rows that are read in passes: halves 2b and 2b + 1 are those of block b."""

    def __init__(self, plan: SpreadPlan, columns: BoundedColumns, charge: Charge) -> None:
        self._plan, self._paid = plan, charge.for_bounded_range()
        self.sums = BlockSums(columns, 2 * plan.pairs, 1, self._paid.key("dealing"))

    def draw(self, total: Sequence[int], public_key: bytes) -> FloatArray:
        """log2 of each column's standard deviation in widths of its bounds: pure epsilon-DP."""
        ((means, counts),) = self.sums.tables(total)
        dealt = log_sizes(means[0::2], means[1::2], counts[0::2], counts[1::2])
        in_sampler, paid = 2 * self._paid.weight(depth_of_blocks(1)), self._paid
        return octave_draws(dealt, in_sampler, self._plan, public_key, paid.key())(paid.key("draw"))


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
                found[i, 0, j] = _block_sums(numbers, values[:, j], self.blocks)
                found[i, 1, j] = _block_sums(numbers, there[:, j], self.blocks)
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


def _block_sums(numbers: IntArray, weights: FloatArray, blocks: int) -> IntArray:
    """Of each block's weights. Floats that hold integers: over a piece sums are below 2^53, so exact (`PIECE`)."""
    return np.bincount(numbers, weights, minlength=blocks).astype(np.int64)
