"""A word to who waits: the first run in an environment compiles the sampler, for some ten seconds."""

from __future__ import annotations

import sys

_COMPILED = ("mean", "centre", "regress", "demo")  # commands that sample


def announce(command: str | None) -> None:
    """On a terminal, before anything is read: whether there is compiled code has nothing to do with the data."""
    if command in _COMPILED and sys.stderr.isatty() and not _compiled():
        sys.stderr.write("First run in this environment: compiling takes some ten seconds, once.\n")
        sys.stderr.flush()
        _tell_once()


def _tell_once() -> None:
    from tukeydp.trusted.compiled_code import announced

    announced.update(("data", "mechanisms", "sampling"))


def _compiled() -> bool:
    from tukeydp.trusted.compiled_code import is_kept
    from tukeydp.trusted.sampling.kept import propose

    return is_kept(propose)
