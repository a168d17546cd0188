"""What the estimators release, how they sit in pipelines, what a refusal leaves, and that no cell shows."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import tukeydp as td
from support.leaks import OBJECTS as OBJECT_ROWS
from support.leaks import ROWS, holds_cell, neighbour, neighbour_of_objects, public_part, table, watched
from tukeydp.integrations.sklearn import (
    NothingReleased,
    PrivateLinearRegression,
    PrivateLocation,
    PrivateMean,
    PrivateStandardScaler,
)

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({"age": RNG.normal(50, 12, 600), "weight": RNG.normal(75, 9, 600)}, index=range(100, 700))
BOUNDS = {"weight": (30, 150), "age": (0, 120)}
Y = 60 + 0.7 * FRAME["age"] + 0.4 * FRAME["weight"] + RNG.normal(0, 5, 600)


def seeded():
    return td.seeded(7)


def test_estimators_release_what_the_functions_do():
    given = {"epsilon": 2, "bounds": BOUNDS}
    mean = PrivateMean(**given, confidence=0.9, sd={"age": 12, "weight": 9}, randomness=seeded()).fit(FRAME)
    other = td.mean(FRAME, check=False, **given, confidence=0.9, sd={"age": 12, "weight": 9}, randomness=seeded())
    assert np.array_equal(mean.location_, other.point)
    assert mean.release_.to_dict(verbose=False) == other.to_dict(verbose=False)
    centre = PrivateLocation(**given, depth=td.AxisAligned(), resolution=1, randomness=seeded()).fit(FRAME)
    other = td.boxem(FRAME, check=False, **given, depth=td.AxisAligned(), resolution=1, randomness=seeded())
    assert np.array_equal(centre.location_, other.point)
    free = PrivateLocation(epsilon=2, delta="1e-6", randomness=seeded()).fit(FRAME)
    assert np.array_equal(
        free.location_, td.rem(FRAME, check=False, epsilon=2, delta="1e-6", randomness=seeded()).point
    )
    asked = {"epsilon": 2, "bounds": (-2, 2), "ranges": BOUNDS, "target_range": (80, 200), "blocks": 60}
    fitted = PrivateLinearRegression(**asked, randomness=seeded()).fit(FRAME, Y)
    other = td.regression(FRAME, Y, check=False, **asked, randomness=seeded())
    assert [fitted.intercept_, *fitted.coef_] == other.point.tolist()
    assert fitted.release_.columns == ("intercept", "age", "weight")
    assert fitted.feature_names_in_.tolist() == ["age", "weight"]
    assert (fitted.n_features_in_, fitted.released_, fitted.guarantee_) == (2, True, td.PureDP(2))


def test_the_scaler_releases_means_and_deviations_by_shares_of_epsilon():
    scaler = PrivateStandardScaler(epsilon=4, bounds=BOUNDS, randomness=seeded()).fit(FRAME)
    source = seeded()
    mean = td.mean(FRAME, check=False, epsilon=3, bounds=BOUNDS, randomness=source)
    spread = td.spread(FRAME, check=False, epsilon=1, bounds=BOUNDS, randomness=source)
    assert np.array_equal(scaler.mean_, mean.point)
    assert np.array_equal(scaler.spread_, spread.point)
    assert np.array_equal(scaler.scale_, scaler.spread_)
    assert scaler.location_ is scaler.mean_
    assert scaler.guarantee_ == scaler.release_.guarantee == td.PureDP(4)
    assert (scaler.release_.settings["epsilon_for_mean"], scaler.release_.settings["epsilon_for_spread"]) == (3, 1)
    assert {*mean.notes, *spread.notes} == {*scaler.release_.notes}


@pytest.mark.parametrize(("rows", "share"), [(700, "1/4"), (500, "1/3"), (310, "1/2")])
def test_the_share_for_deviations_is_the_least_that_the_rows_suffice_for(rows, share):
    x = np.zeros((rows, 2))
    scaler = PrivateStandardScaler(epsilon=1, bounds=(-1, 1)).fit(x)
    assert str(scaler.release_.settings["epsilon_for_spread"]) == share


def test_too_few_rows_for_deviations_are_refused_by_public_numbers_and_the_number_is_right():
    x, account = np.zeros((304, 2)), td.Accountant(2)
    scaler = PrivateStandardScaler(epsilon=1, bounds=(-1, 1), accountant=account)
    with pytest.raises(td.ParameterError, match="at least 304 rows for the standard deviations of 2 columns at eps"):
        scaler.fit(x[:303])
    assert account.history == ()
    scaler.fit(x)
    scaler.set_params(share=0.5).fit(x[:20])  # whoever gives a share has been told
    secret = scaler.set_params(share=None, neighbours="add-remove", accountant=None)
    with pytest.raises(td.ParameterError, match="got 300 rows"):  # the declared number, whatever the true one
        secret.set_params(rows=300).fit(x)
    assert secret.set_params(rows=310).fit(x[:20]).release_.n is None


def test_columns_of_equal_values_are_divided_by_no_less_than_was_said():
    frame = FRAME.assign(age=40.0)
    given = {"epsilon": 8, "bounds": BOUNDS, "randomness": seeded()}
    loose = PrivateStandardScaler(**given).fit(frame)
    assert loose.scale_[0] == loose.spread_[0] < 0.1  # the control: noise, and columns blown up by it
    firm = PrivateStandardScaler(**given, least_scale={"weight": 2, "age": 1}).fit(frame)
    assert np.array_equal(firm.spread_, loose.spread_)
    assert firm.scale_.tolist() == [1, firm.spread_[1]]
    assert PrivateStandardScaler(**given, least_scale=100).fit(frame).scale_.tolist() == [100, 100]
    account = td.Accountant(8)
    for wrong in (0, -1, [1, 2, 3], {"age": 1}, "much"):
        with pytest.raises(td.ParameterError, match="least_scale must"):
            PrivateStandardScaler(**given, accountant=account, least_scale=wrong).fit(frame)
    assert account.history == ()


def test_pipelines_with_frames_keep_names_and_index():
    pipeline = make_pipeline(
        PrivateStandardScaler(epsilon=4, bounds=BOUNDS, randomness=seeded()),
        PrivateLinearRegression(epsilon=4, bounds=(-300, 300), randomness=seeded()),
    ).set_output(transform="pandas")
    pipeline.fit(FRAME, Y)
    scaled = pipeline[0].transform(FRAME)
    assert scaled.index.equals(FRAME.index)
    assert scaled.columns.tolist() == pipeline[0].get_feature_names_out().tolist() == ["age", "weight"]
    assert pipeline[1].feature_names_in_.tolist() == ["age", "weight"]
    assert pipeline.score(FRAME, Y) > 0.5
    back = pipeline[0].inverse_transform(scaled)
    assert np.allclose(back, FRAME, rtol=1e-12)
    with pytest.raises(td.ParameterError, match="must have 2 columns; got 1"):
        pipeline[0].inverse_transform(back[:, :1])


def test_bounds_by_name_follow_the_columns_that_a_transformer_hands_on():
    wide = FRAME.assign(sex=RNG.integers(0, 2, 600))
    columns = ColumnTransformer(
        [("scaled", PrivateStandardScaler(epsilon=4, bounds=BOUNDS, randomness=seeded()), ["weight", "age"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    out = columns.fit_transform(wide)
    assert out.columns.tolist() == ["weight", "age", "sex"]
    assert np.allclose(columns.named_transformers_["scaled"].mean_, [75, 50], atol=3)


@pytest.mark.parametrize(
    "kind", [pl.DataFrame, lambda frame: frame.to_numpy(), lambda frame: frame.to_numpy().tolist()]
)
def test_tables_of_every_kind_give_the_same_release(kind):
    given = {"epsilon": 1, "bounds": ([0, 30], [120, 150])}
    fitted = PrivateMean(**given, randomness=seeded()).fit(kind(FRAME.reset_index(drop=True)))
    assert np.array_equal(fitted.location_, PrivateMean(**given, randomness=seeded()).fit(FRAME).location_)


def test_a_refusal_leaves_an_estimator_that_says_so():
    account = td.Accountant(2, delta="1e-5", conversion=0)
    given = {"epsilon": 1, "delta": "1e-6", "accountant": account, "randomness": seeded()}
    centre = PrivateLocation(**given).fit(FRAME[:30])
    assert (centre.released_, centre.location_, centre.guarantee_) == (False, None, td.ApproxDP(1, "1e-6"))
    check_is_fitted(centre)
    model = PrivateLinearRegression(**given, blocks=5).fit(FRAME[:30], Y[:30])
    assert (model.released_, model.coef_, model.intercept_) == (False, None, None)
    with pytest.raises(NothingReleased, match="refused, and has spent its budget") as caught:
        model.predict(FRAME)
    assert isinstance(caught.value, NotFittedError)
    assert account.totals.epsilon == 2


def test_without_a_constant_and_with_answers_as_a_column():
    given = {"epsilon": 9, "bounds": (-9, 9), "blocks": 20, "randomness": seeded()}
    model = PrivateLinearRegression(**given, fit_intercept=False)
    model.fit(FRAME, Y)
    assert (model.intercept_, len(model.coef_)) == (0.0, 2)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        again = PrivateLinearRegression(**given, fit_intercept=False).fit(FRAME, Y.to_frame())
    assert np.array_equal(again.coef_, model.coef_)
    for wrong in (Y[:5], np.column_stack([Y, Y]), "age"):
        with pytest.raises(td.ParameterError, match=r"^y must"):
            model.fit(FRAME, wrong)


def test_folds_are_cut_by_the_number_of_rows_alone():
    """A classifier would be given folds by class: one other row then changes which rows are fitted."""
    for estimator in WAYS.values():
        assert type(check_cv(3, np.repeat([0, 1], 300), classifier=is_classifier(estimator))) is KFold


def test_a_secret_number_of_rows_stays_secret():
    given = {"epsilon": 1, "bounds": (-9, 9), "neighbours": "add-remove", "rows": 300}
    for kind in (PrivateMean, PrivateLocation, PrivateStandardScaler):
        fitted = kind(**given, **({"share": 0.5} if kind is PrivateStandardScaler else {})).fit(np.empty((0, 2)))
        if kind is PrivateStandardScaler:
            assert fitted.transform(np.empty((0, 2))).shape == (0, 2)
        assert fitted.release_.n is None
        assert fitted.guarantee_.neighbours == "add-remove"
        with pytest.raises(td.ParameterError) as caught:
            kind(**given).fit(np.empty((4711, 0)))
        assert "4711" not in str(caught.value)
        texts = set()
        for rows in ([], [[1.0, 2.0]], [[1.0, 2.0]] * 4711):
            with pytest.raises(td.ParameterError, match="X must be an array or a table") as caught:
                kind(**given).fit(rows)
            texts.add(str(caught.value))
        assert len(texts) == 1


BOXED = {"epsilon": 8, "bounds": (-10, 10)}
WAYS = {
    "mean": PrivateMean(**BOXED),
    "centre": PrivateLocation(**BOXED),
    "centre without bounds": PrivateLocation(epsilon=8, delta="1e-6"),
    "scaler": PrivateStandardScaler(**BOXED),
    "regression": PrivateLinearRegression(**BOXED, blocks=40),
}


def fit_and_use(name, x):
    """Fit the first column, or all; then look at the same rows through what was fitted."""
    estimator = WAYS[name].set_params(randomness=td.seeded(5))
    if name == "regression":
        first, last = ([row[:1] for row in x], [row[-1] for row in x]) if isinstance(x, list) else (x[:, :1], x[:, -1])
        estimator.fit(first, last).predict(first)
    else:
        estimator.fit(x)
    if name == "scaler":
        estimator.inverse_transform(estimator.transform(x))
    return estimator.release_


@pytest.mark.parametrize("name", WAYS)
def test_no_cell_raises_warns_or_shows(name):
    expected = public_part(watched(lambda: fit_and_use(name, table())).outcome)
    tables = {row: neighbour(cells) for row, cells in ROWS.items()}
    tables |= {row: neighbour_of_objects(cells) for row, cells in OBJECT_ROWS.items()}
    for row, x in tables.items():
        shown = watched(lambda x=x: fit_and_use(name, x))
        assert (shown.error, shown.silent) == (None, True), (row, shown)
        assert public_part(shown.outcome) == expected, row


@pytest.mark.parametrize("name", WAYS)
def test_a_fitted_estimator_holds_no_cell(name):
    x = neighbour(ROWS["a plain row"])
    fit_and_use(name, x)
    assert not holds_cell(WAYS[name], x[0, 0])
    for shown in (repr(WAYS[name]), WAYS[name]._repr_html_()):  # scikit-learn's page shows what was fitted, too
        assert type(WAYS[name]).__name__ in shown
        assert str(x[0, 0])[:6] not in shown
    assert holds_cell([WAYS[name], x], x[0, 0])  # the search can find one


class Quoting:
    """What some classes do when they cannot become an array."""

    def __array__(self, *_, **__):
        raise ValueError("secret-4711")


@pytest.mark.parametrize(
    "x", [Quoting(), {"a": [4711]}, pl.LazyFrame({"a": [4711]}), "4711", [4711.0], None], ids=lambda x: type(x).__name__
)
def test_what_is_no_table_is_refused_without_a_quotation(x):
    account = td.Accountant(9)
    for estimator in (PrivateMean(**BOXED, accountant=account), PrivateStandardScaler(**BOXED, accountant=account)):
        with pytest.raises(td.ParameterError, match=r"^X must") as caught:
            estimator.fit(x)
        assert "4711" not in str(caught.value)
    assert account.history == ()


def test_scikit_learns_own_validation_would_show_a_cell():
    """The control: why it is not used."""
    x = np.array(neighbour_of_objects(OBJECT_ROWS["text"]), dtype=object)
    with pytest.raises(ValueError, match="secret-4711"):
        LinearRegression().fit(x, np.zeros(len(x)))


def test_without_scikit_learn_the_way_to_it_is_named(monkeypatch):
    name = "tukeydp.integrations.sklearn"
    for module in [module for module in sys.modules if module.startswith(name)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sklearn.utils.validation", None)
    with pytest.raises(ImportError, match=r'needs scikit-learn 1\.6 or later: pip install "tukeydp\[sklearn\]"'):
        importlib.import_module(name)
