"""Calls that end only at multiples of a public interval, so that their duration tells at most which multiple."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from tukeydp.trusted.parameters import ParameterError, brief, positive_rational

Given = ParamSpec("Given")
Result = TypeVar("Result")

_SHORTEST, _LONGEST = 0.001, 86_400.0  # seconds: clocks and schedulers are no finer; a day is a slip of the unit


def checked_interval(pad_to: Any) -> float:
    """Seconds, as a float."""
    seconds = float(positive_rational("pad_to", pad_to))
    if not _SHORTEST <= seconds <= _LONGEST:
        rule = f"must be from {_SHORTEST:g} to {_LONGEST:.0f} seconds"
        raise ParameterError("pad_to", rule, brief(pad_to))
    return seconds


def paced(pad_to: Any, job: Callable[[], Result]) -> Result:
    """What the job returns or raises, not before the next multiple of `pad_to` seconds; None: at once.

    An interruption is passed on at once: whoever pressed the key knows when.
    """
    if pad_to is None:
        return job()
    seconds, started = checked_interval(pad_to), time.monotonic()
    try:
        result = job()
    except Exception:
        _wait(started, seconds)
        raise
    _wait(started, seconds)
    return result


def padded(mechanism: Callable[Given, Result]) -> Callable[Given, Result]:
    """The mechanism, paced by its own parameter `pad_to`."""

    @wraps(mechanism)
    def at_multiples(*given: Given.args, **options: Given.kwargs) -> Result:
        return paced(options.get("pad_to"), lambda: mechanism(*given, **options))

    return at_multiples


def _wait(started: float, seconds: float) -> None:
    due = started + seconds * max(1, math.ceil((time.monotonic() - started) / seconds))
    while (rest := due - time.monotonic()) > 0:
        time.sleep(rest)
