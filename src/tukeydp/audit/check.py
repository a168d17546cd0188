"""What a check is and finds; checks run one after the other or in several processes; the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.stats import beta, chi2

from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.parameters import FloatArray

# What a check is, and what it finds. A new one: a file in `checks/` with a `CHECK`, and a line in `catalogue.py`.

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
    """What was looked at and the worst that was found. It failed if that is beyond the bound, or anything else failed.

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
    lower_bound
        Whether `worst` is a lower bound that draws prove. Where it is 0 they prove nothing, of a sound mechanism or of
        any other: such a check has no power, and has not passed.
    """

    datasets: int
    pairs: int
    bound: float
    worst: float
    draws: int = 0
    failures: tuple[str, ...] = ()
    lower_bound: bool = False

    @property
    def failed(self) -> bool:
        return not self.worst <= self.bound or bool(self.failures)

    @property
    def powerless(self) -> bool:
        return self.lower_bound and self.worst <= 0 and not self.failed

    @property
    def passed(self) -> bool:
        return not self.failed and not self.powerless

    @property
    def verdict(self) -> str:
        return "FAILED" if self.failed else "no power" if self.powerless else "passed"


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

    def __init__(self, bound: float, *, lower_bound: bool = False) -> None:
        self._bound, self._lower_bound = bound, lower_bound
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
        counts = self._datasets, self._pairs, self._bound, self._worst, self._draws
        return Result(*counts, tuple(self._failures), self._lower_bound)


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


# One goodness-of-fit test and one confidence bound, each with a stated chance of a false alarm.

# Of one test. An audit makes about a hundred, so that all of them together raise one with a chance of at most 1e-4.
FALSE_ALARM = 1e-6
# In the unit of `surprise`: what stays below this is no alarm.
ALARM = -math.log10(FALSE_ALARM)


def surprise(counts: Sequence[float], probabilities: Sequence[float]) -> float:
    """-log10 of the p-value of the likelihood-ratio test; cells expected fewer than 10 times are pooled."""
    seen, law = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = law / law.sum() * seen.sum()
    rare = expected < 10
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if ((expected == 0) & (seen > 0)).any():
        return math.inf
    kept = seen > 0
    statistic = 2 * float((seen[kept] * np.log(seen[kept] / expected[kept])).sum())
    return max(0.0, -float(chi2.logsf(statistic, max(1, int((expected > 0).sum()) - 1))) / math.log(10))


def least_epsilon(
    counts: Sequence[int], others: Sequence[int], draws: int, delta: float = 0.0, false_alarm: float = FALSE_ALARM
) -> float:
    """A lower bound on epsilon from how often events came in `draws` runs on either of two neighbours.

    Clopper and Pearson's bounds, each wrong with a chance of false_alarm / (4 events); both orders are tried. That
    all of them hold has a chance of at least 1 - false_alarm.
    """
    share = false_alarm / (4 * max(1, len(counts)))
    best = 0.0
    for ours, theirs in (*zip(counts, others, strict=True), *zip(others, counts, strict=True)):
        low = float(beta.ppf(share, ours, draws - ours + 1)) if ours else 0.0
        high = float(beta.ppf(1 - share, theirs + 1, draws - theirs)) if theirs < draws else 1.0
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best


# Hill climbing over tables and swaps of one row: a stubborn adversary who never gets tired of small changes.

Score = TypeVar("Score", float, tuple[float, float])
Row = Callable[[np.random.Generator], FloatArray]


def climb(
    score: Callable[[FloatArray, FloatArray], Score], n: int, row: Row, steps: int, random: np.random.Generator
) -> Score:
    """The largest score of (table, neighbour) that was found. A step redraws a row of the table, or the swapped one."""
    x = np.array([row(random) for _ in range(n)])
    place, other = int(random.integers(n)), row(random)
    best = score(x, _swapped(x, place, other))
    for _ in range(steps):
        tried, tried_place, tried_other = x.copy(), place, other
        kind = random.random()
        if kind < 0.6:
            tried[random.integers(n)] = row(random)
        elif kind < 0.9:
            tried_other = row(random)
        else:
            tried_place = int(random.integers(n))
        found = score(tried, _swapped(tried, tried_place, tried_other))
        if found >= best:
            best, x, place, other = found, tried, tried_place, tried_other
    return best


def _swapped(x: FloatArray, place: int, other: FloatArray) -> FloatArray:
    swapped = x.copy()
    swapped[place] = other
    return swapped
