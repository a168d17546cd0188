"""What is compared: every method by its label, with its colour in all figures and, mostly, how the paper runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tukeydp as td
from tukeydp.arrays import FloatArray
from tukeydp.release import Refused, Release

# The paper's budget, and its range: columns are known to lie within -RADIUS ... RADIUS.
EPSILON, DELTA, RADIUS = 1, "1e-6", 10.0
DIRECTIONS = 30
PAPERS = td.Random(DIRECTIONS, axes=False)  # the paper's random depth
EMPIRICAL = "empirical"

Run = Callable[[FloatArray, float, Any], Release | Refused]


@dataclass(frozen=True)
class Method:
    """A colour, and what to run on (rows, radius, randomness); None where an experiment runs it in a way of its own."""

    colour: str
    run: Run | None = None


def boxem_over(depth: Any, **options: Any) -> Run:
    def run(x: FloatArray, radius: float, source: Any) -> Release:
        return td.boxem(x, epsilon=EPSILON, bounds=(-radius, radius), depth=depth, randomness=source, **options)

    return run


def rem_over(depth: Any, test: str) -> Run:
    def run(x: FloatArray, radius: float, source: Any) -> Release | Refused:
        return td.rem(x, epsilon=EPSILON, delta=DELTA, depth=depth, test=test, randomness=source)

    return run


def baseline(function: Callable[..., Release]) -> Run:
    def run(x: FloatArray, radius: float, source: Any) -> Release:
        return function(x, epsilon=EPSILON, delta=DELTA, radius=radius, randomness=source)

    return run


METHODS = {
    EMPIRICAL: Method("black"),
    "median": Method("#555555"),
    "BoxEM": Method("#1b6ca8"),
    "BoxEM random": Method("#1b6ca8", boxem_over(PAPERS)),
    "BoxEM exact": Method("#0b3c5d", boxem_over(td.Exact())),
    "BoxEM axis-aligned": Method("#7a5195", boxem_over(td.AxisAligned())),
    "BoxEM default": Method("#2a9d8f", boxem_over(None)),
    "BoxEM spread": Method("#2a9d8f"),
    "BoxEM MCMC (no proof)": Method("#ef8a17", boxem_over(PAPERS, unproven="mcmc")),
    "REM": Method("#c0392b", rem_over(td.Random(DIRECTIONS), "graded")),
    "REM (paper's test)": Method("#e59866", rem_over(td.Random(DIRECTIONS), "paper")),
    "REM default": Method("#943126"),
    "REM exact": Method("#641e16"),
    "Algorithm 3 (BoxEM)": Method("#48c9b0"),
    "Algorithm 3 (REM)": Method("#f39c12"),
    "REM (laplace test)": Method("#d35480", rem_over(td.Random(DIRECTIONS), "laplace")),
    "Gaussian": Method("#6b8e23", baseline(td.baselines.gaussian)),
    "Gaussian, half the noise": Method("#6b8e23"),
    "analytic Gaussian": Method("#a3b18a", baseline(td.baselines.analytic_gaussian)),
    "CoinPress": Method("#8c6d31", baseline(td.baselines.coinpress)),
    "Huang-Liang-Yi": Method("#999999", baseline(td.baselines.huang_liang_yi)),
    "PLAN": Method("#bbbbbb", baseline(td.baselines.plan)),
    "Laplace": Method("#3a3a9e"),
    "td.mean": Method("#d62828"),
    "td.mean (sd right)": Method("#f77f00"),
    "td.mean (sd halved)": Method("#fcbf49"),
    "td.mean (sd doubled)": Method("#e5989b"),
    "td.cube": Method("#2a9d8f"),
    "td.boxem": Method("#1b6ca8"),
}


def run_method(name: str, x: FloatArray, radius: float, source: Any) -> Release | Refused:
    run = METHODS[name].run
    assert run is not None
    return run(x, radius, source)
