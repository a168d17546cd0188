"""What a person's rows come to, by definition, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Values = tuple[float | None, ...]


def row_of(values: Sequence[float | None], statistic: str, bounds: tuple[int, int] | None) -> Fraction | None:
    """Mean or median of the values that are there, each moved between the bounds first; None where there are none."""
    there = sorted(Fraction(v) for v in values if v is not None)
    if bounds is not None:
        there = [min(Fraction(bounds[1]), max(Fraction(bounds[0]), v)) for v in there]
    if not there:
        return None
    if statistic == "mean":
        return sum(there, Fraction(0)) / len(there)
    return (there[(len(there) - 1) // 2] + there[len(there) // 2]) / 2
