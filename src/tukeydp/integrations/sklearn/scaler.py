"""Columns brought to mean 0 and standard deviation 1 by released numbers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tukeydp.data.relation import MOST_ROWS_DECLARED, checked_relation
from tukeydp.integrations.sklearn.base import PrivateEstimator
from tukeydp.integrations.sklearn.schema import require_schema, table_of
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.mean import mean
from tukeydp.mechanisms.spread import spread
from tukeydp.mechanisms.spread_step import spread_plan
from tukeydp.padding import paced
from tukeydp.results.release import Release
from tukeydp.spending import Together, require_room
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, rational, show
from tukeydp.trusted.rows import per_column

# Between bounds that are hardly apart a released deviation may be too small for a float, and 0.
_SMALLEST = 1e-300
# Shares of epsilon for the standard deviations: the first that the rows suffice for. Where they do not, a deviation is
# anything between 2^-30 of the bounds' width and all of it. Less than a quarter reads skewed columns lower and saves
# the means nothing that could be measured (exponential columns, 2000 x 3, epsilon 1: off by 0.5 of a deviation at 3/20,
# by 0.25 at 1/4; means off by 0.02 at either).
_SHARES = (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2))


class PrivateStandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Subtract a private **mean** and divide by a private standard deviation, column by column.

    Parameters
    ----------
    epsilon
        For means and standard deviations together, paid in one entry.
    bounds
        (lower, upper), scalars or one per column, or a dict by the columns' names: what is known without looking.
    share
        Share of epsilon that goes to the standard deviations (`td.spread`); the rest goes to the means (`td.mean`).
        None: 1/4, or 1/3 or 1/2 where the rows are too few for less. Fewer than suffice for 1/2 are refused before
        anything is spent: some 120 + 95 d rows for d columns at epsilon 1, and in proportion to 1/epsilon. A
        share that is given is taken, however few there are.
    least_scale
        The least that columns are divided by, known without the data: one for all, one for each, or a dict by name. For
        columns that may hold equal values, or nearly: they have no spread to find, and what is released is noise
        between 2^-30 of the bounds' width and all of it.
    mechanism, neighbours, rows, pad_to, randomness
        As for `td.mean`.
    accountant
        As for `PrivateMean`.

    Attributes
    ----------
    mean_, location_
        The released means: two names for the same.
    spread_
        The released standard deviations.
    scale_
        What columns are divided by: `spread_`, or `least_scale` where that is larger.
    release_, guarantee_, released_
        The means' outcome of `td.mean`, with the guarantee of means and standard deviations together. A run with bounds
        never refuses.
    n_features_in_, feature_names_in_
        Of the table; names only where all of them are texts.

    Notes
    -----
    Privacy: pure epsilon-DP for `mean_`, `spread_` and everything in `release_`: two releases on the same rows add up
    (docs/proofs/composition.md, section 3). The transformed rows are as secret as before.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> from tukeydp.integrations.sklearn import PrivateStandardScaler
    >>> x = np.random.default_rng(1).normal([50, 3], [12, 0.5], size=(3000, 2))
    >>> scaler = PrivateStandardScaler(epsilon=1, bounds=([0, 0], [120, 10]), randomness=td.seeded(7))
    >>> scaled = scaler.fit_transform(x)
    >>> bool(np.abs(scaled.mean(axis=0)).max() < 0.2), bool(np.abs(scaled.std(axis=0) - 1).max() < 0.3)
    (True, True)
    """

    mean_: FloatArray
    location_: FloatArray
    spread_: FloatArray
    scale_: FloatArray

    def __init__(
        self,
        *,
        epsilon: Any,
        bounds: Any = None,
        share: Any = None,
        least_scale: Any = None,
        mechanism: str = "auto",
        neighbours: str = "swap",
        rows: Any = None,
        accountant: Any = None,
        pad_to: Any = None,
        randomness: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.share = share
        self.least_scale = least_scale
        self.mechanism = mechanism
        self.neighbours = neighbours
        self.rows = rows
        self.accountant = accountant
        self.pad_to = pad_to
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release means and standard deviations of `X`; `y` is ignored. Spends, also when called again."""
        with self._all_or_nothing():
            means, deviations = paced(self.pad_to, lambda: self._released(X))
            self._keep(means)
            self.mean_ = self.location_ = means.point
            self.spread_ = deviations.point
            self.scale_ = np.maximum(self.spread_, self._least())
        return self

    def transform(self, X: Any) -> FloatArray:
        """Rows in released units; a missing cell stays missing. Rows that went in secret come out secret."""
        cells = self._cells(X)
        with np.errstate(all="ignore"):  # no cell may warn
            return np.asarray((cells - self.mean_) / self.scale_)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows in the columns' own units again."""
        check_is_fitted(self)
        table = table_of(X)
        if table.d != self.n_features_in_:
            raise ParameterError("X", f"must have {self.n_features_in_} columns", table.d)
        with np.errstate(all="ignore"):  # no cell may warn
            return np.asarray(table.cells * self.scale_ + self.mean_)

    def _released(self, x: Any) -> tuple[Release, Release]:
        epsilon, relation = checked_epsilon(self.epsilon), checked_relation(self.neighbours, self.rows)
        share = None if self.share is None else rational("share", self.share)
        if share is not None and not 0 < share < 1:
            raise ParameterError("share", "must be None, or > 0 and < 1", brief(self.share))
        if self.bounds is None:
            raise ParameterError("bounds", "must be given: what is known of the columns without looking", "none")
        # What the second step asks for, before the first is paid.
        rows = relation.require_rows("for the number of pairs") if relation.secret else None
        x = self._fitting(x)
        self._least()  # checks it
        if share is None:
            n, d = require_schema(x, size_is_secret=relation.secret)
            share = _share(n if rows is None else rows, d, epsilon)
        return self._in_two_steps(x, share * epsilon, epsilon - share * epsilon)

    def _least(self) -> FloatArray:
        given = _SMALLEST if self.least_scale is None else self.least_scale
        least = per_column("least_scale", given, self.n_features_in_, getattr(self, "feature_names_in_", None))
        if min(least) <= 0:
            raise ParameterError("least_scale", "must be > 0", brief(self.least_scale))
        return np.array([float(value) for value in least])

    def _in_two_steps(self, x: Any, for_spread: Fraction, for_mean: Fraction) -> tuple[Release, Release]:
        """The means, which pay for both, then the standard deviations."""
        paying = self._paying()
        beside, split = bounded_range(for_spread, self.neighbours), {"epsilon_for_spread": for_spread}
        if (accountant := paying.pop("accountant")) is not None:
            require_room(accountant, beside)
            accountant = Together(accountant, beside, split)
        asked = {"bounds": self.bounds, "neighbours": self.neighbours, "rows": self.rows, **paying}
        means = mean(x, epsilon=for_mean, mechanism=self.mechanism, accountant=accountant, **asked)
        deviations = spread(x, epsilon=for_spread, **asked)
        assert isinstance(means, Release)
        notes = dict.fromkeys((*means.notes, *deviations.notes))  # each once
        settings = {"epsilon_for_mean": for_mean, **split, **means.settings}
        assert means.seal is not None
        assert deviations.seal is not None
        whole = replace(means, seal=means.seal + deviations.seal, settings=settings, notes=tuple(notes))
        return whole, deviations


def _share(n: int, d: int, epsilon: Fraction) -> Fraction:
    """The share of epsilon for the standard deviations, from public numbers; raises if n rows are too few."""
    for share in _SHARES:
        if spread_plan(n, d, share * epsilon) is not None:
            return share
    rule = (
        f"must have at least {_rows_needed(d, _SHARES[-1] * epsilon)} rows for the standard deviations of {d} columns "
        f"at epsilon {show(epsilon)} (share= overrules it)"
    )
    raise ParameterError("X", rule, f"{n} rows")


def _rows_needed(d: int, epsilon: Fraction) -> int:
    return bisect_left(range(MOST_ROWS_DECLARED), True, key=lambda n: spread_plan(n, d, epsilon) is not None)
