"""Ways to the mean of every group, each a frozen plan of public numbers (docs/proofs/groups.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.data.records import in_pieces
from tukeydp.mechanisms.cliff import drawn_notion
from tukeydp.mechanisms.clipped_sum import drawn_radii
from tukeydp.mechanisms.mean_ways import CLIPPED_WIDTH, skewness_bias
from tukeydp.mechanisms.scale_step import ScaleFirst, released_widths, scale_epsilon
from tukeydp.mechanisms.subset_means import (
    Moments,
    corrected,
    dealings_for,
    fewest_blocks,
    grid_steps,
    scatter,
    subset_point,
)
from tukeydp.mechanisms.two_step import DOUBT, FIRST_STEPS, TwoStepPlan, two_step_plan
from tukeydp.results.noise_quantiles import median_of_noise, quantile_of_noise
from tukeydp.sampling.cutting_planes import point_sampler
from tukeydp.trusted.account import Concentrated, PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import drawn_blocks, filled_at_the_ends, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import DEPTH, depth_of_blocks
from tukeydp.trusted.release import Charge, Paid
from tukeydp.trusted.rows import BoundedColumns, relative_grid
from tukeydp.trusted.steps import Window, WindowSums, noised_sums

# Rows of every group dealt to blocks by secret draws, and the means of the blocks (docs/proofs/groups.md, section 7).
#
# Every row of the table draws its block number by itself, before its group is looked at. A number by the row's place
# within its group would shift for all later rows when one leaves. So one row that is swapped, or moves from one group
# to another, changes at most one block of each of the two groups.


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


# Three ways to the mean of every group, each a frozen plan of public numbers (docs/proofs/groups.md).
#
# All draws of one plan, over all groups together, are pure epsilon-DP. No plan knows how many rows a group has: blocks
# are chosen for groups of equal size.

# Rows of a block at least, on average: below, a fifth of the blocks and more would be empty, and single rows at all of
# epsilon are better than such blocks at half of it.
_FEWEST_ROWS_OF_BLOCK = 2.0
# How much larger the error of a quotient of noised sum and noised number is than that of the sum alone, for means in
# the middle half of the bounds. Decides between ways, nothing else.
QUOTIENT = 1.1
_TOLD = 0.95  # how surely a number of values must be told from none before there is a mean

Means = list[list[Fraction | None]]


class GroupWay(Protocol):
    """What is fixed before the data are looked at, the draw, and the error to be predicted."""

    @property
    def mechanism(self) -> str: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def guarantee(self) -> PureDP: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...

    def error(self, rows: int, widths: FloatArray) -> float:
        """Predicted median error in standard deviations, for groups of so many rows."""
        ...

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        """A mean for each of `count` groups from relative rows, None where nothing can be said; pure epsilon-DP."""
        ...


@dataclass(frozen=True)
class RowsOfGroups:
    """Depth of the rows themselves: a row that moves is taken from one group and added to another, half each."""

    epsilon: Fraction
    steps: tuple[int, ...]
    mechanism: str = "rows"

    @property
    def guarantee(self) -> PureDP:
        return bounded_range(self.epsilon)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def error(self, rows: int, widths: FloatArray) -> float:
        return scatter(rows, len(widths), float(self.epsilon), rows) + skewness_bias(1.0)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        paid = charge.for_bounded_range()
        # The coins hang on a row's place in the whole table, not in its group: those of other rows stay when it moves.
        filled = partly_filled(relative, Keystream(paid.key("coins")))
        tables = [filled[groups == g] for g in range(count)]
        return _deep_points(tables, len(relative), self.steps, 2 * paid.weight(DEPTH, count), public_key, paid)


@dataclass(frozen=True)
class BlocksOfGroups:
    """Depth of block means: a row that moves changes a block in each of two groups, so each has half of epsilon."""

    epsilon: Fraction
    blocks: int
    partitions: int
    steps: tuple[int, ...]
    mechanism: str = "subset"

    @property
    def guarantee(self) -> PureDP:
        """At most two draws of bounded range epsilon / 2 each, given the secret numbers of the rows."""
        return PureDP(self.epsilon, zcdp=Concentrated(self.epsilon**2 / 16))

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"blocks": self.blocks, "partitions": self.partitions}

    def error(self, rows: int, widths: FloatArray) -> float:
        filled = max(1, int(filled_blocks(rows, self.blocks)))
        return scatter(rows, len(widths), float(self.epsilon) / 2.0, filled) + skewness_bias(rows / self.blocks)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        paid = charge.consume(rho=self.guarantee.zcdp.rho)
        means = grouped_block_means(relative, groups, count, self.blocks, self.partitions, paid.key())
        tables = [partly_filled(means[g], Keystream(paid.key("coins", g))) for g in range(count)]
        # One group alone has as much noise as several: forecasts and the number of blocks count on it.
        each = 2 * paid.weight(depth_of_blocks(self.partitions), keys=max(2, count))
        return _deep_points(tables, means.shape[1], self.steps, each, public_key, paid)


@dataclass(frozen=True)
class SumsOfGroups:
    """Noised sums and numbers of values, counted from the middle of the bounds: all of epsilon for every group."""

    epsilon: Fraction
    mechanism: str = "cube"

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def error(self, rows: int, widths: FloatArray) -> float:
        noise = median_of_noise(2 * len(widths)) / (float(self.epsilon) * rows)
        return QUOTIENT * float(np.median(widths)) * noise

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        d = relative.shape[1]
        columns = BoundedColumns((Fraction(-1),) * d, (Fraction(1),) * d)
        window = Window((-1.0,) * d, (1.0,) * d, (math.nan,) * d)
        sums = WindowSums(columns, window, count, counted=tuple(range(d)))
        (total,) = in_pieces(np.column_stack([relative, np.where(groups < 0, np.nan, groups)]), sums)
        # A number of values that cannot be told from none has no mean.
        least = max(1.0, 2.0 / float(self.epsilon) * quantile_of_noise(sums.width, _TOLD))
        return [
            [_quotient(s, c) if c > least else None for s, c in zip(row[:d], row[d:], strict=True)]
            for row in noised_sums(sums, total, charge)
        ]


def _quotient(total: Fraction, count: Fraction) -> Fraction:
    return max(Fraction(-1), min(total / count, Fraction(1)))


def _deep_points(
    tables: list[FloatArray], rows: int, steps: tuple[int, ...], epsilon: Fraction, public_key: bytes, paid: Paid
) -> Means:
    """A deep point of each group's table, each by its own key; `rows` is public, and no table has more."""
    grid, d = relative_grid(steps), len(steps)
    notion = drawn_notion(None, rows, d, epsilon)
    found: Means = []
    for g, table in enumerate(tables):
        prepared = notion.prepared_to_draw(grid.snap(table), grid, public_key)
        y = point_sampler(prepared, within=whole_grid(grid), epsilon=epsilon).draw(paid.key("draw", g))
        found.append(list(grid.rational_point(y)))
    return found


