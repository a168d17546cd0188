"""From a plan for a mean to its release."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.relation import SWAP, Relation
from tukeydp.data.tables import Table
from tukeydp.forecast.interval_runs import RemMean
from tukeydp.forecast.mean import mean_rehearsal
from tukeydp.mechanisms.interval_plan import IntervalPlan
from tukeydp.mechanisms.mean_interval import Found, mean_interval
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, TwoStepMean
from tukeydp.mechanisms.passes import PassPlan, drawn_in_passes
from tukeydp.mechanisms.spread_step import spread_octaves
from tukeydp.mechanisms.two_step import two_step_result
from tukeydp.results.interval import Calibration
from tukeydp.results.release import Release
from tukeydp.trusted.bits import Randomness, derived_key
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge, Run, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns

MEAN_NOTE = (
    "What is estimated is the arithmetic mean of each column, its values moved between the bounds and missing cells "
    "left out."
)


def planned_release(
    table: Table | LazyTable,
    columns: BoundedColumns,
    plan: MeanPlan,
    bits: Randomness,
    notes: tuple[str, ...] = (),
    sd: Any = None,
    accountant: Spends | None = None,
    relation: Relation = SWAP,
) -> Release:
    """Draw by the plan. All but the drawn point is public beforehand; `sd` as the plan was made with."""
    size, told = relation.size(table), relation.public(table)
    settings = {**plan.settings, **relation.settings}
    public = {**told, "bounds": columns.ends, "settings": settings}
    parts = {"mean": plan.guarantee}
    run = reserve(parts, mechanism=plan.mechanism, source=bits, accountant=accountant, parameters=public)
    drawn = _drawn(table, columns, plan, run.public("directions"), run.charge("mean"))
    return Release(
        point=columns.in_units(drawn),
        seal=run.seal,
        mechanism=plan.mechanism,
        seeded=not bits.private,
        **told,
        bounds=columns.ends,
        noise_sd=None if relation.secret else plan.noise_sd(table.n, columns.widths),
        settings=settings,
        notes=(MEAN_NOTE, *notes),
        rehearsal=None if size is None else mean_rehearsal(plan, size, columns, sd),
    )


def _drawn(
    table: Table | LazyTable, columns: BoundedColumns, plan: MeanPlan, public_key: bytes, charge: Charge
) -> list[Fraction]:
    if isinstance(table, Table):
        return plan.draw(columns.relative(table.cells), public_key, charge)
    assert isinstance(plan, PassPlan)
    return drawn_in_passes(plan, table, columns, public_key, charge)


def release_with_interval(
    table: Table,
    columns: BoundedColumns,
    plan: IntervalPlan,
    bits: Randomness,
    sd: Any = None,
    accountant: Spends | None = None,
) -> Release:
    """Mean, standard deviation and interval of each column for one budget; `sd` as the plan was made with.

    The spread and the mean are steps with randomness of their own, whose epsilons add up; the interval is made of what
    they have released, and computed when it is asked for (docs/proofs/mean.md, section 10).
    """
    mean, spread_epsilon = plan.spending.mean, plan.spending.spread_epsilon
    assert not isinstance(mean, RemMean)
    split = {"epsilon_mean": mean.epsilon, "epsilon_spread": spread_epsilon} if spread_epsilon else {}
    settings = {"confidence": plan.confidence, "joint": plan.joint, **split, **mean.settings}
    public = {**table.public, "bounds": columns.ends, "settings": settings}
    run = reserve(plan.parts, mechanism=mean.mechanism, source=bits, accountant=accountant, parameters=public)
    relative = columns.relative(table.cells)
    public_key = run.public("directions")
    spread = _spread(relative, plan, public_key, run)
    if isinstance(mean, TwoStepMean):
        drawn, found = _two_steps(relative, mean, spread, public_key, run.charge("mean"))
    else:
        drawn = mean.draw(relative, public_key, run.charge("mean"))
        noise = 1.0 / (float(mean.settings["epsilon_mean"]) * table.n) if isinstance(mean, CubeMean) else 0.0
        found = Found(_shares_of_width(drawn), spread, (noise,) * table.d, (0.0,) * table.d)
    return Release(
        point=columns.in_units(drawn),
        seal=run.seal,
        mechanism=mean.mechanism,
        seeded=not bits.private,
        **table.public,
        bounds=columns.ends,
        noise_sd=mean.noise_sd(table.n, columns.widths),
        settings=settings,
        notes=(MEAN_NOTE,),
        rehearsal=mean_rehearsal(mean, table.n, columns, sd),
        calibration=Calibration(mean_interval, (plan, columns, found)),
    )


def _spread(relative: FloatArray, plan: IntervalPlan, public_key: bytes, run: Run) -> tuple[float | None, ...]:
    """Spreads in widths of the bounds: public ones, those that are released by themselves, None for the others."""
    if plan.known is not None:
        return plan.known
    found: list[float | None] = [None] * relative.shape[1]
    if plan.spending.spread is not None:
        columns = list(plan.spending.measured)
        charge = run.charge("spread", "spread")
        spread_key = derived_key("spread", public_key)
        octaves = spread_octaves(relative[:, columns], charge, plan.spending.spread, spread_key)
        for j, octave in zip(columns, octaves.tolist(), strict=True):
            found[j] = 2.0**octave
    return tuple(found)


def _two_steps(
    relative: FloatArray, mean: TwoStepMean, known: tuple[float | None, ...], public_key: bytes, charge: Charge
) -> tuple[list[Fraction], Found]:
    """The mean, and what its steps have released besides."""
    result = two_step_result(relative, mean.plan, public_key, charge)
    missing = [float(share) for share in result.missing]
    scale = 1.0 / (float(mean.plan.epsilons[-1]) * len(relative))
    noise = scale * (result.high - result.low) / 2.0 / (1.0 - np.array(missing))
    spread = known if result.spread is None else tuple((result.spread / 2.0).tolist())
    return result.mean, Found(_shares_of_width(result.mean), spread, tuple(noise.tolist()), tuple(missing))


def _shares_of_width(relative: list[Fraction]) -> tuple[float, ...]:
    """From numbers between -1 and 1 to numbers between 0 and 1."""
    return tuple(float((1 + v) / 2) for v in relative)
