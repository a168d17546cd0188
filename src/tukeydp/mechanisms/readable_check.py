"""A paid look before a release: do cells read as numbers, are there values, is each row in a listed group?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.keys import NO_GROUP, checked_keys, taken_apart
from tukeydp.data.lazy_tables import LazyTable, is_lazy
from tukeydp.data.relation import checked_relation, require_columns_without_rows
from tukeydp.data.streams import Chunks
from tukeydp.data.tables import Source, Table
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.noise_quantiles import cube_deviation
from tukeydp.results.release import Refused
from tukeydp.spending import Together, least_cost, require_room
from tukeydp.trusted.account import Guarantee, PureDP
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import Bounds, ParameterError, brief, positive_rational, rational, show
from tukeydp.trusted.release import Charge, Seal, Spends, reserve
from tukeydp.trusted.steps import noised_whole

# What the check before a release allows, when it stops a run, and what it says: public numbers and noisy counts alone.
#
# Thresholds and their chances: docs/proofs/readable-check.md, section 3.

WARNING = "Warning: "  # what a note begins with that belongs beside the number

SHARE = Fraction(1, 20)  # of epsilon. More would cost accuracy in every run; less would need more rows.
# Share of a column's cells that may be unreadable: cells that are lost are seldom like the others (large numbers alone
# have marks of thousands), and a share p of them moves a mean by up to p of the column's width. A lower one would stop
# files with a few remarks and typing errors.
UNREADABLE = Fraction(1, 50)
# Share of rows that may be in no listed group: missing keys and groups nobody asks about. A higher one would let pass
# the misspelt key of a group with a fifth of the rows; a lower one would stop tables with many missing keys.
UNLISTED = Fraction(1, 5)
# Largest chances: of a stop where every cell reads; of going on where no cell of a column does, or where it has no
# value; of a warning where every cell reads. Rarer errors need more rows: at one stop in ten thousand, 500 rows at
# epsilon 1 let a column pass that has lost a third of its cells.
FALSE_ALARM, MISSED, WARNED = 0.015, 0.01, 0.05
# The first of them for tables that the caller holds in memory: a library has read them already, so that they are seldom
# misread, and every run would pay for more caution with a stop in 67.
FALSE_ALARM_IN_MEMORY = 1e-4


class _Quantiles(NamedTuple):
    """How far one coordinate of cube noise of scale 1 goes on one side, but for these chances; rounded up."""

    false_alarm: Fraction
    missed: Fraction
    warned: Fraction
    false_alarm_in_memory: Fraction


_QUANTILES = {
    2: _Quantiles(Fraction(4719, 1000), Fraction(5192, 1000), Fraction(3272, 1000), Fraction(10337, 1000)),
    3: _Quantiles(Fraction(5874, 1000), Fraction(6407, 1000), Fraction(4216, 1000), Fraction(12016, 1000)),
}


@dataclass(frozen=True)
class Check:
    """What may be wrong with a table before the check stops its release: public shares, chosen without the data.

    Attributes
    ----------
    unreadable
        Share of a column's cells that may hold something that is not a number.
    unlisted
        Share of the rows that may be in none of the groups listed in `keys`.
    """

    unreadable: Any = UNREADABLE
    unlisted: Any = UNLISTED

    def __post_init__(self) -> None:
        for name in ("unreadable", "unlisted"):
            given = getattr(self, name)
            share = rational(name, given)
            if not 0 <= share <= 1:
                raise ParameterError(name, "must be a share from 0 to 1", brief(given))
            object.__setattr__(self, name, share)


class Counts(NamedTuple):
    """Of one table, exact and then secret, or with noise: what a swap moves by at most 1 each."""

    unreadable: int  # cells, in the column with the most
    values: int  # in the column with the fewest
    unlisted: int | None  # rows in no listed group; None without groups


@dataclass(frozen=True)
class CheckPlan:
    """What is fixed before the data are looked at; n is None where the number of rows is secret.

    `in_memory`: a table of the caller's, or a file that declares its types, not a text file that was read here. The
    container's kind is public.
    """

    n: int | None
    epsilon: Fraction
    allowed: Check = Check()
    grouped: bool = False
    in_memory: bool = False
    whole_rows: bool = False  # whether values are counted in rows without a missing cell only

    @property
    def _quantiles(self) -> _Quantiles:
        return _QUANTILES[3 if self.grouped else 2]

    @property
    def margin(self) -> int:
        """How far noise alone takes a count up, but for a chance of `FALSE_ALARM`, or that in memory."""
        quantiles = self._quantiles
        return math.ceil((quantiles.false_alarm_in_memory if self.in_memory else quantiles.false_alarm) / self.epsilon)

    @property
    def warned(self) -> int:
        """The same for a warning."""
        return math.ceil(self._quantiles.warned / self.epsilon)

    @property
    def least_values(self) -> int:
        """A noisy number of values below this cannot be told from none, and stops the run."""
        return math.ceil(self._quantiles.missed / self.epsilon) + 1

    @property
    def fewest_rows(self) -> int:
        """Below, no threshold keeps both errors rare."""
        return self.margin + self.least_values

    def most_unreadable(self, found: Counts) -> int:
        """A noisy number of unreadable cells above this stops the run.

        A share of the rows; where their number is secret, of the cells that hold anything, by the noisy counts.
        """
        cells = max(0, found.unreadable + found.values) if self.n is None else self.n
        return max(self.margin, math.floor(self.allowed.unreadable * cells))

    def most_unlisted(self, found: Counts) -> int:
        """A noisy number of rows in no listed group above this stops the run; a share as that of unreadable cells."""
        rows = max(0, found.unreadable + found.values) if self.n is None else self.n
        return max(self.margin, math.floor(self.allowed.unlisted * rows))

    @property
    def caught(self) -> int:
        """So many unreadable cells in a column stop the run, but for a chance of `MISSED`; n is public."""
        return self.most_unreadable(Counts(0, 0, None)) + self.least_values

    @property
    def deviation(self) -> int:
        """Standard deviation of each count's noise, rounded up."""
        return math.ceil(cube_deviation(3 if self.grouped else 2) / self.epsilon)


