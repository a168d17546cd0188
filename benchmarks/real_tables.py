"""Private means of real tables: td.mean beside every baseline and other libraries. Prints tables.

An error is the median over columns of the median, over repetitions, of the distance from the column's mean in its
standard deviations; epsilon = 1, one row swapped, delta = 1e-6 where there is one. Bounds are so many times as wide as
the columns' ranges, around their middle or off-centre. CoinPress is told a sixth of a column's range as its deviation.
Every run is seeded; only OpenDP's noise cannot be. The tables come with pip install "tukeydp[bench]".
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from tables.other_libraries import other_libraries
from tables.printed import error_table, goal_table, ratio_table
from tables.summary import Measured, goals, summarised
from tukeydp.paper.experiments.contenders import CONTENDERS, LAPLACE, MEAN, Contender, Question, claimed_error
from tukeydp.paper.experiments.experiment import Seeds
from tukeydp.paper.experiments.tables import installed_tables, real_table, skipped_tables

REPETITIONS, QUICK = 20, 8


@dataclass(frozen=True)
class Job:
    """One method on one table, so many times."""

    table: str
    times: float
    off_centre: bool
    method: str
    repetitions: int
    seed: int


@cache
def contenders() -> dict[str, Contender]:
    """Ours and the baselines, then what other libraries there are."""
    return {**CONTENDERS, **other_libraries()[0]}


def default_methods() -> list[str]:
    """All, but our Laplace noise only where no library adds its own: the best of several equal ones is flattered."""
    libraries = other_libraries()[0]
    return [name for name in contenders() if name != LAPLACE or not libraries]


def measure(job: Job) -> Measured:
    question = Question(real_table(job.table), job.times, job.off_centre)
    contender = contenders()[job.method]
    cell = (("table", job.table), ("times", job.times), ("off centre", job.off_centre))
    releases = [contender.run(question, Seeds((job.seed, "real-tables", cell, i))) for i in range(job.repetitions)]
    error = float(np.median(np.median([question.errors(release.point) for release in releases], axis=0)))
    claimed = claimed_error(releases[0]) if job.method == MEAN else None
    return Measured(job.table, job.times, job.method, error, releases[0].mechanism, claimed)


def measured(jobs: list[Job], processes: int) -> Iterator[Measured]:
    """As they are done."""
    if processes == 1:
        yield from map(measure, jobs)
        return
    # Fresh processes: forked ones may hang in compiled loops that the parent has used.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measure, job) for job in jobs]):
            yield done.result()


def with_progress(found: Iterable[Measured], count: int, console: Console) -> list[Measured]:
    results = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=count)
        for one in found:
            results.append(one)
            progress.update(task, advance=1, description=f"{one.table}, {one.times:g} x, {one.method}")
    return results


def in_order(results: list[Measured], jobs: list[Job]) -> list[Measured]:
    by_name = {(one.table, one.times, one.method): one for one in results}
    return [by_name[job.table, job.times, job.method] for job in jobs]


def write_csv(results: list[Measured], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "rows", "columns", "bounds over range", "method", "error"])
        for one in results:
            rows, columns = real_table(one.table).shape
            writer.writerow([one.table, rows, columns, f"{one.times:g}", one.method, f"{one.error:.3g}"])


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)

    def listed(text: str) -> list[str]:
        return [part.strip() for part in text.split(",")]

    parser.add_argument("--tables", type=listed, default=installed_tables(), help="names, separated by commas")
    parser.add_argument("--mult", type=listed, default=["2", "10"], help="widths of the bounds in ranges: 2,10")
    parser.add_argument("--bounds", choices=("centred", "off-centre"), default="centred")
    parser.add_argument("--methods", type=listed, default=default_methods(), help="; ".join(contenders()))
    parser.add_argument("--reps", type=int, default=REPETITIONS, help="repetitions of each method on each table")
    parser.add_argument("--quick", action="store_const", const=QUICK, dest="reps", help=f"{QUICK} repetitions")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the errors to this file")
    parser.add_argument("--csv", type=Path, help="likewise, as docs/results/real-tables.csv has them")
    chosen = parser.parse_args()
    for asked, known in ((chosen.tables, installed_tables()), (chosen.methods, list(contenders()))):
        if unknown := [name for name in asked if name not in known]:
            parser.error(f"{', '.join(unknown)}: not among {', '.join(known)}")
    return chosen


def main() -> None:
    chosen = options()
    console = Console()
    # td.mean is what everything else is compared with.
    methods = list(dict.fromkeys([MEAN, *chosen.methods]))
    jobs = [
        Job(table, float(times), chosen.bounds == "off-centre", method, chosen.reps, chosen.seed)
        for times in chosen.mult
        for table in chosen.tables
        for method in methods
    ]
    results = in_order(with_progress(measured(jobs, chosen.jobs), len(jobs), console), jobs)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(one) for one in results], indent=1), encoding="utf-8")
    if chosen.csv:
        write_csv(results, chosen.csv)
    lines = summarised(results, contenders())
    console.print(
        f"{chosen.reps} repetitions, {chosen.bounds} bounds, seed {chosen.seed}. *: chosen by name beforehand."
    )
    for times in dict.fromkeys(line.times for line in lines):
        here = [line for line in lines if line.times == times]
        console.print(error_table(here, times), ratio_table(here, times))
    console.print(goal_table(goals(lines)))
    for sentence in (skipped_tables(), *other_libraries()[1]):
        if sentence:
            console.print(sentence, markup=False)


if __name__ == "__main__":
    main()
