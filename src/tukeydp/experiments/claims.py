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
    is no test of a prediction; the report marks it.
    """

    sentence: str
    check: Check
    afterwards: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a run makes of a claim; `holds` is None where the intervals are too wide to tell."""

    sentence: str
    holds: bool | None
    numbers: tuple[str, ...]
    afterwards: bool = False

    @property
    def word(self) -> str:
        return OPEN if self.holds is None else HOLDS if self.holds else FAILS


def judge(claim: Claim, results: Results) -> Verdict:
    """Borne out if all intervals lie inside their ranges, not if one lies outside, undecided otherwise."""
    try:
        findings = claim.check(results)
    except NotMeasured as error:
        return Verdict(claim.sentence, None, (f"not part of this run: {error}",), claim.afterwards)
    confidence = 1 - SIZE / max(1, len(findings))
    outcomes, numbers = [], []
    for finding in findings:
        low, high = finding.estimate.interval(confidence)
        inside = finding.at_least <= low and high <= finding.at_most
        outside = high < finding.at_least or low > finding.at_most
        outcomes.append(True if inside else False if outside else None)
        around = "" if low == high else f" [{low:.3g}, {high:.3g}]"
        wanted = _range(finding.at_least, finding.at_most)
        numbers.append(f"{finding.label}: {finding.estimate.value:.3g}{around}, needed {wanted}")
    holds = False if False in outcomes else None if None in outcomes or not outcomes else True
    return Verdict(claim.sentence, holds, tuple(numbers), claim.afterwards)


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"
