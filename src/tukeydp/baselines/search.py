"""Private order statistics by binary search over noised counts.

Every count is a sum over rows of terms between 0 and 1, so a swap moves it by at most 1 and a vector of d such counts
by at most sqrt(d). All noise is Gaussian: a search costs what one Gaussian release with its share would.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from tukeydp.baselines.clipping import lengths
from tukeydp.baselines.noise import Noise
from tukeydp.trusted.parameters import FloatArray, IntArray

# All of these are public numbers: they decide accuracy, never privacy.
MEDIAN_ROUNDS = 32  # the finest median is the region's size over 2^31; each round more makes all of them noisier
SCALE_ROUNDS = 7  # for 2^7 scales
_SCALES_PER_DOUBLING = 4  # so the smallest scale is the largest over 2^32
# Rows left outside a radius, in standard deviations of a noised count. Fewer: noise alone may drive the search to the
# end of its scale. More: more rows are clipped than need be.
_SURE = 3.0


@dataclass(frozen=True)
class Budget:
    """A share of the noise, to be spent in one search."""

    noise: Noise
    share: Fraction

    def deviation_of_count(self, rounds: int, columns: int = 1) -> float:
        return self.noise.standard_deviation(columns, self.share / rounds)


def medians(w: FloatArray, extent: float, budget: Budget) -> FloatArray:
    """Roughly the median of each column, somewhere in -extent ... extent. A missing row is half below, half above."""
    step = 2.0 * extent / 2**MEDIAN_ROUNDS

    def at(index: IntArray) -> FloatArray:
        return (index + 1.0) * step - extent

    return at(_search(Counts(w), at, MEDIAN_ROUNDS, float(len(w)), budget))


def spreads(w: FloatArray, centre: FloatArray, largest: float, budget: Budget) -> FloatArray:
    """Roughly the median distance from the centre, column by column, on a geometric scale that ends at `largest`."""
    scales = partial(_scales, largest)
    return scales(_search(Counts(np.abs(w - centre)), scales, SCALE_ROUNDS, float(len(w)), budget))


def enclosing_radius(w: FloatArray, largest: float, budget: Budget, clip: float) -> float:
    """Roughly the smallest length, on a geometric scale that ends at `largest`, that all but `clip` rows stay below.

    At least so many rows are left outside that noise in the counts alone will hardly drive the search to the end of its
    scale. A missing row counts as inside.
    """
    inside = Counts(np.nan_to_num(lengths(w))[:, np.newaxis])
    outside = max(clip, _SURE * budget.deviation_of_count(SCALE_ROUNDS))
    target = max(len(w) - outside, len(w) / 2)
    scales = partial(_scales, largest)
    return float(scales(_search(inside, scales, SCALE_ROUNDS, 2.0 * target, budget))[0])


def clipped_rows(noise: Noise, columns: int, share: Fraction) -> float:
    """How many rows to leave outside: about 2 sqrt(d / (2 rho)), where their bias balances the noise."""
    rho = float(share) / (2.0 * float(noise.deviation) ** 2)
    return 2.0 * math.sqrt(columns / (2.0 * rho))


class Counts:
    """How many rows are at or below a threshold, in every column, and twice that: a missing row counts half."""

    def __init__(self, w: FloatArray) -> None:
        self._sorted = [np.sort(column[~np.isnan(column)]) for column in w.T]
        self._n = len(w)

    @property
    def columns(self) -> int:
        return len(self._sorted)

    def doubled(self, at: FloatArray) -> list[int]:
        """Whole numbers, of which a swap moves each by at most 2."""
        below = (int(np.searchsorted(v, t, side="right")) for v, t in zip(self._sorted, at, strict=True))
        return [2 * count + self._n - len(v) for count, v in zip(below, self._sorted, strict=True)]


def _scales(largest: float, index: IntArray) -> FloatArray:
    return np.asarray(largest * 2.0 ** ((index + 1.0 - 2**SCALE_ROUNDS) / _SCALES_PER_DOUBLING))


def _search(
    counts: Counts, at: Callable[[IntArray], FloatArray], rounds: int, target: float, budget: Budget
) -> IntArray:
    """The first of the 2^rounds places at which the doubled count is at least `target`, in every column."""
    low = np.zeros(counts.columns, dtype=np.int64)
    high = np.full(counts.columns, 2**rounds - 1, dtype=np.int64)
    for _ in range(rounds):
        middle = (low + high) // 2
        noised = budget.noise.add(
            counts.doubled(at(middle)), squared_sensitivity=4 * counts.columns, share=budget.share / rounds
        )
        enough = np.array([float(v) >= target for v in noised])
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return low
