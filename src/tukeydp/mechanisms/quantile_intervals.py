"""Confidence intervals of quantiles: which further quantiles are released for their ends (docs/proofs/quantiles.md, 6).

An end is a quantile of a share so far from the asked one that sampling and the draw together reach the population's
quantile with half of the allowed risk. All of it is made of public numbers and of released numbers of values. Floats:
no privacy hangs on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tukeydp.results.noise_quantiles import quantile_of_noise
from tukeydp.trusted.prices import COUNT, kappa
from tukeydp.trusted.ranks import Among, levels_of

COUNTS = Fraction(1, 20)  # of epsilon, for the noised numbers of values: too few would be seen as too many otherwise
_UNITS = 2000  # of which shares of ends are multiples
_CUTS = 7.0 / 8.0  # of a rank's weight is left where equal values have to be shared out
_ROUNDS = 3  # in which the weight of a rank and the shares of the ends, which hang on each other, are found


@dataclass(frozen=True)
class Ends:
    """Shares of all quantiles that are drawn, ascending, and of the two ends of each asked one; None: a bound."""

    shares: tuple[Fraction, ...]
    ends: tuple[tuple[Fraction | None, Fraction | None], ...]


def no_ends(shares: tuple[Fraction, ...]) -> Ends:
    """Of a column that seems to have no values."""
    return Ends(shares, ((None, None),) * len(shares))


def shares_of_ends(
    shares: tuple[Fraction, ...], values: float, epsilon: Fraction, among: Among, confidence: float, log_odds: float
) -> Ends:
    """For so many values; `epsilon` is what a level has, `confidence` that of each interval by itself.

    `log_odds`: ln of what lies beside a run of equal values over what the run weighs.
    """
    if values < 1.0:
        return no_ends(shares)
    found, weight = no_ends(shares), float(epsilon) / 4.0
    for _ in range(_ROUNDS):
        found = _ends(shares, values, weight * _CUTS, (1.0 - confidence) / 2.0, log_odds)
        weight = min(float(one) for one, _ in levels_of(found.shares, epsilon, among))
    return found


def noise_of_numbers(epsilon: Fraction, d: int, among: Among, confidence: float) -> float:
    """By how much a noised number of values may be too large, with as much confidence as an interval has."""
    scale = float(1 / kappa(epsilon, COUNT.one, COUNT.swap, *among))
    return scale * quantile_of_noise(d, confidence)


def _ends(shares: tuple[Fraction, ...], values: float, weight: float, risk: float, log_odds: float) -> Ends:
    unit = math.lcm(*(share.denominator for share in shares))
    unit *= max(1, _UNITS // unit)
    ends = []
    for share in shares:
        away = Fraction(math.ceil(unit * ranks_away(float(share), values, weight, risk, log_odds) / values), unit)
        ends.append((share - away if share > away else None, share + away if share + away < 1 else None))
    drawn = {*shares, *(end for pair in ends for end in pair if end is not None)}
    return Ends(tuple(sorted(drawn)), tuple(ends))


def ranks_away(share: float, values: float, weight: float, risk: float, log_odds: float) -> float:
    """How many ranks an end's share lies from the asked one.

    The rank of the population's quantile is off by about a Gaussian S. The draw goes a further t ranks too far with a
    chance of at most C e^(-weight t), C = e^log_odds: so the risk is that of S + E > t, E exponential beyond ln C.
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr, ndtr

    spread = math.sqrt(values * share * (1.0 - share))

    def beyond(a: float) -> float:
        shifted = (a - weight * spread**2) / spread
        log_tail = -weight * a + (weight * spread) ** 2 / 2.0 + float(log_ndtr(shifted))
        return float(ndtr(-a / spread)) + math.exp(min(log_tail, 0.0)) - risk

    most = 10.0 * spread + 50.0 / weight
    # The binomial law of the rank is skewed away from 1/2, and whole.
    return float(brentq(beyond, 0.0, most)) + log_odds / weight + 1.0 + abs(1.0 - 2.0 * share)
