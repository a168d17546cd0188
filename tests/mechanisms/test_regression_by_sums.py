"""td.regression by noised sums of products: what a record adds, what is released, and intervals."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tukeydp as td
from tukeydp.data.records import Records
from tukeydp.data.relation import SWAP
from tukeydp.data.tables import Table
from tukeydp.mechanisms import regression_by_sums
from tukeydp.mechanisms.regression_by_sums import fitted, in_units, sums_plan, symmetric
from tukeydp.trusted.account import PureDP
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import HALF, NormBeyond, ProductSums

UNIT = BoundedColumns((Fraction(-1),) * 3, (Fraction(1),) * 3)
cell = st.one_of(st.floats(-1.5, 1.5), st.sampled_from([np.nan, np.inf, -np.inf, 1e300, 0.0]))


def table(n, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) * [3.0, 10.0] + [40.0, 120.0]
    return x, 5.0 + x @ [2.0, -0.5] + noise * rng.normal(size=n)


def own_fit(x, y):
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]


def kernel(radius, constant, groups=1, coefficients=None, scale=(1.0, 3.0, 2.0)):
    given = {"d": 3, "columns": UNIT, "places": (0, 1, 2), "centre": (0.2, -0.5, 0.0), "scale": scale}
    return ProductSums(radius=radius, groups=groups, constant=constant, coefficients=coefficients, **given)


@given(
    arrays(np.float64, (5, 3), elements=cell),
    st.floats(0.01, 50.0),
    st.booleans(),
    st.booleans(),
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_a_record_adds_at_most_half_in_all_its_numbers_together_and_by_itself(cells, radius, constant, second, slopes):
    one = kernel(radius, constant, coefficients=(tuple(slopes[: 2 + constant]),) if second else None)
    alone = [one(row[np.newaxis], ()) for row in cells]
    assert all(int(np.abs(added).sum()) <= HALF for added in alone)
    assert (sum(alone) == one(cells, ())).all()
    assert all((added == 0).all() for added, row in zip(alone, cells, strict=True) if np.isnan(row).any())


@given(arrays(np.float64, (6, 3), elements=cell), st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_record_is_beyond_a_size_and_all_smaller_ones_or_not(cells, constant):
    """Counts of nested sizes: a record adds 0 or 1 to each, so that they all move one way."""
    counts = NormBeyond(kernel(1.0, constant), (16.0, 4.0, 1.0, 0.25))
    for row in cells:
        (added,) = [counts(row[np.newaxis], ())]
        assert set(added.tolist()) <= {0, 1}
        assert (np.diff(added) >= 0).all()


def test_products_are_those_of_the_definition():
    cells = np.array([[0.5, -0.25, 1.0], [0.25, 0.75, -0.5]])
    found = kernel(1e3, constant=True)(cells, ()) * 1e3 / HALF
    z = np.column_stack([np.ones(2), (cells - [0.2, -0.5, 0.0]) * [1.0, 3.0, 2.0]])
    assert np.allclose(symmetric(found), z.T @ z, atol=1e-4)
    slopes = (0.5, -1.0, 0.25)
    residuals = kernel(1e3, constant=True, coefficients=(slopes,))(cells, ()) * 1e3 / HALF
    assert np.allclose(residuals, z[:, :-1].T @ (z[:, -1] - z[:, :-1] @ slopes), atol=1e-4)


def test_groups_have_coefficients_of_their_own():
    cells = np.array([[0.5, -0.25, 1.0, 0.0], [0.5, -0.25, 1.0, 1.0], [0.5, -0.25, 1.0, np.nan]])
    both = kernel(1e3, True, groups=2, coefficients=((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))(cells, ())
    apart = [kernel(1e3, True, coefficients=(one,))(cells[:1, :3], ()) for one in ((0.0,) * 3, (1.0,) * 3)]
    assert (both == np.concatenate(apart)).all()


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
def test_noise_is_as_wide_as_the_sums_move(monkeypatch, neighbours):
    """A replaced record moves them by twice HALF, one that comes or goes by HALF."""
    from tukeydp.trusted import steps

    scales = []
    monkeypatch.setattr(steps, "discrete_laplace", lambda scale, bits: scales.append(scale) or 0)
    x, y = table(300)
    td.regression(x, y, epsilon=1, ranges=(0, 200), target_range=(-100, 300), neighbours=neighbours,
                  rows=300 if neighbours == "add-remove" else None, randomness=td.seeded(1))  # fmt: skip
    plan = sums_plan(300, BoundedColumns((Fraction(0),) * 3, (Fraction(200),) * 3), Fraction(1), True, neighbours, None)
    moved = HALF * (1 if neighbours == "add-remove" else 2)
    wanted = {moved / plan.parts[name].epsilon for name in ("spreads", "products", "residuals")}
    assert set(scales) == wanted


def test_parts_cost_epsilon_together():
    for epsilon in (Fraction(1, 3), Fraction(7)):
        plan = sums_plan(500, UNIT, epsilon, True, "swap", None)
        assert sum(part.epsilon for part in plan.parts.values()) == epsilon
        assert plan.guarantee.epsilon == epsilon


def test_without_noise_it_is_least_squares(monkeypatch):
    """With so large an epsilon that noise is nothing, the step ends where least squares does."""
    x, y = table(2000, noise=3.0)
    release = td.regression(x, y, epsilon=10**4, ranges=(0, 200), target_range=(-100, 300), randomness=td.seeded(1))
    errors = 3.0 / np.sqrt(2000) / np.array([1.0, 3.0, 10.0])
    assert (np.abs(release.point - own_fit(x, y))[1:] < 0.5 * errors[1:]).all()


def test_it_answers_where_blocks_cannot():
    x, y = table(442)
    release = td.regression(x, y, epsilon=1, confidence=0.95, randomness=td.seeded(2))
    assert release.released
    assert release.guarantee == PureDP(1)
    assert np.isfinite(release.interval).all()
    with pytest.raises(td.ParameterError, match="at least"):
        td.regression(x, y, epsilon=1, delta=1e-6)


def test_intervals_cover_the_coefficients_as_often_as_they_say():
    """Chance of a false alarm below 1e-4: 60 draws of 3 coefficients, at 95 %; half as wide ones must fail."""
    truth, inside, halves = np.array([5.0, 2.0, -0.5]), [], []
    for seed in range(60):
        x, y = table(3000, seed=seed, noise=4.0)
        release = td.regression(x, y, epsilon=1, ranges=(0, 200), target_range=(-300, 500), confidence=0.95,
                                randomness=td.seeded(seed))  # fmt: skip
        ends = release.interval
        inside.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        middle, half = ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2
        halves.append(np.abs(middle - truth) <= half / 3)
    assert np.mean(inside) > 0.88
    assert np.mean(halves) < 0.88


def test_memory_and_lazy_frames_agree_to_the_last_bit():
    x, y = table(900)
    frame = pd.DataFrame({"a": x[:, 0], "y": y, "b": x[:, 1], "arm": np.where(np.arange(900) % 3, "A", "B")})
    for more in ({}, {"by": "arm", "keys": ["A", "B"]}):
        names = list(frame) if more else ["a", "y", "b"]
        given = {"epsilon": 1, "randomness": td.seeded(4), **more}
        held = td.regression(frame[names], "y", check=False, **given)
        given["randomness"] = td.seeded(4)
        lazy = td.regression(pl.from_pandas(frame[names]).lazy(), "y", **given)
        both = [one.releases.values() if more else [one] for one in (held, lazy)]
        assert all((a.point == b.point).all() and a.columns == b.columns for a, b in zip(*both, strict=True))


def test_groups_persons_and_a_secret_number_at_once():
    x, y = table(4000)
    frame = pd.DataFrame(
        {"a": x[:, 0], "b": x[:, 1], "y": y, "id": np.arange(4000) // 2, "arm": np.arange(4000) // 2 % 2}
    )
    found = td.regression(frame, "y", epsilon=4, by="arm", keys=[0, 1], person="id", neighbours="add-remove", rows=2000,
                          confidence=0.9, joint=True, randomness=td.seeded(1))  # fmt: skip
    assert found.guarantee == PureDP(4, neighbours="add-remove-person")
    for one in found.releases.values():
        assert abs(one.point[1] - 2.0) < 0.5
        assert one.interval.shape == (3, 2)
        assert one.n is None


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_persons_of_a_lazy_frame_between_ranges(engine):
    """The engine adds up a person's rows in whole steps of the ranges: nearly the table of persons in memory."""
    x, y = table(4000)
    frame = pd.DataFrame(
        {"y": y, "a": x[:, 0], "b": x[:, 1], "id": np.arange(4000) // 2, "arm": np.arange(4000) // 2 % 2}
    )
    lazy = pl.from_pandas(frame).lazy() if engine == "polars" else duckdb.from_df(frame)
    given = {"epsilon": 4, "person": "id", "ranges": {"a": (0, 100), "b": (0, 300)}, "target_range": (-100, 200)}
    for more in ({}, {"by": "arm", "keys": [0, 1]}):
        names = list(frame) if more else ["y", "a", "b", "id"]
        source = lazy.select(*names) if engine == "polars" else lazy.project(", ".join(names))
        runs = [td.regression(one, "y", randomness=td.seeded(1), **given, **more) for one in (frame[names], source)]
        held, found = ([*one.releases.values()] if more else [one] for one in runs)
        for mine, theirs in zip(held, found, strict=True):
            assert mine.columns == theirs.columns == ("intercept", "a", "b")
            assert mine.guarantee == theirs.guarantee == PureDP(4, neighbours="swap-person")
            np.testing.assert_allclose(mine.point, theirs.point, atol=1e-3)
    with pytest.raises(td.ParameterError, match="ranges must be given for persons of a lazy frame"):
        td.regression(source, "y", epsilon=1, person="id", target_range=(0, 1), by="arm", keys=[0, 1])


def test_a_column_without_values_and_one_of_equal_values_do_no_harm():
    x, y = table(600)
    for bad in (np.full(600, np.nan), np.full(600, 7.0)):
        release = td.regression(np.column_stack([x, bad]), y, epsilon=1, confidence=0.95, randomness=td.seeded(1))
        assert np.isfinite(release.point).all()


def test_the_forecast_is_public_and_about_right():
    x, y = table(3000, noise=8.0)
    given = {"epsilon": 1, "ranges": (0, 200), "target_range": (-300, 500)}
    released = [td.regression(x, y, **given, randomness=td.seeded(s)) for s in range(12)]
    error = released[0].expected_error
    assert error == td.regression(x, 9 - y, **given, randomness=td.seeded(1)).expected_error
    design, own = np.column_stack([np.ones(len(x)), x]), own_fit(x, y)
    left = ((y - design @ own) ** 2).sum()
    lost = [((y - design @ one.point) ** 2).sum() / left - 1.0 for one in released]
    assert error.r2_loss[0] / 5 < np.median(lost) < 5 * error.r2_loss_95[1]


def test_fits_are_the_same_for_any_unit():
    """Standardised by what was found: other units change nothing but the rounding of ranges."""
    x, y = table(1500)
    plan = sums_plan(1500, UNIT, Fraction(2), True, "swap", None)
    middle, half = np.array([40.0, 120.0, 25.0]), np.array([60.0, 200.0, 200.0])
    cells = (np.column_stack([x, y]) - middle) / half
    found = fitted(Records(Table(cells), SWAP), plan, UNIT, rehearsed_charge(plan.guarantee, bytes(32)))
    columns = BoundedColumns(tuple(map(Fraction, middle - half)), tuple(map(Fraction, middle + half)))
    other = fitted(
        Records(Table(cells * half + middle), SWAP), plan, columns, rehearsed_charge(plan.guarantee, bytes(32))
    )
    assert np.allclose(in_units(found.coefficients(0), found, columns), in_units(other.coefficients(0), other, columns))


def test_simulated_fits_are_post_processing():
    """An interval is a function of what was released: it hashes, and reads no table."""
    x, y = table(500)
    release = td.regression(x, y, epsilon=1, confidence=0.95, randomness=td.seeded(1))
    assert release.calibration is not None
    assert release.calibration.compute is regression_by_sums.coefficient_interval
    hash(release.calibration.inputs)
