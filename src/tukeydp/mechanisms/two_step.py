"""Clipping where the data are: centre, spread and radii first, then a clipped mean with the rest of epsilon.

Each step is pure DP given what the steps before have released, so their epsilons add up (docs/proofs/mean.md,
section 6). The clip range is fixed by released values and public numbers. A missing cell counts as the centre; what
that takes from the mean's distance to the centre is given back, by the released shares of missing cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tukeydp.mechanisms.clipped_sum import missing_shares, within_bounds, without_missing
from tukeydp.mechanisms.spread_step import spread_plan
from tukeydp.mechanisms.subset_means import fewest_blocks, subset_plan
from tukeydp.trusted.account import PureDP, bounded_range
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPlan, SubsetPlan, spread_octaves, subset_point
from tukeydp.trusted.clipped_sums import ClipRange, clipped_mean, drawn_radii
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge, Run
from tukeydp.trusted.rows import relative_grid

# Shares of epsilon for the centre, and as much for the spread: the smallest that the rows suffice for. The clipped mean
# has what these, the radii and the shares of missing cells leave.
FIRST_STEPS = (Fraction(1, 20), Fraction(2, 25), Fraction(3, 25), Fraction(3, 20))
_RADII, MISSING = Fraction(3, 25), Fraction(1, 50)
# A spread is taken to be at least a hundredth of the width, which is 2: a column of nearly equal values has none to
# find.
NARROWEST = 2.0 / 100.0
# Depth in asymmetric columns reaches less far than in bell-shaped ones: the centre's blocks are chosen as if it had
# this part of its epsilon. With all of it, tables of many yes/no columns fell off the cliff.
_CAREFUL = Fraction(3, 5)
# Public standard deviations may be too large by this factor, as `sd=` allows, without a fall from the cliff.
DOUBT = 2.0


@dataclass(frozen=True)
class TwoStepPlan:
    """All that is fixed beforehand; `spread` is None where the spreads are public (`known`, in widths)."""

    epsilons: tuple[Fraction, Fraction, Fraction, Fraction, Fraction]
    centre: SubsetPlan
    spread: SpreadPlan | None
    known: tuple[float, ...] | None

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs."""
        centre, spread, radii, missing, mean = self.epsilons
        first = {"centre": bounded_range(centre), **({"spread": bounded_range(spread)} if spread else {})}
        return {**first, "radii": bounded_range(radii), "missing": PureDP(missing), "mean": PureDP(mean)}


def two_step_plan(
    n: int,
    d: int,
    epsilon: Fraction,
    widths: FloatArray,
    known: bool,
    forced: bool = False,
    shares: Sequence[Fraction] = FIRST_STEPS,
) -> TwoStepPlan | None:
    """None if the rows are too few for the first steps, unless `forced`. `known`: widths are public, not assumed."""
    for share in shares:
        plan = _with_share(n, d, epsilon, widths, known, share, forced and share == shares[-1])
        if plan is not None:
            return plan
    return None


def _with_share(
    n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool, share: Fraction, forced: bool
) -> TwoStepPlan | None:
    shares = (share * epsilon, Fraction(0) if known else share * epsilon, _RADII * epsilon, MISSING * epsilon)
    centre = centre_plan(n, d, shares[0], widths, known)
    spread = None if known else spread_plan(n, d, shares[1])
    if forced:
        centre = centre or subset_plan(n, d, shares[0], widths, blocks=n)
        spread = None if known else spread or SpreadPlan(max(1, n // 2))
    if centre is None or (spread is None and not known):
        return None
    return TwoStepPlan(
        (*shares, epsilon - sum(shares)), centre, spread, tuple((1 / widths).tolist()) if known else None
    )


@dataclass(frozen=True, eq=False)
class TwoStepResult:
    """All that the steps have released, as numbers from -1 to 1; `spread` is None where it is public."""

    mean: list[Fraction]
    spread: FloatArray | None
    low: FloatArray
    high: FloatArray
    missing: list[Fraction]


def centre_plan(n: int, d: int, epsilon: Fraction, widths: FloatArray, known: bool) -> SubsetPlan | None:
    """Blocks for the centre; None if the rows are too few. `known`: widths are public, not assumed."""
    # The centre need not be accurate, but it must be found, also among columns of few values: blocks for less epsilon.
    width = (DOUBT if known else 1.0) * math.exp(float(np.log(widths).mean()))
    blocks = fewest_blocks(n, d, float(_CAREFUL * epsilon), width)
    return None if blocks is None else subset_plan(n, d, epsilon, widths, blocks=blocks)


def two_step_point(relative: FloatArray, plan: TwoStepPlan, public_key: bytes, charge: Charge) -> list[Fraction]:
    """The mean, as numbers from -1 to 1: pure DP with the sum of the plan's epsilons."""
    return two_step_result(relative, plan, public_key, charge).mean


def two_step_result(relative: FloatArray, plan: TwoStepPlan, public_key: bytes, charge: Charge) -> TwoStepResult:
    """The mean and what was released on the way to it: pure DP with the sum of the plan's epsilons."""
    run = charge.split(plan.parts)
    y = subset_point(relative, run.charge("centre", "step", 0), plan.centre, public_key)
    centre = relative_grid(plan.centre.steps).point(y)
    spread = None if plan.known is not None else _spread(relative, plan, public_key, run.charge("spread", "step", 1))
    used = 2.0 * np.array(plan.known) if spread is None else np.maximum(spread, NARROWEST)
    return replace(second_step(relative, centre, used, run), spread=spread)


def clipped_around(relative: FloatArray, centre: FloatArray, spread: FloatArray, run: Run) -> list[Fraction]:
    """The mean by the second step alone."""
    return second_step(relative, centre, spread, run).mean


def second_step(relative: FloatArray, centre: FloatArray, spread: FloatArray, run: Run) -> TwoStepResult:
    """Radii, shares of missing cells and clipped mean, given the released centre and spread."""
    radii = drawn_radii(relative, centre, spread, run.charge("radii", "step", 2))
    low, high = np.maximum(-1.0, centre - radii * spread), np.minimum(1.0, centre + radii * spread)
    shares = missing_shares(relative, run.charge("missing", "step", 3))
    found = clipped_mean(relative, ClipRange(low, high, centre), run.charge("mean", "step", 4))
    return TwoStepResult(within_bounds(without_missing(found, centre, shares)), spread, low, high, shares)


def _spread(relative: FloatArray, plan: TwoStepPlan, public_key: bytes, charge: Charge) -> FloatArray:
    """Standard deviations of the relative columns, whose width is 2, as released."""
    assert plan.spread is not None
    octaves = spread_octaves(relative, charge, plan.spread, derived_key("spread", public_key))
    return np.asarray(2.0 * 2.0**octaves)


def at_least_narrowest(octaves: FloatArray) -> FloatArray:
    """Released spreads in relative units, none below the narrowest that is told apart."""
    return np.asarray(np.maximum(2.0 * 2.0**octaves, NARROWEST))
