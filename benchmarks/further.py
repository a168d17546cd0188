"""Many directions, many columns, many rows, slanted data: what is asked of boxem beside what it takes.

Each row gives a number asked for, the one measured, and measured over asked: at most 1 is met. Times are medians of
seven calls (`--calls` for fewer) on fresh data as in the paper: mean on the sphere of radius 3, identity covariance,
bounds of 10, epsilon = 1. Sorting is timed in the same run and on the same data, round data beside slanted ones.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import tukeydp as td
from tukeydp.depth.notions import Notion
from tukeydp.trusted.threads import available_cores

CALLS = 7
TABLES = 4  # for the error, as many times the calls: one draw of each
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Timed:
    """Seconds of a call."""

    name: str
    n: int
    d: int
    depth: Notion
    seconds: float


TIMED = [
    Timed("axes + 300", 2000, 16, td.Random(300), 1.5),
    Timed("axes + 300", 2000, 20, td.Random(300), 4),
    Timed("axes + 300", 3000, 24, td.Random(300), 60),
    Timed("axes + 1000", 2000, 16, td.Random(1000), 4),
    Timed("36, no axes (the paper's)", 1000, 12, td.Random(36, axes=False), 0.5),
    Timed("42, no axes (the paper's)", 1000, 14, td.Random(42, axes=False), 10),
]


@dataclass(frozen=True)
class Stretched:
    """Condition number of the standard deviations, and how many times longer than for round data a call may take."""

    name: str
    n: int
    d: int
    depth: Notion
    condition: float
    times: float


STRETCHED = [
    Stretched("axes + 30", 2000, 5, td.Random(30), 1e4, 5),
    Stretched("axes + 30", 1000, 10, td.Random(30), 1e4, 20),
    Stretched("axes + 300", 1000, 10, td.Random(300), 1e4, 20),
]


@dataclass(frozen=True)
class Accurate:
    """Tables whose privacy error should stay below their sampling error."""

    name: str
    n: int
    d: int
    depth: Notion | None


ACCURATE = [
    Accurate(name, n, d, depth)
    for n, d in ((2000, 16), (3000, 20))
    for name, depth in (("default directions", None), ("axes + 1000 spread", td.Spread(1000)))
]
MANY_ROWS, FEW_COLUMNS, DIRECTIONS = 1_000_000, 5, 30


@dataclass(frozen=True)
class Line:
    """What one row of the table says."""

    what: str
    asked: str
    measured: str
    ratio: float
    remark: str = ""


def paper_data(n: int, d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A table and its true mean."""
    centre = rng.normal(size=d)
    centre *= 3 / np.linalg.norm(centre)
    return centre + rng.normal(size=(n, d)), centre


def stretched_data(n: int, d: int, condition: float, rng: np.random.Generator) -> Floats:
    """Standard deviations 1/condition ... 1 along random axes."""
    frame = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return np.asarray(rng.normal(size=(n, d)) * np.geomspace(1 / condition, 1, d) @ frame.T)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def release(x: Floats, depth: Notion | None) -> Floats:
    point = td.boxem(x, epsilon=1, bounds=(-10, 10), depth=depth).point
    assert point is not None
    return point


def time_call(job: Timed, calls: int, rng: np.random.Generator) -> Line:
    tables = (paper_data(job.n, job.d, rng)[0] for _ in range(calls))
    times = [seconds(lambda x=x: release(x, job.depth)) for x in tables]  # type: ignore[misc]
    median = statistics.median(times)
    what = f"{job.name}, d={job.d}, n={job.n}"
    return Line(what, f"{job.seconds:g} s", f"{median:.3f} s", median / job.seconds, f"slowest {max(times):.3f} s")


