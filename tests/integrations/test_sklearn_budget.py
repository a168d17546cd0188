"""One budget, whatever scikit-learn does with an estimator: clones, folds, grids, threads, processes, ensembles."""

from __future__ import annotations

import copy
import pickle
import warnings
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import tukeydp as td
from tukeydp.integrations.sklearn import (
    PrivateLinearRegression,
    PrivateLocation,
    PrivateMean,
    PrivateStandardScaler,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 2))
Y = 1 + X @ [2.0, -3.0] + RNG.normal(size=300)
FOLDS, PAID = 5, 3  # a budget for three of five fits


def regression(account, kind=PrivateLinearRegression):
    return kind(epsilon=1, bounds=(-9, 9), blocks=20, accountant=account)


class OwnAccount:
    """An account that a user wrote: it knows nothing of copies, and copies keep lists of their own."""

    everything: list[Fraction]

    def __init__(self, epsilon):
        self.left, self.everything = Fraction(epsilon), []

    def require(self, guarantee):
        if guarantee.epsilon > self.left:
            raise td.BudgetExceeded("epsilon", "must be less", guarantee.epsilon)

    def spend(self, guarantee, **_):
        self.require(guarantee)
        self.left -= guarantee.epsilon
        self.everything.append(guarantee.epsilon)

    def __deepcopy__(self, memo):
        other = OwnAccount(self.left)
        other.everything = self.everything  # one list for the test's eyes, another budget
        return other


class Copied(PrivateLinearRegression):
    """The control: cloned as scikit-learn would."""

    __sklearn_clone__ = BaseEstimator.__sklearn_clone__


