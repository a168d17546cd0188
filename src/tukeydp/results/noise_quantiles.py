"""Quantiles of cube noise, alone and with a Gaussian error: what intervals and forecasts are made of. Floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Quantiles of cube noise, and of cube noise and a Gaussian error together: what intervals and forecasts are made of.
# Floats.

_PLACES = 1000  # quantiles of s that stand for its law in forecasts: good to three digits


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


# Quantiles of cube noise and a Gaussian error together: |a z + b g|, z one column's noise at scale 1, g standard.
#
# What an interval's half-width is made of: a is known exactly, b is what sampling is taken to be. Forecasts in floats;
# no release depends on them.

_FEW_PLACES = 200  # quantiles of s that stand for its law (Gamma(d + 1)): quantiles of the sum are good to three digits
# Ratios b / a that are tabulated, and how many; below the first sampling is nothing beside noise, above the last noise
# is nothing beside sampling. The relation is smooth: between 120 of them errors are below a thousandth.
_LEAST, _MOST, _TABULATED = 1e-3, 1e3, 120


@dataclass(frozen=True, eq=False)
class NoiseAndSampling:
    """Quantiles of one level for d columns: `half_widths[i]` belongs to a = 1 and b = `ratios[i]`."""

    ratios: FloatArray
    half_widths: FloatArray
    gaussian: float

    def half_width(self, noise: FloatArray, sampling: FloatArray) -> FloatArray:
        """The quantile of |noise z + sampling g|, elementwise."""
        noise, sampling = np.broadcast_arrays(noise, sampling)
        with np.errstate(all="ignore"):
            ratio = np.where(noise > 0, sampling / noise, np.inf)
            between = noise * np.interp(ratio, self.ratios, self.half_widths)
        return np.asarray(np.where(ratio > self.ratios[-1], self.gaussian * sampling, between))

    def sampling(self, noise: FloatArray, half_width: FloatArray) -> FloatArray:
        """The b whose quantile is that half-width, elementwise; 0 if noise alone has a larger one."""
        noise, half_width = np.broadcast_arrays(noise, half_width)
        with np.errstate(all="ignore"):
            share = np.where(noise > 0, half_width / noise, np.inf)
            between = noise * np.interp(share, self.half_widths, self.ratios)
        beyond = np.where(share > self.half_widths[-1], half_width / self.gaussian, between)
        return np.asarray(np.where(share <= self.half_widths[0], 0.0, beyond))


@cache
def noise_and_sampling(d: int, share: float) -> NoiseAndSampling:
    """The quantiles at `share`, tabulated by bisection on the exact law."""
    from scipy.special import gammaincinv, ndtri

    s = gammaincinv(d + 1, (np.arange(_FEW_PLACES) + 0.5) / _FEW_PLACES)
    ratios = np.concatenate([[0.0], np.geomspace(_LEAST, _MOST, _TABULATED)])
    z = float(ndtri(0.5 + share / 2))
    low, high = np.zeros(len(ratios)), 50.0 * d + 50.0 + 2.0 * z * ratios
    for _ in range(60):  # to a float's last digits
        middle = (low + high) / 2
        below = _share_within(middle, ratios, s) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return NoiseAndSampling(ratios, high, z)


def _share_within(limit: FloatArray, ratio: FloatArray, s: FloatArray) -> FloatArray:
    """Pr[|s u + ratio g| <= limit], u uniform in -1 ... 1, averaged over the values of s."""
    limit, ratio = limit[:, np.newaxis], np.maximum(ratio, _LEAST / 10)[:, np.newaxis]
    upper = _integrated(limit, s, ratio) - _integrated(limit, -s, ratio)
    lower = _integrated(-limit, s, ratio) - _integrated(-limit, -s, ratio)
    return np.asarray(((upper - lower) / (2.0 * s)).mean(axis=1))


def _integrated(limit: FloatArray, end: FloatArray, ratio: FloatArray) -> FloatArray:
    """The integral of Phi((limit - t) / ratio) over t up to `end`, but for a constant: -ratio (x Phi(x) + phi(x))."""
    from scipy.special import ndtr

    x = (limit - end) / ratio
    return np.asarray(-ratio * (x * ndtr(x) + np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)))


_MIXED = 20_000  # draws: quantiles at 95 % are good to a hundredth


def mixed_quantile(share: float, laplace: float, cube: float, d: int, gaussian: float) -> float:
    """Quantile of |laplace x + cube z + gaussian g|: Laplace noise, a coordinate of cube noise in d columns, sampling.

    Each at scale 1 times its number; from a public seed.
    """
    x, z, g = _standard(d)
    found = np.abs(laplace * x + cube * z + gaussian * g)
    place = min(_MIXED - 1, int(share * _MIXED))
    return float(np.partition(found, place)[place])


@cache
def _standard(d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng([d, 21])
    z = rng.gamma(d + 1, size=_MIXED) * rng.uniform(-1.0, 1.0, size=_MIXED)
    return rng.laplace(size=_MIXED), z, rng.normal(size=_MIXED)
