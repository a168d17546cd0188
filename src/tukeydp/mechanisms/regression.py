"""Linear regression: by noised sums of products, or by depth of the coefficients of blocks of rows.

Sums serve unless bounds of the coefficients or a delta are given (docs/proofs/aggregate.md, sections 6 and 8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.engines.batches import only_columns
from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.keys import require_by
from tukeydp.data.lazy_tables import features_of, is_lazy
from tukeydp.data.records import Records, held_records
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import SWAP, Relation, checked_relation, require_columns_without_rows
from tukeydp.data.tables import Table, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import AnyScale, Notion
from tukeydp.forecast.regression import RegressionInputs, regression_rehearsal, sums_rehearsal
from tukeydp.mechanisms.block_release import BlockRelease, guarantee_for
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.cube import checked_epsilon
from tukeydp.mechanisms.found_bounds import AUTO, finds_bounds, key_of_each
from tukeydp.mechanisms.least_squares import RegressionPlan, Standard, intercept_and_slopes, regression_plan, slopes
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.regression_by_sums import coefficient_interval, fitted, in_units, sums_plan
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.interval import Calibration
from tukeydp.results.release import Refused, Release
from tukeydp.spending import least_cost, require_room
from tukeydp.trusted.account import ApproxDP, part_of
from tukeydp.trusted.bits import Keystream, source
from tukeydp.trusted.blocks import Statistic, block_table, drawn_block_table, drawn_blocks, one_by_one, secret_order
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_integer
from tukeydp.trusted.prices import share_of_group
from tukeydp.trusted.release import Run, Spends, reserve
from tukeydp.trusted.rows import bounded_columns, checked_bounds

# Step of the coefficients' grid without bounds. REM's own, 1e-6, is coarse for features in the hundred thousands; finer
# ones reach less far: 5.6 million to either side at this one.
_RESOLUTION = Fraction(1, 10**8)

_STEPS_OF_SUMS = 10  # as they are paid for: the more equal steps, the less rho

REGRESSION_NOTE = (
    "What is estimated is the coefficients of least squares, by the centre of those of blocks of rows. Rows with a "
    "missing cell are left out. A feature that hardly varies within a block of rows needs larger blocks."
)
SUMS_NOTE = (
    "What is estimated is the coefficients of least squares. Rows with a missing cell are left out, and values outside "
    "the ranges moved to their ends."
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
    confidence: Any = None,
    joint: bool = False,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release the coefficients of a linear regression of `y` on the columns of `x`.

    By noised sums of products, which need nothing but an epsilon and answer for any number of rows; with `bounds` of
    the coefficients, or a `delta`, by depth of the coefficients of blocks of rows instead.

    Parameters
    ----------
    x
        Features: array-like of shape (n, p) or (n,), or a pandas, polars or Arrow table of numbers; one row per person.
        Never modified. A lazy frame is read in passes, all of its columns.
    y
        The n answers, or the name of a column of `x` that has them. Rows with a missing cell are left out.
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    ranges, target_range
        Public (lower, upper) of the features, as bounds are given, and of the answers: where values are to be expected.
        Values outside are clipped; generous ranges cost little. None, or None for a column in a dict: found for a part
        of epsilon. With blocks nothing is clipped: columns are measured from the ranges' middles, in half-ranges.
    intercept
        Whether there is a constant.
    bounds
        For depth of blocks' coefficients: (lower, upper) of the *coefficients*, or a dict by name ("intercept" and the
        features'). Pure DP. With `ranges`, of the standardised columns' coefficients: (-2, 2), say.
    delta
        The same without bounds: much smaller than 1/n, say 1e-6. The run may then refuse.
    blocks, partitions, depth, resolution
        With `bounds` or `delta`: how many blocks rows are dealt to, and how many times (None: from n, p, epsilon and
        delta alone); depth and steps as for `td.rem` and `td.boxem`, without bounds steps of 1e-8.
    by, keys
        As for `td.mean`: a regression for each group, all of them for one epsilon. `GroupedRelease`. With `bounds` or
        `delta` half of it counts in each group: a row that goes to another changes a block in both.
    person, per_person
        As for `td.mean`: one row for each person, of features and answers alike. A regression on persons' means is not
        that on their rows: what differs between visits of one person no longer counts.
    confidence, joint
        Say 0.95: `release.interval` has the ends of a nominal 95 % confidence interval for each of the population's
        coefficients, sampling and privacy together; it costs nothing. Not with `bounds` or `delta`.
    neighbours, rows
        As for `td.mean`. With "add-remove" `rows` is needed: steps are planned for it.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which.
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        `release.columns` names the coefficients; `release.expected_error.r2_loss` is rehearsed. Only a run with a
        delta, or a check, can refuse.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, with a delta (epsilon, delta)-DP; the names and all parameters are public, n too
    under the swap of one row. Rows are dealt to blocks in secret, afresh in each run.

    Cost
    ----
    Seven readings of the table. With blocks: least squares in each, and one call of `td.rem`, two seconds for ten
    coefficients; too few rows are refused before anything is spent: (250 + 35 d) / epsilon models of 1.5 d + 1 rows for
    d coefficients at delta = 1e-6, which is 1,280 rows for two, 3,825 for five, 9,600 for ten.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(5000, 2))
    >>> y = 1 + x @ [2, -3] + rng.normal(size=5000)
    >>> release = td.regression(x, y, epsilon=1, confidence=0.95, randomness=td.seeded(7))
    >>> release.columns, bool(np.abs(release.point - [1, 2, -3]).max() < 0.2)
    (('intercept', 'x0', 'x1'), True)
    >>> inside = (release.interval[:, 0] <= [1, 2, -3]) & ([1, 2, -3] <= release.interval[:, 1])
    >>> bool(inside.all())
    True
    """
    relation = checked_relation(neighbours, rows)
    require_by(by, keys)
    if bounds is None and delta is None:
        for name, value in (
            ("blocks", blocks),
            ("partitions", partitions),
            ("depth", depth),
            ("resolution", resolution),
        ):
            if value is not None:
                raise ParameterError(
                    name, "must be left out without bounds and delta: sums have no blocks", brief(value)
                )
        budget, level = checked_epsilon(epsilon), _level(confidence, joint)
        if relation.secret:
            relation.require_rows("for the size of the steps")
        require_room(accountant, least_cost(budget, None, _STEPS_OF_SUMS, neighbours))
        table, names, by = _side_by_side(x, y, relation, by, keys)
        return _by_sums(
            table, epsilon=budget, bounds=_ranges(names, ranges, target_range), intercept=_flag(intercept), level=level,
            by=by, keys=keys, neighbours=neighbours, rows=rows, accountant=accountant, randomness=randomness,
        )  # fmt: skip
    if confidence is not None or joint:
        rule = "must be left out with bounds and delta: a point that is drawn by depth has no standard error"
        raise ParameterError("confidence", rule, brief(confidence))
    guarantee = guarantee_for(epsilon, bounds, delta, neighbours)
    if partitions is not None:
        partitions = checked_integer("partitions", partitions, least=1)
    _flag(intercept)
    require_room(accountant, guarantee)
    bits = source(randomness)
    if relation.secret:
        relation.require_rows("for the number of blocks")
    records = design_records(x, y, relation, by, keys)
    table, size = records.table, records.size_of_group
    assert isinstance(table, Table)
    assert size is not None
    assert table.columns is not None
    names = _coefficient_names(table.columns, intercept)
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


