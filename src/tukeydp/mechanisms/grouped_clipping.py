"""Means of groups clipped where the data are: one range for all groups, found from all rows, then sums in every group.

Scale, centre and radii are those of the whole table (`scale_step`, `two_step`, `clip_radii`): which group a row is in
does not matter to them. The sums of groups are counted from the middle of the range that was found. Each step is pure
DP given what was released before, so their epsilons add up (docs/proofs/groups.md, section 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.bounded import relative_grid
from tukeydp.exact.cube_noise import median_of_noise
from tukeydp.mechanisms.clip_radii import drawn_radii
from tukeydp.mechanisms.grouped_ways import QUOTIENT, GroupWay, Means, SumsOfGroups, group_ways
from tukeydp.mechanisms.mean_ways import CLIPPED_WIDTH
from tukeydp.mechanisms.scale_step import ScaleFirst, released_widths, scale_epsilon
from tukeydp.mechanisms.subset_means import subset_point
from tukeydp.mechanisms.two_step import DOUBT, FIRST_STEPS, TwoStepPlan, two_step_plan
from tukeydp.privacy import PureDP, bounded_range, cost_of
from tukeydp.randomness import derived_key
from tukeydp.trusted.release import Charge

# Shares of epsilon for the centre, the smallest that the rows suffice for, where the rows of a group are too few for
# depth of block means, which does better than sums after so large a share. The other ways are noise between the bounds,
# and medians. With a half the sums still have 38 %: in a range of 10 standard deviations they beat those in one of 30.
CENTRE_SHARES = (*FIRST_STEPS, Fraction(1, 5), Fraction(1, 4), Fraction(3, 10), Fraction(2, 5), Fraction(1, 2))


@dataclass(frozen=True)
class ClippedSumsOfGroups:
    """Centre and radii from all rows, then sums of every group between them. `plan` is for the whole table."""

    epsilon: Fraction
    plan: TwoStepPlan
    mechanism: str = "two-step"

    @property
    def for_sums(self) -> Fraction:
        """What centre and radii leave; missing cells need no step of their own, since values are counted."""
        return self.epsilon - self.plan.epsilons[0] - self.plan.epsilons[2]

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs."""
        centre, _, radii, *_ = self.plan.epsilons
        return {"centre": bounded_range(centre), "radii": bounded_range(radii), "sums": PureDP(self.for_sums)}

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        centre, _, radii, *_ = self.plan.epsilons
        return {"epsilon_centre": centre, "epsilon_radii": radii, "epsilon_mean": self.for_sums}

    def error(self, rows: int, widths: FloatArray) -> float:
        width = min(CLIPPED_WIDTH, float(np.median(widths)))
        return QUOTIENT * width * median_of_noise(2 * len(widths)) / (float(self.for_sums) * rows)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        run = charge.split(self.parts)
        y = subset_point(relative, run.charge("centre", "step", 0), self.plan.centre, public_key)
        centre = relative_grid(self.plan.centre.steps).point(y)
        assert self.plan.known is not None
        spread = 2.0 * np.array(self.plan.known)
        radii = drawn_radii(relative, centre, spread, run.charge("radii", "step", 1))
        low, high = np.maximum(-1.0, centre - radii * spread), np.minimum(1.0, centre + radii * spread)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        with np.errstate(all="ignore"):
            # A range of no width, at a bound, leaves its cells where it is.
            within = np.where(half > 0, (np.clip(relative, low, high) - middle) / half, relative * 0.0)
        sums = SumsOfGroups(self.for_sums)
        means = sums.draw(within, groups, count, public_key, run.charge("sums", "step", 2))
        places = list(zip(map(Fraction, middle.tolist()), map(Fraction, half.tolist()), strict=True))
        return [[None if v is None else m + h * v for v, (m, h) in zip(row, places, strict=True)] for row in means]


@dataclass(frozen=True)
class ScaledGroups(ScaleFirst):
    """How wide the bounds are, found out from all rows, then the means of groups in the way that suits.

    `n` rows in all, `rows` in a group if all are equal, `assumed` widths in standard deviations: public.
    """

    n: int
    rows: int
    assumed: tuple[float, ...]
    mechanism: str = "two-step"

    def error(self, rows: int, widths: FloatArray) -> float:
        return self.way(widths).error(rows, widths)

    def draw(self, relative: FloatArray, groups: IntArray, count: int, public_key: bytes, charge: Charge) -> Means:
        run = charge.split(self.parts)
        scale_key, scale = derived_key("scale", public_key), run.charge("scale", "scaled", 0)
        widths = released_widths(relative, scale, np.array(self.assumed), scale_key)
        return self.way(widths).draw(relative, groups, count, public_key, run.charge("rest", "scaled", 1))

    def way(self, widths: FloatArray) -> GroupWay:
        """How the means are taken between bounds of these widths: of public and released numbers."""
        found = group_ways(self.rows, self.rest, widths, DOUBT)
        found.pop("rows", None)  # medians of yes/no columns, and of others of few values, are no means
        clipped = clipped_sums(self.n, self.rest, widths, FIRST_STEPS if "subset" in found else CENTRE_SHARES)
        if clipped is not None:
            found["two-step"] = clipped
        return min(found.values(), key=lambda way: way.error(self.rows, widths))


def clipped_sums(
    n: int, epsilon: Fraction, widths: FloatArray, shares: Sequence[Fraction]
) -> ClippedSumsOfGroups | None:
    """None if n rows are too few to find the range with any of these shares of epsilon for its centre."""
    plan = two_step_plan(n, len(widths), epsilon, widths, known=True, shares=shares)
    return None if plan is None else ClippedSumsOfGroups(epsilon, plan)


def scaled_groups(n: int, rows: int, epsilon: Fraction, assumed: FloatArray) -> ScaledGroups | None:
    """None if n rows are too few to find the scale."""
    scale = scale_epsilon(n, epsilon)
    return None if scale is None else ScaledGroups(epsilon, scale, n, rows, tuple(assumed.tolist()))
