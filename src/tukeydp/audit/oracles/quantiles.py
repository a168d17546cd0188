"""Quantiles by recursive halving, by definition: the joint law of all of them over a small grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

Values = tuple[int, ...]
CUT = Fraction(1, 8)  # of a rank's weight, for sharing out values that are equal to a quantile
Joint = dict[tuple[int, ...], float]


def score(values: Sequence[int], share: Fraction, y: int) -> Fraction:
    """How far the wanted rank is from the ranks that y has."""
    wanted, below, up_to = share * len(values), sum(v < y for v in values), sum(v <= y for v in values)
    return max(Fraction(0), wanted - up_to, below - wanted)


@cache
def law(
    values: Values, low: int, high: int, share: Fraction, weight: Fraction, points: Values | None = None
) -> tuple[float, ...]:
    """Of one quantile among points from low to high; `points` say what each from 0 on weighs beforehand."""
    weights = [
        (1 if points is None else points[y]) * math.exp(-float(weight * score(values, share, y)))
        for y in range(low, high + 1)
    ]
    return tuple(w / sum(weights) for w in weights)


def weights(shares: Sequence[Fraction], epsilon: Fraction) -> list[Fraction]:
    """What a rank counts at each level: half of epsilon, less where a move between two parts costs more than a swap."""
    found, parts = [], [(0, len(shares), Fraction(0), Fraction(1))]
    while parts:
        moved, below = [], []
        for first, last, low, high in parts:
            middle = (first + last) // 2
            p = (shares[middle] - low) / (high - low)
            moved.append(max(p, 1 - p))
            halves = ((first, middle, low, shares[middle]), (middle + 1, last, shares[middle], high))
            below += [part for part in halves if part[0] < part[1]]
        found.append(epsilon / 2 / max(Fraction(1), sum(sorted(moved)[-2:], Fraction(0))))
        parts = below
    return found


def joint(
    values: Values,
    highest: int,
    shares: Sequence[Fraction],
    by_level: Sequence[Fraction],
    tie_bits: int = 0,
    points: Values | None = None,
) -> Joint:
    """Probability of every outcome: the middle quantile first, then those of the values up to it, and of the others.

    A value is a step and, below it, the bits that break its ties: where these are cut is drawn by rank as well.
    """

    def of_part(
        first: int, last: int, mine: Values, low: int, high: int, ends: tuple[Fraction, Fraction], level: int
    ) -> Joint:
        if first >= last:
            return {(): 1.0}
        middle = (first + last) // 2
        here = shares[middle]
        share = (here - ends[0]) / (ends[1] - ends[0])
        cuts = last - first > 1
        weight, steps = by_level[level], tuple(v >> tie_bits for v in mine)
        found: dict[tuple[int, ...], float] = {}
        chances = law(steps, low, high, share, weight * (1 - CUT * cuts), points)
        for y, chance in zip(range(low, high + 1), chances, strict=True):
            start, end = y << tie_bits, ((y + 1) << tie_bits) - 1
            edges = law(mine, start, end, share, weight * CUT) if cuts else (0.0,) * (end - start) + (1.0,)
            for edge, kept in zip(range(start, end + 1), edges, strict=True):
                below = tuple(v for v in mine if v <= edge)
                above = tuple(v for v in mine if v > edge)
                left = of_part(first, middle, below, low, y, (ends[0], here), level + 1)
                right = of_part(middle + 1, last, above, y, high, (here, ends[1]), level + 1)
                for a, p in left.items():
                    for b, q in right.items():
                        key = (*a, y, *b)
                        found[key] = found.get(key, 0.0) + chance * kept * p * q
        return found

    return of_part(0, len(shares), tuple(sorted(values)), 0, highest, (Fraction(0), Fraction(1)), 0)
