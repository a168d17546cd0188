"""A paid look before a release from a text file: do its cells read as numbers? (docs/proofs/readable-check.md)

A twentieth of epsilon buys a noisy count of readable rows, in the column with the fewest. Far fewer than there are rows
mean that the file is not written as declared, and that a release would be noise: the run stops, and the rest of epsilon
is not spent, unless an accountant has paid for the whole run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError
from tukeydp.exact.noise import discrete_laplace
from tukeydp.grouped_release import GroupedRelease
from tukeydp.parameters import Bounds, positive_rational, show
from tukeydp.privacy import Guarantee, PureDP
from tukeydp.randomness import Bits, Keystream, source
from tukeydp.release import Refused
from tukeydp.spending import Spends, Together, least_cost, require_room


class Checked(Protocol):
    """What the check needs of a run's result: what it cost, and where to write down that it was checked."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def bounds(self) -> Bounds | None: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


Result = TypeVar("Result", bound=Checked)

CHECK = "readable-check"  # the mechanism that a stopped run names

SHARE = Fraction(1, 20)  # of epsilon. More would cost accuracy in every run; less would need more rows.
# Share of a column's cells that may be unreadable: remarks and typing errors. A lower one would stop good files of many
# rows; a higher one would let pass a column whose large numbers alone have marks of thousands.
TOLERATED = Fraction(1, 10)
# Largest chances of a stop where every cell reads, and of going on where no cell of a column does; as logarithms,
# rounded up, so that the chances are below. Rarer errors would need more rows before there is a check at all.
FALSE_ALARM, MISSED = 1e-4, 1e-2
_LOG_FALSE_ALARM, _LOG_MISSED = Fraction(9211, 1000), Fraction(4606, 1000)
# The check compares with the number of rows.
SECRET_NOTE = "Not checked whether cells read as numbers: the number of rows is secret. Nothing was spent on it."


@dataclass(frozen=True)
class CheckPlan:
    """What is fixed before the data are looked at: rows, and the check's own epsilon."""

    n: int
    epsilon: Fraction

    @property
    def margin(self) -> int:
        """How far noise alone takes a count down, but for a chance of `FALSE_ALARM`."""
        return math.ceil(_LOG_FALSE_ALARM / self.epsilon)

    @property
    def fewest_rows(self) -> int:
        """Below, no threshold keeps both errors rare."""
        return self.margin + math.ceil(_LOG_MISSED / self.epsilon)

    @property
    def least(self) -> int:
        """A noisy count below this stops the run."""
        return self.n - max(self.margin, math.floor(TOLERATED * self.n))

    @property
    def caught(self) -> int:
        """So many unreadable cells in a column stop the run, but for a chance of `FALSE_ALARM`."""
        return self.n - self.least + self.margin


def check_plan(n: int, epsilon: Fraction) -> CheckPlan:
    """The check of a run with `epsilon` in all."""
    return CheckPlan(n, SHARE * epsilon)


def fewest_readable(table: Table) -> int:
    """Readable rows in the column with the fewest: those whose cell is a number, empty, or a word for no value.

    A swap moves each column's number by at most 1, and so their minimum too.
    """
    if table.unreadable is None:
        return table.n
    return table.n - int(table.unreadable.max())


def noisy_count(count: int, epsilon: Fraction, bits: Bits) -> int:
    """A count that a swap moves by at most 1, with noise for pure epsilon-DP."""
    return count + discrete_laplace(1 / epsilon, bits)


def least_cost_with_check(epsilon: Any, delta: Any = None, neighbours: str = "swap") -> Guarantee:
    """What no run of `epsilon` costs less than, checked or not, with an interval or a certificate or without."""
    total = positive_rational("epsilon", epsilon)
    checked = PureDP(SHARE * total, neighbours=neighbours)
    return least_cost(total - SHARE * total, delta, steps=2, neighbours=neighbours) + checked