def check_plan(
    n: int | None,
    epsilon: Fraction,
    allowed: Check | None = None,
    *,
    grouped: bool = False,
    in_memory: bool = False,
    whole_rows: bool = False,
) -> CheckPlan:
    """The check of a run with `epsilon` in all."""
    return CheckPlan(n, SHARE * epsilon, Check() if allowed is None else allowed, grouped, in_memory, whole_rows)


def told_of(plan: CheckPlan, found: Counts) -> dict[str, int]:
    """The noisy counts and what they were compared with."""
    told = {
        "unreadable_cells": found.unreadable,
        "unreadable_cells_most": plan.most_unreadable(found),
        "fewest_values": found.values,
        "fewest_values_least": plan.least_values,
    }
    if found.unlisted is not None:
        told |= {"rows_unlisted": found.unlisted, "rows_unlisted_most": plan.most_unlisted(found)}
    return told


def reasons_to_stop(plan: CheckPlan, found: Counts) -> Iterator[str]:
    """Why the run stops, by the noisy counts and public numbers alone; nothing where it goes on."""
    noise = f"(noise: give or take {plan.deviation})"
    most = plan.most_unreadable(found)
    if found.unreadable > most:
        yield (
            f"About {_shown(plan, found.unreadable)} cells of one column do not read as numbers {noise}; at most "
            f"{most} may. The table is not written as declared, a column is text, or it holds formulas without "
            "results; --allow-unreadable SHARE (check=SHARE) allows more."
        )
    elif found.values < plan.least_values:
        yield (
            f"{_few(plan, found)} {noise}, which cannot be told from none: the result would be noise. A column is "
            "empty, or its values stand elsewhere."
        )
    if found.unlisted is not None and found.unlisted > plan.most_unlisted(found):
        yield (
            f"About {_shown(plan, found.unlisted)} rows are in none of the listed groups {noise}; at most "
            f"{plan.most_unlisted(found)} may be. A key is misspelt, or groups were left out on purpose: "
            "--allow-unlisted SHARE (check=td.Check(unlisted=SHARE)) says so."
        )


