"""Standard deviations from what was released of them: the likely ones, given noise of a known law. Post-processing.

What is known beforehand is that bounds are some ten standard deviations wide, give or take a factor of two: people who
have not seen the data give such bounds. Beside that the noise of a released number says how likely it is under every
deviation. The middle of those is shown, and between which most of them lie tells how rough it is: where noise is as
large as what it hides, a deviation is known to be small, and not how small.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Candidates, in half widths of the bounds: nothing between bounds spreads more than 1.
CANDIDATES = np.geomspace(1e-4, 1.0, 300)
CANDIDATES.setflags(write=False)
# Before anything is released: bounds so many deviations wide, and by how much the logarithm of that varies.
USUAL_WIDTH = 10.0
GIVEN = (2.0 / USUAL_WIDTH, 0.7)
WINDOW = (6.0, 0.5)  # deviations in a window that holds most of a column, and by how much the logarithm varies
_ENDS = (0.1, 0.5, 0.9)


class Spread(NamedTuple):
    """A likely deviation, and between which eight of ten lie; in half widths of the bounds."""

    low: float
    middle: float
    high: float

    def scaled(self, by: float) -> Spread:
        return Spread(*(by * one for one in self))


def likely(log_likelihood: FloatArray, usual: float, factor: float) -> Spread:
    """Of the candidates, whose logarithms are about that of the usual one beforehand: Student's law, 2 degrees.

    Its tails let a constant column be one.
    """
    z = np.log(CANDIDATES / usual) / factor
    log_weight = log_likelihood - 1.5 * np.log1p(z * z / 2.0)
    share = np.cumsum(np.exp(log_weight - log_weight.max()))
    ends = np.interp(_ENDS, share / share[-1], np.log(CANDIDATES))
    return Spread(*np.exp(ends).tolist())


def laplace_likelihood(released: float, expected: FloatArray, scale: float) -> FloatArray:
    return np.asarray(-np.abs(released - expected) / scale)


def between_ends(released: float, scale: float) -> float:
    """The middle of what a number from -1 to 1 may be, all of them alike beforehand, given it with Laplace noise.

    That is the released one where it is far from both ends in scales, and not at an end where it is beyond.
    """
    from scipy.stats import laplace

    low, high = laplace.cdf([-1.0, 1.0], released, scale)
    if not 1e-12 < low + high < 2.0 - 1e-12:  # so far beyond that floats tell no more
        return max(-1.0, min(1.0, released + math.copysign(math.log(2.0) * scale, -released)))
    return max(-1.0, min(1.0, float(laplace.ppf((low + high) / 2.0, released, scale))))


def cube_likelihood(released: float, expected: FloatArray, scale: float, d: int) -> FloatArray:
    """Of one coordinate of cube noise in d columns: s u has the density Q(d, |t|) / (2 d)."""
    from scipy.special import gammaincc, gammaln

    away = np.maximum(np.abs(released - expected) / scale, 1e-9)
    far = (d - 1) * np.log(away) - away - gammaln(d)  # where Q itself is below the smallest float
    return np.asarray(np.where(away > 500.0, far, np.log(np.maximum(gammaincc(d, away), 1e-300))))


def mean_sizes(away: float, sd: FloatArray) -> FloatArray:
    """Of |away + sd z|, z a standard Gaussian variable."""
    from scipy.special import erf

    z = away / sd
    return np.asarray(sd * math.sqrt(2.0 / math.pi) * np.exp(-z * z / 2.0) + away * erf(z / math.sqrt(2.0)))


# Records that were made shorter. Their sizes vary by about so much of themselves (a log-normal law): where what is left
# of them is near the radius in the mean, many were longer.
_VARY = 0.45
_MOST_LEFT = 0.97


def lengthened(left: float) -> float:
    """How many times as long records are in the mean as what is left of them, in radii."""
    means, shares = _left()
    left = min(left, _MOST_LEFT)
    return max(1.0, float(np.interp(left, shares, means)) / left) if left > 0.0 else 1.0


@cache
def _left() -> tuple[FloatArray, FloatArray]:
    """Mean sizes in radii, and what is left of them in the mean."""
    from scipy.special import ndtr

    means = np.geomspace(0.05, 20.0, 400)
    z = np.log(means) / _VARY
    return means, means * ndtr(-z - _VARY / 2.0) + ndtr(z - _VARY / 2.0)


# Skewed columns. Mean distances from the mean are 0.80 standard deviations of a bell, and 0.74 of an exponential law:
# columns near one of their bounds are taken for beta laws between these, which are bells far from both.


def between_bounds(mean: float, bell: float) -> float:
    """The standard deviation of the beta law from -1 to 1 with that mean, and the mean distance of such a bell."""
    place = min(0.999, max(0.001, (1.0 + mean) / 2.0))
    distances, deviations = _beta_laws(round(place, 3))
    return float(2.0 * np.interp(bell * math.sqrt(2.0 / math.pi) / 2.0, distances, deviations))


@cache
def _beta_laws(mean: float) -> tuple[FloatArray, FloatArray]:
    """Mean distances from the mean and standard deviations of beta laws with that mean, both rising."""
    from scipy.special import betaln, xlogy

    together = np.geomspace(1e7, 1e-3, 400)  # a + b
    a, b = mean * together, (1.0 - mean) * together
    log = np.log(2.0) + xlogy(a, mean) + xlogy(b, 1.0 - mean) - betaln(a, b) - np.log(together)
    deviations = np.sqrt(mean * (1.0 - mean) / (together + 1.0))
    return np.concatenate([[0.0], np.exp(log)]), np.concatenate([[0.0], deviations])
