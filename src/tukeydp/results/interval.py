"""An interval for a population's mean: how it is said, and what it is computed by. Post-processing of a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tukeydp.trusted.parameters import FloatArray

_KEPT = 256  # intervals that are kept: computing one may take seconds, and holds a few numbers


def nominal(confidence: float) -> str:
    """The level as it is stated: what is asked for, and not more than the calibration's shapes promise.

    >>> nominal(0.95)
    'nominal 95 % confidence interval'
    """
    return f"nominal {100 * confidence:g} % confidence interval"


def nominal_header(confidence: float) -> str:
    """The same above a column of numbers.

    >>> nominal_header(0.95)
    'nominal 95 % CI'
    """
    return f"nominal {100 * confidence:g} % CI"


@dataclass(frozen=True, eq=False)
class Interval:
    """Where the population's mean lies, column by column: a nominal confidence interval.

    Attributes
    ----------
    ends
        Lower and upper end of each column, shape (d, 2), in the columns' own units; NaN where there is none.
    spread
        The standard deviations it rests on: public, released, or what a share between 0 and 1 can have at most.
    sampling
        Half-widths that the sample alone would have, if these standard deviations were the true ones.
    privacy
        What privacy, and not knowing the columns' shape, add to them.
    note
        How sure it is, for which columns, and how that is known.
    """

    ends: FloatArray
    spread: FloatArray
    sampling: FloatArray
    privacy: FloatArray
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: no interval is None."""
        return {
            "ends": [None if np.isnan(pair).any() else pair.tolist() for pair in self.ends],
            "spread": self.spread.tolist(),
            "sampling": [None if np.isnan(v) else v for v in self.sampling.tolist()],
            "privacy": [None if np.isnan(v) else v for v in self.privacy.tolist()],
            "note": self.note,
        }


@dataclass(frozen=True)
class Calibration:
    """How to find a release's interval: a function of public and released numbers, and those numbers.

    Inputs are hashable, so that no array of cells can be among them. Computed when asked for, and kept.
    """

    compute: Callable[..., Interval] = field(repr=False)
    inputs: tuple[Any, ...]

    def __call__(self) -> Interval:
        return _computed(self)


@lru_cache(maxsize=_KEPT)
def _computed(calibration: Calibration) -> Interval:
    with np.errstate(all="ignore"):  # whatever the caller has set: tails of laws underflow
        return calibration.compute(*calibration.inputs)