def time_many_rows(calls: int, rng: np.random.Generator) -> list[Line]:
    """Beside sorting the projections as floats, as they come, and as integers, each direction by itself."""
    ours, floats, integers = [], [], []
    for _ in range(calls):
        x = paper_data(MANY_ROWS, FEW_COLUMNS, rng)[0]
        a = rng.normal(size=(FEW_COLUMNS + DIRECTIONS, FEW_COLUMNS))
        projections = x @ a.T
        floats.append(seconds(lambda p=projections: np.sort(p, axis=0)))  # type: ignore[misc]
        apart = np.ascontiguousarray(projections.T * 2.0**40).astype(np.int64)
        integers.append(seconds(lambda p=apart: np.sort(p, axis=1)))  # type: ignore[misc]
        del projections, apart
        ours.append(seconds(lambda x=x: release(x, td.Random(DIRECTIONS))))  # type: ignore[misc]
    median = statistics.median(ours)
    lines = []
    for name, others, asked in (("np.sort(x @ a.T, axis=0)", floats, 3.0), ("sorting each direction", integers, None)):
        times = median / statistics.median(others)
        what = f"axes + {DIRECTIONS}, d={FEW_COLUMNS}, n={MANY_ROWS:,}, over {name}"
        remark = f"{median:.2f} s, sorting {statistics.median(others):.2f} s"
        goal = "" if asked is None else f"{asked:g} x"
        lines.append(Line(what, goal, f"{times:.2f} x", math.nan if asked is None else times / asked, remark))
    return lines


def time_stretched(job: Stretched, calls: int, rng: np.random.Generator) -> Line:
    round_: list[float] = []
    slanted: list[float] = []
    for _ in range(calls):
        for times, condition in ((round_, 1.0), (slanted, job.condition)):
            x = stretched_data(job.n, job.d, condition, rng)
            times.append(seconds(lambda x=x: release(x, job.depth)))  # type: ignore[misc]
    times_longer = statistics.median(slanted) / statistics.median(round_)
    what = f"{job.name}, d={job.d}, n={job.n}, condition {job.condition:g} over round"
    remark = f"{statistics.median(slanted):.4f} s, round {statistics.median(round_):.4f} s"
    return Line(what, f"{job.times:g} x", f"{times_longer:.2f} x", times_longer / job.times, remark)


def privacy_error(job: Accurate, tables: int, rng: np.random.Generator) -> Line:
    """Mean distance from the table's own mean, over the sampling error, which is known exactly for Gaussian rows."""
    from scipy.stats import t

    n, d = job.n, job.d
    errors = np.empty(tables)
    for i in range(tables):
        x = paper_data(n, d, rng)[0]
        errors[i] = np.linalg.norm(release(x, job.depth) - x.mean(axis=0))
    sampling = math.sqrt(2 / n) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    half = float(t.ppf(0.975, tables - 1)) * errors.std(ddof=1) / math.sqrt(tables)
    low, high = (errors.mean() - half) / sampling, (errors.mean() + half) / sampling
    remark = f"95% interval of the ratio {low:.2f} to {high:.2f}, {tables} tables"
    what = f"privacy error, {job.name}, d={d}, n={n}"
    return Line(what, f"sampling error, {sampling:.4f}", f"{errors.mean():.4f}", errors.mean() / sampling, remark)


def report(lines: list[Line], calls: int) -> Table:
    table = Table(title=f"boxem, epsilon = 1, {available_cores()} cores, medians of {calls} calls")
    for column in ("what", "asked: at most", "measured", "measured / asked", ""):
        table.add_column(column, justify="left" if column in ("what", "") else "right")
    for line in lines:
        ratio = "" if math.isnan(line.ratio) else f"{line.ratio:.2f}"
        table.add_row(line.what, line.asked, line.measured, ratio, line.remark)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="calls per row; seven unless given")
    calls: int = parser.parse_args().calls
    rng = np.random.default_rng(0)
    console = Console()
    release(paper_data(50, 2, rng)[0], td.Random(30))  # compilation
    lines = []
    with console.status("measuring"):
        lines += [time_call(job, calls, rng) for job in TIMED]
        lines += time_many_rows(calls, rng)
        lines += [time_stretched(job, calls, rng) for job in STRETCHED]
        lines += [privacy_error(job, max(2, TABLES * calls), rng) for job in ACCURATE]
    console.print(report(lines, calls))


if __name__ == "__main__":
    main()
