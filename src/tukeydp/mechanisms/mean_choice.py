"""Which way to a mean, from public numbers alone: predicted errors of the three ways, the smallest wins.

Predictions are for columns half as skewed as exponential ones, fitted to made-up tables. They decide accuracy only: any
choice is as private.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.accuracy import ASSUMED_WIDTH, ASSUMED_WIDTH_OF_SHARES
from tukeydp.arrays import FloatArray
from tukeydp.data.bounded import BoundedColumns
from tukeydp.data.grid import per_column
from tukeydp.errors import ParameterError
from tukeydp.exact.cube_noise import median_of_noise
from tukeydp.mechanisms.mean_plans import ROUGH, CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.subset_means import SubsetPlan, scatter, subset_plan
from tukeydp.mechanisms.two_step import DOUBT, two_step_plan
from tukeydp.parameters import checked_choice, checked_integer, show

MECHANISMS = ("auto", "subset", "two-step", "cube")
# Bias of the median of block means, in standard deviations: by rows of a block, from three on with the correction for
# skewness. Half of that of exponential columns, whose skewness is 2.
_BLOCK_ROWS, _SKEWED = (1, 2, 3, 4, 8, 20, 100), (0.153, 0.08, 0.045, 0.025, 0.005, 0.001, 0.0)
_WIDEST = 10**300  # bounds in standard deviations: more is too much for a float
# Width of the range that the two-step mean clips to, in standard deviations.
_CLIPPED_WIDTH = 11.0


def mean_plan(
    n: int,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    mechanism: str = "auto",
    sd: Any = None,
    blocks: Any = None,
    partitions: Any = None,
) -> MeanPlan:
    """The plan asked for by name, or the one with the smallest predicted error."""
    checked_choice("mechanism", mechanism, MECHANISMS)
    if blocks is not None:
        blocks = checked_integer("blocks", blocks, least=1, most=n)
    if partitions is not None:
        partitions = checked_integer("partitions", partitions, least=1, most=1000)
    for name, value in (("blocks", blocks), ("partitions", partitions)):
        if mechanism in ("two-step", "cube") and value is not None:
            raise ParameterError(name, f"must be left out with mechanism={mechanism!r}", value)
    if mechanism == "auto" and (blocks, partitions) != (None, None):
        mechanism = "subset"
    widths = known_widths(columns, sd)
    plans = _plans(n, columns.d, epsilon, widths, sd is not None, blocks, partitions)
    if mechanism != "auto":
        return plans.get(mechanism) or _forced(mechanism, n, columns.d, epsilon, widths, sd is not None, partitions)
    return min(plans.values(), key=lambda plan: predicted_error(plan, n, widths))


def known_widths(columns: BoundedColumns, sd: Any) -> FloatArray:
    """The bounds' widths in standard deviations: by the public `sd`, or assumed."""
    if sd is None:
        shares = [a == 0 and b == 1 for a, b in zip(columns.lower, columns.upper, strict=True)]
        return np.where(shares, ASSUMED_WIDTH_OF_SHARES, ASSUMED_WIDTH)
    values = per_column("sd", sd, columns.d)
    for value, a, b in zip(values, columns.lower, columns.upper, strict=True):
        if not 0 < value <= b - a:
            raise ParameterError("sd", "must be > 0 and at most upper - lower", show(value))
        if (b - a) / value > _WIDEST:
            raise ParameterError("sd", f"must be at least upper - lower over {float(_WIDEST)}", show(value))
    ends = zip(columns.lower, columns.upper, values, strict=True)
    return np.array([float((b - a) / value) for a, b, value in ends])


def predicted_error(plan: MeanPlan, n: int, widths: FloatArray) -> float:
    """Median error in standard deviations, for moderately skewed columns."""
    d, epsilon = len(widths), float(plan.epsilon)
    if isinstance(plan, CubeMean):
        rest = epsilon if plan.fill is not None else epsilon * float(1 - ROUGH)
        return float(np.median(widths)) * median_of_noise(d) / (rest * n)
    if isinstance(plan, TwoStepMean):
        return _CLIPPED_WIDTH * median_of_noise(d) / (float(plan.plan.epsilons[-1]) * n)
    assert isinstance(plan, SubsetMean)
    m = n / plan.plan.blocks
    return scatter(n, d, epsilon, plan.plan.blocks) + float(np.interp(m, _BLOCK_ROWS, _SKEWED))


def _plans(
    n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool, blocks: int | None, partitions: int | None
) -> dict[str, MeanPlan]:
    """The ways that n rows suffice for; cube noise always does."""
    plans: dict[str, MeanPlan] = {"cube": CubeMean(epsilon)}
    subset = subset_plan(n, d, epsilon, widths, blocks, partitions, DOUBT if known else 1.0)
    if subset is not None:
        plans["subset"] = SubsetMean(epsilon, subset)
    steps = two_step_plan(n, d, epsilon, widths, known)
    if steps is not None:
        plans["two-step"] = TwoStepMean(epsilon, steps)
    return plans


def _forced(
    mechanism: str, n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool, partitions: int | None
) -> MeanPlan:
    """What was asked for by name although the rows are too few for it: the release says so."""
    if mechanism == "subset":
        plan: SubsetPlan | None = subset_plan(n, d, epsilon, widths, n, partitions)
        assert plan is not None
        return SubsetMean(epsilon, plan)
    steps = two_step_plan(n, d, epsilon, widths, known, forced=True)
    assert steps is not None
    return TwoStepMean(epsilon, steps)
