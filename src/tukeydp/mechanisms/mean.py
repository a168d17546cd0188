"""The mean of any table (docs/proofs/mean.md)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.lazy_tables import LazyTable, is_lazy
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import Relation, checked_relation
from tukeydp.data.tables import Table
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.cube import checked_epsilon, opened
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.grouped_mean import GROUP_MECHANISMS, Asked, grouped_mean
from tukeydp.mechanisms.mean_of_secret_size import (
    require_planned_for_secret_size,
    secret_size_plan,
    without_bounds_of_secret_size,
)
from tukeydp.mechanisms.mean_ways import MECHANISMS, mean_plan
from tukeydp.mechanisms.mean_without_bounds import without_bounds, without_bounds_with_interval
from tukeydp.mechanisms.passes import pass_plan
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.planned import Wanted, clipped_release, planned_release
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.release import Refused, Release
from tukeydp.spending import least_cost, require_room
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import ParameterError, brief, checked_choice, in_order
from tukeydp.trusted.release import Spends
from tukeydp.trusted.rows import bounded_columns, require_bounds


@padded
@of_persons
@checked()
@finds_bounds
@on_one_thread
def mean(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    delta: Any = None,
    mechanism: str = "auto",
    blocks: Any = None,
    partitions: Any = None,
    by: Any = None,
    keys: Any = None,
    counts: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    sd: Any = None,
    confidence: Any = None,
    joint: bool = False,
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release | Refused:
    """Release the arithmetic mean of each column: skewed, 0/1, of several groups, with missing cells.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), a pandas, polars or Arrow table, `td.read(...)`, or the path of a file (a
        pattern or a folder of Parquet files, an Arrow dataset too); one row per person. Never modified. A
        missing or unreadable cell is left out of its column, not its whole row. A lazy frame (polars, DuckDB, Dask,
        Spark, Ibis) is read in passes and never held in memory (docs/guide/larger-than-memory.md).
    epsilon
        Privacy budget, > 0. A float means its shortest decimal: 0.1 is 1/10.
    bounds
        (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper): what is known of the
        columns without looking. Cells outside are moved to the edge. Where nothing is known, "auto" finds bounds
        for a part of epsilon, None in a dict those of one column: sizes from a billionth to 10^15, from some hundred
        rows on. Without any of it a delta is needed, and the run may refuse.
    delta
        For runs without bounds: much smaller than 1/n, say 1e-6.
    mechanism
        With bounds: "subset" (depth of subset means), "two-step" (a mean clipped where the data are), "cube" (a mean
        clipped at the bounds), or "auto": the one with the smallest predicted error, from n, d, epsilon, bounds and
        `sd` alone. `release.mechanism` says which ran.
    blocks, partitions
        For those who know better than "auto": how many blocks rows are dealt to, and how many times.
    by
        A column of `x` with the key of each row's group, or one key for each row: a mean for each group, all of them
        for one epsilon. Needs bounds. `mechanism` may then be "rows" (depth of single rows) too.
    keys
        The groups' keys. They are public and must be given with `by`: keys read off the data would tell who is there.
        Rows with another key, or none, belong to no group.
    counts
        With `by`: a share of epsilon, say 0.1, for a noised number of rows in each group. With `confidence`, a secret
        size or a lazy frame these numbers are there without it, and nothing is spent on them.
    person, per_person
        Where a person may have several rows: a column of `x` with each row's person, or an id for each row. Rows of one
        person become one between the bounds, their "mean", "median", "sum", "min", "max", "first" or "last", or by a
        dict of column name -> rule, and the guarantee is about persons. With `by`, a person whose rows name several
        groups is in none.
    sd
        Public standard deviations, one for all columns, one for each, or a dict of column name -> value, known without
        the data and right within a factor of 2. Makes the choice of mechanism surer, and saves the budget for
        finding them.
    confidence
        Say 0.95: `release.interval` then has the ends of a nominal 95 % confidence interval for the *population's* mean
        of each column, sampling and privacy together; its coverage is empirical, and `release.interval_note` says
        how far the promise goes. Unless `sd` is given, part of epsilon goes to the columns' spread; yes/no columns,
        between 0 and 1, need none. Few rows make it wide. Without bounds too few are refused before anything is spent.
    joint
        Whether the confidence is for all columns together, rather than for each by itself.
    neighbours
        "swap": one row is replaced, and the number of rows is public. "add-remove": one row more or less, and their
        number stays secret. Then `mechanism` is "subset", "cube" or "auto", and `rows` is needed for all but "cube"
        (docs/proofs/add-remove.md); with `by` or `confidence` it is "two-step", "cube" or "auto".
    rows
        With "add-remove": about how many rows there are, **known without the data**. Blocks are planned for it, and
        `expected_error` is rehearsed with it.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    check
        Whether a twentieth of epsilon goes to noisy counts of unreadable cells, of values, and of rows in no listed
        group, which stop a run (a `Refused`) that would release noise. None: where the kind of `x` allows unreadable
        cells, as text files do; True: always; False: never. A share, say 0.1: so many of a column's cells may be
        unreadable, in place of 0.02; `td.Check(unreadable=0.1, unlisted=0.6)`: so many rows may be in no listed group
        besides. There is no check in passes, of streams, or with `person` (docs/proofs/readable-check.md).
    pad_to
        None, or seconds: the call ends only at multiples of them, so that how long it takes tells at most which
        (docs/threat-model.md, "Time").
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Returns
    -------
    Release or Refused
        A run without bounds can refuse, and so can a check. With `by` a `GroupedRelease`: a dict of releases by key.

    Privacy
    -------
    With bounds pure epsilon-DP for `neighbours`, without them (epsilon, delta)-DP; d, the column names and all
    parameters are public, n too under the swap of one row. Rows are dealt to blocks in secret, afresh in each run. With
    `by` the guarantee is for all groups together, also where the row goes to another group; sizes of groups are secret.

    Cost
    ----
    Milliseconds. An interval without bounds is calibrated when first asked for, on made-up tables: some seconds.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> incomes = np.random.default_rng(1).exponential(30, size=(3000, 2))
    >>> release = td.mean(incomes, epsilon=1, bounds=(0, 1000), randomness=td.seeded(7))
    >>> bool(np.abs(release.point - incomes.mean(axis=0)).max() < 2)
    True
    >>> release.mechanism, release.private
    ('two-step', False)
    """
    budget = checked_epsilon(epsilon)
    relation = checked_relation(neighbours, rows)
    grouped = require_by(by, keys, counts)
    level = _level(confidence, joint)
    if delta is not None:
        ApproxDP(budget, delta)  # checks it, also where bounds make it unnecessary
    if bounds is None:
        if is_lazy(x) or grouped:
            require_bounds(bounds, "without them a table in memory is needed, and no groups")
        return _without_bounds(
            x, relation, budget, delta, mechanism=mechanism, blocks=blocks, partitions=partitions, sd=sd, level=level,
            accountant=accountant, randomness=randomness,
        )  # fmt: skip
    if delta is not None and grouped:
        raise ParameterError("delta", "must be left out with by: between bounds means need no delta", brief(delta))
    checked_choice("mechanism", mechanism, GROUP_MECHANISMS if grouped else MECHANISMS)
    # Sums answer whatever is asked for; depth of blocks and rows where there is nothing but a table, or groups of one.
    by_sums = level is not None or (grouped and (relation.secret or is_lazy(x))) or (relation.secret and is_lazy(x))
    if grouped and not by_sums:
        asked_of_groups = Asked(budget, bounds, mechanism, blocks, partitions, sd, counts)
        paying = {"accountant": accountant, "randomness": randomness}
        return grouped_mean(x, asked_of_groups, by=by, keys=keys, **paying)  # type: ignore[return-value]
    if by_sums:
        _require_sums(mechanism, blocks, partitions, "confidence" if level else "by" if grouped else "a lazy frame")
    elif relation.secret:
        require_planned_for_secret_size(mechanism)
    # Which way to a mean it is, and what it costs, takes the table's shape to say; an interval adds a step.
    require_room(accountant, least_cost(budget, None, 6 if by_sums else 1, neighbours))
    bits = source(randomness)
    if by_sums:
        opened_records = open_records(x, relation, by=by, keys=keys)
        table = opened_records.table
        columns = bounded_columns(table.d, bounds, table.columns)
        wanted = Wanted(budget, columns, level, in_order("sd", sd, table.columns), bounds_only=mechanism == "cube")
        return clipped_release(opened_records, wanted, bits, accountant)  # type: ignore[return-value]
    table = opened(x, relation)
    sd = in_order("sd", sd, table.columns)
    asked = {"mechanism": mechanism, "sd": sd, "blocks": blocks, "partitions": partitions}
    columns = bounded_columns(table.d, bounds, table.columns)
    if isinstance(table, LazyTable):
        in_passes = pass_plan(table.n, columns, budget, **asked)
        return planned_release(table, columns, in_passes, bits, sd=sd, accountant=accountant)
    plan = (
        secret_size_plan(relation.rows, columns, budget, **asked)
        if relation.secret
        else mean_plan(table.n, columns, budget, **asked)
    )
    return planned_release(table, columns, plan, bits, sd=sd, accountant=accountant, relation=relation)


def _level(confidence: Any, joint: Any) -> Level | None:
    together = checked_joint(joint)
    if confidence is None:
        if together:
            raise ParameterError("joint", "must be left out without confidence", brief(joint))
        return None
    return Level(checked_confidence(confidence), together)


def _require_sums(mechanism: str, blocks: Any, partitions: Any, why: str) -> None:
    """Sums are what intervals, and groups of secret or streamed tables, are made of."""
    if mechanism not in ("auto", "two-step", "cube"):
        rule = f"must be auto, two-step or cube with {why}: the law of a point that is drawn by depth has no formula"
        raise ParameterError("mechanism", rule, mechanism)
    for name, value in (("blocks", blocks), ("partitions", partitions)):
        if value is not None:
            raise ParameterError(name, f"must be left out with {why}: sums have no blocks", brief(value))


def _without_bounds(
    x: Any,
    relation: Relation,
    budget: Fraction,
    delta: Any,
    *,
    mechanism: str,
    blocks: Any,
    partitions: Any,
    sd: Any,
    level: Level | None,
    accountant: Spends | None,
    randomness: Any,
) -> Release | Refused:
    """REM on means of blocks, or on the rows: (epsilon, delta)-DP, and it may refuse."""
    checked_choice("mechanism", mechanism, (*MECHANISMS, "rem"))
    if mechanism not in ("auto", "rem"):
        raise ParameterError("bounds", f"must be given with mechanism={mechanism!r}", "none")
    for name, value in (("partitions", partitions), ("sd", sd if level is None else None)):
        if value is not None:
            raise ParameterError(name, "must be left out without bounds", brief(value))
    if delta is None:
        rule = (
            "must be given: bounds=(lower, upper), what is known of the columns without looking, bounds='auto' to have "
            "them found for a part of epsilon, or delta= instead"
        )
        raise ParameterError("bounds", rule, "neither")
    if relation.secret and level is not None:
        rule = "must be left out with neighbours='add-remove' and without bounds: the spread there needs a public size"
        raise ParameterError("confidence", rule, level.confidence)
    require_room(accountant, least_cost(budget, delta, 1 if level is None else 2, relation.neighbours))
    bits = source(randomness)
    table = opened(x, relation)
    assert isinstance(table, Table)
    guarantee = ApproxDP(budget, delta, neighbours=relation.neighbours)
    if relation.secret:
        return without_bounds_of_secret_size(table, guarantee, relation, blocks, bits, accountant)
    if level is None:
        return without_bounds(table, guarantee, blocks, bits, accountant=accountant)
    return without_bounds_with_interval(
        table, guarantee, blocks, bits, sd=in_order("sd", sd, table.columns), confidence=level.confidence,
        joint=level.joint, accountant=accountant,
    )  # fmt: skip
