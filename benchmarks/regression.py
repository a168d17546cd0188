"""Private linear regression against least squares: releases, loss of R^2, seconds. And how many models a test needs.

`python benchmarks/regression.py [--quick]`. Tables are made up: Gaussian, skewed and correlated features, R^2 of about
0.7. The comparison is with the idea of Amin, Joseph, Ribero and Vassilvitskii (2022, TukeyEM): models on disjoint parts
of the rows, axis-aligned depth, a test with Laplace noise at the threshold of a quarter of the models. Their test, with
the noise that its proof asks for, is `td.rem(models, depth=td.AxisAligned(), test="paper")` here.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.mechanisms.least_squares import intercept_and_slopes
from tukeydp.trusted.blocks import block_table

EPSILON, DELTA = 1, "1e-6"
NOISE = 0.65  # residual deviation beside that of what is explained: R^2 = 0.70
KINDS = ("Gaussian", "log-normal", "correlated 0.5")


def features(kind: str, n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "log-normal":
        raw = np.exp(0.75 * rng.normal(size=(n, p)))
        return np.asarray((raw - raw.mean(axis=0)) / raw.std(axis=0))
    x = rng.normal(size=(n, p))
    return np.asarray(np.sqrt(0.5) * x + np.sqrt(0.5) * rng.normal(size=(n, 1))) if kind == "correlated 0.5" else x


def table(kind: str, n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = features(kind, n, p, rng)
    explained = x @ rng.normal(size=p)
    return x, 1 + explained + NOISE * explained.std() * rng.normal(size=n)


def r2(x: np.ndarray, y: np.ndarray, coefficients: np.ndarray) -> float:
    rest = y - coefficients[0] - x @ coefficients[1:]
    return float(1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum())


def losses(kind: str, n: int, p: int, runs: int, **options: Any) -> Iterator[tuple[float | None, float]]:
    for seed in range(runs):
        x, y = table(kind, n, p, seed)
        own = np.linalg.lstsq(np.column_stack([np.ones(n), x]), y, rcond=None)[0]
        began = time.process_time()
        release = td.regression(x, y, epsilon=EPSILON, randomness=td.seeded(seed), **options)
        seconds = time.process_time() - began
        yield (None if release.point is None else r2(x, y, own) - r2(x, y, release.point)), seconds


def against_least_squares(runs: int) -> None:
    print("n       features  kind            promise  released  loss of R^2: median, 95 %, most   CPU s: median, most")
    for n, p in ((5000, 4), (10_000, 9)):
        for kind in KINDS:
            ways: list[tuple[str, dict[str, Any]]] = [("delta", {"delta": DELTA}), ("pure", {"bounds": (-50, 50)})]
            for promise, options in ways:
                found = list(losses(kind, n, p, runs, **options))
                lost = np.array([loss for loss, _ in found if loss is not None])
                seconds = [s for _, s in found[1:]]  # the first one compiles
                said = "-" if not len(lost) else "  ".join(f"{v:.4f}" for v in np.quantile(lost, (0.5, 0.95, 1.0)))
                took = f"{np.median(seconds):.2f}  {max(seconds):.2f}"
                print(f"{n:<7} {p:<9} {kind:<15} {promise:<8} {len(lost)}/{runs:<6}  {said:<32}  {took}", flush=True)


def models_needed(runs: int) -> None:
    """Released shares by number of models of 30 rows each: the graded test against the threshold test."""
    print("\nshare released, by number of models   graded, AnyScale   axis-aligned, Laplace test at a quarter")
    for p in (2, 4, 9):
        for models in (250, 350, 500, 700, 1000, 1300):
            shares = []
            ways: list[dict[str, Any]] = [{}, {"depth": td.AxisAligned(), "test": "paper"}]
            for options in ways:
                released = 0
                for seed in range(runs):
                    x, y = table("Gaussian", 30 * models, p, seed)
                    order = np.random.default_rng(seed).permutation(len(x))
                    fitted = block_table(np.column_stack([x, y]), models, order, intercept_and_slopes)
                    drawn = td.rem(fitted, epsilon=EPSILON, delta=DELTA, randomness=td.seeded(seed), **options)
                    released += drawn.released
                shares.append(released / runs)
            print(f"{p + 1} coefficients, {models:>5} models        {shares[0]:<18.2f} {shares[1]:.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs")
    parser.add_argument("--models", action="store_true", help="only the number of models that tests need")
    given = parser.parse_args()
    if not given.models:
        against_least_squares(4 if given.quick else 20)
    models_needed(3 if given.quick else 10)
