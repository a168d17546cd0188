"""Groups, by definition and in rationals: laws of all groups together. Imports nothing from the package.

A row is (group, value), group None for no group and value None for a missing cell. One column.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

Row = tuple[int | None, Fraction | None]


def depth(values: Sequence[Fraction | None], y: Fraction) -> int:
    there = [v for v in values if v is not None]
    return min(sum(v <= y for v in there), sum(v >= y for v in there))


@cache
def law(values: tuple[Fraction | None, ...], grid: tuple[Fraction, ...], q: Fraction) -> tuple[Fraction, ...]:
    """Probability proportional to q^depth at every point of the grid."""
    weights = [q ** depth(values, y) for y in grid]
    return tuple(w / sum(weights) for w in weights)


def snapped(value: Fraction | None, grid: tuple[Fraction, ...]) -> Fraction | None:
    """The nearest grid point, of two equally near ones that with an even number."""
    if value is None:
        return None
    step = grid[1] - grid[0]
    return grid[round((value - grid[0]) / step)]


def block_values(
    rows: Sequence[Row], numbers: Sequence[int], group: int, blocks: int, grid: tuple[Fraction, ...]
) -> tuple[Fraction | None, ...]:
    """Means of one group's blocks on the grid, None for a block without a value."""
    found: list[Fraction | None] = []
    for b in range(blocks):
        own = [v for (g, v), number in zip(rows, numbers, strict=True) if g == group and number == b and v is not None]
        found.append(snapped(sum(own, Fraction(0)) / len(own), grid) if own else None)
    return tuple(found)


def joint_of_rows(rows: Sequence[Row], groups: int, grid: tuple[Fraction, ...], q: Fraction) -> list[Fraction]:
    """All groups' points together, each by depth among its own rows."""
    laws = [law(tuple(sorted((v for g, v in rows if g == h), key=repr)), grid, q) for h in range(groups)]
    return _products(laws)


def joint_of_blocks(
    rows: Sequence[Row], groups: int, blocks: int, grid: tuple[Fraction, ...], q: Fraction
) -> list[Fraction]:
    """The same by depth among block means: every row draws its number by itself, and the mixture is over all draws."""
    draws = list(itertools.product(range(blocks), repeat=len(rows)))
    total = [Fraction(0)] * len(grid) ** groups
    for numbers in draws:
        laws = [law(block_values(rows, numbers, h, blocks, grid), grid, q) for h in range(groups)]
        total = [a + b for a, b in zip(total, _products(laws), strict=True)]
    return [p / len(draws) for p in total]


def numbered_within(rows: Sequence[Row], blocks: int) -> list[int]:
    """The trap: a row's number is its place within its group, as it stands in the file, so many to a block."""
    seen: dict[int | None, int] = {}
    size = {g: -(-sum(h == g for h, _ in rows) // blocks) for g, _ in rows}
    numbers = []
    for g, _ in rows:
        numbers.append(seen.get(g, 0) // size[g])
        seen[g] = seen.get(g, 0) + 1
    return numbers


def largest_ratio(ours: Sequence[Fraction], theirs: Sequence[Fraction]) -> Fraction:
    return max(max(a / b, b / a) for a, b in zip(ours, theirs, strict=True))


def _products(laws: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    found = [Fraction(1)]
    for one in laws:
        found = [a * b for a in found for b in one]
    return found
