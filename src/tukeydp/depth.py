"""Tukey depth of points in a dataset: geometry, not a release.

Counts are those of closed halfspaces on the floats as given, ties included. A float projection with an error
bound settles nearly every comparison; the others are decided in rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.directions import Notion
from tukeydp.errors import ParameterError
from tukeydp.grid import FloatArray, IntArray
from tukeydp.notions import notion
from tukeydp.randomness import SystemRandomness
from tukeydp.tables import read_table

_ROUNDOFF = 2.0**-53


def tukey_depth(points: Any, x: Any, depth: Notion) -> IntArray:
    """Depth of each point: the fewest rows of `x` in a closed halfspace whose edge passes through it.

    Parameters
    ----------
    points
        Array-like (m, d); a single point may be given as (d,), and (m,) means m points if `x` has one column.
    x
        Array-like (n, d) or (n,), or a table. A row with a missing or infinite cell lies in no halfspace.
    depth
        Which directions count, each with both of its halfspaces. `Random` directions are drawn in data units.

    Returns
    -------
    Integer array (m,). A point with a missing or infinite coordinate has depth 0.

    Privacy
    -------
    **Not private**: the output depends on the data without any noise. Do not publish it.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.tukey_depth([[0, 0], [2, 0], [9, 9]], [[0, 0], [1, 1], [2, 0], [1, -1]], td.AxisAligned())
    array([1, 1, 0])
    """
    rows = read_table(x).cells
    d = rows.shape[1]
    where = read_table(points, "points").cells
    if where.shape != (len(where), d):
        if np.ndim(points) != 1 or len(where) != d:
            raise ParameterError("points", f"must have {d} columns like x", f"shape {where.shape}")
        where = where.reshape(1, d)
    directions = notion(depth, len(rows), d).in_data_units(d, SystemRandomness().key())
    rows = rows[np.isfinite(rows).all(axis=1)]
    finite = np.isfinite(where).all(axis=1)
    result = np.zeros(len(where), dtype=np.int64)
    result[finite] = _depth(where[finite], rows, directions)
    return result


def _depth(points: FloatArray, rows: FloatArray, directions: FloatArray) -> IntArray:
    least = np.full(len(points), len(rows), dtype=np.int64)
    exact = _exact_in_floats(points, rows, directions)
    for v in directions:
        below, above = _closed_counts(points, rows, v, exact)
        least = np.minimum(least, np.minimum(below, above))
    return least


def _closed_counts(points: FloatArray, rows: FloatArray, v: FloatArray, exact: bool) -> tuple[IntArray, IntArray]:
    """How many rows have <v, row> <= <v, point>, and how many >=, for each point."""
    with np.errstate(all="ignore"):
        order = np.argsort(rows @ v)
        sorted_rows = rows[order]
        projected = sorted_rows @ v
        at = points @ v
        slack = np.zeros(len(at))
        if not exact:
            # |fl(<v,x>) - <v,x>| <= d u |v|.|x| / (1 - d u), for the row and for the point; doubled for safety.
            error = 2 * (len(v) + 1) * _ROUNDOFF
            slack = error * (np.abs(points) @ np.abs(v) + (np.abs(rows) @ np.abs(v)).max(initial=0.0))
            slack = np.where(np.isfinite(slack), slack + 2.0**-1022, np.inf)  # products may underflow
    surely_below = np.searchsorted(projected, at - slack, side="left")
    not_above = np.searchsorted(projected, at + slack, side="right")
    if exact:
        return not_above, len(rows) - surely_below
    smaller, equal = surely_below.astype(np.int64), np.zeros(len(at), dtype=np.int64)
    for i in range(len(at)):
        near = sorted_rows[surely_below[i] : not_above[i]]
        # Equal in every coordinate that counts: a tie without any arithmetic.
        ties = ((near == points[i]) | (v == 0)).all(axis=1)
        signs = np.array([_sign(row, points[i], v) for row in near[~ties]], dtype=np.int64)
        smaller[i] += int((signs < 0).sum())
        equal[i] = int(ties.sum()) + int((signs == 0).sum())
    return smaller + equal, len(rows) - smaller


def _sign(row: NDArray[Any], point: NDArray[Any], v: NDArray[Any]) -> int:
    """Sign of <v, row - point> in rational arithmetic."""
    total = sum(
        (
            Fraction(c) * (Fraction(a) - Fraction(b))
            for a, b, c in zip(row.tolist(), point.tolist(), v.tolist(), strict=True)
        ),
        start=Fraction(0),
    )
    return (total > 0) - (total < 0)


def _exact_in_floats(points: FloatArray, rows: FloatArray, directions: FloatArray) -> bool:
    """Whether every projection is an integer below 2^53 in one common unit, so that floats do not round."""
    with np.errstate(all="ignore"):
        data = np.concatenate([points.ravel(), rows.ravel()])
        unit = _common_unit(data) + _common_unit(directions.ravel())
        largest = np.abs(directions).sum(axis=1).max(initial=0.0) * np.abs(data).max(initial=0.0)
        return bool(unit > -1000 and np.ldexp(largest, -unit) < 2.0**53)


def _common_unit(values: FloatArray) -> int:
    """The largest e such that every value is a multiple of 2^e."""
    mantissa, exponent = np.frexp(values[values != 0])
    if not len(mantissa):
        return 0
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return int((exponent - 53 + trailing).min())
