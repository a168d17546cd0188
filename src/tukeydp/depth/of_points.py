"""Tukey depth of points in a dataset: geometry, not a release.

Counts are those of closed halfspaces on the floats as given, ties included. A float projection with an error
bound settles nearly every comparison; the others are decided in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.tables import finite_rows, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Exact, Notion
from tukeydp.trusted.bits import SystemRandomness
from tukeydp.trusted.exact.deciding import Surroundings
from tukeydp.trusted.exact.depth import Vectors, exact_row, from_floats, least_weight
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, checked_integer

EXACT = Exact()
# Relative error of one rounding in double precision. **Smaller, and counts near ties would be wrong.**
_ROUNDOFF = 2.0**-53


def tukey_depth(points: Any, x: Any, depth: Notion = EXACT) -> IntArray:
    """Depth of each point: the fewest rows of `x` in a closed halfspace whose edge passes through it.

    Parameters
    ----------
    points
        Array-like (m, d); a single point may be given as (d,), and (m,) means m points if `x` has one column.
    x
        Array-like (n, d) or (n,), or a table. A row with a missing or infinite cell lies in no halfspace.
    depth
        Which directions count, each with both of its halfspaces: all of them (`td.Exact()`) unless said otherwise.
        `Random` and `Spread` directions are drawn in data units.

    Returns
    -------
    Integer array (m,). A point with a missing or infinite coordinate has depth 0.

    Privacy
    -------
    **Not private**: the output depends on the data without any noise. Do not publish it.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.tukey_depth([[0, 0], [2, 0], [9, 9]], [[0, 0], [1, 1], [2, 0], [1, -1]])
    array([1, 1, 0])
    >>> td.tukey_depth([1, 0], [[0, 0], [1, 1], [2, 0], [1, -1]], td.AxisAligned())
    array([3])
    """
    where, rows = read_points(points, x)
    d = rows.shape[1]
    directions = chosen_notion(depth, len(rows), d).in_data_units(d, SystemRandomness().key())
    if directions is not None:
        return _where_finite(where, lambda finite: depth_along(finite, finite_rows(rows), directions))
    cloud = _Cloud(rows)
    return _where_finite(where, lambda finite: np.array([cloud.depth(y) for y in finite], dtype=np.int64))


def is_deep(points: Any, x: Any, level: int) -> NDArray[np.bool_]:
    """Whether each point has exact Tukey depth >= level. Stops at the first halfspace that refutes it. Not private."""
    level = checked_integer("level", level, least=0)
    where, rows = read_points(points, x)
    cloud = _Cloud(rows)
    deep = _where_finite(
        where, lambda finite: np.array([cloud.depth(y, level) >= level for y in finite], dtype=np.int64)
    )
    return (deep > 0) | (level == 0)


def shallowest_direction(point: Any, x: Any) -> tuple[int, NDArray[Any]]:
    """The exact depth of a point, and a direction v with just so many rows in {z : <v, z> >= <v, point>}. Not private.

    The direction is made of floats where floats can express it, of Python's integers otherwise.
    """
    where, rows = read_points(point, x)
    if len(where) != 1 or not np.isfinite(where).all():
        raise ParameterError("point", "must be one point with finite coordinates", f"{len(where)} points")
    return _Cloud(rows).shallowest(where[0])


class _Cloud:
    """Rows with duplicates merged."""

    def __init__(self, rows: FloatArray) -> None:
        # Adding zero turns -0.0 into 0.0.
        self._rows, counts = np.unique(finite_rows(rows) + 0.0, axis=0, return_counts=True)
        self._weights = counts.astype(np.int64)

    def depth(self, y: FloatArray, at_least: int = 0) -> int:
        """The depth of y, or any number below `at_least` if it is below."""
        return self._around(y).depth(at_least)

    def shallowest(self, y: FloatArray) -> tuple[int, NDArray[Any]]:
        around = self._around(y)
        here, vectors = around.here, around.vectors
        if not len(vectors.weights):
            return here, np.eye(len(y))[0]
        answer = least_weight(vectors)
        if len(y) == 1:
            return here + answer.least, answer.directions[0]
        _, normal = exact_row(vectors, answer.place)
        floats = np.array([c / max(map(abs, normal)) for c in normal])
        same = _weight_inside([Fraction(c) for c in floats.tolist()], vectors) == answer.least
        return here + answer.least, floats if same else np.array(normal, dtype=object)

    def _around(self, y: FloatArray) -> Surroundings:
        same = (self._rows == y).all(axis=1)
        others = from_floats(self._rows[~same], y, self._weights[~same])
        return Surroundings(int(self._weights[same].sum()), others)


def _weight_inside(normal: Sequence[Fraction], vectors: Vectors) -> int:
    """Exact weight of the closed halfspace with this normal."""
    products = (
        sum((a * b for a, b in zip(normal, vectors.exactly(j), strict=True)), start=Fraction(0))
        for j in range(len(vectors.weights))
    )
    return sum(int(w) for product, w in zip(products, vectors.weights, strict=True) if product >= 0)


def read_points(points: Any, x: Any) -> tuple[FloatArray, FloatArray]:
    rows = read_table(x).cells
    d = rows.shape[1]
    where = read_table(points, "points").cells
    if where.shape != (len(where), d):
        if np.ndim(points) != 1 or len(where) != d:
            raise ParameterError("points", f"must have {d} columns like x", f"shape {where.shape}")
        where = where.reshape(1, d)
    return where, rows


def _where_finite(points: FloatArray, count: Callable[[FloatArray], IntArray]) -> IntArray:
    finite = np.isfinite(points).all(axis=1)
    result = np.zeros(len(points), dtype=np.int64)
    result[finite] = count(points[finite])
    return result


def depth_along(points: FloatArray, rows: FloatArray, directions: Sequence[Sequence[Fraction]]) -> IntArray:
    least = np.full(len(points), len(rows), dtype=np.int64)
    for v in directions:
        below, above = _closed_counts(points, rows, v)
        least = np.minimum(least, np.minimum(below, above))
    return least


def _closed_counts(points: FloatArray, rows: FloatArray, v: Sequence[Fraction]) -> tuple[IntArray, IntArray]:
    """How many rows have <v, row> <= <v, point>, and how many >=, for each point."""
    largest = max(map(abs, v))
    shadow = np.array([float(c / largest) for c in v])
    with np.errstate(all="ignore"):
        projected = rows @ shadow
        order = np.argsort(projected)
        sorted_rows, projected = rows[order], projected[order]
        at = points @ shadow
        if _exact_in_floats(points, rows, v, shadow):
            slack = np.zeros(len(at))
        else:
            # |fl(<v,x>) - <v,x>| <= (d+1) u |v|.|x| / (1 - ...), for the row and for the point, v itself being rounded;
            # twice that, and a little more because products may underflow.
            error = 2 * (len(v) + 2) * _ROUNDOFF
            slack = (
                error * (np.abs(points) @ np.abs(shadow) + (np.abs(rows) @ np.abs(shadow)).max(initial=0.0))
                + 2.0**-1000
            )
        surely_below = np.searchsorted(projected, at - slack, side="left")
        not_above = np.searchsorted(projected, at + slack, side="right")
    reliable = np.isfinite(projected).all() and np.isfinite(at).all() and np.isfinite(slack).all()
    smaller, equal = surely_below.astype(np.int64), (not_above - surely_below).astype(np.int64)
    if reliable and not slack.any():
        return smaller + equal, len(rows) - smaller
    for i in range(len(at)):
        start, end = (int(surely_below[i]), int(not_above[i])) if reliable else (0, len(rows))
        near = sorted_rows[start:end]
        # Equal in every coordinate that counts: a tie without any arithmetic.
        ties = ((near == points[i]) | (shadow == 0)).all(axis=1) & all(
            bool(c) == bool(s) for c, s in zip(v, shadow, strict=True)
        )
        signs = np.array([_sign(row, points[i], v) for row in near[~ties]], dtype=np.int64)
        smaller[i] = start + int((signs < 0).sum())
        equal[i] = int(ties.sum()) + int((signs == 0).sum())
    return smaller + equal, len(rows) - smaller


def _sign(row: NDArray[Any], point: NDArray[Any], v: Sequence[Fraction]) -> int:
    """Sign of <v, row - point> in rational arithmetic."""
    total = sum(
        (c * (Fraction(a) - Fraction(b)) for a, b, c in zip(row.tolist(), point.tolist(), v, strict=True)),
        start=Fraction(0),
    )
    return (total > 0) - (total < 0)


def _exact_in_floats(points: FloatArray, rows: FloatArray, v: Sequence[Fraction], shadow: FloatArray) -> bool:
    """Whether every projection is an integer below 2^53 in one common unit, so that floats do not round."""
    largest = max(map(abs, v))
    if any(Fraction(s) * largest != c for c, s in zip(v, shadow.tolist(), strict=True)):
        return False
    data = np.concatenate([points.ravel(), rows.ravel()])
    unit = _common_unit(data) + _common_unit(shadow)
    most = np.abs(shadow).sum() * np.abs(data).max(initial=0.0)
    return bool(unit > -1000 and np.ldexp(most, -unit) < 2.0**53)


def _common_unit(values: FloatArray) -> int:
    """The largest e such that every value is a multiple of 2^e."""
    mantissa, exponent = np.frexp(values[values != 0])
    if not len(mantissa):
        return 0
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return int((exponent - 53 + trailing).min())
