"""The three ways to a mean between bounds, each a frozen plan of public numbers that draws from relative rows.

A plan is made before the data are looked at; `draw` is pure epsilon-DP in the rows it is given. Rehearsals draw from
the same plan on made-up rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.mechanisms.clipped_sum import within_bounds
from tukeydp.mechanisms.two_step import TwoStepPlan, two_step_point
from tukeydp.results.noise_quantiles import cube_deviation
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.block_steps import SubsetPlan, subset_point
from tukeydp.trusted.clipped_sums import ClipRange, clipped_mean, rough_mean
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import relative_grid

# Share of epsilon that tells cube noise what missing cells count as: 1/10 costs a table without any a ninth more noise.
ROUGH = Fraction(1, 10)


class MeanPlan(Protocol):
    """What is fixed before the data are looked at, and the draw."""

    @property
    def mechanism(self) -> str: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def guarantee(self) -> PureDP:
        """Epsilon, and what the steps' own proofs say of zCDP."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def noise_sd(self, n: int, widths: FloatArray) -> tuple[float, ...] | None:
        """Standard deviation of each column's noise, between bounds so wide; None unless public numbers decide it."""
        ...

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        """A mean of rows of numbers from -1 to 1 (NaN is missing), in the same units; pure epsilon-DP."""
        ...


@dataclass(frozen=True)
class SubsetMean:
    """Depth of subset means."""

    epsilon: Fraction
    plan: SubsetPlan
    mechanism: str = "subset"

    @property
    def guarantee(self) -> PureDP:
        return bounded_range(self.epsilon, self.plan.neighbours)

    @property
    def settings(self) -> Mapping[str, Any]:
        blocks = None if self.plan.dealing == "rows" else self.plan.blocks
        return {"blocks": blocks, "partitions": self.plan.partitions}

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        return None

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        y = subset_point(relative, charge, self.plan, public_key)
        return relative_grid(self.plan.steps).rational_point(y)


@dataclass(frozen=True)
class TwoStepMean:
    """Centre, spread and radii first, then a clipped mean."""

    epsilon: Fraction
    plan: TwoStepPlan
    mechanism: str = "two-step"

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.plan.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        names = ("epsilon_centre", "epsilon_spread", "epsilon_radii", "epsilon_missing", "epsilon_mean")
        spent = {name: part for name, part in zip(names, self.plan.epsilons, strict=True) if part}
        return {"blocks": self.plan.centre.blocks, "partitions": self.plan.centre.partitions, **spent}

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        """Not public: the noise is as wide as the range that was found."""
        return None

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        return two_step_point(relative, self.plan, public_key, charge)


@dataclass(frozen=True)
class CubeMean:
    """A mean clipped at the bounds, with cube noise; `fill` is what missing cells count as, None to find out first."""

    epsilon: Fraction
    fill: tuple[float, ...] | None = None
    mechanism: str = "cube"

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs; none tells what missing cells count as where that is public."""
        if self.fill is not None:
            return {"mean": PureDP(self.epsilon)}
        return {"rough": PureDP(ROUGH * self.epsilon), "mean": PureDP(self.epsilon - ROUGH * self.epsilon)}

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        rough = {} if self.fill is not None else {"epsilon_missing": ROUGH * self.epsilon}
        return {**rough, "epsilon_mean": self.epsilon - rough.get("epsilon_missing", Fraction(0))}

    def noise_sd(self, n: int, widths: FloatArray) -> tuple[float, ...]:
        one = cube_deviation(len(widths)) / (float(self.settings["epsilon_mean"]) * n)
        return tuple((one * widths).tolist())

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        ends, run = np.ones(relative.shape[1]), charge.split(self.parts)
        public = None if self.fill is None else np.array(self.fill)
        fill = rough_mean(relative, run.charge("rough", "step", 0)) if public is None else public
        return within_bounds(clipped_mean(relative, ClipRange(-ends, ends, fill), run.charge("mean", "step", 1)))
