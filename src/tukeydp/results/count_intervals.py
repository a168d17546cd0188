"""Confidence intervals for noised counts and for the shares of a population: post-processing of released numbers.

A count's noise has a known law, so that its interval is exact. A share p is in its interval if the released count c of
a category, less p times the number N of its group, is no larger than noise and sampling allow (Wilson 1927, with noise;
Fieller 1954 where N is itself a sum of released counts): |c - p N| <= the quantile of |noise + sqrt(N p (1 - p)) g|, g
standard Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tukeydp.results.noise_quantiles import noise_and_sampling
from tukeydp.trusted.parameters import FloatArray

_DRAWS = 20_000  # of the law of noise in a count and its group's number together: quantiles at 95 % to 1 or 2 %
_SHARES, _RATIOS = 17, 24  # that they are tabulated for
_ROUNDS = 24  # of bisection: shares to 1e-7
_TIE = 1e-9  # of probabilities in floats: a tie counts as beyond


def margin(scale: Fraction, level: float) -> int:
    """The smallest whole number that discrete Laplace noise of this scale exceeds in size with chance 1 - level.

    Pr[|Z| > q] = 2 a^(q + 1) / (1 + a), a = e^(-1 / scale).

    >>> margin(Fraction(2), 0.95)
    6
    """
    rate = 1.0 / float(scale)
    wanted = math.log((1.0 - level) * (1.0 + math.exp(-rate)) / 2.0)
    return max(0, math.ceil(-wanted / rate - 1.0 + _TIE))


def count_interval(count: int, most: int | None, scale: Fraction, level: float) -> tuple[int, int]:
    """Where the table's own number is; within what is possible where the number of records is public."""
    away = margin(scale, level)
    low, high = max(0, count - away), max(0, count + away)
    return (low, high) if most is None else (min(low, most), min(high, most))


def share_of_known(count: int, n: int, scale: Fraction, level: float) -> tuple[float, float]:
    """Of a public number of records."""
    law = noise_and_sampling(1, level)

    def allowed(p: float) -> float:
        sampling = math.sqrt(n * p * (1.0 - p))
        return 0.5 + float(law.half_width(np.array(float(scale)), np.array(sampling)))

    return _ends(count, float(n), allowed)


def share_of_noised(counts: Sequence[int], place: int, scale: Fraction, level: float) -> tuple[float, float]:
    """Of a group whose number is the sum of all its noised counts; all shares where it cannot be told from none."""
    total, table = float(sum(counts)), _tabulated(len(counts) - 1, level)

    def allowed(p: float) -> float:
        return 0.5 + float(scale) * table.quantile(p, math.sqrt(total * p * (1.0 - p)) / float(scale))

    # With p = 1 the noise of all other counts, and with p = 0 that of this one.
    if total <= max(allowed(0.0), allowed(1.0)):
        return 0.0, 1.0
    return _ends(counts[place], total, allowed)


@dataclass(frozen=True, eq=False)
class _Table:
    """Quantiles of |(1 - p) z - p z' + ratio g|, z Laplace and z' a sum of several: a row for each p."""

    ratios: FloatArray
    rows: FloatArray
    gaussian: float

    def quantile(self, p: float, ratio: float) -> float:
        if ratio >= self.ratios[-1]:
            return self.gaussian * ratio
        place = p * (len(self.rows) - 1)
        first = min(int(place), len(self.rows) - 2)
        low, high = (float(np.interp(ratio, self.ratios, row)) for row in self.rows[first : first + 2])
        return low + (place - first) * (high - low)


@lru_cache(maxsize=16)
def _tabulated(others: int, level: float) -> _Table:
    """From a public seed."""
    from scipy.special import ndtri

    rng = np.random.default_rng([others, 21])
    gammas = rng.gamma(max(others, 1), size=(2, _DRAWS))
    rest = gammas[0] - gammas[1] if others else np.zeros(_DRAWS)
    mine, gaussian = rng.laplace(size=_DRAWS), rng.normal(size=_DRAWS)
    # Beyond the last ratio noise is a hundredth of sampling, or less.
    ratios = np.concatenate([[0.0], np.geomspace(0.05, 20.0 * math.sqrt(1 + others), _RATIOS)])
    kept = min(_DRAWS - 1, math.ceil(level * _DRAWS))
    rows = [
        [np.partition(np.abs((1.0 - p) * mine - p * rest + ratio * gaussian), kept)[kept] for ratio in ratios]
        for p in np.linspace(0.0, 1.0, _SHARES)
    ]
    return _Table(ratios, np.array(rows), float(ndtri(0.5 + level / 2.0)))


def _ends(count: float, n: float, allowed: Callable[[float], float]) -> tuple[float, float]:
    """The shares p between which |count - p n| is allowed, by bisection from the released share outwards."""
    middle = min(1.0, max(0.0, count / n))

    def end(beyond: float) -> float:
        if abs(count - beyond * n) <= allowed(beyond):
            return beyond
        inside, outside = middle, beyond
        for _ in range(_ROUNDS):
            p = (inside + outside) / 2.0
            inside, outside = (p, outside) if abs(count - p * n) <= allowed(p) else (inside, p)
        return outside

    return end(0.0), end(1.0)
