"""Three ways to the mean of every group, each a frozen plan of public numbers (docs/proofs/groups.md).

All draws of one plan, over all groups together, are pure epsilon-DP. No plan knows how many rows a group has: blocks
are chosen for groups of equal size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.bounded import relative_grid
from tukeydp.depth.choice import chosen_notion
from tukeydp.exact.boxes import whole_grid
from tukeydp.exact.cube_noise import median_of_noise
from tukeydp.mechanisms.grouped_blocks import grouped_block_means, partly_filled
from tukeydp.mechanisms.grouped_estimates import estimates
from tukeydp.mechanisms.grouped_sums import GroupPlan, noised_group_sums
from tukeydp.mechanisms.mean_ways import skewness_bias
from tukeydp.mechanisms.subset_means import dealings_for, fewest_blocks, grid_steps, scatter
from tukeydp.privacy import Concentrated, PureDP, bounded_range
from tukeydp.randomness import Keystream
from tukeydp.sampling.cutting_planes import DepthSampler
from tukeydp.trusted.prices import DEPTH, depth_of_blocks
from tukeydp.trusted.release import Charge, Paid

# Rows of a block at least, on average: below, a fifth of the blocks and more would be empty, and single rows at all of
# epsilon are better than such blocks at half of it.
_FEWEST_ROWS_OF_BLOCK = 2.0
# How much larger the error of a quotient of noised sum and noised number is than that of the sum alone, for means in
# the middle half of the bounds. Decides between ways, nothing else.
QUOTIENT = 1.1

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
        plan = GroupPlan(self.epsilon, count, relative.shape[1], ())
        found = estimates(noised_group_sums(relative, groups, plan, charge), plan, None, None)
        return [[None if one.mean is None else Fraction(one.mean) for one in row] for row in found]


def _deep_points(
    tables: list[FloatArray], rows: int, steps: tuple[int, ...], epsilon: Fraction, public_key: bytes, paid: Paid
) -> Means:
    """A deep point of each group's table, each by its own key; `rows` is public, and no table has more."""
    grid, d = relative_grid(steps), len(steps)
    notion = chosen_notion(None, rows, d)
    found: Means = []
    for g, table in enumerate(tables):
        prepared = notion.prepare(grid.snap(table), grid, public_key)
        y = DepthSampler(prepared, within=whole_grid(grid), epsilon=epsilon).draw(paid.key("draw", g))
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
