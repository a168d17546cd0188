"""Bounds that are found: one record moves the score by one, the whole costs epsilon, and every option goes with it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tukeydp as td
from tukeydp.mechanisms.found_bounds import (
    HIGHEST,
    LOWEST,
    SPANS,
    asks_for_bounds,
    ends_of,
    known_bounds,
    share_for_bounds,
    window_weights,
    windows,
)
from tukeydp.trusted.steps import OutsideCounts

CELLS = (np.nan, 0.0, 1e-3, -1e-3, 5.0, -7.0, 1e9, np.inf)


def outside(row):
    kernel = OutsideCounts(len(row), tuple(range(len(row))), windows())
    return np.array(kernel(np.array([row]), (0,)), dtype=np.int64).reshape(len(row), -1)


def test_a_record_adds_nothing_or_one_to_every_window_of_every_column():
    """So the most over columns moves by 0 or 1 when it comes or goes: the range of the change is 1, or 2 for a swap."""
    seen = set()
    for row in itertools.product(CELLS, repeat=2):
        added = outside(row)
        assert added.min() >= 0
        assert added.max() <= 1
        seen |= set(added.flat)
        for j, cell in enumerate(row):
            if np.isnan(cell) or cell == 0:
                assert not added[j].any()
    assert seen == {0, 1}  # the control: some record is outside of some window


def test_windows_cover_all_sizes_and_weigh_least_far_from_usual_ones():
    assert len(windows()) == len(window_weights()) == 2 * (HIGHEST - LOWEST + 1) * len(SPANS)
    assert min(window_weights()) >= 1
    assert window_weights()[windows().index((2.0**-2, 2.0, True))] == max(window_weights())
    for size in (2.0**LOWEST, 1.0, 37.0, 2.0**HIGHEST):
        assert any(low < size <= high for low, high, _ in windows())
    place = windows().index((2.0**4, 2.0**7, True))
    assert ends_of(place, 2) == (0, 256)
    assert ends_of(place + 1, 4) == (-512, 512)
    wider = windows().index((2.0**2, 2.0**7, True))
    assert window_weights()[wider] < window_weights()[place]
    assert (ends_of(wider, 4), ends_of(wider, 2)) == ((0, 256), (0, 128))


def test_a_column_of_many_magnitudes_does_not_let_the_others_go_astray():
    """Only the column with the most values outside counts: with narrow windows alone one that has more values outside
    any of them than another has at all leaves that other column's window to chance."""
    rng = np.random.default_rng(3)
    table = np.column_stack([np.exp(rng.normal(2, 1.5, 20_000)), rng.random(20_000) < 0.17])
    counts = OutsideCounts(2, (0,), tuple(one for one in windows() if one[1] == 8 * one[0]))(table, (0,))
    assert min(counts) > table[:, 1].sum()  # the control: so it is here
    for seed in range(25):
        _, upper = td.cube(table, epsilon=1, bounds="auto", check=False, randomness=td.seeded(seed)).bounds[1]
        assert upper >= 1


def test_the_share_follows_from_public_numbers_and_never_takes_more_than_half():
    shares = [share_for_bounds(d, n, Fraction(1), "swap") for d, n in ((1, 10**6), (3, 1000), (3, 10), (40, 100))]
    assert shares[0] == Fraction(1, 50) < shares[1] < shares[2] == shares[3] == Fraction(1, 2)
    assert share_for_bounds(3, 1000, Fraction(1), "add-remove") < shares[1]
    assert share_for_bounds(3, None, Fraction(1), "add-remove") == Fraction(1, 10)


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(5)
    n = 2000
    measured = {"age": rng.normal(60, 12, n), "crp": rng.lognormal(1, 0.7, n), "income": rng.lognormal(10, 0.5, n)}
    return pd.DataFrame(measured | {"arm": rng.choice(["A", "B"], n), "patient": rng.integers(0, 1500, n)})


MEASURED = ["age", "crp", "income"]


@pytest.mark.parametrize("given", ["auto", {"age": None, "crp": None, "income": None}])
def test_means_are_found_without_bounds_and_cost_epsilon(visits, given):
    account = td.Accountant(1)
    x = visits[MEASURED]
    release = td.mean(x, epsilon=1, bounds=given, check=False, accountant=account, randomness=td.seeded(1))
    assert (np.abs(release.point - x.mean()) < 0.2 * x.std()).all()
    assert release.guarantee == td.PureDP(1)
    assert account.remaining().epsilon == 0
    assert sum(v for k, v in release.settings.items() if k.startswith("epsilon_")) == 1
    assert release.bounds is not None
    assert any("bounds of the columns were found" in note for note in release.caveats)


