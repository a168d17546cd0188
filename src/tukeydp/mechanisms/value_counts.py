"""How many values each column has, with noise: pure epsilon-DP (docs/proofs/groups.md, section 4)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.randomness import Bits


def value_counts(relative: FloatArray, epsilon: Fraction, bits: Bits) -> list[int]:
    """Noised numbers of values, whole and from 0 to n. A swap moves each by at most 1."""
    n, d = relative.shape
    there = (~np.isnan(relative)).sum(axis=0).tolist()
    noise = cube_noise(d, STEPS / epsilon, bits)
    return [max(0, min(n, round(c + Fraction(z, STEPS)))) for c, z in zip(there, noise, strict=True)]
