"""Laws of integer noise by definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np

_AT_ONCE = 2**20  # integers: eight megabytes in floats


def laplace(scale: Fraction, reach: int) -> dict[int, float]:
    """Pr[z] proportional to e^(-|z| / scale), |z| <= reach; exact constants."""
    q = math.exp(-1 / scale)
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)}


def geometric(scale: Fraction, reach: int) -> dict[int, float]:
    q = math.exp(-1 / scale)
    return {k: (1 - q) * q**k for k in range(reach + 1)}


def gaussian(deviation: int, reach: int) -> dict[int, float]:
    """Pr[z] proportional to e^(-z^2 / (2 deviation^2)), |z| <= reach."""
    far = range(-40 * deviation, 40 * deviation + 1)
    total = math.fsum(math.exp(-z * z / (2 * deviation**2)) for z in far)
    return {z: math.exp(-z * z / (2 * deviation**2)) / total for z in range(-reach, reach + 1)}


def cube(d: int, scale: Fraction, reach: int) -> dict[tuple[int, ...], float]:
    """Pr[z] proportional to e^(-max |z_j| / scale), |z_j| <= reach."""
    far = int(60 * d * scale) + 60
    total = math.fsum(((2 * m + 1) ** d - (2 * m - 1) ** d if m else 1) * math.exp(-m / scale) for m in range(far))
    points = itertools.product(range(-reach, reach + 1), repeat=d)
    return {z: math.exp(-max(map(abs, z)) / scale) / total for z in points}


@cache
def gaussian_delta(deviation: int, shift: int, epsilon: float) -> float:
    """The least delta of discrete Gaussian noise at epsilon, where a swap moves the integer by `shift`."""
    reach = 14 * deviation + shift  # what lies beyond has a probability below 1e-40
    total = above = 0.0
    for start in range(-reach, reach + 1, _AT_ONCE):
        z = np.arange(start, min(start + _AT_ONCE, reach + 1), dtype=float)
        p, q = (np.exp(-((z - at) ** 2) / (2.0 * deviation**2)) for at in (0, shift))
        total += float(p.sum())
        above += float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
    return above / total
