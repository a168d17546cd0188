"""The grid and the columns, number by number: exact rationals by hand, and every cell by itself."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.rows import (
    LIMIT,
    SMALLEST_STEP,
    BoundedColumns,
    Grid,
    bounded_columns,
    bounded_grid,
    checked_bounds,
    per_column,
    relative_grid,
    unbounded_grid,
)

GRID = Grid((Fraction(-1), Fraction(10)), (Fraction(1, 4), Fraction(2)), (5, 4))
COLUMNS = BoundedColumns((Fraction(0), Fraction(-4)), (Fraction(1), Fraction(12)))


def test_coordinates_are_counted_from_the_middle():
    assert (GRID.d, GRID.low.tolist(), GRID.high.tolist(), GRID.extent) == (2, [-2, -2], [3, 2], (3, 2))
    assert GRID.rational_point([-2, 2]) == [Fraction(-1), Fraction(18)]
    assert GRID.point([0, -1]).tolist() == [-0.5, 12.0]
    found = GRID.to_dict()
    assert found == {"lower": [-1.0, 10.0], "upper": [0.25, 18.0], "step": [0.25, 2.0], "steps": [5, 4]}


def test_every_cell_is_clipped_and_rounded_by_itself():
    rng = np.random.default_rng(0)
    cells = np.column_stack([rng.uniform(-3, 2, 9000), rng.uniform(0, 30, 9000)])
    cells[5], cells[6], cells[7] = [math.inf, -math.inf], [math.nan, 12.0], [-1.0, 18.0]
    found = GRID.snap(cells)
    kept = [row for row in cells.tolist() if not any(map(math.isnan, row))]
    assert len(found) == len(kept) == 8999
    for row, mapped in zip(kept[:300], found.tolist(), strict=False):
        for cell, a, step, most, place in zip(row, (-1.0, 10.0), (0.25, 2.0), (5, 4), mapped, strict=True):
            index = 0 if cell < a else most if cell > a + most * step else round((cell - a) / step)
            assert place == index - most // 2
    assert (GRID.snap(cells[-20:]) == found[-20:]).all()  # whatever stands before it


def test_grids_between_bounds_and_around_zero():
    found = bounded_grid(2, bounds=(0, [1, 10]), resolution=[0.25, 3])
    assert found == Grid((Fraction(0), Fraction(0)), (Fraction(1, 4), Fraction(3)), (4, 3))
    assert bounded_grid(1, bounds=(0, 1), resolution=None, bits=3).cells == (8,)
    assert unbounded_grid(2, resolution=1, bits=4) == Grid((Fraction(-8),) * 2, (Fraction(1),) * 2, (16, 16))
    assert relative_grid([4, 8]) == Grid((Fraction(-1),) * 2, (Fraction(1, 2), Fraction(1, 4)), (4, 8))
    for resolution in (0, 2, Fraction(1, LIMIT), 1e-301):
        with pytest.raises(ParameterError, match="resolution"):
            bounded_grid(1, bounds=(0, 1), resolution=resolution)
    for resolution in (0, -1, 1e-301, 1e300):
        with pytest.raises(ParameterError, match="resolution"):
            unbounded_grid(1, resolution=resolution, bits=4)


def test_columns_are_moved_between_their_bounds_and_back():
    assert (COLUMNS.d, COLUMNS.ends) == (2, ((0, -4), (1, 12)))
    assert COLUMNS.widths.tolist() == [1.0, 16.0]
    assert [COLUMNS.between_0_and_1(j) for j in range(2)] == [True, False]
    assert not BoundedColumns((Fraction(0),), (Fraction(2),)).between_0_and_1(0)
    cells = np.array([[0.0, -4.0], [1.0, 12.0], [0.25, 8.0], [9.0, -math.inf], [math.nan, 4.0]])
    expected = [[-1.0, -1.0], [1.0, 1.0], [-0.5, 0.5], [1.0, -1.0]]
    assert COLUMNS.relative(cells)[:4].tolist() == expected
    assert [math.isnan(c) for c in COLUMNS.relative(cells)[4]] == [True, False]
    assert COLUMNS.grid([2, 4]) == Grid((Fraction(0), Fraction(-4)), (Fraction(1, 2), Fraction(4)), (2, 4))
    assert COLUMNS.in_units([Fraction(-1, 2), Fraction(1, 2)]).tolist() == [0.25, 8.0]
    assert COLUMNS.in_units([Fraction(-(10**400)), Fraction(10**400)]).tolist() == [-1e300, 1e300]


def test_bounds_are_two_ends_for_each_column():
    assert checked_bounds(2, (0, 5)) == ((0, 0), (5, 5))
    assert checked_bounds(2, ([0, 1], [5, 6])) == ((0, 1), (5, 6))
    assert checked_bounds(2, {"b": (1, 2), "a": (3, 4)}, ("a", "b")) == ((3, 1), (4, 2))
    assert per_column("resolution", {"b": 1, "a": 3}, 2, ("a", "b")) == [3, 1]
    assert bounded_columns(1, (0, 1)) == BoundedColumns((Fraction(0),), (Fraction(1),))
    wrong = (
        (5, 5), (6, 5), (0, 10**301), (-(10**301), 0), 3, (1, 2, 3), [(0, 1), (2, 3)], iter((0, 1)),
        ([0, 1, 2], 5), (0, math.inf),
    )  # fmt: skip
    for bounds in wrong:
        with pytest.raises(ParameterError, match="bounds"):
            checked_bounds(2, bounds)
    with pytest.raises(ParameterError, match="bounds"):
        bounded_columns(1, (0, SMALLEST_STEP))
    for value in ([1, 2, 3], iter((1, 2))):
        with pytest.raises(ParameterError, match="sd"):
            per_column("sd", value, 2)
