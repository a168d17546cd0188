"""The largest ellipsoid inside {z : rows z <= 1} in floats, by a primal-dual Newton method (Zhang and Gao 2003).

Proposes only: `ellipsoid_certificate` says what a proposal is worth. All constants here cost speed only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tukeydp.arrays import FloatArray, IntArray

_FEW = 160  # rows held from the start, at most; of hundreds of rows few touch the ellipsoid
_CLOSE = 1e-12  # residuals and mean complementarity at which the method stops; rows have offsets of one
_ROUGH = 1e-3  # the same while rows that are violated are still looked for
_STEPS = 60  # Newton steps in the first attempt; later attempts have as many times more
_INTERIOR = 0.95  # part of the longest step that keeps all slacks positive
_VIOLATED = 1e-9  # hundreds of nearly equal rows may be violated by less, and one of them stands for all


def newton_with_few_rows(
    rows: FloatArray, attempt: int, likely: IntArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Largest ellipsoid of {z : rows z <= 1}, first with few rows only, then with those it violates too.

    The first are those that are `likely` to touch it, because they did for a similar region, or else the longest.
    """
    weights = np.zeros(len(rows))
    if likely is None or attempt > 1:
        few = min(_FEW, 20 + 10 * rows.shape[1])
        likely = np.argsort(-np.linalg.norm(rows, axis=1), kind="stable")[: few * attempt]
    held = np.union1d(likely, _on_all_sides(rows))
    close = _ROUGH
    while True:
        shift, inner, found = _newton(rows[held], attempt, close)
        farthest = rows @ shift + np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, inner, rows), 0.0))
        farthest[held] = 0.0
        fresh = np.argsort(-farthest, kind="stable")[: max(2 * rows.shape[1], len(held) // 4)]
        fresh = fresh[farthest[fresh] > 1.0 + max(_VIOLATED, close)]
        if not len(fresh) and close == _CLOSE:
            weights[held] = found
            return shift, inner, weights
        # What is violated shows long before the ellipsoid is exact.
        close = _ROUGH if len(fresh) else _CLOSE
        held = np.append(held, fresh)


def _on_all_sides(rows: FloatArray) -> list[int]:
    """Few rows that leave no direction open: the longest may all be in a plane."""
    rest, found = rows.copy(), []
    for _ in range(rows.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        axis = rest[np.argmax(lengths)] / max(lengths.max(), 1e-300)
        along = rest @ axis
        found += [int(np.argmax(along)), int(np.argmin(along))]
        rest -= np.outer(along, axis)
    return found


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Centre c, multipliers y, slacks z, and what follows from them."""

    c: FloatArray
    y: FloatArray
    z: FloatArray
    inner: FloatArray  # B B' = (A' Y A)^-1
    products: FloatArray  # A B B' A'
    h: FloatArray  # |B' a_i|


def _newton(rows: FloatArray, attempt: int, close: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre, B B' and weights of the largest ellipsoid of {z : rows z <= 1}, by a primal-dual Newton method.

    With B B' = (A' Y A)^-1 and h_i = |B' a_i|, optimality says A'(y h) = 0, A c + h + z = 1 and y z = 0, y, z >= 0
    (Zhang and Gao, SIAM J. Optim. 14, 2003). The weights are y h. Later attempts go more carefully.
    """
    m, d = rows.shape
    first = _iterate(rows, np.zeros(d), np.ones(m), np.ones(m))
    assert first is not None  # the rows span: there is a box among them
    here = _iterate(rows, np.zeros(d), np.full(m, (1.25 * first.h.max()) ** 2), np.ones(m))
    assert here is not None
    here = replace(here, z=np.maximum(1.0 - here.h, 0.1))
    caution = 1.0 - 0.9 / attempt
    for _ in range(_STEPS * attempt):
        mean = float(here.y @ here.z) / m
        r1 = -rows.T @ (here.y * here.h)
        r2 = 1.0 - rows @ here.c - here.h - here.z
        if max(mean, np.abs(r1).max() / d, np.abs(r2).max()) < close:
            break
        moved = _step(rows, here, r1, r2, max(0.1, caution) * mean)
        if moved is None:
            break
        here = moved
    return here.c, here.inner, here.y * here.h


def _step(rows: FloatArray, here: _Iterate, r1: FloatArray, r2: FloatArray, target: float) -> _Iterate | None:
    """One Newton step towards y z = target; None where the floats give out."""
    d = rows.shape[1]
    y, z, h = here.y, here.z, here.h
    r3 = target - y * z
    # dh = -J dy, J_ij = (a_i' B B' a_j)^2 / (2 h_i)
    slope = here.products**2
    slope /= 2.0 * h[:, np.newaxis]
    minus = y[:, np.newaxis] * -slope
    np.fill_diagonal(minus, h + minus.diagonal())
    np.fill_diagonal(slope, slope.diagonal() + z / y)
    try:
        solved = np.linalg.solve(slope, np.column_stack([rows, r2 - r3 / y]))
        back = rows.T @ minus
        dc = np.linalg.solve(back @ solved[:, :d], r1 + back @ solved[:, d])
    except np.linalg.LinAlgError:
        return None
    dy = solved[:, :d] @ dc - solved[:, d]
    dz = (r3 - z * dy) / y
    longest = (_longest_step(y, dy), _longest_step(z, dz), _longest_step(1.0 - rows @ here.c, -(rows @ dc)))
    length = min(1.0, *(_INTERIOR * step for step in longest))
    return _iterate(rows, here.c + length * dc, y + length * dy, z + length * dz)


def _iterate(rows: FloatArray, c: FloatArray, y: FloatArray, z: FloatArray) -> _Iterate | None:
    try:
        inner: FloatArray = np.asarray(np.linalg.inv(rows.T @ (y[:, np.newaxis] * rows)), dtype=np.float64)
        np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        return None
    products = rows @ inner @ rows.T
    h = np.sqrt(np.diag(products))
    usable = np.isfinite(products).all() and np.isfinite(c).all() and h.min() > 0 and y.min() > 0 and z.min() > 0
    return _Iterate(c, y, z, inner, products, h) if usable else None


def _longest_step(value: FloatArray, change: FloatArray) -> float:
    """How many times the change keeps positive values positive."""
    shrinking = change < 0
    return float((value[shrinking] / -change[shrinking]).min()) if shrinking.any() else np.inf
