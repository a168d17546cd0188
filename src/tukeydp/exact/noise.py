"""Integer noise with exact laws: discrete Laplace and discrete Gaussian, from uniform bits and integers only.

The samplers are those of Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020),
algorithms 1 to 3. They know nothing of data or budgets.

Privacy
-------
How long a draw takes depends on what is drawn (docs/threat-model.md).
"""

from __future__ import annotations

from fractions import Fraction

from tukeydp.errors import ParameterError
from tukeydp.randomness import Bits


def discrete_gaussian(deviation: int, bits: Bits) -> int:
    """An integer z with probability proportional to e^(-z^2 / (2 deviation^2)), exactly.

    Algorithm 3 of the paper: a discrete Laplace draw of about the same scale, kept with the ratio of the two laws.
    """
    if deviation < 1:
        raise ParameterError("deviation", "must be a positive integer", deviation)
    scale = deviation + 1
    square = deviation * deviation
    while True:
        z = discrete_laplace(scale, bits)
        excess = abs(z) * scale - square
        if bernoulli_exp(excess * excess, 2 * square * scale * scale, bits):
            return z


def discrete_laplace(scale: Fraction | int, bits: Bits) -> int:
    """An integer z with probability proportional to e^(-|z| / scale), exactly, for any rational scale > 0.

    Algorithm 2 of the paper: a geometric draw with a sign, again and again until it is not minus zero.
    """
    if not scale > 0:
        raise ParameterError("scale", "must be > 0", scale)
    while True:
        z = _signed_geometric(scale.numerator, scale.denominator, bits)
        if z is not None:
            return z


def _signed_geometric(numerator: int, denominator: int, bits: Bits) -> int | None:
    """One attempt at a discrete Laplace draw of scale numerator / denominator; None if it came to nothing."""
    size = _geometric(numerator, denominator, bits)
    if size is None:
        return None
    if not bits.take(1):
        return size
    return -size or None  # zero would come with both signs, and twice as often as it should


def geometric(scale: Fraction | int, bits: Bits) -> int:
    """An integer k >= 0 with probability proportional to e^(-k / scale), exactly, for any rational scale > 0."""
    if not scale > 0:
        raise ParameterError("scale", "must be > 0", scale)
    while (size := _geometric(scale.numerator, scale.denominator, bits)) is None:
        pass
    return size


def _geometric(numerator: int, denominator: int, bits: Bits) -> int | None:
    """One attempt at a geometric draw of scale numerator / denominator; None if it came to nothing.

    rest + numerator * whole has probability proportional to e^(-value / numerator); so its quotient by the denominator
    is geometric with the ratio e^(-denominator / numerator).
    """
    rest = bits.below(numerator)
    if not bernoulli_exp(rest, numerator, bits):
        return None
    whole = 0
    while bernoulli_exp(1, 1, bits):
        whole += 1
    return (rest + numerator * whole) // denominator


def bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """True with probability e^(-numerator/denominator), exactly; the ratio is >= 0.

    Algorithm 1 of the paper.
    """
    whole, rest = divmod(numerator, denominator)
    return all(_series(1, 1, bits) for _ in range(whole)) and _series(rest, denominator, bits)


def _series(numerator: int, denominator: int, bits: Bits) -> bool:
    """The same for a ratio g of at most 1: the first failure of coins with g, g/2, g/3, ... comes at an odd place."""
    k = 1
    while bits.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
