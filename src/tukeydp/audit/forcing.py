"""Names of the package that stand for something else for a while: how rare paths are forced and coins are chosen.

Process-wide, so checks never run in two threads of one process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def forced(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """(object, name, value): each is put back at the end, whatever happens. Unknown names are an error."""
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            setattr(owner, name, value)
