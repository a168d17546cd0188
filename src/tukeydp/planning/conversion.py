"""From zCDP to (epsilon, delta) and back, every rounding on the safe side (docs/proofs/composition.md, section 4).

rho-zCDP is (epsilon, delta)-DP if for some order a > 1
    epsilon >= rho a + (ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)) / (a - 1)
(Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, proposition 12). Every order gives
a valid bound, so floats choose the order and rationals compute the bound: floats decide sharpness, never truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from tukeydp.exact.brackets import log_between
from tukeydp.privacy import ApproxDP, Guarantee, delta_of

# Bits after the point of what is computed. Fewer would only make epsilons larger, and rhos smaller.
_BITS = 64
# Orders that are searched, as a - 1 on a logarithmic scale. A best order outside gives a blunter bound.
_LOWEST, _HIGHEST = -60.0, 60.0
_ROUNDS = 120  # of golden section: the interval shrinks to 10^-23 of itself, beyond what floats tell apart
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@lru_cache(maxsize=1024)
def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon for which rho-zCDP is (epsilon, delta)-DP: near the least, never below it.

    >>> round(float(epsilon_of(20 * Fraction(1, 100) / 8, Fraction(1, 10**6))), 3)
    1.014
    """
    order = _order(lambda s, log: _size(rho) * (1.0 + s) + _offset(s, log), delta)
    return max(Fraction(0), _up(rho * order + offset_bound(order, delta)))


@lru_cache(maxsize=1024)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho for which rho-zCDP is (epsilon, delta)-DP: near the largest, never above it; 0 if there is none.

    >>> rho = rho_within(Fraction(1), Fraction(1, 10**6))
    >>> round(float(rho), 3), epsilon_of(rho, Fraction(1, 10**6)) <= 1 + Fraction(1, 10**9)
    (0.024, True)
    """
    if not delta:
        return Fraction(0)
    order = _order(lambda s, log: (_offset(s, log) - _size(epsilon)) / (1.0 + s), delta)
    return max(Fraction(0), _down((epsilon - offset_bound(order, delta)) / order))


def at_delta(guarantee: Guarantee, delta: Fraction) -> ApproxDP:
    """The guarantee as (epsilon, delta)-DP with this delta: the smaller epsilon of plain and zCDP, rounded up.

    For guarantees whose parameters were fixed beforehand, such as a sum of several.

    >>> from tukeydp.privacy import bounded_range
    >>> together = sum(bounded_range("0.1") for _ in range(20))
    >>> round(float(at_delta(together, Fraction(1, 10**6)).epsilon), 3), str(together.epsilon)
    (1.014, '2')
    """
    found = [guarantee.epsilon] if delta_of(guarantee) <= delta else []
    if guarantee.zcdp.delta < delta:
        found.append(epsilon_of(guarantee.zcdp.rho, delta - guarantee.zcdp.delta))
    # An epsilon of 0 is not a guarantee that can be written down; any positive one is weaker, so true.
    best = max(min(found, default=guarantee.epsilon), Fraction(1, 2**_BITS))
    return ApproxDP(best, max(delta, delta_of(guarantee)) if not found else delta, neighbours=guarantee.neighbours)


def offset_bound(order: Fraction, delta: Fraction) -> Fraction:
    """(ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)) / (a - 1), rounded up; for a = order > 1."""
    _, log = log_between(1 / delta)
    _, shrink = log_between(1 - 1 / order)
    least, _ = log_between(order - 1)
    return (log + order * shrink - least) / (order - 1)


def _order(cost: Callable[[float, float], float], delta: Fraction) -> Fraction:
    """About the order with the smallest cost, found in floats; any order would be valid."""
    log = _log(1 / delta)
    low, high = _LOWEST, _HIGHEST
    for _ in range(_ROUNDS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if cost(math.exp(left), log) <= cost(math.exp(right), log):
            high = right
        else:
            low = left
    return 1 + Fraction(math.exp((low + high) / 2))


def _offset(s: float, log: float) -> float:
    """The bound without rho a, in floats; s = a - 1."""
    return (log + (1.0 + s) * (math.log(s) - math.log1p(s)) - math.log(s)) / s


def _log(number: Fraction) -> float:
    return float(log_between(number, 64)[0])


def _size(number: Fraction) -> float:
    """As a float that does not overflow: for the choice of an order only."""
    return min(float(min(number, Fraction(10**150))), 1e150)


def _up(number: Fraction) -> Fraction:
    return Fraction(math.ceil(number * 2**_BITS), 2**_BITS)


def _down(number: Fraction) -> Fraction:
    """To the leading bits: rhos may be tiny."""
    if number <= 0:
        return Fraction(0)
    shift = _BITS + number.denominator.bit_length() - number.numerator.bit_length()
    return Fraction(math.floor(number * Fraction(2) ** shift)) / Fraction(2) ** shift
