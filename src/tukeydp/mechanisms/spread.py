"""The standard deviation of each column (docs/proofs/mean.md, section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.relation import checked_relation
from tukeydp.data.tables import Table
from tukeydp.forecast.mean import spread_rehearsal
from tukeydp.mechanisms.cube import checked_epsilon, opened
from tukeydp.mechanisms.passes import fits_in_a_pass, spread_draw, spread_sums
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.spread_step import SpreadPlan, spread_octaves, spread_plan
from tukeydp.padding import padded
from tukeydp.results.release import Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import FloatArray, ParameterError, show
from tukeydp.trusted.release import Charge, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns, require_bounds

SPREAD_NOTE = (
    "What is estimated is the standard deviation of each column, by differences between random groups of rows. It "
    "reads low for very skewed columns, and cannot tell a spread below 2^-30 of the bounds' width."
)
FEW_ROWS_NOTE = "Too few rows for this epsilon and number of columns: the result is mostly noise."


@padded
@checked()
@on_one_thread
def spread(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release:
    """Release the standard deviation of each column.

    Parameters
    ----------
    x, epsilon, bounds, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`. Wide bounds cost nothing here.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`; d, the column names and all parameters are public, n too under the swap of one
    row.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(2000, 2)) * [1, 50]
    >>> release = td.spread(x, epsilon=1, bounds=(-1000, 1000), randomness=td.seeded(7))
    >>> bool((np.abs(release.point / [1, 50] - 1) < 0.3).all())
    True
    """
    budget = checked_epsilon(epsilon)
    require_bounds(bounds, "wide ones cost nothing here")
    relation = checked_relation(neighbours, rows)
    guarantee = bounded_range(budget, neighbours)
    require_room(accountant, guarantee)
    bits = source(randomness)
    if relation.secret:
        relation.require_rows("for the number of pairs")
    table = opened(x, relation)
    size = table.n if relation.rows is None else relation.rows
    columns = bounded_columns(table.d, bounds, table.columns)
    plan = spread_plan(size, table.d, budget)
    lazy = isinstance(table, LazyTable)
    used = replace(plan or SpreadPlan(max(1, size // 2)), drawn=relation.secret or lazy)
    if lazy and not fits_in_a_pass(2 * used.pairs, table.d):
        raise ParameterError("epsilon", "must be larger for the spread of a lazy frame", show(budget))
    settings = {"pairs": used.pairs, **relation.settings}
    told = relation.public(table)
    public = {**told, "bounds": (columns.lower, columns.upper), "settings": settings}
    parts = {"spread": guarantee}
    run = reserve(parts, mechanism="spread", source=bits, accountant=accountant, parameters=public)
    octaves = _octaves(table, columns, used, run.public("directions"), run.charge("spread"))
    with np.errstate(all="ignore"):  # narrow bounds: the smallest spreads are too small for a float
        point = np.asarray(columns.widths * 2.0**octaves)
    return Release(
        point=point,
        seal=run.seal,
        mechanism="spread",
        seeded=not bits.private,
        **told,
        bounds=columns.ends,
        settings=settings,
        notes=(SPREAD_NOTE,) if plan is not None else (SPREAD_NOTE, FEW_ROWS_NOTE),
        rehearsal=spread_rehearsal(size, table.d, budget, used),
    )


def _octaves(
    table: Table | LazyTable, columns: BoundedColumns, plan: SpreadPlan, public_key: bytes, charge: Charge
) -> FloatArray:
    if isinstance(table, Table):
        return spread_octaves(columns.relative(table.cells), charge, plan, public_key)
    paid = charge.for_bounded_range()
    halves = spread_sums(plan, columns, paid)
    (sums,) = table.total(halves)
    return spread_draw(halves, sums, plan, public_key, paid)
