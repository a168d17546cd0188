"""A word to who waits: the first run in an environment compiles the sampler, for some ten seconds."""

from __future__ import annotations

import sys
from pathlib import Path

_COMPILED = ("mean", "centre", "regress", "demo")  # commands that sample


def announce(command: str | None) -> None:
    """On a terminal, before anything is read: whether there is compiled code has nothing to do with the data."""
    if command in _COMPILED and sys.stderr.isatty() and not _compiled():
        sys.stderr.write("First run in this environment: compiling takes some ten seconds, once.\n")
        sys.stderr.flush()


def _compiled() -> bool:
    from tukeydp.sampling.kept import propose

    kept = Path(propose._cache.cache_path)  # where numba keeps what it has compiled
    return any(kept.glob("kernels.propose-*.nbi"))