def group_ways(
    rows: int,
    epsilon: Fraction,
    widths: FloatArray,
    doubt: float,
    blocks: int | None = None,
    partitions: int | None = None,
) -> dict[str, GroupWay]:
    """The ways that suffice for groups of `rows` rows between bounds of these widths, in standard deviations.

    They may be wider by the factor `doubt`. Noised sums always do; `blocks` that were asked for too.
    """
    d, found = len(widths), dict[str, GroupWay]()
    found["cube"] = SumsOfGroups(epsilon)
    width = doubt * math.exp(float(np.log(widths).mean()))
    if fewest_blocks(rows, d, float(epsilon), width) is not None:
        found["rows"] = RowsOfGroups(epsilon, grid_steps(scatter(rows, d, float(epsilon), rows), widths))
    count = blocks or enough_blocks(rows, fewest_blocks(rows, d, float(epsilon) / 2.0, width))
    if count is not None:
        error = scatter(rows, d, float(epsilon) / 2.0, max(1, int(filled_blocks(rows, count))))
        found["subset"] = BlocksOfGroups(epsilon, count, partitions or dealings_for(count), grid_steps(error, widths))
    return found


def enough_blocks(rows: int, needed: int | None) -> int | None:
    """So many that about `needed` of them get a row; None if they would have too few rows each."""
    most = int(rows / _FEWEST_ROWS_OF_BLOCK)
    if needed is None or most < 1 or filled_blocks(rows, most) < needed:
        return None
    low, high = 0, most
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if filled_blocks(rows, middle) >= needed else (middle, high)
    return high


def filled_blocks(rows: int, blocks: int) -> float:
    """How many of the blocks get a row at all, on average, where every row draws its own."""
    return -blocks * math.expm1(rows * math.log1p(-1.0 / blocks)) if blocks > 1 else float(min(rows, 1))


# Means of groups clipped where the data are: one range for all groups, found from all rows, then sums in every group.
#
# Scale, centre and radii are those of the whole table (`scale_step`, `two_step`, `clip_radii`): which group a row is in
# does not matter to them. The sums of groups are counted from the middle of the range that was found. Each step is pure
# DP given what was released before, so their epsilons add up (docs/proofs/groups.md, section 9).

