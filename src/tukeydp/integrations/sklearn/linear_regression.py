"""Linear regression with released coefficients."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import DataConversionWarning

from tukeydp.integrations.sklearn.base import PrivateEstimator
from tukeydp.integrations.sklearn.schema import shape_of
from tukeydp.mechanisms.regression import regression
from tukeydp.trusted.parameters import FloatArray, ParameterError


class PrivateLinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Least squares with private coefficients, by `td.regression`.

    Parameters
    ----------
    epsilon, ranges, target_range, confidence, joint, bounds, delta, blocks, partitions, depth, resolution, pad_to
        As for `td.regression`, and so is `randomness`. `ranges` and `target_range`, where values are to be expected,
        are worth giving. `bounds` are those of the *coefficients*; dicts go by "intercept" and the columns' names.
    fit_intercept
        Whether there is a constant.
    accountant
        As for `PrivateMean`.

    Attributes
    ----------
    coef_, intercept_
        The released coefficients; None if the run refused. `intercept_` is 0 without a constant.
    release_, guarantee_, released_
        The outcome of `td.regression`, what it has cost, and whether there are coefficients. Only a run with a delta
        can refuse: `fit` then returns as usual, the budget is spent, and `predict` raises `NothingReleased`.
    n_features_in_, feature_names_in_
        Of the table; names only where all of them are texts.

    Notes
    -----
    Privacy: that of `td.regression`, for the coefficients, everything in `release_`, and predictions for rows that are
    nobody's or public. `score` reads the rows that it is given, and **is not private**: nor is the score of a
    cross-validation.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> from tukeydp.integrations.sklearn import PrivateLinearRegression
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(3000, 2))
    >>> y = 1 + x @ [2, -3] + rng.normal(size=3000)
    >>> fitted = PrivateLinearRegression(epsilon=1, randomness=td.seeded(7)).fit(x, y)
    >>> bool(np.abs(fitted.coef_ - [2, -3]).max() < 0.2), bool(abs(fitted.predict([[0, 0]])[0] - 1) < 0.2)
    (True, True)
    """

    coef_: FloatArray | None
    intercept_: float | None

    def __init__(
        self,
        *,
        epsilon: Any,
        bounds: Any = None,
        delta: Any = None,
        blocks: Any = None,
        partitions: Any = None,
        fit_intercept: bool = True,
        ranges: Any = None,
        target_range: Any = None,
        confidence: Any = None,
        joint: bool = False,
        depth: Any = None,
        resolution: Any = None,
        accountant: Any = None,
        pad_to: Any = None,
        randomness: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.delta = delta
        self.blocks = blocks
        self.partitions = partitions
        self.fit_intercept = fit_intercept
        self.ranges = ranges
        self.target_range = target_range
        self.confidence = confidence
        self.joint = joint
        self.depth = depth
        self.resolution = resolution
        self.accountant = accountant
        self.pad_to = pad_to
        self.randomness = randomness

    def fit(self, X: Any, y: Any) -> Self:
        """Release the coefficients of `y` on `X`. Spends, also when called again."""
        asked = self.get_params(deep=False) | self._paying()
        intercept = asked.pop("fit_intercept")
        with self._all_or_nothing():
            self._fitting(X, y)
            outcome = regression(X, _answers(y), intercept=intercept, **asked)
            self._keep(outcome)
            if outcome.point is None:
                self.coef_ = self.intercept_ = None
            else:
                self.coef_ = outcome.point[intercept:]
                self.intercept_ = float(outcome.point[0]) if intercept else 0.0
        return self

    def predict(self, X: Any) -> FloatArray:
        """Answers for the rows of `X`; missing where a cell is."""
        cells = self._cells(X)
        if self.coef_ is None or self.intercept_ is None:
            raise self._nothing_released()
        with np.errstate(all="ignore"):  # no cell may warn
            return np.asarray(cells @ self.coef_ + self.intercept_)


def _answers(y: Any) -> Any:
    """One answer for each row; a column is taken as scikit-learn takes it, with its warning."""
    if isinstance(y, str):
        raise ParameterError("y", "must be an array of n answers", "a text")
    shape = shape_of(y)
    if shape is not None and shape[1:] == (1,):
        text = "A column-vector y was passed when a 1d array was expected."
        warnings.warn(text, DataConversionWarning, stacklevel=3)
    return y
