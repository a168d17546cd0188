"""From a plan for a mean to its release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.records import Records
from tukeydp.data.relation import SWAP, Relation
from tukeydp.data.tables import Table
from tukeydp.forecast.groups import clipped_rehearsal
from tukeydp.forecast.mean import mean_rehearsal
from tukeydp.mechanisms.clipped_interval import Level, clipped_interval
from tukeydp.mechanisms.clipped_mean import ClippedMean, clipped_plan
from tukeydp.mechanisms.grouped_centre import assumed_rows, one_of
from tukeydp.mechanisms.grouped_sums import too_few
from tukeydp.mechanisms.mean_plans import MeanPlan
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.mechanisms.passes import PassPlan, drawn_in_passes
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.interval import Calibration
from tukeydp.results.release import Release
from tukeydp.trusted.bits import Randomness
from tukeydp.trusted.release import Charge, Spends, reserve
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


@dataclass(frozen=True)
class Wanted:
    """What is asked of a clipped mean besides the table; `known` are public standard deviations, in their units."""

    epsilon: Fraction
    columns: BoundedColumns
    level: Level | None = None
    sd: Any = None
    bounds_only: bool = False
    spread: bool = False

    def plan(self, records: Records) -> ClippedMean:
        return clipped_plan(
            records.size,
            self.columns,
            self.epsilon,
            neighbours=records.relation.neighbours,
            groups=None if records.keys is None else len(records.keys),
            widths=None if self.sd is None else known_widths(self.columns, self.sd).tolist(),
            interval=self.level is not None,
            spread=self.spread,
            bounds_only=self.bounds_only,
        )

    @property
    def known(self) -> tuple[float, ...] | None:
        """Relative to the bounds, whose width is then 2."""
        return None if self.sd is None else tuple((2.0 / known_widths(self.columns, self.sd)).tolist())


def clipped_release(
    records: Records, wanted: Wanted, bits: Randomness, accountant: Spends | None = None
) -> Release | GroupedRelease:
    """Means clipped where the records are, with intervals if they are asked for: of all records, or of every group."""
    plan, columns = wanted.plan(records), wanted.columns
    asked = {} if wanted.level is None else {"confidence": wanted.level.confidence, "joint": wanted.level.joint}
    groups = {} if records.keys is None else {"groups": len(records.keys)}
    settings = {**asked, **groups, **plan.settings, **records.relation.settings}
    public = {**records.public, "bounds": columns.ends, "settings": settings}
    if records.keys is not None:
        public |= {"by": records.by, "keys": records.keys.names}
    paying: dict[str, Any] = {"accountant": accountant, "parameters": public}
    run = reserve({"mean": plan.guarantee}, mechanism=plan.mechanism, source=bits, **paying)
    found = plan.released(records, columns, run.charge("mean"))
    size = records.size
    rows = size if size is None or records.keys is None else assumed_rows(size, len(records.keys))
    shared: dict[str, Any] = {
        "seal": run.seal,
        "mechanism": plan.mechanism,
        "seeded": not bits.private,
        **records.public,
        "bounds": columns.ends,
        "notes": (MEAN_NOTE,),
        "rehearsal": None if rows is None or size is None else clipped_rehearsal(plan, size, rows, columns, wanted.sd),
    }

    means = found.means()

    def release(g: int, **more: Any) -> Release:
        told = [found.told(g, j) for j in range(columns.d)]
        point = columns.in_units(means[g])
        point[[not one for one in told]] = np.nan
        inputs = (found, columns, g, wanted.known, wanted.level)
        return Release(
            point=point,
            calibration=None if wanted.level is None else Calibration(clipped_interval, inputs),
            **{**shared, **more},
        )

    if records.keys is None:
        return release(0, settings=settings)
    names = records.keys.names
    notes = (MEAN_NOTE, one_of(len(names)), too_few("mean"))
    members = {
        name: release(g, notes=notes, settings={**settings, "by": records.by, "key": name})
        for g, name in enumerate(names)
    }
    counts = {name: max(0, round(found.sums[g][columns.d])) for g, name in enumerate(names)}
    return GroupedRelease(
        releases=members,
        seal=run.seal,
        mechanism=plan.mechanism,
        seeded=not bits.private,
        n=records.public["n"],
        by=records.by or "group",
        counts=counts,
        settings=settings,
    )
