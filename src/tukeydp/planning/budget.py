"""A budget fixed beforehand, and which sequences of releases stay within it (docs/proofs/composition.md, section 5).

Two criteria, both fixed before the first result is known: the plain sum, and zCDP. A sequence is within the budget as
long as one of them holds for all of it. That stays true when later releases are chosen by earlier results, if
delta is shared out beforehand: one part for the deltas that releases have themselves, the other for the conversion
of zCDP. Whether the whole of it may serve either purpose must not be decided by results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from tukeydp.errors import ParameterError
from tukeydp.parameters import checked_choice, positive_rational, rational, show
from tukeydp.planning.conversion import rho_within
from tukeydp.privacy import NEIGHBOURS, Guarantee, delta_of

# Share of delta kept for releases with a delta of their own, where the first release has none. The rest converts zCDP:
# of 20 releases at 0.1 and delta = 1e-6 a tenth less makes epsilon = 1.019 out of 1.014; half would make 1.047.
_KEPT = Fraction(1, 10)
_ROOT_BITS = 64  # bits of a square root that is rounded down; fewer would say that less is left than there is


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
        return Remaining(limits.epsilon - totals.epsilon, limits.own - totals.delta)

    def remaining(self, totals: Totals) -> Remaining:
        """What one more release may cost, by either criterion; a pure one of unknown law costs rho = epsilon^2 / 2."""
        plain, limits = self.plain_left(totals), self.limits(totals)
        if not totals.count or not limits.concentrated(totals):
            return plain
        by_zcdp = _root_below(2 * (limits.rho - totals.rho))
        return Remaining(max(plain.epsilon, by_zcdp), max(plain.delta, limits.own - totals.rho_delta))


def checked_budget(epsilon: Any, delta: Any, conversion: Any, neighbours: str) -> Budget:
    share = None if conversion is None else rational("conversion", conversion)
    return Budget(positive_rational("epsilon", epsilon), rational("delta", delta), share, neighbours)


@lru_cache(maxsize=1024)
def _limits(epsilon: Fraction, delta: Fraction, conversion: Fraction) -> Limits:
    return Limits(epsilon, delta - conversion, conversion, rho_within(epsilon, conversion))


def _root_below(square: Fraction) -> Fraction:
    """A rational at most the square root, near it."""
    if square <= 0:
        return Fraction(0)
    shift = max(0, _ROOT_BITS + (square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift)
