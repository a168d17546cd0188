"""Add/remove against swap at equal epsilon: boxem's error, REM's chance of a release, a mean's error. Prints tables."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import AnyScale, FiniteNotion
from tukeydp.mechanisms.rem_choice import chosen_plan
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rem.evidence import evidence_of
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.rows import unbounded_grid
from tukeydp.trusted.sizes.level_sizes import sizes_of

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
BOXEM = [(100, 2, 0.15), (300, 4, 0.15), (500, 10, 0.15)]  # rows, columns, by how much the error is asked to fall
REM = [(170, 2), (210, 5), (320, 10)]  # from so many rows on, released with probability 0.95
MEAN = [(300, 2), (1000, 4), (5000, 3)]


def table(n: int, d: int, seed: int) -> FloatArray:
    return np.random.default_rng(1000 * seed + d).normal(size=(n, d))


def boxem(tables: int) -> None:
    sys.stdout.write(
        "boxem, Gaussian rows, bounds 20 sd wide, epsilon 1: mean distance to the table's own mean, a column\n"
    )
    for n, d, asked in BOXEM:
        found: dict[str, list[float]] = {name: [] for name in ("swap", "add-remove")}
        for i in range(tables):
            x = table(n, d, i)
            for name, errors in found.items():
                release = td.boxem(x, epsilon=1, bounds=(-10, 10), neighbours=name, randomness=td.seeded(i))
                errors.append(float(np.sqrt(np.mean((release.point - x.mean(axis=0)) ** 2))))
        swap, ours = (float(np.mean(errors)) for errors in found.values())
        sys.stdout.write(
            f"  d={d:<3} n={n:<5} swap {swap:.4f}  add-remove {ours:.4f}  lower by {1 - ours / swap:.0%} "
            f"(asked: {asked:.0%})\n"
        )


def chance(x: FloatArray, rows: int, seed: int, notion: FiniteNotion, neighbours: str) -> float:
    """The probability of a release to 1e-3, sizes measured as far as that takes."""
    d = x.shape[1]
    grid = unbounded_grid(d, resolution="1e-6", bits=notion.wide_bits(d))
    levels = level_sets(grid.snap(x), notion.on_grid(grid, derived_key("benchmark", seed)), 1)
    plan = chosen_plan(rows, d, EPSILON, DELTA, None, neighbours)
    evidence = evidence_of(sizes_of(levels, whole_grid(grid), plan.threshold), plan)
    while not evidence.empty:
        found = Graded().chance(evidence, 96)
        narrow = found.high - found.low < Fraction(1, 10**3)
        if narrow or found.doubtful is None or not evidence.refine(found.doubtful):
            return float(found.low)
    return 0.0


def rem(tables: int, directions: int | None) -> None:
    said = "default" if directions is None else f"axes + {directions}"
    sys.stdout.write(
        f"rem, Gaussian rows, {said} directions: chance of a release, mean and least over {tables} tables\n"
    )
    for n, d in REM:
        notion: Any = chosen_notion(None if directions is None else AnyScale(directions), n, d, AnyScale)
        for neighbours in ("swap", "add-remove"):
            found = [chance(table(n, d, i), n, i, notion, neighbours) for i in range(tables)]
            asked = "(asked: 0.95)" if neighbours == "add-remove" else ""
            sys.stdout.write(f"  d={d:<3} n={n:<5} {neighbours:<11} {np.mean(found):.3f}  {min(found):.3f} {asked}\n")


def mean(tables: int) -> None:
    sys.stdout.write(
        "td.mean, exponential columns, bounds 100 sd wide: median error of a column in sds, and the mechanism\n"
    )
    for n, d in MEAN:
        said = []
        ways: list[dict[str, Any]] = [{}, {"neighbours": "add-remove", "rows": n}]
        for options in ways:
            errors = []
            for i in range(tables):
                x = np.random.default_rng(1000 * i + d).exponential(size=(n, d))
                release: Any = td.mean(x, epsilon=1, bounds=(-50, 50), randomness=td.seeded(i), **options)
                errors += np.abs(release.point - x.mean(axis=0)).tolist()
            said.append(f"{'add-remove' if options else 'swap'} {np.median(errors):.4f} ({release.mechanism})")
        sys.stdout.write(f"  d={d:<3} n={n:<5} {'  '.join(said)}\n")


if __name__ == "__main__":
    boxem(60)
    rem(20, 30)
    rem(6, None)
    mean(20)
