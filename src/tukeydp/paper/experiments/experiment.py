"""What an experiment is: cells to measure, trials, results with confidence intervals, a figure, and claims to check."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.results.escaping import csv_text
from tukeydp.trusted.bits import SeededRandomness, seeded
from tukeydp.trusted.parameters import FloatArray

# Rows of measurements with the few questions that figures and claims ask of them.

Row = dict[str, Any]


class NotMeasured(LookupError):
    """A question about something this run has not measured."""


class Results:
    """Rows in a fixed order. A value that was not measured is None."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **wanted: Any) -> Results:
        return Results(row for row in self.rows if all(row.get(k) == v for k, v in wanted.items()))

    def distinct(self, column: str, /, **wanted: Any) -> list[Any]:
        """The values of a column, in order of first appearance."""
        return list(dict.fromkeys(row[column] for row in self.where(**wanted) if row.get(column) is not None))

    def values(self, column: str, /, **wanted: Any) -> FloatArray:
        """A column of numbers, one per trial; raises `NotMeasured` where there is none, or where one is missing."""
        found = [row.get(column) for row in self.where(**wanted)]
        if not found or any(value is None for value in found):
            described = ", ".join(f"{k} = {v}" for k, v in wanted.items())
            raise NotMeasured(f"no {column} for {described or 'this run'}")
        return np.array(found, dtype=np.float64)

    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def write_csv(self, path: Path) -> None:
        names = self.columns()
        rows = ([row.get(name) for name in names] for row in self.rows)
        path.write_text(csv_text([names, *rows], line_end="\n"), encoding="utf-8", newline="")


# Numbers with confidence intervals, from independent trials.

Interval = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Estimate:
    """A value and, for any confidence such as 0.99, the interval that goes with it."""

    value: float
    interval: Interval


def _exp(log: float) -> float:
    """e^log; infinite where floats end, as the intervals of two or three trials may."""
    return math.exp(log) if log < 700 else math.inf


def exactly(value: float) -> Estimate:
    """A number without chance in it."""
    return Estimate(value, lambda confidence: (value, value))


def _student(value: float, error: float, freedom: int, shape: Callable[[float], float]) -> Estimate:
    def interval(confidence: float) -> tuple[float, float]:
        from scipy.stats import t

        if freedom < 1:
            return shape(-math.inf), shape(math.inf)
        half_width = float(t.ppf(0.5 + confidence / 2, freedom)) * error
        return shape(value - half_width), shape(value + half_width)

    return Estimate(shape(value), interval)


def mean(sample: FloatArray) -> Estimate:
    """The mean with Student's interval."""
    spread = float(sample.std(ddof=1)) / math.sqrt(len(sample)) if len(sample) > 1 else 0.0
    return _student(float(sample.mean()), spread, len(sample) - 1, float)


def papers_half_width(sample: FloatArray) -> float:
    """Half of the paper's 95 % interval as its footnote prints it: 100 in both places, for its ten trials."""
    ten = sample[:10]
    return 1.96 * math.sqrt(float(((ten - ten.mean()) ** 2).sum()) / 100) / math.sqrt(100)


def _contrast(
    groups: Sequence[FloatArray], coefficients: Sequence[float], paired: bool, shape: Callable[[float], float]
) -> Estimate:
    """sum of c_j ln(mean_j), by linearisation: trial i moves ln(mean_j) by x_ij / mean_j / trials."""
    means = [float(group.mean()) for group in groups]
    if min(means) <= 0:
        raise NotMeasured("no logarithm: an average is not positive")
    value = sum(c * math.log(m) for c, m in zip(coefficients, means, strict=True))
    moved = [c * group / m for c, group, m in zip(coefficients, groups, means, strict=True)]
    fewest = min(len(group) for group in groups)
    if fewest < 2:
        return _student(value, 0.0, 0, shape)
    if paired:
        error = float(np.sum(moved, axis=0).std(ddof=1)) / math.sqrt(fewest)
    else:
        error = math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in moved))
    return _student(value, error, fewest - 1, shape)


def ratio(above: FloatArray, below: FloatArray, *, paired: bool = True, power: float = 1.0) -> Estimate:
    """mean(above) / mean(below), to a power: 0.5 turns mean squares into a ratio of root mean squares."""
    return _contrast([above, below], [power, -power], paired, _exp)


def log_contrast(groups: Sequence[FloatArray], coefficients: Sequence[float]) -> Estimate:
    """The product of mean_j ** c_j over paired groups of positive numbers."""
    return _contrast(groups, coefficients, True, _exp)


def level(sample: FloatArray, unit: float = 1.0, power: float = 1.0) -> Estimate:
    """mean(sample) ** power / unit, for positive samples."""
    return _contrast([sample], [power], True, lambda log: _exp(log) / unit)


def _slope_weights(at: Sequence[float]) -> FloatArray:
    """The least-squares slope of y against `at` is the sum of weights times y."""
    if len(set(at)) < 2:
        raise NotMeasured("no slope: fewer than two places")
    centred = np.asarray(at, dtype=np.float64) - np.mean(at)
    return np.asarray(centred / (centred**2).sum())


