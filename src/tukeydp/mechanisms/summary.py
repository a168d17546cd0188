"""`td.summary`: the private "Table 1" (docs/proofs/groups.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import GroupedTable, grouped_table
from tukeydp.data.persons import persons_table
from tukeydp.data.tables import Table, read_table
from tukeydp.mechanisms.cube import checked_epsilon, checked_rows
from tukeydp.mechanisms.grouped_sums import GroupPlan, least_told, noised_group_sums, value_counts
from tukeydp.mechanisms.interval_plan import IntervalPlan, checked_confidence, interval_plan
from tukeydp.mechanisms.mean_plans import MeanPlan
from tukeydp.mechanisms.mean_ways import known_widths, mean_plan
from tukeydp.mechanisms.per_person import PERSONS, refuse_with_groups_and_persons, refuse_without_person
from tukeydp.mechanisms.planned import planned_release, release_with_interval
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.release import Release
from tukeydp.results.summary_cells import Groups, Source, Whole, WholeTable
from tukeydp.results.summary_result import Summary
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, cost_of
from tukeydp.trusted.bits import Randomness, source
from tukeydp.trusted.parameters import IntArray, ParameterError, brief
from tukeydp.trusted.release import Charge, PartOf, Run, Spends, reserve
from tukeydp.trusted.rows import BoundedColumns, bounded_columns, per_column

# Share of epsilon for the numbers of values: at epsilon 1 and three columns they are then off by 30 rows, typically;
# the means lose a twentieth.
COUNTS = Fraction(1, 20)
# Share of epsilon for columns between 0 and 1 beside others: at epsilon 1 and 1000 rows the noise of one such column is
# then two thirds of its sampling error. Among the others they would take most of the noise, and have intervals
# that hold for measurements only.
SHARES = Fraction(1, 5)


@padded
@checked()
@on_one_thread
def summary(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any,
    by: Any = None,
    keys: Any = None,
    confidence: Any = 0.95,
    person: Any = None,
    per_person: Any = "mean",
    sd: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Summary:
    """Release number of values, mean, standard deviation and interval of each column, for one epsilon.

    The "Table 1" of a report, with a footnote ready to print: `summary.to_html()`, `to_markdown()`, `to_latex()`,
    `to_csv()`, `to_frame()`, `plot()`.

    Parameters
    ----------
    x, epsilon, bounds, accountant, check, pad_to, randomness
        As for `td.mean`.
    by
        A column of `x` with the key of each row's group, or one key for each row. Each group then has its own lines.
    keys
        The groups' keys. They are public and must be given with `by`: keys read off the data would tell who is there.
        Rows with another key, or none, belong to no group. Keys that are numbers are compared as numbers, others as
        texts.
    confidence
        The nominal level of the confidence intervals (on skewed columns they cover less, see `td.mean`); None for a
        table without them (without groups it then has no standard deviations either).
    person, per_person
        As for `td.mean`, without groups: one row for each person, and a guarantee about persons.
    sd
        Public standard deviations, as for `td.mean`. They are shown as given, and save the budget for finding them.

    Privacy
    -------
    Pure epsilon-DP under the swap of one row, for all lines together; with groups also where the row goes to another
    group. The table's number of rows is public, the groups' sizes are not.

    Accuracy
    --------
    Without groups that of `td.mean`: 1/20 of epsilon goes to the numbers of values and 1/5, where there are both kinds,
    to columns between 0 and 1. With groups that of noise at the bounds: narrow bounds matter.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> rng = np.random.default_rng(1)
    >>> x = np.column_stack([rng.normal(120, 15, 4000), rng.random(4000) < 0.3])
    >>> arm = np.where(rng.random(4000) < 0.5, "A", "B")
    >>> table = td.summary(
    ...     x, by=arm, keys=["A", "B"], epsilon=2, bounds=([60, 0], [240, 1]), randomness=td.seeded(7)
    ... )
    >>> [(line.group, line.column, round(line.mean, 1)) for line in table.lines]
    [('A', 'column 0', 119.2), ('B', 'column 0', 120.3), ('A', 'column 1', 0.3), ('B', 'column 1', 0.3)]
    >>> table.guarantee
    PureDP(epsilon=Fraction(2, 1))
    """
    budget = checked_epsilon(epsilon)
    guarantee = PureDP(budget) if person is None else PureDP(budget, neighbours=PERSONS)
    require_room(accountant, guarantee)
    level = None if confidence is None else checked_confidence(confidence)
    if by is None and keys is not None:
        raise ParameterError("by", "must be given with keys", "none")
    if person is None:
        refuse_without_person(per_person)
    elif by is not None:
        refuse_with_groups_and_persons(person)
    bits = source(randomness)
    if by is None:
        read = read_table(x) if person is None else persons_table(x, person, bounds, per_person)
        table = checked_rows(read)
        return _whole(table, _asked(table, bounds, guarantee, level, sd), accountant, bits)
    grouped = grouped_table(x, by, keys)
    table = checked_rows(grouped.table)
    return _grouped(grouped, _asked(table, bounds, guarantee, level, sd), accountant, bits)


@dataclass(frozen=True)
class _Asked:
    """What is fixed beforehand; `known` are public standard deviations, None for columns between 0 and 1."""

    columns: BoundedColumns
    guarantee: PureDP
    level: float | None
    sd: list[Fraction] | None

    @property
    def known(self) -> tuple[float | None, ...] | None:
        if self.sd is None:
            return None
        return tuple(None if self.columns.between_0_and_1(j) else float(v) for j, v in enumerate(self.sd))

    @property
    def measured(self) -> list[int]:
        return [j for j in range(self.columns.d) if not self.columns.between_0_and_1(j)]

    def of(self, places: list[int]) -> _Asked:
        """The same for some of the columns."""
        lower, upper = (tuple(ends[j] for j in places) for ends in (self.columns.lower, self.columns.upper))
        sd = None if self.sd is None else [self.sd[j] for j in places]
        return _Asked(BoundedColumns(lower, upper), self.guarantee, self.level, sd)

    def summary(self, table: Table, run: Run, mechanism: str, source: Source, **more: Any) -> Summary:
        return Summary(
            seal=run.seal,
            seeded=run.seal.seeded,
            n=table.n,
            columns=_names(table),
            bounds=(self.columns.lower, self.columns.upper),
            confidence=self.level,
            mechanism=mechanism,
            source=source,
            **more,
        )


def _asked(table: Table, bounds: Any, guarantee: PureDP, level: float | None, sd: Any) -> _Asked:
    columns = bounded_columns(table.d, bounds, table.columns)
    asked = _Asked(columns, guarantee, level, None if sd is None else per_column("sd", sd, table.d))
    if asked.sd is not None and asked.measured:
        some = asked.of(asked.measured)
        known_widths(some.columns, some.sd)  # checks them
    return asked


def _whole(table: Table, asked: _Asked, accountant: Spends | None, bits: Randomness) -> Summary:
    """Shares by noised sums, other columns by `td.mean` and noised numbers of values: steps whose epsilons add up."""
    epsilon, measured = asked.guarantee.epsilon, asked.measured
    shares = [j for j in range(table.d) if j not in measured]
    for_shares = Fraction(0) if not shares else epsilon if not measured else SHARES * epsilon
    for_counts = COUNTS * epsilon if measured else Fraction(0)
    for_means = epsilon - for_shares - for_counts
    if measured:
        plan = _plan(table.n, asked.of(measured), for_means)
    run = _reserved(asked, bits, accountant, _public(table, asked))
    costs = {"means": _cost(plan), "counts": PureDP(for_counts)} if measured else {}
    steps = run.charge("summary").split(costs | ({"shares": PureDP(for_shares)} if shares else {}))
    parts: list[Source] = []
    settings: dict[str, Any] = {}
    spent = for_counts
    if measured:
        some, of = _part(table, measured), asked.of(measured)
        release = _released(some, of, plan, bits, PartOf(steps.charge("means")))
        counts = value_counts(of.columns.relative(some.cells), steps.charge("counts", "counts", secret="counts"))
        least = least_told(some.d, for_counts, table.n)
        parts.append(WholeTable(release, tuple(counts), of.columns, _names(some), of.known, least))
        spent += release.guarantee.epsilon if isinstance(release.guarantee, PureDP) else 0
        settings |= {"epsilon_counts": for_counts, "epsilon_means": for_means, "means": release.mechanism}
        settings |= release.settings
    if shares:
        some, of = _part(table, shares), asked.of(shares)
        of_all = np.zeros(table.n, dtype=np.int64)
        charge = steps.charge("shares", secret="sums")
        parts.append(_sums(some, of, of_all, (None,), GroupPlan(for_shares, 1, some.d, ()), charge))
        spent += for_shares
        settings["epsilon_shares"] = for_shares
    if spent != epsilon:
        raise ParameterError("epsilon", "must be what the parts of a summary add up to", brief(epsilon))
    source = Whole(tuple(parts), _names(table))
    how = release.mechanism if measured else "sums"
    return asked.summary(table, run, how, source, by=None, keys=None, settings=settings)


def _plan(n: int, asked: _Asked, epsilon: Fraction) -> MeanPlan | IntervalPlan:
    """How the means are made; raises if there are too few rows for an interval."""
    if asked.level is None:
        return mean_plan(n, asked.columns, epsilon, sd=asked.sd)
    part = epsilon / asked.guarantee.epsilon
    return interval_plan(n, asked.columns, epsilon, confidence=asked.level, sd=asked.sd, part=part)


def _reserved(asked: _Asked, bits: Randomness, accountant: Spends | None, public: dict[str, Any]) -> Run:
    parts = {"summary": asked.guarantee}
    return reserve(parts, mechanism="summary", source=bits, accountant=accountant, parameters=public)


def _cost(plan: MeanPlan | IntervalPlan) -> PureDP:
    return cost_of(plan.parts) if isinstance(plan, IntervalPlan) else plan.guarantee


def _released(table: Table, asked: _Asked, plan: MeanPlan | IntervalPlan, bits: Randomness, paying: PartOf) -> Release:
    if isinstance(plan, IntervalPlan):
        return release_with_interval(table, asked.columns, plan, bits, sd=asked.sd, accountant=paying)
    return planned_release(table, asked.columns, plan, bits, sd=asked.sd, accountant=paying)


def _part(table: Table, places: list[int]) -> Table:
    return Table(table.cells[:, places], tuple(_names(table)[j] for j in places))


def _grouped(grouped: GroupedTable, asked: _Asked, accountant: Spends | None, bits: Randomness) -> Summary:
    """Noised sums of every group, all at full epsilon: together they cost epsilon once."""
    table, keys = grouped.table, grouped.keys.names
    squared = () if asked.sd is not None else tuple(asked.measured)
    plan = GroupPlan(asked.guarantee.epsilon, len(keys), table.d, squared)
    public = _public(table, asked) | {"by": grouped.by, "keys": keys}
    run = _reserved(asked, bits, accountant, public)
    source = _sums(table, asked, grouped.groups, keys, plan, run.charge("summary"))
    settings = {"groups": len(keys), "numbers_per_group": plan.coordinates}
    return asked.summary(table, run, "grouped sums", source, by=grouped.by, keys=keys, settings=settings)


def _sums(
    table: Table, asked: _Asked, groups: IntArray, keys: tuple[str | None, ...], plan: GroupPlan, charge: Charge
) -> Groups:
    sums = noised_group_sums(asked.columns.relative(table.cells), groups, plan, charge)
    return Groups(sums, plan, asked.columns, _names(table), keys, asked.known, asked.level, table.n)


def _public(table: Table, asked: _Asked) -> dict[str, Any]:
    bounds = (asked.columns.lower, asked.columns.upper)
    return {**table.public, "bounds": bounds, "confidence": asked.level, "sd": asked.sd}


def _names(table: Table) -> tuple[str, ...]:
    return table.columns or tuple(f"column {j}" for j in range(table.d))
