"""Draws from the depth of subset means on made-up tables, for forecasts: by the mechanism itself, or by a walk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import relative_grid
from tukeydp.depth.notions.base import require_finite
from tukeydp.exact.boxes import whole_grid
from tukeydp.mechanisms.rehearsed_tables import ROWS_OF_DEPTH
from tukeydp.mechanisms.rehearsed_walk import half_of, walked_draws
from tukeydp.mechanisms.subset_means import SubsetPlan, block_depth, counted_means, subset_sampler
from tukeydp.randomness import derived_key

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
    directions = require_finite(depth.notion).on_grid(depth.grid, public_key)
    rng = np.random.default_rng(list(secret_key))
    points = walked_draws(depth.rows, directions, whole_grid(depth.grid), half_of(depth.epsilon), rng)
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
