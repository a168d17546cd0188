"""Linear regression: least squares on blocks of rows, released by depth (docs/proofs/aggregate.md, section 6)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.keys import require_by
from tukeydp.data.records import Records, held_records
from tukeydp.data.relation import SWAP, Relation, checked_relation, require_columns_without_rows
from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import AnyScale, Notion
from tukeydp.forecast.regression import RegressionInputs, regression_rehearsal
from tukeydp.mechanisms.block_release import BlockRelease, guarantee_for
from tukeydp.mechanisms.least_squares import RegressionPlan, Standard, intercept_and_slopes, regression_plan, slopes
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.release import Refused, Release
from tukeydp.spending import require_room
from tukeydp.trusted.account import ApproxDP, part_of
from tukeydp.trusted.bits import Keystream, source
from tukeydp.trusted.blocks import Statistic, block_table, drawn_block_table, drawn_blocks, one_by_one, secret_order
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_integer
from tukeydp.trusted.prices import share_of_group
from tukeydp.trusted.release import Run, Spends, reserve
from tukeydp.trusted.rows import checked_bounds

# Step of the coefficients' grid without bounds. REM's own, 1e-6, is coarse for features in the hundred thousands; finer
# ones reach less far: 5.6 million to either side at this one.
_RESOLUTION = Fraction(1, 10**8)

REGRESSION_NOTE = (
    "What is estimated is the coefficients of least squares, by the centre of those of blocks of rows. Rows with a "
    "missing cell are left out. A feature that hardly varies within a block of rows needs larger blocks."
)
STANDARD_NOTE = (
    "Columns were measured from the middles of the given ranges for the draw; coefficients are in own units."
)


class _Design(Table):
    """Features and answers side by side, as `design_table` makes them."""


def design_records(x: Any, y: Any, relation: Relation, by: Any, keys: Any) -> Records:
    """Features and answers, and the group of each row."""
    if by is None:
        return Records(design_table(x, y, relation), relation)
    if isinstance(x, _Design):
        return held_records(x, relation, by=by, keys=keys)
    apart = held_records(x, relation, by=by, keys=keys)
    return replace(apart, table=design_table(apart.table, y, relation))


def design_table(x: Any, y: Any, relation: Relation = SWAP) -> Table:
    """Features and, as the last column, the answers."""
    if isinstance(x, _Design):
        return x
    if relation.secret and not isinstance(y, str):
        require_columns_without_rows(y, "y")
    if isinstance(y, str):
        both = relation.table(x)
        if both.columns is None or y not in both.columns or both.d < 2:
            known = "x has no names" if both.columns is None else brief(y)
            raise ParameterError(
                "y", "must be an array of n answers, or the name of one of several columns of x", known
            )
        j = both.columns.index(y)
        order = [i for i in range(both.d) if i != j] + [j]
        unreadable = None if both.unreadable is None else both.unreadable[order]
        return _Design(both.cells[:, order], tuple(both.columns[i] for i in order), unreadable=unreadable)
    features, answers = relation.table(x), read_table(y, "y", fewest=0 if relation.secret else 1)
    if answers.d != 1 or answers.n != features.n:
        if relation.secret:
            raise ParameterError("y", "must have one column and as many rows as x", "another shape")
        rule = f"must have one column and as many rows as x, {features.n}"
        raise ParameterError("y", rule, f"shape {answers.cells.shape}")
    names = features.columns or tuple(f"x{j}" for j in range(features.d))
    cells, unreadable = np.hstack([features.cells, answers.cells]), None
    if features.unreadable is not None or answers.unreadable is not None:
        sides = ((one.d, one.unreadable) for one in (features, answers))
        unreadable = np.concatenate([np.zeros(d, dtype=np.int64) if u is None else u for d, u in sides])
    return _Design(cells, (*names, (answers.columns or ("y",))[0]), unreadable=unreadable)


def _read_design(x: Any, *others: Any, **options: Any) -> tuple[Table, tuple[Any, ...], dict[str, Any]]:
    """For the check, which counts the cells of features and answers."""
    if not others and "y" not in options:
        raise ParameterError("y", "must be given: the answers, or the name of their column", "none")
    relation = checked_relation(options.get("neighbours", "swap"), options.get("rows"))
    y = others[0] if others else options["y"]
    if options.get("by") is None:
        return design_table(x, y, relation), others, {}
    records = design_records(x, y, relation, options["by"], options.get("keys"))
    assert isinstance(records.table, Table)
    assert records.groups is not None
    assert records.keys is not None
    names = [None if place < 0 else records.keys.names[place] for place in records.groups.tolist()]
    return records.table, others, {"by": GroupOfRow(records.by or "group", names)}


@padded
@partial(of_persons, joined=design_table)
@checked(_read_design, whole_rows=True)
@on_one_thread
def regression(
    x: Any,
    y: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    blocks: int | None = None,
    partitions: int | None = None,
    intercept: bool = True,
    ranges: Any = None,
    target_range: Any = None,
    depth: Notion | None = None,
    resolution: Any = None,
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
) -> Release | Refused:
    """Release the coefficients of a linear regression of `y` on the columns of `x`.

    Parameters
    ----------
    x
        Features: array-like of shape (n, p) or (n,), or a pandas, polars or Arrow table of numbers; one row per person.
        Never modified.
    y
        The n answers, or the name of a column of `x` that has them. Rows with a missing cell are left out.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper) of the *coefficients*, or a dict by name ("intercept" and the features'): what is known without
        looking. Pure DP then, no refusal. With `ranges`, of the standardised columns' coefficients: (-2, 2), say.
    delta
        For runs without bounds: much smaller than 1/n, say 1e-6. The run may then refuse.
    blocks, partitions
        How many blocks rows are dealt to, and how many times; None: from n, p, epsilon and delta alone.
    intercept
        Whether there is a constant.
    ranges, target_range
        Public (lower, upper) of the features, as bounds are given, and of the answers: where values are to be expected.
        Columns are measured from their middles, in half-ranges; nothing is clipped, and coefficients are released in
        the columns' own units. Worth giving: features far from zero make the intercept depend on all slopes.
    depth, resolution
        As for `td.rem` and `td.boxem`; without bounds steps of 1e-8.
    by, keys
        As for `td.mean`: a regression for each group, all of them for one epsilon, half of which (and of delta) counts
        in each: a row that goes to another changes a block in both. `GroupedRelease`.
    person, per_person
        As for `td.mean`: one row for each person, of features and answers alike. A regression on persons' means is not
        that on their rows: what differs between visits of one person no longer counts.
    neighbours, rows
        As for `td.mean`. With "add-remove" `rows` is needed: blocks are planned for it.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which.
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        `release.columns` names the coefficients; `release.expected_error.r2_loss` is rehearsed.

    Privacy
    -------
    (epsilon, delta)-DP for `neighbours`, pure epsilon-DP with bounds; the names and all parameters are public, n too
    under the swap of one row. Rows are dealt in secret, afresh in each run.

    Cost
    ----
    Least squares in each block, and one call of `td.rem`: two seconds for ten coefficients. Too few rows are refused
    before anything is spent: (250 + 35 d) / epsilon models of 1.5 d + 1 rows for d coefficients at delta = 1e-6, which
    is 1,280 rows for two, 3,825 for five, 9,600 for ten.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(5000, 2))
    >>> y = 1 + x @ [2, -3] + rng.normal(size=5000)
    >>> release = td.regression(x, y, epsilon=1, delta=1e-6, randomness=td.seeded(7))
    >>> release.columns, bool(np.abs(release.point - [1, 2, -3]).max() < 0.2)
    (('intercept', 'x0', 'x1'), True)
    """
    relation = checked_relation(neighbours, rows)
    guarantee = guarantee_for(epsilon, bounds, delta, neighbours)
    require_by(by, keys)
    if partitions is not None:
        partitions = checked_integer("partitions", partitions, least=1)
    if not isinstance(intercept, bool):
        raise ParameterError("intercept", "must be True or False", brief(intercept))
    require_room(accountant, guarantee)
    bits = source(randomness)
    if relation.secret:
        relation.require_rows("for the number of blocks")
    records = design_records(x, y, relation, by, keys)
    table, size = records.table, records.size_of_group
    assert isinstance(table, Table)
    assert size is not None
    names = _coefficient_names(table, intercept)
    standard = _standard(table, ranges, target_range, intercept)
    each = part_of(guarantee, share_of_group(neighbours, records.count))
    plan = regression_plan(size, len(names), each, blocks, partitions)
    step = _RESOLUTION if resolution is None and bounds is None else resolution
    dealt = (plan.blocks, plan.partitions)
    drawn = BlockRelease(guarantee, *dealt, len(names), names, bounds, depth, step, records.count)
    settings = {**drawn.settings, "rows_needed": plan.rows_needed, "intercept": intercept}
    settings |= {**relation.settings, **records.settings}
    n = records.public["n"]
    public = {"n": n, "d": len(names), "columns": names, "bounds": drawn.ends, "settings": settings}
    public |= records.public_groups
    parts = {"draw": guarantee}
    run = reserve(parts, mechanism="regression", source=bits, accountant=accountant, parameters=public)
    cells = table.cells if standard is None else standard.cells(table.cells)
    found = _block_tables(cells, records, plan, intercept_and_slopes if intercept else slopes, run)
    notes = (REGRESSION_NOTE,) if standard is None else (REGRESSION_NOTE, STANDARD_NOTE)
    outcomes = drawn.releases(found, n, bits, run, "regression", notes)
    done = [_finished(outcome, plan, depth, standard, intercept, settings) for outcome in outcomes]
    return by_group(done, records, settings)


def _block_tables(
    cells: FloatArray, records: Records, plan: RegressionPlan, statistic: Statistic, run: Run
) -> FloatArray:
    """The coefficients of every block, one dealing after the other; where sizes are secret rows draw their blocks."""
    n, found = len(cells), []
    drawn = records.relation.secret or records.count is not None
    for i in range(plan.partitions):
        order = secret_order(n, Keystream(run.secret(f"dealing {i}")))
        if drawn:
            numbers = drawn_blocks(n, plan.blocks, Keystream(run.secret(f"blocks {i}")))
            own = partial(one_by_one, statistic)
            given = (plan.blocks, numbers, order, own, records.groups, records.count or 1)
            found.append(drawn_block_table(cells, *given))
        else:
            found.append(block_table(cells, plan.blocks, order, statistic))
    return np.concatenate(found)


def _finished(
    outcome: Release | Refused,
    plan: RegressionPlan,
    depth: Notion | None,
    standard: Standard | None,
    intercept: bool,
    settings: dict[str, Any],
) -> Release | Refused:
    """In the columns' own units, with a forecast."""
    rows = plan.blocks * plan.partitions
    unbounded = isinstance(plan.guarantee, ApproxDP)
    notion = chosen_notion(depth, rows, plan.d, AnyScale) if unbounded else chosen_notion(depth, rows, plan.d)
    rehearsal = regression_rehearsal(RegressionInputs(plan, intercept, notion, outcome.grid))  # type: ignore[arg-type]
    outcome = replace(outcome, settings={**outcome.settings, **settings}, rehearsal=rehearsal)
    if standard is None:
        return outcome
    outcome = replace(outcome, bounds=None)  # they are those of the standardised columns' coefficients
    return _in_units(outcome, standard, intercept) if isinstance(outcome, Release) else outcome


def _in_units(release: Release, standard: Standard, intercept: bool) -> Release:
    return replace(release, point=standard.in_units(release.point, intercept))


def _coefficient_names(table: Table, intercept: bool) -> tuple[str, ...]:
    assert table.columns is not None
    features = table.columns[:-1]
    if not intercept:
        return features
    if "intercept" in features:
        raise ParameterError("x", "must have no column called intercept: that is the constant's name", "one")
    return ("intercept", *features)


def _standard(table: Table, ranges: Any, target_range: Any, intercept: bool) -> Standard | None:
    if ranges is None and target_range is None:
        return None
    assert table.columns is not None
    p = table.d - 1
    lower, upper = checked_bounds(p, (-1, 1) if ranges is None else ranges, table.columns[:-1])
    low, high = checked_bounds(1, (-1, 1) if target_range is None else target_range)
    return Standard.of(lower + low, upper + high, intercept)