ESTIMATORS = {
    "mean": PrivateMean(epsilon="1/3", bounds=(-9, 9)),
    "mean without bounds": PrivateMean(epsilon="1/3", delta="1e-6"),
    "centre": PrivateLocation(epsilon="1/3", bounds=(-9, 9)),
    "centre without bounds": PrivateLocation(epsilon="1/3", delta="1e-6"),
    "scaler": PrivateStandardScaler(epsilon="1/3", bounds=(-9, 9), share="1/7"),
    "regression": PrivateLinearRegression(epsilon="1/3", bounds=(-9, 9), blocks=20),
    "regression without bounds": PrivateLinearRegression(epsilon="1/3", delta="1e-6", blocks=20),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_fit_pays_once_for_all_it_releases(name):
    account = td.Accountant(1, delta="1e-5", conversion=0)
    fitted = clone(ESTIMATORS[name]).set_params(accountant=account).fit(X, Y)
    (entry,) = account.history
    assert entry.guarantee == fitted.guarantee_ == fitted.release_.guarantee
    assert entry.guarantee.zcdp == fitted.guarantee_.zcdp
    assert account.totals.epsilon == Fraction(1, 3)
    assert fitted.release_.private


class Untouchable:
    """Shape and names may be asked for, cells may not."""

    shape, dtype = (300, 2), np.dtype(float)

    def __array__(self, *_, **__):
        raise AssertionError("the data were touched")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_does_not_fit_is_refused_before_a_cell_is_touched(name):
    account = td.Accountant("0.33", delta="1e-5", conversion=0)
    with pytest.raises(td.BudgetExceeded, match="epsilon must be at most"):
        clone(ESTIMATORS[name]).set_params(accountant=account).fit(Untouchable(), Y)
    assert account.history == ()


@pytest.mark.parametrize(
    "wrong",
    [
        PrivateMean(epsilon=1, bounds=(1, 0)),
        PrivateMean(epsilon=1),
        PrivateLocation(epsilon=1),
        PrivateLocation(epsilon=1, bounds=(-9, 9), delta=2),
        PrivateStandardScaler(epsilon=1),
        PrivateStandardScaler(epsilon=1, bounds=([0, 0, 0], 1)),
        PrivateStandardScaler(epsilon=1, bounds=(-9, iter((9, 9))), share="1/2"),  # empty for the second step
        PrivateStandardScaler(epsilon=1, bounds=(-9, 9), share=1),
        PrivateStandardScaler(epsilon="1/10", bounds=(-9, 9)),
        PrivateStandardScaler(epsilon=1, bounds=(-9, 9), mechanism="cube", neighbours="add-remove"),
        PrivateStandardScaler(epsilon=1, bounds=(-9, 9), pad_to=-1),
        PrivateLinearRegression(epsilon=1, bounds=(-9, 9)),
        PrivateLinearRegression(epsilon=1, bounds=(-9, 9), blocks=20, fit_intercept="yes"),
        PrivateMean(epsilon=1, bounds=(-9, 9), randomness=7),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_a_mistyped_parameter_costs_nothing(wrong):
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError):
        clone(wrong).set_params(accountant=account).fit(X, Y)
    assert account.history == ()


def test_clones_share_an_account_of_any_kind():
    for account in (td.Accountant(1), OwnAccount(1)):
        estimator = regression(account)
        pipeline = make_pipeline(PrivateStandardScaler(epsilon=1, bounds=(-9, 9), accountant=account), estimator)
        assert clone(estimator).accountant is account
        for other in (clone(pipeline), copy.deepcopy(pipeline)):
            assert all(step.accountant is account for _, step in other.steps)
            assert not any(step is old for (_, step), (_, old) in zip(other.steps, pipeline.steps, strict=True))


def test_a_clone_has_the_parameters_and_nothing_of_the_fit():
    fitted = PrivateStandardScaler(epsilon=9, bounds={"a": (-9, 9), "b": (-9, 9)}, accountant=td.Accountant(9))
    fitted.set_output(transform="pandas").fit(pd.DataFrame(X, columns=["a", "b"]))
    again = clone(fitted)
    assert not [name for name in vars(again) if name.endswith("_") and not name.startswith("_")]
    assert again.get_params() == fitted.get_params()
    assert again._sklearn_output_config == {"transform": "pandas"}
    assert fitted.accountant is not None
    assert hasattr(fitted, "mean_")


@pytest.mark.parametrize("kind", [td.Accountant, OwnAccount])
def test_cross_validation_stops_where_the_budget_ends(kind):
    account = kind(PAID)
    with pytest.raises(td.BudgetExceeded):
        cross_val_score(regression(account), X, Y, cv=FOLDS, error_score="raise")
    assert _spent(account) == PAID


def test_cross_validation_that_goes_on_has_no_score_where_nothing_was_paid():
    account = td.Accountant(PAID)
    with pytest.warns(FitFailedWarning, match=r"what the accountant has left; got 1\."):
        scores = cross_val_score(regression(account), X, Y, cv=FOLDS)
    assert np.isnan(scores).tolist() == [False] * PAID + [True] * (FOLDS - PAID)
    assert (account.totals.epsilon, len(account.history)) == (PAID, PAID)


def test_a_copied_budget_would_be_exceeded():
    """The control: where `clone` copies the account, every fold spends as if alone."""
    account = OwnAccount(PAID)
    scores = cross_val_score(regression(account, Copied), X, Y, cv=FOLDS, error_score="raise")
    assert len(scores) == FOLDS
    assert sum(account.everything) == FOLDS > PAID
    assert account.left == PAID  # and the account knows of nothing


def test_a_grid_search_pays_for_every_fit_and_the_last_one():
    account = td.Accountant(100)
    search = GridSearchCV(regression(account), {"epsilon": ["1/2", 2]}, cv=2).fit(X, Y)
    best = Fraction(search.best_params_["epsilon"])
    assert account.totals.epsilon == 2 * (Fraction(1, 2) + 2) + best
    assert search.best_estimator_.accountant is account


def test_threads_spend_from_one_account():
    account = td.Accountant(PAID)
    with joblib.parallel_config("threading", n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        scores = cross_val_score(regression(account), X, Y, cv=FOLDS)
    assert np.isnan(scores).sum() == FOLDS - PAID
    assert (account.totals.epsilon, len(account.history)) == (PAID, PAID)


@pytest.mark.parametrize("backend", ["multiprocessing", pytest.param("loky", marks=pytest.mark.slow)])
def test_processes_spend_from_one_ledger(tmp_path, backend):
    account = td.Accountant.open(tmp_path / "study.db", epsilon=PAID)
    with joblib.parallel_config(backend, n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        scores = cross_val_score(regression(account), X, Y, cv=FOLDS)
    assert np.isnan(scores).sum() == FOLDS - PAID
    assert (account.totals.epsilon, len(account.history)) == (PAID, PAID)


def test_an_account_in_memory_does_not_go_to_other_processes():
    account = td.Accountant(PAID)
    with (
        joblib.parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(TypeError, match=r"td\.Accountant\.open\("),
    ):
        cross_val_score(regression(account), X, Y, cv=FOLDS)
    assert account.history == ()


def test_a_fitted_estimator_is_saved_without_an_account_or_with_a_ledger(tmp_path):
    fitted = regression(td.Accountant(1)).fit(X, Y)
    with pytest.raises(TypeError, match="second budget"):
        pickle.dumps(fitted)
    saved = pickle.loads(pickle.dumps(copy.copy(fitted).set_params(accountant=None)))
    assert np.array_equal(saved.predict(X), fitted.predict(X))
    account = td.Accountant.open(tmp_path / "study.db", epsilon=1)
    again = pickle.loads(pickle.dumps(regression(account).fit(X, Y)))
    with pytest.raises(td.BudgetExceeded):
        again.fit(X, Y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_refused_fit_leaves_an_estimator_as_it_was(name):
    """The names of the refused table would let old coefficients be used for its columns, in silence."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    account = td.Accountant("1/3", delta="1e-6", conversion=0)
    fitted = clone(ESTIMATORS[name]).set_params(accountant=account).fit(frame, Y)
    before = dict(vars(fitted))
    for other in (frame[["b", "a"]], frame[["a"]], np.zeros((300, 3))):
        with pytest.raises(td.BudgetExceeded):
            fitted.fit(other, Y)
    assert {key: id(value) for key, value in vars(fitted).items()} == {key: id(v) for key, v in before.items()}
    never = clone(fitted)
    with pytest.raises(td.BudgetExceeded):
        never.fit(frame, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(never)


def test_ensembles_seed_no_randomness():
    """They seed every parameter called random_state."""
    account = td.Accountant(4)
    bag = BaggingRegressor(regression(account), n_estimators=4, bootstrap=False, random_state=0).fit(X, Y)
    assert all(part.release_.private for part in bag.estimators_)
    assert len({tuple(part.coef_) for part in bag.estimators_}) == 4
    assert account.totals.epsilon == 4


META = {
    "votes": (lambda part: VotingRegressor([("a", part), ("b", part)]), 2),
    "stacks": (lambda part: StackingRegressor([("a", part)], cv=3), 4),
    "features left out": (lambda part: RFE(part, n_features_to_select=1), 2),
    "a warm start": (lambda part: BaggingRegressor(part, n_estimators=2, warm_start=True), 2),
    "an account in the grid": (lambda part: GridSearchCV(part, {"accountant": [part.accountant]}, cv=2), 3),
}


@pytest.mark.parametrize("name", META)
def test_whatever_fits_an_estimator_pays_for_each_fit(name):
    make, fits = META[name]
    account = td.Accountant(9)
    whole = make(regression(account)).fit(X, Y)
    assert account.totals.epsilon == account.totals.count == fits
    if name == "a warm start":
        whole.set_params(n_estimators=5).fit(X, Y)
        assert account.totals.count == 5


def _spent(account):
    return account.totals.epsilon if isinstance(account, td.Accountant) else sum(account.everything)
