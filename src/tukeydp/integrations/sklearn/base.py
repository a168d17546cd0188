"""What the estimators share: the schema of a table, one budget for all clones, an outcome with its guarantee."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from tukeydp.data.relation import require_columns_without_rows
from tukeydp.integrations.sklearn.schema import require_schema, table_of
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.bits import SeededRandomness
from tukeydp.trusted.parameters import FloatArray


class NothingReleased(NotFittedError):  # type: ignore[misc]
    """The fit's run refused: there is nothing to predict with, and its budget is spent. Fitting again spends again."""


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the private estimators.

    Parameters are kept as they are given and checked by `fit`, before anything is spent. There is no `random_state`:
    ensembles of scikit-learn seed every parameter of that name, and a seed undoes the noise.
    """

    accountant: Any
    randomness: Any
    release_: Release | Refused
    guarantee_: Guarantee | None
    released_: bool

    def __sklearn_clone__(self) -> Self:
        """A new estimator that spends from the same account, whatever kind of object that is: its copy would be a
        second budget."""
        unpaid = copy.copy(self)
        unpaid.accountant = None
        fresh: Self = super(PrivateEstimator, unpaid).__sklearn_clone__()
        fresh.accountant = self.accountant
        return fresh

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same for copies, of a pipeline too."""
        fresh = copy.copy(self)
        memo |= {id(self): fresh, id(self.accountant): self.accountant}
        fresh.__dict__ = copy.deepcopy(self.__dict__, memo)
        return fresh

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = not isinstance(self.randomness, SeededRandomness)
        return tags

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that raises leaves the estimator as it was: with the names of the new table, whatever was released for
        the old one would be used for other columns."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _fitting(self, x: Any, *answers: Any) -> Any:
        """`x`, its schema checked, its names and number of columns noted. Its cells are not touched yet: nothing is
        paid."""
        secret = getattr(self, "neighbours", "swap") == "add-remove"
        if secret:
            require_columns_without_rows(x, "X")
        require_schema(x, size_is_secret=secret)
        return validate_data(self, x, *answers, skip_check_array=True)

    def _cells(self, x: Any) -> FloatArray:
        """The cells of further rows, whose schema must be that of the fit; none of them can raise."""
        check_is_fitted(self)
        table = table_of(x)
        validate_data(self, x, reset=False, skip_check_array=True)
        return table.cells

    def _paying(self) -> dict[str, Any]:
        """Who pays, and by what bits. A seeded source is copied, so that a fit changes no parameter and can be
        repeated. Nothing is spent on the check of readable rows: pipelines hand over numbers."""
        seeded = isinstance(self.randomness, SeededRandomness)
        return {
            "accountant": self.accountant,
            "check": False,
            "randomness": copy.deepcopy(self.randomness) if seeded else self.randomness,
        }

    def _keep(self, outcome: Release | Refused) -> None:
        self.release_, self.guarantee_, self.released_ = outcome, outcome.guarantee, outcome.released

    def _nothing_released(self) -> NothingReleased:
        return NothingReleased(
            f"this {type(self).__name__} has nothing to work with: its run refused, and has spent its budget "
            "(release_.guarantee). More rows, a larger epsilon, or bounds, with which no run refuses, would help; "
            "fitting again spends again."
        )
