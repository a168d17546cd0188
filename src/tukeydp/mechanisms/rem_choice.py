"""Choosing REM's threshold and its split of epsilon from (n, d, epsilon, delta) alone, on made-up populations.

The populations are a Gaussian one, a Cauchy one, and a Gaussian one with every fifth row far away. For each, sizes of
level sets have closed forms, up to a loss of about 1/sqrt(n) in radius because the deepest point of a sample is less
deep than that of a population. Floats: whatever comes out is public and keeps the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, show
from tukeydp.trusted.rem.evidence import Plan, sparse_offsets

# Nothing here can break the guarantee: a plan is public whatever it is. A bad one costs releases or accuracy.

# Parts of epsilon for the test, in fortieths: simple numbers keep the coin's arithmetic short.
_PARTS, _WHOLE = (4, 5, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22), 40
_MARGIN = 5.0  # nats beyond ln(1/delta): more swaps than this allows need not be looked at
_SURE = 1.1  # nats of the Gaussian table's strength that come first: it passes with probability 0.995
_SAFE = 4.0  # nats of every table's strength that come second: it passes with probability 0.99999
_SHALLOW = 1 / 8  # part of n, where there is a choice: columns of few values have no very deep points
_OUTLIERS, _FAR = 0.2, 20.0  # the contaminated population: its part far away, and how far in standard deviations
# The first look: so many thresholds from 8 to half of the rows, evenly on a logarithmic scale. Then steps of an eighth
# of the best one, halved down to 1. More cost time.
_LOWEST_LOOKED_AT, _LOOKS, _FIRST_STEP = 8, 24, 8
_MOST_TABLED = 100_000  # rows up to which sizes of all levels are computed at once. Speed only
_MOST_SWAPS_LOOKED_AT = 32  # of all k < K, evenly: strengths are smooth in k. More cost time

# Outside these the floats of a plan, or the first guess of a cut, would give out: refused.
_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 1000), Fraction(10_000)
_SMALLEST_DELTA = Fraction(1, 10**300)
_TINY = 1e-300  # stands in for zero under a logarithm
_FAR_LEVEL = 2**40  # as many rows as may be declared; a few hundred offsets, of which those above the top cost nothing

Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class _Population:
    """Logarithms of upper and lower size of a level l of n."""

    upper: Curve
    lower: Curve

    def tabled(self, most: int) -> _Population:
        """The same up to level `most`, looked up instead of computed: a plan asks for each level many times."""
        with np.errstate(all="ignore"):
            levels = np.arange(most + 1, dtype=np.float64)
            upper, lower = self.upper(levels), self.lower(levels)
        return _Population(lambda at: upper[at.astype(np.int64)], lambda at: lower[at.astype(np.int64)])


def chosen_plan(
    n: int, d: int, epsilon: Fraction, delta: Fraction, threshold: int | None, neighbours: str = "swap"
) -> Plan:
    """The plan of the graded and the plain test; n is a public number of rows, a rough one under add/remove."""
    require_range(epsilon, delta)
    t, part = _best(n, d, float(epsilon), float(delta), threshold, neighbours)
    return make_plan(n, t, epsilon * part, epsilon * (1 - part), delta, neighbours)


def paper_plan(n: int, epsilon: Fraction, delta: Fraction, threshold: int | None) -> Plan:
    """Algorithm 2's own split, and its usual threshold n/4."""
    require_range(epsilon, delta)
    t = max(1, n // 4) if threshold is None else threshold
    test = epsilon / 4
    swaps = min(t - 1, _swaps(float(test), float(delta)))
    return Plan(n, t, epsilon / 2, test, delta, swaps, tuple(range(n + 1)))


def require_range(epsilon: Fraction, delta: Fraction) -> None:
    """Public values, checked before any data are looked at."""
    if not _SMALLEST_EPSILON <= epsilon <= _LARGEST_EPSILON:
        rule = f"must be from {show(_SMALLEST_EPSILON)} to {show(_LARGEST_EPSILON)} for rem"
        raise ParameterError("epsilon", rule, show(epsilon))
    if delta < _SMALLEST_DELTA:
        raise ParameterError("delta", "must be at least 1e-300 for rem", show(delta))


def make_plan(
    n: int, threshold: int, test: Fraction, release: Fraction, delta: Fraction, neighbours: str = "swap"
) -> Plan:
    swaps = min(threshold - 1, _swaps(float(test), float(delta)))
    # Where n is rough there may be many more rows, and levels far above: public offsets reach them too.
    reach = n if neighbours == "swap" else _FAR_LEVEL
    return Plan(n, threshold, release, test, delta, swaps, sparse_offsets(reach), neighbours)


def _swaps(test: float, delta: float) -> int:
    return math.ceil((math.log(1.0 / delta) + _MARGIN) / test)


def _strongest(threshold: int, test: float, delta: float) -> float:
    """The logarithm of R where nothing but the number of swaps holds it back."""
    return math.log(delta) + test * min(threshold - 1, _swaps(test, delta))


@lru_cache(maxsize=256)
def _best(
    n: int, d: int, epsilon: float, delta: float, threshold: int | None, neighbours: str = "swap"
) -> tuple[int, Fraction]:
    """The Gaussian table first, then the worst of the three, then a low threshold, then a small part for the test."""
    populations = (_gaussian(n, d), _cauchy(n, d), _contaminated(n, d))
    if n <= _MOST_TABLED:
        populations = (populations[0].tabled(2 * n), populations[1].tabled(2 * n), populations[2].tabled(2 * n))
    log_strength = _log_strength if neighbours == "swap" else _log_strength_one_sided

    @cache
    def strength(which: int, t: int, part: int) -> float:
        test = epsilon * part / _WHOLE
        return log_strength(populations[which], n, t, test, epsilon - test, delta)

    def bound(at: tuple[int, int]) -> float:
        return _strongest(at[0], epsilon * at[1] / _WHOLE, delta)

    def worst(at: tuple[int, int], populations: range, enough: float, wanted: float) -> float:
        """The least strength, at most `enough`; or, once it is seen to be below `wanted`, some other number below."""
        found = min(enough, bound(at))
        for which in populations:
            if found < wanted:
                break
            found = min(found, strength(which, *at))
        return found

    def strongest(plans: list[tuple[int, int]], populations: range, enough: float) -> list[tuple[int, int]]:
        """Those whose worst is the largest; the most promising are asked first, and most of the others never."""
        most, found = -math.inf, {}
        for at in sorted(plans, key=bound, reverse=True):
            found[at] = worst(at, populations, enough, most)
            most = max(most, found[at])
        return [at for at in plans if found[at] == most]

    def merit(at: tuple[int, int]) -> tuple[bool, int, float]:
        return at[0] <= _SHALLOW * n, -at[1], min(strength(which, *at) for which in range(3))

    def best_of(plans: list[tuple[int, int]]) -> tuple[int, int]:
        return max(strongest(strongest(plans, range(1), _SURE), range(3), _SAFE), key=merit)

    if threshold is not None:
        t, part = best_of([(threshold, p) for p in _PARTS])
        return threshold, Fraction(part, _WHOLE)
    most = max(1, (n - 1) // 2)
    grid = sorted(
        {max(1, min(most, round(most * g))) for g in np.geomspace(min(1.0, _LOWEST_LOOKED_AT / most), 1.0, _LOOKS)}
    )
    t, part = best_of([(t, p) for t in grid for p in _PARTS])
    step = max(1, t // _FIRST_STEP)
    while True:
        near = [(t + s, p) for s in (-step, step) for p in _PARTS if abs(p - part) <= 1 and 1 <= t + s <= most]
        best = best_of([(t, part), *near])
        if best == (t, part) and step == 1:
            return t, Fraction(part, _WHOLE)
        if best == (t, part):
            step //= 2
        t, part = best


def gaussian_strength(n: int, d: int, threshold: int, test: float, release: float, delta: float) -> float:
    """ln R (docs/proofs/rem.md, section 4) to expect of n bell-shaped rows under such a plan."""
    return _log_strength(_gaussian(n, d), n, threshold, test, release, delta)


@lru_cache(maxsize=16)
def _offsets(n: int) -> IntArray:
    return np.array(sparse_offsets(n))


@lru_cache(maxsize=64)
def _log_masses(n: int, eta: float) -> FloatArray:
    """Of each offset j, the logarithm of e^(eta j) less what the offset before it has."""
    offsets = _offsets(n)
    found = eta * offsets.astype(np.float64)
    found[1:] += np.log(-np.expm1(-eta * np.diff(offsets)))
    return found


def _log_strength(population: _Population, n: int, t: int, test: float, release: float, delta: float) -> float:
    """The logarithm of R (docs/proofs/rem.md, section 4) in a population."""
    eta = release / 2
    swaps, strongest = min(t - 1, _swaps(test, delta)), _strongest(t, test, delta)
    k = np.arange(0, swaps, max(1, swaps // _MOST_SWAPS_LOOKED_AT))
    offsets = _offsets(n)
    offsets = offsets[t + 1 + offsets <= n // 2]
    if not len(k) or not len(offsets):
        return min(strongest, math.log(delta))
    with np.errstate(all="ignore"):
        log_c = _log_masses(n, eta)[: len(offsets)]
        shares = log_c + population.lower((t + 1 + k[:, np.newaxis] + offsets).astype(np.float64))
        most = shares.max(axis=1)
        log_b = np.where(
            np.isneginf(most), -np.inf, eta + most + np.log(np.exp(shares - most[:, np.newaxis]).sum(axis=1))
        )
        outer, inner = population.upper(np.asarray(t - 1.0 - k)), population.upper(np.asarray(t - 0.0 - k))
        log_a = np.logaddexp(outer - eta, inner + math.log(-math.expm1(-eta)))
        found = math.log(delta) + test * k + np.logaddexp(0.0, log_b - log_a)
    return min(strongest, float(found.min()))


def _log_strength_one_sided(
    population: _Population, n: int, t: int, test: float, release: float, delta: float
) -> float:
    """The same under add/remove (docs/proofs/add-remove.md, section 6): eta is all of the draw's epsilon."""
    swaps, strongest = min(t - 1, _swaps(test, delta)), _strongest(t, test, delta)
    k = np.arange(0, swaps, max(1, swaps // _MOST_SWAPS_LOOKED_AT))
    offsets = _offsets(n)
    offsets = offsets[t + offsets <= n // 2]
    if not len(k) or not len(offsets):
        return min(strongest, math.log(delta))
    above = np.arange(0, swaps + 1)  # j - t
    with np.errstate(all="ignore"):
        log_c = _log_masses(n, release)[: len(offsets)]
        shares = log_c + population.lower((t + above[:, np.newaxis] + offsets).astype(np.float64))
        most = shares.max(axis=1)
        log_b = np.where(
            np.isneginf(most), -np.inf, release + most + np.log(np.exp(shares - most[:, np.newaxis]).sum(axis=1))
        )
        log_a = population.upper(np.maximum(0.0, t + above[np.newaxis, :] - 1.0 - k[:, np.newaxis]))
        ratios = np.where(above[np.newaxis, :] <= k[:, np.newaxis] + 1, log_b - log_a, np.inf)
        found = math.log(delta) + test * k + np.logaddexp(0.0, ratios.min(axis=1))
    return min(strongest, float(found.min()))


def _population(n: int, d: int, below: Curve, above: Curve, across: Curve, loss: float = 1.0) -> _Population:
    """From the distances of level p's ends from the centre: on either side along one direction, and across it.

    `loss` is by how much a sample is less deep than the population, in radius and in units of 1 / sqrt(n).
    """
    ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
    lost = loss / math.sqrt(n)

    def upper(level: FloatArray) -> FloatArray:
        length = np.log(np.maximum(below(level / n) + above(level / n), _TINY))
        if d == 3:  # a volume; beyond, a box; in fewer columns the box has shown itself close enough
            return ball + (d - 1) * np.log(np.maximum(across(level / n), _TINY)) + length - math.log(2.0)
        return d * length

    def lower(level: FloatArray) -> FloatArray:
        radius, length = across(level / n) - lost, (below(level / n) + above(level / n)) / 2 - lost
        volume = ball + (d - 1) * np.log(np.maximum(radius, _TINY)) + np.log(np.maximum(length, _TINY))
        return np.where((radius > 0) & (length > 0), volume, -np.inf)

    return _Population(upper, lower)


def _normal(p: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return -ndtri(np.clip(p, _TINY, 1.0))


def _gaussian(n: int, d: int) -> _Population:
    return _population(n, d, _normal, _normal, _normal)


def _cauchy(n: int, d: int) -> _Population:
    def quantile(p: FloatArray) -> FloatArray:
        return np.tan(math.pi * (0.5 - p))

    return _population(n, d, quantile, quantile, quantile)


def _contaminated(n: int, d: int) -> _Population:
    rest = 1.0 - _OUTLIERS

    def below(p: FloatArray) -> FloatArray:
        return _normal(p / rest)

    def above(p: FloatArray) -> FloatArray:
        return np.where(p <= _OUTLIERS, _FAR, _normal((p - _OUTLIERS) / rest))

    # Between what directions at right angles to the outliers see and what those a little off do; fitted to samples.
    off = min(0.6, 0.4 + 0.04 * d)

    def across(p: FloatArray) -> FloatArray:
        return (1 - off) * _normal(p) + off * below(p)

    return _population(n, d, below, above, across, loss=1.5)
