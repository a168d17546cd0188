"""What a caller's function says while it runs on rows is thrown away: prints, warnings, log records.

Whatever it writes would be a second output that nobody accounts for. What one process cannot prevent, such as a
function that writes to a file or keeps a list of its own, is listed in docs/proofs/aggregate.md, section 5.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import random
import sys
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Standard output and error lead nowhere, by Python's streams and by their descriptors; so do warnings and logs.

    NumPy's and Python's global generators are put back afterwards, and so is everything else. For the whole process:
    other threads are silent meanwhile too.
    """
    threshold = logging.root.manager.disable
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    hook = sys.unraisablehook
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        stack.enter_context(_descriptors_lead_to(nowhere.fileno()))
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        sys.unraisablehook = lambda _: None
        try:
            yield
        finally:
            sys.unraisablehook = hook
            logging.disable(threshold)
            random.setstate(drawn)
            np.random.set_state(drawn_by_numpy)  # noqa: NPY002


@contextlib.contextmanager
def _descriptors_lead_to(nowhere: int) -> Iterator[None]:
    """Descriptors 1 and 2, for code that does not write through Python; where there are none, nothing is to be done."""
    kept = []
    _flush()
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            kept.append((descriptor, os.dup(descriptor)))
            os.dup2(nowhere, descriptor)
    try:
        yield
    finally:
        _flush()  # what is still held back must not come out later
        for descriptor, copy in kept:
            os.dup2(copy, descriptor)
            os.close(copy)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            if stream is not None:
                stream.flush()
    with contextlib.suppress(Exception):  # no C library under this name: nothing is held back in it
        ctypes.CDLL(None).fflush(None)
