"""The paper's set-up, its data and its error, and what is compared: every method by its label and colour."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import Row, Seeds
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.parameters import FloatArray

# What is compared: every method by its label, with its colour in all figures and, mostly, how the paper runs it.

# The paper's budget, and its range: columns are known to lie within -RADIUS ... RADIUS.
EPSILON, DELTA, RADIUS = 1, "1e-6", 10.0
DIRECTIONS = 30
PAPERS = td.Random(DIRECTIONS, axes=False)  # the paper's random depth
EMPIRICAL, ALGORITHM_TWO = "empirical", "REM (Algorithm 2)"

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


def algorithm_two(x: FloatArray, radius: float, source: Any) -> Release | Refused:
    """REM as the paper prints it, with true volumes: floats decide. In up to five columns."""
    notion = td.Random(DIRECTIONS, axes=False, seed=int.from_bytes(source.key()[:7], "big"))
    return td.baselines.paper_recipe(x, epsilon=EPSILON, delta=DELTA, depth=notion, randomness=source)


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
    "REM random": Method("#e74c3c", rem_over(PAPERS, "graded")),
    ALGORITHM_TWO: Method("#e59866", algorithm_two),
    "REM (paper's test)": Method("#b9770e", rem_over(td.Random(DIRECTIONS), "paper")),
    "REM default": Method("#943126"),
    "REM exact": Method("#641e16"),
    "Algorithm 3 (BoxEM)": Method("#48c9b0"),
    "Algorithm 3 (REM)": Method("#f39c12"),
    "REM (laplace test)": Method("#d35480", rem_over(td.Random(DIRECTIONS), "laplace")),
    "Gaussian": Method("#6b8e23", baseline(td.baselines.gaussian)),
    "Gaussian, half the noise": Method("#6b8e23"),
    "analytic Gaussian": Method("#a3b18a", baseline(td.baselines.analytic_gaussian)),
    "CoinPress": Method("#8c6d31", baseline(td.baselines.coinpress)),
    "Huang-Liang-Yi": Method("#7f7f7f", baseline(td.baselines.huang_liang_yi)),
    "PLAN": Method("#d37295", baseline(td.baselines.plan)),
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


# The paper's set-up: its data and its error.


def on_sphere(d: int, rng: np.random.Generator, radius: float = 3.0) -> FloatArray:
    direction = rng.normal(size=d)
    return np.asarray(radius * direction / np.linalg.norm(direction))


def papers_data(n: int, d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A mean on the sphere of radius 3, and n rows around it with covariance 1."""
    mu = on_sphere(d, rng)
    return mu, mu + rng.normal(size=(n, d))


def errors_to_mean(
    x: FloatArray, mu: FloatArray, names: Sequence[str], seeds: Seeds, radius: float = RADIUS
) -> list[Row]:
    """One row per method: distance to the sample mean, and for `empirical` from there to the truth."""
    middle = x.mean(axis=0)
    rows: list[Row] = [{"method": EMPIRICAL, "error": distance(middle, mu), "released": 1}]
    for name in names:
        rows.append(error_row(name, run_method(name, x, radius, seeds.source(name)), middle))
    return rows


def error_row(name: str, outcome: Release | Refused, target: FloatArray) -> Row:
    error = distance(outcome.point, target) if isinstance(outcome, Release) else None
    return {"method": name, "error": error, "released": int(outcome.released)}


def distance(a: FloatArray, b: FloatArray) -> float:
    return math.dist(a.tolist(), b.tolist())
