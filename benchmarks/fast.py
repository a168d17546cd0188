"""What users wait for: jobs that were slow, beside what is asked of them. Prints a table.

Each job runs in a process of its own: made ready (data, a first call that compiles, unless the job is about first
calls), then called so many times. Seconds of CPU, of all threads, are medians; so are those of the clock. `--only WORD`
takes jobs whose name has the word.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

REPEATS = 3


@dataclass(frozen=True)
class Job:
    """Seconds of CPU asked for, and what makes ready: it returns the call that is timed."""

    asked: float
    ready: Callable[[], Callable[[], Any]]


def gaussian(n: int, d: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(d)
    return rng.standard_normal((n, d)) + 3 * centre / np.linalg.norm(centre)


def rotated(n: int, d: int, condition: float) -> Any:
    rng = np.random.default_rng(1)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (rng.standard_normal((n, d)) * np.geomspace(1 / condition, 1, d)) @ turn.T


def boxem(x: Any, **settings: Any) -> Callable[[], Callable[[], Any]]:
    def ready() -> Callable[[], Any]:
        import tukeydp as td

        given: dict[str, Any] = {"bounds": (-10, 10), "epsilon": 1} | {
            k: v(td) if callable(v) else v for k, v in settings.items()
        }
        rows = x() if callable(x) else x
        return lambda: td.boxem(rows, **given)

    return ready


def rem(n: int, d: int, exact: bool = False) -> Callable[[], Callable[[], Any]]:
    def ready() -> Callable[[], Any]:
        import tukeydp as td

        x = gaussian(n, d)
        return lambda: td.rem(x, epsilon=1, delta=1e-6, depth=td.Exact() if exact else None)

    return ready


def answers(d: int) -> Callable[[], Any]:
    return lambda: (np.random.default_rng(2).random((1500, d)) < np.linspace(0.1, 0.9, d)).astype(float)


def on_a_plane() -> Any:
    x = gaussian(1000, 3)
    x[:, 2] = np.round(x[:, 0] * 8) / 8 + np.round(x[:, 1] * 8) / 8
    x[:, :2] = np.round(x[:, :2] * 8) / 8
    return x


def skewed() -> Any:
    return np.random.default_rng(3).exponential(size=(2000, 20))


def one_factor() -> Any:
    rng = np.random.default_rng(4)
    return 3 * rng.standard_normal((2000, 1)) + rng.standard_normal((2000, 20))


def scores() -> Any:
    return np.random.default_rng(5).integers(1, 6, size=(300, 20)).astype(float)


def expected(d: int, mechanism: str = "boxem") -> Callable[[], Callable[[], Any]]:
    def ready() -> Callable[[], Any]:
        import tukeydp as td

        x, calls, bounds = gaussian(2000, d), iter(range(10**6)), (-10, 10) if mechanism == "boxem" else (-50, 50)
        # A new number of rows each time: nothing is known from the call before.
        released = getattr(td, mechanism)
        releases = [released(x[next(calls) :], epsilon=1, bounds=bounds) for _ in range(REPEATS + 1)]
        return lambda: releases.pop().expected_error

    return ready


def rem_plan() -> Callable[[], Any]:
    from fractions import Fraction

    from tukeydp.mechanisms.rem_choice import chosen_plan

    numbers = iter(range(400, 500))
    return lambda: chosen_plan(next(numbers), 3, Fraction(1), Fraction(1, 10**6), None)


def rem_of_new_rows() -> Callable[[], Any]:
    import tukeydp as td

    numbers, x = iter(range(400, 500)), gaussian(500, 3)
    return lambda: td.rem(x[: next(numbers)], epsilon=1, delta=1e-6)


def command(*arguments: str, fresh: bool = False) -> Callable[[], Callable[[], Any]]:
    """A whole process of Python, with its modules compiled to bytecode as an installation has them.

    A `fresh` one finds nothing that numba has compiled before.
    """

    def ready() -> Callable[[], Any]:
        settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

        def call() -> None:
            with tempfile.TemporaryDirectory() as folder:
                kept = {"NUMBA_CACHE_DIR": folder} if fresh else {}
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=settings | kept)

        return call

    return ready


FIRST_MEAN = (
    "import tukeydp as td, numpy as np;"
    "td.mean(np.random.default_rng(0).normal(50, 9, (300, 4)), epsilon=1, bounds=(0, 200))"
)
FIRST_VOLUMES = (
    "import tukeydp as td, numpy as np; td.level_volumes(np.random.default_rng(0).normal(size=(100, 2)), td.Exact())"
)

JOBS = {
    "rem default directions, 500 x 10": Job(0.4, rem(500, 10)),
    "rem Exact, 300 x 2": Job(0.3, rem(300, 2, exact=True)),
    "rem Exact, 300 x 3": Job(2, rem(300, 3, exact=True)),
    "rem Exact, 300 x 4": Job(30, rem(300, 4, exact=True)),
    "boxem yes/no columns, resolution 1, 1500 x 5": Job(0.1, boxem(answers(5), bounds=(0, 1), resolution=1)),
    "boxem yes/no columns, resolution 1, 1500 x 10": Job(0.3, boxem(answers(10), bounds=(0, 1), resolution=1)),
    "boxem yes/no columns, resolution 1, 1500 x 20": Job(2, boxem(answers(20), bounds=(0, 1), resolution=1)),
    "boxem axes + 300, 2000 x 20": Job(0.5, boxem(lambda: gaussian(2000, 20), depth=lambda td: td.Random(300))),
    "boxem axes + 300, 3000 x 30": Job(2.5, boxem(lambda: gaussian(3000, 30), depth=lambda td: td.Random(300))),
    "boxem axes + 300, 2000 x 20, rotated, condition 1e4": Job(
        2.5, boxem(lambda: rotated(2000, 20, 1e4), depth=lambda td: td.Random(300))
    ),
    "boxem axes + 1000, 2000 x 20": Job(1.5, boxem(lambda: gaussian(2000, 20), depth=lambda td: td.Random(1000))),
    "boxem default, exponential columns, 2000 x 20": Job(2.5, boxem(skewed, bounds=(0, 50))),
    "boxem default, columns of one factor, 2000 x 20": Job(2.5, boxem(one_factor, bounds=(-50, 50))),
    "boxem default, scores of equal shares, 300 x 20": Job(2.5, boxem(scores, bounds=(1, 5), resolution=1)),
    "boxem Exact, 1000 x 4": Job(5, boxem(lambda: gaussian(1000, 4), depth=lambda td: td.Exact())),
    "boxem Exact, rows on a plane, 1000 x 3": Job(1, boxem(on_a_plane, depth=lambda td: td.Exact())),
    "boxem whole numbers, 1e6 x 5": Job(
        0.6,
        boxem(
            lambda: np.random.default_rng(3).integers(0, 100, (10**6, 5)).astype(float), bounds=(0, 100), resolution=1
        ),
    ),
    "expected_error, 2000 x 8": Job(0.1, expected(8)),
    "expected_error, 2000 x 20": Job(0.5, expected(20)),
    "expected_error of td.mean, 2000 x 8": Job(0.1, expected(8, "mean")),
    "expected_error of td.mean, 2000 x 20": Job(0.5, expected(20, "mean")),
    "rem's plan, rows never seen before, 450 x 3": Job(0.02, rem_plan),
    "rem, rows never seen before, 450 x 3": Job(0.1, rem_of_new_rows),
    "tukeydp --version": Job(0.15, command("-m", "tukeydp", "--version")),
    "import tukeydp": Job(0.12, command("-c", "import tukeydp")),
    "first mean, 300 x 4, with the import": Job(1.0, command("-c", FIRST_MEAN)),
    "first mean, 300 x 4, nothing compiled before": Job(1.0, command("-c", FIRST_MEAN, fresh=True)),
    "first level_volumes, 100 x 2, with the import": Job(1.5, command("-c", FIRST_VOLUMES)),
    "first level_volumes, 100 x 2, nothing compiled before": Job(1.5, command("-c", FIRST_VOLUMES, fresh=True)),
}


def spent() -> float:
    """Seconds of CPU of this process, its threads and its children that ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def run(name: str) -> None:
    from tukeydp.hints.branches import compile_once

    compile_once()  # as after many draws
    job = JOBS[name]
    call = job.ready()
    call()
    cpu, clock = [], []
    for _ in range(REPEATS):
        began, since = spent(), time.perf_counter()
        call()
        cpu.append(spent() - began)
        clock.append(time.perf_counter() - since)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    middle, waited = statistics.median(cpu), statistics.median(clock)
    print(f"{name:55} {job.asked:7.2f} {middle:8.3f} {waited:8.3f} {middle / job.asked:7.2f} {peak:7.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="jobs whose name has this word")
    parser.add_argument("--longest", type=float, default=120.0, help="seconds after which a job is given up")
    parser.add_argument("--job", help="run this one here")
    chosen = parser.parse_args()
    if chosen.job:
        run(chosen.job)
        return
    print(f"{'job':55} {'asked s':>7} {'CPU s':>8} {'clock s':>8} {'ratio':>7} {'peak MB':>7}")
    for name in JOBS:
        if chosen.only in name:
            try:
                subprocess.run([sys.executable, __file__, "--job", name], check=True, timeout=chosen.longest)
            except subprocess.TimeoutExpired:
                print(f"{name:55} {JOBS[name].asked:7.2f}    more than {chosen.longest:g} s", flush=True)


if __name__ == "__main__":
    main()
