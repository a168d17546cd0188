"""Running experiments: in parallel, resumable, and with the same results whatever the number of jobs.

Trials are run in chunks. A chunk's randomness is fixed by the seed, its experiment, its settings and its trials alone,
and its rows go to a file of their own as soon as it ends: a second run picks up what is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tukeydp
from tukeydp.extras import missing
from tukeydp.paper.experiments.experiment import Experiment, Results, Row, Seeds
from tukeydp.trusted.parameters import checked_integer
from tukeydp.trusted.threads import available_cores

Advance = Callable[[str], None]


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
) -> dict[str, Results]:
    """Run what is not there yet, and write one CSV per experiment under `out`/results.

    Parameters
    ----------
    jobs
        Worker processes; all cores unless given. Inside `joblib.parallel_config(backend=...)` that backend does the
        work (Dask, Ray); chunks are small enough to be sent anywhere.
    advance
        Called with the experiment's name after every chunk.
    """
    if jobs is not None:
        checked_integer("jobs", jobs, least=1)
    checked_integer("seed", seed)
    parts = out / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    tasks_by_name = {experiment.name: tasks_of(experiment, quick, seed) for experiment in experiments}
    known = {experiment.name: experiment for experiment in experiments}
    tell = advance or (lambda name: None)
    waiting: list[Task] = []
    for task in (task for tasks in tasks_by_name.values() for task in tasks):
        if _stored(parts / task.file) is None:
            waiting.append(task)
        else:
            tell(task.experiment)
    together = [task for task in waiting if not known[task.experiment].alone]
    for task, rows in _in_parallel(together, known, jobs or available_cores()):
        _store(parts / task.file, rows)
        tell(task.experiment)
    for task in (task for task in waiting if known[task.experiment].alone):
        _store(parts / task.file, run_task(task, known[task.experiment]))
        tell(task.experiment)
    return {name: _collect(out, known[name], tasks, quick, seed) for name, tasks in tasks_by_name.items()}


def _in_parallel(tasks: list[Task], known: dict[str, Experiment], jobs: int) -> Iterable[tuple[Task, list[Row]]]:
    if jobs == 1 or len(tasks) < 2:
        return ((task, run_task(task, known[task.experiment])) for task in tasks)
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


def _store(path: Path, rows: list[Row]) -> None:
    """All or nothing: an interruption never leaves half a part."""
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(rows), encoding="utf-8")
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
