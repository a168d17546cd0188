"""Exponentials and logarithms of rationals enclosed between integers or rationals, as narrowly as asked for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# Bits of an enclosure unless the caller asks for others. Fewer cost sharpness, never truth.
BITS = 192


@dataclass(frozen=True)
class Bracket:
    """A positive real enclosed by low * 2^exponent and high * 2^exponent."""

    low: int
    high: int
    exponent: int

    def trimmed(self, bits: int) -> Bracket:
        """The same real with about `bits` bits, rounded outwards."""
        excess = max(0, self.high.bit_length() - bits)
        return Bracket(self.low >> excess, -(-self.high >> excess), self.exponent + excess)

    def times(self, other: Bracket, bits: int) -> Bracket:
        product = Bracket(self.low * other.low, self.high * other.high, self.exponent + other.exponent)
        return product.trimmed(bits)

    def fixed(self, exponent: int) -> tuple[int, int]:
        """Floor and ceiling of the bracket's ends in units of 2^exponent."""
        shift = self.exponent - exponent
        if shift >= 0:
            return self.low << shift, self.high << shift
        shift = min(-shift, self.high.bit_length() + 1)  # beyond this the answer no longer changes
        return self.low >> shift, -(-self.high >> shift)


def exp_bracket(x: Fraction, bits: int) -> Bracket:
    """Enclose e^x, x >= 0, to about `bits` bits.

    Taylor's series at r = x / 2^k < 1/16, then k squarings, each with rounding outwards.
    """
    k = max(0, (x.numerator // x.denominator).bit_length() + 4)
    work = bits + 2 * k + 32
    numerator, denominator = x.numerator, x.denominator << k
    low = high = term_low = term_high = 1 << work
    j = 0
    while term_high > 1:
        j += 1
        term_low = term_low * numerator // (denominator * j)
        term_high = -(-term_high * numerator // (denominator * j))
        low += term_low
        high += term_high
    # The terms left out add up to less than r/(j+1) * (1 + r + ...) of the last one, so to less than it.
    result = Bracket(low, high + term_high + 1, -work)
    for _ in range(k):
        result = result.times(result, work)
    return result.trimmed(bits)


def rounded_down(value: Fraction, bits: int = 128) -> Fraction:
    """The value with its leading bits only."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - bits
    if shift >= 0:
        return Fraction((value.numerator // (value.denominator << shift)) << shift)
    return Fraction((value.numerator << -shift) // value.denominator, 1 << -shift)


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
