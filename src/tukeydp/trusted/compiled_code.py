"""Compiled code that is kept in files for processes to come, under a hash of all sources that it is made from.

Without numba, or with TUKEYDP_NUMBA=off in the environment, kernels run as Python: the same text on numpy's numbers,
which are 64-bit words too, or, where that would be hopelessly slow, a form of it on whole arrays. The same bits come
out, later (tests/test_plain_forms.py, docs/decisions/0021-numba-is-optional.md).

A kernel has those that it calls compiled into it, with their constants and the fields of their records by number. Numba
looks at the file of the kernel alone: after a change in another it would go on running what was. So the hash stands
in the names of the files. It depends on the installed code only, never on rows.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

try:
    if os.environ.get("TUKEYDP_NUMBA") == "off":
        raise ImportError
    import llvmlite
    import numba
    import numba.extending
    from numba.core.caching import FunctionCache, IndexDataCacheFile
except ImportError:  # not there, or not for this NumPy
    numba, FunctionCache = None, object

COMPILES = numba is not None
_PACKAGE = Path(__file__).parent.parent
_DIGITS = 16  # of the hash, in names of files; the whole hash stands inside
_PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
# Of every file that compiled functions are made from: the other files whose functions, constants and records these use.
# tests/test_compiled_code.py reads the sources, and misses none.
USES: dict[str, tuple[str, ...]] = {
    "data/readers/scanning.py": (),
    "depth/repulsion.py": (),
    "forecast/walk_loops.py": (),
    "hints/facet_walk.py": (),
    "hints/nodes.py": ("hints/programs.py", "trusted/records.py", "trusted/sampling/loops.py"),
    "hints/programs.py": ("trusted/records.py",),
    "hints/simplex.py": (),
    "paper/polytope_kernels.py": (),
    "paper/random_walks.py": (),
    "trusted/exact/loops.py": (),
    "trusted/records.py": (),
    "trusted/sampling/loops.py": ("trusted/records.py", "trusted/shapes.py"),
    "trusted/shapes.py": (),
    "trusted/streams/tally_loops.py": (),
}


def compiled(
    function: Callable[..., Any] | None = None, *, plain: Callable[..., Any] | None = None, **options: Any
) -> Any:
    """Compile a function when it is first called, and keep the result; a decorator, with or without options of `njit`.

    The one way to keep compiled code. Calls release the GIL. `plain` is what runs without numba, if not the function
    itself.
    """
    if function is None:
        return lambda function: compiled(function, plain=plain, **options)
    dispatcher = compiled_in_memory(function, plain=plain, **options)
    if numba is not None:
        dispatcher._cache = _SourcesCache(function)
    return dispatcher


def compiled_in_memory(
    function: Callable[..., Any] | None = None, *, plain: Callable[..., Any] | None = None, **options: Any
) -> Any:
    """The same for this process alone: nothing is read from a file or written to one."""
    if function is None:
        return lambda function: compiled_in_memory(function, plain=plain, **options)
    if plain is not None:
        function.plain = plain  # type: ignore[attr-defined]
    return _run_as_python(function) if numba is None else numba.njit(nogil=True, **options)(function)


def version_of_numba() -> str:
    return numba.__version__ if numba is not None else "none"


def may_be_called(function: Callable[..., Any]) -> None:
    """From compiled code, from now on; elsewhere the function remains what it is."""
    if numba is not None:
        numba.extending.register_jitable(function)


def _run_as_python(function: Callable[..., Any]) -> Any:
    """Words wrap around, and a float that is no number is none: silently, as in compiled code."""
    plain = getattr(function, "plain", function)

    @wraps(plain)
    def run(*arguments: Any, **named: Any) -> Any:
        with np.errstate(all="ignore"):
            return plain(*arguments, **named)

    run.py_func = function  # type: ignore[attr-defined]
    return run


def is_kept(dispatcher: Any) -> bool:
    """Whether a file has the compiled code of these sources; without numba there is nothing to wait for."""
    return numba is None or Path(dispatcher._cache._cache_file._index_path).exists()


# What is compiled together, by where it is, and about how long that takes on one core.
_PARTS = {
    "data": "the reader of files, some ten seconds",
    "forecast": "forecasts, some ten seconds",
    "paper/polytope_kernels": "level sets, up to half a minute",
    "paper/random_walks": "random walks, some ten seconds",
    "trusted/exact": "exact depth, up to half a minute",
    "trusted/sampling": "the sampler, some ten seconds",
}
announced: set[str] = set()  # parts of which somebody was told


def _announce(source: str) -> None:
    """Tell who waits at a terminal. What is kept is compiled by public numbers alone, so that this tells no more."""
    part = next((part for part in _PARTS if source.startswith(part)), None)
    if part is not None and part not in announced and sys.stderr is not None and sys.stderr.isatty():
        announced.add(part)
        sys.stderr.write(f"Compiling {_PARTS[part]}, once in this environment ...\n")
        sys.stderr.flush()


class _SourcesCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, in the folder that numba chooses, with files named by the hash of all sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._source = "/".join(function.__module__.split(".")[1:]) + ".py"
        stamp = _imported(self._source)
        name = f"{Path(self._source).stem}.{function.__qualname__}-{stamp[:_DIGITS]}.{_PYTHON}"
        self._cache_file = IndexDataCacheFile(self._cache_path, name, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        found = super().load_overload(signature, context)
        if found is None:
            _announce(self._source)
        return found

    def _save_overload(self, signature: Any, data: Any) -> None:
        # If a file was changed under this process, nobody knows what it has of it.
        if hash_of_sources(self._source) == _imported(self._source):
            super()._save_overload(signature, data)
            _remove_stale(Path(self._cache_path), self._source)


@cache
def _imported(source: str) -> str:
    """The hash when the first function of a file was decorated: that of what this process runs."""
    return hash_of_sources(source)


def hash_of_sources(source: str) -> str:
    """Of a file and all that is compiled into its functions, as they are now, with the versions of the compiler."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for name in ("trusted/compiled_code.py", *sorted(made_from(source))):
        digest.update(hashlib.sha256((_PACKAGE / name).read_bytes()).digest())
    return digest.hexdigest()


def made_from(source: str) -> set[str]:
    """A file, those that it uses, and those that these use."""
    return {source}.union(*map(made_from, USES[source]))


def _remove_stale(folder: Path, source: str) -> None:
    """Remove what this Python has kept of other states of a file; a process that still runs one compiles again."""
    ours = re.compile(
        rf"{re.escape(Path(source).stem)}\..+-([0-9a-f]{{{_DIGITS}}})\.{re.escape(_PYTHON)}\.(\d+\.nbc|nbi)"
    )
    for kept in folder.iterdir():
        found = ours.fullmatch(kept.name)
        if found is not None and found[1] != _imported(source)[:_DIGITS]:
            with suppress(OSError):  # open elsewhere, on Windows: the next one to compile removes it
                kept.unlink(missing_ok=True)
