"""Linear programs that propose multipliers for the certificates. Floats: nothing here decides anything.

All programs live in coordinates z = (y - centre) / scale, with rows of length one, so that tolerances mean the
same for every dataset. Levels differ only in their right-hand sides: one model per kind of question is built and
then warm-started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tukeydp.hints.float_programs import add_rows, quiet_solver
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import View
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.sizes.linear_programs import centre_and_scale

# Hints decide nothing: poor values here make loose boxes, so many proposals, or slow programs.
_FAR = 1e4  # interquartile ranges from the centre, where the programs end: level sets worth a box are nearer
_THINNEST = 1e-15  # in interquartile ranges: least width of a level set in its shape, so that no axis of it vanishes
_IGNORED = 1e-12  # of the largest multiplier: smaller ones are rounding, and would make certificates long
_TOLERANCE = 1e-7  # of a row of length one, the solver's own: what is violated by less is left out
_FEW = 400  # rows that are held from the start: below this, leaving some out costs more than it saves
# Simplex goes on from its last basis: programs that follow each other differ in little.
_OPTIONS = {"solver": "simplex", "dual_simplex_cost_perturbation_multiplier": 0.0}


class Hints(Protocol):
    """Proposes multipliers. Good ones make tight boxes; any others are merely useless."""

    def emptiness(self, level: int) -> Multipliers:
        """Multipliers that may prove `level` empty."""
        ...

    def supports(
        self, levels: Sequence[int], objectives: Sequence[Sequence[int]], within: Box | None = None
    ) -> list[list[tuple[Multipliers, Multipliers]]]:
        """For each level and each objective, multipliers for its largest and for its smallest value in a box."""
        ...

    def shape(self, level: int) -> FloatArray | None:
        """A quadratic form whose value at u is about the squared width of the level along u."""
        ...

    def middle(self, level: int) -> FloatArray | None:
        """About a point inside the level."""
        ...


class LinearPrograms:
    """Hints from HiGHS."""

    def __init__(self, levels: LevelSets | View) -> None:
        self._levels = levels
        self._centre, self._scale = centre_and_scale(levels.sample)
        stretched = levels.directions * self._scale
        self._lengths = np.linalg.norm(stretched, axis=1)
        self._rows: FloatArray = stretched / self._lengths[:, np.newaxis]
        # Exact: both terms are projections of grid points.
        self._middle = levels.directions @ self._centre
        self._emptiness: Program | None = None
        self._support: Program | None = None

    def _ends(self, level: int) -> tuple[FloatArray, FloatArray]:
        low, high = self._levels.offsets(level)
        return (low - self._middle) / self._lengths, (high - self._middle) / self._lengths

    def _variable_bounds(self, within: Box | None) -> tuple[FloatArray, FloatArray]:
        """Ends of the variables: those of a box along the axes, or far away."""
        far = np.full(len(self._scale), _FAR)
        if within is None:
            return -far, far
        low, high = (np.array(ends, dtype=np.int64) for ends in (within.low, within.high))
        return np.maximum((low - self._centre) / self._scale, -far), np.minimum(
            (high - self._centre) / self._scale, far
        )

    def emptiness(self, level: int) -> Multipliers:
        """Largest t such that every constraint holds with slack t: negative if the level is empty."""
        k, d = self._rows.shape
        if self._emptiness is None:
            slack = np.ones((k, 1))
            matrix = np.block([[self._rows, slack], [self._rows, -slack]])
            self._emptiness = Program(matrix, np.full(d + 1, _FAR))
            self._emptiness.set_costs(np.append(np.zeros(d), -1.0))
        low, high = self._ends(level)
        unbounded = np.full(k, np.inf)
        duals = self._emptiness.solve(np.concatenate([-unbounded, low]), np.concatenate([high, unbounded]))
        weights = -(duals[:k] + duals[k:]) / self._lengths
        largest = np.abs(weights).max(initial=0.0)
        return sparse(weights / largest if largest > 0 else weights)

    def supports(
        self, levels: Sequence[int], objectives: Sequence[Sequence[int]], within: Box | None = None
    ) -> list[list[tuple[Multipliers, Multipliers]]]:
        program = self._support_program()
        program.confine(*self._variable_bounds(within))
        ends = [self._ends(level) for level in levels]
        found = [[[Multipliers((), ())] * 2 for _ in objectives] for _ in levels]
        for j, objective in enumerate(objectives):
            stretched = np.array(objective, dtype=np.float64) * self._scale
            length = np.linalg.norm(stretched)
            for side, sign in enumerate((1.0, -1.0)):
                # One objective along all levels: only right-hand sides move, so the dual simplex goes on from its
                # last basis.
                program.set_costs(-sign * stretched / length)
                for i, (low, high) in enumerate(ends):
                    duals = program.solve(low, high)
                    found[i][j][side] = sparse(-duals * (length / self._lengths))
        return [[(up, down) for up, down in level] for level in found]

    def shape(self, level: int) -> FloatArray | None:
        """From corners of the level set: first the extreme ones along the axes, then along the axes these suggest."""
        d = len(self._scale)
        frame, widths = np.eye(d), np.ones(d)
        for suggested in (False, True):
            spread = self._corners(level, frame)
            if not np.isfinite(spread).all():
                return None
            widths = np.maximum(np.abs(((spread[::2] - spread[1::2]) * frame.T).sum(axis=1)), _THINNEST)
            if not suggested:
                try:
                    frame = np.linalg.svd(spread - spread.mean(axis=0), full_matrices=True)[2].T
                except np.linalg.LinAlgError:
                    return None
        axes = frame * widths * self._scale[:, np.newaxis]
        return np.asarray(axes @ axes.T)

    def middle(self, level: int) -> FloatArray | None:
        """Where all constraints hold with the largest slack."""
        self.emptiness(level)
        assert self._emptiness is not None
        z = self._emptiness.solution()[:-1]
        return self._centre + self._scale * z if np.isfinite(z).all() else None

    def _corners(self, level: int, frame: FloatArray) -> FloatArray:
        """Where the level reaches farthest along each column of the frame, and against it."""
        program = self._support_program()
        program.confine(*self._variable_bounds(None))
        low, high = self._ends(level)
        corners = []
        for axis in frame.T:
            for sign in (1.0, -1.0):
                program.set_costs(-sign * axis)
                program.solve(low, high)
                corners.append(program.solution())
        return np.array(corners)

    def _support_program(self) -> Program:
        if self._support is None:
            self._support = Program(self._rows, np.full(len(self._scale), _FAR))
        return self._support


class Program:
    """Minimise a cost over {z : low <= matrix z <= high, |z| <= bound}, again and again.

    Where there are many rows, the solver holds only those that some solution has violated so far: of hundreds of
    directions few matter at any level, and a program with the others left out is a valid hint at every moment.
    """

    def __init__(self, matrix: FloatArray, bound: FloatArray) -> None:
        self._matrix = matrix
        self._columns = np.arange(matrix.shape[1], dtype=np.int32)
        self._held: IntArray = np.empty(0, dtype=np.int64)
        self._solver = quiet_solver(-bound, bound, **_OPTIONS)
        if len(matrix) <= _FEW:
            unbounded = np.full(len(matrix), np.inf)
            self._add(np.arange(len(matrix)), -unbounded, unbounded)

    def confine(self, low: FloatArray, high: FloatArray) -> None:
        """New ends of the variables."""
        self._solver.changeColsBounds(len(self._columns), self._columns, low, high)

    def set_costs(self, costs: FloatArray) -> None:
        self._solver.changeColsCost(len(costs), self._columns, costs)

    def solution(self) -> FloatArray:
        """Where the last minimum was found; NaN if the solver failed."""
        z = np.array(self._solver.getSolution().col_value)
        return z if len(z) == len(self._columns) else np.full(len(self._columns), np.nan)

    def solve(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Duals of all rows; whatever a solver that failed leaves behind is as welcome."""
        held = self._held
        self._solver.changeRowsBounds(len(held), np.arange(len(held), dtype=np.int32), low[held], high[held])
        while True:
            self._solver.run()
            solution = self._solver.getSolution()
            z = np.array(solution.col_value)
            if len(z) != len(self._columns):
                break
            at = self._matrix @ z
            violation = np.maximum(low - at, at - high)
            violation[self._held] = 0.0
            worst = np.argsort(violation)[-len(z) :]
            fresh = worst[violation[worst] > _TOLERANCE]
            if not len(fresh):
                break
            self._add(fresh, low[fresh], high[fresh])
        duals = np.zeros(len(self._matrix))
        if len(solution.row_dual) == len(self._held):
            duals[self._held] = solution.row_dual
        return duals

    def _add(self, rows: IntArray, low: FloatArray, high: FloatArray) -> None:
        add_rows(self._solver, self._matrix[rows], low, high)
        self._held = np.append(self._held, rows)


def sparse(weights: FloatArray, rows: IntArray | None = None) -> Multipliers:
    """Multipliers of all directions, or of some rows, without those that are only rounding."""
    kept = np.flatnonzero(np.abs(weights) > _IGNORED * np.abs(weights).max(initial=0.0))
    return Multipliers((kept if rows is None else rows[kept]).tolist(), weights[kept].tolist())
