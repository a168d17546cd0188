"""REM: seconds, chance of a release at the smallest sizes, and error under different scales. Prints tables."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from unittest.mock import patch

import numpy as np

import tukeydp as td
from tukeydp.mechanisms.rem_choice import chosen_plan
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rem.evidence import Evidence
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.rows import unbounded_grid
from tukeydp.trusted.sizes import ellipsoids
from tukeydp.trusted.sizes.level_sizes import sizes_of

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
SPEED = [(1000, 2, 0.3), (2000, 3, None), (2000, 5, 3.0), (2000, 10, 20.0)]
STEP = 10  # rows
SMALLEST = [(230, 2), (250, 3), (320, 5), (500, 10)]
Table = Callable[[np.random.Generator, int, int], FloatArray]


def gaussian(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    return rng.normal(size=(n, d))


def student(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


def cauchy(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    return rng.normal(size=(n, d)) / np.abs(rng.normal(size=(n, 1)))


def outliers(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    x = rng.normal(size=(n, d))
    x[: n // 5] += 20.0
    return x


def correlated(rng: np.random.Generator, n: int, d: int, condition: float = 1e4) -> FloatArray:
    frame = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) @ (frame * np.geomspace(1.0, condition, d)) @ frame.T


def speed() -> None:
    sys.stdout.write("seconds of a call, axes + 30 random directions, median of 7\n")
    for n, d, most in SPEED:
        x = np.random.default_rng(d).normal(size=(n, d))
        times = []
        for seed in range(8):
            start = time.perf_counter()
            td.rem(x, epsilon=1, delta=1e-6, depth=td.Random(30), randomness=td.seeded(seed))
            times.append(time.perf_counter() - start)
        sys.stdout.write(
            f"  d={d:<3} n={n:<6} {statistics.median(times[1:]):.3f}   {f'(asked: {most})' if most else ''}\n"
        )


def chance(x: FloatArray, seed: int) -> float:
    """The exact probability of a release, every size measured."""
    n, d = x.shape
    grid = unbounded_grid(d, resolution="1e-6", bits=50)
    levels = level_sets(grid.snap(x), td.Random(30).on_grid(grid, derived_key("benchmark", seed)))
    box = Box(tuple(grid.low.tolist()), tuple(grid.high.tolist()))
    plan = chosen_plan(n, d, EPSILON, DELTA, None)
    evidence = Evidence(sizes_of(levels, box, plan.threshold), plan)
    while not evidence.empty:
        found = Graded().chance(evidence, 96)
        narrow = found.high - found.low < Fraction(1, 10**4)
        if narrow or found.doubtful is None or not evidence.refine(found.doubtful):
            return float(found.low)
    return 0.0


def smallest(tables: int) -> None:
    sys.stdout.write("chance of a release, mean and least over tables; asked: at least 0.95\n")
    kinds: dict[str, tuple[Table, float]] = {
        "gaussian": (gaussian, 1.0), "t(3)": (student, 1.3), "cauchy": (cauchy, 1.3),
        "20 % outliers": (outliers, 1.3), "correlated 1e4": (correlated, 1.3),
    }  # fmt: skip
    for name, (table, factor) in kinds.items():
        for n, d in SMALLEST:
            rows = round(factor * n)
            found = [chance(table(np.random.default_rng(1000 * i + d), rows, d), i) for i in range(tables)]
            sys.stdout.write(f"  {name:<15} d={d:<3} n={rows:<5} {np.mean(found):.3f}  {min(found):.3f}\n")


def fewest_rows(tables: int) -> None:
    """From how many rows correlated tables are released, under John's bound on sizes and under Ball's."""
    sys.stdout.write(f"fewest rows, in steps of {STEP}, with a mean chance of a release of at least 0.95\n")
    sys.stdout.write(f"  {'columns':>7} {'condition':>9} {'d^d':>6} {'Ball':>6}\n")
    for d in (5, 10):
        for condition in (1e2, 1e3, 1e4):
            found = []
            for excess in (lambda d: (Fraction(d**d),) * 2, ellipsoids._excess):
                with patch.object(ellipsoids, "_excess", excess):
                    found.append(_fewest(d, condition, tables))
            sys.stdout.write(f"  {d:>7} {condition:>9g} {found[0]:>6} {found[1]:>6}\n")
            sys.stdout.flush()


def _fewest(d: int, condition: float, tables: int) -> int:
    """By steps that double, then by halving: chances rise with rows."""

    def enough(steps: int) -> bool:
        made = (correlated(np.random.default_rng(1000 * i + d), STEP * steps, d, condition) for i in range(tables))
        return bool(np.mean([chance(x, i) for i, x in enumerate(made)]) >= 0.95)

    low, high = 240 // STEP, 480 // STEP
    while not enough(high):
        low, high = high, high + (high - low) * 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return STEP * high


def scales(releases: int) -> None:
    spread = np.array([1.0, 10.0, 1000.0, 20000.0])
    errors = {}
    for name, sd in (("equal scales", np.ones(4)), ("sds 1, 10, 1000, 20000", spread)):
        found = []
        for i in range(releases):
            x = np.random.default_rng(i).normal(size=(500, 4)) * sd
            result = td.rem(x, epsilon=1, delta=1e-6, randomness=td.seeded(i))
            if isinstance(result, td.Release):
                found.append(np.abs(result.point - x.mean(axis=0)) / sd)
        errors[name] = np.mean(found, axis=0)
        sys.stdout.write(f"  {name:<24} mean error of each column in its own sd: {np.round(errors[name], 4)}\n")
    ratio = (errors["sds 1, 10, 1000, 20000"] / errors["equal scales"].mean()).max()
    sys.stdout.write(f"  worst ratio {ratio:.2f} (asked: at most 1.5)\n")


def mahalanobis(releases: int) -> None:
    sys.stdout.write("distance to the table's mean in its own covariance, d=2 n=400, condition number 1e4\n")
    for name, depth in (("random", td.Random(60)), ("exact", td.Exact())):
        for kind, table in (("round", gaussian), ("stretched", correlated)):
            found = []
            for i in range(releases):
                x = table(np.random.default_rng(i), 400, 2)
                result = td.rem(x, epsilon=1, delta=1e-6, depth=depth, randomness=td.seeded(i))
                if isinstance(result, td.Release):
                    away = result.point - x.mean(axis=0)
                    found.append(float(np.sqrt(away @ np.linalg.solve(np.cov(x.T), away))))
            sys.stdout.write(f"  {name:<7} {kind:<10} {np.mean(found):.3f} ({len(found)} of {releases} released)\n")


if __name__ == "__main__":
    speed()
    smallest(8)
    fewest_rows(4)
    sys.stdout.write("error under different scales, d=4 n=500, default arguments\n")
    scales(300)
    mahalanobis(10)
