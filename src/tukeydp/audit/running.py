"""Checks run one after the other, or in several processes; a check that raises has failed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from tukeydp.audit.catalogue import CHECKS
from tukeydp.audit.check import Check, Effort, Result


@dataclass(frozen=True)
class Outcome:
    """A check and what it found; seconds of CPU are those of its process."""

    check: Check
    result: Result
    cpu_seconds: float


def run_check(check: Check, effort: Effort) -> Outcome:
    start = time.process_time()
    try:
        result = check.run(effort)
    except Exception as error:
        # No data of anybody's are involved: the message may be shown.
        result = Result(0, 0, 0.0, float("inf"), failures=(f"raised {type(error).__name__}: {error}",))
    return Outcome(check, result, time.process_time() - start)


def run_checks(checks: Sequence[Check], effort: Effort, jobs: int, done: Callable[[Outcome], None]) -> list[Outcome]:
    """In the order of the checks; `done` hears of each as it ends. Forced paths are process-wide, hence no threads."""
    found: dict[str, Outcome] = {}
    for outcome in _each(checks, effort, jobs):
        found[outcome.check.name] = outcome
        done(outcome)
    return [found[check.name] for check in checks]


def _each(checks: Sequence[Check], effort: Effort, jobs: int) -> Iterator[Outcome]:
    if jobs <= 1 or len(checks) < 2:
        for check in checks:
            yield run_check(check, effort)
        return
    # Spawned, not forked: a fork of a process with threads may hang. Ctrl-C is for this process alone.
    spawned, ignored = get_context("spawn"), (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(jobs, mp_context=spawned, initializer=signal.signal, initargs=ignored) as pool:
        # The longest are last in the catalogue, and shall start first.
        waiting = {pool.submit(_by_name, check.name, effort): check for check in reversed(checks)}
        processes = list(pool._processes.values())  # before a shutdown forgets them
        try:
            for future in as_completed(waiting):
                yield _outcome(waiting[future], future)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            raise


def _outcome(check: Check, future: Future[tuple[Result, float]]) -> Outcome:
    try:
        return Outcome(check, *future.result())
    except BrokenProcessPool:
        # Killed from outside, for want of memory mostly: what was not finished has not passed.
        return Outcome(check, Result(0, 0, 0.0, float("inf"), failures=("its process was killed",)), 0.0)


def _by_name(name: str, effort: Effort) -> tuple[Result, float]:
    outcome = run_check(next(check for check in CHECKS if check.name == name), effort)
    return outcome.result, outcome.cpu_seconds
