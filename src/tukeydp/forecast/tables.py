"""Made-up tables that forecasts run on: how many, how large, and draws of subset means from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tukeydp.depth.notions.base import require_finite
from tukeydp.forecast.simulated_walk import half_of, walked_in_parts
from tukeydp.mechanisms.cliff import drawn_notion
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SubsetPlan, block_depth, counted_means, subset_sampler
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import relative_grid

# How many made-up tables are rehearsed on, and how large: time against precision. No release depends on it.

# Columns of all tables of one shape together. Where they differ by how far their own deepest point strays, medians and
# quantiles of so many are good to about 15 percent; where fresh noise is all there is, fewer will do. More take longer.
DEPTH_COLUMNS, NOISE_COLUMNS, _FEWEST_TABLES = 50, 18, 2
# The same where how far the deepest point strays is taken for Gaussian: the deviation of so many is good to 15 percent.
WALKED_COLUMNS = 24
# Rows that depth is computed of at most. With fewer, the deepest point loses noticeably against the box, and the cliff
# is said to be nearer than it is; more take longer.
ROWS_OF_DEPTH = 1000
# Cells of a table at most. Above, errors have long been far below the sampling error.
MOST_CELLS = 100_000


def numbers(d: int, columns: int = DEPTH_COLUMNS) -> range:
    """The numbers of the made-up tables of one shape with d columns."""
    return range(max(_FEWEST_TABLES, math.ceil(columns / d)))


def settled(errors: list[FloatArray], factor: float) -> list[FloatArray]:
    """Errors with what the draws of one table have in common shrunk by `factor`, but for what all tables share.

    Depth of fewer rows, at an epsilon raised in proportion, has the same noise, and a deepest point that strays more,
    like 1/sqrt(rows), from its own place in the shape. Columns are alike: one place for all.
    """
    if factor == 1.0:
        return errors
    strays = _strays(errors)
    place = float(np.median(np.concatenate(strays)))
    return [e - (1.0 - factor) * (stray - place) for e, stray in zip(errors, strays, strict=True)]


def smoothed(errors: list[FloatArray], factor: float, symmetric: bool) -> list[FloatArray]:
    """The same, with a Gaussian variable for the strays of few tables: of the same mean, and their deviation shrunk.

    Columns are alike, so that those of all tables are one sample. In a symmetric shape strays have mean 0: that of the
    sample would not shrink, and count for much where there are many more rows than were made up.
    """
    from scipy.special import ndtri

    strays = _strays(errors)
    every = np.concatenate(strays)
    place = 0.0 if symmetric else float(every.mean())
    deviation = math.sqrt(np.square(every - place).sum() / (every.size - (0 if symmetric else 1)))
    noise = np.concatenate([e - stray for e, stray in zip(errors, strays, strict=True)])
    # Quantiles in random order, rather than random numbers: as many values as there are errors hardly differ.
    places = (np.random.default_rng(0).permutation(noise.size) + 0.5) / noise.size
    return [noise + place + factor * deviation * ndtri(places).reshape(noise.shape)]


def _strays(errors: list[FloatArray]) -> list[FloatArray]:
    """Where the draws from each table lie: their medians."""
    return [np.median(e, axis=0) for e in errors]


# Draws from the depth of subset means on made-up tables, for forecasts: by the mechanism itself, or by a walk.

# Relative cells, epsilon, plan, a public and a secret key, and how many draws.
Centres = Callable[[FloatArray, Fraction, SubsetPlan, bytes, bytes, int], FloatArray]


def depth_draws(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes
) -> Callable[[bytes], FloatArray]:
    """Draws from the depth of subset means, each with a key of its own."""
    sampler = subset_sampler(*_of_fewer(relative, epsilon, plan), public_key, secret_key)
    return lambda key: relative_grid(plan.steps).point(sampler.draw(key))


def drawn_centres(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes, count: int
) -> FloatArray:
    """So many draws from the depth of subset means, one a row."""
    draw = depth_draws(relative, epsilon, plan, public_key, secret_key)
    return np.array([draw(derived_key(i, secret_key)) for i in range(count)])


def walked_centres(
    relative: FloatArray, epsilon: Fraction, plan: SubsetPlan, public_key: bytes, secret_key: bytes, count: int
) -> FloatArray:
    """The same by a walk with about their law, of no more dealings than it takes; drawn where a walk cannot tell."""
    fewer, raised, plan_of_fewer = _of_fewer(relative, epsilon, plan)
    dealings = 2 * math.ceil(ROWS_OF_DEPTH / plan_of_fewer.blocks / 2)  # shifted ones come in pairs
    few = replace(plan_of_fewer, partitions=min(plan.partitions, dealings))
    depth = block_depth(counted_means(fewer, few, secret_key), raised, few, secret_key)
    notion = drawn_notion(None, depth.counted, depth.grid.d, depth.epsilon)
    parts = require_finite(notion).parts_on_grid(depth.grid, public_key)
    rng = np.random.default_rng(list(secret_key))
    points = walked_in_parts(depth.rows, parts, whole_grid(depth.grid), half_of(depth.epsilon), rng)
    if points is None:
        return drawn_centres(relative, epsilon, plan, public_key, secret_key, count)
    # Evenly along the walk, whose neighbouring points are alike.
    evenly = points[np.linspace(0, len(points) - 1, count).astype(np.int64)]
    return evenly * [float(s) for s in depth.grid.step] + depth.grid.point([0] * len(plan.steps))


def _of_fewer(relative: FloatArray, epsilon: Fraction, plan: SubsetPlan) -> tuple[FloatArray, Fraction, SubsetPlan]:
    """At most so many blocks, with epsilon raised in proportion.

    Depth counts in shares of the blocks, so that fewer of them at a larger epsilon leave the law as it is, but for how
    far the deepest point strays by itself (`settled`).
    """
    blocks = min(plan.blocks, ROWS_OF_DEPTH)
    fewer = relative[: len(relative) * blocks // plan.blocks]
    return fewer, epsilon * plan.blocks / blocks, replace(plan, blocks=blocks)
