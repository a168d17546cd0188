"""A mechanism on persons rather than rows: one record for each, and a guarantee that says so (docs/proofs/persons.md).

`of_persons` gives any mechanism the parameters `person` and `per_person`: the rows of each person become one row of a
table, by a public rule, and one key, and the mechanism runs on that table. So whatever it does with rows, groups or a
secret number of rows, it does with persons.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from tukeydp.data.grouped_files import GroupOfRow
from tukeydp.data.keys import Keys, checked_keys, taken_apart
from tukeydp.data.lazy_persons import persons_in_engine
from tukeydp.data.lazy_tables import features_of, from_path, is_lazy
from tukeydp.data.persons import NOBODY, checked_rules, group_of_each, one_row_each, person_numbers
from tukeydp.data.relation import checked_relation, require_columns_without_rows
from tukeydp.data.streams import Chunks
from tukeydp.data.tables import Table
from tukeydp.mechanisms.found_bounds import asks_for_bounds, known_bounds
from tukeydp.mechanisms.readable_check import asked
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.spending import require_room
from tukeydp.trusted.account import Guarantee, about_persons
from tukeydp.trusted.parameters import Bounds, FloatArray, IntArray, ParameterError, brief
from tukeydp.trusted.release import PERSONS, Spends
from tukeydp.trusted.rows import checked_bounds, require_bounds

__all__ = ["PERSONS", "OfPersons", "about_persons", "of_persons", "persons_table"]

Mechanism = TypeVar("Mechanism", bound=Callable[..., Any])


def of_persons(mechanism: Mechanism, joined: Callable[..., Table] | None = None) -> Mechanism:
    """Give a mechanism its parameters `person` and `per_person`, and tables by the paths of files.

    `joined` puts the argument `y` beside the columns of the table: a person's answers become one as their other cells
    do. Bounds are those of coefficients there, so that no cell is clipped, but in a lazy frame between the ranges.
    """
    taken = inspect.signature(mechanism).parameters
    takes_groups = "by" in taken

    @wraps(mechanism)
    def run(x: Any, *given: Any, person: Any = None, per_person: Any = "mean", **options: Any) -> Any:
        bounds, by = options.get("bounds"), options.get("by")
        named = [name for name in (by, person) if isinstance(name, str)]
        x = from_path(x, [*bounds, *named] if isinstance(bounds, Mapping) else None)
        if person is None:
            if per_person != "mean":
                raise ParameterError("per_person", "must be left out without person", brief(per_person))
            return mechanism(x, *given, **options)
        if "check" in taken:
            options["check"] = _no_check(options.get("check"))
        accountant = options.pop("accountant", None)
        by = options.pop("by", None) if takes_groups else None
        relation = checked_relation(options.get("neighbours", "swap"), options.get("rows"))
        bounds, beside = options.get("bounds"), None
        if joined is not None:
            y = given[0] if given else options.get("y")
            bounds, beside = None, partial(joined, y=y, relation=relation)
            if is_lazy(x):
                bounds = _by_ranges(x, y, named, options)
        known = {"by": by, "keys": options.get("keys"), "beside": beside}
        table, groups = persons_table(x, person, bounds, per_person, fewest=not relation.secret, **known)
        if groups is not None:
            options["by"] = groups
        if accountant is not None:
            options["accountant"] = OfPersons(accountant)
        return _told(mechanism(table, *given, **options), per_person, grouped=groups is not None)

    return run  # type: ignore[return-value]


def _no_check(check: Any) -> bool:
    """Rows of persons are not checked, whatever they come from: a check that was asked for is refused."""
    if asked(check)[0] is not None:
        raise ParameterError("check", "must be left out with person", "a check")
    return False


def persons_table(
    x: Any,
    person: Any,
    bounds: Any,
    per_person: Any,
    *,
    by: Any = None,
    keys: Any = None,
    fewest: int = 1,
    beside: Callable[[Table], Table] | None = None,
) -> tuple[Table, GroupOfRow | None]:
    """One row for each person, and the key of each one's group. Cells are clipped first.

    `person` is the name of a column, or has an id for each row; so does `by` with keys. `beside` adds columns.
    """
    known = None if by is None else checked_keys(keys)
    if isinstance(x, Chunks):
        rule = "must be left out where rows are streamed: a person's rows may stand in several chunks"
        raise ParameterError("person", rule, repr(person) if isinstance(person, str) else "ids")
    if is_lazy(x):
        return _of_lazy(x, person, bounds, per_person, by, known, fewest)
    if not fewest:
        require_columns_without_rows(x)
    wanted = {"person": (person, "id"), **({} if known is None else {"by": (by, "key")})}
    rows, taken, names = taken_apart(x, wanted, fewest)
    if beside is not None:
        rows = beside(rows)
    rules = checked_rules(per_person, rows.d, rows.columns)
    numbers = person_numbers(taken["person"])
    count = int(numbers.max(initial=NOBODY)) + 1
    if count < fewest:
        raise ParameterError("person", "must have an id in at least one row", "none")
    cells = one_row_each(rows.cells, numbers, count, _ends(rows, bounds), rules)
    table = replace(rows, cells=cells, unreadable=None)
    if known is None:
        return table, None
    return table, _keys_of(known, names["by"], group_of_each(known.places(taken["by"]), numbers, count))


def _by_ranges(x: Any, y: Any, apart: list[str], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The bounds of features and answers in a lazy frame, where ranges are given."""
    for name in ("ranges", "target_range"):
        if options.get(name) is None:
            rule = "must be given for persons of a lazy frame: the engine adds up a person's rows between them"
            raise ParameterError(name, rule, "None")
    features = features_of(x, y, *apart)
    ends = zip(features, zip(*checked_bounds(len(features), options["ranges"], features), strict=True), strict=True)
    (answers,) = zip(*checked_bounds(1, options["target_range"]), strict=True)
    return {**dict(ends), y: answers}


