"""Exponentials and logarithms of rationals between two rationals, as narrow as asked for."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.exact.level_draw import exp_bracket

BITS = 192


def exp_between(x: Fraction, bits: int = BITS) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^x, for any rational x, to about `bits` bits.

    >>> low, high = exp_between(Fraction(1), bits=40)
    >>> low < Fraction("2.718281828459045235360287471352") < high
    True
    """
    bracket = exp_bracket(abs(x), bits)
    unit = Fraction(2) ** bracket.exponent
    low, high = bracket.low * unit, bracket.high * unit
    return (low, high) if x >= 0 else (1 / high, 1 / low)


def log_between(x: Fraction, bits: int = BITS) -> tuple[Fraction, Fraction]:
    """Rationals below and above log x, x > 0, to about `bits` bits after the point.

    x = 2^k m with 1 <= m < 2, and log m = 2 artanh((m - 1)/(m + 1)).

    >>> low, high = log_between(Fraction(2), bits=40)
    >>> low < Fraction("0.693147180559945309417232121458") < high
    True
    """
    k = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** k:
        k -= 1
    m = x / Fraction(2) ** k
    work = bits + 16 + abs(k).bit_length()
    low, high = _twice_artanh((m - 1) / (m + 1), work)
    two_low, two_high = _twice_artanh(Fraction(1, 3), work)
    return low + k * (two_low if k >= 0 else two_high), high + k * (two_high if k >= 0 else two_low)


def _twice_artanh(u: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """2 (u + u^3/3 + u^5/5 + ...) for 0 <= u <= 1/3, in integers over 2^bits rounded outwards."""
    square = u * u
    power_low = (u.numerator << bits) // u.denominator
    power_high = -((-u.numerator << bits) // u.denominator)
    low, high, j = 0, 0, 1
    while power_high > 1:
        low += power_low // j
        high += -(-power_high // j)
        power_low = power_low * square.numerator // square.denominator
        power_high = -(-power_high * square.numerator // square.denominator)
        j += 2
    # What is left out is below power/j (1 + 1/9 + 1/81 + ...) < 2 units.
    return Fraction(2 * low, 1 << bits), Fraction(2 * (high + 2), 1 << bits)
