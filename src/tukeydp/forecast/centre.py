"""What accuracy to expect of boxem's centre, from public inputs only: the mechanism, rehearsed on made-up tables.

Same notion of depth, same box, same epsilon, on tables that have nothing to do with the data. The centre that errors
are measured against is the median of each column of the made-up table; distances to its mean are given too. Draws come
from a random walk with about the mechanism's law, and from the mechanism itself where a walk cannot tell, or the grid
is coarse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tukeydp.depth.notions import FiniteNotion, Notion, Spread
from tukeydp.forecast.mean import own_means
from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.simulated_walk import half_of, walked_in_parts
from tukeydp.forecast.tables import ROWS_OF_DEPTH, WALKED_COLUMNS, numbers, settled, smoothed
from tukeydp.mechanisms.cliff import widest_for, width_sentence
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.results.accuracy import (
    FAR,
    ExpectedError,
    Rehearsal,
    ShapeError,
    over_shapes,
    rounded,
    sampling_error,
    shape_error,
)
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.rows import BoundedColumns, Grid
from tukeydp.trusted.sampling.draws import Sampler

_PUBLIC_KEY = derived_key("rehearsal", "public")
_DRAWS = 20  # from one made-up table: all but free once it is prepared
# Directions that stand for all of them, for each column: they come close to exact depth and are much faster.
_LIKE_EXACT = 60
# Above so many columns draws from the mechanism are rehearsed with only so many directions besides the axes, for speed:
# the true error is somewhat smaller.
_MOST_COLUMNS, _DIRECTIONS_BEYOND = 10, 64
_FINE = 256.0  # grid steps in a standard deviation from which on a walk in floats cannot tell the grid from a line
# A column of few grid points has at least this deviation, in steps, or a quarter of its width.
_STEPS = 2.0


def centre_rehearsal(notion: Notion, grid: Grid, n: int, epsilon: Fraction) -> Rehearsal:
    """The forecast that goes with a release of boxem."""
    widest = rounded(widest_for(notion, n, grid.d, float(epsilon)))
    caveat = width_sentence(widest, n, known_widths(_columns(grid), None), known=False)
    return Rehearsal(_centre_error, (notion, grid, n, epsilon), widest, caveat)


def _centre_error(notion: Notion, grid: Grid, n: int, epsilon: Fraction, *, sd: Any, missing: float) -> ExpectedError:
    columns = _columns(grid)
    deviations = columns.widths / known_widths(columns, sd)
    if sd is None:
        step = np.array([float(s) for s in grid.step])
        deviations = np.maximum(deviations, np.minimum(columns.widths / 4.0, _STEPS * step))
    inputs = _Rehearsed(_finite(notion, grid.d).parts_on_grid(grid, _PUBLIC_KEY), grid, n, epsilon, deviations, missing)
    shapes = tuple(_on(shape, inputs) for shape in SHAPES)
    complete = max(1, math.floor(n * (1.0 - missing) ** grid.d))
    return over_shapes(
        shapes,
        estimand="centre",
        sampling=sampling_error(n, missing),
        missing=missing,
        widths=tuple((columns.widths / deviations).tolist()),
        known=sd is not None,
        widest=rounded(widest_for(notion, complete, grid.d, float(epsilon))),
        scales=None if sd is None else deviations,
    )


def rehearsed_directions(notion: Notion, grid: Grid) -> IntArray:
    """The notion's directions, or those that stand for it; few of them for many columns."""
    return _few(_finite(notion, grid.d).on_grid(grid, _PUBLIC_KEY))


def _finite(notion: Notion, d: int) -> FiniteNotion:
    return notion if isinstance(notion, FiniteNotion) else Spread(_LIKE_EXACT * d)


def _few(directions: IntArray) -> IntArray:
    d = directions.shape[1]
    return directions if d <= _MOST_COLUMNS else directions[: d + _DIRECTIONS_BEYOND]


