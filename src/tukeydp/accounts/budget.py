"""A budget fixed beforehand, and which sequences of releases stay within it (docs/proofs/composition.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from tukeydp.trusted.account import NEIGHBOURS, ApproxDP, Guarantee, delta_of
from tukeydp.trusted.laws import log_between
from tukeydp.trusted.parameters import ParameterError, checked_choice, positive_rational, rational, show

# From zCDP to (epsilon, delta) and back, every rounding on the safe side (docs/proofs/composition.md, section 4).
#
# rho-zCDP is (epsilon, delta)-DP if for some order a > 1
#     epsilon >= rho a + (ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)) / (a - 1)
# (Canonne, Kamath and Steinke 2020, proposition 12). Every order gives
# a valid bound, so floats choose the order and rationals compute the bound: floats decide sharpness, never truth.

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

    >>> from tukeydp.trusted.account import bounded_range
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


# A budget fixed beforehand, and which sequences of releases stay within it (docs/proofs/composition.md, section 5).
#
# Two criteria, both fixed before the first result is known: the plain sum, and zCDP. A sequence is within the budget as
# long as one of them holds for all of it. That stays true when later releases are chosen by earlier results, if delta
# is shared out beforehand: one part for the deltas that releases have themselves, the other for the conversion of zCDP.
# Whether the whole of it may serve either purpose must not be decided by results.

# Share of delta kept for releases with a delta of their own, where the first release has none. The rest converts zCDP:
# of 20 releases at 0.1 and delta = 1e-6 a tenth less makes epsilon = 1.019 out of 1.014; half would make 1.047.
_KEPT = Fraction(1, 10)
_ROOT_BITS = 64  # bits of a square root that is rounded down; fewer would say that less is left than there is
# Bits of what is said to be left. Sums are exact, and their denominators grow with every one that has another factor:
# beyond 1200 bits no number is a parameter any more, and beyond 4300 digits Python does not write it.
_MOST_BITS = 512


class Remaining(NamedTuple):
    """What one more release may cost: any pure one of this epsilon fits, and deltas up to this one."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Totals:
    """Exact sums over all that was spent, and whether the first release had a delta of its own."""

    count: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    rho_delta: Fraction = Fraction(0)
    began_with_delta: bool = False

    def plus(self, guarantee: Guarantee) -> Totals:
        delta = delta_of(guarantee)
        return Totals(
            self.count + 1,
            self.epsilon + guarantee.epsilon,
            self.delta + delta,
            self.rho + guarantee.zcdp.rho,
            self.rho_delta + guarantee.zcdp.delta,
            self.began_with_delta if self.count else delta > 0,
        )


def total(guarantees: Iterable[Guarantee]) -> Totals:
    totals = Totals()
    for guarantee in guarantees:
        totals = totals.plus(guarantee)
    return totals


@dataclass(frozen=True)
class Limits:
    """The two criteria in numbers: `own` is the part of delta for releases' own deltas, `rho` what zCDP may reach."""

    epsilon: Fraction
    own: Fraction
    conversion: Fraction
    rho: Fraction

    def plain(self, totals: Totals) -> bool:
        """Where delta is shared out, a release whose zCDP has a smaller delta (Gaussian noise) counts as zCDP only:
        its two accounts have different exceptional events, which would cost twice."""
        return (
            totals.epsilon <= self.epsilon
            and totals.delta <= self.own
            and (not self.conversion or totals.delta == totals.rho_delta)
        )

    def concentrated(self, totals: Totals) -> bool:
        return self.conversion > 0 and totals.rho <= self.rho and totals.rho_delta <= self.own

    def admit(self, totals: Totals) -> bool:
        return self.plain(totals) or self.concentrated(totals)


@dataclass(frozen=True)
class Budget:
    """Epsilon and delta for all releases together. `conversion` None: decided by the first release."""

    epsilon: Fraction
    delta: Fraction
    conversion: Fraction | None = None
    neighbours: str = "swap"

    def __post_init__(self) -> None:
        checked_choice("neighbours", self.neighbours, NEIGHBOURS)
        if not 0 <= self.delta < 1:
            raise ParameterError("delta", "must be >= 0 and < 1", show(self.delta))
        if self.conversion is not None and not 0 <= self.conversion <= self.delta:
            raise ParameterError("conversion", "must be from 0 to delta", show(self.conversion))

    def limits(self, totals: Totals) -> Limits:
        """What holds once these were spent: they include the first release, which decides where nothing else did."""
        if self.conversion is not None:
            conversion = self.conversion
        else:
            conversion = Fraction(0) if totals.began_with_delta else self.delta * (1 - _KEPT)
        return _limits(self.epsilon, self.delta, conversion)

    def admits(self, totals: Totals) -> bool:
        return not totals.count or self.limits(totals).admit(totals)

    def plain_left(self, totals: Totals) -> Remaining:
        """What the plain sum leaves."""
        if not totals.count and self.conversion is None:
            return Remaining(self.epsilon, self.delta)
        limits = self.limits(totals)
        if not limits.plain(totals):
            return Remaining(Fraction(0), Fraction(0))
        return Remaining(offered(limits.epsilon - totals.epsilon), offered(limits.own - totals.delta))

    def remaining(self, totals: Totals) -> Remaining:
        """What one more release may cost, by either criterion; a pure one of unknown law costs rho = epsilon^2 / 2."""
        plain, limits = self.plain_left(totals), self.limits(totals)
        if not totals.count or not limits.concentrated(totals):
            return plain
        by_zcdp = _root_below(2 * (limits.rho - totals.rho))
        return Remaining(max(plain.epsilon, by_zcdp), max(plain.delta, offered(limits.own - totals.rho_delta)))


def checked_budget(epsilon: Any, delta: Any, conversion: Any, neighbours: str) -> Budget:
    share = None if conversion is None else rational("conversion", conversion)
    return Budget(positive_rational("epsilon", epsilon), rational("delta", delta), share, neighbours)


def offered(left: Fraction) -> Fraction:
    """What is left, as a number that can be spent and written: exact, or rounded down where it has too many digits."""
    return left if left.denominator.bit_length() <= _MOST_BITS else _down(left)


@lru_cache(maxsize=1024)
def _limits(epsilon: Fraction, delta: Fraction, conversion: Fraction) -> Limits:
    return Limits(epsilon, delta - conversion, conversion, rho_within(epsilon, conversion))


def _root_below(square: Fraction) -> Fraction:
    """A rational at most the square root, near it."""
    if square <= 0:
        return Fraction(0)
    shift = max(0, _ROOT_BITS + (square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift)
