"""How wide the bounds are in standard deviations, found out first, so that the mean can be taken in the way that suits.

One number is released: by what factor all columns are more or less spread than assumed. Rows are paired in secret; a
pair gives the geometric mean, over the columns in which its rows differ, of their difference over the assumed one, less
where they differ in few. The middle of the pairs' logarithms, on a grid of eighths of an octave, is released by depth
in one column: pure epsilon-DP (docs/proofs/mean.md, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.block_steps import drawn_factor
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge

# Shares of epsilon for it, the smallest that the rows suffice for; with more than the last the mean itself is
# noticeably worse than without.
_SHARES = (Fraction(1, 50), Fraction(1, 25), Fraction(3, 50), Fraction(2, 25), Fraction(1, 10), Fraction(3, 25))
# The factor is found if epsilon times rows is this much: of 60 made-up runs none was off by more than 3; with
# half of it one in ten was.
_ENOUGH = 60
# ln of the median of a geometric mean of d Gaussian differences, in standard deviations of a difference: the limit, and
# what one column has more.
_LIMIT, _ONE_MORE = -0.635, 0.241
_NARROWEST, WIDEST = 2.0, 512.0  # bounds in standard deviations: nothing beyond is believed


@dataclass(frozen=True)
class ScaleFirst:
    """Means that spend `scale` of epsilon on the scale, and the rest on means in the way that suits it."""

    epsilon: Fraction
    scale: Fraction

    @property
    def rest(self) -> Fraction:
        """What is left for the means."""
        return self.epsilon - self.scale

    @property
    def parts(self) -> dict[str, PureDP]:
        """The second step may turn out to be noise, which has no bounded range."""
        return {"scale": bounded_range(self.scale), "rest": PureDP(self.rest)}

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"epsilon_scale": self.scale, "epsilon_mean": self.rest}


def scale_epsilon(n: int, epsilon: Fraction) -> Fraction | None:
    """What is spent on the scale; None if n rows are too few for it: whatever epsilon is, a pair takes two."""
    return None if n < 2 else next((share * epsilon for share in _SHARES if share * epsilon * n >= _ENOUGH), None)


def released_widths(relative: FloatArray, charge: Charge, assumed: FloatArray, public_key: bytes) -> FloatArray:
    """Widths of the bounds in standard deviations, all by one factor from the `assumed`, which are public: pure DP."""
    drawn = drawn_factor(relative, charge, assumed, public_key)
    factor = 2.0**drawn / math.exp(_LIMIT + _ONE_MORE / relative.shape[1])
    return np.asarray(np.clip(assumed / factor, _NARROWEST, WIDEST))
