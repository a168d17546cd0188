"""A clipped mean with cube noise, with the number of rows public or secret, and how far columns are clipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.clipped_sums import noised_counted_sums, noised_numbers
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge

# A clipped mean with cube noise: the step that cube, two-step and their rehearsals share.
#
# Every column is cut to its own range, which is public or was released before, and counted in the same number D of
# steps; a swap moves each column's sum by at most D, so noise with law e^(-epsilon max |z| / D) is pure epsilon-DP
# (docs/proofs/mean.md, section 4).

MOST_ROWS = 2**31
# Missing cells that stand out: more than so many median noises. And the share that is believed at most, since the mean
# of the rest is divided by what is left.
NOTICED, MOST_MISSING = 2.0, Fraction(9, 10)


def missing_shares(relative: FloatArray, charge: Charge) -> list[Fraction]:
    """Which share of each column is missing: pure epsilon-DP. Zero unless it stands out from the noise.

    A swap moves each count by at most 1. What the noise alone might be is subtracted, so that a table without missing
    cells is not disturbed.
    """
    return noised_shares(np.isnan(relative).sum(axis=0).tolist(), len(relative), charge)


def noised_shares(missing: list[int], n: int, charge: Charge) -> list[Fraction]:
    """The same from each column's number of missing cells among n rows."""
    usual = Fraction(NOTICED * median_of_noise(len(missing))) / charge.epsilon
    counts = (count - usual for count in noised_numbers(missing, charge))
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
        d = relative.shape[1]
        noised = noised_counted_sums(relative, self.fill, charge)
        weights = noised[d:] if self.fill is None else noised[d:] * d
        # At least one value: noise may leave less than none.
        return within_bounds([s / max(w, Fraction(1)) for s, w in zip(noised[:d], weights, strict=True)])
