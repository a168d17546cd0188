"""Which way to a mean of a table that is read in passes, from public numbers alone.

Between bounds: cube noise, depth of the means of drawn blocks, or two steps. The scale of the columns is not found by
pairs of rows as in memory (`scale_step`), which would be half as many as there are rows: where no `sd` is given, the
spread of each column is a step of the two-step mean.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import BoundedColumns
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.mean_choice import checked_way, known_widths
from tukeydp.mechanisms.mean_of_secret_size import fewest_drawn_blocks
from tukeydp.mechanisms.mean_plans import CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import way_error
from tukeydp.mechanisms.pass_draws import PassPlan
from tukeydp.mechanisms.subset_means import SubsetPlan, dealings_for, grid_steps, scatter
from tukeydp.mechanisms.two_step import DOUBT, TwoStepPlan, two_step_plan
from tukeydp.parameters import brief, show

# Integers that a pass adds up, for each batch anew: 2^22 of them are 64 MiB in two limbs. More would no longer be a
# table that is small beside the rows.
MOST_SUMS = 2**22
_SKEWNESS = 1.0  # of the columns that errors are predicted for, half of that of exponential ones


def refuse_in_passes(**given: Any) -> None:
    """What takes a table in memory is refused by name for a lazy frame, before anything is computed."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise ParameterError(name, "must be left out for a lazy frame: collect it first", brief(value))


def fits_in_a_pass(blocks: int, d: int) -> bool:
    """Whether a pass can add up sums and numbers of so many blocks, all dealings together; public numbers only."""
    return 2 * blocks * d <= MOST_SUMS


def require_sums(blocks: int, dealings: int, d: int) -> None:
    if not fits_in_a_pass(blocks * dealings, d):
        rule = f"times partitions and columns must be at most {MOST_SUMS // 2} for a lazy frame"
        raise ParameterError("blocks", rule, blocks * dealings * d)


def pass_plan(
    n: int,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    mechanism: str = "auto",
    sd: Any = None,
    blocks: Any = None,
    partitions: Any = None,
) -> PassPlan:
    """The plan asked for by name, or the one with the smallest predicted error."""
    mechanism, blocks, partitions = checked_way(n, mechanism, blocks, partitions)
    widths, known = known_widths(columns, sd), sd is not None
    found: list[PassPlan] = [CubeMean(epsilon)]
    if mechanism in ("auto", "subset"):
        found += _subset(n, epsilon, widths, known, blocks, partitions, forced=mechanism == "subset")
    if mechanism in ("auto", "two-step"):
        found += _two_step(n, epsilon, widths, known, forced=mechanism == "two-step")
    asked = [plan for plan in found if mechanism in ("auto", plan.mechanism)]
    return min(asked, key=lambda plan: _error(plan, n, widths, DOUBT if known else 1.0))


def _error(plan: PassPlan, n: int, widths: FloatArray, doubt: float) -> float:
    """Predicted median error in standard deviations; that of depth of subset means must win by a factor."""
    if not isinstance(plan, SubsetMean):
        return way_error(plan, n, widths)
    # Block means are not corrected for skewness here: their median is off by skewness / (6 rows of a block).
    bias = _SKEWNESS * plan.plan.blocks / (6.0 * n)
    return doubt * (scatter(n, len(widths), float(plan.epsilon), plan.plan.blocks) + bias)


def _subset(
    n: int,
    epsilon: Fraction,
    widths: FloatArray,
    known: bool,
    blocks: int | None,
    partitions: int | None,
    forced: bool,
) -> list[PassPlan]:
    d = len(widths)
    count = blocks or _blocks(n, d, epsilon, widths, known)
    if count is None and forced:  # too few rows for it: the release says so
        count = n
    if count is None:
        return []
    dealings = partitions or dealings_for(count)
    if forced:
        require_sums(count, dealings, d)
    if not fits_in_a_pass(count * dealings, d):
        return []
    steps = grid_steps(scatter(n, d, float(epsilon), count), widths)
    return [SubsetMean(epsilon, SubsetPlan(count, dealings, steps, dealing="passes"))]


def _blocks(n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool) -> int | None:
    width = (DOUBT if known else 1.0) * math.exp(float(np.log(widths).mean()))
    return fewest_drawn_blocks(n, d, float(epsilon), width)


def _two_step(n: int, epsilon: Fraction, widths: FloatArray, known: bool, forced: bool) -> list[PassPlan]:
    plan = two_step_plan(n, len(widths), epsilon, widths, known, forced)
    if plan is None:
        return []
    plan = in_passes(plan)
    blocks = plan.centre.blocks + (0 if plan.spread is None else 2 * plan.spread.pairs)
    if not fits_in_a_pass(blocks, len(widths)):
        if forced:
            raise ParameterError("epsilon", "must be larger for a two-step mean of a lazy frame", show(epsilon))
        return []
    return [TwoStepMean(epsilon, plan)]


def in_passes(plan: TwoStepPlan) -> TwoStepPlan:
    """The plan with rows that draw their blocks by themselves; once for the centre, which need not be accurate."""
    centre = replace(plan.centre, dealing="passes", partitions=1, shifts=())
    return replace(plan, centre=centre, spread=None if plan.spread is None else replace(plan.spread, drawn=True))
