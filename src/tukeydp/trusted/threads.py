"""Work shared by threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

Item = TypeVar("Item")
Own = TypeVar("Own")


def available_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def for_each(
    items: Iterable[Item], work: Callable[[Item], None], threads: int, *, until: Callable[[], object] = lambda: False
) -> None:
    """Call `work` on each item, in this thread and in up to `threads` - 1 others.

    Items are handed out in order, and one that has been handed out is always finished. None is handed out any more
    once `until` holds or a worker has failed. So if an item made `until` hold, all items before it are done as well.
    """
    for_each_with(lambda: None, items, lambda item, _: work(item), threads, until=until)


def for_each_with(
    make: Callable[[], Own],
    items: Iterable[Item],
    work: Callable[[Item, Own], None],
    threads: int,
    *,
    until: Callable[[], object] = lambda: False,
) -> None:
    """`for_each` where every worker makes something of its own first, such as scratch space, and works with it."""
    remaining = iter(items)
    lock = threading.Lock()

    def worker(stopped: threading.Event) -> None:
        own = make()
        while not stopped.is_set() and not until():
            with lock:
                try:
                    item = next(remaining)
                except StopIteration:
                    return
            work(item, own)

    in_threads(worker, threads)


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


class ForkLock:
    """A lock that a fork waits for: no child begins in the middle of what it guards, nor waits for a thread that it
    does not have. Use `with guard.lock:`; the thread that holds it may take it again.

    For modules, not for objects: what is called at forks is called until the process ends.
    """

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self.lock.acquire(),
                after_in_parent=lambda: self.lock.release(),
                after_in_child=self._renew,
            )

    def _renew(self) -> None:
        self.lock = threading.RLock()
