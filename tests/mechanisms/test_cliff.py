"""The cliff: the figures that the theory states, and what must follow from public numbers alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tukeydp.mechanisms.cliff import MEANINGFUL, SAFE, log_odds, widest_bounds
from tukeydp.mechanisms.mean_ways import mean_plan
from tukeydp.mechanisms.spread_step import spread_plan
from tukeydp.mechanisms.subset_means import fewest_blocks, grid_steps, subset_plan
from tukeydp.trusted.rows import bounded_columns


@pytest.mark.parametrize(
    ("d", "n", "width"), [(2, 100, 785), (5, 150, 41), (10, 300, 56), (5, 300, 27_700), (10, 500, 4335)]
)
def test_the_widest_bounds_are_those_of_the_theory(d, n, width):
    assert widest_bounds(n, d, 1.0) == pytest.approx(width, rel=0.02)


@pytest.mark.parametrize(
    ("n", "d", "rows_of_a_block"),
    [(150, 4, 1), (342, 4, 2), (532, 7, 2), (442, 10, 1), (4014, 3, 28), (6366, 5, 29), (20190, 3, 131), (300, 1, 4)],
)
def test_blocks_are_those_of_the_theory(n, d, rows_of_a_block):
    blocks = fewest_blocks(n, d, 1.0, 100.0)
    assert blocks is not None
    assert n // blocks == rows_of_a_block


def test_too_few_rows_have_no_plan():
    assert fewest_blocks(100, 5, 1.0, 100.0) is None
    assert subset_plan(100, 5, Fraction(1), np.full(5, 100.0)) is None
    assert spread_plan(20, 3, Fraction(1, 10)) is None


@pytest.mark.parametrize("d", [1, 3, 10])
def test_more_rows_more_epsilon_and_fewer_columns_carry_further(d):
    assert widest_bounds(400, d, 1.0) < widest_bounds(800, d, 1.0)
    assert widest_bounds(400, d, 1.0) < widest_bounds(400, d, 2.0)
    assert widest_bounds(400, d, 1.0) > widest_bounds(400, d + 1, 1.0)
    assert widest_bounds(400, d, 1.0, margin=SAFE) < widest_bounds(400, d, 1.0, margin=MEANINGFUL)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_a_handful_of_rows_is_beyond_every_cliff(rows):
    assert log_odds(rows, 1, 1.0) == -math.inf
    assert widest_bounds(rows, 1, 1.0) == 0.0


def test_no_number_is_too_large():
    assert 1e300 < widest_bounds(10**9, 1, 10.0) < math.inf


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 1.0, 1e4, 1e6])
def test_any_epsilon_that_is_allowed_has_an_answer(epsilon):
    assert not math.isnan(log_odds(1000, 3, epsilon))


@pytest.mark.parametrize(("n", "d"), [(2000, 2), (6000, 3)])
@pytest.mark.parametrize("mechanism", ["subset", "two-step"])
def test_blocks_suffice_where_a_public_sd_is_twice_too_large(n, d, mechanism):
    """Bounds are then twice as wide, in standard deviations, as `sd` says."""
    plan = mean_plan(n, bounded_columns(d, (0, 100)), Fraction(1), mechanism=mechanism, sd=2).plan
    means = plan.centre if mechanism == "two-step" else plan
    epsilon = float(plan.epsilons[0]) if mechanism == "two-step" else 1.0
    assert means.blocks < n
    assert log_odds(means.blocks, d, epsilon) - d * math.log(100 * math.sqrt(n / means.blocks)) >= SAFE


def test_a_predicted_error_is_sixteen_steps_of_the_grid():
    """In every column: 16 steps of one size in standard deviations; 2^8 at least, 2^40 at most."""
    assert grid_steps(0.1, np.array([10.0, 25.0, 1e-3, 1e20])) == (1600, 4000, 2**8, 2**40)