def _flag(intercept: Any) -> bool:
    if not isinstance(intercept, bool):
        raise ParameterError("intercept", "must be True or False", brief(intercept))
    return intercept


def _level(confidence: Any, joint: Any) -> Level | None:
    together = checked_joint(joint)
    if confidence is None and together:
        raise ParameterError("joint", "must be left out without confidence", brief(joint))
    return None if confidence is None else Level(checked_confidence(confidence), together)


def _side_by_side(x: Any, y: Any, relation: Relation, by: Any, keys: Any) -> tuple[Any, tuple[str, ...], Any]:
    """Features and the answers, which come last, their names, and the keys of groups or the name of their column."""
    if not is_lazy(x):
        records = design_records(x, y, relation, by, keys)
        assert isinstance(records.table, Table)
        assert records.table.columns is not None
        return records.table, records.table.columns, None if by is None else key_of_each(records)
    ordered = (*features_of(x, y, by), y)
    return only_columns(x, (*ordered, *([by] if isinstance(by, str) else []))), ordered, by


def _ranges(names: tuple[str, ...], ranges: Any, target_range: Any) -> Any:
    """Of features and answers, in their order; what is not known is to be found."""
    features: list[Any] = [None] * (len(names) - 1)
    if isinstance(ranges, Mapping):
        given = {str(name): pair for name, pair in ranges.items()}
        if strange := [name for name in given if name not in names[:-1]]:
            raise ParameterError("ranges", "must go by names of features", brief(strange[0]))
        known = [name for name in names[:-1] if given.get(name) is not None]
        lower, upper = checked_bounds(len(known), {name: given[name] for name in known}, known)
        ends = dict(zip(known, zip(lower, upper, strict=True), strict=True))
        features = [ends.get(name) for name in names[:-1]]
    elif ranges is not None:
        features = list(zip(*checked_bounds(len(names) - 1, ranges, names[:-1]), strict=True))
    answers = None if target_range is None else next(zip(*checked_bounds(1, target_range), strict=True))
    ends_of = [*features, answers]
    if all(pair is None for pair in ends_of):
        return AUTO
    if None not in ends_of:
        return tuple(a for a, _ in ends_of), tuple(b for _, b in ends_of)
    if len(set(names)) < len(names):
        raise ParameterError("ranges", "must be given for all columns or none where names occur twice", "some")
    return dict(zip(names, ends_of, strict=True))


