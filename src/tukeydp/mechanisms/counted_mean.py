"""A clipped mean of a secret number of rows: noised sums over noised numbers of values (docs/proofs/add-remove.md, 3).

Values are counted from the middle of the bounds, -STEPS/2 to STEPS/2, and a value that is there counts STEPS/2 besides;
a missing cell adds nothing to either. So one row more or less moves each number by at most STEPS/2, and cube noise with
law e^(-2 epsilon max |z| / STEPS) is pure epsilon-DP. The quotient is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.mechanisms.clipped_sum import STEPS, within_bounds
from tukeydp.privacy import PureDP
from tukeydp.trusted.prices import sums_from_the_middle
from tukeydp.trusted.release import Charge

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
