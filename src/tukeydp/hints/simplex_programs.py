"""Hints from our own compiled simplex method, for tables of many columns.

There thousands of programs are solved that differ in little: from Python, a solver's calls and its set-up take ten
times as long as the steps themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tukeydp.hints.linear_programs import Hints, LinearPrograms, sparse
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import View
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray

if TYPE_CHECKING:
    from tukeydp.hints.simplex import Ends, Optima


def hints_for(levels: LevelSets | View, many: int = MANY_COLUMNS) -> Hints:
    """The faster of the two: the compiled one for more columns than `many`."""
    return SimplexPrograms(levels) if levels.d > many else LinearPrograms(levels)


class SimplexPrograms(LinearPrograms):
    """Largest values by the compiled dual simplex method, each from the last basis for the same objective."""

    def __init__(self, levels: LevelSets | View) -> None:
        super().__init__(levels)
        self._columns = np.ascontiguousarray(self._rows.T)
        self._bases: dict[tuple[float, ...], NDArray[np.int32]] = {}

    def supports(
        self, levels: Sequence[int], objectives: Sequence[Sequence[int]], within: Box | None = None
    ) -> list[list[tuple[Multipliers, Multipliers]]]:
        ends = self._right_sides(levels, within)
        found: list[list[tuple[Multipliers, Multipliers]]] = [[] for _ in levels]
        for objective in objectives:
            stretched = np.array(objective, dtype=np.float64) * self._scale
            length = float(np.linalg.norm(stretched))
            up, down = (self._solved(sign * stretched / length, ends) for sign in (1.0, -1.0))
            for i, level in enumerate(found):
                level.append((self._multipliers(up, i, length), self._multipliers(down, i, length)))
        return found

    def _corners(self, level: int, frame: FloatArray) -> FloatArray:
        ends = self._right_sides([level], None)
        return np.array([self._solved(sign * axis, ends).corners[0] for axis in frame.T for sign in (1.0, -1.0)])

    def _right_sides(self, levels: Sequence[int], within: Box | None) -> Ends:
        from tukeydp.hints.simplex import Ends

        low = np.empty((len(levels), len(self._rows)))
        high = np.empty_like(low)
        for i, level in enumerate(levels):
            low[i], high[i] = self._ends(level)
        return Ends(low, high, *self._variable_bounds(within))

    def _solved(self, cost: FloatArray, ends: Ends) -> Optima:
        from tukeydp.hints.simplex import first_basis, maximise, room

        key = tuple(cost.tolist())
        basis = self._bases.setdefault(key, first_basis(cost, len(self._rows)))
        found = room(len(ends.low), len(cost))
        maximise(cost, self._columns, ends, basis, found)
        return found

    def _multipliers(self, optima: Optima, level: int, length: float) -> Multipliers:
        k = len(self._rows)
        rows, weights = optima.rows[level], optima.weights[level] * length
        slabs = (rows >= 0) & (rows < 2 * k)
        rows, weights = rows[slabs], weights[slabs]
        signed = np.where(rows < k, weights, -weights) / self._lengths[rows % k]
        return sparse(signed, rows % k)
