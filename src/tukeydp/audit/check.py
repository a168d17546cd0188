"""What a check is, and what it finds. A new one: a file in `checks/` with a `CHECK`, and a line in `catalogue.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tukeydp.randomness import Keystream, derived_key

Case = TypeVar("Case")


@dataclass(frozen=True)
class Effort:
    """How much to do: `quick` takes a minute for all checks. Equal seeds give equal draws."""

    quick: bool = True
    seed: int = 0

    def key(self, *parts: object) -> bytes:
        """A key for draws of the check."""
        return derived_key("audit", self.seed, *parts)

    def stream(self, *parts: object) -> Keystream:
        return Keystream(self.key(*parts))


@dataclass(frozen=True)
class Result:
    """What was looked at and the worst that was found; passed if that is at most the bound, and nothing failed.

    Attributes
    ----------
    datasets, pairs
        Different datasets looked at, and pairs of them that differ in one row (in each order).
    bound, worst
        In the unit that the check states.
    draws
        Random draws made, 0 where everything was enumerated.
    failures
        In words, what else went wrong.
    """

    datasets: int
    pairs: int
    bound: float
    worst: float
    draws: int = 0
    failures: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.worst <= self.bound and not self.failures


@dataclass(frozen=True)
class Check:
    """A claim and the function that tries to break it.

    Attributes
    ----------
    claim
        What must hold, in one sentence.
    measure
        What `bound` and `worst` are numbers of.
    """

    name: str
    claim: str
    measure: str
    run: Callable[[Effort], Result]


class Tally:
    """Counts what a check has looked at and keeps the worst."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._worst = 0.0
        self._datasets = self._pairs = self._draws = 0
        self._failures: list[str] = []

    def saw(self, *, datasets: int = 0, pairs: int = 0, draws: int = 0) -> None:
        self._datasets += datasets
        self._pairs += pairs
        self._draws += draws

    def found(self, value: float) -> None:
        """A value that must stay within the bound. What is no number is worse than any."""
        self._worst = max(self._worst, value if value == value else float("inf"))

    def require(self, holds: bool, otherwise: str) -> None:
        if not holds and otherwise not in self._failures:
            self._failures.append(otherwise)

    def result(self) -> Result:
        return Result(self._datasets, self._pairs, self._bound, self._worst, self._draws, tuple(self._failures))


def over_cases(
    quick: Sequence[Case], full: Sequence[Case], examine: Callable[[Case, Tally], None], bound: float
) -> Callable[[Effort], Result]:
    """A check that examines one case after the other, fewer in a quick run."""

    def run(effort: Effort) -> Result:
        tally = Tally(bound)
        for case in quick if effort.quick else full:
            examine(case, tally)
        return tally.result()

    return run
