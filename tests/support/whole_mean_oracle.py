"""The mean's steps with all their secret coins, by definition and in rationals. Imports nothing from the package.

`mean_oracle` lays missing blocks aside; here each missing cell of a block table lies at either end by a coin of its
own, and each zero difference of halves too, as docs/proofs/mean.md, sections 2 and 5, have it. A table is a tuple of
rows, a row a tuple of rationals from -1 to 1, None where missing; grid points are counted from the lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache

Cell = Fraction | None
Row = tuple[Cell, ...]
Table = tuple[Row, ...]
Point = tuple[int, ...]
Law = dict[Point, Fraction]
Choice = tuple[tuple[int | None, Fraction], ...]  # where a cell may lie on the grid (None: its row is left out)

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
    mean = Fraction(sum(there), m)
    square = sum((v - mean) ** 2 for v in there)
    if m < 3 or not square:
        return mean
    # k3 / (6 s^2 m), times 3/2, with s^2 = square / (m - 1) and k3 = m cube / ((m - 1) (m - 2)).
    shift = sum((v - mean) ** 3 for v in there) / (4 * (m - 2) * square)
    return min(max(there), max(min(there), mean + shift))


def mean_choice(values: Sequence[Cell], steps: int) -> Choice:
    return place(block_mean(values), steps)


def place(mean: Cell, steps: int) -> Choice:
    """The nearest of the steps from -1 to 1; either end where there is no mean."""
    if mean is None:
        return ((0, HALF), (steps, HALF))
    return ((round((mean + 1) * steps / 2), Fraction(1)),)


def half_difference(values: Sequence[Cell]) -> Fraction | None:
    """The squared difference of halves over 1/m_a + 1/m_b, in widths; None if a half has no value."""
    half = len(values) // 2
    first, second = ([v for v in part if v is not None] for part in (values[:half], values[half : 2 * half]))
    if not first or not second:
        return None
    difference = Fraction(sum(first), len(first)) - Fraction(sum(second), len(second))
    return difference**2 / 4 / (Fraction(1, len(first)) + Fraction(1, len(second)))


def difference_choice(values: Sequence[Cell], octaves: int) -> Choice:
    """In eighths of an octave above 2^-octaves."""
    top, square = 8 * octaves, half_difference(values)
    if square is None:
        return ((0, HALF), (top, HALF))
    if square <= Fraction(1, 4**octaves):
        return ((0, ZERO_LOW), (top, 1 - ZERO_LOW))
    # k eighths below the top are nearest if 2^-(2k + 1) < u^16 <= 2^-(2k - 1).
    k = 0
    while k < top and square**8 <= Fraction(1, 2 ** (2 * k + 1)):
        k += 1
    return ((top - k, Fraction(1)),)


def tables(
    x: Table, blocks: int, choice: Callable[[Sequence[Cell]], Choice], partitions: int = 1
) -> dict[tuple[Point, ...], Fraction]:
    """Every table on the grid that dealings and coins may give, its rows sorted, with its probability."""
    once: Counter[tuple[Point, ...]] = Counter()
    orders = Counter(itertools.permutations(x))
    for order, times in orders.items():
        parts = [tuple(choice(column) for column in columns(block, len(x[0]))) for block in blocks_of(order, blocks)]
        for cells in itertools.product(*(cell for row in parts for cell in row)):
            chance = math.prod((p for _, p in cells), start=Fraction(times, math.factorial(len(x))))
            places = iter([at for at, _ in cells])
            rows = zip(*[places] * len(x[0]), strict=True)
            once[tuple(sorted(row for row in rows if None not in row))] += chance
    found: Counter[tuple[Point, ...]] = Counter()
    for dealt in itertools.product(once.items(), repeat=partitions):
        rows = tuple(sorted(row for table, _ in dealt for row in table))
        found[rows] += math.prod((p for _, p in dealt), start=Fraction(1))
    return dict(found)


def columns(block: Sequence[Row], d: int) -> list[list[Cell]]:
    return [[row[j] for row in block] for j in range(d)]


def depth(rows: Sequence[Point], y: Point, directions: Iterable[Point]) -> int:
    least = len(rows)
    for v in directions:
        at = sum(a * b for a, b in zip(v, y, strict=True))
        sides = [sum(a * b for a, b in zip(v, row, strict=True)) - at for row in rows]
        least = min(least, sum(s >= 0 for s in sides), sum(s <= 0 for s in sides))
    return least


@cache
def draw_law(rows: tuple[Point, ...], steps: Point, directions: tuple[Point, ...], q: Fraction) -> tuple[Fraction, ...]:
    """Probabilities proportional to q^depth over the grid."""
    weights = [q ** depth(rows, y, directions) for y in grid(steps)]
    total = sum(weights)
    return tuple(w / total for w in weights)


def grid(steps: Point) -> Iterator[Point]:
    return itertools.product(*(range(s + 1) for s in steps))


def mixture(
    weighed: dict[tuple[Point, ...], Fraction], steps: Point, directions: tuple[Point, ...], q: Fraction
) -> Law:
    laws = [(p, draw_law(rows, steps, directions, q)) for rows, p in weighed.items()]
    return {y: sum((p * law[i] for p, law in laws), start=Fraction(0)) for i, y in enumerate(grid(steps))}


def subset_law(x: Table, blocks: int, partitions: int, steps: Point, directions: tuple[Point, ...], q: Fraction) -> Law:
    """Depth of subset means; q = e^(epsilon / (2 partitions)). Columns have equal steps."""
    return mixture(tables(x, blocks, lambda v: mean_choice(v, steps[0]), partitions), steps, directions, q)


def spread_law(x: Table, pairs: int, octaves: int, directions: tuple[Point, ...], q: Fraction) -> Law:
    """Depth of log differences; q = e^(epsilon / 2)."""
    steps = (8 * octaves,) * len(x[0])
    return mixture(tables(x, pairs, lambda v: difference_choice(v, octaves)), steps, directions, q)


RADII = (0.25, 0.5, 1, 2, 3, 4.5, 7, 11, 22, 44, math.inf)
WEIGHTS = (61, 121, 242, 484, 215, 96, 40, 16, 4, 1, 1)


def radii_law(
    x: Table, centre: Sequence[float], spread: Sequence[float], epsilon: float
) -> dict[tuple[int, ...], float]:
    """Radii of all columns, by their places: weights times e^(-epsilon/2 the most rows beyond a column's radius)."""
    beyond = rows_beyond(x, centre, spread)
    law = {}
    for places in itertools.product(range(len(RADII)), repeat=len(centre)):
        most = max(counts[i] for counts, i in zip(beyond, places, strict=True))
        law[places] = math.prod(WEIGHTS[i] for i in places) * math.exp(-epsilon * most / 2)
    total = sum(law.values())
    return {places: weight / total for places, weight in law.items()}


def rows_beyond(x: Table, centre: Sequence[float], spread: Sequence[float]) -> list[list[int]]:
    """For each column and radius. Missing cells are beyond none."""
    return [
        [
            sum(row[j] is not None and abs(float(row[j]) - centre[j]) > radius * spread[j] for row in x)
            for radius in RADII
        ]
        for j in range(len(centre))
    ]


def clipped_sums(x: Table, low: Sequence[float], high: Sequence[float], fill: Sequence[float], steps: int) -> list[int]:
    """Sums of cells in whole steps of the range."""
    return [
        sum(_steps(fill[j] if row[j] is None else row[j], Fraction(low[j]), Fraction(high[j]), steps) for row in x)
        for j in range(len(low))
    ]


def _steps(value: Fraction | float | None, low: Fraction, high: Fraction, steps: int) -> int:
    if high == low:
        return 0
    return round(max(Fraction(0), min(Fraction(1), (Fraction(value or 0) - low) / (high - low))) * steps)


def missing(x: Table) -> list[int]:
    return [sum(cell is None for cell in column) for column in zip(*x, strict=True)]


def swaps(rows: Sequence[Row], n: int) -> Iterator[tuple[Table, Table]]:
    """All pairs of multisets of n rows that differ in one row; rows in the order of `rows`."""
    place = {row: i for i, row in enumerate(rows)}
    for rest in itertools.combinations_with_replacement(rows, n - 1):
        for pair in itertools.permutations(rows, 2):
            ours, theirs = (tuple(sorted((*rest, row), key=place.__getitem__)) for row in pair)
            yield ours, theirs
