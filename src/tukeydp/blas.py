"""BLAS on one thread while a call of ours runs.

Our matrices are small. The threads of OpenBLAS gain nothing on them and wait by spinning: on a busy machine a call of
half a second took 40. The limit is the process's: other threads that use BLAS meanwhile have one thread, too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_SECOND_BLAS = "scipy.linalg"  # numpy and scipy bring a BLAS each, and scipy's is loaded with this module


class _Limit:
    """Held by one thread at a time: the one that set it lifts it. Others run meanwhile, limited or not.

    Were each thread to restore what it found, two that overlap could leave the limit behind for ever.
    """

    def __init__(self) -> None:
        self._holder = threading.Lock()
        self._found: dict[bool, Any] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        if not self._holder.acquire(blocking=False):
            yield  # by this thread, further out, or by another
            return
        try:
            with self._libraries().limit(limits=1, user_api="blas"):
                yield
        finally:
            self._holder.release()

    def _libraries(self) -> Any:
        """Those that are loaded now. Looking for them takes milliseconds, so it is done once for each state."""
        both = _SECOND_BLAS in sys.modules
        if both not in self._found:
            from threadpoolctl import ThreadpoolController

            self._found[both] = ThreadpoolController()
        return self._found[both]


_limit = _Limit()


def on_one_thread(call: Callable[Given, Result]) -> Callable[Given, Result]:
    """The call, with BLAS on one thread."""

    @wraps(call)
    def limited(*given: Given.args, **options: Given.kwargs) -> Result:
        with _limit.held():
            return call(*given, **options)

    return limited
