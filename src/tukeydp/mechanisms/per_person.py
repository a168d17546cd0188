"""A mechanism on persons rather than rows: one row for each, and a guarantee that says so (docs/proofs/persons.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tukeydp.data.persons import persons_table
from tukeydp.spending import require_room
from tukeydp.trusted.account import Guarantee
from tukeydp.trusted.parameters import ParameterError, brief
from tukeydp.trusted.release import PERSONS as PERSONS
from tukeydp.trusted.release import Spends


def refuse_without_person(per_person: str) -> None:
    """What goes with `person` is refused without it."""
    if per_person != "mean":
        raise ParameterError("per_person", "must be left out without person", brief(per_person))


def refuse_with_groups_and_persons(person: Any) -> None:
    """A person may have rows in several groups. A list of ids is data, and not quoted."""
    raise ParameterError("person", "must be left out with by", repr(person) if isinstance(person, str) else "ids")


def released_per_person(
    run: Callable[..., Any],
    x: Any,
    *,
    person: Any,
    per_person: str,
    bounds: Any,
    accountant: Spends | None,
    by: Any = None,
    **options: Any,
) -> Any:
    """What `run` makes of the table with one row for each person; `accountant` pays for a guarantee about persons."""
    if by is not None:
        refuse_with_groups_and_persons(person)
    table = persons_table(x, person, bounds, per_person)
    paying = None if accountant is None else OfPersons(accountant)
    if bounds is not None:
        options["bounds"] = bounds
    outcome = run(table, accountant=paying, **options)
    told = {**outcome.settings, "per_person": per_person}
    return replace(
        outcome,
        seal=None if outcome.seal is None else outcome.seal.about_persons(),
        settings=told,
        notes=(*outcome.notes, person_note(per_person)),
    )


def of_persons(guarantee: Any) -> Any:
    """The same guarantee about persons: each is one row of the table that it was proven for."""
    return None if guarantee is None else replace(guarantee, neighbours=PERSONS)


@dataclass(frozen=True)
class OfPersons:
    """The accountant as the mechanism on persons sees it."""

    accountant: Spends

    def require(self, guarantee: Guarantee) -> None:
        require_room(self.accountant, of_persons(guarantee))

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        return self.accountant.spend(of_persons(guarantee), mechanism=mechanism, seeded=seeded, parameters=parameters)


def person_note(statistic: str) -> str:
    return (
        f"Every person counts once, with the {statistic} of their rows. What is called the number of rows is that of "
        "persons, which is public; how many rows anybody has is secret. Rows without an id are left out."
    )
