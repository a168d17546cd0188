"""An independent account of the mean's mechanisms, by definition and in rationals. Imports nothing from the package.

A table is a tuple of rows, a row a tuple of cells, a cell a rational from -1 to 1 or None if missing. Grid points
are counted from the lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from support.oracle import Point, depth, law

Cell = Fraction | None
Row = tuple[Cell, ...]
Table = tuple[Row, ...]
GridRow = Point | None
Law = list[Fraction]


def sizes(n: int, blocks: int) -> list[int]:
    """Rows of each block: the first n mod blocks have one more."""
    return [n // blocks + (b < n % blocks) for b in range(blocks)]


def dealings(n: int, blocks: int) -> Iterator[list[tuple[int, ...]]]:
    """Every way to deal the places 0 ... n-1 to blocks, each as likely as any other under a uniform permutation."""
    yield from _dealt(tuple(range(n)), sizes(n, blocks))


def _dealt(left: tuple[int, ...], wanted: list[int]) -> Iterator[list[tuple[int, ...]]]:
    if not wanted:
        yield []
        return
    for block in itertools.combinations(left, wanted[0]):
        rest = tuple(i for i in left if i not in block)
        for others in _dealt(rest, wanted[1:]):
            yield [block, *others]


def plain_mean(values: Sequence[Cell]) -> Cell:
    present = [v for v in values if v is not None]
    return Fraction(sum(present), len(present)) if present else None


def corrected_mean(values: Sequence[Cell]) -> Cell:
    """The mean plus 1.5 k3 / (6 s^2 m), within the values' range."""
    present = [v for v in values if v is not None]
    mean, m = plain_mean(values), len(present)
    if mean is None or m < 3:
        return mean
    second = Fraction(sum((v - mean) ** 2 for v in present), m - 1)
    third = Fraction(sum((v - mean) ** 3 for v in present) * m, (m - 1) * (m - 2))
    if not second:
        return mean
    return max(min(present), min(max(present), mean + Fraction(3, 2) * third / (6 * second * m)))


def block_row(rows: Sequence[Row]) -> Row:
    return tuple(corrected_mean(column) for column in zip(*rows, strict=True))


def on_grid(row: Row, steps: Sequence[int]) -> GridRow:
    """The nearest grid point between -1 and 1; None if a cell is missing."""
    if any(cell is None for cell in row):
        return None
    return tuple(round((cell + 1) * s / 2) for cell, s in zip(row, steps, strict=True) if cell is not None)


def grid_points(steps: Sequence[int]) -> list[Point]:
    return list(itertools.product(*(range(s + 1) for s in steps)))


def block_tables(x: Table, blocks: int, steps: Sequence[int]) -> list[tuple[GridRow, ...]]:
    """The block table of every dealing."""
    return [
        tuple(on_grid(block_row([x[i] for i in block]), steps) for block in dealing)
        for dealing in dealings(len(x), blocks)
    ]


def mixture(
    tables: Iterable[Sequence[GridRow]], points: Sequence[Point], directions: Sequence[Point], q: Fraction
) -> Law:
    """The exponential mechanism on one of these tables, each as likely as any other; q = e^(epsilon/2)."""
    tables = [tuple(sorted(table, key=repr)) for table in tables]
    laws = {table: law([depth(table, y, directions) for y in points], q) for table in set(tables)}
    return [Fraction(sum(laws[table][i] for table in tables), len(tables)) for i in range(len(points))]


def subset_law(
    x: Table, blocks: int, partitions: int, steps: Sequence[int], directions: Sequence[Point], q: Fraction
) -> Law:
    """The whole subset mechanism, over all dealings; q = e^(epsilon / (2 partitions))."""
    once = block_tables(x, blocks, steps)
    joint = (sum(parts, start=()) for parts in itertools.product(once, repeat=partitions))
    return mixture(joint, grid_points(steps), directions, q)


def eighths(rows: Sequence[Row], octaves: int) -> GridRow:
    """Eighths of an octave nearest to log2 of the difference of halves, above 2^-octaves; None if one has no value.

    With u the difference, k eighths are nearest if 2^(2k - 1) <= u^16 <= 2^(2k + 1).
    """
    half = len(rows) // 2
    row = []
    for column in zip(*rows, strict=True):
        first = [v for v in column[:half] if v is not None]
        second = [v for v in column[half : 2 * half] if v is not None]
        if not first or not second:
            return None
        difference = (Fraction(sum(first), len(first)) - Fraction(sum(second), len(second))) / 2
        power = (difference**2 / (Fraction(1, len(first)) + Fraction(1, len(second)))) ** 8
        k = -8 * octaves
        while k < 0 and power > Fraction(2) ** (2 * k + 1):
            k += 1
        row.append(k + 8 * octaves)
    return tuple(row)


# Medians of the standard deviation of two and of three standard Gaussian values.
MEDIANS = {2: 0.6744897501960817, 3: math.sqrt(math.log(2))}


def eighths_of_three(rows: Sequence[Row], octaves: int) -> GridRow:
    """The same for the standard deviation between three parts of the rows, the first parts being the larger ones."""
    ends = list(itertools.accumulate(sizes(len(rows), 3), initial=0))
    row = []
    for column in zip(*rows, strict=True):
        parts = [[v for v in column[a:b] if v is not None] for a, b in itertools.pairwise(ends)]
        means = [(Fraction(sum(part), len(part)), len(part)) for part in parts if part]
        if len(means) < 2:
            return None
        centre = sum(mean * m for mean, m in means) / sum(m for _, m in means)
        variance = sum(m * (mean - centre) ** 2 for mean, m in means) / (len(means) - 1)
        size = math.sqrt(variance) / 2 * MEDIANS[2] / MEDIANS[len(means)]
        row.append(max(0, round(8 * (octaves + math.log2(size)))) if size else 0)
    return tuple(row)


def pair_tables(x: Table, pairs: int, octaves: int, statistic: Any = eighths) -> list[tuple[GridRow, ...]]:
    """The log differences of every order of the rows (which half a row is in matters too), each order as likely."""
    ends = list(itertools.accumulate(sizes(len(x), pairs), initial=0))
    blocks = ([order[a:b] for a, b in itertools.pairwise(ends)] for order in set(itertools.permutations(x)))
    return [tuple(statistic(block, octaves) for block in dealt) for dealt in blocks]


def worst_ratio(laws: dict[Table, Law], cells: Sequence[Row], n: int) -> Fraction:
    """Largest probability ratio between swap neighbours, over all tables (as multisets) and outcomes."""
    worst = Fraction(0)
    for rest in itertools.combinations_with_replacement(range(len(cells)), n - 1):
        around = [laws[multiset([cells[i] for i in (*rest, row)], cells)] for row in range(len(cells))]
        for p, p_swapped in itertools.permutations(around, 2):
            worst = max(worst, max(a / b for a, b in zip(p, p_swapped, strict=True)))
    return worst


def multiset(rows: Iterable[Row], cells: Sequence[Row]) -> Table:
    """The rows in the order of `cells`: one name for all orders."""
    return tuple(sorted(rows, key=cells.index))


def all_tables(cells: Sequence[Row], n: int) -> list[Table]:
    return list(itertools.combinations_with_replacement(cells, n))