def passed(plan: CheckPlan, found: Counts) -> Iterator[str]:
    """What the check says beside a release."""
    noise = f"(noise: give or take {plan.deviation})"
    if found.unreadable > plan.warned:
        yield (
            f"{WARNING}about {_shown(plan, found.unreadable)} cells of one column do not read as numbers {noise}, and "
            "count as missing. Cells that are lost are seldom like the others: the result may be biased. Who may see "
            "the data can see these cells with tukeydp look."
        )
    unlisted = "" if found.unlisted is None else f", and about {_shown(plan, found.unlisted)} rows in no listed group"
    yield (
        f"Checked first, for epsilon = {show(plan.epsilon)} of the total: about {_shown(plan, found.unreadable)} "
        f"unreadable cells in the column with the most, {_enough(plan, found)}{unlisted} "
        f"{noise}. No column has more than {_bound(plan, found)} unreadable cells, with 99 % "
        "confidence."
    )


def _shown(plan: CheckPlan, count: int) -> str:
    """Within what is possible: post-processing."""
    return f"{max(count, 0)}" if plan.n is None else f"{min(max(count, 0), plan.n)} of {plan.n}"


def _few(plan: CheckPlan, found: Counts) -> str:
    if plan.whole_rows:
        return f"About {_shown(plan, found.values)} rows have a value in every column"
    return f"One column has about {_shown(plan, found.values)} values"


def _enough(plan: CheckPlan, found: Counts) -> str:
    if plan.whole_rows:
        return f"about {_shown(plan, found.values)} rows with a value in every column"
    return f"about {_shown(plan, found.values)} values in the column with the fewest"


def _bound(plan: CheckPlan, found: Counts) -> str:
    """More unreadable cells would have shown, but for a chance of `MISSED`."""
    most = max(0, found.unreadable) + plan.least_values
    return f"{most}" if plan.n is None else f"{min(most, plan.n)} ({min(100, math.ceil(100 * most / plan.n))} %)"


def not_checked(plan: CheckPlan) -> str:
    return (
        f"Not checked whether cells read as numbers: at this epsilon that takes {plan.fewest_rows} rows. Nothing was "
        "spent on it."
    )


IN_PASSES = (
    "Not checked whether cells read as numbers, or whether there are values at all: rows were read in passes. A column "
    "of text, or without values, gives noise."
)


# A paid look before a release: do cells read as numbers, are there values, is each row in a listed group?
#
# A twentieth of epsilon buys noisy counts: unreadable cells in the column with the most, values in the column with the
# fewest, and rows in no listed group where there are groups (docs/proofs/readable-check.md). Too many, or too few
# values to be told from none, mean that a release would be noise or biased: the run stops, and the rest of epsilon is
# not spent, unless an accountant has paid for the whole run.
#
# `checked` is the one place where mechanisms get it; the command line and the page call the same functions.


