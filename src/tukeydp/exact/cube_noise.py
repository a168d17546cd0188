"""Integer noise whose law falls with the largest coordinate: Pr[z] proportional to e^(-max_j |z_j| / scale), exactly.

The K-norm mechanism of Hardt and Talwar (2010) for the cube, on integers (docs/proofs/mean.md, section 4). With
q = e^(-1/scale): the sum s of d + 1 geometric variables is kept with the rational probability

    product over j = 1 ... d of (2 s + 1) / (2 (s + j)),

and z is uniform in {-s ... s}^d. Then s and z come with probability proportional to q^s, for every s >= max |z|.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from tukeydp.exact.noise import geometric
from tukeydp.randomness import Bits


def cube_noise(d: int, scale: Fraction, bits: Bits) -> list[int]:
    """d integers with one law in every column; exact for any rational scale > 0.

    Cost: one attempt in two fails at scale 1 and d = 1, one in 10^4 succeeds at d = 20; nearly all succeed where the
    scale is far above d^2.
    """
    while True:
        s = sum(geometric(scale, bits) for _ in range(d + 1))
        if bits.below(2**d * math.prod(range(s + 1, s + d + 1))) < (2 * s + 1) ** d:
            return [bits.below(2 * s + 1) - s for _ in range(d)]


def cube_deviation(d: int) -> float:
    """Standard deviation of one column's noise at scale 1, for scales far above 1."""
    return math.sqrt((d + 1) * (d + 2) / 3)


@cache
def median_of_noise(d: int) -> float:
    """Median size of one column's cube noise at scale 1: of s |u|, s of law Gamma(d + 1), u uniform in -1 ... 1."""
    from scipy.optimize import brentq
    from scipy.special import gammainc

    def share_within(t: float) -> float:
        # Pr[s |u| <= t] = Pr[s <= t] + t E[1/s; s > t]
        return float(gammainc(d + 1, t) + t / d * (1.0 - gammainc(d, t)))

    return float(brentq(lambda t: share_within(t) - 0.5, 1e-9, 10.0 * d + 10.0))
