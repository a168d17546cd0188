"""The one way a float solver is set up: quiet, with the bounds, rows and options it was given."""

from __future__ import annotations

import numpy as np
import pytest

from tukeydp.hints.float_programs import add_rows, quiet_solver


def test_it_solves_what_it_was_given_and_says_nothing(capfd):
    """Maximise x + 2 y, x + y <= 4, |x|, |y| <= 3; then with x >= y too."""
    far = np.full(2, 3.0)
    solver = quiet_solver(-far, far, solver="simplex")
    solver.changeColsCost(2, np.arange(2, dtype=np.int32), np.array([-1.0, -2.0]))
    add_rows(solver, np.array([[1.0, 1.0]]), np.array([-np.inf]), np.array([4.0]))
    solver.run()
    assert solver.getSolution().col_value == pytest.approx([1, 3])
    add_rows(solver, np.array([[1.0, -1.0], [2.0, 1.0]]), np.array([0.0, -np.inf]), np.array([np.inf, 100.0]))
    solver.run()
    assert solver.getSolution().col_value == pytest.approx([2, 2])
    assert len(solver.getSolution().row_dual) == 3
    assert capfd.readouterr() == ("", "")


def test_options_are_set_by_name():
    solver = quiet_solver(np.zeros(1), np.ones(1), primal_feasibility_tolerance=1e-10)
    assert solver.getOptionValue("primal_feasibility_tolerance")[1] == 1e-10
    assert solver.getOptionValue("presolve")[1] == "off"
    assert solver.getOptionValue("output_flag")[1] is False
