"""Estimators in the way of scikit-learn: `PrivateMean`, `PrivateLocation`, `PrivateStandardScaler`,
`PrivateLinearRegression` (docs/guide/scikit-learn.md)."""

from __future__ import annotations

from tukeydp.extras import missing

try:
    from sklearn.utils.validation import validate_data as _since_1_6
except ImportError as error:
    wanted = missing("tukeydp.integrations.sklearn", "scikit-learn 1.6 or later", "sklearn", "none, or an older one")
    raise ImportError(str(wanted)) from error
del _since_1_6

from tukeydp.integrations.sklearn.base import NothingReleased  # noqa: E402
from tukeydp.integrations.sklearn.linear_regression import PrivateLinearRegression  # noqa: E402
from tukeydp.integrations.sklearn.location import PrivateLocation, PrivateMean  # noqa: E402
from tukeydp.integrations.sklearn.scaler import PrivateStandardScaler  # noqa: E402

__all__ = ["NothingReleased", "PrivateLinearRegression", "PrivateLocation", "PrivateMean", "PrivateStandardScaler"]
