"""Random walks on polytopes: hit-and-run, rounding, volumes by Gaussian cooling, and volumes of nested level sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tukeydp.data.scale import middle_range
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.paper.depth_regions import body_of
from tukeydp.paper.halfspaces import AlongDirections
from tukeydp.paper.polytopes import FLAT, chebyshev_ball, exact_log_volume, normalised, require_bounded
from tukeydp.trusted.bits import source
from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief, checked_choice, checked_integer
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.threads import available_cores, for_each

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


# Volumes of nested polytopes {y : A y <= b_l} that share A, such as a dataset's level sets. Estimates, unproven.

# Volumes of nested polytopes {y : A y <= b_l} that share A, such as the level sets of a dataset. Estimates, unproven.
#
# Neighbours share work: a few *rungs* get a volume of their own, by cooling; uniform points of a rung that also lie in
# a higher level give the ratio of the two volumes, for all levels up to the next rung. Rungs are worked off in threads,
# each with randomness of its own, so the result does not depend on how many threads there are.

# How work is shared between levels. Speed against accuracy of estimates that prove nothing.
_STEP = 0.8  # how much smaller, in log volume, the next rung is guessed to be: larger ones leave few points to the last
_FEWEST = (
    0.2  # a level that holds a smaller share of its rung's points becomes a rung itself: a small share is known badly
)
_DRAWS = 4.0  # uniform points per rung, times the square of the error: fewer, and ratios err more than was asked for
_LEAST_SLACK = 1e-300  # of a row at the common inner point, so that it has a logarithm; guesses only


@dataclass(frozen=True, eq=False)
class Nest:
    """Nested polytopes {z : normals z <= offsets[i]}, i = 0, 1, ..., around one inner point; unit normals."""

    normals: FloatArray
    offsets: FloatArray
    inside: FloatArray


def solid_nest(normals: FloatArray, offsets: FloatArray) -> Nest:
    """The polytopes that have an inner point, from the first to the last that does; coordinates of about unit size."""
    low, high, inside = 0, len(offsets), np.zeros(normals.shape[1])
    while low < high:
        middle = (low + high + 1) // 2
        ball = chebyshev_ball(normals, offsets[middle - 1])
        if ball.radius > FLAT:
            low, inside = middle, ball.centre
        else:
            high = middle - 1
    return Nest(normals, offsets[:low], inside)


def nest_log_volumes(nest: Nest, key: bytes, *, error: float = USUAL_ERROR, threads: int | None = None) -> FloatArray:
    """Logarithm of the volume of every polytope of the nest; `error` as in `polytope_estimate`."""
    logs = np.full(len(nest.offsets), np.nan)
    groups = _guessed_groups(nest)

    def work(group: tuple[int, int]) -> None:
        first, last = group
        while first <= last:
            found = _group_log_volumes(nest, first, last, generator(key, first), error)
            logs[first : first + len(found)] = found
            first += len(found)

    for_each(reversed(groups), work, min(threads or available_cores(), max(len(groups), 1)))
    return np.minimum.accumulate(logs)


def generator(key: bytes, stream: int) -> np.random.Generator:
    """Fast randomness from a key of ours; good enough here, where nothing is proven anyway."""
    return np.random.Generator(np.random.SFC64([int.from_bytes(key, "big"), stream]))


def _guessed_groups(nest: Nest) -> list[tuple[int, int]]:
    """First and last polytope of every group, where volumes are guessed from the slacks at the common inner point."""
    slack = np.maximum(nest.offsets - nest.normals @ nest.inside, _LEAST_SLACK)
    guess = nest.normals.shape[1] * np.log(slack).mean(axis=1)
    firsts: list[int] = []
    for i in range(len(guess)):
        if not firsts or guess[firsts[-1]] - guess[i] > _STEP:
            firsts.append(i)
    return [(a, b - 1) for a, b in zip(firsts, [*firsts[1:], len(guess)], strict=False)]


def _group_log_volumes(nest: Nest, first: int, last: int, rng: np.random.Generator, error: float) -> FloatArray:
    """Volumes of polytope `first` and of as many up to `last` as hold a fair share of its points."""
    rung = cool(nest.normals, nest.offsets[first], nest.inside, rng, error=error)
    shares = np.ones(1)
    if last > first:
        shares = _shares(rung, nest, first, last, rng, math.ceil(_DRAWS / error**2))
    few = shares < _FEWEST
    count = int(np.argmax(few)) if few.any() else len(shares)
    return rung.estimate.log_volume + np.log(shares[:count])


def _shares(rung: Cooled, nest: Nest, first: int, last: int, rng: np.random.Generator, draws: int) -> FloatArray:
    """Which share of the uniform points of polytope `first` lies in each polytope up to `last`."""
    rounded = rung.rounded
    z = walk_on(rounded.normals, rounded.offsets, rung.start, rng, samples=draws, thin=len(rung.start))
    normals, offsets = rounded.through(nest.normals, nest.offsets[first : last + 1])
    heights = z @ normals.T
    # A point deep enough for polytope i is kept for i + 1: the nest only shrinks.
    shares = np.ones(len(offsets))
    for i in range(1, len(offsets)):
        heights = heights[(heights <= offsets[i]).all(axis=1)]
        shares[i] = len(heights) / draws
    return shares


def mcmc_level_volumes(
    x: Any,
    depth: Notion,
    *,
    error: float = USUAL_ERROR,
    threads: int | None = None,
    randomness: Any = None,
) -> FloatArray:
    """Volumes of all level sets, as `td.level_volumes`, by random walks: for dimensions where exact ones take too long.

    Parameters
    ----------
    x, depth
        As for `td.level_volumes`; finitely many directions.
    error
        Relative standard deviation to aim for, at least 0.01.
    randomness
        None or `td.seeded(seed)`.

    Privacy
    -------
    **Not private**: the output depends on the data without any noise. Do not publish it.

    Numerics
    --------
    Estimates without proof. Levels thinner than 1e-10 of the data's spread count as flat.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(40, 3))
    >>> estimates = mcmc_level_volumes(x, td.Random(5, seed=2), randomness=td.seeded(3))
    >>> exact = td.level_volumes(x, td.Random(5, seed=2))
    >>> bool(np.abs(estimates[1:11] / exact[1:11] - 1).max() < 0.2)
    True
    """
    require_finite(depth)
    if threads is not None:
        checked_integer("threads", threads, least=1)
    bits = source(randomness)
    body = body_of(x, depth)
    if body.unbounded or not isinstance(body.halfspaces, AlongDirections):
        return body.volumes()
    along = body.halfspaces
    nest = solid_nest(along.normals, along.offsets(np.arange(1, along.most + 1)))
    with np.errstate(over="ignore"):
        solid = np.exp(nest_log_volumes(nest, bits.key(), error=error, threads=threads))
        solid = solid * float(np.prod(along.frame.scale))
    return np.concatenate([[np.inf], solid, np.zeros(max(0, body.top() - len(solid)))])


# Level sets of a dataset on a grid as a nest of polytopes in coordinates of about unit size. Floats; not private.

# Sweeps, for each column, of the walk whose last point is taken. From experience; fewer, and the point remembers where
# the walk began.
_SWEEPS_PER_COLUMN = 200


@dataclass(frozen=True, eq=False)
class ScaledNest:
    """Levels 1, 2, ... that have inner points, cut by the grid's box, in z = (y - centre) / scale."""

    nest: Nest
    centre: IntArray
    scale: FloatArray
    grid: Grid

    @property
    def log_box(self) -> float:
        """Logarithm of the box's volume, in units of z."""
        return float(np.log((self.grid.high - self.grid.low) / self.scale).sum())

    def coordinates(self, level: int, rng: np.random.Generator) -> FloatArray:
        """A point of the level, nearly uniform, in grid coordinates counted from `centre`."""
        low, high = self.grid.low - self.centre, self.grid.high - self.centre
        d = len(self.scale)
        if level == 0:
            return low + rng.random(d) * (high - low)
        nest = self.nest
        rounded = make_round(nest.normals, nest.offsets[level - 1], nest.inside, rng)
        steps = _SWEEPS_PER_COLUMN * d * d
        last = walk_on(rounded.normals, rounded.offsets, np.zeros(d), rng, samples=1, thin=steps)[0]
        return np.clip(self.scale * rounded.outwards(last), low, high)

    def point(self, level: int, rng: np.random.Generator) -> FloatArray:
        """The same in data units."""
        lower = np.array([float(v) for v in self.grid.lower])
        step = np.array([float(v) for v in self.grid.step])
        return lower + (self.coordinates(level, rng) + (self.centre - self.grid.low)) * step


