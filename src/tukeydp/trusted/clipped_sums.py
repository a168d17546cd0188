"""Clipped sums with cube noise, numbers of values, and clip radii (docs/proofs/mean.md, sections 4 and 6).

All are integers of which a row moves each by so much at most; kernels say what a piece of rows adds to them in a pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import WORD, Group, LevelDraw, cube_noise
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import MOST_BEYOND, sums_from_an_end, sums_from_the_middle
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import Place

# Steps of a column's range: so fine that rounding to them is nothing beside the noise (the range over n epsilon), so
# coarse that sums of 2^31 rows fit in 64 bits. Even, so that the middle is a step.
STEPS = 2**30


@dataclass(frozen=True, eq=False)
class ClipRange:
    """Where each column is cut, as numbers from -1 to 1, and what a missing cell counts as. Public, or released."""

    low: FloatArray
    high: FloatArray
    fill: FloatArray

    def steps(self, relative: FloatArray) -> IntArray:
        """Cells in whole steps from 0 to STEPS, each by itself; missing ones at `fill`."""
        with np.errstate(all="ignore"):
            filled = np.where(np.isnan(relative), self.fill, relative)
            share = (filled - self.low) / (self.high - self.low)
            # Once more after rounding: what is summed lies in 0 ... STEPS whatever floats did before.
            return np.clip(np.rint(np.clip(share, 0.0, 1.0) * STEPS).astype(np.int64), 0, STEPS)


def clipped_mean(relative: FloatArray, where: ClipRange, charge: Charge) -> list[Fraction]:
    """The mean of the cut columns plus noise, as numbers from -1 to 1 and perhaps beyond: pure epsilon-DP."""
    return noised_mean(where.steps(relative).sum(axis=0).tolist(), len(relative), where, charge)


def noised_mean(sums: list[int], n: int, where: ClipRange, charge: Charge) -> list[Fraction]:
    """The same from the sums of the n rows' steps."""
    paid = charge.for_any_law().under("swap")
    noise = cube_noise(len(sums), paid.scale(sums_from_an_end(STEPS)), paid.bits())
    return [
        Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(s + z, n * STEPS)
        for low, high, s, z in zip(where.low.tolist(), where.high.tolist(), sums, noise, strict=True)
    ]


def rough_mean(relative: FloatArray, charge: Charge) -> FloatArray:
    """Means over the values that are there, from noised sums and noised numbers of values: pure epsilon-DP.

    Cells are counted from the middle, -STEPS/2 to STEPS/2, and a value counts STEPS/2 besides; a missing cell adds
    nothing to either. So a swap moves each of the 2d sums by at most STEPS, also where a cell goes missing.
    """
    values, there = from_the_middle(relative)
    return noised_rough_mean(values.sum(axis=0).tolist(), there.sum(axis=0).tolist(), charge)


def from_the_middle(relative: FloatArray) -> tuple[IntArray, IntArray]:
    """Cells in whole steps from -STEPS/2 to STEPS/2, missing ones 0, each by itself; and 1 where there is a value."""
    half = STEPS // 2
    there = ~np.isnan(relative)
    with np.errstate(all="ignore"):
        values = np.clip(np.rint(np.where(there, relative, 0.0) * half).astype(np.int64), -half, half)
    return values, there.astype(np.int64)


def noised_rough_mean(values: list[int], there: list[int], charge: Charge) -> FloatArray:
    """The rough mean from the columns' sums and numbers of values."""
    paid = charge.for_any_law()
    d, half = len(values), STEPS // 2
    noise = cube_noise(2 * d, paid.scale(sums_from_the_middle(half)), paid.bits())
    sums = [s + z for s, z in zip(values, noise[:d], strict=True)]
    weights = [half * c + z for c, z in zip(there, noise[d:], strict=True)]
    return np.array([max(-1.0, min(1.0, s / max(w, half))) for s, w in zip(sums, weights, strict=True)])


_HALF = STEPS // 2
_ROWS_AT_A_TIME = 2**20  # their sums fit in 64 bits; Python's integers add those up, however many rows there are


def counted_sums(relative: FloatArray, fill: tuple[float, ...] | None) -> list[int]:
    """Sums of the values in whole steps, and of STEPS/2 for each that is there: exact, whatever the number of rows."""
    d = relative.shape[1]
    total = [0] * (d + (d if fill is None else 1))
    for start in range(0, len(relative), _ROWS_AT_A_TIME):
        part = relative[start : start + _ROWS_AT_A_TIME]
        there = ~np.isnan(part)
        with np.errstate(all="ignore"):
            filled = np.where(there, part, 0.0 if fill is None else np.array(fill))
            # Once more after rounding: what is summed lies in -STEPS/2 ... STEPS/2 whatever floats did before.
            values = np.clip(np.rint(filled * _HALF).astype(np.int64), -_HALF, _HALF)
        counts = there.sum(axis=0).tolist() if fill is None else [len(part)]
        added = [*values.sum(axis=0).tolist(), *(_HALF * count for count in counts)]
        total = [a + b for a, b in zip(total, added, strict=True)]
    return total


