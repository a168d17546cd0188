"""Running experiments: in parallel, resumable, the same results whatever the number of jobs; `tukeydp reproduce`.

Trials are run in chunks. A chunk's randomness is fixed by the seed, its experiment, its settings and its trials alone,
and its rows go to a file of their own as soon as it ends: a second run picks up what is there. When an experiment ends,
its CSV, its figures, its claims and the report so far are written.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

import tukeydp
from tukeydp.extras import missing
from tukeydp.paper.experiments.catalogue import EXPERIMENTS, named
from tukeydp.paper.experiments.experiment import FAILS, HOLDS, OPEN, Experiment, Results, Row, Seeds, judge, tally
from tukeydp.paper.experiments.figures import save
from tukeydp.paper.experiments.report import Section, claims_text, report_text
from tukeydp.trusted.parameters import ParameterError, checked_integer
from tukeydp.trusted.threads import available_cores

Advance = Callable[[str], None]
Finished = Callable[[Experiment, Results, bool], None]


@dataclass(frozen=True)
class Task:
    """Trials start ... stop - 1 of one cell."""

    experiment: str
    settings: tuple[tuple[str, Any], ...]
    start: int
    stop: int
    seed: int

    @property
    def file(self) -> str:
        """Its name in the folder of parts: another seed, setting or version, of numpy too, is another part."""
        described = repr((versions(), self.experiment, self.settings, self.start, self.stop, self.seed))
        return f"{self.experiment}-{hashlib.sha256(described.encode()).hexdigest()[:20]}.json"


def tasks_of(experiment: Experiment, quick: bool, seed: int) -> list[Task]:
    return [
        Task(experiment.name, cell.settings, start, min(start + experiment.chunk, cell.trials), seed)
        for cell in experiment.cells(quick)
        for start in range(0, cell.trials, experiment.chunk)
    ]


def run_task(task: Task, experiment: Experiment | None = None) -> list[Row]:
    """The rows of a chunk. Worker processes look the experiment up by its name."""
    if experiment is None:
        from tukeydp.paper.experiments.catalogue import named

        experiment = named(task.experiment)
    settings = dict(task.settings)
    rows: list[Row] = []
    for trial in range(task.start, task.stop):
        seeds = Seeds((task.seed, task.experiment, task.settings, trial))
        rows += [{**settings, "trial": trial, **row} for row in experiment.measure(settings, seeds)]
    return rows


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool = False,
    jobs: int | None = None,
    seed: int = 0,
    advance: Advance | None = None,
    finished: Finished | None = None,
) -> dict[str, Results]:
    """Run what is not there yet, one experiment after the other, and write the CSV of each under `out`/results.

    Parameters
    ----------
    jobs
        Worker processes; all cores unless given. Inside `joblib.parallel_config(backend=...)` that backend does the
        work (Dask, Ray); chunks are small enough to be sent anywhere.
    advance
        Called with the experiment's name after every chunk.
    finished
        Called with an experiment, its results and whether they are new, as soon as they are complete. Those that were
        complete before come first.
    """
    if jobs is not None:
        checked_integer("jobs", jobs, least=1)
    checked_integer("seed", seed)
    parts = out / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    tasks = {experiment.name: tasks_of(experiment, quick, seed) for experiment in experiments}
    tell = advance or (lambda name: None)
    results = {}
    for experiment in sorted(experiments, key=lambda e: not all((parts / t.file).exists() for t in tasks[e.name])):
        waiting = [task for task in tasks[experiment.name] if _stored(parts / task.file) is None]
        for _ in range(len(tasks[experiment.name]) - len(waiting)):
            tell(experiment.name)
        workers = 1 if experiment.alone else jobs or available_cores()
        for task, rows in _in_parallel(waiting, experiment, workers):
            _store(parts / task.file, json.dumps(rows))
            tell(experiment.name)
        results[experiment.name] = _collect(out, experiment, tasks[experiment.name], quick, seed)
        if finished is not None:
            finished(experiment, results[experiment.name], bool(waiting))
    return {experiment.name: results[experiment.name] for experiment in experiments}


def _in_parallel(tasks: list[Task], experiment: Experiment, jobs: int) -> Iterable[tuple[Task, list[Row]]]:
    if jobs == 1 or len(tasks) < 2:
        return ((task, run_task(task, experiment)) for task in tasks)
    try:
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend
    except ImportError:
        raise missing("jobs", "joblib when above 1", "reproduce", jobs) from None
    backend, _ = get_active_backend()
    # Rows are stored as they come, so that an interrupted run loses little; a backend that cannot do this stores all
    # at the end.
    how = "generator_unordered" if backend.supports_return_generator else "list"
    done: Iterable[tuple[Task, list[Row]]] = Parallel(n_jobs=jobs, return_as=how, batch_size=1)(
        delayed(_with_task)(task) for task in tasks
    )
    return done


def _with_task(task: Task) -> tuple[Task, list[Row]]:
    return task, run_task(task)


def _stored(path: Path) -> list[Row] | None:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return rows if isinstance(rows, list) else None


def _store(path: Path, text: str) -> None:
    """All or nothing: an interruption never leaves half a part, or half a report."""
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def _collect(out: Path, experiment: Experiment, tasks: list[Task], quick: bool, seed: int) -> Results:
    """All rows in the order of the cells, as a CSV and, for those who come later, how they were made."""
    rows: list[Row] = []
    for task in tasks:
        part = _stored(out / "parts" / task.file)
        if part is None:
            raise FileNotFoundError(f"{task.file} was there and is gone: run the same command again")
        rows += part
    results = Results({**row, "seed": seed, "tukeydp": tukeydp.__version__} for row in rows)
    folder = out / "results"
    folder.mkdir(parents=True, exist_ok=True)
    results.write_csv(folder / f"{experiment.name}.csv")
    made = {"experiment": experiment.name, "place": experiment.place, "seed": seed, "quick": quick, **versions()}
    cells = [{**dict(cell.settings), "trials": cell.trials} for cell in experiment.cells(quick)]
    (folder / f"{experiment.name}.json").write_text(json.dumps({**made, "cells": cells}, indent=1), encoding="utf-8")
    return results


@cache
def versions() -> dict[str, str]:
    import scipy

    from tukeydp.trusted.compiled_code import version_of_numba

    return {
        "tukeydp": tukeydp.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": version_of_numba(),
    }


# `tukeydp reproduce`: run, draw, judge, report.

_SECONDS_APART = 15.0  # of two lines of progress where there is no terminal
_NEEDED = {"matplotlib": "matplotlib", "joblib": "joblib", "sklearn": "scikit-learn"}


def run(name: str, out: Path, *, quick: bool, jobs: int | None, seed: int) -> list[Section]:
    """Run an experiment, or all of them, and write results, figures and report.html under `out`."""
    chosen = (
        list(EXPERIMENTS)
        if name == "all"
        else [named(n) for n in dict.fromkeys(part.strip() for part in name.split(","))]
    )
    if jobs is not None:
        checked_integer("jobs", jobs, least=1)
    for module, package in _NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise missing("reproduce", package, "reproduce")
    try:
        for folder in ("parts", "results", "figures"):
            (out / folder).mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=out / folder):
                pass
    except OSError as error:
        raise ParameterError("out", "must be a folder that can be written", f"{out} ({error.strerror})") from None
    return _sections(chosen, out, quick, jobs, seed)


def _sections(chosen: Sequence[Experiment], out: Path, quick: bool, jobs: int | None, seed: int) -> list[Section]:
    found: dict[str, Section] = {}

    def sections() -> list[Section]:
        return [found[experiment.name] for experiment in chosen if experiment.name in found]

    def write() -> None:
        finished = "" if len(found) == len(chosen) else f"{len(found)} of {len(chosen)} experiments so far"
        facts: dict[str, object] = {"seed": seed, "quick": "yes" if quick else "no", **versions()}
        facts |= {"unfinished": finished} if finished else {}
        _store(out / "results" / "claims.json", claims_text(sections(), facts))
        _store(out / "report.html", report_text(sections(), facts))

    def finished(experiment: Experiment, results: Results, new: bool) -> None:
        pictures = save(experiment.draw(results), out / "figures", experiment.name)
        verdicts = tuple(judge(claim, results) for claim in experiment.claims)
        found[experiment.name] = Section(experiment, results, verdicts, pictures)
        if new:
            write()
            words = Counter(verdict.word for verdict in verdicts)
            said = ", ".join(f"{words[word]} {word}" for word in (HOLDS, FAILS, OPEN) if words[word])
            progress.say(f"{experiment.name}: {said} ({len(found)} of {len(chosen)} experiments)")

    with _Progress(sum(len(tasks_of(experiment, quick, seed)) for experiment in chosen)) as progress:
        try:
            reproduce(chosen, out, quick=quick, jobs=jobs, seed=seed, advance=progress.advance, finished=finished)
        except KeyboardInterrupt:
            write()  # it may have come in the middle of that
            progress.say(f"Stopped. {out / 'report.html'} has what is finished; the same command goes on from here.")
            raise
    write()
    return sections()


class _Progress:
    """A bar on a terminal; elsewhere (a log, a notebook, CI) a line now and then. To stderr."""

    def __init__(self, total: int) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=console)
        self._live = console.is_terminal
        self._task = self._bar.add_task("running", total=total)
        self._total, self._done, self._start, self._said = total, 0, time.monotonic(), -math.inf

    def __enter__(self) -> _Progress:
        if self._live:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._bar.stop()

    def advance(self, name: str) -> None:
        self._done += 1
        self._bar.update(self._task, advance=1, description=f"{name:<20}")
        if not self._live and time.monotonic() - self._said > _SECONDS_APART:
            self.say(f"{name}: {self._done} of {self._total} parts")

    def say(self, words: str) -> None:
        self._said = time.monotonic()
        clock = "" if self._live else f"[{(self._said - self._start) / 60:.1f} min] "
        self._bar.console.print(Text(clock + words), soft_wrap=True)


def summarise(sections: Sequence[Section], out: Path) -> None:
    """The verdicts, one line each, and where to look."""
    table = Table(box=None, pad_edge=False)
    for column in ("experiment", "verdict", "claim"):
        table.add_column(column)
    styles = {True: "green", False: "red", None: "yellow"}
    for section in sections:
        for verdict in section.verdicts:
            word = Text(verdict.word, style=styles[verdict.holds])
            table.add_row(section.experiment.name, word, Text(verdict.claim.sentence))
    console = Console()
    console.print(table)
    for whose, counts in tally([verdict for section in sections for verdict in section.verdicts]).items():
        said = ", ".join(f"{counts[word]} {word}" for word in (HOLDS, FAILS, OPEN) if counts[word])
        if said:
            console.print(Text(f"\nClaims, {whose}: {said}."), soft_wrap=True, end="")
    console.print(Text(f"\n\nFigures, tables and numbers: {out / 'report.html'}"), soft_wrap=True)
