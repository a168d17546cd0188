"""A clipped mean with cube noise: the step that cube, two-step and their rehearsals share.

Every column is cut to its own range, which is public or was released before, and counted in the same number D of steps;
a swap moves each column's sum by at most D, so noise with law e^(-epsilon max |z| / D) is pure epsilon-DP
(docs/proofs/mean.md, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.exact.cube_noise import cube_noise, median_of_noise
from tukeydp.trusted.prices import sums_from_an_end, sums_from_the_middle
from tukeydp.trusted.release import Charge

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
