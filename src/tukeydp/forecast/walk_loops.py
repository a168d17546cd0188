"""The loops of a rehearsed walk, compiled. Floats: no release depends on them.

A level is the points y whose products p with all directions lie between two rows of `ranks`: ranks[l - 1] and
ranks[m - l], with one column for each direction.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import FloatArray


class Body(NamedTuple):
    """Level sets in grid steps: entries of the directions (d, k), sorted products (m, k), and the box.

    Ranks are 32-bit floats: a point may be beyond one by `slack` (k), so that rows it shares a value with are not
    beyond it, whatever rounding does. `inverses` are one over the entries, and huge where an entry is 0.
    """

    entries: FloatArray
    inverses: FloatArray
    ranks: NDArray[np.float32]
    slack: FloatArray
    low: FloatArray
    high: FloatArray
    half_epsilon: float


def _all_products(rows: Any, entries: Any) -> Any:
    found = np.zeros((entries.shape[1], len(rows)), dtype=rows.dtype)
    for j in range(rows.shape[1]):
        found += np.multiply.outer(entries[j], rows[:, j])
    return found


@compiled(plain=_all_products)
def products(rows: Any, entries: Any) -> Any:
    """Of rows (m, d) with the directions (k, m); added up in the same order on every machine, as BLAS does not."""
    m, d = rows.shape
    found = np.zeros((entries.shape[1], m), dtype=rows.dtype)
    columns = np.ascontiguousarray(rows.T)
    for i in range(entries.shape[1]):
        for j in range(d):
            for r in range(m):
                found[i, r] += entries[j, i] * columns[j, r]
    return found


def _of_point(y: Any, entries: Any) -> Any:
    p = np.zeros(entries.shape[1])
    for j in range(len(y)):
        p += entries[j] * y[j]
    return p


@compiled(plain=_of_point)
def _products(y: Any, entries: Any) -> Any:
    p = np.zeros(entries.shape[1])
    for j in range(len(y)):
        for i in range(len(p)):
            p[i] += entries[j, i] * y[j]
    return p


def _all_inside(p: Any, level: int, ranks: Any, slack: Any) -> bool:
    return not ((p < ranks[level - 1] - slack) | (p > ranks[len(ranks) - level] + slack)).any()


@compiled(plain=_all_inside)
def _inside(p: Any, level: int, ranks: Any, slack: Any) -> bool:
    smallest, largest = ranks[level - 1], ranks[len(ranks) - level]
    for i in range(len(p)):  # noqa: SIM110 (compiled)
        if p[i] < smallest[i] - slack[i] or p[i] > largest[i] + slack[i]:
            return False
    return True


@compiled
def depth(y: Any, most: int, body: Body) -> int:
    """The highest level up to `most` that a point is in."""
    return _depth(_products(y, body.entries), 0, most, body)


@compiled
def _depth(p: Any, known: int, most: int, body: Body) -> int:
    """The same for its products; the point is in the level `known`."""
    ranks, slack = body.ranks, body.slack
    low, step = known, 1
    while low + step <= most and _inside(p, low + step, ranks, slack):
        low, step = low + step, 2 * step
    high = min(low + step, most + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        if _inside(p, middle, ranks, slack):
            low = middle
        else:
            high = middle
    return low


def _whole_interval(j: int, y: Any, p: Any, level: int, body: Body) -> tuple[float, float]:
    """`_interval` on whole arrays."""
    one = (body.ranks[level - 1] - body.slack - p) * body.inverses[j]
    other = (body.ranks[len(body.ranks) - level] + body.slack - p) * body.inverses[j]
    a = max(body.low[j] - y[j], np.minimum(one, other).max())
    b = min(body.high[j] - y[j], np.maximum(one, other).min())
    return min(a, 0.0), max(b, 0.0)


# Vector instructions may compare in any order, but not round otherwise: forecasts are the same on every machine.
@compiled(plain=_whole_interval, fastmath={"nnan", "nsz"})
def _interval(j: int, y: Any, p: Any, level: int, body: Body) -> tuple[float, float]:
    """How far a point of a level can move along column j. No branches: the loop is for vector instructions."""
    smallest, largest, slack = body.ranks[level - 1], body.ranks[len(body.ranks) - level], body.slack
    inverses = body.inverses[j]
    a, b = body.low[j] - y[j], body.high[j] - y[j]
    for i in range(len(p)):
        one = (smallest[i] - slack[i] - p[i]) * inverses[i]
        other = (largest[i] + slack[i] - p[i]) * inverses[i]
        a = max(a, min(one, other))
        b = min(b, max(one, other))
    return min(a, 0.0), max(b, 0.0)


@compiled
def _move(j: int, y: Any, p: Any, level: int, share: float, body: Body) -> None:
    a, b = _interval(j, y, p, level, body)
    t = a + (b - a) * share
    y[j] += t
    _add(p, body.entries[j], t)


def _all_added(p: Any, entries: Any, t: float) -> None:
    p += entries * t


@compiled(plain=_all_added)
def _add(p: Any, entries: Any, t: float) -> None:
    for i in range(len(p)):
        p[i] += entries[i] * t


@compiled
def walk(y: Any, lowest: int, highest: int, shares: Any, body: Body) -> tuple[Any, Any, Any]:
    """A walk over pairs of a level lowest ... highest and a point of it, with one step for each row of `shares`.

    Its law in the long run is that of the mechanism's proposals that are accepted: a level l of weight
    e^(half_epsilon l) - e^(half_epsilon (l - 1)), then a point of it. A step draws the level given the point, then one
    column after the other, each given the others. Returns the points, their levels and the depths of the points before.
    """
    d = len(y)
    points = np.empty((len(shares), d))
    levels, depths = np.empty(len(shares), dtype=np.int64), np.empty(len(shares), dtype=np.int64)
    p = _products(y, body.entries)
    level = lowest
    for step in range(len(shares)):
        deepest = _depth(p, level, highest, body)
        below = math.floor(min(-math.log(1.0 - shares[step, d]) / body.half_epsilon, float(deepest)))
        level = max(lowest, deepest - below)
        for j in range(d):
            _move(j, y, p, level, shares[step, j], body)
        points[step], levels[step], depths[step] = y, level, deepest
    return points, levels, depths


@compiled
def log_points(centre: Any, y: Any, level: int, shares: Any, body: Body) -> float:
    """About the log of the number of grid points of a level (Chib 1995).

    One over the density, at `centre`, of the uniform law on the level: the product over columns of the density at its
    coordinate given that the columns before are the centre's. `y` is a point of the level to start from, and `shares`
    has as many rows as there are steps for each column.
    """
    d = len(y)
    total = 0.0
    p = _products(y, body.entries)
    for j in range(d):
        density = 0.0
        for step in range(len(shares)):
            for i in range(j, d):
                _move(i, y, p, level, shares[step, i], body)
            a, b = _interval(j, y, p, level, body)
            if y[j] + a <= centre[j] <= y[j] + b:
                density += 1.0 / (b - a + 1.0)
        if density == 0.0:
            return np.inf
        total -= math.log(density / len(shares))
        # The rest starts from where the line to the centre leaves this column at its value.
        for i in range(j, d):
            y[i] = centre[i]
        p = _products(y, body.entries)
    return total
