"""Which way to a mean, from public numbers alone: predicted errors of the ways, the smallest wins.

Without public standard deviations, and with enough rows, how spread the columns are is found out first, privately.
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
from tukeydp.mechanisms.mean_plans import MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import Way, best_way, way_error, ways
from tukeydp.mechanisms.scale_step import scale_epsilon
from tukeydp.mechanisms.scaled_mean import ScaledMean
from tukeydp.mechanisms.subset_means import SubsetPlan, subset_plan
from tukeydp.mechanisms.two_step import DOUBT, two_step_plan
from tukeydp.parameters import checked_choice, checked_integer, show

MECHANISMS = ("auto", "subset", "two-step", "cube")
_WIDEST = 10**300  # bounds in standard deviations: more is too much for a float


def checked_way(n: int, mechanism: str, blocks: Any, partitions: Any) -> tuple[str, int | None, int | None]:
    """What is asked for, checked; blocks or partitions ask for depth of subset means."""
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
    return mechanism, blocks, partitions


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
    mechanism, blocks, partitions = checked_way(n, mechanism, blocks, partitions)
    widths = known_widths(columns, sd)
    found = ways(n, columns.d, epsilon, widths, sd is not None, blocks, partitions)
    best = best_way(found, n, widths, 1.0 if sd is None else DOUBT)
    # Where noise is best even between bounds as wide as assumed, there is nothing to find out.
    unsure = sd is None and (mechanism == "two-step" or (mechanism == "auto" and best.mechanism != "cube"))
    scale = scale_epsilon(n, epsilon) if unsure else None
    if scale is not None:
        return ScaledMean(epsilon, scale, tuple(widths.tolist()))
    if mechanism == "auto":
        return best
    return found.get(mechanism) or _forced(mechanism, n, columns.d, epsilon, widths, sd is not None, partitions)


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
    if isinstance(plan, ScaledMean):
        return plan.error(n, widths)
    assert isinstance(plan, Way)
    return way_error(plan, n, widths)


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