# Shares of epsilon for the centre, the smallest that the rows suffice for, where the rows of a group are too few for
# depth of block means, which does better than sums after so large a share. The other ways are noise between the bounds,
# and medians. With a half the sums still have 38 %: in a range of 10 standard deviations they beat those in one of 30.
CENTRE_SHARES = (*FIRST_STEPS, Fraction(1, 5), Fraction(1, 4), Fraction(3, 10), Fraction(2, 5), Fraction(1, 2))


@dataclass(frozen=True)
class ClippedSumsOfGroups:
    """Centre and radii from all rows, then sums of every group between them. `plan` is for the whole table."""

    epsilon: Fraction
    plan: TwoStepPlan
    mechanism: str = "two-step"

    @property
    def for_sums(self) -> Fraction:
        """What centre and radii leave; missing cells need no step of their own, since values are counted."""
        return self.epsilon - self.plan.epsilons[0] - self.plan.epsilons[2]

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs."""
        centre, _, radii, *_ = self.plan.epsilons
        return {"centre": bounded_range(centre), "radii": bounded_range(radii), "sums": PureDP(self.for_sums)}

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        centre, _, radii, *_ = self.plan.epsilons
        return {"epsilon_centre": centre, "epsilon_radii": radii, "epsilon_mean": self.for_sums}

    def error(self, rows: int, widths: FloatArray) -> float:
        width = min(CLIPPED_WIDTH, float(np.median(widths)))
        return QUOTIENT * width * median_of_noise(2 * len(widths)) / (float(self.for_sums) * rows)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        run = charge.split(self.parts)
        y = subset_point(relative, run.charge("centre", "step", 0), self.plan.centre, public_key)
        centre = relative_grid(self.plan.centre.steps).point(y)
        assert self.plan.known is not None
        spread = 2.0 * np.array(self.plan.known)
        radii = drawn_radii(relative, centre, spread, run.charge("radii", "step", 1))
        low, high = np.maximum(-1.0, centre - radii * spread), np.minimum(1.0, centre + radii * spread)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        with np.errstate(all="ignore"):
            # A range of no width, at a bound, leaves its cells where it is.
            within = np.where(half > 0, (np.clip(relative, low, high) - middle) / half, relative * 0.0)
        sums = SumsOfGroups(self.for_sums)
        means = sums.draw(within, groups, count, public_key, run.charge("sums", "step", 2))
        places = list(zip(map(Fraction, middle.tolist()), map(Fraction, half.tolist()), strict=True))
        return [[None if v is None else m + h * v for v, (m, h) in zip(row, places, strict=True)] for row in means]


@dataclass(frozen=True)
class ScaledGroups(ScaleFirst):
    """How wide the bounds are, found out from all rows, then the means of groups in the way that suits.

    `n` rows in all, `rows` in a group if all are equal, `assumed` widths in standard deviations: public.
    """

    n: int
    rows: int
    assumed: tuple[float, ...]
    mechanism: str = "two-step"

    def error(self, rows: int, widths: FloatArray) -> float:
        return self.way(widths).error(rows, widths)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        run = charge.split(self.parts)
        scale_key, scale = derived_key("scale", public_key), run.charge("scale", "scaled", 0)
        widths = released_widths(relative, scale, np.array(self.assumed), scale_key)
        return self.way(widths).draw(relative, groups, count, public_key, run.charge("rest", "scaled", 1))

    def way(self, widths: FloatArray) -> GroupWay:
        """How the means are taken between bounds of these widths: of public and released numbers."""
        found = group_ways(self.rows, self.rest, widths, DOUBT)
        found.pop("rows", None)  # medians of yes/no columns, and of others of few values, are no means
        clipped = clipped_sums(self.n, self.rest, widths, FIRST_STEPS if "subset" in found else CENTRE_SHARES)
        if clipped is not None:
            found["two-step"] = clipped
        return min(found.values(), key=lambda way: way.error(self.rows, widths))


def clipped_sums(
    n: int, epsilon: Fraction, widths: FloatArray, shares: Sequence[Fraction]
) -> ClippedSumsOfGroups | None:
    """None if n rows are too few to find the range with any of these shares of epsilon for its centre."""
    plan = two_step_plan(n, len(widths), epsilon, widths, known=True, shares=shares)
    return None if plan is None else ClippedSumsOfGroups(epsilon, plan)


def scaled_groups(n: int, rows: int, epsilon: Fraction, assumed: FloatArray) -> ScaledGroups | None:
    """None if n rows are too few to find the scale."""
    scale = scale_epsilon(n, epsilon)
    return None if scale is None else ScaledGroups(epsilon, scale, n, rows, tuple(assumed.tolist()))