def _of_lazy(
    x: Any, person: Any, bounds: Any, per_person: Any, by: Any, keys: Keys | None, fewest: int
) -> tuple[Table, GroupOfRow | None]:
    """The engine groups its rows; what it adds up are integers, which takes bounds."""
    for parameter, given in (("person", person), ("by", by)):
        if given is not None and not isinstance(given, str):
            raise ParameterError(parameter, "must be the name of a column of a lazy frame", type(given).__name__)
    require_bounds(bounds, "a person's rows are added up between them")
    if asks_for_bounds(bounds):
        rule = "must be given for persons of a lazy frame: the engine adds up a person's rows between them"
        raise ParameterError("bounds", rule, brief(bounds))
    table, places = persons_in_engine(
        x,
        person,
        by,
        keys,
        lambda names: _floats(checked_bounds(len(names), bounds, names)),
        lambda names: checked_rules(per_person, len(names), names),
        fewest,
    )
    return table, None if keys is None or places is None else _keys_of(keys, by, places)


def _keys_of(keys: Keys, by: str, places: IntArray) -> GroupOfRow:
    """By what keys are compared by: the name of one, such as 1/3, need not read as the number that it is."""
    return GroupOfRow(by, [None if place < 0 else keys.labels[place] for place in places.tolist()])


def _ends(table: Table, bounds: Any) -> tuple[FloatArray, FloatArray] | None:
    """Where a person's cells are clipped; nowhere in columns whose bounds are to be found."""
    if bounds is None or not asks_for_bounds(bounds):
        return None if bounds is None else _floats(checked_bounds(table.d, bounds, table.columns))
    known, _ = known_bounds(bounds, table.d, table.columns)
    ends = [(-np.inf, np.inf) if pair is None else tuple(map(float, pair)) for pair in known]
    return np.array([a for a, _ in ends]), np.array([b for _, b in ends])


def _floats(bounds: Bounds) -> tuple[FloatArray, FloatArray]:
    lower, upper = bounds
    return np.array([float(v) for v in lower]), np.array([float(v) for v in upper])


def _told(outcome: Any, per_person: Any, grouped: bool) -> Any:
    """The outcome with a guarantee about persons, and the rule by which their rows became one."""
    seal: Any = None if outcome.seal is None else outcome.seal.about_persons()
    settings = {"per_person": dict(per_person) if isinstance(per_person, Mapping) else per_person}
    note = person_note(per_person, grouped)
    if isinstance(outcome, GroupedRelease):
        return outcome.charged(seal, settings, note)
    return replace(outcome, seal=seal, settings={**outcome.settings, **settings}, notes=(*outcome.notes, note))


@dataclass(frozen=True)
class OfPersons:
    """The accountant as the mechanism on persons sees it."""

    accountant: Spends

    def require(self, guarantee: Guarantee) -> None:
        require_room(self.accountant, about_persons(guarantee))

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        told = about_persons(guarantee)
        return self.accountant.spend(told, mechanism=mechanism, seeded=seeded, parameters=parameters)


def person_note(per_person: Any, grouped: bool = False) -> str:
    rules = (
        ", ".join(f"{rule} of {name}" for name, rule in per_person.items()) + ", else the mean"
        if isinstance(per_person, Mapping)
        else f"the {per_person}"
    )
    several = " A person whose rows name several groups is in none of them." if grouped else ""
    return (
        f"Every person counts once, with {rules} of their rows. What is called the number of rows is that of "
        f"persons; how many rows anybody has is secret. Rows without an id are left out.{several}"
    )
