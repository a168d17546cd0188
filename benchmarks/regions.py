"""Times of `td.level_volumes` beside the goals, and of `td.level_set` on larger data. Run by `make bench`; medians of
five calls (three for single levels) on fresh data, after one to compile.

The authors' seconds are for one release with their code, nearly all of which goes into volumes (see boxem.py).

What bounds a single exact level: in two columns, passes over all rows, some for each cone of the facets (of which there
are about five times the cube root of n); in three and four, the number of cones, and the square or cube of the rows
that cut a cone's simplex. With finitely many directions in many columns, the faces of all dimensions of a polytope
(d = 8, 76 facets: 44,000 vertices, a million pairs of faces), over four times as long as the hull itself.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tukeydp as td
from tukeydp.depth.notions import Notion
from tukeydp.trusted.threads import available_cores

CALLS, CALLS_SINGLE = 5, 3


@dataclass(frozen=True)
class Job:
    name: str
    n: int
    d: int
    depth: Notion | td.Exact
    goal: float
    authors: float


JOBS = [
    Job("axes + 30", 500, 5, td.Random(30), 10, 200),
    Job("axes + 30", 2000, 3, td.Random(30), 1, 6.30),
    Job("axes + 30", 2000, 2, td.Random(30), 0.3, 14.6),
    Job("all (exact)", 2000, 2, td.Exact(), 3, 320),
    Job("all (exact)", 100, 3, td.Exact(), 1, 9.54),
    Job("all (exact)", 50, 4, td.Exact(), 3, 36.7),
]


@dataclass(frozen=True)
class OneLevel:
    name: str
    n: int
    d: int
    depth: Notion | td.Exact
    level: int


SINGLE = [
    OneLevel("all (exact)", 10_000, 2, td.Exact(), 2000),
    OneLevel("all (exact)", 100_000, 2, td.Exact(), 20_000),
    OneLevel("all (exact)", 500, 3, td.Exact(), 100),
    OneLevel("all (exact)", 2000, 3, td.Exact(), 400),
    OneLevel("all (exact)", 100, 4, td.Exact(), 15),
    OneLevel("all (exact)", 300, 4, td.Exact(), 50),
    OneLevel("all (exact)", 40, 5, td.Exact(), 4),
    OneLevel("axes + 30", 500, 8, td.Random(30), 50),
]


def one_call(job: Job, rng: np.random.Generator) -> float:
    x = rng.normal(size=(job.n, job.d))
    start = time.perf_counter()
    td.level_volumes(x, job.depth)
    return time.perf_counter() - start


def one_level(job: OneLevel, rng: np.random.Generator) -> tuple[float, int]:
    """Seconds, and the number of facets."""
    x = rng.normal(size=(job.n, job.d))
    start = time.perf_counter()
    region = td.level_set(x, job.level, job.depth)
    return time.perf_counter() - start, len(region.halfspaces[0])


def single_levels(rng: np.random.Generator, console: Console) -> Table:
    table = Table(title=f"one level, {available_cores()} cores, median of {CALLS_SINGLE} calls, seconds")
    for column in ("directions", "n", "d", "level", "facets", "median", "slowest"):
        table.add_column(column, justify="left" if column == "directions" else "right")
    for job in track(SINGLE, description="measuring", console=console, transient=True):
        one_level(job, rng)
        calls = [one_level(job, rng) for _ in range(CALLS_SINGLE)]
        times = [seconds for seconds, _ in calls]
        facets = statistics.median_low([count for _, count in calls])
        numbers = (str(facets), f"{statistics.median(times):.3f}", f"{max(times):.3f}")
        table.add_row(job.name, str(job.n), str(job.d), str(job.level), *numbers)
    return table


def main() -> None:
    rng = np.random.default_rng(0)
    console = Console()
    table = Table(title=f"volumes of all levels, {available_cores()} cores, median of {CALLS} calls, seconds")
    for column in ("directions", "n", "d", "goal", "median", "slowest", "authors"):
        table.add_column(column, justify="left" if column == "directions" else "right")
    for job in track(JOBS, description="measuring", console=console, transient=True):
        one_call(job, rng)
        times = [one_call(job, rng) for _ in range(CALLS)]
        median, slowest = statistics.median(times), max(times)
        numbers = (f"{job.goal:g}", f"{median:.3f}", f"{slowest:.3f}", f"{job.authors:g}")
        table.add_row(job.name, str(job.n), str(job.d), *numbers)
    console.print(table)
    console.print(single_levels(rng, console))


if __name__ == "__main__":
    main()
