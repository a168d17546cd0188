"""What accuracy, and which chance of a refusal, to expect without bounds: REM rehearsed on made-up tables.

The draw is rehearsed with the notion's own directions, the test with few: exact sizes of level sets along hundreds of
directions take minutes, and its chance hardly depends on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.depth.notions import AnyScale, FiniteNotion, Notion
from tukeydp.forecast.centre import own_medians, rehearsed_directions
from tukeydp.forecast.mean import own_means
from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.tables import MOST_CELLS, ROWS_OF_DEPTH, numbers, settled
from tukeydp.results.accuracy import ExpectedError, Rehearsal, ShapeError, over_shapes, sampling_error, shape_error
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.block_steps import corrected_means
from tukeydp.trusted.blocks import block_table, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, show
from tukeydp.trusted.rem.evidence import Evidence, Plan, evidence_of, sparse_offsets
from tukeydp.trusted.rem.safety import SafetyTest
from tukeydp.trusted.rows import Grid, per_column
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sizes.of_depth import sizes_of

_DRAWS = 20  # from one made-up table: all but free once it is prepared
# Deviation of a made-up column in grid steps where none is known: a fine grid, far from its ends.
_STEPS = 2.0**20
# The test: tables of one shape, sizes that are refined at most, and how close the chance is found. More take longer.
_TESTED, _REFINED, _CLOSE = 2, 60, Fraction(1, 20)
# Directions besides the axes: so many up to so many columns, few beyond. Skewed columns are refused a little more often
# with more of them.
_TEST_DIRECTIONS, _FEW_COLUMNS, _FEW_DIRECTIONS = 30, 5, 10


@dataclass(frozen=True)
class RemInputs:
    """What is public about a run of REM: on `n` rows, or on the means of `blocks` blocks of them."""

    notion: Notion
    grid: Grid
    plan: Plan
    test: SafetyTest
    n: int
    blocks: int | None = None


def rem_rehearsal(inputs: RemInputs) -> Rehearsal:
    """The forecast that goes with an outcome of REM."""
    return Rehearsal(_rem_error, (inputs,))


def on_blocks(rehearsal: Rehearsal, n: int, blocks: int) -> Rehearsal:
    """The forecast for a mean, by REM on the means of blocks of n rows, from that for its block table."""
    (inputs,) = rehearsal.inputs
    assert isinstance(inputs, RemInputs)
    return rem_rehearsal(replace(inputs, n=n, blocks=blocks))


def _rem_error(inputs: RemInputs, *, sd: Any, missing: float) -> ExpectedError:
    deviations = _deviations(inputs.grid, sd)
    directions = rehearsed_directions(inputs.notion, inputs.grid)
    return over_shapes(
        tuple(_on(shape, inputs, directions, deviations, missing) for shape in SHAPES),
        estimand="centre" if inputs.blocks is None else "mean",
        sampling=sampling_error(inputs.n, missing),
        missing=missing,
        known=sd is not None,
        scales=None if sd is None else deviations,
    )


def _deviations(grid: Grid, sd: Any) -> FloatArray:
    if sd is None:
        return np.array([_STEPS * float(s) for s in grid.step])
    values = per_column("sd", sd, grid.d)
    for value in values:
        if value <= 0:
            raise ParameterError("sd", "must be > 0", show(value))
    return np.array([float(v) for v in values])


def _on(shape: Shape, inputs: RemInputs, directions: IntArray, deviations: FloatArray, missing: float) -> ShapeError:
    d = inputs.grid.d
    chances, from_centre, from_mean = [], [], []
    for i in numbers(d):
        one = _Rehearsed(shape, inputs, deviations, missing, i)
        if i < _TESTED:
            chances.append(one.chance())
        points = one.points(directions)
        if len(points):
            from_centre.append((points - own_medians(one.table)) / deviations)
            from_mean.append((points - own_means(one.table)) / deviations)
    refused = 1.0 - float(np.mean(chances))
    if not from_mean or refused > 0.999:
        return shape_error(shape, np.empty((0, d)), refused=1.0)
    if inputs.blocks is not None:
        return shape_error(shape, np.concatenate(_for_all_rows(from_mean, inputs)), refused=refused)
    means, centres = (np.concatenate(_for_all_rows(errors, inputs)) for errors in (from_mean, from_centre))
    return shape_error(shape, centres, means, refused=refused)


def rem_errors(inputs: RemInputs, shape: Shape) -> list[FloatArray]:
    """Releases from made-up tables less the tables' own means, in standard deviations: one array for each table.

    Of what would be released; perhaps none.
    """
    directions, deviations = rehearsed_directions(inputs.notion, inputs.grid), _deviations(inputs.grid, None)
    errors = []
    for i in numbers(inputs.grid.d):
        one = _Rehearsed(shape, inputs, deviations, 0.0, i)
        points = one.points(directions)
        if len(points):
            errors.append((points - own_means(one.table)) / deviations)
    return _for_all_rows(errors, inputs)


class _Rehearsed:
    """One made-up table of few enough rows, and what REM would do with it."""

    def __init__(self, shape: Shape, inputs: RemInputs, deviations: FloatArray, missing: float, number: int) -> None:
        self._inputs, self._number = inputs, number
        rows = _rows_ranked(inputs)
        self.plan = scaled_plan(inputs.plan, rows)
        self.table = made_up(shape, _rows_made(inputs, rows), inputs.grid.d, number, missing) * deviations
        self._snapped = inputs.grid.snap(_ranked(self.table, rows, inputs, number))

    def chance(self) -> float:
        """Of a release, by the test with few directions."""
        grid = self._inputs.grid
        few = notion_for_the_test(self._inputs.notion, grid.d)
        prepared = few.prepare(self._snapped, grid, derived_key("rehearsal", self._number), lowest=1)
        sizes = sizes_of(prepared, whole_grid(grid), self.plan.threshold, slack=self.plan.test / 64)
        return chance_of_release(self._inputs.test, evidence_of(sizes, self.plan))

    def points(self, directions: IntArray) -> FloatArray:
        """Releases, one per row; none if no row is deep enough: hardly any point is then."""
        grid = self._inputs.grid
        levels = level_sets(self._snapped, directions, 1)
        if not levels.depths(self._snapped).max(initial=0) >= self.plan.threshold:
            return np.empty((0, grid.d))
        draws = Sampler(levels, within=whole_grid(grid), epsilon=2 * self.plan.eta, lowest=self.plan.threshold)
        return np.array([grid.point(draws.draw(derived_key("rehearsal", self._number, j))) for j in range(_DRAWS)])


def _rows_ranked(inputs: RemInputs) -> int:
    return min(inputs.blocks or inputs.n, ROWS_OF_DEPTH)


def _for_all_rows(errors: list[FloatArray], inputs: RemInputs) -> list[FloatArray]:
    """From the rehearsed share of the rows to all."""
    if not errors:
        return []
    ranked, rows = inputs.blocks or inputs.n, _rows_ranked(inputs)
    settled_errors = settled(errors, math.sqrt(rows / ranked))
    if inputs.blocks is None:
        return settled_errors
    fewer = _rows_made(inputs, rows) * ranked / rows / inputs.n  # rows of a block that were made up
    return [e * math.sqrt(min(1.0, fewer)) for e in settled_errors]


def notion_for_the_test(notion: Notion, d: int) -> Notion:
    few = AnyScale(_TEST_DIRECTIONS if d <= _FEW_COLUMNS else _FEW_DIRECTIONS)
    return notion if isinstance(notion, FiniteNotion) and notion.size(d) <= few.size(d) else few


def _rows_made(inputs: RemInputs, rows: int) -> int:
    """As many rows as there would be in so many blocks, but not more than fit."""
    if inputs.blocks is None:
        return rows
    return max(rows, min(inputs.n * rows // inputs.blocks, MOST_CELLS // inputs.grid.d))


def _ranked(table: FloatArray, rows: int, inputs: RemInputs, number: int) -> FloatArray:
    """What REM's depth is computed of."""
    if inputs.blocks is None:
        return table
    order = secret_order(len(table), Keystream(derived_key("rehearsal", "dealing", number)))
    return block_table(table, rows, order, corrected_means)


def scaled_plan(plan: Plan, rows: int) -> Plan:
    """For fewer rows at an epsilon raised in proportion: levels count in shares of the rows."""
    if rows == plan.n:
        return plan
    more = Fraction(plan.n, rows)
    threshold = max(1, round(plan.threshold / more))
    return Plan(
        rows,
        threshold,
        plan.release * more,
        plan.test * more,
        plan.delta,
        min(threshold - 1, round(plan.swaps / more)),  # rounding must not take it to the threshold
        sparse_offsets(rows),
        plan.neighbours,
    )


def chance_of_release(test: SafetyTest, evidence: Evidence) -> float:
    """Of a release, to about a hundredth, or as close as a few refinements come."""
    if evidence.empty:
        return 0.0
    for _ in range(_REFINED):
        chance = test.chance(evidence, 96)
        settled_enough = chance.high - chance.low < _CLOSE or chance.doubtful is None
        if settled_enough or not evidence.refine(chance.doubtful or 0):
            break
    return float(chance.low + chance.high) / 2.0