@finds_bounds
def _by_sums(
    x: Any,
    *,
    epsilon: Fraction,
    bounds: Any,
    intercept: bool,
    level: Level | None,
    by: Any = None,
    keys: Any = None,
    neighbours: str,
    rows: Any,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release:
    """The coefficients between ranges, in every group: pure epsilon-DP for all of them together."""
    relation, bits = checked_relation(neighbours, rows), source(randomness)
    records = open_records(x, relation, by=by, keys=keys)
    table, size = records.table, records.size_of_group
    assert table.columns is not None
    columns = bounded_columns(table.d, bounds, table.columns)
    plan = sums_plan(size, columns, epsilon, intercept, neighbours, records.count)
    names = _coefficient_names(table.columns, intercept)
    asked = {} if level is None else {"confidence": level.confidence, "joint": level.joint}
    ranges = {"ranges": [[float(a), float(b)] for a, b in zip(columns.lower, columns.upper, strict=True)]}
    settings = {**asked, **plan.settings, **ranges, **relation.settings, **records.settings}
    told = {"n": records.public["n"], "d": len(names), "columns": names}
    public = {**told, "bounds": None, "settings": settings, **records.public_groups}
    parts = {"draw": plan.guarantee}
    run = reserve(parts, mechanism="regression", source=bits, accountant=accountant, parameters=public)
    found = fitted(records, plan, columns, run.charge("draw"))
    done = []
    for g in range(records.count or 1):
        one = Release(
            point=in_units(found.coefficients(g), found, columns),
            seal=run.seal,
            mechanism="regression",
            seeded=not bits.private,
            **told,
            settings=settings,
            notes=(SUMS_NOTE,),
            calibration=None if level is None else Calibration(coefficient_interval, (found, columns, g, level)),
            rehearsal=None if size is None else sums_rehearsal(plan, size),
        )
        done.append(one)
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


def _coefficient_names(columns: tuple[str, ...], intercept: bool) -> tuple[str, ...]:
    features = columns[:-1]
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
