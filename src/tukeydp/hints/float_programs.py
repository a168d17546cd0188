"""A float solver for linear programs (HiGHS), set up one way. Hints only: nothing here decides anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.trusted.parameters import FloatArray

# Silent, because what a solver prints depends on the data; and the rows as given, so that duals and warm starts are
# those of the program itself.
_ALWAYS = {"output_flag": False, "presolve": "off"}


def quiet_solver(low: FloatArray, high: FloatArray, **options: Any) -> Any:
    """A solver with variables low <= z <= high, no rows and no costs yet; `options` by HiGHS' own names."""
    import highspy

    solver = highspy.Highs()
    for option, value in {**_ALWAYS, **options}.items():
        solver.setOptionValue(option, value)
    for a, b in zip(low, high, strict=True):
        solver.addVar(a, b)
    return solver


def add_rows(solver: Any, matrix: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Add the rows low <= matrix z <= high, every entry given."""
    m, d = matrix.shape
    starts = np.arange(0, m * d, d, dtype=np.int32)
    columns = np.tile(np.arange(d, dtype=np.int32), m)
    solver.addRows(m, low, high, m * d, starts, columns, matrix.ravel())
