"""The standard deviation of each column (docs/proofs/mean.md, section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.lazy_tables import LazyTable, is_lazy
from tukeydp.data.records import Records
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import checked_relation
from tukeydp.data.tables import Table
from tukeydp.forecast.mean import spread_rehearsal
from tukeydp.mechanisms.cube import checked_epsilon, checked_rows
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.passes import fits_in_a_pass
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.spread_step import spread_plan
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.release import Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import source
from tukeydp.trusted.block_steps import SpreadPass, SpreadPlan, grouped_octaves, spread_octaves
from tukeydp.trusted.parameters import FloatArray, ParameterError, show
from tukeydp.trusted.prices import depth_of_blocks, kappa
from tukeydp.trusted.release import Charge, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns, require_bounds

SPREAD_NOTE = (
    "What is estimated is the standard deviation of each column, by differences between random groups of rows. It "
    "reads low for very skewed columns, and cannot tell a spread below 2^-30 of the bounds' width."
)
FEW_ROWS_NOTE = "Too few rows for this epsilon and number of columns: the result is mostly noise."


@padded
@of_persons
@checked()
@finds_bounds
@on_one_thread
def spread(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
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
    x, epsilon, bounds, by, keys, person, per_person, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`. Wide bounds cost nothing here. With `by` groups have half of the exponent: a row that goes to
        another changes a pair of rows in each of two.

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
    if require_by(by, keys) and is_lazy(x):
        rule = (
            "must be left out for the spread of a lazy frame: pairs of rows of every group are no single pass of sums"
        )
        raise ParameterError("by", f"{rule}; collect it, or td.mean(by=, confidence=)", "a lazy frame")
    require_room(accountant, guarantee)
    bits = source(randomness)
    if relation.secret:
        relation.require_rows("for the number of pairs")
    records = open_records(x, relation, by=by, keys=keys)
    table, size = records.table, records.size_of_group
    assert size is not None
    if not relation.secret and isinstance(table, Table):
        checked_rows(table)
    columns = bounded_columns(table.d, bounds, table.columns)
    # What the sampler's weights e^(epsilon T / 2) have for epsilon, and so the plan: all of it without groups.
    in_sampler = 2 * kappa(budget, *depth_of_blocks(1), neighbours, records.count)
    plan = spread_plan(size, table.d, in_sampler)
    lazy = isinstance(table, LazyTable)
    drawn = relation.secret or lazy or records.count is not None
    used = replace(plan or SpreadPlan(max(1, size // 2)), drawn=drawn)
    if lazy and not fits_in_a_pass(2 * used.pairs, table.d):
        raise ParameterError("epsilon", "must be larger for the spread of a lazy frame", show(budget))
    settings = {"pairs": used.pairs, **relation.settings, **records.settings}
    told = records.public
    public = {**told, "bounds": (columns.lower, columns.upper), "settings": settings, **records.public_groups}
    parts = {"spread": guarantee}
    run = reserve(parts, mechanism="spread", source=bits, accountant=accountant, parameters=public)
    found = []
    for octaves in _octaves(records, columns, used, run.public("directions"), run.charge("spread")):
        with np.errstate(all="ignore"):  # narrow bounds: the smallest spreads are too small for a float
            point = np.asarray(columns.widths * 2.0**octaves)
        one = Release(
            point=point,
            seal=run.seal,
            mechanism="spread",
            seeded=not bits.private,
            **told,
            bounds=columns.ends,
            settings=settings,
            notes=(SPREAD_NOTE,) if plan is not None else (SPREAD_NOTE, FEW_ROWS_NOTE),
            rehearsal=spread_rehearsal(size, table.d, in_sampler, used),
        )
        found.append(one)
    return by_group(found, records, settings)


def _octaves(
    records: Records, columns: BoundedColumns, plan: SpreadPlan, public_key: bytes, charge: Charge
) -> list[FloatArray]:
    """Of each group, or of all rows."""
    table = records.table
    if isinstance(table, Table):
        relative = columns.relative(table.cells)
        if records.groups is None or records.count is None:
            return [spread_octaves(relative, charge, plan, public_key)]
        return grouped_octaves(relative, records.groups, records.count, charge, plan, public_key)
    halves = SpreadPass(plan, columns, charge)
    (sums,) = table.total(halves.sums)
    return [halves.draw(sums, public_key)]
