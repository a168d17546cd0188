"""Where a table lies: the mean of its columns, or the centre of its rows."""

from __future__ import annotations

from typing import Any, Self

from tukeydp.integrations.sklearn.base import PrivateEstimator
from tukeydp.mechanisms.boxem import boxem
from tukeydp.mechanisms.mean import mean
from tukeydp.mechanisms.rem import rem
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.parameters import FloatArray, ParameterError


class PrivateMean(PrivateEstimator):
    """The **mean** of each column, by `td.mean`.

    Parameters
    ----------
    epsilon, bounds, delta, mechanism, blocks, partitions, sd, confidence, joint, neighbours, rows, pad_to, randomness
        As for `td.mean`; bounds and sd also as a dict by the columns' names. One row per person: for several,
        and for groups, use `td.mean` itself.
    accountant
        None, or a `td.Accountant`. Clones share it: each fit of a cross-validation or a grid search pays in full, since
        the rows that folds train on overlap, and the fit that it cannot pay for raises `td.BudgetExceeded`.

    Attributes
    ----------
    location_
        The released means, one float per column; None if the run refused.
    release_, guarantee_, released_
        The outcome of `td.mean`, what it has cost, and whether there is a point. Only a run without bounds can refuse:
        `fit` then returns as usual, `location_` is None, and the budget is spent. With a `confidence`,
        `release_.interval` is a nominal confidence interval; its coverage is empirical (`td.mean`).
    n_features_in_, feature_names_in_
        Of the table; names only where all of them are texts.

    Notes
    -----
    Privacy: that of `td.mean`, for `location_` and everything in `release_`. What else is computed from the rows is not
    covered.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> from tukeydp.integrations.sklearn import PrivateMean
    >>> x = np.random.default_rng(1).exponential(30, size=(3000, 2))
    >>> fitted = PrivateMean(epsilon=1, bounds=(0, 1000), randomness=td.seeded(7)).fit(x)
    >>> bool(np.abs(fitted.location_ - x.mean(axis=0)).max() < 2), print(fitted.guarantee_)
    epsilon = 1 (pure differential privacy, one row swapped)
    (True, None)
    """

    location_: FloatArray | None

    def __init__(
        self,
        *,
        epsilon: Any,
        bounds: Any = None,
        delta: Any = None,
        mechanism: str = "auto",
        blocks: Any = None,
        partitions: Any = None,
        sd: Any = None,
        confidence: Any = None,
        joint: bool = False,
        neighbours: str = "swap",
        rows: Any = None,
        accountant: Any = None,
        pad_to: Any = None,
        randomness: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.delta = delta
        self.mechanism = mechanism
        self.blocks = blocks
        self.partitions = partitions
        self.sd = sd
        self.confidence = confidence
        self.joint = joint
        self.neighbours = neighbours
        self.rows = rows
        self.accountant = accountant
        self.pad_to = pad_to
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the means of `X`; `y` is ignored. Spends, also when called again."""
        asked = self.get_params(deep=False) | self._paying()
        with self._all_or_nothing():
            outcome = mean(self._fitting(X), **asked)
            self._keep(outcome)
            self.location_ = outcome.point
        return self


class PrivateLocation(PrivateEstimator):
    """The **centre** of the rows, a robust multivariate median: by `td.boxem` with bounds, by `td.rem` without.

    Parameters
    ----------
    epsilon, bounds, depth, resolution, neighbours, rows, pad_to, randomness
        As for `td.boxem` and `td.rem`; bounds also as a dict by the columns' names.
    delta
        For runs without bounds, which may refuse; with bounds none is used.
    accountant
        As for `PrivateMean`.

    Attributes
    ----------
    location_
        The released centre, one float per column; None if the run refused.
    release_, guarantee_, released_
        The outcome, what it has cost, and whether there is a point. A refusal of `td.rem` has spent its budget.
    n_features_in_, feature_names_in_
        Of the table; names only where all of them are texts.

    Notes
    -----
    Privacy: that of `td.boxem` or `td.rem`, for `location_` and everything in `release_`.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> from tukeydp.integrations.sklearn import PrivateLocation
    >>> x = np.random.default_rng(1).normal(loc=[5, 100], scale=[1, 20], size=(500, 2))
    >>> fitted = PrivateLocation(epsilon=1, delta=1e-6, randomness=td.seeded(7)).fit(x)
    >>> fitted.released_, bool((np.abs(fitted.location_ - [5, 100]) < [0.5, 10]).all())
    (True, True)
    >>> print(PrivateLocation(epsilon=1, delta=1e-6, randomness=td.seeded(7)).fit(x[:40]).location_)
    None
    """

    location_: FloatArray | None

    def __init__(
        self,
        *,
        epsilon: Any,
        bounds: Any = None,
        delta: Any = None,
        depth: Any = None,
        resolution: Any = None,
        neighbours: str = "swap",
        rows: Any = None,
        accountant: Any = None,
        pad_to: Any = None,
        randomness: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.delta = delta
        self.depth = depth
        self.resolution = resolution
        self.neighbours = neighbours
        self.rows = rows
        self.accountant = accountant
        self.pad_to = pad_to
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the centre of `X`; `y` is ignored. Spends, also when called again."""
        if self.delta is not None:
            ApproxDP(self.epsilon, self.delta)  # checks it, also where bounds make it unnecessary
        elif self.bounds is None:
            rule = "must be given: bounds=(lower, upper), what is known of the columns without looking, or delta="
            raise ParameterError("bounds", rule, "neither")
        with self._all_or_nothing():
            outcome = self._released(X)
            self._keep(outcome)
            self.location_ = outcome.point
        return self

    def _released(self, x: Any) -> Release | Refused:
        asked = self.get_params(deep=False) | self._paying()
        delta, bounds = asked.pop("delta"), asked.pop("bounds")
        if asked["resolution"] is None:
            del asked["resolution"]
        x = self._fitting(x)
        return rem(x, delta=delta, **asked) if bounds is None else boxem(x, bounds=bounds, **asked)
