"""The paper's set-up: its data, its mechanisms, its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.arrays import FloatArray
from tukeydp.experiments.experiment import Seeds
from tukeydp.experiments.results import Row
from tukeydp.release import Refused, Release

EPSILON, DELTA, RADIUS = 1, "1e-6", 10.0
TRIVIAL = 3.0  # what "0" achieves, the mean being on the sphere of this radius: larger average errors are left out
DIRECTIONS = 30

PAPERS = td.Random(DIRECTIONS, axes=False)  # the paper's random depth

Method = Callable[[FloatArray, float, Any], Release | Refused]


def boxem_over(depth: Any, **options: Any) -> Method:
    def run(x: FloatArray, radius: float, source: Any) -> Release:
        return td.boxem(x, epsilon=EPSILON, bounds=(-radius, radius), depth=depth, randomness=source, **options)

    return run


def rem_over(depth: Any, test: str) -> Method:
    def run(x: FloatArray, radius: float, source: Any) -> Release | Refused:
        return td.rem(x, epsilon=EPSILON, delta=DELTA, depth=depth, test=test, randomness=source)

    return run


def baseline(function: Callable[..., Release]) -> Method:
    def run(x: FloatArray, radius: float, source: Any) -> Release:
        return function(x, epsilon=EPSILON, delta=DELTA, radius=radius, randomness=source)

    return run


METHODS: dict[str, Method] = {
    "BoxEM random": boxem_over(PAPERS),
    "BoxEM exact": boxem_over(td.Exact()),
    "BoxEM axis-aligned": boxem_over(td.AxisAligned()),
    "BoxEM default": boxem_over(None),
    "BoxEM MCMC (no proof)": boxem_over(PAPERS, unproven="mcmc"),
    "REM": rem_over(td.Random(DIRECTIONS), "graded"),
    "REM (paper's test)": rem_over(td.Random(DIRECTIONS), "paper"),
    "REM (laplace test)": rem_over(td.Random(DIRECTIONS), "laplace"),
    "Gaussian": baseline(td.baselines.gaussian),
    "analytic Gaussian": baseline(td.baselines.analytic_gaussian),
    "CoinPress": baseline(td.baselines.coinpress),
    "Huang-Liang-Yi": baseline(td.baselines.huang_liang_yi),
    "PLAN": baseline(td.baselines.plan),
}
EMPIRICAL = "empirical"


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
        rows.append(error_row(name, METHODS[name](x, radius, seeds.source(name)), middle))
    return rows


def error_row(name: str, outcome: Release | Refused, target: FloatArray) -> Row:
    error = distance(outcome.point, target) if isinstance(outcome, Release) else None
    return {"method": name, "error": error, "released": int(outcome.released)}


def distance(a: FloatArray, b: FloatArray) -> float:
    return math.dist(a.tolist(), b.tolist())
