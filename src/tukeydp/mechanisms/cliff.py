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

from tukeydp.arrays import FloatArray

# Odds of the deep middle against the rest of the box: what is called meaningful, and what blocks are chosen for.
MEANINGFUL, SAFE = math.log(20), math.log(100)
# Bounds in standard deviations: narrower ones hold no column of measurements; beyond the other nobody cares.
_NARROWEST, _MANY = 4.0, 1e6
_LARGEST_EXPONENT = 700.0  # e to it is the end of the floats
_TINY, _HUGE = 1e-100, 1e100  # epsilons beyond are taken as these: floats would give out, and nothing changes


@lru_cache(maxsize=4096)
def log_odds(rows: int, d: int, epsilon: float) -> float:
    """ln of the weight of the deep middle for Gaussian rows, in units of a box one standard deviation wide."""
    from scipy.special import ndtri

    epsilon = min(max(epsilon, _TINY), _HUGE)
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
    return math.exp(min(exponent, _LARGEST_EXPONENT))


def width_sentence(widest: float, n: int, widths: FloatArray, known: bool) -> str:
    """The cliff in words, from public numbers; `widths` are the bounds in standard deviations, `known` or assumed."""
    d = len(widths)
    width = math.exp(float(np.log(widths).mean()))
    rows = f"for {n} rows and {d} column{'s' if d > 1 else ''}"
    beyond = "beyond that a release is a random point between the bounds"
    if widest < _NARROWEST:
        return f"Too few rows: {rows} with this epsilon no bounds are narrow enough, and a release is mostly noise."
    sentence = f"Bounds may be up to {_in_words(widest)} standard deviations wide {rows}; {beyond}."
    if known and width > widest:
        sentence += f" By the given standard deviations they are {_in_words(width)} wide: expect noise."
    return sentence


def _in_words(width: float) -> str:
    return f"{width:,.0f}" if width < _MANY else "a million"
