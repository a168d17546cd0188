"""Directions that the caller names."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.depth.notions.base import FiniteNotion
from tukeydp.trusted.directions import fitting, integers_along
from tukeydp.trusted.parameters import IntArray, ParameterError, rational
from tukeydp.trusted.rows import DEFAULT_BITS, FEWEST_BITS, LIMIT, Grid


@dataclass(frozen=True, init=False)
class Directions(FiniteNotion):
    """The given directions, in data units; each counts both of its halfspaces.

    Integer vectors on columns of equal step are used exactly as given. Others are scaled, exactly where 62
    bits allow it and rounded to integers where they do not. On a grid a float means its shortest decimal; for geometry
    without a grid (`td.tukey_depth`) it means its own binary value, like the floats of the data.
    """

    vectors: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    given: tuple[tuple[Fraction, ...], ...] = field(repr=False, compare=False)

    def __init__(self, vectors: Any) -> None:
        try:
            rows = [list(row) for row in vectors]
        except TypeError:
            raise ParameterError("vectors", "must be one vector per row", type(vectors).__name__) from None
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise ParameterError("vectors", "must be at least one vector, all of one length", f"{len(rows)} rows")
        exact = tuple(tuple(rational("vectors", plain(v)) for v in row) for row in rows)
        if not all(any(row) for row in exact):
            raise ParameterError("vectors", "must not contain a zero vector", "one")
        object.__setattr__(self, "vectors", exact)
        given = (
            (Fraction(float(v)) if isinstance(v, float | np.floating) else rational("vectors", plain(v)) for v in row)
            for row in rows
        )
        object.__setattr__(self, "given", tuple(tuple(row) for row in given))

    def __repr__(self) -> str:
        return f"Directions({len(self.vectors)} vectors in d={len(self.vectors[0])})"

    def size(self, d: int) -> int:
        if d != len(self.vectors[0]):
            raise ParameterError("vectors", f"must have one entry for each of the {d} columns", len(self.vectors[0]))
        return len(self.vectors)

    def grid_bits(self, d: int) -> int:
        self.size(d)
        lengths = [sum(map(abs, v)) for v in self.vectors if all(e.denominator == 1 for e in v)]
        room = LIMIT.bit_length() - int(max(lengths, default=Fraction(1))).bit_length()
        return max(FEWEST_BITS, min(DEFAULT_BITS, room))

    def wide_bits(self, d: int) -> int:
        return self.grid_bits(d)

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        self.size(grid.d)
        # <v, lower + step * i> differs from <v * step, i> by a constant, which moves no count.
        equal = len(set(grid.step)) == 1
        steps = [Fraction(1)] * grid.d if equal else list(grid.step)
        rows = []
        for vector in self.vectors:
            scaled = [v * s for v, s in zip(vector, steps, strict=True)]
            given = equal and all(v.denominator == 1 for v in scaled)
            rows.append([int(v) for v in scaled] if given else integers_along(scaled, grid.extent))
        return fitting(rows, grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        self.size(d)
        return [list(row) for row in self.given]


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
