"""Estimators in the way of scikit-learn as statistics of a block: cloned, fitted, one or more attributes read."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.row_blocks import Rows
from tukeydp.errors import ParameterError
from tukeydp.parameters import brief


@dataclass(frozen=True)
class Fitted:
    """What a fresh clone of an estimator, fitted to a block, has in its attributes, one after the other."""

    estimator: Any
    attributes: tuple[str, ...]
    rows: Rows
    target: Any

    def __deepcopy__(self, memo: Any) -> Fitted:
        return self  # the table is not copied with it; each call clones the estimator

    def __call__(self, block: Any) -> FloatArray:
        fresh = _clone(self.estimator)
        if self.target is None:
            fresh.fit(block)
        else:
            fresh.fit(*self.rows.without(block, self.target))
        return np.concatenate([np.ravel(np.asarray(getattr(fresh, name))) for name in self.attributes])

    def names_of(self, length: int) -> tuple[str, ...] | None:
        """Features by name where an attribute has one number for each; `intercept_` is called intercept."""
        features = [] if self.rows.names is None else [name for name in self.rows.names if name != self.target]
        extra = [name.rstrip("_") for name in self.attributes if name.rstrip("_") != "coef"]
        called = [name for a in self.attributes for name in (features if a == "coef_" else [a.rstrip("_")])]
        right = len(called) == length == len(set(called)) and bool(features or len(extra) == length)
        return tuple(called) if right else None


def is_estimator(statistic: Any) -> bool:
    return callable(getattr(statistic, "fit", None)) and not isinstance(statistic, type)


def fitted_statistic(estimator: Any, attribute: Any, rows: Rows, target: Any) -> Fitted:
    """The estimator as a statistic, once it is clear what to fit it to and what to read."""
    names = (attribute,) if isinstance(attribute, str) else attribute
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        rule = "must be given with an estimator: what to read after fitting, such as 'coef_' or ('intercept_', 'coef_')"
        raise ParameterError("attribute", rule, brief(attribute))
    require_target(rows, target)
    return Fitted(_clone(estimator), tuple(names), rows, target)


def require_target(rows: Rows, target: Any) -> None:
    if target is None:
        return
    block = next(rows.made_up(1))
    known = rows.names if rows.names is not None else tuple(range(block.shape[1] if block.ndim > 1 else 1))
    if isinstance(target, bool) or target not in known:
        shown = ", ".join(map(str, known[:8])) + (", ..." if len(known) > 8 else "")
        raise ParameterError("target", f"must be one of the columns {shown}", brief(target))


def _clone(estimator: Any) -> Any:
    """Unfitted, with the same settings."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)
