"""td.regression: least squares block by block, by name, with public plans and nothing said about the data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tukeydp as td
from tukeydp.mechanisms.least_squares import (
    Standard,
    fewest_models,
    fewest_rows,
    intercept_and_slopes,
    regression_plan,
    rows_needed,
    slopes,
)
from tukeydp.mechanisms.mean_without_bounds import blocks_for_rem
from tukeydp.trusted.account import ApproxDP, PureDP, bounded_range
from tukeydp.trusted.blocks import block_table

RNG = np.random.default_rng(14)
USUAL = ApproxDP(1, "1e-6")


def linear(n, p, noise=0.5, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    return x, 1 + x @ np.arange(1, p + 1) + noise * rng.normal(size=n)


def r2(x, y, coefficients):
    rest = y - coefficients[0] - x @ coefficients[1:]
    return 1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum()


def own_fit(x, y):
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]


@pytest.mark.parametrize(("n", "p"), [(5000, 4), (2000, 1)])
def test_coefficients_are_close_to_least_squares(n, p):
    x, y = linear(n, p)
    release = td.regression(x, y, epsilon=1, delta=1e-6, randomness=td.seeded(3))
    assert release.released
    assert release.columns == ("intercept", *(f"x{j}" for j in range(p)))
    assert release.guarantee == USUAL
    assert r2(x, y, own_fit(x, y)) - r2(x, y, release.point) < 0.003
    assert release["x0"] == release.point[1]


def test_with_bounds_on_the_coefficients_it_is_pure():
    x, y = linear(1500, 2)
    release = td.regression(x, y, epsilon=1, bounds=(-20, 20), randomness=td.seeded(3))
    assert release.guarantee == PureDP(1)
    assert np.abs(release.point - [1, 1, 2]).max() < 0.3
    assert release.settings["drawn_by"] == "boxem"


def test_ranges_standardise_and_coefficients_come_back_in_own_units():
    x, y = linear(5000, 2)
    x = 50 + 10 * x
    given = {"ranges": (0, 100), "target_range": (-20, 20), "randomness": td.seeded(4)}
    for drawn in (
        td.regression(x, y, epsilon=1, delta=1e-6, **given),
        td.regression(x, y, epsilon=1, bounds=(-5, 5), **given),
    ):
        assert r2(x, y, own_fit(x, y)) - r2(x, y, drawn.point) < 0.003
        assert drawn.bounds is None


@pytest.mark.parametrize("intercept", [True, False])
def test_standardising_is_undone_exactly_but_for_rounding(intercept):
    x, y = linear(400, 3)
    cells = np.column_stack([30 + 5 * x, y])
    ends = [(10, 0, -5, -20), (50, 100, 70, 20)]
    lower, upper = (tuple(map(Fraction, side)) for side in ends)
    standard = Standard.of(lower, upper, intercept)
    statistic = intercept_and_slopes if intercept else slopes
    direct = statistic(cells[np.newaxis])[0]
    assert np.allclose(standard.in_units(statistic(standard.cells(cells)[np.newaxis])[0], intercept), direct)


def test_without_an_intercept_there_is_none():
    x, y = linear(3000, 2)
    release = td.regression(x, y - 1, epsilon=1, delta=1e-6, intercept=False, randomness=td.seeded(3))
    assert release.columns == ("x0", "x1")
    assert np.abs(release.point - [1, 2]).max() < 0.2


def test_frames_bring_names_and_the_target_may_be_one_of_their_columns():
    x, y = linear(3000, 2)
    frame = pd.DataFrame({"age": x[:, 0], "y": y, "weight": x[:, 1]})
    by_name = td.regression(frame, "y", epsilon=1, delta=1e-6, randomness=td.seeded(3))
    apart = td.regression(frame[["age", "weight"]], frame["y"], epsilon=1, delta=1e-6, randomness=td.seeded(3))
    assert by_name.columns == apart.columns == ("intercept", "age", "weight")
    assert np.array_equal(by_name.point, apart.point)


def test_rows_with_a_missing_cell_are_left_out_of_their_block():
    x, y = linear(4000, 2)
    x[::7, 0], y[3::11] = np.nan, np.inf
    release = td.regression(x, y, epsilon=1, delta=1e-6, randomness=td.seeded(3))
    assert np.abs(release.point - [1, 1, 2]).max() < 0.2
    blocks = np.dstack([RNG.normal(size=(5, 12, 2)), RNG.normal(size=(5, 12, 1))])
    blocks[2, 4, 1], blocks[3, 7, 2] = np.nan, np.inf
    found = intercept_and_slopes(blocks)
    for b, block in enumerate(blocks):
        kept = block[np.isfinite(block).all(axis=1)]
        assert np.allclose(found[b], own_fit(kept[:, :-1], kept[:, -1]))


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, (3, 6, 3), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_no_block_raises_or_warns_and_each_stands_by_itself(blocks):
    together = intercept_and_slopes(blocks)
    assert together.shape == (3, 3)
    assert not np.isinf(together).any()
    for b in range(3):
        alone = intercept_and_slopes(blocks[b : b + 1])[0]
        assert np.array_equal(together[b], alone, equal_nan=True)


def test_blocks_that_leave_a_coefficient_open_are_missing():
    blocks = RNG.normal(size=(4, 8, 3))
    blocks[0, :, 0] = 2.0  # as the constant
    blocks[1, :, 1] = 3 * blocks[1, :, 0]
    blocks[2, 3:] = np.nan  # three rows for three coefficients: solved exactly
    blocks[3, 2:] = np.nan  # two
    assert np.isnan(intercept_and_slopes(blocks)).all(axis=1).tolist() == [True, True, False, True]
    assert np.isnan(intercept_and_slopes(blocks[:, :2])).all()


def test_a_swap_changes_one_row_of_the_block_table():
    """Control: a feature standardised over the whole table changes all of them."""
    x, y = linear(300, 2)
    cells = np.column_stack([x, y])
    swapped = cells.copy()
    swapped[17] = [9.0, -9.0, 99.0]
    order = RNG.permutation(300)

    def changed(a, b):
        tables = [block_table(t, 30, order, intercept_and_slopes) for t in (a, b)]
        return int((tables[0] != tables[1]).any(axis=1).sum())

    assert changed(cells, swapped) == 1
    centred = [np.column_stack([t[:, :2] - t[:, :2].mean(axis=0), t[:, 2]]) for t in (cells, swapped)]
    assert changed(*centred) > 25


def test_too_few_rows_are_refused_before_anything_is_spent():
    x, y = linear(1000, 4)

    class Account:
        def require(self, guarantee):
            pass

        def spend(self, *_, **__):
            raise AssertionError("spent")

    with pytest.raises(td.ParameterError, match=r"at least 3825 rows for 5 coefficients .*425 models of 9 rows"):
        td.regression(x, y, epsilon=1, delta=1e-6, accountant=Account())


def test_the_plan_follows_from_public_numbers():
    assert (fewest_models(5, USUAL), fewest_rows(5), rows_needed(5, USUAL)) == (425, 9, 3825)
    assert rows_needed(10, USUAL) <= 10_000
    assert regression_plan(100_000, 5, USUAL, None, None).blocks > 425
    assert regression_plan(5000, 5, USUAL, 300, None).blocks == 300
    pure = regression_plan(10_000, 5, bounded_range(1), None, None)
    assert pure.partitions > 1
    with pytest.raises(td.ParameterError, match="blocks"):
        regression_plan(100, 5, USUAL, 50, None)


def test_more_columns_ask_for_more_blocks_of_means_too():
    """Log-normal tables of 600 rows and ten columns were refused with 520 blocks."""
    assert [blocks_for_rem(d, USUAL) for d in (1, 2, 5, 10)] == [277, 304, 385, 600]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"blocks": 9}, "blocks"),
        ({"confidence": 2}, "confidence"),
        ({"delta": 1e-6, "confidence": 0.9}, "confidence"),
        ({"joint": True}, "joint"),
        ({"ranges": {"z": (0, 1)}}, "ranges"),
        ({"delta": 1e-6, "intercept": 1}, "intercept"),
        ({"delta": 1e-6, "partitions": 0}, "partitions"),
        ({"delta": 1e-6, "ranges": (1, 0)}, "bounds"),
        ({"delta": 2}, "delta"),
    ],
)
def test_wrong_parameters_are_named(options, named):
    x, y = linear(2000, 1)
    with pytest.raises(td.ParameterError) as caught:
        td.regression(x, y, epsilon=1, **options)
    assert caught.value.parameter == named


def test_answers_must_fit():
    x, y = linear(2000, 1)
    for wrong in (y[:-1], np.column_stack([y, y]), "y"):
        with pytest.raises(td.ParameterError, match=r"^y "):
            td.regression(x, wrong, epsilon=1, delta=1e-6)
    with pytest.raises(td.ParameterError, match="intercept"):
        td.regression(pd.DataFrame({"intercept": y}), y, epsilon=1, delta=1e-6)


def test_the_forecast_is_public_and_about_right():
    x, y = linear(2500, 1, noise=1.0)
    release, other = (
        td.regression(x, answers, epsilon=1, delta=1e-6, randomness=td.seeded(s)) for s, answers in ((1, y), (2, 9 - y))
    )
    error = release.expected_error
    assert error == other.expected_error
    own = own_fit(x, y)
    lost = [
        (r2(x, y, own) - r2(x, y, td.regression(x, y, epsilon=1, delta=1e-6, randomness=td.seeded(s)).point))
        / (1 - r2(x, y, own))
        for s in range(12)
    ]
    assert error.r2_loss[0] / 5 < np.median(lost) < 5 * error.r2_loss_95[1]
    assert "R^2 falls" in " ".join(error.sentences())
    assert error.refused[1] < 0.05
    with pytest.raises(td.ParameterError, match="sd"):
        release.rehearse(sd=1)
