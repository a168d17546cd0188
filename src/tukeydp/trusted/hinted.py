"""The one door to hints: they get copies of arrays, and whatever they do there is an answer or none.

Hints have names here; who makes them is offered from outside (`tukeydp.hints`), and no released value hangs on them.
What comes back is data: numbers that integers check before they count for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from tukeydp.trusted.parameters import FloatArray

OFFERED: dict[str, str | Callable[..., Any]] = {}  # name -> function, or "module:function", imported when first asked


def offer(hints: Mapping[str, str | Callable[..., Any]]) -> None:
    """Have these asked under their names, from now on."""
    OFFERED.update(hints)


def asked(name: str, *given: Any, **named: Any) -> Any:
    """What a hint answers; None if there is none, or it raises: an exception would tell about the data."""
    try:
        hint = OFFERED[name]
        if isinstance(hint, str):
            module, _, function = hint.partition(":")
            hint = OFFERED[name] = getattr(import_module(module), function)
        with np.errstate(all="ignore"):
            return hint(*map(_copied, given), **{key: _copied(value) for key, value in named.items()})
    except Exception:
        return None


def _copied(value: Any) -> Any:
    """Arrays of a hint's own: whatever it writes to them stays there."""
    return value.copy() if isinstance(value, np.ndarray) else value


def finite_rows(answer: Any, d: int) -> FloatArray:
    """The rows (any, d) of finite floats in a hint's answer; none if it is anything else."""
    try:
        if np.iscomplexobj(answer):
            return np.empty((0, d))
        rows = np.array(answer, dtype=np.float64)
    except Exception:  # whatever the answer's own methods raise
        return np.empty((0, d))
    return rows[np.isfinite(rows).all(axis=1)] if rows.ndim == 2 and rows.shape[1] == d else np.empty((0, d))


def integer_vector(answer: Any, d: int) -> list[int] | None:
    """A vector of d whole numbers, not all zero, in a hint's answer; None if it is anything else."""
    if not (isinstance(answer, list) and len(answer) == d and all(type(c) is int for c in answer) and any(answer)):
        return None
    return answer
