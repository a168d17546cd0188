"""The Chebyshev ball of a polytope {z : normals z <= offsets}: the largest ball inside. Floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.exact.float_programs import add_rows, quiet_solver

# Radii in units of the columns' spread. Above FLAT a set has an inner point, below -EMPTY it has no point; in between
# exact arithmetic looks for one. Both are at least the solver's tolerance: with a smaller FLAT rounding passes for an
# inside, with a smaller EMPTY for emptiness. Larger: thin level sets get the volume 0, and more is decided exactly.
FLAT, EMPTY = 1e-10, 1e-8

# Largest coordinate and radius, so that the program is bounded. Level sets that end farther out have another ball than
# the largest; any ball inside will do.
_FARTHEST = 1e7
# A row is violated if it is off by more than this part of 1 + |offset|: below what the solver resolves. Larger: the
# ball sticks out by as much. Smaller: rounding adds rows that change nothing.
_VIOLATED = 1e-12
_FIRST_ROWS = 64  # rows of the first program where there are many; speed only
_PRESSED = 1e-9  # multipliers below this are rounding; with a larger one, rows that press a set flat are missed
_OPTIONS = {
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,  # HiGHS takes no smaller ones
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class ChebyshevBall:
    """The largest ball inside a polytope: its radius is negative if the polytope is empty, zero if it is flat.

    `pressed` are rows whose multipliers are positive: if the radius is zero they hold with equality everywhere.
    """

    centre: FloatArray
    radius: float
    pressed: IntArray


def chebyshev_ball(normals: FloatArray, offsets: FloatArray) -> ChebyshevBall:
    """Linear program: most slack common to all rows. Only rows that some solution violates enter the program."""
    m, d = normals.shape
    far = np.full(d + 1, _FARTHEST)
    solver = quiet_solver(-far, far, **_OPTIONS)
    solver.changeColCost(d, -1.0)
    held = np.empty(0, dtype=np.int64)
    fresh = np.arange(m) if m <= 4 * _FIRST_ROWS else np.linspace(0, m - 1, _FIRST_ROWS).astype(np.int64)
    z, radius = np.zeros(d), np.inf
    while len(fresh):
        rows = np.column_stack([normals[fresh], np.ones(len(fresh))])
        add_rows(solver, rows, np.full(len(fresh), -np.inf), offsets[fresh])
        held = np.append(held, fresh)
        solver.run()
        solution = solver.getSolution()
        found = np.array(solution.col_value)
        if len(found) != d + 1 or not np.isfinite(found).all():
            break
        z, radius = found[:d], float(found[d])
        short = radius - (offsets - normals @ z)
        short[held] = 0.0
        worst = np.argsort(short)[-4 * d :] if m > 4 * d else np.arange(m)
        fresh = worst[short[worst] > _VIOLATED * (1.0 + np.abs(offsets[worst]))]
    duals = np.array(solution.row_dual)
    pressed = held[np.abs(duals) > _PRESSED] if len(duals) == len(held) else np.empty(0, dtype=np.int64)
    return ChebyshevBall(z, float(min(radius, (offsets - normals @ z).min())), pressed)
