"""How many values each column has, with noise: pure epsilon-DP (docs/proofs/groups.md, section 4)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.cube_noise import cube_noise, quantile_of_noise
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.trusted.prices import sums_from_an_end
from tukeydp.trusted.release import Charge

TOLD = 0.99  # how surely a number of values must be told from none before there is a mean


def least_told(d: int, epsilon: Fraction, n: int) -> float:
    """A noised number of values below this cannot be told from none: a mean of it may be noise.

    0 where so few rows could not be told from none if every cell had a value: public, and then nothing can be said.
    """
    least = quantile_of_noise(d, 2 * TOLD - 1) / float(epsilon)
    return least if n >= 2 * least else 0.0


def value_counts(relative: FloatArray, charge: Charge) -> list[int]:
    """Noised numbers of values, whole and from 0 to n. A swap moves each by at most 1."""
    paid = charge.for_any_law()
    n, d = relative.shape
    there = (~np.isnan(relative)).sum(axis=0).tolist()
    noise = cube_noise(d, paid.scale(sums_from_an_end(STEPS)), paid.bits())
    return [max(0, min(n, round(Fraction(c * STEPS + z, STEPS)))) for c, z in zip(there, noise, strict=True)]