@dataclass(frozen=True, eq=False)
class _Rehearsed:
    """What a rehearsal depends on besides the shape.

    Fewer rows at an epsilon raised in proportion have the same law, but for how far the deepest point strays.
    """

    parts: Sequence[tuple[slice, IntArray]]
    grid: Grid
    n: int
    epsilon: Fraction
    deviations: FloatArray
    missing: float

    @property
    def rows(self) -> int:
        return min(self.n, ROWS_OF_DEPTH)

    @property
    def raised(self) -> Fraction:
        return self.epsilon * self.n / self.rows

    def for_shape(self, shape: Shape) -> _Rehearsed:
        """With the bounds that columns of such a shape would be given."""
        widths = _columns(self.grid).widths
        return replace(self, deviations=widths / shape.widths(widths / self.deviations))

    def table(self, shape: Shape, number: int) -> FloatArray:
        return made_up(shape, self.rows, self.grid.d, number, self.missing) * self.deviations

    def snapped(self, table: FloatArray) -> IntArray:
        return self.grid.snap(table + _middle(self.grid))

    def errors(self, table: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distances of grid points from the table's medians and from its means, in standard deviations."""
        # Coordinates count steps from the middle of the grid, and so do made-up tables.
        at = points * np.array([float(s) for s in self.grid.step])
        return (at - own_medians(table)) / self.deviations, (at - own_means(table)) / self.deviations


def _on(shape: Shape, inputs: _Rehearsed) -> ShapeError:
    inputs = inputs.for_shape(shape)
    factor = math.sqrt(inputs.rows / inputs.n)
    found = _walked(shape, inputs)
    if found is None:
        return _error(shape, _drawn(shape, inputs), settled, factor)
    # Draws far away have nothing to do with how far the deepest point strays.
    if any((np.abs(errors) > FAR).any() for errors, _ in found):
        return _error(shape, found, settled, factor)
    return _error(shape, found, partial(smoothed, symmetric=shape.symmetric), factor)


def _error(
    shape: Shape,
    found: Sequence[tuple[FloatArray, FloatArray]],
    for_all_rows: Callable[[list[FloatArray], float], list[FloatArray]],
    factor: float,
) -> ShapeError:
    """From the errors of each table, which stray by `factor` times as much with all rows."""
    from_centre, from_mean = ([pair[i] for pair in found] for i in range(2))
    return shape_error(
        shape, np.concatenate(for_all_rows(from_centre, factor)), np.concatenate(for_all_rows(from_mean, factor))
    )


def _walked(shape: Shape, inputs: _Rehearsed) -> list[tuple[FloatArray, FloatArray]] | None:
    """Errors by walks, one pair of arrays for each table; None where they cannot tell."""
    grid, step = inputs.grid, np.array([float(s) for s in inputs.grid.step])
    if (inputs.deviations < _FINE * step).any():
        return None
    half_epsilon = half_of(inputs.raised)
    found = []
    for i in numbers(grid.d, WALKED_COLUMNS):
        table = inputs.table(shape, i)
        rng = np.random.default_rng([i, grid.d])
        points = walked_in_parts(inputs.snapped(table), inputs.parts, whole_grid(grid), half_epsilon, rng)
        if points is None:
            return None
        found.append(inputs.errors(table, points))
    return found


def _drawn(shape: Shape, inputs: _Rehearsed) -> list[tuple[FloatArray, FloatArray]]:
    """The same by the mechanism itself."""
    found = []
    for i in numbers(inputs.grid.d):
        table = inputs.table(shape, i)
        rows = inputs.snapped(table)
        drawn = [_deep_points(inputs, rows[:, columns], columns, lines, i) for columns, lines in inputs.parts]
        found.append(inputs.errors(table, np.hstack(drawn)))
    return found


def _deep_points(inputs: _Rehearsed, rows: IntArray, columns: slice, directions: IntArray, number: int) -> FloatArray:
    grid = inputs.grid.of(columns)
    epsilon = inputs.raised * Fraction(grid.d, inputs.grid.d)
    sampler = Sampler(level_sets(rows, _few(directions)), within=whole_grid(grid), epsilon=epsilon)
    block = (columns.start,) if columns.start else ()
    points = [sampler.draw(derived_key("rehearsal", *block, number, j)) for j in range(_DRAWS)]
    return np.array(points, dtype=np.float64)


def own_medians(table: FloatArray) -> FloatArray:
    """Of the values that are there; 0 where there are none."""
    if not np.isnan(table).any():
        return np.asarray(np.median(table, axis=0))
    return np.array([np.median(c[~np.isnan(c)]) if not np.isnan(c).all() else 0.0 for c in table.T])


def _columns(grid: Grid) -> BoundedColumns:
    ends = zip(grid.lower, grid.step, grid.cells, strict=True)
    return BoundedColumns(grid.lower, tuple(a + s * c for a, s, c in ends))


def _middle(grid: Grid) -> FloatArray:
    return np.array([float(a + s * (c // 2)) for a, s, c in zip(grid.lower, grid.step, grid.cells, strict=True)])
