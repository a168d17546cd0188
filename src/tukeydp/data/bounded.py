"""Columns between public bounds: cells become numbers from -1 to 1, and results become data units again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.grid import SMALLEST_STEP, Grid, checked_bounds
from tukeydp.errors import ParameterError
from tukeydp.parameters import Bounds, show

_LARGEST = Fraction(10**300)  # what noise beyond all measure becomes: the largest float there is to show


@dataclass(frozen=True)
class BoundedColumns:
    """The bounds of each column. All numbers are public."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

    @property
    def d(self) -> int:
        return len(self.lower)

    @property
    def ends(self) -> Bounds:
        """As a release records them."""
        return self.lower, self.upper

    @property
    def widths(self) -> FloatArray:
        return np.array([float(b - a) for a, b in zip(self.lower, self.upper, strict=True)])

    def between_0_and_1(self, j: int) -> bool:
        """Whether column j is declared to hold shares, or yes/no answers."""
        return self.lower[j] == 0 and self.upper[j] == 1

    def relative(self, cells: FloatArray) -> FloatArray:
        """Cells moved between their bounds, -1 at the lower and 1 at the upper; missing ones stay missing.

        Elementwise, so that what a cell becomes depends on no other.
        """
        ends = [(float(a), float(b)) for a, b in zip(self.lower, self.upper, strict=True)]
        middle = np.array([a / 2 + b / 2 for a, b in ends])
        half = np.array([b / 2 - a / 2 for a, b in ends])
        with np.errstate(all="ignore"):
            return np.asarray(np.clip((cells - middle) / half, -1.0, 1.0))

    def grid(self, steps: Sequence[int]) -> Grid:
        """So many steps between the bounds of each column."""
        step = tuple((b - a) / s for a, b, s in zip(self.lower, self.upper, steps, strict=True))
        return Grid(self.lower, step, tuple(steps))

    def in_units(self, relative: Sequence[Fraction]) -> FloatArray:
        """A released point in data units: post-processing, each the float nearest to the exact rational."""
        exact = (a + (b - a) * (1 + v) / 2 for a, b, v in zip(self.lower, self.upper, relative, strict=True))
        return np.array([float(max(-_LARGEST, min(v, _LARGEST))) for v in exact])


def bounded_columns(d: int, bounds: Any, names: Sequence[str] | None = None) -> BoundedColumns:
    lows, highs = checked_bounds(d, bounds, names)
    for a, b in zip(lows, highs, strict=True):
        if not float(b) / 2 - float(a) / 2 >= SMALLEST_STEP:  # a division by less loses digits, and at last is 0/0
            rule = f"must be apart as floats, by {2 * SMALLEST_STEP} at least"
            raise ParameterError("bounds", rule, f"({show(a)}, {show(b)})")
    return BoundedColumns(lows, highs)


def relative_grid(steps: Sequence[int]) -> Grid:
    """The grid from -1 to 1 with so many steps in each column."""
    return Grid((Fraction(-1),) * len(steps), tuple(Fraction(2, s) for s in steps), tuple(steps))
