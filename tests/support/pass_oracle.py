"""What passes add up, by definition: cell by cell in Python's own numbers. Imports nothing from the package."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence

HALF = 2**29  # steps from the middle of the bounds to either end


def step(cell: float, low: float, high: float) -> int | None:
    """A cell in whole steps from the middle of its bounds; None if it is missing."""
    if math.isnan(cell):
        return None
    relative = (cell - (low / 2 + high / 2)) / (high / 2 - low / 2)
    return round(max(-1.0, min(1.0, relative)) * HALF)  # Python rounds halves to even, as IEEE 754 does


def block_sums(
    cells: Sequence[Sequence[float]], ends: Sequence[tuple[float, float]], numbers: Sequence[int], blocks: int
) -> tuple[list[list[int]], list[list[int]]]:
    """For each column and block the sum of the values' steps, and how many there are."""
    sums = [[0] * blocks for _ in ends]
    counts = [[0] * blocks for _ in ends]
    for row, b in zip(cells, numbers, strict=True):
        for j, (cell, (low, high)) in enumerate(zip(row, ends, strict=True)):
            value = step(cell, low, high)
            if value is not None:
                sums[j][b] += value
                counts[j][b] += 1
    return sums, counts


def depth(y: int, rows: Iterable[float]) -> int:
    placed = list(rows)
    return min(sum(row >= y for row in placed), sum(row <= y for row in placed))


def drawn_law(values: Sequence[float], blocks: int, epsilon: float, points: Sequence[int]) -> list[float]:
    """Chances of the grid points: rows draw blocks, means are rounded to whole numbers, depth decides. One column.

    An empty block lies at either end of the grid with chance 1/2. Rows that draw are told apart by nothing but their
    value, so that all numbers are enumerated.
    """
    total = Counter[int]()
    draws = list(itertools.product(range(blocks), repeat=len(values)))
    for numbers in draws:
        means = []
        for b in range(blocks):
            own = [v for v, number in zip(values, numbers, strict=True) if number == b]
            means.append(round(sum(own) / len(own)) if own else None)
        empty = [b for b, mean in enumerate(means) if mean is None]
        for coins in itertools.product((points[0], points[-1]), repeat=len(empty)):
            filled = list(means)
            for b, end in zip(empty, coins, strict=True):
                filled[b] = end
            weights = [math.exp(epsilon * depth(y, filled) / 2) for y in points]
            for y, weight in zip(points, weights, strict=True):
                total[y] += weight / sum(weights) / len(draws) / 2 ** len(empty)
    return [total[y] for y in points]