def with_check(
    run: Callable[..., Result],
    table: Table,
    *,
    epsilon: Any,
    accountant: Spends | None = None,
    randomness: Any = None,
    **options: Any,
) -> Result | Refused:
    """What `run` makes of the table, if the table passes the check; `epsilon` is spent on both together.

    Tables without text, those of too few rows and those of a secret number are not checked, and all of epsilon goes to
    the release. `run` comes
    first, so that a wrong parameter raises before anything is spent. Its result is thrown away unread, but for the
    bounds it was given, if the check fails: the outcome then depends on the noisy count alone, and has cost the
    check's epsilon. An accountant pays for both before the table is looked at, in one entry, and gives nothing back:
    then a stop has cost all of it.
    """
    total = positive_rational("epsilon", epsilon)
    bits = source(randomness)
    paying = {} if accountant is None else {"accountant": accountant}
    if options.get("neighbours") == "add-remove" and table.unreadable is not None:
        outcome = run(table, epsilon=total, randomness=bits, **paying, **options)
        return replace(outcome, notes=(*outcome.notes, SECRET_NOTE))
    plan = check_plan(table.n, total)
    if table.unreadable is None or options.get("unproven") is not None:
        return run(table, epsilon=total, randomness=bits, **paying, **options)
    if table.n < plan.fewest_rows:
        outcome = run(table, epsilon=total, randomness=bits, **paying, **options)
        return replace(outcome, notes=(*outcome.notes, _not_checked(plan)))
    own = PureDP(plan.epsilon)
    if accountant is not None:
        require_room(accountant, own)
        paying = {"accountant": Together(accountant, own, {"epsilon_check": plan.epsilon})}
    try:
        outcome = run(table, epsilon=total - plan.epsilon, randomness=bits, **paying, **options)
    except ParameterError as error:
        raise _of_the_rest(error, total - plan.epsilon) from None
    if outcome.guarantee is None:
        return outcome
    whole = outcome.guarantee + own
    count = noisy_count(fewest_readable(table), plan.epsilon, Keystream(bits.key()).bits(0))
    told = {"epsilon_check": plan.epsilon, "readable_rows": count, "readable_rows_least": plan.least}
    if count < plan.least:
        return Refused(
            guarantee=own if accountant is None else whole,
            mechanism=CHECK,
            seeded=not bits.private,
            **table.public,
            bounds=outcome.bounds,
            settings=told,
            notes=(_stopped(plan, count),),
        )
    if isinstance(outcome, GroupedRelease):
        return outcome.charged(whole, told, _passed(plan, count))  # type: ignore[return-value]
    return replace(
        outcome,
        guarantee=whole,
        settings={**outcome.settings, **told},
        notes=(*outcome.notes, _passed(plan, count)),
    )


def _of_the_rest(error: ParameterError, epsilon: Fraction) -> ParameterError:
    """Where the run speaks of its epsilon: it is not the one that the caller gave."""
    if f"epsilon {show(epsilon)}" not in str(error):
        return error
    rule = f"{error.rule} (a twentieth of epsilon is kept for the check of readable rows)"
    return ParameterError(error.parameter, rule, error.value)


def _not_checked(plan: CheckPlan) -> str:
    return (
        f"Not checked whether cells read as numbers: at this epsilon that takes {plan.fewest_rows} rows. Nothing was "
        "spent on it."
    )


def _passed(plan: CheckPlan, count: int) -> str:
    return (
        f"Checked first, for epsilon = {show(plan.epsilon)} of the total: the column with the fewest readable rows has "
        f"about {_shown(plan, count)}."
    )


def _stopped(plan: CheckPlan, count: int) -> str:
    return (
        f"Stopped before the release: the column with the fewest readable rows has about {_shown(plan, count)}; "
        f"{plan.least} are asked for. The file is not written as declared, or a column is text."
    )


def _shown(plan: CheckPlan, count: int) -> str:
    """Within what is possible: post-processing. The standard deviation of the noise is sqrt(2) / epsilon."""
    return f"{min(max(count, 0), plan.n)} of {plan.n} (noise: give or take {math.ceil(math.sqrt(2) / plan.epsilon)})"
