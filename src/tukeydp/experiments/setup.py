"""The paper's set-up: its data and its error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.experiments.experiment import Seeds
from tukeydp.experiments.methods import EMPIRICAL, RADIUS, run_method
from tukeydp.experiments.results import Row
from tukeydp.release import Refused, Release


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
