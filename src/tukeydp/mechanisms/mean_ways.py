"""Ways to a mean between bounds, each a frozen plan of public numbers, and the choice of one by predicted errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.mechanisms.clipped_mean import ClippedMean, windowed_plan, windowed_width
from tukeydp.mechanisms.mean_plans import ROUGH, CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.scale_step import ScaleFirst, released_widths, scale_epsilon
from tukeydp.mechanisms.subset_means import scatter, subset_plan
from tukeydp.mechanisms.two_step import DOUBT, two_step_plan
from tukeydp.results.accuracy import ASSUMED_WIDTH, ASSUMED_WIDTH_OF_SHARES
from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SubsetPlan
from tukeydp.trusted.parameters import FloatArray, ParameterError, checked_choice, checked_integer, show
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import BoundedColumns, per_column

# Ways to a mean between bounds whose widths are known or assumed, with the error to be predicted of each.
#
# Predictions decide accuracy only: any way is as private. They are for columns half as skewed as exponential ones,
# fitted to made-up tables of all shapes.

Way = CubeMean | SubsetMean | TwoStepMean | ClippedMean

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


def ways_between(
    columns: BoundedColumns, n: int, epsilon: Fraction, widths: FloatArray, known: bool, *dealt: int | None
) -> dict[str, Way]:
    """Add windows to the ways, where standard deviations are public and nothing else is left but noise.

    Where rows suffice for depth or for centre and radii, these come closer: they find how spread a column is.
    """
    found = ways(n, columns.d, epsilon, widths, known, *dealt)
    windowed = windowed_plan(n, columns, epsilon, widths.tolist()) if known else None
    return _with_windows(found, windowed, n, widths, DOUBT)


def _with_windows(
    found: dict[str, Way], windowed: ClippedMean | None, n: int, widths: FloatArray, doubt: float
) -> dict[str, Way]:
    if windowed is None or "two-step" in found or best_way(found, n, widths, doubt).mechanism != "cube":
        return found
    return {**found, "two-step": windowed}


def best_way(found: dict[str, Way], n: int, widths: FloatArray, doubt: float = 1.0) -> Way:
    """The way with the smallest predicted error; depth of subset means only if it wins by the factor `doubt`.

    Noise between the bounds is what everybody else adds: it is the safe choice where widths may be wrong. So is the
    two-step mean, whose range is never wider than the bounds.
    """
    return min(
        found.values(), key=lambda way: way_error(way, n, widths) * (doubt if way.mechanism == "subset" else 1.0)
    )


def typical_width(widths: FloatArray, most: float = math.inf) -> float:
    """Of a range that noise is added in, in standard deviations: the mean over columns, none wider than `most`.

    Not the median: three narrow columns would outvote a wide one, which noise at its bounds then drowns.
    """
    return float(np.minimum(widths, most).mean())


def way_error(way: Way, n: int, widths: FloatArray) -> float:
    """Median error in standard deviations, for moderately skewed columns."""
    d, epsilon = len(widths), float(way.epsilon)
    if isinstance(way, CubeMean):
        rest = epsilon if way.fill is not None else epsilon * float(1 - ROUGH)
        return typical_width(widths) * median_of_noise(d) / (rest * n)
    if isinstance(way, ClippedMean):
        return typical_width(windowed_width(way, widths)) * median_of_noise(d) / (float(way.for_sums) * n)
    if isinstance(way, TwoStepMean):
        return typical_width(widths, CLIPPED_WIDTH) * median_of_noise(d) / (float(way.plan.epsilons[-1]) * n)
    error = scatter(n, d, float(way.plan.sampler_epsilon(way.epsilon)), way.plan.blocks)
    if way.plan.shifts:
        return _SHIFTED * error
    return error + skewness_bias(n / way.plan.blocks)


def skewness_bias(rows: float) -> float:
    """Of the median of means of so many rows, in standard deviations, for moderately skewed columns."""
    return float(np.interp(rows, _BLOCK_ROWS, _SKEWED))


# A mean in two steps: how spread the columns are in general, then the mean in the way that suits that.
#
# Both steps are pure DP, the second given what the first has released, so that their epsilons add up
# (docs/proofs/mean.md, section 6). What the first has found stays inside: only the mean is handed out.

# Released spreads are right within this factor, mostly: other ways than cube noise are taken if they win by it.
_DOUBT = 1.3


@dataclass(frozen=True)
class ScaledMean(ScaleFirst):
    """Scale first. `assumed` are widths of the bounds in standard deviations, public."""

    assumed: tuple[float, ...]
    mechanism: str = "two-step"

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        """Not public: it follows from what was found."""
        return None

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        run = charge.split(self.parts)
        scale_key, scale = derived_key("scale", public_key), run.charge("scale", "step", 0)
        widths = released_widths(relative, scale, np.array(self.assumed), scale_key)
        return self.way(len(relative), widths).draw(relative, public_key, run.charge("rest", "step", 1))

    def way(self, n: int, widths: FloatArray) -> Way:
        """How the mean is taken between bounds of these widths: of public and released numbers."""
        found = ways(n, len(widths), self.rest, widths, known=True)
        return best_way(_with_windows(found, self.windows(n, widths), n, widths, _DOUBT), n, widths, _DOUBT)

    def windows(self, n: int, widths: FloatArray) -> ClippedMean | None:
        """Windows between bounds of these widths, only where rows are too few for depth between those assumed.

        Elsewhere a scale that leaves nothing but noise is that of columns of few values, which windows may miss.
        """
        d, assumed = len(widths), np.array(self.assumed)
        if best_way(ways(n, d, self.epsilon, assumed, known=False), n, assumed).mechanism != "cube":
            return None
        relative = BoundedColumns((Fraction(-1),) * d, (Fraction(1),) * d)
        return windowed_plan(n, relative, self.rest, widths.tolist(), known=False)

    def error(self, n: int, widths: FloatArray) -> float:
        """Predicted median error in standard deviations, if the bounds are so wide."""
        return way_error(self.way(n, widths), n, widths)


# Which way to a mean, from public numbers alone: predicted errors of the ways, the smallest wins.
#
# Without public standard deviations, and with enough rows, how spread the columns are is found out first, privately.

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
    found = ways_between(columns, n, epsilon, widths, sd is not None, blocks, partitions)
    best = best_way(found, n, widths, 1.0 if sd is None else DOUBT)
    scale = scale_epsilon(n, epsilon) if sd is None and mechanism in ("auto", "two-step") else None
    if scale is not None:
        scaled = ScaledMean(epsilon, scale, tuple(widths.tolist()))
        # Where noise is best even between bounds as wide as assumed, there is nothing to find out.
        if mechanism == "two-step" or best.mechanism != "cube" or scaled.way(n, widths).mechanism != "cube":
            return scaled
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
