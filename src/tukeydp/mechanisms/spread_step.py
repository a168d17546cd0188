"""The spread of every column, by depth of log differences between halves, or parts, of secretly dealt blocks.

The halves of a block give u = |difference of means| / sqrt(1/m_a + 1/m_b), whose median is 0.6745 standard deviations
where block means are about Gaussian, whatever is missing. More than two parts give the standard deviation between
them, which scatters less. Both are functions of the block's own rows. The deepest point of their logarithms, on a grid
of eighths of an octave, is released by `boxem`: pure epsilon-DP (docs/proofs/mean.md, section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

import numpy as np

from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import AxisAligned
from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.mechanisms.subset_means import counts, means
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import block_table, drawn_block_table, drawn_blocks, one_by_one, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import depth_of_blocks
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling.draws import DepthSampler

# Octaves below the width of the bounds that are told apart, and steps of an octave. On a finer grid a value shared by
# many pairs would be one point against all the empty ones between, and lose.
OCTAVES, _STEPS = 30, 8
# Width of that range in standard deviations of what is ranked, by the number of parts of a block: log differences of
# two halves spread over an octave or so, those of more parts over less (logarithms of chi variables). Too small a
# number here and releases fall off the cliff; a larger one asks for more rows.
_ASSUMED_WIDTHS = {2: 25.0, 3: 43.0, 4: 57.0, 5: 69.0, 6: 78.0}
MOST_PARTS = max(_ASSUMED_WIDTHS)
_FEWEST_PAIRS = 16
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


def spread_plan(n: int, d: int, epsilon: Fraction, parts: int = 2, octaves: int = OCTAVES) -> SpreadPlan | None:
    """The fewest blocks that keep a safe distance from the cliff; None if n rows are too few."""
    width = _ASSUMED_WIDTHS[parts] * octaves / OCTAVES

    def safe(pairs: int) -> bool:
        return log_odds(pairs, d, float(epsilon)) - d * math.log(width) >= SAFE

    low, high = _FEWEST_PAIRS - 1, n // parts
    if high < _FEWEST_PAIRS or not safe(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return SpreadPlan(high, parts, octaves)


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
        size = deviation / 2 * (_MEDIAN / _medians(parts))[there]
        return np.asarray(np.clip(np.log2(size), -least, 0.0))


@cache
def _medians(parts: int) -> FloatArray:
    """Median of the standard deviation of k standard Gaussian values, for k up to `parts`; none for fewer than two."""
    from scipy.special import gammaincinv

    freedom = np.arange(1, parts) / 2
    return np.concatenate([[np.nan, np.nan], np.sqrt(gammaincinv(freedom, 0.5) / freedom)])


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
    cells = plan.octaves * _STEPS
    grid = Grid((Fraction(-plan.octaves),) * d, (Fraction(1, _STEPS),) * d, (cells,) * d)
    notion = AxisAligned() if d > _MANY_COLUMNS else chosen_notion(None, plan.pairs, d)
    prepared = notion.prepare(grid.snap(table), grid, public_key)
    sampler = DepthSampler(prepared, within=whole_grid(grid), epsilon=in_sampler)
    return lambda key: np.asarray(grid.point(sampler.draw(key)) - math.log2(_MEDIAN))
