"""What a mechanism asks of an accountant, so that mechanisms need not know where budgets are kept.

The order in every mechanism: parameters that need no table are checked; `require_room` refuses what cannot fit before
the table is read; its shape and names are read, and what depends on these is checked; `reserve`; only then a cell
is used. So a mistyped parameter costs nothing, and nothing that depends on a cell comes before the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tukeydp.trusted.account import ApproxDP, Guarantee, bounded_range
from tukeydp.trusted.parameters import ParameterError, brief
from tukeydp.trusted.release import Spends, plain


def require_room(accountant: Spends | None, guarantee: Guarantee, unproven: Any = None) -> None:
    """Refuse what cannot fit, and modes without a guarantee, before the table is read."""
    if accountant is None:
        return
    if not (callable(getattr(accountant, "require", None)) and callable(getattr(accountant, "spend", None))):
        raise ParameterError("accountant", "must be None or a td.Accountant", brief(accountant))
    if unproven is not None:
        raise ParameterError("accountant", "must be left out where there is no guarantee to spend", "unproven mode")
    accountant.require(guarantee)


def refuse_without_guarantee(accountant: Spends | None) -> None:
    """An accountant has nothing to spend where nothing is promised."""
    if accountant is not None:
        raise ParameterError("accountant", "must be left out where there is no guarantee to spend", "no promise")


def least_cost(epsilon: Fraction, delta: Any = None, steps: int = 1, neighbours: str = "swap") -> Guarantee:
    """What no run of `epsilon` in so many steps costs less than: the same epsilon in equal steps by depth.

    With a delta one of them is a test with any law. For a refusal before the cost is known exactly.
    """
    one = bounded_range(epsilon / steps, neighbours)
    first = one if delta is None else ApproxDP(epsilon / steps, delta, neighbours=neighbours)
    return sum((one for _ in range(steps - 1)), first)


@dataclass(frozen=True)
class Together:
    """The accountant as a mechanism sees it that is one step of a run: it pays for the whole run, in one entry.

    `beside` is what the other steps cost, `about` what the entry says of them.
    """

    accountant: Spends
    beside: Guarantee
    about: Mapping[str, Any]

    def require(self, guarantee: Guarantee) -> None:
        self.accountant.require(guarantee + self.beside)

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        told = {**parameters, **plain(self.about)}
        return self.accountant.spend(guarantee + self.beside, mechanism=mechanism, seeded=seeded, parameters=told)


class _Reached(Exception):
    """A run has come to where it pays."""

    def __init__(self, cost: Guarantee, mechanism: str) -> None:
        self.cost, self.mechanism = cost, mechanism


class _Till:
    """An accountant that lets nothing pass."""

    def require(self, guarantee: Guarantee) -> None:
        """Whether there is room is for others to say."""

    def spend(self, guarantee: Guarantee, *, mechanism: str, seeded: bool, parameters: Mapping[str, Any]) -> Any:
        raise _Reached(guarantee, mechanism)


def dry_run(run: Callable[[Spends], Any]) -> tuple[Guarantee, str]:
    """What a run would cost, and its mechanism: it is stopped where it pays, before a cell is used.

    It raises as the run would: all that is public is checked before. `run` takes the accountant; a table of blanks of
    the right shape will do.
    """
    try:
        run(_Till())
    except _Reached as till:
        return till.cost, till.mechanism
    raise RuntimeError("a release must pay before it ends")
