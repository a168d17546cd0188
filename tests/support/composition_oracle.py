"""Composition by enumeration, in rationals: that of the audit, which shares no code with what it audits, and e^x from
above."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.audit.oracles.laws import (
    Pair,
    excess,
    exp_below,
    exponential,
    log_above,
    range_of,
    together,
    two_outcomes,
    worst_adaptive,
    worst_approximate,
)

__all__ = [
    "Pair",
    "excess",
    "exp_above",
    "exp_below",
    "exponential",
    "log_above",
    "range_of",
    "together",
    "two_outcomes",
    "worst_adaptive",
    "worst_approximate",
]


def exp_above(x: Fraction) -> Fraction:
    """A rational above e^x, 0 <= x <= 128, near it: what Taylor's series leaves out at x / 64 <= 2 is less than twice
    the last term, then raised to the 64th power."""
    term = total = Fraction(1)
    for j in range(1, 40):
        term = term * x / 64 / j
        total += term
    rounded = Fraction(int((total + 2 * term) * 2**160) + 1, 2**160) ** 64
    return Fraction(int(rounded * 2**100), 2**100) + Fraction(1, 2**100)
