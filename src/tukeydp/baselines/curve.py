"""How much Gaussian noise (epsilon, delta) needs, with every rounding on the safe side (docs/proofs/baselines.md).

Noise with standard deviation m times the sensitivity is (epsilon, delta)-DP exactly if
    delta(m) = Phi(1/(2m) - epsilon m) - e^epsilon Phi(-1/(2m) - epsilon m) <= delta
(Balle and Wang, "Improving the Gaussian mechanism", 2018, theorem 8). Here Phi is enclosed between integers, so that
what is called an upper bound is one, for tiny epsilon and delta too, where floats would cancel.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.laws import exp_bracket
from tukeydp.trusted.parameters import ParameterError, show

# The discrete noise is charged this part of delta for not being continuous. The proof holds for any part: a smaller one
# asks for a finer grid of noise, a larger one for more noise.
ROUNDING_SHARE = Fraction(1, 2**20)
# Largest epsilon on the exact curve. Above it the curve takes long, and the closed form of concentrated DP, proven as
# well, is close to it: accuracy and time only.
LARGEST_ON_CURVE = 200
_GUARD = 40  # bits beyond those of delta: brackets stay brackets with any number, fewer only make them wider
_SMALLEST = Fraction(1, 10**30)  # with epsilon and delta both below it the noise would exceed all measure; time only
_PRECISION = 34  # bits of the multiplier; it is rounded up, so that fewer mean more noise, never too little
_DIGITS = 60  # bits to which closed forms are rounded up; speed only


@lru_cache(maxsize=256)
def multiplier(guarantee: ApproxDP) -> Fraction:
    """The smallest standard deviation, in units of the L2 sensitivity, up to one part in 10^10; never below it.

    >>> from tukeydp.trusted.account import ApproxDP
    >>> round(float(multiplier(ApproxDP("1", "1e-6"))), 3)
    4.225
    """
    high = concentrated_multiplier(guarantee)
    if guarantee.epsilon > LARGEST_ON_CURVE:
        return high
    if guarantee.epsilon < _SMALLEST and guarantee.delta < _SMALLEST:
        raise ParameterError("epsilon", f"or delta must be at least {float(_SMALLEST)}", show(guarantee.epsilon))
    target = guarantee.delta * (1 - ROUNDING_SHARE)
    low = high / 2
    while delta_bound(low, guarantee.epsilon, target) <= target:
        low, high = low / 2, low
    while high - low > high / 2**_PRECISION:
        middle = (low + high) / 2
        if delta_bound(middle, guarantee.epsilon, target) <= target:
            high = middle
        else:
            low = middle
    return high


def concentrated_multiplier(guarantee: ApproxDP) -> Fraction:
    """The closed form by way of concentrated DP: rho = (sqrt(epsilon + L) - sqrt(L))^2 for L = ln(1/delta).

    rho-zCDP is (rho + 2 sqrt(rho L), delta)-DP (Bun and Steinke 2016, proposition 1.3), and m = 1/sqrt(2 rho).
    """
    # A little above the true logarithm and the true quotient: floats err by far less.
    log = _log(1 / guarantee.delta) * (1 + 1e-12) + 1e-12
    epsilon = float(guarantee.epsilon)
    # Multiplied last, as a rational: for the smallest epsilons the quotient is beyond floats.
    scaled = (math.sqrt(epsilon + log) + math.sqrt(log)) / math.sqrt(2.0)
    return _short(Fraction(scaled) / guarantee.epsilon * (1 + Fraction(1, 10**9)))


def classical_multiplier(guarantee: ApproxDP) -> Fraction:
    """sqrt(2 ln(1.25/delta)) / epsilon, for epsilon <= 1 only (Dwork and Roth 2014, theorem A.1)."""
    if guarantee.epsilon > 1:
        rule = "must be <= 1 for the classical Gaussian mechanism; baselines.analytic_gaussian takes any epsilon"
        raise ParameterError("epsilon", rule, show(guarantee.epsilon))
    classical = _short(Fraction(math.sqrt(2 * _log(Fraction(5, 4) / guarantee.delta))) / guarantee.epsilon)
    # The theorem is proven for epsilon < 1 and for real numbers; the curve decides, and the classical value is larger.
    return max(classical, multiplier(guarantee))


def delta_bound(m: Fraction, epsilon: Fraction, scale: Fraction) -> Fraction:
    """An upper bound on delta(m), above it by at most about 2^-40 `scale`."""
    # The second term is multiplied by e^epsilon, so it needs as many bits more.
    bits = _GUARD + _log2(1 / scale) + int(epsilon * 3 / 2)
    one = 1 << bits
    near, far = 1 / (2 * m), epsilon * m
    _, first = _normal(near - far, bits)
    second, _ = _normal(-near - far, bits)
    growth = exp_bracket(epsilon, bits)
    power = Fraction(growth.low) * Fraction(2) ** growth.exponent
    return Fraction(first, one) - power * Fraction(max(0, second), one)


def _normal(x: Fraction, bits: int) -> tuple[int, int]:
    """Enclose Phi(x) between two integers in units of 2^-bits."""
    low, high = _from_the_middle(abs(x), bits)
    half = 1 << (bits - 1)
    return (half + low, half + high) if x >= 0 else (half - high, half - low)


def _from_the_middle(x: Fraction, bits: int) -> tuple[int, int]:
    """Enclose Phi(x) - 1/2, x >= 0, by e^(-x^2/2) / sqrt(2 pi) times the sum of x^(2k+1) / (1 3 5 ... (2k+1))."""
    work = bits + 16
    square_low = (x * x * (1 << work)).__floor__()
    square_high = square_low + 1
    term_low = (x * (1 << work)).__floor__()
    term_high = term_low + 1
    low, high, odd = term_low, term_high, 1
    # Once odd > 2 x^2 each term is less than half of the one before, so those left out add up to less than the last.
    while term_high > 1 or odd << work <= 2 * square_high:
        odd += 2
        term_low = (term_low * square_low >> work) // odd
        term_high = (term_high * square_high >> work) // odd + 1
        low += term_low
        high += term_high
    high += term_high
    growth = exp_bracket(Fraction(square_high, 1 << (work + 1)), work)
    growth_low = exp_bracket(Fraction(square_low, 1 << (work + 1)), work)
    root_low, root_high = _root_of_two_pi(work)
    # low / (root * e^(x^2/2)): numerator and denominator are both in units of 2^-work.
    below = Fraction(low << bits, root_high * growth.high) / Fraction(2) ** growth.exponent
    above = Fraction(high << bits, root_low * growth_low.low) / Fraction(2) ** growth_low.exponent
    return below.__floor__(), above.__ceil__()


@lru_cache(maxsize=64)
def _root_of_two_pi(bits: int) -> tuple[int, int]:
    """Enclose sqrt(2 pi) in units of 2^-bits."""
    wide = 2 * bits + 32
    # Machin's formula; each of the two series errs by less than one unit per term.
    pi = 16 * _arctan_of_inverse(5, wide) - 4 * _arctan_of_inverse(239, wide)
    slack = 20 * wide
    low, high = (2 * (pi - slack)) >> 32, (2 * (pi + slack) >> 32) + 1
    return math.isqrt(low), math.isqrt(high) + 1


def _arctan_of_inverse(n: int, bits: int) -> int:
    term = (1 << bits) // n
    total, odd, sign = term, 1, 1
    while term:
        term //= n * n
        odd += 2
        sign = -sign
        total += sign * (term // odd)
    return total


def _log(number: Fraction) -> float:
    """The natural logarithm, also of rationals beyond floats."""
    shift = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** shift) + shift * math.log(2.0)


def _log2(number: Fraction) -> int:
    """At least the binary logarithm, and at least 0."""
    return max(0, number.numerator.bit_length() - number.denominator.bit_length() + 1)


def _short(number: Fraction) -> Fraction:
    """At least `number`, with few binary digits: long rationals would only make the rest slow."""
    shift = _DIGITS - (number.numerator.bit_length() - number.denominator.bit_length())
    return Fraction((number * Fraction(2) ** shift).__ceil__()) / Fraction(2) ** shift
