"""Accuracy and time of volumes by random walks, beside the goals and the paper. Run by `make bench`.

The paper: about 20 seconds a volume and 10 n seconds for all levels, in ten columns with volesti; single calls of
volesti vary by 5 to 15 % on such sets. Seconds of one volume are processor time, those of all levels the clock's.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import beta

import tukeydp as td
from tukeydp.mcmc import mcmc_level_volumes
from tukeydp.paper.depth_regions import body_of
from tukeydp.regions import polytope_volume
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.threads import available_cores

CALLS = 100
DIRECTIONS = td.Random(30, axes=False, seed=1)


def level(n: int, d: int, depth: float) -> tuple[FloatArray, FloatArray]:
    """Halfspaces of one level of a normal dataset, by the paper's 30 random directions."""
    halfspaces = body_of(np.random.default_rng(d).normal(size=(n, d)), DIRECTIONS).halfspaces
    assert halfspaces is not None
    bounds = halfspaces.facets(int(depth * n))
    return bounds.normals, bounds.offsets


def accuracy(d: int, depth: float, goal: str) -> list[str]:
    body = level(500, d, depth)
    exact = polytope_volume(*body)
    source = td.seeded(1)
    polytope_volume(*body, method="mcmc", randomness=source)
    start = time.thread_time()
    ratios = np.array([polytope_volume(*body, method="mcmc", randomness=source) for _ in range(CALLS)]) / exact
    seconds = (time.thread_time() - start) / CALLS
    good = int((np.abs(ratios - 1) <= 0.1).sum())
    sure = 0.0 if good == 0 else float(beta.ppf(0.05, good, CALLS - good + 1))
    return [
        f"d={d} k=30 level {depth:g} n",
        f"{good} of {CALLS} within 10 % (at least {100 * sure:.0f} % at 95 % confidence)",
        goal,
        f"{100 * ratios.std():.1f} %",
        f"{100 * (ratios.mean() - 1):+.1f} %",
        f"{seconds:.3f}",
    ]


def main() -> None:
    console = Console(width=140)
    table = Table(title=f"volumes by random walks beside exact ones, {CALLS} calls each")
    for column in ("set", "accuracy", "goal", "sd", "bias", "s a call"):
        table.add_column(column)
    for d, depth in ((5, 0.1), (5, 0.35), (8, 0.1), (8, 0.35)):
        table.add_row(*accuracy(d, depth, "95 of 100"))
    console.print(table)

    times = Table(title=f"ten columns, 30 directions, {available_cores()} cores")
    for column in ("job", "seconds", "goal", "the paper"):
        times.add_column(column)
    source = td.seeded(2)
    one = []
    for depth in (0.05, 0.2, 0.4):
        body = level(1000, 10, depth)
        for _ in range(5):
            start = time.thread_time()
            polytope_volume(*body, method="mcmc", randomness=source)
            one.append(time.thread_time() - start)
    times.add_row("one volume, one core", f"{statistics.median(one):.3f} (slowest {max(one):.3f})", "0.1", "20")
    x = np.random.default_rng(3).normal(size=(1000, 10))
    walls = []
    for _ in range(3):
        start = time.perf_counter()
        count = len(mcmc_level_volumes(x, DIRECTIONS, randomness=source)) - 1
        walls.append(time.perf_counter() - start)
    times.add_row(f"all {count} levels at n=1000", f"{statistics.median(walls):.1f}", "20", "10,000")
    release = []
    for _ in range(3):
        start = time.perf_counter()
        td.boxem(x, epsilon=1, bounds=(-10, 10), depth=DIRECTIONS, unproven="mcmc", randomness=source)
        release.append(time.perf_counter() - start)
    times.add_row("boxem(unproven='mcmc'), n=1000", f"{statistics.median(release):.1f}", "", "10,000")
    console.print(times)


if __name__ == "__main__":
    main()
