"""Groups by definition: what every row adds to the sums or tables of its own group, and to no other."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from tukeydp.audit.oracles.laws import Point
from tukeydp.audit.oracles.means import block_mean

Cell = Fraction | None
Row = tuple[tuple[Cell, ...], object]  # cells, and a key
Tables = dict[tuple[tuple[Point, ...], ...], Fraction]  # a table for each key, and how likely they are together


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


def tables_of_rows(rows: Sequence[Row], keys: Sequence[object], steps: int) -> Tables:
    """What depth is computed of in each group: rows on the grid, from the lower bound, sorted.

    A missing cell of a row that has others lies at either end, by a coin; a row without any is left out.
    """
    found: defaultdict[tuple[tuple[Point, ...], ...], Fraction] = defaultdict(Fraction)
    holes = sum(cell is None for cells, _ in rows for cell in cells)
    for ends in itertools.product((0, steps), repeat=holes):
        coins = iter(ends)
        placed = [([next(coins) if c is None else _place(c, steps) for c in cells], cells, key) for cells, key in rows]
        tables = [
            tuple(sorted(tuple(at) for at, cells, own in placed if own == key and any(c is not None for c in cells)))
            for key in keys
        ]
        found[tuple(tables)] += Fraction(1, 2**holes)
    return dict(found)


def tables_of_blocks(rows: Sequence[Row], keys: Sequence[object], blocks: int, partitions: int, steps: int) -> Tables:
    """The same for block means of one column: each row draws a number, whatever its group; blocks without a value are
    left out."""
    found: defaultdict[tuple[tuple[Point, ...], ...], Fraction] = defaultdict(Fraction)
    every = list(itertools.product(itertools.product(range(blocks), repeat=len(rows)), repeat=partitions))
    for dealings in every:
        tables = []
        for key in keys:
            places: list[Point] = []
            for numbers, b in itertools.product(dealings, range(blocks)):
                drawn = zip(rows, numbers, strict=True)
                values = [cells[0] for (cells, own), number in drawn if own == key and number == b]
                mean = block_mean(values)
                places += [] if mean is None else [(_place(mean, steps),)]
            tables.append(tuple(sorted(places)))
        found[tuple(tables)] += Fraction(1, len(every))
    return dict(found)


def _place(value: Fraction, steps: int) -> int:
    return round((value + 1) * steps / 2)
