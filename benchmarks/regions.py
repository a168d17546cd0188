"""Times of `td.level_volumes` beside the goals. Run by `make bench`; medians of five calls on fresh
data, after one to compile.

The authors' seconds are for one release with their code, nearly all of which goes into volumes (see boxem.py).
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
from tukeydp.cores import available_cores
from tukeydp.directions import Notion

CALLS = 5


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


def one_call(job: Job, rng: np.random.Generator) -> float:
    x = rng.normal(size=(job.n, job.d))
    start = time.perf_counter()
    td.level_volumes(x, job.depth)
    return time.perf_counter() - start


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


if __name__ == "__main__":
    main()
