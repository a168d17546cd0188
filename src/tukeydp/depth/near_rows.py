"""Rows in coordinates of their own: counted from their middle, along a basis of the grid in which they are not slanted.

Exact depth is the same in all of them, and points of depth one and more are in the hull of the rows. Where rows are
nearly in a plane, a column of the new coordinates takes few values, and normals have room for all digits that matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.trusted.matrices import Basis, Integers, integers, log_gain, reduced_basis
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.rows import LIMIT, Grid

# Speed only, all of them: depths are the same in all coordinates.
_WORTHWHILE = 0.5  # log of how much smaller the rows' box must be in another basis
_THIN, _THINNER = 2**12, 8  # steps of a column of few values, and by which factor fewer than along the axes
_MOST_STEPS = 2**52  # of a column: differences must be whole numbers that a float holds


@dataclass(frozen=True, eq=False)
class NearRows:
    """The rows (m, d) in these coordinates, which are those of `grid`; `thin` if some column now takes few values."""

    rows: IntArray
    grid: Grid
    thin: bool
    _origin: Integers
    _inverse: Integers

    def point(self, coordinates: Sequence[int]) -> list[int]:
        """The grid point with these coordinates."""
        return [int(c) for c in self._inverse @ (integers(list(coordinates)) + self._origin)]


def near_rows(rows: IntArray) -> NearRows | None:
    """The rows in coordinates of their own; None if they have no room there."""
    d = rows.shape[1]
    if len(rows) == 0:
        return None
    basis = _basis(rows)
    matrix = integers(np.eye(d, dtype=np.int64)) if basis is None else integers(list(basis.matrix))
    moved = integers(rows) @ matrix.T
    low, high = moved.min(axis=0), moved.max(axis=0)
    cells = high - low
    if max(cells) >= _MOST_STEPS or (LIMIT - 1) // (max(1, max(cells)) * d) <= 1:
        return None
    origin = low + cells // 2
    before = int(np.ptp(rows, axis=0).min()) + 1
    thin = basis is not None and min(cells) < _THIN and (min(cells) + 1) * _THINNER <= before
    grid = Grid((Fraction(0),) * d, (Fraction(1),) * d, tuple(int(c) for c in cells))
    inverted = matrix if basis is None else integers(list(basis.inverse))
    return NearRows((moved - origin).astype(np.int64), grid, bool(thin), origin, inverted)


def _basis(rows: IntArray) -> Basis | None:
    """A basis of the grid in which the rows' box is much smaller than along the axes, if there seems to be one."""
    away = rows.astype(np.float64) - rows.mean(axis=0)
    shape = away.T @ away / len(rows)
    basis = reduced_basis(shape)
    return basis if basis is not None and log_gain(basis, shape) > _WORTHWHILE else None
