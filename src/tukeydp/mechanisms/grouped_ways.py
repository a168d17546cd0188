"""Ways to the mean of every group, each a frozen plan of public numbers (docs/proofs/groups.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.mechanisms.mean_ways import CLIPPED_WIDTH, skewness_bias
from tukeydp.mechanisms.scale_step import ScaleFirst, released_widths, scale_epsilon
from tukeydp.mechanisms.subset_means import dealings_for, fewest_blocks, grid_steps, scatter
from tukeydp.mechanisms.two_step import DOUBT, FIRST_STEPS, TwoStepPlan, two_step_plan
from tukeydp.results.noise_quantiles import median_of_noise, quantile_of_noise
from tukeydp.trusted.account import Concentrated, PureDP, bounded_range, cost_of
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import (
    Means,
    deep_blocks_of_groups,
    deep_rows_of_groups,
    subset_point,
)
from tukeydp.trusted.clipped_sums import drawn_radii
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import BoundedColumns, relative_grid
from tukeydp.trusted.steps import Window, WindowSums, noised_sums
from tukeydp.trusted.sums import in_pieces

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
        return deep_rows_of_groups(relative, groups, count, self.steps, public_key, charge)


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
        dealt = self.blocks, self.partitions, self.steps
        return deep_blocks_of_groups(relative, groups, count, *dealt, public_key, charge)


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
