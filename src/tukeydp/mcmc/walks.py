"""Hit-and-run over {y : A y <= b}, compiled: along random directions and along coordinates.

One step picks a line through the current point, cuts it with the polytope, and draws a point of that chord from the
density exp(-sharpness |y|^2): uniform for sharpness 0, a Gaussian around the origin otherwise. Run under plain threads
(the kernels release the GIL).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.compiled_code import compiled
from tukeydp.errors import ParameterError
from tukeydp.parameters import checked_choice, checked_integer

DIRECTIONS = ("coordinate", "random")
_FRESH_SLACK = 512  # steps after which slacks are computed anew: fewer are slower, with more rounding adds up
_TOUCHING = 1e-200  # no slack is smaller: a row that touches stops the walk, and divides nothing by zero
# Chords up to so many deviations get uniform proposals, others those of the tail or the Gaussian itself. Speed only.
_SHORT_ACROSS, _SHORT_BESIDE = 2.5, 1.5


def walk(
    normals: FloatArray,
    offsets: FloatArray,
    start: FloatArray,
    rng: np.random.Generator,
    *,
    samples: int,
    thin: int,
    sharpness: float = 0.0,
    directions: str = "coordinate",
) -> FloatArray:
    """Points of one walk from `start`, a point inside: every `thin`-th of samples * thin steps.

    Parameters
    ----------
    normals, offsets
        The polytope {y : normals y <= offsets}. If it is unbounded, sharpness must be positive.
    start
        Inside the polytope; the nearer to its boundary, the longer the walk takes to forget it.
    samples, thin
        At least 1.
    sharpness
        At least 0. The stationary density is proportional to exp(-sharpness |y|^2).
    directions
        "coordinate" (a step costs one operation a row) or "random" (d operations a row, but indifferent to rotations).
    """
    checked_choice("directions", directions, DIRECTIONS)
    samples, thin = checked_integer("samples", samples, least=1), checked_integer("thin", thin, least=1)
    if not 0.0 <= sharpness < math.inf:
        raise ParameterError("sharpness", "must be finite and >= 0", sharpness)
    inside = require_inside(normals, offsets, start)
    points = walk_on(*inside, rng, samples=samples, thin=thin, sharpness=sharpness, directions=directions)
    if not np.isfinite(points).all():
        rule = "must describe a bounded polytope, unless sharpness is > 0"
        raise ParameterError("normals, offsets", rule, "one that is unbounded in some direction")
    return points


def require_inside(normals: Any, offsets: Any, point: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The three as arrays of floats, if they fit and the point is inside.

    Compiled code neither looks at bounds nor can be interrupted: what would mislead it must not get there.
    """
    a, b, y = np.asarray(normals, np.float64), np.asarray(offsets, np.float64), np.asarray(point, np.float64)
    if a.ndim != 2 or b.shape != a.shape[:1] or y.shape != a.shape[1:] or not a.size:
        rule = "must have shapes (m, d), (m,) and (d,), m and d at least 1"
        raise ParameterError("normals, offsets, start", rule, f"{a.shape}, {b.shape} and {y.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(y).all()):
        raise ParameterError("normals, offsets, start", "must be finite", "an infinite or missing entry")
    if not (a @ y < b).all():
        raise ParameterError("start", "must be strictly inside the polytope", "a point that is not")
    return a, b, y


def walk_on(
    normals: FloatArray,
    offsets: FloatArray,
    start: FloatArray,
    rng: np.random.Generator,
    *,
    samples: int,
    thin: int,
    sharpness: float = 0.0,
    directions: str = "coordinate",
) -> FloatArray:
    """`walk` without its checks, for starts that rounding may have put just outside."""
    columns = np.ascontiguousarray(normals.T)
    out = np.full((samples, len(columns)), np.nan)
    inside = np.array(start, dtype=np.float64)
    _walk(columns, offsets, inside, float(sharpness), directions == "coordinate", thin, out, rng)
    return out


def _all_steepest(column: Any, slack: Any) -> tuple[float, float]:
    rates = column / slack
    return max(0.0, rates.max()), min(0.0, rates.min())


# Vector instructions may compare in any order, but not round otherwise: a seed gives the same walk on every machine.
@compiled(plain=_all_steepest, fastmath={"nnan", "nsz"})
def _steepest(column: Any, slack: Any) -> tuple[float, float]:
    """Largest and smallest of column / slack: the chord goes from 1/smallest to 1/largest. No branches."""
    largest, smallest = 0.0, 0.0
    for i in range(len(slack)):
        rate = column[i] / slack[i]
        largest = max(largest, rate)
        smallest = min(smallest, rate)
    return largest, smallest


def _all_advance(column: Any, slack: Any, step: float) -> None:
    np.maximum(slack - step * column, _TOUCHING, out=slack)


@compiled(plain=_all_advance, fastmath={"nnan", "nsz"})
def _advance(column: Any, slack: Any, step: float) -> None:
    for i in range(len(slack)):
        slack[i] = max(slack[i] - step * column[i], _TOUCHING)


@compiled
def _walk(
    columns: Any, offsets: Any, y: Any, sharpness: float, along_axes: bool, thin: int, out: Any, rng: Any
) -> None:
    d, m = columns.shape
    slack, rates, u = np.empty(m), np.empty(m), np.empty(d)
    since = _FRESH_SLACK
    for sample in range(len(out)):
        for _ in range(thin):
            if since >= _FRESH_SLACK:
                _slacks(columns, offsets, y, slack)
                since = 0
            since += 1
            if along_axes:
                j = min(int(rng.random() * d), d - 1)
                step = _step(columns[j], slack, y[j], sharpness, rng)
                y[j] += step
            else:
                along = _direction(columns, y, u, rates, rng)
                step = _step(rates, slack, along, sharpness, rng)
                for j in range(d):
                    y[j] += step * u[j]
            if not math.isfinite(step):  # a chord without end: the rest stays missing
                return
        for j in range(d):
            out[sample, j] = y[j]


@compiled
def _step(rates: Any, slack: Any, along: float, sharpness: float, rng: Any) -> float:
    """How far to go along a line on which row i loses rates[i] of its slack per unit; `along` is <y, line>."""
    largest, smallest = _steepest(rates, slack)
    high = 1.0 / largest if largest > 0.0 else np.inf
    low = 1.0 / smallest if smallest < 0.0 else -np.inf
    step = _on_chord(low, high, -along, sharpness, rng)
    if math.isfinite(step):
        _advance(rates, slack, step)
    return step


@compiled
def _direction(columns: Any, y: Any, u: Any, rates: Any, rng: Any) -> float:
    """A uniform direction in `u`, its product with every row in `rates`, and its product with y."""
    d = len(columns)
    length = 0.0
    for j in range(d):
        u[j] = rng.standard_normal()
        length += u[j] * u[j]
    length = math.sqrt(length)
    along = 0.0
    rates[:] = 0.0
    for j in range(d):
        u[j] /= length
        along += u[j] * y[j]
        _add(rates, columns[j], u[j])
    return along


def _all_added(rates: Any, column: Any, times: float) -> None:
    rates += column * times


@compiled(plain=_all_added)
def _add(rates: Any, column: Any, times: float) -> None:
    for i in range(len(rates)):
        rates[i] += column[i] * times


def _all_slacks(columns: Any, offsets: Any, y: Any, slack: Any) -> None:
    slack[:] = offsets
    for j in range(len(columns)):
        slack -= columns[j] * y[j]
    np.maximum(slack, _TOUCHING, out=slack)


@compiled(plain=_all_slacks)
def _slacks(columns: Any, offsets: Any, y: Any, slack: Any) -> None:
    slack[:] = offsets
    for j in range(len(columns)):
        for i in range(len(slack)):
            slack[i] -= columns[j, i] * y[j]
    for i in range(len(slack)):
        slack[i] = max(slack[i], _TOUCHING)


@compiled
def _on_chord(low: float, high: float, mode: float, sharpness: float, rng: Any) -> float:
    """A draw from exp(-sharpness (t - mode)^2) on low <= t <= high."""
    if sharpness == 0.0:
        return low + rng.random() * (high - low)
    sigma = 1.0 / math.sqrt(2.0 * sharpness)
    a, b = (low - mode) / sigma, (high - mode) / sigma
    if not a <= b:  # no number: the loops below would never end
        return np.nan
    if a > 0.0:
        z = _tail(a, b, rng)
    elif b < 0.0:
        z = -_tail(-b, -a, rng)
    else:
        z = _middle(a, b, rng)
    return min(max(mode + sigma * z, low), high)


@compiled
def _middle(a: float, b: float, rng: Any) -> float:
    """Standard normal on a <= 0 <= b: propose from itself or, on short chords, uniformly."""
    if b - a > _SHORT_ACROSS:
        while True:
            z = rng.standard_normal()
            if a <= z <= b:
                return z
    while True:
        z = a + rng.random() * (b - a)
        if rng.random() <= math.exp(-0.5 * z * z):
            return z


@compiled
def _tail(a: float, b: float, rng: Any) -> float:
    """Standard normal on 0 < a <= z <= b: exponential proposals, or uniform ones where b is near (Robert 1995)."""
    if (b - a) * a < _SHORT_BESIDE and b - a < _SHORT_BESIDE:
        while True:
            z = a + rng.random() * (b - a)
            if rng.random() <= math.exp(0.5 * (a * a - z * z)):
                return z
    rate = 0.5 * (a + math.sqrt(a * a + 4.0))
    cut = -math.expm1(-rate * (b - a))
    while True:
        z = a - math.log1p(-cut * rng.random()) / rate
        if rng.random() <= math.exp(-0.5 * (z - rate) * (z - rate)):
            return min(z, b)
