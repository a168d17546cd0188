"""Times of boxem beside the goals and the authors' code. Run by `make bench`; medians of seven calls on fresh data.

The authors' seconds are their released code (commit 86732e9) run unedited on a two-core machine, epsilon = 1, R = 10.
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

CALLS = 7


@dataclass(frozen=True)
class Job:
    name: str
    n: int
    d: int
    depth: Notion | td.Exact
    goal: float | None
    authors: float | None = None


def random_30(n: int, d: int, goal: float | None, authors: float) -> Job:
    return Job("axes + 30", n, d, td.Random(30), goal, authors)


JOBS = [
    random_30(50, 2, 0.01, 0.27),
    random_30(50, 3, 0.01, 0.13),
    random_30(50, 4, 0.01, 1.15),
    random_30(50, 5, 0.01, 18.2),
    random_30(500, 5, None, 200),
    random_30(2000, 2, 0.03, 14.6),
    random_30(2000, 3, 0.05, 6.30),
    random_30(2000, 4, 0.08, 49.1),
    random_30(2000, 5, 0.12, 760),
    Job("axes + 300", 1000, 10, td.Random(300), 0.5),
    Job("axes + 300", 2000, 16, td.Random(300), 1.5),
    Job("axes + 300", 2000, 20, td.Random(300), 4),
    Job("30, no axes (the paper's)", 750, 10, td.Random(30, axes=False), 1),
    Job("axes only", 1000, 1, td.AxisAligned(), None),
    Job("all (exact)", 2000, 2, td.Exact(), 0.1, 320),
    Job("all (exact)", 100_000, 2, td.Exact(), 5),
    Job("all (exact)", 100, 3, td.Exact(), 0.1, 9.54),
    Job("all (exact)", 500, 3, td.Exact(), 1),
    Job("all (exact)", 2000, 3, td.Exact(), 8),
    Job("all (exact)", 50, 4, td.Exact(), 0.2, 36.7),
    Job("all (exact)", 100, 4, td.Exact(), 0.5),
    Job("all (exact)", 500, 4, td.Exact(), 15),
]


def one_call(job: Job, rng: np.random.Generator) -> float:
    """Seconds of one release from data as in the paper: mean on the sphere of radius 3, identity covariance."""
    centre = rng.normal(size=job.d)
    x = 3 * centre / np.linalg.norm(centre) + rng.normal(size=(job.n, job.d))
    start = time.perf_counter()
    td.boxem(x, epsilon=1, bounds=(-10, 10), depth=job.depth)
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    console = Console()
    one_call(JOBS[0], rng)  # compilation
    table = Table(title=f"boxem, epsilon = 1, {available_cores()} cores, median of {CALLS} calls, seconds")
    for column in ("directions", "n", "d", "goal", "median", "slowest", "authors", "faster by"):
        table.add_column(column, justify="left" if column == "directions" else "right")
    for job in track(JOBS, description="measuring", console=console, transient=True):
        times = [one_call(job, rng) for _ in range(CALLS)]
        median = statistics.median(times)
        table.add_row(
            job.name,
            str(job.n),
            str(job.d),
            "" if job.goal is None else f"{job.goal:g}",
            f"{median:.4f}",
            f"{max(times):.4f}",
            "" if job.authors is None else f"{job.authors:g}",
            "" if job.authors is None else f"{job.authors / median:,.0f}x",
        )
    numbers = rng.normal(size=2_000_000)
    start = time.perf_counter()
    np.sort(numbers)
    table.caption = f"np.sort of 2,000,000 floats on this machine: {time.perf_counter() - start:.3f} s"
    console.print(table)


if __name__ == "__main__":
    main()
