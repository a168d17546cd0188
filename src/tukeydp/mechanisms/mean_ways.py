"""Ways to a mean between bounds whose widths are known or assumed, with the error to be predicted of each.

Predictions decide accuracy only: any way is as private. They are for columns half as skewed as exponential ones, fitted
to made-up tables of all shapes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.cube_noise import median_of_noise
from tukeydp.mechanisms.mean_plans import ROUGH, CubeMean, SubsetMean, TwoStepMean
from tukeydp.mechanisms.subset_means import scatter, subset_plan
from tukeydp.mechanisms.two_step import DOUBT, two_step_plan

Way = CubeMean | SubsetMean | TwoStepMean

# Bias of the median of block means, in standard deviations: by rows of a block, from three on with the correction for
# skewness. Half of that of exponential columns, whose skewness is 2. Where means are shifted hardly any is left.
_BLOCK_ROWS, _SKEWED = (1, 2, 3, 4, 8, 20, 100), (0.153, 0.08, 0.045, 0.025, 0.005, 0.001, 0.0)
_SHIFTED = 1.25  # what shifts add to the scatter
# Width of the range that the two-step mean clips to, in standard deviations.
CLIPPED_WIDTH = 10.0


def ways(
    n: int,
    d: int,
    epsilon: Fraction,
    widths: FloatArray,
    known: bool,
    blocks: int | None = None,
    partitions: int | None = None,
) -> dict[str, Way]:
    """The ways that n rows suffice for; cube noise always does. `known`: widths are about right, not assumed."""
    found: dict[str, Way] = {"cube": CubeMean(epsilon)}
    # Shifts by assumed widths, too: without them several columns of mostly zeros have no deep point, and a release is a
    # random one. Bounds are rarely wider than assumed, and where they are narrower shifts are small beside the data.
    smooth = known or (blocks, partitions) == (None, None)
    subset = subset_plan(n, d, epsilon, widths, blocks, partitions, DOUBT if known else 1.0, smooth)
    if subset is not None:
        found["subset"] = SubsetMean(epsilon, subset)
    steps = two_step_plan(n, d, epsilon, widths, known) if known else None
    if steps is not None:
        found["two-step"] = TwoStepMean(epsilon, steps)
    return found


def best_way(found: dict[str, Way], n: int, widths: FloatArray, doubt: float = 1.0) -> Way:
    """The way with the smallest predicted error; depth of subset means only if it wins by the factor `doubt`.

    Noise between the bounds is what everybody else adds: it is the safe choice where widths may be wrong. So is the
    two-step mean, whose range is never wider than the bounds.
    """
    return min(
        found.values(), key=lambda way: way_error(way, n, widths) * (doubt if way.mechanism == "subset" else 1.0)
    )


def way_error(way: Way, n: int, widths: FloatArray) -> float:
    """Median error in standard deviations, for moderately skewed columns."""
    d, epsilon = len(widths), float(way.epsilon)
    if isinstance(way, CubeMean):
        rest = epsilon if way.fill is not None else epsilon * float(1 - ROUGH)
        return float(np.median(widths)) * median_of_noise(d) / (rest * n)
    if isinstance(way, TwoStepMean):
        width = min(CLIPPED_WIDTH, float(np.median(widths)))
        return width * median_of_noise(d) / (float(way.plan.epsilons[-1]) * n)
    error = scatter(n, d, float(way.plan.sampler_epsilon(way.epsilon)), way.plan.blocks)
    if way.plan.shifts:
        return _SHIFTED * error
    return error + skewness_bias(n / way.plan.blocks)


def skewness_bias(rows: float) -> float:
    """Of the median of means of so many rows, in standard deviations, for moderately skewed columns."""
    return float(np.interp(rows, _BLOCK_ROWS, _SKEWED))
