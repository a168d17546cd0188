"""Composition by enumeration, in rationals.

A mechanism on one pair of neighbours is a list of outcomes, each with its probability under the one and the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

Outcome = tuple[Fraction, Fraction]
Pair = list[Outcome]


def exp_below(x: Fraction) -> Fraction:
    """A rational below e^x, 0 <= x <= 128, near it: Taylor's series cut off, then raised to the 64th power."""
    term = total = Fraction(1)
    for j in range(1, 40):
        term = term * x / 64 / j
        total += term
    return Fraction(int(Fraction(int(total * 2**160), 2**160) ** 64 * 2**100), 2**100)


def log_above(x: Fraction) -> Fraction:
    """A rational above ln x, x >= 1, within about 2^-40 of it."""
    low, high = Fraction(0), x - 1
    while high - low > Fraction(1, 2**40):
        middle = (low + high) / 2
        low, high = (low, middle) if exp_below(middle) >= x else (middle, high)
    return high


def exponential(scores: Sequence[int], other: Sequence[int], base: Fraction) -> Pair:
    """The exponential mechanism on scores of two neighbours: weight base^score, so epsilon = 2 ln base."""
    one, two = ([base**s for s in u] for u in (scores, other))
    return [(a / sum(one), b / sum(two)) for a, b in zip(one, two, strict=True)]


def two_outcomes(q: Fraction, ratio: Fraction) -> Pair:
    """Probabilities q and 1 - q under the one, ratio q and 1 - ratio q under the other."""
    return [(ratio * q, q), (1 - ratio * q, 1 - q)]


def range_of(pair: Pair) -> Fraction:
    """The length of the interval of log ratios, rounded up."""
    ratios = [p / q for p, q in pair]
    return log_above(max(ratios) / min(ratios))


def worst_approximate(growth: Fraction, delta: Fraction) -> Pair:
    """The (ln growth, delta)-DP mechanism from which every other follows (Kairouz, Oh and Viswanath 2015)."""
    high, low = (1 - delta) * growth / (1 + growth), (1 - delta) / (1 + growth)
    return [(delta, Fraction(0)), (high, low), (low, high), (Fraction(0), delta)]


def together(*pairs: Pair) -> Pair:
    """Independent runs; outcomes of equal ratio are put together, which changes no hockey-stick divergence."""
    law: Pair = [(Fraction(1), Fraction(1))]
    for pair in pairs:
        merged: dict[Fraction | None, Outcome] = {}
        for p, q in law:
            for a, b in pair:
                x, y = p * a, q * b
                ratio = x / y if y else None
                known = merged.get(ratio, (Fraction(0), Fraction(0)))
                merged[ratio] = known[0] + x, known[1] + y
        law = list(merged.values())
    return law


def excess(pair: Pair, growth: Fraction) -> Fraction:
    """The hockey-stick divergence: the least delta for which P(E) <= growth Q(E) + delta for all events E."""
    return sum((max(Fraction(0), p - growth * q) for p, q in pair), Fraction(0))


def worst_adaptive(
    choices: Sequence[Pair], admits: Callable[[tuple[int, ...]], bool], growth: Fraction, most: int
) -> Fraction:
    """The largest excess that anyone can reach who chooses each run by all earlier outcomes, as long as it is admitted.

    `admits` is asked for the choices made so far, in order; at most `most` runs.
    """

    def value(p: Fraction, q: Fraction, made: tuple[int, ...]) -> Fraction:
        best = max(Fraction(0), p - growth * q)
        for i, pair in enumerate(choices):
            if len(made) < most and admits((*made, i)):
                best = max(best, sum((value(p * a, q * b, (*made, i)) for a, b in pair), Fraction(0)))
        return best

    return value(Fraction(1), Fraction(1), ())
