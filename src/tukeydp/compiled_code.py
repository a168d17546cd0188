"""Compiled code that is kept in files for processes to come, under a hash of all sources that it is made from.

A kernel has those that it calls compiled into it, with their constants and the fields of their records by number. Numba
looks at the file of the kernel alone: after a change in another it would go on running what was. So the hash stands
in the names of the files. It depends on the installed code only, never on rows.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

_PACKAGE = Path(__file__).parent
_DIGITS = 16  # of the hash, in names of files; the whole hash stands inside
_PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
# Of every file that compiled functions are made from: the other files whose functions, constants and records these use.
# tests/test_compiled_code.py reads the sources, and misses none.
USES: dict[str, tuple[str, ...]] = {
    "data/readers/number_kernel.py": ("data/readers/powers_of_ten.py",),
    "data/readers/powers_of_ten.py": (),
    "data/readers/scanning.py": ("data/readers/number_kernel.py",),
    "depth/angular_sweep.py": (),
    "depth/cone_search.py": (),
    "depth/double_digits.py": (),
    "depth/repulsion.py": (),
    "depth/tally_loops.py": (),
    "depth/tie_sweep.py": ("depth/angular_sweep.py", "depth/double_digits.py"),
    "exact/tilted_boxes.py": (),
    "geometry/arrangements.py": (),
    "geometry/facet_clipping.py": (),
    "geometry/facet_descent.py": (),
    "geometry/halfspace_counts.py": (),
    "geometry/lasserre_volumes.py": (),
    "geometry/monotone_chain.py": (),
    "geometry/normal_cones.py": ("geometry/arrangements.py", "geometry/facet_descent.py"),
    "geometry/polygon_areas.py": ("geometry/monotone_chain.py",),
    "hints/facet_walk.py": (),
    "mcmc/walks.py": (),
    "mechanisms/walk_loops.py": (),
    "sampling/branches/listing.py": ("sampling/branches/nodes.py", "sampling/records.py"),
    "sampling/branches/nodes.py": ("sampling/branches/programs.py", "sampling/records.py"),
    "sampling/branches/programs.py": ("sampling/records.py",),
    "sampling/coarse_kernels.py": (),
    "sampling/kernels.py": ("sampling/records.py",),
    "sampling/records.py": (),
    "sampling/rough_slabs.py": (),
    "sampling/simplex.py": (),
    "sampling/tilted_kernels.py": (
        *("exact/tilted_boxes.py", "sampling/coarse_kernels.py", "sampling/kernels.py", "sampling/rough_slabs.py"),
    ),
}


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is first called, and keep the result; a decorator, with or without options of `njit`.

    The one way to keep compiled code. Calls release the GIL.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    dispatcher = numba.njit(nogil=True, **options)(function)
    dispatcher._cache = _SourcesCache(function)
    return dispatcher


def is_kept(dispatcher: Any) -> bool:
    """Whether a file has the compiled code of these sources."""
    return Path(dispatcher._cache._cache_file._index_path).exists()


class _SourcesCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, in the folder that numba chooses, with files named by the hash of all sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._source = "/".join(function.__module__.split(".")[1:]) + ".py"
        stamp = _imported(self._source)
        name = f"{Path(self._source).stem}.{function.__qualname__}-{stamp[:_DIGITS]}.{_PYTHON}"
        self._cache_file = IndexDataCacheFile(self._cache_path, name, stamp)

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
    for name in ("compiled_code.py", *sorted(made_from(source))):
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
