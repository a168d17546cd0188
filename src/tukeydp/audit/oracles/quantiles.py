"""Quantiles by recursive halving, by definition: the joint law of all of them over a small grid."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

Values = tuple[int, ...]
Joint = dict[tuple[int, ...], float]


def score(values: Sequence[int], share: Fraction, y: int) -> Fraction:
    """How far the wanted rank is from the ranks that y has."""
    wanted, below, up_to = share * len(values), sum(v < y for v in values), sum(v <= y for v in values)
    return max(Fraction(0), wanted - up_to, below - wanted)


@cache
def law(values: Values, low: int, high: int, share: Fraction, weight: Fraction) -> tuple[float, ...]:
    """Of one quantile among points from low to high."""
    weights = [math.exp(-float(weight * score(values, share, y))) for y in range(low, high + 1)]
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


def joint(values: Values, highest: int, shares: Sequence[Fraction], by_level: Sequence[Fraction]) -> Joint:
    """Probability of every outcome: the middle quantile first, then those of the values up to it, and of the others."""

    def of_part(
        first: int, last: int, mine: Values, low: int, high: int, ends: tuple[Fraction, Fraction], level: int
    ) -> Joint:
        if first >= last:
            return {(): 1.0}
        middle = (first + last) // 2
        here = shares[middle]
        share = (here - ends[0]) / (ends[1] - ends[0])
        found: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for y, chance in zip(range(low, high + 1), law(mine, low, high, share, by_level[level]), strict=True):
            below, above = tuple(v for v in mine if v <= y), tuple(v for v in mine if v > y)
            left = of_part(first, middle, below, low, y, (ends[0], here), level + 1)
            right = of_part(middle + 1, last, above, y, high, (here, ends[1]), level + 1)
            for a, p in left.items():
                for b, q in right.items():
                    found[(*a, y, *b)] += chance * p * q
        return dict(found)

    return of_part(0, len(shares), tuple(sorted(values)), 0, highest, (Fraction(0), Fraction(1)), 0)
