"""Hit-and-run over {y : A y <= b}, compiled, and volumes of one polytope by Gaussian cooling. Estimates, unproven."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tukeydp.paper.polytopes import require_bounded
from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_choice, checked_integer

# Hit-and-run over {y : A y <= b}, compiled: along random directions and along coordinates.
#
# One step picks a line through the current point, cuts it with the polytope, and draws a point of that chord from the
# density exp(-sharpness |y|^2): uniform for sharpness 0, a Gaussian around the origin otherwise. Run under plain
# threads (the kernels release the GIL).

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


# Affine maps that make a polytope round, so that hit-and-run gets about in it quickly.
#
# First the ellipsoid of the logarithmic barrier at the analytic centre, which fits within a factor of the number of
# rows; then the covariance of a walk, again and again until it is nearly the identity.

# Effort. A polytope that is not round makes walks forget their start more slowly; nothing breaks at once.
_NEWTON_STEPS = 60  # towards the analytic centre, at most
_CENTRAL = 1e-3  # Newton decrement at which to stop: any point near the analytic centre will do
_ROUNDS = 12  # of walks, at most
_ROUND_ENOUGH = 3.0  # ratio of the largest to the smallest variance at which to stop
_SWEEPS = 40  # points of a walk, per dimension and round: fewer make the covariance noisy
# Eigenvalues are raised to this part of the largest: what rounding leaves of zero. Smaller: the inverse root is noise.
_THIN = 1e-15


@dataclass(frozen=True, eq=False)
class Rounded:
    """{y : A y <= b} seen through y = centre + shape z: the set {z : normals z <= offsets}, with the origin inside."""

    normals: FloatArray
    offsets: FloatArray
    centre: FloatArray
    shape: FloatArray

    @property
    def log_scale(self) -> float:
        """Logarithm of how many units of volume one unit in z is."""
        return float(np.linalg.slogdet(self.shape)[1])

    def through(self, normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Other halfspaces over y, or other offsets (one row of them for each polytope), seen in z."""
        return normals @ self.shape, offsets - normals @ self.centre

    def outwards(self, z: FloatArray) -> FloatArray:
        return self.centre + z @ self.shape.T


def make_round(normals: FloatArray, offsets: FloatArray, inside: FloatArray, rng: np.random.Generator) -> Rounded:
    """Round a bounded polytope around a point strictly inside it."""
    d = normals.shape[1]
    centre = analytic_centre(normals, offsets, inside)
    slack = offsets - normals @ centre
    scaled = normals / slack[:, np.newaxis]
    shape = _power(scaled.T @ scaled, -0.5)  # the barrier's ellipsoid becomes the unit ball
    z = np.zeros(d)
    for _ in range(_ROUNDS):
        seen = Rounded(normals @ shape, offsets - normals @ centre, centre, shape)
        samples = walk_on(seen.normals, seen.offsets, z, rng, samples=_SWEEPS * d, thin=d)[d:]
        if not np.isfinite(samples).all():
            raise ParameterError("normals, offsets", "must describe a bounded polytope", "one without end")
        covariance = np.atleast_2d(np.cov(samples.T))
        # The mean of points inside is inside.
        centre = centre + shape @ samples.mean(axis=0)
        shape = shape @ _power(covariance, 0.5)
        variances = np.linalg.eigvalsh(covariance)
        z = np.zeros(d)
        if variances[-1] < _ROUND_ENOUGH * variances[0]:
            break
    return Rounded(normals @ shape, offsets - normals @ centre, centre, shape)


