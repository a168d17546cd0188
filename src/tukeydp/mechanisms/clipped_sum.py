"""A clipped mean with cube noise, with the number of rows public or secret, and how far columns are clipped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import WORD, Group, LevelDraw, cube_noise
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import MOST_BEYOND, sums_from_an_end, sums_from_the_middle
from tukeydp.trusted.release import Charge

# A clipped mean with cube noise: the step that cube, two-step and their rehearsals share.
#
# Every column is cut to its own range, which is public or was released before, and counted in the same number D of
# steps; a swap moves each column's sum by at most D, so noise with law e^(-epsilon max |z| / D) is pure epsilon-DP
# (docs/proofs/mean.md, section 4).

# Steps of a column's range: so fine that rounding to them is nothing beside the noise (the range over n epsilon), so
# coarse that sums of 2^31 rows fit in 64 bits. Even, so that the middle is a step.
STEPS = 2**30
MOST_ROWS = 2**31
# Missing cells that stand out: more than so many median noises. And the share that is believed at most, since the mean
# of the rest is divided by what is left.
NOTICED, MOST_MISSING = 2.0, Fraction(9, 10)


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
    paid = charge.for_any_law()
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


def missing_shares(relative: FloatArray, charge: Charge) -> list[Fraction]:
    """Which share of each column is missing: pure epsilon-DP. Zero unless it stands out from the noise.

    A swap moves each count by at most 1. What the noise alone might be is subtracted, so that a table without missing
    cells is not disturbed.
    """
    return noised_shares(np.isnan(relative).sum(axis=0).tolist(), len(relative), charge)


def noised_shares(missing: list[int], n: int, charge: Charge) -> list[Fraction]:
    """The same from each column's number of missing cells among n rows."""
    paid = charge.for_any_law()
    d = len(missing)
    noise = cube_noise(d, paid.scale(sums_from_an_end(STEPS)), paid.bits())
    usual = Fraction(NOTICED * median_of_noise(d)) / paid.epsilon
    counts = (Fraction(c * STEPS + z, STEPS) - usual for c, z in zip(missing, noise, strict=True))
    return [max(Fraction(0), min(c / n, MOST_MISSING)) for c in counts]


def without_missing(mean: list[Fraction], fill: FloatArray, shares: list[Fraction]) -> list[Fraction]:
    """The mean over the values that are there, from one in which missing cells counted as `fill`: post-processing."""
    return [
        Fraction(f) + (v - Fraction(f)) / (1 - share) for v, f, share in zip(mean, fill.tolist(), shares, strict=True)
    ]


def within_bounds(relative: list[Fraction]) -> list[Fraction]:
    """Moved back to the bounds where noise has carried a mean beyond: post-processing."""
    return [max(Fraction(-1), min(v, Fraction(1))) for v in relative]


# A clipped mean of a secret number of rows: noised sums over noised numbers of values (docs/proofs/add-remove.md, 3).
#
# Values are counted from the middle of the bounds, -STEPS/2 to STEPS/2, and a value that is there counts STEPS/2
# besides; a missing cell adds nothing to either. So one row more or less moves each number by at most STEPS/2, and cube
# noise with law e^(-2 epsilon max |z| / STEPS) is pure epsilon-DP. The quotient is post-processing.

_HALF = STEPS // 2
_ROWS_AT_A_TIME = 2**20  # their sums fit in 64 bits; Python's integers add those up, however many rows there are


@dataclass(frozen=True)
class CountedMean:
    """`fill` is what missing cells count as, in relative units; None to count the values of each column."""

    epsilon: Fraction
    fill: tuple[float, ...] | None = None
    mechanism: str = "cube"

    @property
    def guarantee(self) -> PureDP:
        return PureDP(self.epsilon, neighbours="add-remove")

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"epsilon_mean": self.epsilon}

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        """Not public: it falls with the number of rows."""
        return None

    def coordinates(self, d: int) -> int:
        """Numbers that get noise: sums, and one number of values for all columns or one for each."""
        return d + (d if self.fill is None else 1)

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        paid = charge.for_any_law()
        d = relative.shape[1]
        exact = counted_sums(relative, self.fill)
        noise = cube_noise(self.coordinates(d), paid.scale(sums_from_the_middle(_HALF)), paid.bits("step"))
        noised = [s + z for s, z in zip(exact, noise, strict=True)]
        weights = noised[d:] if self.fill is None else noised[d:] * d
        # At least one value: noise may leave less than none.
        return within_bounds([Fraction(s, max(w, _HALF)) for s, w in zip(noised[:d], weights, strict=True)])


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
