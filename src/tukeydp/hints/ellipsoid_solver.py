"""The largest ellipsoid inside {z : rows z <= 1} in floats, by a primal-dual Newton method (Zhang and Gao 2003).

Proposes only: `certified` in `trusted/sizes/ellipsoids.py` says what a proposal is worth. All constants here cost
speed only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tukeydp.trusted.parameters import FloatArray, IntArray

_FEW = 160  # rows held from the start, at most; of hundreds of rows few touch the ellipsoid
_ROUGH = 1e-3  # residuals and mean complementarity at which violated rows are looked for; rows have offsets of one
_FINEST = 1e-12  # the same where the method stops, at least: below, floats only go round in circles
_STEPS = 60  # Newton steps in the first attempt; later attempts have as many times more
_INTERIOR = 0.95  # part of the longest step that keeps all slacks positive
# Where rows are added: how far the centre may be towards a row, and which part of the room then is filled.
_CENTRED, _FILLED = 0.95, 0.95


def newton_with_few_rows(
    rows: FloatArray, exact: float, violated: float, attempt: int = 1, likely: IntArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Largest ellipsoid of {z : rows z <= 1}, first with few rows only, then with those it violates too.

    The first are those that are `likely` to touch it, because they did for a similar region, or else the longest. At
    the end residuals are at most `exact`, and no row is violated by more than `violated`.
    """
    exact = max(_FINEST, exact / 10.0 ** (attempt - 1))
    if likely is None or attempt > 1:
        few = min(_FEW, 20 + 10 * rows.shape[1])
        likely = np.argsort(-np.linalg.norm(rows, axis=1), kind="stable")[: few * attempt]
    held = np.union1d(likely, _on_all_sides(rows))
    here, close = _first(rows[held]), _ROUGH
    while True:
        here = _newton(rows[held], here, attempt, close)
        farthest = rows @ here.c + np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, here.inner, rows), 0.0))
        farthest[held] = 0.0
        fresh = np.argsort(-farthest, kind="stable")[: max(2 * rows.shape[1], len(held) // 4)]
        fresh = fresh[farthest[fresh] > 1.0 + max(violated, close)]
        if len(fresh):
            held = np.append(held, fresh)
            here, close = _smaller(rows[held], here), _ROUGH
        elif close == exact:
            weights = np.zeros(len(rows))
            weights[held] = here.y * here.h
            return here.c, here.inner, weights
        else:
            close = exact  # what is violated shows long before the ellipsoid is exact


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


def _first(rows: FloatArray) -> _Iterate:
    """A small ellipsoid about the origin, with all rows alike."""
    m, d = rows.shape
    alike = _surely(_iterate(rows, np.zeros(d), np.ones(m), np.ones(m)))  # the rows span: there is a box among them
    here = _surely(_iterate(rows, np.zeros(d), np.full(m, (1.25 * alike.h.max()) ** 2), np.ones(m)))
    return replace(here, z=np.maximum(1.0 - here.h, 0.1))


def _smaller(rows: FloatArray, here: _Iterate) -> _Iterate:
    """An ellipsoid inside all rows, of which it is known for the first ones only; about the same centre if possible."""
    centre = here.c * min(1.0, _CENTRED / max(1e-300, float((rows @ here.c).max())))
    room = 1.0 - rows @ centre
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", rows, here.inner, rows))
    shrink = max(1.0, float((lengths / room).max()) / _FILLED)
    z = room - lengths / shrink
    y = here.y * shrink**2
    mean = float(y @ z[: len(y)]) / len(y)
    moved = _surely(_iterate(rows, centre, np.append(y, mean / z[len(y) :]), z))  # the first rows span
    return replace(moved, z=room - moved.h)


def _newton(rows: FloatArray, here: _Iterate, attempt: int, close: float) -> _Iterate:
    """The largest ellipsoid of {z : rows z <= 1}, by a primal-dual Newton method.

    With B B' = (A' Y A)^-1 and h_i = |B' a_i|, optimality says A'(y h) = 0, A c + h + z = 1 and y z = 0, y, z >= 0
    (Zhang and Gao, SIAM J. Optim. 14, 2003). The weights are y h. Later attempts go more carefully.
    """
    m, d = rows.shape
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
    return here


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


def _surely(iterate: _Iterate | None) -> _Iterate:
    if iterate is None:
        raise ArithmeticError("floats gave out")
    return iterate


def _longest_step(value: FloatArray, change: FloatArray) -> float:
    """How many times the change keeps positive values positive."""
    shrinking = change < 0
    return float((value[shrinking] / -change[shrinking]).min()) if shrinking.any() else np.inf
