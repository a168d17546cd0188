"""The cliff: how wide bounds may be before depth finds nothing. From public numbers only; a heuristic.

The box holds weight 1 at each of its points, the deep middle e^(epsilon T / 2). With bounds W standard deviations wide
the middle wins if, for Gaussian rows,

    max over l of [ (epsilon/2) l + d ln r_l + ln vol(unit ball) ] + ln(1 - e^(-epsilon/2))  >=  d ln W + margin,

r_l the radius of level l. Beyond it every release is a uniform point of the box, whatever the data.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

# Odds of the deep middle against the rest of the box: what is called meaningful, and what blocks are chosen for.
MEANINGFUL, SAFE = math.log(20), math.log(100)


@lru_cache(maxsize=4096)
def log_odds(rows: int, d: int, epsilon: float) -> float:
    """ln of the weight of the deep middle for Gaussian rows, in units of a box one standard deviation wide."""
    from scipy.special import ndtri

    # Depth at the top falls short of half the rows by about a square root.
    effective = int(rows - math.sqrt(rows))
    if effective < 4:
        return -math.inf
    levels = np.unique(np.linspace(1, effective // 2, min(effective // 2, 512)).astype(np.int64))
    radius = -ndtri(levels / effective)
    ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
    with np.errstate(divide="ignore"):
        weights = epsilon / 2 * levels + d * np.log(np.maximum(radius, 1e-9)) + ball
    return float(weights.max() + math.log(-math.expm1(-epsilon / 2)))


def widest_bounds(rows: int, d: int, epsilon: float, margin: float = MEANINGFUL) -> float:
    """How many standard deviations wide bounds may be, so that depth of so many rows finds the middle."""
    exponent = (log_odds(rows, d, epsilon) - margin) / d
    return math.exp(exponent) if exponent < 700 else math.inf