# How far from the centre each column is clipped, in spreads: drawn for all columns at once.
#
# Radii so large that few rows of any column lie beyond are likely, small ones more than large ones. The score of radii
# is minus the largest number of rows beyond the radius of a column, so that a swap moves it by at most 1, however many
# columns there are: pure epsilon-DP (docs/proofs/mean.md, section 6).

# In spreads. Two cover a yes/no column, three to four nearly all of a bell-shaped one, 44 codes such as 99 for unknown,
# far from a narrow bulk. Fewer than two are for spreads that were read too large, the last, which clips nothing, for
# those read far too small. Finer steps from two to eleven, where most columns end: noise is as wide as the radius.
RADII = (0.25, 0.5, 1.0, 2.0, 3.0, 4.5, 7.0, 11.0, 22.0, 44.0, math.inf)
# What each weighs before the data are looked at: from two on about radius^-2. With flatter weights light-tailed columns
# get radii, and noise, half as large again; with steeper ones tails are cut off, and a hundred rows of codes are not
# believed. Below two rows beyond are many, and decide by themselves.
WEIGHTS = (61, 121, 242, 484, 215, 96, 40, 16, 4, 1, 1)
# Weight of each radius and all larger ones; none beyond the last.
_LARGER = tuple(sum(WEIGHTS[i:]) for i in range(len(WEIGHTS)))


def drawn_radii(relative: FloatArray, centre: FloatArray, spread: FloatArray, charge: Charge) -> FloatArray:
    """One radius for each column: pure epsilon-DP, given centre and spread."""
    return radii_of_counts(rows_beyond(relative, centre, spread), charge)


def radii_of_counts(beyond: IntArray, charge: Charge) -> FloatArray:
    """The same from the numbers of rows beyond each radius of each column."""
    paid = charge.for_bounded_range()
    return drawn_by_weight(beyond, paid.weight(MOST_BEYOND), paid.bits())


def drawn_by_weight(beyond: IntArray, weight: Fraction, bits: Bits) -> FloatArray:
    """One radius for each column, by the weight of a row beyond."""
    return np.array([RADII[i] for i in _drawn(beyond, weight, bits)])


def rows_beyond(relative: FloatArray, centre: FloatArray, spread: FloatArray) -> IntArray:
    """For each column and radius, how many rows lie farther out. Missing cells do not; each row counts by itself."""
    with np.errstate(all="ignore"):
        away = np.abs(relative - centre) / spread
    return np.array([(away > radius).sum(axis=0) for radius in RADII], dtype=np.int64).T


def _drawn(beyond: IntArray, weight: Fraction, bits: Bits) -> list[int]:
    """Places in RADII, with probability proportional to their weights times e^(-weight x the most rows beyond).

    Level l of radii says that at most `most - l` rows of any column lie beyond: from then on each column's radii are
    the last few of the list, and have a known weight together. So a level is drawn, as in `boxem`, and radii in it.
    """
    most = int(beyond.max())
    groups, lowest = [], 0
    for rows in sorted({int(count) for count in beyond.flat if count >= beyond[:, -1].max()}, reverse=True):
        groups.append(Group(lowest, most - rows, _weight(_smallest(beyond, rows))))
        lowest = most - rows + 1
    level, _ = LevelDraw(groups, 2 * weight).finish(bits.take(WORD), bits)
    return [_one(first, bits) for first in _smallest(beyond, most - level)]


def _smallest(beyond: IntArray, rows: int) -> list[int]:
    """For each column the place of the smallest radius with at most so many rows beyond."""
    return [int(place) for place in (beyond > rows).sum(axis=1)]


def _weight(first: list[int]) -> int:
    total = 1
    for place in first:
        total *= _LARGER[place]
    return total


def _one(first: int, bits: Bits) -> int:
    """A place from `first` on, by the weights."""
    rest = bits.below(_LARGER[first])
    place = first
    while rest >= WEIGHTS[place]:
        rest -= WEIGHTS[place]
        place += 1
    return place


def noised_numbers(counts: Sequence[int], charge: Charge) -> list[Fraction]:
    """Numbers of which a row moves each by at most 1, with noise in parts of 1/STEPS: pure epsilon-DP."""
    paid = charge.for_any_law()
    noise = cube_noise(len(counts), paid.scale(sums_from_an_end(STEPS)), paid.bits())
    return [Fraction(c * STEPS + z, STEPS) for c, z in zip(counts, noise, strict=True)]


def noised_counted_sums(relative: FloatArray, fill: tuple[float, ...] | None, charge: Charge) -> list[Fraction]:
    """Noised sums of a secret number of rows, then numbers of values, a value at the bound being 1: pure epsilon-DP."""
    paid = charge.for_any_law()
    exact = counted_sums(relative, fill)
    noise = cube_noise(len(exact), paid.scale(sums_from_the_middle(_HALF)), paid.bits("step"))
    return [Fraction(s + z, _HALF) for s, z in zip(exact, noise, strict=True)]


# Sums and counts of integers that rows add to a pass over a table that is larger than memory.
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
