"""Volumes of nested polytopes {y : A y <= b_l} that share A, such as a dataset's level sets. Estimates, unproven."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.data.scale import middle_range
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.paper.depth_regions import body_of
from tukeydp.paper.halfspaces import AlongDirections
from tukeydp.paper.polytopes import FLAT, chebyshev_ball, exact_log_volume, normalised
from tukeydp.paper.random_walks import USUAL_ERROR, Cooled, checked_error, cool, make_round, walk_on
from tukeydp.trusted.bits import source
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import FloatArray, IntArray, checked_choice, checked_integer
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.threads import available_cores, for_each

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