def analytic_centre(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> FloatArray:
    """Newton's method for the largest product of slacks; any point near it will do."""
    y = np.array(inside, dtype=np.float64)
    for _ in range(_NEWTON_STEPS):
        slack = offsets - normals @ y
        scaled = normals / slack[:, np.newaxis]
        # The gradient is scaled^T 1 and the Hessian scaled^T scaled: Newton's step solves a least-squares problem.
        step = -np.linalg.lstsq(scaled, np.ones(len(scaled)), rcond=None)[0]
        decrement = float(np.linalg.norm(scaled @ step))
        # The damped step stays within the barrier's ellipsoid, hence inside.
        y = y + step / (1.0 + decrement)
        if decrement < _CENTRAL:
            break
    return y


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    """A power of a symmetric positive matrix; eigenvalues that rounding left negative are raised."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = np.maximum(values, max(values[-1] * _THIN, 1e-300))
    return (vectors * lifted**exponent) @ vectors.T


# Volume of one polytope by Gaussian cooling. An estimate: nothing here is proven, and the stated error is one too.
#
# After rounding, Z(a) = integral over the polytope of exp(-a |z|^2). The first Z is that of a Gaussian narrow enough to
# lie mostly inside, by independent draws; the volume is Z(0); in between, walks for falling a give the ratios
#
#     Z(a') / Z(a) = E_a[ exp((a - a') |z|^2) ],
#
# each a' as small as the variance of these weights allows (Lovasz and Vempala 2006; Cousins and Vempala 2016).

# The schedule of cooling. Speed against accuracy of estimates that prove nothing.
_SPREAD = 0.7  # largest variance of the weights, relative to the square of their mean: larger makes ratios unstable
_INSIDE = 0.4  # share of the first Gaussian that should lie inside: a small one takes many draws to know
_NARROWER = 0.9  # factor by which the first Gaussian's deviation falls until it does
_TRIAL = 400  # draws that decide this
_NARROWEST = 1e-3  # deviation after rounding; never needed, except where floats resolve the polytope no longer
_FIRST_DRAWS = 1.5  # over the squared error of the first integral
_BLOCK = 60  # sweeps per dimension after which the error is looked at
_MOST_BLOCKS = 200  # then the walk ends, whatever its error
_BATCHES = 20  # whose means tell the variance of a walk's mean: fewer are noisy, more are not independent
_BISECTIONS = 30  # for the next sharpness, to 1e-9 of this one
_PHASES = 5.0  # how many ratios the error is shared by; a few more or less make little difference
# Relative standard deviations: the least that may be asked for, below which `_MOST_BLOCKS` would end the walks too
# soon, and what is asked for otherwise.
_LEAST_ERROR = 0.01
USUAL_ERROR = 0.03


@dataclass(frozen=True)
class VolumeEstimate:
    """The logarithm of a volume, and the standard deviation that the walks themselves suggest for it."""

    log_volume: float
    error: float

    @property
    def volume(self) -> float:
        return math.exp(self.log_volume) if self.log_volume < 709.0 else math.inf


@dataclass(frozen=True, eq=False)
class Cooled:
    """A rounded polytope, the estimate, and where the uniform walk in z may start."""

    rounded: Rounded
    estimate: VolumeEstimate
    start: FloatArray


def polytope_estimate(
    normals: FloatArray,
    offsets: FloatArray,
    inside: FloatArray,
    rng: np.random.Generator,
    *,
    error: float = USUAL_ERROR,
    directions: str = "coordinate",
) -> VolumeEstimate:
    """Volume of the bounded polytope {y : normals y <= offsets} around a point strictly inside it.

    Parameters
    ----------
    error
        Relative standard deviation to aim for, at least 0.01: halving it takes four times as long.
    directions
        Of the walk, see `walk`.
    """
    checked_choice("directions", directions, DIRECTIONS)
    checked = require_inside(normals, offsets, inside)
    require_bounded(*checked[:2])
    return cool(*checked, rng, error=error, directions=directions).estimate


def checked_error(error: Any) -> None:
    if isinstance(error, bool) or not isinstance(error, Real) or not _LEAST_ERROR <= float(error) < 1.0:
        raise ParameterError("error", f"must be at least {_LEAST_ERROR} and < 1", brief(error))


def cool(
    normals: FloatArray,
    offsets: FloatArray,
    inside: FloatArray,
    rng: np.random.Generator,
    *,
    error: float = USUAL_ERROR,
    directions: str = "coordinate",
) -> Cooled:
    checked_error(error)
    rounded = make_round(normals, offsets, inside, rng)
    share = error**2 / _PHASES
    sharpness, log_integral, variance = _first_gaussian(rounded, rng, share)
    start = np.zeros(len(rounded.centre))
    while sharpness > 0.0:
        phase = _phase(rounded, start, sharpness, rng, share, directions)
        if not phase.sharpness < sharpness:  # it never falls by nothing, except where there are no numbers left
            raise ParameterError("normals, offsets", "must describe a bounded polytope", "one that floats cannot round")
        sharpness, start = phase.sharpness, phase.end
        log_integral += phase.log_ratio
        variance += phase.variance
    return Cooled(rounded, VolumeEstimate(log_integral + rounded.log_scale, math.sqrt(variance)), start)


def _first_gaussian(rounded: Rounded, rng: np.random.Generator, share: float) -> tuple[float, float, float]:
    """A sharpness whose Gaussian lies mostly inside, log of its integral, and the relative variance of that."""
    d = len(rounded.centre)
    sigma = 1.0
    while sigma > _NARROWEST and _share_inside(rounded, sigma, rng, _TRIAL) < _INSIDE:
        sigma *= _NARROWER
    count = math.ceil(_FIRST_DRAWS / share)
    p = max(_share_inside(rounded, sigma, rng, count), 1.0 / count)
    log_gaussian = 0.5 * d * math.log(2.0 * math.pi * sigma**2)
    return 0.5 / sigma**2, log_gaussian + math.log(p), (1.0 - p) / (p * count)


def _share_inside(rounded: Rounded, sigma: float, rng: np.random.Generator, count: int) -> float:
    z = sigma * rng.standard_normal((count, len(rounded.centre)))
    return float((z @ rounded.normals.T <= rounded.offsets).all(axis=1).mean())


@dataclass(frozen=True, eq=False)
class _Phase:
    sharpness: float
    log_ratio: float
    variance: float
    end: FloatArray


def _phase(
    rounded: Rounded, start: FloatArray, sharpness: float, rng: np.random.Generator, share: float, directions: str
) -> _Phase:
    """Walk at one sharpness until the ratio to the next is known well enough."""
    d = len(start)
    squares, lower = np.empty(0), sharpness
    for block in range(_MOST_BLOCKS):
        samples = walk_on(
            rounded.normals,
            rounded.offsets,
            start,
            rng,
            samples=_BLOCK * d,
            thin=d,
            sharpness=sharpness,
            directions=directions,
        )
        start = samples[-1]
        if block == 0:
            samples = samples[len(samples) // 4 :]
        squares = np.append(squares, (samples**2).sum(axis=1))
        if block == 0:
            lower = _next_sharpness(squares, sharpness)
        log_ratio, variance = log_mean_weight(squares * (sharpness - lower))
        if variance <= share:
            break
    return _Phase(lower, log_ratio, variance, start)


def _next_sharpness(squares: FloatArray, sharpness: float) -> float:
    """The smallest sharpness whose weights vary little enough."""
    low, high = 0.0, sharpness
    if _relative_variance(squares * sharpness) <= _SPREAD:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if _relative_variance(squares * (sharpness - middle)) <= _SPREAD:
            high = middle
        else:
            low = middle
    return high


def _relative_variance(log_weights: FloatArray) -> float:
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.var() / weights.mean() ** 2)


def log_mean_weight(log_weights: FloatArray) -> tuple[float, float]:
    """Logarithm of the mean of the weights of one walk, and its variance from the means of batches."""
    top = float(log_weights.max())
    weights = np.exp(log_weights - top)
    mean = float(weights.mean())
    size = len(weights) // _BATCHES
    batches = weights[len(weights) - size * _BATCHES :].reshape(_BATCHES, size).mean(axis=1)
    return top + math.log(mean), float(batches.var(ddof=1) / _BATCHES / mean**2)