def test_some_bounds_are_known_and_the_others_found(visits):
    bounds = {"age": (18, 100), "crp": None, "income": None, "another": (0, 1)}
    release = td.mean(visits[MEASURED], epsilon=1, bounds=bounds, check=False, randomness=td.seeded(1))
    lower, upper = release.bounds
    assert (lower[0], upper[0]) == (18, 100)
    assert upper[1] >= 8
    assert any("bounds of crp, income were found" in note for note in release.caveats)


def test_every_option_goes_with_it(visits):
    given = {"bounds": "auto", "by": "arm", "keys": ["A", "B"], "confidence": 0.95, "randomness": td.seeded(3)}
    found = td.mean(visits, epsilon=4, person="patient", neighbours="add-remove", rows=1500, **given)
    assert found.guarantee.epsilon == 4
    for arm in "AB":
        truth = visits[visits.arm == arm][MEASURED].mean()
        assert (np.abs(found[arm].point - truth) < visits[MEASURED].std()).all()
        assert found[arm].interval.shape == (3, 2)


def test_a_lazy_frame_has_the_same_release(visits):
    given = {"epsilon": 2, "bounds": "auto", "confidence": 0.95, "check": False}
    held = td.mean(visits[MEASURED], **given, randomness=td.seeded(4))
    streamed = td.mean(pl.from_pandas(visits[MEASURED]).lazy(), **{**given, "check": None}, randomness=td.seeded(4))
    assert (held.point == streamed.point).all()
    assert held.bounds == streamed.bounds


@pytest.mark.parametrize(
    ("function", "given"), [(td.cube, {}), (td.spread, {}), (td.boxem, {}), (td.quantiles, {"q": [0.5]})]
)
def test_whatever_takes_bounds_has_them_found(visits, function, given):
    account = td.Accountant(1)
    found = function(visits[MEASURED], epsilon=1, bounds="auto", accountant=account, randomness=td.seeded(1), **given)
    assert found.guarantee.epsilon == 1
    assert account.remaining().epsilon == 0


@pytest.mark.parametrize("cells", [np.zeros((200, 2)), np.full((3, 2), np.nan), np.full((50, 1), np.inf)])
def test_whatever_the_cells_are_there_is_a_release(cells):
    release = td.mean(cells, epsilon=1, bounds="auto", randomness=td.seeded(1))
    assert np.isfinite(release.point).all()


def test_a_public_deviation_never_fails_by_what_was_found(visits):
    tiny = visits[["crp"]] / 1e9
    release = td.mean(tiny, epsilon=1, bounds="auto", sd=100, check=False, randomness=td.seeded(1))
    assert release.released


@pytest.mark.parametrize(("function", "given"), [(td.boxem, {}), (td.quantiles, {"q": [0.5]})])
def test_a_public_step_never_fails_by_what_was_found(visits, function, given):
    tiny = visits[["crp"]] / 1e9
    asked = {"epsilon": 1, "bounds": "auto", "resolution": 100, "check": False, "randomness": td.seeded(1)}
    account = td.Accountant(1)
    assert function(tiny, **asked, **given, accountant=account).guarantee.epsilon == 1
    with pytest.raises(td.ParameterError, match="resolution must be > 0"):
        function(tiny, **{**asked, "resolution": 0}, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bounds": "automatic"}, r"bounds must be \(lower, upper\), a dict, or 'auto' to find them; got 'automatic'"),
        ({"bounds": "auto", "delta": 1e-6}, r"delta must be left out with bounds='auto', which needs none"),
        ({"bounds": "auto", "sd": 0}, "sd must be > 0; got 0"),
        ({"bounds": "auto", "mechanism": "median"}, "mechanism must be auto, subset"),
        ({"bounds": "auto", "confidence": 2}, "confidence must be from"),
        ({"bounds": "auto", "blocks": 10**6}, "blocks must be"),
        ({"bounds": {"age": None}}, "bounds must name all columns; got none for 'crp'"),
    ],
)
def test_wrong_parameters_are_named_and_cost_nothing(visits, given, words):
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match=words):
        td.mean(visits[MEASURED], epsilon=1, accountant=account, check=False, **given)
    assert account.remaining().epsilon == 1


def test_persons_of_an_engine_need_bounds(visits):
    frame = pl.from_pandas(visits[["crp", "patient"]]).lazy()
    with pytest.raises(td.ParameterError, match="bounds must be given for persons of a lazy frame"):
        td.mean(frame, epsilon=1, bounds="auto", person="patient")


def test_bounds_are_asked_for_by_a_word_or_by_none():
    assert asks_for_bounds("auto")
    assert asks_for_bounds({"a": None, "b": (0, 1)})
    assert not asks_for_bounds({"a": (0, 1)})
    assert not asks_for_bounds((0, 1))
    assert known_bounds({"a": None, "b": (0, 1)}, 2, ("a", "b")) == ([None, (0, 1)], [0])
