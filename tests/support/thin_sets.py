"""Thin level sets, and their grid points counted by definition. Imports nothing from the package."""

from __future__ import annotations

import itertools

from support.halfspaces import brute_force

# Rows (before they are stretched) whose deep sets are flat, slanted or single points.
TABLES = {
    "line": [(0, 0, 0), (1, 2, 1), (2, 4, 2), (3, 6, 3), (1, 2, 1), (2, 4, 2)],
    "plane": [(0, 0, 0), (3, 0, 3), (0, 3, 3), (2, 2, 4), (1, 1, 2), (2, 0, 2), (1, 2, 3)],
    "scores": [(1, 2, 3), (2, 2, 2), (2, 2, 3), (3, 2, 1), (1, 1, 1), (3, 3, 3), (2, 1, 3), (2, 3, 1)],
    "answers": [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0), (1, 1, 1), (0, 1, 0)],
    "repeated": [(0, 0, 0), (0, 0, 0), (2, 1, 0), (2, 1, 0), (1, 2, 3), (1, 2, 3), (3, 3, 3)],
    "nearly a line": [(0, 0, 0), (1, 2, 1), (2, 4, 2), (3, 6, 3), (1, 0, 2), (3, 3, 0)],
    "two columns": [(0, 0), (1, 2), (2, 4), (3, 1), (1, 1), (2, 2), (2, 3)],
    "a line of two": [(0, 0), (2, 1), (4, 2), (6, 3), (2, 1)],
}


def stretched(name: str, factor: int, offset: int = 0) -> list[tuple[int, ...]]:
    """A table with grid points between its values; `offset` moves every other row by one step off its plane."""
    rows = [tuple(factor * c for c in row) for row in TABLES[name]]
    return [(*row[:-1], row[-1] + offset * (i % 2)) for i, row in enumerate(rows)]


def depths_of_all(rows: list[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """The depth of every grid point that may have one: those of the rows' box."""
    sides = [range(min(column), max(column) + 1) for column in zip(*rows, strict=True)]
    return {y: brute_force(y, rows) for y in itertools.product(*sides)}
