from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.trusted.directions import fitting
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.rows import LIMIT, Grid, bounded_grid, checked_bounds


def test_ends_are_grid_points_and_decimals_are_exact():
    grid = bounded_grid(1, bounds=(0, 1), resolution=0.1)
    assert grid.cells == (10,)  # not 9, as the binary value of 0.1 would give
    assert grid.point(grid.low) == [0.0]
    assert grid.point(grid.high) == [1.0]
    assert bounded_grid(1, bounds=(0, 1), resolution=0.3).cells == (3,)


def test_default_resolution_has_2_to_the_44_steps():
    grid = bounded_grid(2, bounds=([-1, 0], [1, "1e6"]), resolution=None)
    assert grid.cells == (2**44, 2**44)
    assert grid.step == (Fraction(2, 2**44), Fraction(10**6, 2**44))


def test_rows_are_clipped_and_rounded_to_the_nearest_point():
    grid = bounded_grid(2, bounds=(0, 10), resolution=1)
    x = np.array([[0.4, 0.6], [-np.inf, 99.0], [9.51, 10.0], [np.nan, 1.0]])
    points = [grid.point(row).tolist() for row in grid.snap(x)]
    assert points == [[0.0, 1.0], [0.0, 10.0], [10.0, 10.0]]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_value_comes_back_to_within_half_a_step(lower, width, place):
    grid = bounded_grid(1, bounds=(lower, lower + width), resolution=width / 1000)
    value = lower + place * width
    (back,) = grid.point(grid.snap(np.array([[value]]))[0])
    # The last, shorter step at the upper end has no grid point beyond it.
    assert abs(back - value) <= width / 1000 * 1.001


@pytest.mark.parametrize(
    ("bounds", "resolution"),
    [((0, 1), 1), (([0, -5], [1e9, 5]), (0.5, 1e-9)), ((-1, 1), 2.0**-40)],
)
@pytest.mark.parametrize(
    "depth", [td.AxisAligned(), td.Random(50, seed=3), td.Spread(50, seed=3), td.Directions([[1, 2], [0.1, -0.7]])]
)
def test_no_projection_can_reach_the_limit(bounds, resolution, depth):
    grid = bounded_grid(2, bounds=bounds, resolution=resolution)
    for v in depth.on_grid(grid, bytes(32)).tolist():
        assert sum(abs(a) * r for a, r in zip(v, grid.extent, strict=True)) < LIMIT


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"bounds": (1, 1)}, "bounds"),
        ({"bounds": (2, 1)}, "bounds"),
        ({"bounds": (0, float("nan"))}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": ([0, 0, 0], 1)}, "bounds"),
        ({"bounds": (0, "one")}, "bounds"),
        ({"bounds": (0, None)}, "bounds"),
        ({"resolution": 0}, "resolution"),
        ({"resolution": -1}, "resolution"),
        ({"resolution": 2}, "resolution"),
        ({"resolution": float("nan")}, "resolution"),
        ({"resolution": [0.1]}, "resolution"),
        ({"resolution": 1e-19}, "resolution"),
        ({"bounds": (0, "1e1000000000")}, "bounds"),
    ],
)
def test_bad_bounds_and_resolutions_are_named(arguments, word):
    with pytest.raises(td.ParameterError, match=word):
        bounded_grid(2, **{"bounds": (0, 1), "resolution": None, **arguments})


@pytest.mark.parametrize("kind", [list, np.array])
def test_directions_whose_projections_would_overflow_are_refused(kind):
    """Every grid point's projection is below 2^62 in size, whatever the signs; one more is too many."""
    grid = Grid((Fraction(0),) * 2, (Fraction(1),) * 2, (2**41, 2**40))
    assert grid.extent == (2**40, 2**39)
    for entries in ((2**22, 0), (2**22 - 1, 2), (0, -(2**23)), (-(2**21), 2**22), (2**23 - 1, 1)):
        assert sum(abs(v) * r for v, r in zip(entries, grid.extent, strict=True)) >= 2**62
        with pytest.raises(ParameterError, match="resolution"):
            fitting(kind([[1, 1], list(entries)]), grid)
    for entries in ((2**22 - 1, 1), (2**20, -(2**20)), (0, 2**23 - 1)):
        assert fitting(kind([[1, 1], list(entries)]), grid).tolist() == [[1, 1], list(entries)]


NAMES = ("age", "pulse")


def ends(d, bounds, names=None):
    lows, highs = checked_bounds(d, bounds, names)
    return [float(v) for v in lows], [float(v) for v in highs]


@pytest.mark.parametrize(
    "bounds",
    [
        ([0, 5], [10, 20]),
        ((0, 5), (10, 20)),
        np.array([[0, 5], [10, 20]]),
        [np.array([0, 5]), np.array([10, 20])],
        {"pulse": (5, 20), "age": [0, 10]},
    ],
)
def test_every_way_to_write_the_same_bounds(bounds):
    assert ends(2, bounds, NAMES) == ([0, 5], [10, 20])


def test_lists_that_mean_one_thing_only_are_taken():
    assert ends(2, [0, 10]) == ([0, 0], [10, 10])
    assert ends(2, [0, [10, 20]]) == ([0, 0], [10, 20])
    assert ends(3, [[0, 0, 1], [10, 20, 30]]) == ([0, 0, 1], [10, 20, 30])
    assert ends(1, [[0], [10]]) == ([0], [10])


@pytest.mark.parametrize(
    ("d", "bounds", "hint"),
    [
        (2, [(0, 10), (5, 20)], "ambiguous"),
        (2, [[0, 5], [10, 20]], "ambiguous"),
        (1, [(0, 10)], "ambiguous"),
        (3, [(0, 10), (5, 20), (1, 2)], "ambiguous"),
        (3, ((0, 10), (5, 20), (1, 2)), "ambiguous"),
        (2, [(0, 10), (5, 20), (1, 2)], "dict"),
        (2, 5, "dict"),
        (2, {"age": (0, 10)}, "none for 'pulse'"),
        (2, {"age": (0, 10), "pulse": 5}, "'pulse'"),
        (2, {"age": (0, 10), "pulse": "51"}, "'pulse'"),
        (2, {"age": (0, 10), "pulse": (5, 5)}, "lower < upper"),
        (2, {"age": (0, 10), "pulse": ((0, 1), (2, 3))}, "finite number"),
    ],
)
def test_bounds_that_could_mean_two_things_or_nothing_are_refused_with_a_hint(d, bounds, hint):
    with pytest.raises(ParameterError, match=r"^bounds must .*; got ") as error:
        checked_bounds(d, bounds, NAMES if d == 2 else None)
    assert hint in str(error.value)


def test_bounds_by_name_need_names():
    with pytest.raises(ParameterError, match="no names"):
        checked_bounds(2, {"age": (0, 10), "pulse": (5, 20)})


@pytest.mark.parametrize("mechanism", [td.boxem, td.mean, td.cube, td.spread])
def test_every_mechanism_takes_bounds_by_name(mechanism):
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)) * [1, 50], columns=["age", "pulse"])
    a, b = (
        mechanism(x, epsilon=1, bounds=bounds, randomness=td.seeded(3)).point
        for bounds in (([-9, -500], [9, 500]), {"pulse": (-500, 500), "age": (-9, 9)})
    )
    assert (a == b).all()
