"""Depth along the coordinate axes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.depth.notions.base import FiniteNotion
from tukeydp.trusted.directions import as_fractions, fitting
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import Grid


@dataclass(frozen=True)
class AxisAligned(FiniteNotion):
    """Depth along the d coordinate axes only: level sets are boxes."""

    def size(self, d: int) -> int:
        return d

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        return fitting(np.eye(grid.d, dtype=np.int64), grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        return as_fractions(np.eye(d, dtype=np.int64))
