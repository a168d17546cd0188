"""Volumes of nested polytopes {y : A y <= b_l} that share A, such as the level sets of a dataset. Estimates, unproven.

Neighbours share work: a few *rungs* get a volume of their own, by cooling; uniform points of a rung that also lie in a
higher level give the ratio of the two volumes, for all levels up to the next rung. Rungs are worked off in threads,
each with randomness of its own, so the result does not depend on how many threads there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.depth.notions import Notion, require_finite
from tukeydp.geometry.chebyshev_balls import FLAT, chebyshev_ball
from tukeydp.geometry.depth_regions import body_of
from tukeydp.geometry.halfspaces import AlongDirections
from tukeydp.mcmc.volumes import USUAL_ERROR, Cooled, cool
from tukeydp.mcmc.walks import walk_on
from tukeydp.parameters import checked_integer
from tukeydp.randomness import source
from tukeydp.threads import available_cores, for_each

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