def slope(at: Sequence[float], groups: Sequence[FloatArray], *, paired: bool = False) -> Estimate:
    """The least-squares slope of ln(mean) against ln(at): the exponent of a power law.

    `paired`: trial i of every group is on the same data.
    """
    return _contrast(groups, _slope_weights([math.log(place) for place in at]).tolist(), paired, float)


def slope_of_ratio(at: Sequence[float], above: Sequence[FloatArray], below: Sequence[FloatArray]) -> Estimate:
    """The same for mean(above) / mean(below): paired at each place, independent from place to place."""
    weights = _slope_weights([math.log(place) for place in at]).tolist()
    parts = [_contrast(pair, [w, -w], True, float) for w, *pair in zip(weights, above, below, strict=True)]
    fewest = min(map(len, above))
    moved = [w * (a / a.mean() - b / b.mean()) for w, a, b in zip(weights, above, below, strict=True)]
    error = math.sqrt(sum(float(m.var(ddof=1)) / len(m) for m in moved)) if fewest > 1 else 0.0
    return _student(sum(part.value for part in parts), error, fewest - 1, float)


def linear_slope(at: Sequence[float], groups: Sequence[FloatArray]) -> Estimate:
    """The least-squares slope of the mean against `at`; groups are independent."""
    weights = _slope_weights(at)
    value = sum(float(w * group.mean()) for w, group in zip(weights, groups, strict=True))
    fewest = min(len(group) for group in groups)
    if fewest < 2:
        return _student(value, 0.0, 0, float)
    variance = sum(
        float(w) ** 2 * float(group.var(ddof=1)) / len(group) for w, group in zip(weights, groups, strict=True)
    )
    return _student(value, math.sqrt(variance), fewest - 1, float)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """first - second; the interval is the sum of both, hence conservative, whether they are independent or not."""

    def interval(confidence: float) -> tuple[float, float]:
        (a, b), (c, d) = first.interval((1 + confidence) / 2), second.interval((1 + confidence) / 2)
        return a - d, b - c

    return Estimate(first.value - second.value, interval)


def quotient(first: Estimate, second: Estimate) -> Estimate:
    """first / second for positive numbers; the interval is that of the worst cases, hence conservative."""

    def interval(confidence: float) -> tuple[float, float]:
        (a, b), (c, d) = first.interval((1 + confidence) / 2), second.interval((1 + confidence) / 2)
        return a / d, b / c if c else math.inf

    return Estimate(first.value / second.value, interval)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """A positive factor times an estimate."""

    def interval(confidence: float) -> tuple[float, float]:
        low, high = estimate.interval(confidence)
        return factor * low, factor * high

    return Estimate(factor * estimate.value, interval)


def proportion(sample: FloatArray) -> Estimate:
    """The share of ones, with the Clopper-Pearson interval."""
    ones, count = int(sample.sum()), len(sample)

    def interval(confidence: float) -> tuple[float, float]:
        from scipy.stats import beta

        tail = (1 - confidence) / 2
        low = float(beta.ppf(tail, ones, count - ones + 1)) if ones else 0.0
        high = float(beta.ppf(1 - tail, ones + 1, count - ones)) if ones < count else 1.0
        return low, high

    return Estimate(ones / count, interval)


# Sentences of the paper, and whether measurements bear them out: by confidence intervals, never by eye.
#
# Every claim becomes one or more numbers that have to lie in a stated range. Their confidence intervals are
# simultaneous: with m numbers each has confidence 1 - SIZE/m, so that a claim that is true is called false with
# probability SIZE at most, and the other way round.

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


def both(*checks: Check) -> Check:
    return lambda results: [finding for check in checks for finding in check(results)]


@dataclass(frozen=True)
class Claim:
    """A sentence and the numbers that decide it.

    `name`: short, and unique in its experiment; with that it is what `sentences` calls the claim by. `afterwards`:
    worded, or its setting chosen, after a first look at results. Such a claim describes what was seen and is no test of
    a prediction; the report marks it. `whose`: PAPER for what the paper says, OURS for what is said here. `limits`:
    where it was looked for, if the sentence says more than that: what is not borne out then was "not seen" there.
    """

    name: str
    sentence: str
    check: Check
    afterwards: bool = False
    whose: str = OURS
    limits: str = ""


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
    def slack(self) -> float:
        """How far the interval keeps from the ends of the range, in parts of them; negative where it goes beyond."""
        ends = ((self.at_least, self.low - self.at_least), (self.at_most, self.at_most - self.high))
        return min((gap / max(abs(end), 1e-9) for end, gap in ends if math.isfinite(end)), default=math.inf)

    @property
    def text(self) -> str:
        around = "" if self.low == self.high else f" [{self.low:.3g}, {self.high:.3g}]"
        return f"{self.label}: {self.value:.3g}{around}, needed {_range(self.at_least, self.at_most)}"


