"""Gaussian noise on integers, and the share of a budget that each use of it spends.

The noise is `trusted.laws.discrete_gaussian`; docs/proofs/baselines.md has its law and what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tukeydp.baselines.curve import LARGEST_ON_CURVE, ROUNDING_SHARE, multiplier
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import discrete_gaussian, exp_bracket


class Noise:
    """One (epsilon, delta) budget, spent in shares on integer statistics.

    Parameters
    ----------
    guarantee
        What all shares together cost.
    coordinates
        How many integers will be noised, at most. Public, like every argument here.
    bits
        Secret randomness.
    deviation
        Standard deviation in units of the sensitivity for the whole budget; the smallest possible one unless given.
    """

    def __init__(self, guarantee: ApproxDP, *, coordinates: int, bits: Bits, deviation: Fraction | None = None) -> None:
        self.deviation = multiplier(guarantee) if deviation is None else deviation
        self.spent = Fraction(0)
        self._least = _least_deviation(guarantee, coordinates)
        self._left = coordinates
        self._bits = bits

    def add(self, values: Sequence[int], *, squared_sensitivity: int, share: Fraction) -> list[Fraction]:
        """The values plus independent noise, in the values' own units.

        A swap must change the vector of values by at most sqrt(squared_sensitivity) in Euclidean length.
        """
        self.spent += share
        self._left -= len(values)
        if self.spent > 1 or self._left < 0:  # not an assert, which python -O would leave out
            raise AssertionError("more of the budget was asked for than there is")
        shift, deviation = self._scale(squared_sensitivity, share)
        return [Fraction((v << shift) + discrete_gaussian(deviation, self._bits), 1 << shift) for v in values]

    def standard_deviation(self, squared_sensitivity: int, share: Fraction) -> float:
        """That of the noise `add` would use; public."""
        shift, deviation = self._scale(squared_sensitivity, share)
        return float(Fraction(deviation, 1 << shift))

    def _scale(self, squared_sensitivity: int, share: Fraction) -> tuple[int, int]:
        """How many binary places to refine the integers by, and the noise's deviation on the refined ones."""
        squared = self.deviation**2 * squared_sensitivity / share
        short_of_least = (self._least**2 / squared).__ceil__()
        shift = (short_of_least.bit_length() + 1) // 2 if short_of_least > 1 else 0
        # Rounded up, so that sensitivity^2 / deviation^2 is at most share / multiplier^2.
        return shift, math.isqrt((squared * 4**shift).__floor__()) + 1


def _least_deviation(guarantee: ApproxDP, coordinates: int) -> int:
    """Discrete and rounded continuous noise of this deviation differ by less than the part of delta kept for it."""
    if guarantee.epsilon > LARGEST_ON_CURVE:
        return 1  # the multiplier then comes from concentrated DP, which needs no comparison with continuous noise
    growth = exp_bracket(guarantee.epsilon, 64)
    factor = 1 + growth.high * Fraction(2) ** growth.exponent
    return math.isqrt((factor * coordinates / (24 * ROUNDING_SHARE * guarantee.delta)).__ceil__()) + 1
