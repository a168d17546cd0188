"""The mean's steps with all their secret coins, by definition and in rationals.

A table is a tuple of rows, a row a tuple of rationals from -1 to 1, None where missing. Each missing cell of a block
table lies at either end by a coin of its own, and each zero difference of halves too (docs/proofs/mean.md, sections 2
and 5). Grid points are counted from the lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

from tukeydp.audit.oracles.depths import Point

Cell = Fraction | None
Row = tuple[Cell, ...]
Table = tuple[Row, ...]
Choice = tuple[tuple[int, Fraction], ...]  # where a cell may lie on the grid, and with which probability
Weighed = dict[tuple[Point, ...], Fraction]  # tables on the grid, rows sorted, with their probabilities

HALF = Fraction(1, 2)
ZERO_LOW = Fraction(9, 16)  # chance that a zero difference lies at the lower end


def blocks_of(order: Sequence[Row], blocks: int) -> list[Sequence[Row]]:
    """By place; the first n mod `blocks` blocks have one row more, and some may have none."""
    size, larger = divmod(len(order), blocks)
    ends = [b * size + min(b, larger) for b in range(blocks + 1)]
    return [order[a:b] for a, b in itertools.pairwise(ends)]


def block_mean(values: Sequence[Cell]) -> Cell:
    """The mean of the values that are there; from three on corrected for skewness, within their range."""
    there = [v for v in values if v is not None]
    m = len(there)
    if not m:
        return None
    mean = sum(there, Fraction(0)) / m
    square = sum((v - mean) ** 2 for v in there)
    if m < 3 or not square:
        return mean
    # k3 / (6 s^2 m), times 3/2, with s^2 = square / (m - 1) and k3 = m cube / ((m - 1) (m - 2)).
    shift = sum((v - mean) ** 3 for v in there) / (4 * (m - 2) * square)
    return min(max(there), max(min(there), mean + shift))


def mean_choice(values: Sequence[Cell], steps: int) -> Choice:
    """The nearest of the steps from -1 to 1; either end where there is no mean."""
    mean = block_mean(values)
    if mean is None:
        return ((0, HALF), (steps, HALF))
    return ((round((mean + 1) * steps / 2), Fraction(1)),)


def difference_choice(values: Sequence[Cell], octaves: int, zero: int = 30) -> Choice:
    """The difference of halves in eighths of an octave above 2^-octaves of the width; none if at most 2^-zero of it."""
    half, top = len(values) // 2, 8 * octaves
    first, second = ([v for v in part if v is not None] for part in (values[:half], values[half : 2 * half]))
    if not first or not second:
        return ((0, HALF), (top, HALF))
    difference = sum(first, Fraction(0)) / len(first) - sum(second, Fraction(0)) / len(second)
    square = difference**2 / 4 / (Fraction(1, len(first)) + Fraction(1, len(second)))
    if square <= Fraction(1, 4**zero):
        return ((0, ZERO_LOW), (top, 1 - ZERO_LOW))
    # k eighths below the top are nearest if 2^-(2k + 1) < u^16 <= 2^-(2k - 1).
    k = 0
    while k < top and square**8 <= Fraction(1, 2 ** (2 * k + 1)):
        k += 1
    return ((top - k, Fraction(1)),)


def tables(x: Table, blocks: int, choice: Callable[[Sequence[Cell]], Choice], partitions: int = 1) -> Weighed:
    """Every table on the grid that dealings and coins may give."""
    once: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    d = len(x[0])
    for order, times in Counter(itertools.permutations(x)).items():
        cells = [choice([row[j] for row in block]) for block in blocks_of(order, blocks) for j in range(d)]
        for chosen in itertools.product(*cells):
            chance = math.prod((p for _, p in chosen), start=Fraction(times, math.factorial(len(x))))
            places = iter([at for at, _ in chosen])
            once[tuple(sorted(zip(*[places] * d, strict=True)))] += chance
    found: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for dealt in itertools.product(once.items(), repeat=partitions):
        rows = tuple(sorted(row for table, _ in dealt for row in table))
        found[rows] += math.prod((p for _, p in dealt), start=Fraction(1))
    return dict(found)


def shifted_tables(x: Table, blocks: int, steps: int, shifts: Sequence[float]) -> Weighed:
    """One column, one dealing that counts twice: every block mean moved by its place's shift, to either side."""
    found: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for order, times in Counter(itertools.permutations(x)).items():
        cells: list[Choice] = []
        for block, shift in zip(blocks_of(order, blocks), shifts, strict=True):
            mean = block_mean([row[0] for row in block])
            for moved in (shift, -shift):
                if mean is None:
                    cells.append(((0, HALF), (steps, HALF)))
                else:
                    within = max(Fraction(-1), min(Fraction(1), mean + Fraction(moved)))
                    cells.append(((round((within + 1) * steps / 2), Fraction(1)),))
        for chosen in itertools.product(*cells):
            chance = math.prod((p for _, p in chosen), start=Fraction(times, math.factorial(len(x))))
            found[tuple(sorted((at,) for at, _ in chosen))] += chance
    return dict(found)


RADII = (0.25, 0.5, 1, 2, 3, 4.5, 7, 11, 22, 44, math.inf)
WEIGHTS = (61, 121, 242, 484, 215, 96, 40, 16, 4, 1, 1)


def rows_beyond(x: Table, j: int, centre: float, spread: float) -> list[int]:
    """Rows whose cell of column j lies farther out than each radius. Missing cells are beyond none."""
    away = [abs(float(cell) - centre) for row in x if (cell := row[j]) is not None]
    return [sum(distance > radius * spread for distance in away) for radius in RADII]


def radius_levels(beyond: list[int]) -> dict[int, int]:
    """For one column: the weight of the radii with at most `most - level` rows beyond, for every level with some."""
    most = max(beyond)
    return {
        level: sum(w for w, rows in zip(WEIGHTS, beyond, strict=True) if rows <= most - level)
        for level in range(most - min(beyond) + 1)
    }