class Checkable(Protocol):
    """What the check needs of a run's result: what it cost, and where to write down that it was checked."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def seal(self) -> Seal | None: ...
    @property
    def bounds(self) -> Bounds | None: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


Mechanism = TypeVar("Mechanism", bound=Callable[..., Any])
Result = TypeVar("Result", bound=Checkable)

CHECK = "readable-check"  # the mechanism that a stopped run names


def exact_counts(table: Table, groups: Any = None, *, whole_rows: bool = False) -> Counts:
    """What the check counts, without noise: secret.

    A swap moves each column's numbers by at most 1, and so their maximum and minimum too. A table without text has no
    unreadable cells: those that are not numbers are missing. `whole_rows` counts rows without a missing cell as values.
    """
    unreadable = 0 if table.unreadable is None else int(table.unreadable.max())
    there = ~np.isnan(table.cells)
    values = int(there.all(axis=1).sum() if whole_rows else there.sum(axis=0).min())
    return Counts(unreadable, values, None if groups is None else int((groups == NO_GROUP).sum()))


def noisy_counts(counts: Counts, charge: Charge) -> Counts:
    """All counts together at pure epsilon-DP: noise for a vector whose every coordinate a row moves by at most 1."""
    noised = noised_whole([count for count in counts if count is not None], charge)
    return Counts(noised[0], noised[1], None if counts.unlisted is None else noised[2])


_MOST_STEPS = 6  # as a mean by sums counts them: the more equal steps, the less rho


def least_cost_with_check(epsilon: Any, delta: Any = None, neighbours: str = "swap") -> Guarantee:
    """What no run of `epsilon` costs less than, checked or not, with an interval or a certificate or without."""
    total = positive_rational("epsilon", epsilon)
    own = PureDP(SHARE * total, neighbours=neighbours)
    return least_cost(total - SHARE * total, delta, steps=_MOST_STEPS, neighbours=neighbours) + own


def checked(
    read: Callable[..., tuple[Table, tuple[Any, ...], dict[str, Any]]] | None = None, *, whole_rows: bool = False
) -> Callable[[Mechanism], Mechanism]:
    """Give a mechanism its parameter `check`: None, a truth value, a share that may be unreadable, or a `Check`.

    None checks where cells can be unreadable at all, which the container's type says and no cell: text files, and what
    `Table.unreadable` was counted for. Where there are groups it checks files of every format, since a key can be
    misspelt in any; arrays never. `read` makes the table of what the mechanism was given, with what then stands in
    place of the other arguments; `whole_rows` is for mechanisms that use rows without a missing cell only, and counts
    these in place of values. A stop is a `Refused`. Lazy frames, streams, tables by person and modes without a
    guarantee are not checked.
    """
    reading = _read if read is None else read

    def around(mechanism: Mechanism) -> Mechanism:
        @wraps(mechanism)
        def run(*given: Any, check: Any = None, **options: Any) -> Any:
            if "x" in options:
                given = (options.pop("x"), *given)
            allowed, declined = asked(check)
            if declined or not given or _cannot(given[0], allowed, options):
                outcome = mechanism(*given, **options)
                may_be_text = bool(given) and _without_schema(given[0])
                if declined or not may_be_text:
                    return outcome
                return replace(outcome, notes=(*outcome.notes, IN_PASSES))
            if allowed is None and isinstance(given[0], np.ndarray):
                return mechanism(*given, **options)
            _refuse_early(options)
            table, others, more = reading(*given, **options)
            options |= more

            def on_table(x: Table, **rest: Any) -> Any:
                return mechanism(x, *others, **rest)

            if allowed is None and table.unreadable is None and options.get("by") is None:
                return on_table(table, **options)
            read_before = table.unreadable is None or not isinstance(given[0], Table | Source)
            kind: dict[str, Any] = {"whole_rows": whole_rows, "in_memory": read_before}
            return with_check(on_table, table, check=allowed, **kind, **options)

        return run  # type: ignore[return-value]

    return around


def asked(check: Any) -> tuple[Check | None, bool]:
    """The shares that `check` states, None where it leaves open whether there is a check; and whether it says no."""
    if check is None or isinstance(check, Check):
        return check, False
    if isinstance(check, bool | np.bool_):
        return (Check(), False) if check else (None, True)
    try:
        return Check(unreadable=check), False
    except ParameterError:
        rule = "must be None, True, False, a share from 0 to 1 of cells that may be unreadable, or a td.Check"
        raise ParameterError("check", rule, brief(check)) from None


def _cannot(x: Any, allowed: Check | None, options: Mapping[str, Any]) -> bool:
    """Whether there is no check for such a run; refused where one was asked for."""
    in_passes = _in_passes(x)
    named = [name for name in ("person", "unproven") if options.get(name) is not None]
    if allowed is not None and (in_passes or named):
        where = f"with {named[0]}" if named else "where rows are streamed or read in passes"
        raise ParameterError("check", f"must be left out {where}", "a check")
    return in_passes or bool(named)


def _without_schema(x: Any) -> bool:
    """Whether the types of columns may come from cells. An engine that scans a text file does not say whether."""
    return not x.has_schema if isinstance(x, Chunks) else is_lazy(x)


def _in_passes(x: Any) -> bool:
    return isinstance(x, Chunks | LazyTable) or is_lazy(x)


def _refuse_early(options: Mapping[str, Any]) -> None:
    """What cannot be paid, before the table is read."""
    epsilon, neighbours = options.get("epsilon"), options.get("neighbours", "swap")
    if epsilon is not None and options.get("accountant") is not None:
        checked_relation(neighbours, options.get("rows"))
        require_room(options["accountant"], least_cost_with_check(epsilon, neighbours=neighbours))


def _read(x: Any, *others: Any, **options: Any) -> tuple[Table, tuple[Any, ...], dict[str, Any]]:
    """The table, and the key of each row in place of the name of their column."""
    if options.get("epsilon") is not None:
        positive_rational("epsilon", options["epsilon"])
    relation = checked_relation(options.get("neighbours", "swap"), options.get("rows"))
    if options.get("by") is None:
        return relation.table(x), others, {}
    if relation.secret:
        require_columns_without_rows(x)
    table, cells, names = taken_apart(x, {"by": (options["by"], "key")}, fewest=0 if relation.secret else 1)
    return table, others, {"by": GroupOfRow(names["by"], cells["by"])}


def with_check(
    run: Callable[..., Result],
    table: Table,
    *,
    epsilon: Any,
    check: Check | None = None,
    in_memory: bool = False,
    whole_rows: bool = False,
    accountant: Spends | None = None,
    randomness: Any = None,
    **options: Any,
) -> Result | Refused:
    """What `run` makes of the table, if the table passes the check; `epsilon` is spent on both together.

    Tables of too few rows are not checked, and all of epsilon goes to the release. `run` comes first, so that a wrong
    parameter raises before anything is spent. Its result is thrown away unread, but for the bounds it was given, if the
    check fails: the outcome then depends on the noisy counts alone, and has cost the check's epsilon. An accountant
    pays for both before the table is looked at, in one entry, and gives nothing back: then a stop has cost all of it.
    """
    total = positive_rational("epsilon", epsilon)
    bits = source(randomness)
    paying = {} if accountant is None else {"accountant": accountant}
    relation = checked_relation(options.get("neighbours", "swap"), options.get("rows"))
    told = {"grouped": options.get("by") is not None, "whole_rows": whole_rows, "in_memory": in_memory}
    plan = check_plan(None if relation.secret else table.n, total, check, **told)
    size = relation.size(table)
    if size is not None and size < plan.fewest_rows:
        outcome = run(table, epsilon=total, randomness=bits, **paying, **options)
        return replace(outcome, notes=(*outcome.notes, not_checked(plan)))
    own = PureDP(plan.epsilon, neighbours=relation.neighbours)
    if accountant is not None:
        require_room(accountant, own)
        paying = {"accountant": Together(accountant, own, {"epsilon_check": plan.epsilon})}
    try:
        outcome = run(table, epsilon=total - plan.epsilon, randomness=bits, **paying, **options)
    except ParameterError as error:
        raise _of_the_rest(error, total - plan.epsilon) from None
    if outcome.guarantee is None:
        return outcome
    # The accountant has paid for it with the run, in one entry.
    checked_run = reserve({"check": own}, mechanism=CHECK, source=bits, parameters={})
    assert outcome.seal is not None
    whole = outcome.seal + checked_run.seal
    groups = checked_keys(options["keys"]).places(options["by"]) if plan.grouped else None
    counts = exact_counts(table, groups, whole_rows=whole_rows)
    found = noisy_counts(counts, checked_run.charge("check"))
    settings = {"epsilon_check": plan.epsilon, **told_of(plan, found)}
    reasons = list(reasons_to_stop(plan, found))
    if reasons:
        return Refused(
            seal=checked_run.seal if accountant is None else whole,
            mechanism=CHECK,
            seeded=not bits.private,
            **relation.public(table),
            bounds=outcome.bounds,
            settings=settings,
            notes=(" ".join(["Stopped before the release.", *reasons]),),
        )
    return _charged(outcome, whole, settings, list(passed(plan, found)))


def _charged(outcome: Result, whole: Seal, told: Mapping[str, Any], notes: list[str]) -> Result:
    """The release as a part of a run whose whole cost the seal says."""
    if isinstance(outcome, GroupedRelease):
        return outcome.charged(whole, told, *notes)  # type: ignore[return-value]
    settings = {**outcome.settings, **told}
    return replace(outcome, seal=whole, settings=settings, notes=(*outcome.notes, *notes))


def _of_the_rest(error: ParameterError, epsilon: Fraction) -> ParameterError:
    """Where the run speaks of its epsilon: it is not the one that the caller gave."""
    if f"epsilon {show(epsilon)}" not in str(error):
        return error
    rule = f"{error.rule} (a twentieth of epsilon is kept for the check of readable rows)"
    return ParameterError(error.parameter, rule, error.value)
