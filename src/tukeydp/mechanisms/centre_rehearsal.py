"""What accuracy to expect of boxem's centre, from public inputs only: the mechanism, rehearsed on made-up tables.

Same notion of depth, same box, same epsilon, on tables that have nothing to do with the data. The centre that errors
are measured against is the median of each column of the made-up table; distances to its mean are given too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.accuracy import ExpectedError, Rehearsal, over_shapes, rounded, sampling_error, shape_error
from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.bounded import BoundedColumns
from tukeydp.data.grid import Grid
from tukeydp.data.shapes import SHAPES, Shape, made_up
from tukeydp.depth.levels import level_sets
from tukeydp.depth.notions import FiniteNotion, Notion, Spread
from tukeydp.exact.boxes import whole_grid
from tukeydp.mechanisms.cliff import widest_bounds, width_sentence
from tukeydp.mechanisms.mean_choice import known_widths
from tukeydp.mechanisms.mean_rehearsal import own_means
from tukeydp.mechanisms.rehearsed_tables import ROWS_OF_DEPTH, numbers, settled
from tukeydp.randomness import derived_key
from tukeydp.sampling.sampler import Sampler

_DRAWS = 20  # from one made-up table: all but free once it is prepared
# Directions that stand for all of them, for each column: they come close to exact depth and are much faster.
_LIKE_EXACT = 60
# Above so many columns only so many directions besides the axes are rehearsed with, for speed: the true error is
# somewhat smaller.
_MOST_COLUMNS, _DIRECTIONS_BEYOND = 10, 64
# A column of few grid points has at least this deviation, in steps, or a quarter of its width.
_STEPS = 2.0


def centre_rehearsal(notion: Notion, grid: Grid, n: int, epsilon: Fraction) -> Rehearsal:
    """The forecast that goes with a release of boxem."""
    widest = rounded(widest_bounds(n, grid.d, float(epsilon)))
    caveat = width_sentence(widest, n, known_widths(_columns(grid), None), known=False)
    return Rehearsal(_centre_error, (notion, grid, n, epsilon), widest, caveat)


def _centre_error(notion: Notion, grid: Grid, n: int, epsilon: Fraction, *, sd: Any, missing: float) -> ExpectedError:
    columns = _columns(grid)
    deviations = columns.widths / known_widths(columns, sd)
    if sd is None:
        step = np.array([float(s) for s in grid.step])
        deviations = np.maximum(deviations, np.minimum(columns.widths / 4.0, _STEPS * step))
    directions = rehearsed_directions(notion, grid)
    shapes = tuple(_on(shape, directions, grid, n, epsilon, deviations, missing) for shape in SHAPES)
    complete = max(1, math.floor(n * (1.0 - missing) ** grid.d))
    return over_shapes(
        shapes,
        estimand="centre",
        sampling=sampling_error(n, missing),
        missing=missing,
        widths=tuple((columns.widths / deviations).tolist()),
        known=sd is not None,
        widest=rounded(widest_bounds(complete, grid.d, float(epsilon))),
        scales=None if sd is None else deviations,
    )


def rehearsed_directions(notion: Notion, grid: Grid) -> IntArray:
    """The notion's directions, or those that stand for it."""
    finite = notion if isinstance(notion, FiniteNotion) else Spread(_LIKE_EXACT * grid.d)
    directions = finite.on_grid(grid, derived_key("rehearsal", "public"))
    return directions if grid.d <= _MOST_COLUMNS else directions[: grid.d + _DIRECTIONS_BEYOND]


def _on(
    shape: Shape,
    directions: IntArray,
    grid: Grid,
    n: int,
    epsilon: Fraction,
    deviations: FloatArray,
    missing: float,
) -> Any:
    """Fewer rows at an epsilon raised in proportion have the same law, but for how far the deepest point strays."""
    rows = min(n, ROWS_OF_DEPTH)
    widths = _columns(grid).widths
    deviations = widths / shape.widths(widths / deviations)
    from_centre, from_mean = [], []
    for i in numbers(grid.d):
        table = made_up(shape, rows, grid.d, i, missing) * deviations
        snapped = grid.snap(table + _middle(grid))
        sampler = Sampler(level_sets(snapped, directions), within=whole_grid(grid), epsilon=epsilon * n / rows)
        points = np.array([grid.point(sampler.draw(derived_key("rehearsal", i, j))) for j in range(_DRAWS)])
        errors = (points - _middle(grid)) / deviations
        from_centre.append(errors - own_medians(table) / deviations)
        from_mean.append(errors - own_means(table) / deviations)
    factor = math.sqrt(rows / n)
    return shape_error(shape, np.concatenate(settled(from_centre, factor)), np.concatenate(settled(from_mean, factor)))


def own_medians(table: FloatArray) -> FloatArray:
    """Of the values that are there; 0 where there are none."""
    return np.array([np.median(c[~np.isnan(c)]) if not np.isnan(c).all() else 0.0 for c in table.T])


def _columns(grid: Grid) -> BoundedColumns:
    ends = zip(grid.lower, grid.step, grid.cells, strict=True)
    return BoundedColumns(grid.lower, tuple(a + s * c for a, s, c in ends))


def _middle(grid: Grid) -> FloatArray:
    return np.array([float(a + s * (c // 2)) for a, s, c in zip(grid.lower, grid.step, grid.cells, strict=True)])