def scaled_nest(levels: LevelSets, grid: Grid, *, highest: int) -> ScaledNest:
    """The levels 1 ... highest, without those that are flat or empty."""
    sample = levels.sample
    centre, scale = sample[len(sample) // 2], np.maximum(middle_range(sample), 1.0)
    stretched = levels.directions * scale
    lengths = np.linalg.norm(stretched, axis=1)
    normals = stretched / lengths[:, np.newaxis]
    count = min(highest, levels.highest_unbroken())
    # Projections are integers below 2^62: their differences are exact, and small where the data is.
    at_centre = (levels.directions @ centre)[:, np.newaxis]
    smallest = (levels.projections[:, :count] - at_centre) / lengths[:, np.newaxis]
    largest = (levels.projections[:, ::-1][:, :count] - at_centre) / lengths[:, np.newaxis]
    walls = np.concatenate([(grid.high - centre) / scale, (centre - grid.low) / scale])
    offsets = np.vstack([largest, -smallest, np.repeat(walls[:, np.newaxis], count, axis=1)]).T
    eye = np.eye(levels.d)
    nest = solid_nest(np.vstack([normals, -normals, eye, -eye]), np.ascontiguousarray(offsets))
    return ScaledNest(nest, centre, scale, grid)


# The volume of any bounded polytope, exactly (up to rounding) or by random walks.


def polytope_volume(
    A: Any,  # the paper's letter, and everyone's
    b: Any,
    method: str = "exact",
    *,
    error: float = USUAL_ERROR,
    randomness: Any = None,
) -> float:
    """Volume of the polytope {y : A y <= b}.

    Parameters
    ----------
    A, b
        Array-likes of shape (m, d) and (m,). Rows of zeros are allowed.
    method
        "exact": from the vertices, correct up to rounding; their number grows like m^(d/2), so up to d = 8 or so.
        "mcmc": rounding, then Gaussian cooling with hit-and-run; polynomial in m and d, an estimate without proof.
    error
        For "mcmc": relative standard deviation to aim for, at least 0.01. Halving it takes four times as long.
    randomness
        For "mcmc": None or `td.seeded(seed)`.

    Returns
    -------
    float
        Zero for an empty polytope, and for one that is flat to floats: its inner radius, or its width along an axis,
        below 1e-10 of its longest side or of how far it is from the origin.

    Raises
    ------
    ParameterError
        If the polytope is unbounded with infinite volume, or the shapes do not fit.

    Examples
    --------
    >>> from tukeydp.regions import polytope_volume
    >>> triangle = [[-1, 0], [0, -1], [1, 1]], [0, 0, 2]
    >>> round(polytope_volume(*triangle), 9)
    2.0
    >>> import tukeydp as td
    >>> 1.8 < polytope_volume(*triangle, method="mcmc", randomness=td.seeded(1)) < 2.2
    True
    """
    checked_choice("method", method, ("exact", "mcmc"))
    checked_error(error)
    bits = source(randomness)
    body = normalised(A, b)
    if body is None:
        return 0.0
    if method == "exact":
        return body.in_units(exact_log_volume(body))
    walks = cool(body.normals, body.offsets, body.inside, generator(bits.key(), 0), error=float(error))
    return body.in_units(walks.estimate.log_volume)
