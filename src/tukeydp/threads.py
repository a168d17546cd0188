"""Work shared by threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress


def available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def in_threads(work: Callable[[threading.Event], None], threads: int) -> None:
    """Run `work` in this thread and in up to `threads` - 1 others, until all have returned.

    Where no thread can be started, this one does all of it: whether threads are needed depends on the data, and so
    would an error. The event is set once one of them has failed or was interrupted: the others should return soon.
    """
    stopped = threading.Event()

    def guarded() -> None:
        try:
            work(stopped)
        except BaseException:
            stopped.set()
            raise

    if threads <= 1:
        guarded()
        return
    with ThreadPoolExecutor(threads - 1) as pool:
        started = []
        with suppress(RuntimeError):
            for _ in range(threads - 1):
                started.append(pool.submit(guarded))
        guarded()
        for future in started:
            future.result()
