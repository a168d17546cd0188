"""Depth and the exponential mechanism over it, by definition and in integers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache

Point = tuple[int, ...]
Row = Point | None  # None: a row with a missing cell
Law = tuple[Fraction, ...]


def depth(rows: Sequence[Row], y: Point, directions: Iterable[Point]) -> int:
    """Fewest rows in a closed halfspace with y on its edge, over the given directions and their opposites."""
    least = len(rows)
    for v in directions:
        at = sum(a * b for a, b in zip(v, y, strict=True))
        sides = [sum(a * b for a, b in zip(v, row, strict=True)) - at for row in rows if row is not None]
        least = min(least, sum(s >= 0 for s in sides), sum(s <= 0 for s in sides))
    return least


@cache
def all_directions(extent: int) -> tuple[Point, ...]:
    """Directions that show the depth over all of them, in two columns, where rows and points differ by at most
    `extent` in each.

    Halfspaces through y change only where a direction is perpendicular to some row less y. Between two neighbouring
    such directions lies the sum of their shortest vectors, of entries up to twice the extent.
    """
    reach = range(-2 * extent, 2 * extent + 1)
    return tuple(v for v in itertools.product(reach, repeat=2) if v > (0, 0))


def law(depths: Sequence[int], q: Fraction) -> Law:
    """The exponential mechanism: probability proportional to q^depth, q = e^(epsilon/2)."""
    weights = [q**t for t in depths]
    total = sum(weights)
    return tuple(w / total for w in weights)
