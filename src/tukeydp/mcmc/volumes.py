"""Volume of one polytope by Gaussian cooling. An estimate: nothing here is proven, and the stated error is one too.

After rounding, Z(a) = integral over the polytope of exp(-a |z|^2). The first Z is that of a Gaussian narrow enough to
lie mostly inside, by independent draws; the volume is Z(0); in between, walks for falling a give the ratios

    Z(a') / Z(a) = E_a[ exp((a - a') |z|^2) ],

each a' as small as the variance of these weights allows (Lovasz and Vempala 2006; Cousins and Vempala 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError
from tukeydp.geometry.normalised_polytopes import require_bounded
from tukeydp.mcmc.rounding import Rounded, make_round
from tukeydp.mcmc.walks import DIRECTIONS, require_inside, walk_on
from tukeydp.parameters import brief, checked_choice

# The schedule of cooling. Speed against accuracy of estimates that prove nothing.
_SPREAD = 0.7  # largest variance of the weights, relative to the square of their mean: larger makes ratios unstable
_INSIDE = 0.4  # share of the first Gaussian that should lie inside: a small one takes many draws to know
_NARROWER = 0.9  # factor by which the first Gaussian's deviation falls until it does
_TRIAL = 400  # draws that decide this
_NARROWEST = 1e-3  # deviation after rounding; never needed, except where floats resolve the polytope no longer
_FIRST_DRAWS = 1.5  # over the squared error of the first integral
_BLOCK = 60  # sweeps per dimension after which the error is looked at
_MOST_BLOCKS = 200  # then the walk ends, whatever its error
_BATCHES = 20  # whose means tell the variance of a walk's mean: fewer are noisy, more are not independent
_BISECTIONS = 30  # for the next sharpness, to 1e-9 of this one
_PHASES = 5.0  # how many ratios the error is shared by; a few more or less make little difference
# Relative standard deviations: the least that may be asked for, below which `_MOST_BLOCKS` would end the walks too
# soon, and what is asked for otherwise.
_LEAST_ERROR = 0.01
USUAL_ERROR = 0.03


@dataclass(frozen=True)
class VolumeEstimate:
    """The logarithm of a volume, and the standard deviation that the walks themselves suggest for it."""

    log_volume: float
    error: float

    @property
    def volume(self) -> float:
        return math.exp(self.log_volume) if self.log_volume < 709.0 else math.inf


@dataclass(frozen=True, eq=False)
class Cooled:
    """A rounded polytope, the estimate, and where the uniform walk in z may start."""

    rounded: Rounded
    estimate: VolumeEstimate
    start: FloatArray


def polytope_estimate(
    normals: FloatArray,
    offsets: FloatArray,
    inside: FloatArray,
    rng: np.random.Generator,
    *,
    error: float = USUAL_ERROR,
    directions: str = "coordinate",
) -> VolumeEstimate:
    """Volume of the bounded polytope {y : normals y <= offsets} around a point strictly inside it.

    Parameters
    ----------
    error
        Relative standard deviation to aim for, at least 0.01: halving it takes four times as long.
    directions
        Of the walk, see `walk`.
    """
    checked_choice("directions", directions, DIRECTIONS)
    checked = require_inside(normals, offsets, inside)
    require_bounded(*checked[:2])
    return cool(*checked, rng, error=error, directions=directions).estimate


def checked_error(error: Any) -> None:
    if isinstance(error, bool) or not isinstance(error, Real) or not _LEAST_ERROR <= float(error) < 1.0:
        raise ParameterError("error", f"must be at least {_LEAST_ERROR} and < 1", brief(error))


def cool(
    normals: FloatArray,
    offsets: FloatArray,
    inside: FloatArray,
    rng: np.random.Generator,
    *,
    error: float = USUAL_ERROR,
    directions: str = "coordinate",
) -> Cooled:
    checked_error(error)
    rounded = make_round(normals, offsets, inside, rng)
    share = error**2 / _PHASES
    sharpness, log_integral, variance = _first_gaussian(rounded, rng, share)
    start = np.zeros(len(rounded.centre))
    while sharpness > 0.0:
        phase = _phase(rounded, start, sharpness, rng, share, directions)
        if not phase.sharpness < sharpness:  # it never falls by nothing, except where there are no numbers left
            raise ParameterError("normals, offsets", "must describe a bounded polytope", "one that floats cannot round")
        sharpness, start = phase.sharpness, phase.end
        log_integral += phase.log_ratio
        variance += phase.variance
    return Cooled(rounded, VolumeEstimate(log_integral + rounded.log_scale, math.sqrt(variance)), start)


def _first_gaussian(rounded: Rounded, rng: np.random.Generator, share: float) -> tuple[float, float, float]:
    """A sharpness whose Gaussian lies mostly inside, log of its integral, and the relative variance of that."""
    d = len(rounded.centre)
    sigma = 1.0
    while sigma > _NARROWEST and _share_inside(rounded, sigma, rng, _TRIAL) < _INSIDE:
        sigma *= _NARROWER
    count = math.ceil(_FIRST_DRAWS / share)
    p = max(_share_inside(rounded, sigma, rng, count), 1.0 / count)
    log_gaussian = 0.5 * d * math.log(2.0 * math.pi * sigma**2)
    return 0.5 / sigma**2, log_gaussian + math.log(p), (1.0 - p) / (p * count)


def _share_inside(rounded: Rounded, sigma: float, rng: np.random.Generator, count: int) -> float:
    z = sigma * rng.standard_normal((count, len(rounded.centre)))
    return float((z @ rounded.normals.T <= rounded.offsets).all(axis=1).mean())


@dataclass(frozen=True, eq=False)
class _Phase:
    sharpness: float
    log_ratio: float
    variance: float
    end: FloatArray


def _phase(
    rounded: Rounded, start: FloatArray, sharpness: float, rng: np.random.Generator, share: float, directions: str
) -> _Phase:
    """Walk at one sharpness until the ratio to the next is known well enough."""
    d = len(start)
    squares, lower = np.empty(0), sharpness
    for block in range(_MOST_BLOCKS):
        samples = walk_on(
            rounded.normals,
            rounded.offsets,
            start,
            rng,
            samples=_BLOCK * d,
            thin=d,
            sharpness=sharpness,
            directions=directions,
        )
        start = samples[-1]
        if block == 0:
            samples = samples[len(samples) // 4 :]
        squares = np.append(squares, (samples**2).sum(axis=1))
        if block == 0:
            lower = _next_sharpness(squares, sharpness)
        log_ratio, variance = log_mean_weight(squares * (sharpness - lower))
        if variance <= share:
            break
    return _Phase(lower, log_ratio, variance, start)


def _next_sharpness(squares: FloatArray, sharpness: float) -> float:
    """The smallest sharpness whose weights vary little enough."""
    low, high = 0.0, sharpness
    if _relative_variance(squares * sharpness) <= _SPREAD:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if _relative_variance(squares * (sharpness - middle)) <= _SPREAD:
            high = middle
        else:
            low = middle
    return high


def _relative_variance(log_weights: FloatArray) -> float:
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.var() / weights.mean() ** 2)


def log_mean_weight(log_weights: FloatArray) -> tuple[float, float]:
    """Logarithm of the mean of the weights of one walk, and its variance from the means of batches."""
    top = float(log_weights.max())
    weights = np.exp(log_weights - top)
    mean = float(weights.mean())
    size = len(weights) // _BATCHES
    batches = weights[len(weights) - size * _BATCHES :].reshape(_BATCHES, size).mean(axis=1)
    return top + math.log(mean), float(batches.var(ddof=1) / _BATCHES / mean**2)