@dataclass(frozen=True)
class Verdict:
    """What a run makes of a claim; `holds` is None where the intervals are too wide to tell."""

    claim: Claim
    holds: bool | None
    numbers: tuple[str, ...]
    measured: tuple[Measured, ...] = ()

    @property
    def word(self) -> str:
        return OPEN if self.holds is None else HOLDS if self.holds else FAILS

    @property
    def telling(self) -> str:
        """The number nearest to its range's end, or farthest beyond it: one outside, if the verdict is that."""
        if not self.measured:
            return self.numbers[0]
        beyond = [number for number in self.measured if number.inside is False]
        return min(beyond or self.measured, key=lambda number: number.slack).text

    @property
    def remark(self) -> str:
        """What has to be said with the word."""
        seen = f"not seen {self.claim.limits}" if self.holds is False and self.claim.limits else ""
        first = "chosen after a first look at results: a description, not a test" if self.claim.afterwards else ""
        return "; ".join(filter(None, (seen, first)))


def judge(claim: Claim, results: Results) -> Verdict:
    """Borne out if all intervals lie inside their ranges, not if one lies outside, undecided otherwise."""
    try:
        findings = claim.check(results)
    except NotMeasured as error:
        return Verdict(claim, None, (f"not part of this run: {error}",))
    confidence = 1 - SIZE / max(1, len(findings))
    measured = tuple(
        Measured(f.label, f.estimate.value, *f.estimate.interval(confidence), f.at_least, f.at_most) for f in findings
    )
    outcomes = [number.inside for number in measured]
    holds = False if False in outcomes else None if None in outcomes or not outcomes else True
    return Verdict(claim, holds, tuple(number.text for number in measured), measured)


def tally(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """How many claims of whom are borne out, not borne out, undecided; and how many were chosen after a first look."""
    found = {}
    for whose in (PAPER, OURS):
        theirs = [verdict for verdict in verdicts if verdict.claim.whose == whose]
        counts = {word: sum(verdict.word == word for verdict in theirs) for word in (HOLDS, FAILS, OPEN)}
        found[whose] = counts | {AFTERWARDS: sum(verdict.claim.afterwards for verdict in theirs)}
    return found


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"


# What an experiment is: cells to measure, how to measure one trial, a figure, and claims to check.

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment and how many trials it gets."""

    settings: tuple[tuple[str, Any], ...]
    trials: int


def cell(trials: int, **settings: Any) -> Cell:
    return Cell(tuple(settings.items()), trials)


@dataclass(frozen=True)
class Seeds:
    """Randomness of one trial: streams named by labels, whatever else runs and in whichever order."""

    parts: tuple[Any, ...]

    @property
    def shared(self) -> Seeds:
        """The same for all settings of this experiment and trial: for data that settings should be compared on."""
        seed, name, _, trial = self.parts
        return Seeds((seed, name, "shared", trial))

    @property
    def trial(self) -> int:
        """The number of the trial, from 0: for what is measured once in a cell."""
        return int(self.parts[-1])

    def number(self, *labels: Any) -> int:
        return int.from_bytes(hashlib.sha256(repr((self.parts, labels)).encode()).digest()[:16], "big")

    def rng(self, *labels: Any) -> np.random.Generator:
        return np.random.default_rng(self.number(*labels))

    def source(self, *labels: Any) -> SeededRandomness:
        return seeded(self.number(*labels))


@dataclass(frozen=True)
class Table:
    """A table in the report: what it shows, its head, and rows whose first cell is their head; cells may have lines."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, or a question it left open.

    Attributes
    ----------
    place
        Where the paper has it.
    cells
        What to measure, in full or for `--quick`.
    measure
        One trial: settings and randomness to rows, usually one per method.
    draw
        A matplotlib figure of the results, or several by what they show: the panels, which a page wraps.
    table
        A table of its own for the report, as `Table`; None for none.
    across
        Columns that tell apart what the report's table averages over trials.
    shown
        The column that table shows.
    chunk
        Trials that are run, saved and resumed together.
    alone
        True where seconds are measured: nothing else runs meanwhile.
    """

    name: str
    title: str
    place: str
    cells: Callable[[bool], list[Cell]]
    measure: Callable[[Settings, Seeds], list[Row]]
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    across: tuple[str, ...] = ()
    shown: str = "error"
    chunk: int = 10
    alone: bool = False
    table: Callable[[Results], Table] | None = None
    notes: tuple[str, ...] = field(default=())


_REGISTERED: dict[str, Experiment] = {}


def register(experiment: Experiment) -> None:
    """Make an experiment known by its name. The one line that a new one needs beside its module's in `catalogue`."""
    _REGISTERED[experiment.name] = experiment


def registered_in(module: str) -> list[Experiment]:
    """The experiments that a module has registered, in its order."""
    return [experiment for experiment in _REGISTERED.values() if experiment.measure.__module__ == module]
