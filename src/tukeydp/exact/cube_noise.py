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

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.noise import geometric
from tukeydp.randomness import Bits

_PLACES = 1000  # quantiles of s that stand for its law in forecasts: good to three digits


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


def median_of_noise(d: int) -> float:
    """Median size of one column's cube noise at scale 1."""
    return quantile_of_noise(d, 0.5)


@cache
def quantile_of_noise(d: int, share: float, scales: tuple[float, ...] = (1.0,)) -> float:
    """Quantile of the size of the noise in d columns: of s |u|, s of law Gamma(d + 1), u uniform in -1 ... 1.

    For columns that are scaled afterwards, of all their noise together.
    """
    from scipy.optimize import brentq
    from scipy.special import gammainc

    relative = np.array(scales) / max(scales)

    def share_within(t: float) -> float:
        # Pr[s |u| <= t] = Pr[s <= t] + t E[1/s; s > t]
        limit = t / relative
        return float((gammainc(d + 1, limit) + limit / d * (1.0 - gammainc(d, limit))).mean())

    return float(brentq(lambda t: share_within(t) - share, 1e-9, 50.0 * d + 50.0)) * max(scales)


def share_all_within(limits: FloatArray) -> float:
    """Pr[every column's noise at scale 1 is at most its limit in size]: over s, the product of min(1, limit / s)."""
    from scipy.special import gammaincinv

    places = (np.arange(_PLACES) + 0.5) / _PLACES
    s = gammaincinv(len(limits) + 1, places)
    return float(np.minimum(1.0, limits[:, np.newaxis] / s).prod(axis=0).mean())
