"""Statistics of dealt blocks and least squares, by definition."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

from tukeydp.audit.oracles.laws import Point
from tukeydp.audit.oracles.means import Row, Table, Weighed, blocks_of

Statistic = Callable[[Sequence[Row], int], Fraction | None]  # of a block and its number; None where it fails


def tables(x: Table, blocks: int, partitions: int, statistic: Statistic, steps: int) -> Weighed:
    """Every table on the grid from -1 to 1 that dealings may give, rows sorted; failed blocks are left out."""
    once: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for order in itertools.permutations(x):
        found = [statistic(block, b) for b, block in enumerate(blocks_of(order, blocks))]
        there = tuple(sorted((round((v + 1) * steps / 2),) for v in found if v is not None))
        once[there] += Fraction(1, math.factorial(len(x)))
    total: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for dealt in itertools.product(once.items(), repeat=partitions):
        rows = tuple(sorted(row for table, _ in dealt for row in table))
        total[rows] += math.prod((p for _, p in dealt), start=Fraction(1))
    return dict(total)


def line(rows: Sequence[Row]) -> tuple[Fraction, Fraction] | None:
    """Intercept and slope of the last column on the first, by least squares; None if they are not determined."""
    whole = [(x, y) for x, y in rows if x is not None and y is not None]
    n = len(whole)
    if not n:
        return None
    mean_x, mean_y = sum((x for x, _ in whole), Fraction(0)) / n, sum((y for _, y in whole), Fraction(0)) / n
    square = sum((x - mean_x) ** 2 for x, _ in whole)
    if not square:
        return None
    slope = sum((x - mean_x) * (y - mean_y) for x, y in whole) / square
    return mean_y - slope * mean_x, slope


def group_delta(epsilon: float, delta: float, times: int) -> float:
    """What `times` swaps in a row, each (epsilon, delta)-DP, come to."""
    return sum(math.exp(i * epsilon) * delta for i in range(times))
