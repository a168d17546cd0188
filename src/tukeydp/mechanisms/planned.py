"""From a plan for a mean to its release."""

from __future__ import annotations

from typing import Any

from tukeydp.data.bounded import BoundedColumns
from tukeydp.data.tables import Table
from tukeydp.mechanisms.mean_plans import MeanPlan
from tukeydp.mechanisms.mean_rehearsal import mean_rehearsal
from tukeydp.randomness import Randomness
from tukeydp.release import Release
from tukeydp.spending import Spends, spend

MEAN_NOTE = (
    "What is estimated is the arithmetic mean of each column, its values moved between the bounds and missing cells "
    "left out."
)


def planned_release(
    table: Table,
    columns: BoundedColumns,
    plan: MeanPlan,
    bits: Randomness,
    notes: tuple[str, ...] = (),
    sd: Any = None,
    accountant: Spends | None = None,
) -> Release:
    """Draw by the plan. All but the drawn point is public beforehand; `sd` as the plan was made with."""
    public = {**table.public, "bounds": (columns.lower, columns.upper), "settings": plan.settings}
    spend(accountant, plan.guarantee, plan.mechanism, private=bits.private, **public)
    public_key, secret_key = bits.key(), bits.key()
    drawn = plan.draw(columns.relative(table.cells), public_key, secret_key)
    return Release(
        point=columns.in_units(drawn),
        guarantee=plan.guarantee,
        mechanism=plan.mechanism,
        seeded=not bits.private,
        **table.public,
        bounds=columns.ends,
        noise_sd=plan.noise_sd(table.n, columns.widths),
        settings=plan.settings,
        notes=(MEAN_NOTE, *notes),
        rehearsal=mean_rehearsal(plan, table.n, columns, sd),
    )
