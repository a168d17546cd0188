"""Hints of sizes and of linear programs: whatever they answer, bounds hold and optima are optima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tukeydp.hints.copy_solver import largest_in_floats
from tukeydp.hints.ellipsoid_solver import newton_with_few_rows
from tukeydp.trusted.hinted import OFFERED
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes import copies
from tukeydp.trusted.sizes.copies import _usable, largest_copy
from tukeydp.trusted.sizes.ellipsoids import largest_ellipsoid
from tukeydp.trusted.sizes.linear_programs import Region, maximum


def diamond(d: int) -> Region:
    """A box of 64 cells whose corners are cut off."""
    units = np.eye(d, dtype=np.int64)
    slanted = np.array(list(np.ndindex(*([2] * d)))) * 2 - 1
    normals = integers(np.vstack([slanted, units, -units]))
    return Region(normals, integers([48] * len(slanted) + [32] * (2 * d)), integers([0] * d), np.full(d, 32.0))


def raises(*_):
    raise RuntimeError("no hint")


NONSENSE = {
    "raises": raises,
    "nothing": lambda *_: None,
    "text": lambda *_: "seven",
    "not numbers": lambda *_: tuple(np.full((2, 2), np.nan) for _ in range(3)),
    "infinity": lambda rows, *_: (np.zeros(2), np.full((2, 2), np.inf), np.ones(len(rows))),
    "other shapes": lambda *_: (np.zeros(7), np.eye(3), np.ones((2, 2, 2))),
    "two of three": lambda *_: (np.zeros(2), np.eye(2)),
    "huge": lambda rows, *_: (np.full(2, 1e300), 1e300 * np.eye(2), np.full(len(rows), 1e-300)),
    "negative weights": lambda rows, *_: (np.zeros(2), np.eye(2), -np.ones(len(rows))),
    "rows": lambda *_: [99, 98],
    "one row twice": lambda *_: [0, 0],
    "floats": lambda *_: [0.0, 1.0],
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_whatever_floats_propose_an_optimum_is_one(nonsense, monkeypatch):
    region = diamond(2)
    monkeypatch.setitem(OFFERED, "likely_basis", NONSENSE[nonsense])
    for objective, value in (([1, 0], 32), ([1, 1], 48), ([-3, 1], 32 * 3 + 16), ([2, 5], 16 * 2 + 32 * 5)):
        best = maximum(region, objective)
        assert best is not None
        assert best.value == value


def test_an_objective_beyond_floats_has_an_optimum():
    best = maximum(diamond(2), [10**400, 1])
    assert best is not None
    assert best.value == 32 * 10**400 + 16


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_a_solver_that_talks_nonsense_is_asked_again(nonsense, monkeypatch):
    """Three times, then it says what it should: the same certified sizes up to their gaps."""
    region, gap = diamond(2), Fraction(1, 2**12)
    low, high = integers([-33, -33]), integers([33, 33])
    honest = largest_ellipsoid(region, gap, lambda: (low, high))
    copy = largest_copy(region, low, high, 20)
    assert honest is not None
    assert copy is not None

    for solver in (newton_with_few_rows, largest_in_floats):
        asked = []

        def at_last(*given, solver=solver, asked=asked):
            asked.append(given)
            return NONSENSE[nonsense](*given) if len(asked) <= 3 else solver(*given)

        monkeypatch.setitem(OFFERED, solver.__name__, at_last)
    found = largest_ellipsoid(region, gap, lambda: (low, high))
    assert found is not None
    assert found.gap <= gap
    assert found.determinant <= honest.determinant * (1 + honest.gap)
    assert honest.determinant <= found.determinant * (1 + found.gap)
    again = largest_copy(region, low, high, 20)
    assert again is not None
    assert again[0].most >= copy[0].diagonal  # no copy inside exceeds the bound, whatever weights it came from


def test_a_matrix_that_is_not_triangular_is_no_copy(monkeypatch):
    """The product of its diagonal is not its volume: turned, it could pass for a larger one."""
    region = diamond(2)
    low, high = integers([-33, -33]), integers([33, 33])
    honest = largest_copy(region, low, high, 20)
    turn, asked = np.array([[0.8, -0.6], [0.6, 0.8]]), []

    def turned(*given):
        asked.append(given)
        shift, factor, weights = largest_in_floats(*given)
        return shift, factor @ turn if len(asked) <= 2 else factor, weights

    monkeypatch.setitem(OFFERED, "largest_in_floats", turned)
    found = largest_copy(region, low, high, 20)
    assert honest is not None
    assert found is not None
    assert len(asked) > 3
    assert not np.triu(found[0].factor, 1).any()
    assert found[0].diagonal <= honest[0].most
    with pytest.raises(ArithmeticError):
        _usable((np.zeros(2), np.eye(2) @ turn, np.ones((3, 4))), 2, (3, 4))
    with pytest.raises(ArithmeticError):
        _usable((np.zeros(2), -np.eye(2), np.ones((3, 4))), 2, (3, 4))


def test_weights_that_do_not_balance_are_paid_for_by_the_box():
    """All on one side, seen from a centre close to that side; without what they cost no copy would fit."""
    region = diamond(2)
    low, high = integers([-33, -33]), integers([33, 33])
    copy = largest_copy(region, low, high, 20)
    assert copy is not None
    corners = copies.template(2).corners.tolist()
    weights = np.zeros((len(region.normals), len(corners)))
    weights[region.normals.tolist().index([1, 1]), corners.index([3, 4])] = 1.0
    centre = integers([20 << 20, 20 << 20])
    assert copies._bound(region, centre, 20, weights, low, high) >= copy[0].diagonal
    # Must-fail control: a box that ends at the centre costs nothing.
    there = integers([20, 20])
    assert copies._bound(region, centre, 20, weights, there, there) < copy[0].diagonal
