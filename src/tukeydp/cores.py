"""Work shared by threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress


def available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def in_threads(work: Callable[[], None], threads: int) -> None:
    """Run `work` in this thread and in up to `threads` - 1 others, until all have returned.

    Where no thread can be started, this one does all of it: whether threads are needed depends on the data, and so
    would an error.
    """
    if threads <= 1:
        work()
        return
    with ThreadPoolExecutor(threads - 1) as pool:
        started = []
        with suppress(RuntimeError):
            started += [pool.submit(work) for _ in range(threads - 1)]
        work()
        for future in started:
            future.result()
