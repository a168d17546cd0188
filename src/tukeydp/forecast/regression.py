"""What a private regression is expected to lose against least squares: rehearsed on made-up features.

The loss does not depend on the coefficients: least squares moves with them. It is stated as a share of what least
squares leaves unexplained: R^2 falls by that share of 1 - R^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.data.records import Records
from tukeydp.data.relation import Relation
from tukeydp.data.tables import Table
from tukeydp.depth.notions import Notion
from tukeydp.forecast.centre import rehearsed_directions
from tukeydp.forecast.rem import chance_of_release, notion_for_the_test, scaled_plan
from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.tables import ROWS_OF_DEPTH
from tukeydp.mechanisms.block_release import delta_for_each
from tukeydp.mechanisms.least_squares import RegressionPlan, intercept_and_slopes, slopes
from tukeydp.mechanisms.regression_by_sums import SumsPlan, fitted, in_units, sums_plan
from tukeydp.mechanisms.rem_choice import chosen_plan
from tukeydp.results.accuracy import (
    ASSUMED_WIDTH,
    MEDIAN_OF_GAUSSIAN,
    ExpectedError,
    Range,
    Rehearsal,
    ShapeError,
    rounded,
)
from tukeydp.results.accuracy_words import span
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.blocks import block_table, secret_order
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief
from tukeydp.trusted.prices import ADD_REMOVE
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.rows import BoundedColumns, Grid
from tukeydp.trusted.sampling.draws import Sampler
from tukeydp.trusted.sizes.of_depth import sizes_of

_MOST_ROWS_OF_SUMS, _FITS = 4000, 6  # made up for sums, and fits of each table
_HALF_RANGE = 25  # of made-up columns' ranges, in standard deviations
# Features that are skewed and hang together, around so many deviations from zero, and answers with skewed residuals.
_HARD, _AWAY, _SKEWED = "skewed and correlated, 4 deviations from zero", 4.0, 0.9
_MORE = "A few rows far out that decide a slope cost more."
_MORE_OF_BLOCKS = "Features far from zero, or strongly correlated, lose more: give ranges."
_TABLES, _DRAWS = 2, 20  # of each shape, and from each table. More take longer
_MOST_ROWS_OF_A_BLOCK = 60  # that are made up; with more the loss follows by a formula
_STEPS = 2.0**20  # deviation of a block's coefficient in grid steps, without bounds: a fine grid, far from its ends
_USELESS = 1.0  # a loss as large as all that least squares leaves unexplained
_RARE = 0.005  # chance of a refusal that is worth no word


@dataclass(frozen=True)
class RegressionError(ExpectedError):
    """What a private regression is expected to lose.

    `typical` and `within_95` are distances of released coefficients from those of least squares on the same table, in
    standard errors of least squares. `far` is the share of releases that double what is unexplained, or worse.

    Attributes
    ----------
    r2_loss, r2_loss_95
        R^2 falls by so many times 1 - R^2 against least squares: in half of the releases less, in 95 of 100 less.
    """

    r2_loss: Range | None = None
    r2_loss_95: Range | None = None

    def sentences(self) -> list[str]:
        """In words, as other forecasts are said."""
        if self.r2_loss is None or self.r2_loss_95 is None or self.typical is None:
            return ["By rehearsal nothing would be released."]
        away = any(one.shape == _HARD for one in self.shapes)
        said = [
            f"By rehearsal{'' if away else ' on features around zero'}, R^2 falls against least squares by "
            f"{span(self.r2_loss)} times 1 - R^2 in half of the releases, by at most {span(self.r2_loss_95)} times in "
            f"95 of 100, by the shape of the features. Half of the coefficients are within {span(self.typical)} "
            f"standard errors of those of least squares. {_MORE if away else _MORE_OF_BLOCKS}"
        ]
        if self.refused is not None and self.refused[1] > _RARE:
            said.append(f"Chance of a refusal: {span(self.refused)}.")
        return said


@dataclass(frozen=True)
class RegressionInputs:
    """What is public about a run."""

    plan: RegressionPlan
    intercept: bool
    notion: Notion
    grid: Grid


def regression_rehearsal(inputs: RegressionInputs) -> Rehearsal:
    return Rehearsal(_regression_error, (inputs,))


def _regression_error(inputs: RegressionInputs, *, sd: object, missing: float) -> RegressionError:
    if sd is not None:
        raise ParameterError("sd", "must be left out for a regression", brief(sd))
    return _over_shapes([_on(shape, inputs, missing) for shape in SHAPES if not shape.few_values], missing)


def _over_shapes(runs: list[_Run], missing: float) -> RegressionError:
    shapes = tuple(run.shape for run in runs)
    return RegressionError(
        estimand="least-squares coefficients",
        units="standard errors of least squares",
        typical=_range([s.typical for s in shapes]),
        within_95=_range([s.within_95 for s in shapes]),
        from_mean=None,
        far=max(s.far for s in shapes),
        refused=_range([s.refused for s in shapes]),
        sampling=rounded(MEDIAN_OF_GAUSSIAN),
        shapes=shapes,
        columns=None,
        missing=missing,
        widths=None,
        known=False,
        widest=None,
        r2_loss=_range([run.median for run in runs]),
        r2_loss_95=_range([run.within_95 for run in runs]),
    )


def sums_rehearsal(plan: SumsPlan, rows: int) -> Rehearsal:
    """For noised sums of products, of so many rows."""
    return Rehearsal(_sums_error, (plan, rows))


def _sums_error(plan: SumsPlan, rows: int, *, sd: object, missing: float) -> RegressionError:
    if sd is not None:
        raise ParameterError("sd", "must be left out for a regression", brief(sd))
    runs = [_by_sums(shape, plan, rows, missing) for shape in SHAPES if not shape.few_values]
    return _over_shapes([*runs, _by_sums(None, plan, rows, missing)], missing)


def _features_and_residuals(
    shape: Shape | None, rows: int, p: int, number: int, missing: float
) -> tuple[FloatArray, FloatArray]:
    """Of a shape, with Gaussian residuals; None for the hard case, the residuals of which are skewed."""
    if shape is not None:
        return made_up(shape, rows, p, number, missing), made_up(SHAPES[0], rows, 1, number + 1000)
    logs = made_up(SHAPES[0], rows, p + 2, number)
    skewed = np.exp(_SKEWED * np.hstack([np.sqrt(0.5) * (logs[:, :p] + logs[:, p : p + 1]), logs[:, p + 1 :]]))
    skewed = (skewed - skewed.mean(axis=0)) / skewed.std(axis=0)
    features = np.where(np.random.default_rng(number).random((rows, p)) < missing, np.nan, skewed[:, :p] + _AWAY)
    return features, skewed[:, p:]


def _by_sums(shape: Shape | None, plan: SumsPlan, rows: int, missing: float) -> _Run:
    """Fits of made-up tables, half of whose answers' variance is explained, against least squares on the same table.

    Of more rows than are made up as much noise is left for each: epsilon is larger by as much.
    """
    made = min(rows, _MOST_ROWS_OF_SUMS)
    p = plan.d - 1
    columns = BoundedColumns((Fraction(-_HALF_RANGE),) * plan.d, (Fraction(_HALF_RANGE),) * plan.d)
    own = sums_plan(made, columns, plan.epsilon * Fraction(rows, made), plan.intercept, plan.neighbours, None)
    losses, errors = [], []
    for number in range(_TABLES):
        features, residuals = _features_and_residuals(shape, made, p, number, missing)
        explained = np.nan_to_num(features).sum(axis=1, keepdims=True) / math.sqrt(p)
        cells = np.hstack([features, explained + residuals])
        complete = cells[np.isfinite(cells).all(axis=1)]
        design = np.hstack([np.ones((len(complete), int(plan.intercept))), complete[:, :-1]])
        squares = design.T @ design + np.eye(design.shape[1]) * 1e-9
        exact = np.linalg.solve(squares, design.T @ complete[:, -1])
        left = max(float(((complete[:, -1] - design @ exact) ** 2).sum()), 1e-9)
        errors_of_exact = np.sqrt(np.diagonal(np.linalg.inv(squares)) * left / max(1, len(complete) - len(exact)))
        for draw in range(_FITS):
            charge = rehearsed_charge(own.guarantee, derived_key("rehearsal", number, draw))
            records = Records(Table(cells), Relation(plan.neighbours, made if plan.neighbours == ADD_REMOVE else None))
            found = fitted(records, own, columns, charge)
            away = in_units(found.coefficients(0), found, columns) - exact
            losses.append(float(away @ squares @ away) / left)
            errors.append(np.abs(away) / errors_of_exact * math.sqrt(rows / made))
    sizes = np.concatenate(errors)
    typical, far_end = (rounded(float(np.quantile(sizes, q))) for q in (0.5, 0.95))
    lost = np.array(losses)
    far = rounded(float((lost > _USELESS).mean()))
    median, within_95 = (rounded(float(np.quantile(lost, q))) for q in (0.5, 0.95))
    name = _HARD if shape is None else shape.name
    return _Run(ShapeError(name, False, typical, far_end, None, far, None), median, within_95)


def _range(values: list[float | None]) -> Range | None:
    found = [v for v in values if v is not None]
    return (min(found), max(found)) if found else None


@dataclass(frozen=True)
class _Run:
    shape: ShapeError
    median: float | None
    within_95: float | None


def _on(shape: Shape, inputs: RegressionInputs, missing: float) -> _Run:
    chances, losses, errors = [], [], []
    for number in range(_TABLES):
        one = _Rehearsed(shape, inputs, missing, number)
        if number == 0 and one.test is not None:
            chances.append(one.chance(one.test))
        found = one.errors()
        if len(found):
            losses.append(one.loss(found))
            errors.append(one.in_standard_errors(found))
    refused = None if not chances else rounded(1.0 - float(np.mean(chances)))
    if not losses:
        return _Run(ShapeError(shape.name, False, None, None, None, 0.0, refused), None, None)
    lost, sizes = np.concatenate(losses), np.abs(np.concatenate(errors))
    median, within_95 = (rounded(float(np.quantile(lost, q))) for q in (0.5, 0.95))
    typical, far_end = (rounded(float(np.quantile(sizes, q))) for q in (0.5, 0.95))
    far = rounded(float((lost > _USELESS).mean()))
    return _Run(ShapeError(shape.name, False, typical, far_end, None, far, refused), median, within_95)


class _Rehearsed:
    """One made-up table with an answer that is noise of deviation 1, and its block coefficients."""

    def __init__(self, shape: Shape, inputs: RegressionInputs, missing: float, number: int) -> None:
        plan, self.grid, self._number, self._notion = inputs.plan, inputs.grid, number, inputs.notion
        d, each = plan.d, plan.n / plan.blocks
        statistic = intercept_and_slopes if inputs.intercept else slopes
        blocks = min(plan.blocks, ROWS_OF_DEPTH)
        made = max(d + 2, min(round(each), _MOST_ROWS_OF_A_BLOCK))
        features = made_up(shape, blocks * made, d - inputs.intercept, number, missing)
        answer = made_up(SHAPES[0], blocks * made, 1, number + 1000)
        cells = np.hstack([features, answer])
        first, *others = (
            block_table(cells, blocks, _order(len(cells), number, i), statistic) for i in range(plan.partitions)
        )
        complete = cells[np.isfinite(cells).all(axis=1)]
        self._own = statistic(complete[np.newaxis])[0]
        constant = np.ones((len(complete), 1 if inputs.intercept else 0))
        design = np.hstack([constant, complete[:, :-1]])
        self._gram = design.T @ design / len(complete)
        # Blocks of more rows than were made up have coefficients that are closer by this factor.
        self._closer = math.sqrt(max(made - d - 1.0, 0.5) / max(each - d - 1.0, 0.5)) if each > made else 1.0
        self._rows = plan.n * (1.0 - missing)
        deviation = 1.0 / math.sqrt(max(made - d - 1.0, 0.5))
        self.test, self._epsilon, self._lowest = _law(plan, blocks)
        one, every = (self._on_grid(table, deviation) for table in (first, np.concatenate([first, *others])))
        self._snapped_once, self._snapped = one, every

    def _on_grid(self, table: FloatArray, deviation: float) -> IntArray:
        """Around the middle of the grid, so wide as is assumed of a block's coefficient."""
        steps = np.array([float(s) for s in self.grid.step])
        widths = steps * np.array(self.grid.cells, dtype=float)
        wide = widths / ASSUMED_WIDTH if self.test is None else _STEPS * steps
        self._unit = wide / deviation
        middle = np.array([float(v) for v in self.grid.lower]) + widths / 2.0
        self._middle = middle
        return self.grid.snap(middle + (table - self._own) * self._unit)

    def errors(self) -> FloatArray:
        """Releases less the least squares of the whole table, in residual deviations; none where nothing is deep."""
        levels = level_sets(self._snapped, rehearsed_directions(self._notion, self.grid), 1)
        if self._lowest and not levels.depths(self._snapped).max(initial=0) >= self._lowest:
            return np.empty((0, self.grid.d))
        draws = Sampler(levels, within=whole_grid(self.grid), epsilon=self._epsilon, lowest=self._lowest)
        drawn = [self.grid.point(draws.draw(derived_key("rehearsal", self._number, j))) for j in range(_DRAWS)]
        return np.asarray((np.array(drawn) - self._middle) / self._unit * self._closer)

    def loss(self, errors: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,jk,ik->i", errors, self._gram, errors))

    def in_standard_errors(self, errors: FloatArray) -> FloatArray:
        own = np.sqrt(np.diagonal(np.linalg.inv(self._gram)) / self._rows)
        return np.asarray(errors / own)

    def chance(self, plan: Plan) -> float:
        """Of a release, by the test with few directions on one dealing, at the whole epsilon."""
        few = notion_for_the_test(self._notion, self.grid.d)
        prepared = few.prepare(self._snapped_once, self.grid, derived_key("rehearsal", self._number), lowest=1)
        sizes = sizes_of(prepared, whole_grid(self.grid), plan.threshold, slack=plan.test / 64)
        return chance_of_release(Graded(), Evidence(sizes, plan))


def _order(n: int, number: int, dealing: int) -> IntArray:
    return secret_order(n, Keystream(derived_key("rehearsal", "dealing", number, dealing)))


def _law(plan: RegressionPlan, blocks: int) -> tuple[Plan | None, Fraction, int]:
    """REM's plan for one dealing, and the epsilon and the lowest level of the draw from all, with so many blocks."""
    every = plan.blocks * plan.partitions
    if isinstance(plan.guarantee, ApproxDP):
        delta = delta_for_each(plan.guarantee, plan.partitions)
        own = chosen_plan(every, plan.d, plan.guarantee.epsilon / plan.partitions, delta, None)
        drawn = scaled_plan(own, blocks * plan.partitions)
        return scaled_plan(own, blocks), drawn.release, drawn.threshold
    return None, plan.guarantee.epsilon / plan.partitions * Fraction(plan.blocks, blocks), 0
