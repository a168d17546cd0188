"""Quantiles by recursive halving, by definition: joint laws over a small grid. Imports nothing from the package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

Values = tuple[int, ...]
CUT = Fraction(1, 8)  # of a rank's weight, for sharing out values that are equal to a quantile


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


def tree(shares: Sequence[Fraction]) -> list[list[tuple[int, Fraction, Fraction]]]:
    """For each level its quantiles: which one, and the shares of the nearest ones drawn before on either side."""
    levels, open_parts = [], [(0, len(shares), Fraction(0), Fraction(1))]
    while open_parts:
        level, below = [], []
        for first, last, low, high in open_parts:
            middle = (first + last) // 2
            level.append((middle, low, high))
            for part in ((first, middle, low, shares[middle]), (middle + 1, last, shares[middle], high)):
                if part[0] < part[1]:
                    below.append(part)
        levels.append(level)
        open_parts = below
    return levels


def weights(shares: Sequence[Fraction], epsilon: Fraction) -> list[Fraction]:
    """One rank's weight at each level: half of epsilon, less where a move between two parts costs more than a swap."""
    found = []
    for level in tree(shares):
        moved = sorted(max(p, 1 - p) for p in ((shares[i] - low) / (high - low) for i, low, high in level))
        found.append(epsilon / 2 / max(Fraction(1), sum(moved[-2:], Fraction(0))))
    return found


def joint(
    values: Values,
    highest: int,
    shares: tuple[Fraction, ...],
    by_level: Sequence[Fraction],
    tie_bits: int = 0,
    points: Values | None = None,
    cut: bool = True,
) -> dict[tuple[int, ...], float]:
    """Probability of every outcome; `cut=False`: values are not shared out among the parts (a control).

    A value is a step and, below it, the bits that break its ties.
    """

    def of_part(
        first: int, last: int, mine: Values, low: int, high: int, ends: tuple[Fraction, Fraction], level: int
    ) -> dict[tuple[int, ...], float]:
        if first >= last:
            return {(): 1.0}
        middle = (first + last) // 2
        here = shares[middle]
        share = (here - ends[0]) / (ends[1] - ends[0]) if cut else here
        cuts = last - first > 1
        weight, steps = by_level[level], tuple(v >> tie_bits for v in mine)
        found: dict[tuple[int, ...], float] = {}
        chances = law(steps, low, high, share, weight * (1 - CUT * cuts), points)
        for y, chance in zip(range(low, high + 1), chances, strict=True):
            start, end = y << tie_bits, ((y + 1) << tie_bits) - 1
            edges = law(mine, start, end, share, weight * CUT) if cuts else (0.0,) * (end - start) + (1.0,)
            for edge, kept in zip(range(start, end + 1), edges, strict=True):
                below = tuple(v for v in mine if v <= edge) if cut else mine
                above = tuple(v for v in mine if v > edge) if cut else mine
                left = of_part(first, middle, below, low, y, (ends[0], here), level + 1)
                right = of_part(middle + 1, last, above, y, high, (here, ends[1]), level + 1)
                for a, p in left.items():
                    for b, q in right.items():
                        key = (*a, y, *b)
                        found[key] = found.get(key, 0.0) + chance * kept * p * q
        return found

    return of_part(0, len(shares), tuple(sorted(values)), 0, highest, (Fraction(0), Fraction(1)), 0)
