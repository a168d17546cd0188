"""Sentences of the paper, and whether measurements bear them out: by confidence intervals, never by eye.

Every claim becomes one or more numbers that have to lie in a stated range. Their confidence intervals are simultaneous:
with m numbers each has confidence 1 - SIZE/m, so that a claim that is true is called false with probability SIZE at
most, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tukeydp.experiments.estimates import Estimate
from tukeydp.experiments.results import NotMeasured, Results

SIZE = 0.01  # chance of a wrong verdict, for each claim; smaller leaves more of them undecided

HOLDS, FAILS, OPEN = "borne out", "not borne out", "undecided"
AFTERWARDS = "of these, chosen after a first look"
PAPER, OURS = "the paper's", "ours"  # who claims it


@dataclass(frozen=True)
class Finding:
    """A measured number and the range that the claim asks of it."""

    label: str
    estimate: Estimate
    at_least: float = -math.inf
    at_most: float = math.inf


Check = Callable[[Results], Sequence[Finding]]


@dataclass(frozen=True)
class Claim:
    """A sentence and the numbers that decide it.

    `afterwards`: worded, or its setting chosen, after a first look at results. Such a claim describes what was seen and
    is no test of a prediction; the report marks it. `whose`: PAPER for what the paper says, OURS for what is said here.
    """

    sentence: str
    check: Check
    afterwards: bool = False
    whose: str = OURS


@dataclass(frozen=True)
class Measured:
    """A finding with its interval: inside its range, outside, or neither (None)."""

    label: str
    value: float
    low: float
    high: float
    at_least: float
    at_most: float

    @property
    def inside(self) -> bool | None:
        if self.at_least <= self.low and self.high <= self.at_most:
            return True
        return False if self.high < self.at_least or self.low > self.at_most else None

    @property
    def text(self) -> str:
        around = "" if self.low == self.high else f" [{self.low:.3g}, {self.high:.3g}]"
        return f"{self.label}: {self.value:.3g}{around}, needed {_range(self.at_least, self.at_most)}"


@dataclass(frozen=True)
class Verdict:
    """What a run makes of a claim; `holds` is None where the intervals are too wide to tell."""

    sentence: str
    holds: bool | None
    numbers: tuple[str, ...]
    afterwards: bool = False
    whose: str = OURS
    measured: tuple[Measured, ...] = ()

    @property
    def word(self) -> str:
        return OPEN if self.holds is None else HOLDS if self.holds else FAILS


def judge(claim: Claim, results: Results) -> Verdict:
    """Borne out if all intervals lie inside their ranges, not if one lies outside, undecided otherwise."""
    try:
        findings = claim.check(results)
    except NotMeasured as error:
        return Verdict(claim.sentence, None, (f"not part of this run: {error}",), claim.afterwards, claim.whose)
    confidence = 1 - SIZE / max(1, len(findings))
    measured = tuple(
        Measured(f.label, f.estimate.value, *f.estimate.interval(confidence), f.at_least, f.at_most) for f in findings
    )
    outcomes = [number.inside for number in measured]
    holds = False if False in outcomes else None if None in outcomes or not outcomes else True
    numbers = tuple(number.text for number in measured)
    return Verdict(claim.sentence, holds, numbers, claim.afterwards, claim.whose, measured)


def tally(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """How many claims of whom are borne out, not borne out, undecided; and how many were chosen after a first look."""
    found = {}
    for whose in (PAPER, OURS):
        theirs = [verdict for verdict in verdicts if verdict.whose == whose]
        counts = {word: sum(verdict.word == word for verdict in theirs) for word in (HOLDS, FAILS, OPEN)}
        found[whose] = counts | {AFTERWARDS: sum(verdict.afterwards for verdict in theirs)}
    return found


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"
