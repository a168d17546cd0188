"""Sums of groups by definition: what every row adds to its own group, and to no other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Cell = Fraction | None
Row = tuple[tuple[Cell, ...], object]  # cells, and a key


def group_sums(
    rows: Sequence[Row], keys: Sequence[object], lower: Sequence[int], upper: Sequence[int]
) -> list[list[list[Fraction]]]:
    """For each key and column: the sum of values as numbers from -1 to 1, their number, the sum of 2 v^2 - 1.

    Values beyond a bound count as the bound; rows with another key, or none, belong to no group.
    """
    found = []
    for key in keys:
        columns = []
        for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
            cells = [cells[j] for cells, own in rows if own is not None and own == key]
            values = [
                min(Fraction(1), max(Fraction(-1), 2 * (c - low) / (high - low) - 1)) for c in cells if c is not None
            ]
            squares = [2 * v * v - 1 for v in values]
            columns.append([sum(values, Fraction(0)), Fraction(len(values)), sum(squares, Fraction(0))])
        found.append(columns)
    return found
