"""Private means that are compared on real tables, each told what a user could know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import Seeds
from tukeydp.paper.experiments.methods import DELTA, EPSILON
from tukeydp.trusted.parameters import FloatArray

OURS, PURE, APPROXIMATE, CENTRE = "ours", "pure", "approximate", "centre"
OFF_CENTRE = 0.2  # of the range, below the smallest value: what off-centre bounds leave on that side
# A standard deviation that one might guess from the plausible range of a column: six of them end to end hold nearly all
# of a bell-shaped column. CoinPress is told this and not the true one, which nobody knows beforehand.
RANGE_IN_DEVIATIONS = 6.0
MEAN, LAPLACE = "td.mean", "Laplace"


@dataclass(frozen=True)
class Question:
    """A table with bounds that are so many times as wide as its columns' ranges.

    Bounds lie around the middle of the range, or, `off_centre`, nearly all above it, as for columns that begin at 0.
    """

    x: FloatArray
    times: float
    off_centre: bool = False

    @property
    def range(self) -> FloatArray:
        return np.asarray(np.ptp(self.x, axis=0))

    @property
    def deviation(self) -> FloatArray:
        return np.asarray(self.x.std(axis=0))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        lowest = self.x.min(axis=0)
        below = OFF_CENTRE if self.off_centre else (self.times - 1.0) / 2.0
        lower = lowest - below * self.range
        return lower, lower + self.times * self.range

    def errors(self, point: FloatArray) -> FloatArray:
        """Distance from the mean of each column, in its standard deviations."""
        return np.asarray(np.abs(point - self.x.mean(axis=0)) / self.deviation)


Run = Callable[[Question, Seeds], td.Release]


@dataclass(frozen=True)
class Contender:
    """Of which kind a mechanism is, and how it is run."""

    kind: str
    run: Run


def _mean(question: Question, seeds: Seeds, mechanism: str = "auto", factor: float | None = None) -> td.Release:
    """`factor`: what the public standard deviation is over the true one; None for no public one."""
    release = td.mean(
        question.x,
        epsilon=EPSILON,
        bounds=question.bounds,
        mechanism=mechanism,
        sd=None if factor is None else factor * question.deviation,
        randomness=seeds.source("td.mean", mechanism, factor),
    )
    assert isinstance(release, td.Release)
    return release


def _bounds_found(question: Question, seeds: Seeds) -> td.Release:
    release = td.mean(question.x, epsilon=EPSILON, bounds="auto", randomness=seeds.source("td.mean", "bounds found"))
    assert isinstance(release, td.Release)
    return release


def _by(function: Callable[..., td.Release]) -> Run:
    def run(question: Question, seeds: Seeds) -> td.Release:
        return function(question.x, epsilon=EPSILON, bounds=question.bounds, randomness=seeds.source(function.__name__))

    return run


def _baseline(function: Callable[..., td.Release], told: Callable[[Question], dict[str, Any]] | None = None) -> Run:
    def run(question: Question, seeds: Seeds) -> td.Release:
        known = {} if told is None else told(question)
        source = seeds.source(function.__name__)
        return function(question.x, epsilon=EPSILON, delta=DELTA, bounds=question.bounds, randomness=source, **known)

    return run


def clipped_means(question: Question) -> tuple[FloatArray, FloatArray]:
    """Means of the clipped columns, and the scale of Laplace noise that makes each of them epsilon/d-DP."""
    lower, upper = question.bounds
    n, d = question.x.shape
    return np.clip(question.x, lower, upper).mean(axis=0), d * (upper - lower) / (EPSILON * n)


def _laplace(question: Question, seeds: Seeds) -> td.Release:
    """The law of the usual libraries' means; as floats and seeded, so for comparisons only."""
    means, scale = clipped_means(question)
    return unguarded(LAPLACE, question, means + seeds.rng(LAPLACE).laplace(size=len(scale)) * scale)


def unguarded(mechanism: str, question: Question, point: FloatArray) -> td.Release:
    """What another's code returned, without a guarantee of ours."""
    n, d = question.x.shape
    return td.Release(
        point=point, guarantee=None, mechanism=mechanism, seeded=True, n=n, d=d, columns=None, unproven=mechanism
    )


CONTENDERS = {
    MEAN: Contender(OURS, _mean),
    "td.mean (sd right)": Contender(OURS, partial(_mean, factor=1.0)),
    "td.mean (sd halved)": Contender(OURS, partial(_mean, factor=0.5)),
    "td.mean (sd doubled)": Contender(OURS, partial(_mean, factor=2.0)),
    "td.mean (bounds found)": Contender(OURS, _bounds_found),
    "td.mean by subset": Contender(OURS, partial(_mean, mechanism="subset")),
    "td.mean by two-step": Contender(OURS, partial(_mean, mechanism="two-step")),
    "td.cube": Contender(OURS, _by(td.cube)),
    "td.boxem": Contender(CENTRE, _by(td.boxem)),
    LAPLACE: Contender(PURE, _laplace),
    "Gaussian": Contender(APPROXIMATE, _baseline(td.baselines.gaussian)),
    "analytic Gaussian": Contender(APPROXIMATE, _baseline(td.baselines.analytic_gaussian)),
    "CoinPress": Contender(
        APPROXIMATE, _baseline(td.baselines.coinpress, lambda q: {"deviation": q.range / RANGE_IN_DEVIATIONS})
    ),
    "Huang-Liang-Yi": Contender(APPROXIMATE, _baseline(td.baselines.huang_liang_yi)),
    "PLAN": Contender(APPROXIMATE, _baseline(td.baselines.plan)),
}
WITH_SD = ("td.mean (sd right)", "td.mean (sd halved)", "td.mean (sd doubled)")
FORCED = {"subset": "td.mean by subset", "two-step": "td.mean by two-step", "cube": "td.cube"}


def claimed_error(release: td.Release) -> tuple[float, float] | None:
    """The typical error of one column that a release states, least and most over shapes; None where it states none."""
    expected = release.expected_error
    stated = {} if expected is None else expected.to_dict()
    typical = stated.get("typical", stated.get("privacy"))
    if typical is None:
        return None
    low, high = typical if isinstance(typical, tuple | list) else (typical, typical)
    return float(low), float(high)
