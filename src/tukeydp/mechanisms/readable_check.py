"""A paid look before a release: do cells read as numbers, are there values, is each row in a listed group?

A twentieth of epsilon buys noisy counts: unreadable cells in the column with the most, values in the column with the
fewest, and rows in no listed group where there are groups (docs/proofs/readable-check.md). Too many, or too few values
to be told from none, mean that a release would be noise or biased: the run stops, and the rest of epsilon is not spent,
unless an accountant has paid for the whole run.

`checked` is the one place where mechanisms get it; the command line and the page call the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from tukeydp.data.apart import taken_apart
from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.groups import grouped_table
from tukeydp.data.keys import NO_GROUP
from tukeydp.data.lazy_tables import LazyTable, is_lazy
from tukeydp.data.relation import checked_relation
from tukeydp.data.streams import Chunks
from tukeydp.data.tables import Source, Table
from tukeydp.errors import ParameterError
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.grouped_release import GroupedRelease
from tukeydp.mechanisms.check_plan import (
    SHARE,
    Check,
    Counts,
    check_plan,
    not_checked,
    passed,
    reasons_to_stop,
    told_of,
)
from tukeydp.parameters import Bounds, brief, positive_rational, show
from tukeydp.privacy import Guarantee, PureDP
from tukeydp.randomness import source
from tukeydp.release import Refused
from tukeydp.spending import Together, least_cost, require_room
from tukeydp.trusted.prices import COUNT
from tukeydp.trusted.release import Charge, Seal, Spends, reserve


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
    paid = charge.for_any_law()
    there = [count for count in counts if count is not None]
    noised = [c + z for c, z in zip(there, cube_noise(len(there), paid.scale(COUNT), paid.bits()), strict=True)]
    return Counts(noised[0], noised[1], None if counts.unlisted is None else noised[2])


def least_cost_with_check(epsilon: Any, delta: Any = None, neighbours: str = "swap") -> Guarantee:
    """What no run of `epsilon` costs less than, checked or not, with an interval or a certificate or without."""
    total = positive_rational("epsilon", epsilon)
    own = PureDP(SHARE * total, neighbours=neighbours)
    return least_cost(total - SHARE * total, delta, steps=2, neighbours=neighbours) + own


def checked(
    read: Callable[..., tuple[Table, tuple[Any, ...], dict[str, Any]]] | None = None, *, whole_rows: bool = False
) -> Callable[[Mechanism], Mechanism]:
    """Give a mechanism its parameter `check`: None, a truth value, a share that may be unreadable, or a `Check`.

    None checks where cells can be unreadable at all, which the container's type says and no cell: text files, and what
    `Table.unreadable` was counted for. `read` makes the table of what the mechanism was given, with what
    then stands in place of the other arguments; `whole_rows` is for mechanisms that use rows without a missing cell
    only, and counts these in place of values. A stop is a `Refused`. Lazy frames, streams, tables by person and modes
    without a guarantee are not checked.
    """
    reading = _read if read is None else read

    def around(mechanism: Mechanism) -> Mechanism:
        @wraps(mechanism)
        def run(*given: Any, check: Any = None, **options: Any) -> Any:
            if "x" in options:
                given = (options.pop("x"), *given)
            allowed, declined = asked(check)
            if declined or not given or _cannot(given[0], allowed, options):
                return mechanism(*given, **options)
            if allowed is None and isinstance(given[0], np.ndarray):
                return mechanism(*given, **options)
            _refuse_early(options)
            table, others, more = reading(*given, **options)
            options |= more

            def on_table(x: Table, **rest: Any) -> Any:
                return mechanism(x, *others, **rest)

            if allowed is None and table.unreadable is None:
                return on_table(table, **options)
            kind: dict[str, Any] = {"whole_rows": whole_rows, "in_memory": not isinstance(given[0], Table | Source)}
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
    in_passes = isinstance(x, Chunks | LazyTable) or is_lazy(x)
    named = [name for name in ("person", "unproven") if options.get(name) is not None]
    if allowed is not None and (in_passes or named):
        where = f"with {named[0]}" if named else "where rows are streamed or read in passes"
        raise ParameterError("check", f"must be left out {where}", "a check")
    return in_passes or bool(named)


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
    table, cells, name = taken_apart(x, options["by"], "by", "key", "group")
    return table, others, {"by": GroupOfRow(name, cells)}


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
    groups = grouped_table(table, options["by"], options["keys"]).groups if plan.grouped else None
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
