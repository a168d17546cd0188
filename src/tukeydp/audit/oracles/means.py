"""The mean's and the spread's steps with all their secret coins, by definition and in rationals."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

from tukeydp.audit.oracles.laws import Point

# The mean's steps with all their secret coins, by definition and in rationals.
#
# A table is a tuple of rows, a row a tuple of rationals from -1 to 1, None where missing. Each missing cell of a block
# table lies at either end by a coin of its own, and each zero difference of halves too (docs/proofs/mean.md, sections 2
# and 5). Grid points are counted from the lower bound.

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


# Spreads by definition: deviations between parts of a block, and the common factor of a pair of rows.

# Medians of the standard deviation of k standard Gaussian values: of a chi variable over the root of its freedom.
MEDIANS = {2: 0.6744897501960817, 3: math.sqrt(math.log(2)), 4: 0.8880641651696379}
ZERO_LOW_OF_PARTS = Fraction(10, 16)  # chance that a zero deviation between three or more parts lies at the lower end
EQUAL_LOW = Fraction(2, 16)  # chance that a pair of equal rows lies at the lower end of the common factor
# The grid of the common factor, in octaves below and above what was assumed, and steps of an octave.
DOWN, UP, STEPS = 4, 6, 8


def deviation_choice(values: Sequence[Cell], parts: int, octaves: int) -> Choice:
    """The standard deviation between parts of a block, in eighths of an octave above 2^-octaves of the width."""
    size, larger = divmod(len(values), parts)
    ends = [i * size + min(i, larger) for i in range(parts + 1)]
    there = [[v for v in values[a:b] if v is not None] for a, b in itertools.pairwise(ends)]
    means = [(sum(part, Fraction(0)) / len(part), len(part)) for part in there if part]
    top = 8 * octaves
    if len(means) < 2:
        return ((0, HALF), (top, HALF))
    centre = sum(mean * m for mean, m in means) / sum(m for _, m in means)
    variance = sum(m * (mean - centre) ** 2 for mean, m in means) / (len(means) - 1)
    if not variance:
        return ((0, ZERO_LOW_OF_PARTS), (top, 1 - ZERO_LOW_OF_PARTS))
    log_size = math.log2(math.sqrt(variance) / 2 * MEDIANS[2] / MEDIANS[len(means)])
    return ((min(top, max(0, round(top + 8 * log_size))), Fraction(1)),)


def factor_choice(first: Row, second: Row, assumed: Sequence[float]) -> Choice:
    """log2 of two rows' differences over those assumed, averaged over the columns that differ, on its grid.

    Half of log2 of the share of columns that differ is added.
    """
    top = (DOWN + UP) * STEPS
    there = [abs(a - b) * w for a, b, w in zip(first, second, map(Fraction, assumed), strict=True)
             if a is not None and b is not None]  # fmt: skip
    differing = [math.log2(v / 2) - 0.5 for v in there if v]
    if differing:
        log_factor = sum(differing) / len(differing) + math.log2(len(differing) / len(there)) / 2
        return ((min(top, max(0, round((DOWN + log_factor) * STEPS))), Fraction(1)),)
    return ((0, EQUAL_LOW), (top, 1 - EQUAL_LOW)) if there else ((0, HALF), (top, HALF))


def factor_tables(x: Table, assumed: Sequence[float]) -> Weighed:
    """Every table of one column that pairing the rows in secret, and coins, may give. A third row is left out."""
    found: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for order, times in Counter(itertools.permutations(x)).items():
        cells = [factor_choice(block[0], block[1], assumed) for block in blocks_of(order, len(x) // 2)]
        for chosen in itertools.product(*cells):
            chance = math.prod((p for _, p in chosen), start=Fraction(times, math.factorial(len(x))))
            found[tuple(sorted((at,) for at, _ in chosen))] += chance
    return dict(found)
