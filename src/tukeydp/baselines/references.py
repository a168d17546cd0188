"""Means and medians without any privacy, to compare with. Not for publication: they are plain facts about the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.data.tables import read_table
from tukeydp.data.unprotected import unprotected
from tukeydp.results.release import Release


def empirical_mean(x: Any) -> Release:
    """The mean of the rows without a missing cell. **Not private.**

    The best centre of Gaussian data, and what the private means are compared with; one outlier can move it anywhere.

    Examples
    --------
    >>> import tukeydp as td
    >>> release = td.baselines.empirical_mean([[0, 1], [4, 3], [None, 2]])
    >>> release.point, release.private, release.guarantee
    (array([2., 2.]), False, None)
    """
    return unprotected("empirical-mean", read_table(x), lambda rows: rows.mean(axis=0))


def coordinate_median(x: Any) -> Release:
    """The median of each column by itself, over the rows without a missing cell. **Not private.**

    Robust and cheap; blind to how columns belong together. What `boxem` with `td.AxisAligned()` comes close to.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.baselines.coordinate_median([[0, 1], [4, 3], [1, 100]]).point
    array([1., 3.])
    """
    return unprotected("coordinate-median", read_table(x), lambda rows: np.median(rows, axis=0))
