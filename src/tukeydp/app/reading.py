"""Files are read in a process of their own, which gets so much memory and no more.

A file of some kilobytes may unpack to gigabytes, in a different way for each format, and what it declares of itself may
be wrong. So the system keeps the limit: it refuses what a reader asks for beyond it, in Python or in compiled code, and
should that end the process, the page goes on. Windows and macOS keep no such limit: there, only what files declare is
checked (`data/readers/unpacked.py`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tukeydp.data.files import FileTable, read_file
from tukeydp.data.look import Look, look_at_file, others_than, said_of
from tukeydp.data.persons import NOBODY, person_numbers
from tukeydp.data.readers.excel import sheet_names
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory, kind_of, name_of
from tukeydp.data.readers.unpacked import refuse_bombs
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import ParameterError

Found = TypeVar("Found")

SMALL = 1 << 18  # bytes of plain text that are read at once, here: a cell in memory takes a hundred times its two bytes
LIBRARIES = 1 << 28  # bytes for the readers' own code, which is loaded when it is first needed: 256 MiB
_FROM = str(Path(__file__).parent.parent.parent)  # where the package is, for the other process
# Threads, and arenas of memory for each, would be counted though nothing is in them.
_ALONE = {
    "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
}  # fmt: skip


def looked_at(file: InMemory, options: ReadOptions | None, most: int) -> tuple[Look, tuple[str, ...]]:
    """What a file holds, and its sheets if it is a workbook; not one that unpacks to more than `most` bytes."""
    refuse_bombs(file.content, most, file)
    kind = kind_of(file.content[:16])
    look = look_at_file(file, options)
    sheets = sheet_names(file.content, file) if kind is not None and kind[1] == "excel" else []
    return look, tuple(sheets)


def held_in(
    file: InMemory, numbers: Sequence[str], others: Sequence[str], options: ReadOptions
) -> tuple[Table, dict[str, list[Any]]]:
    """Columns of numbers, and the cells of others as they are: all from one reading."""
    every = (*numbers, *others)
    table, cells = FileTable(file, every, tuple(numbers), options.only(every)).with_cells(*others)
    return table, dict(zip(others, cells, strict=True))


def persons_in(file: InMemory, name: str, options: ReadOptions) -> int:
    """How many different ids a column has: public where a budget protects persons."""
    return int(person_numbers(held_in(file, [], [name], options)[1][name]).max(initial=NOBODY)) + 1


def others_in(file: InMemory, listed: Mapping[str, Sequence[str]], options: ReadOptions) -> dict[str, str]:
    """The columns with cells that hold something else than what is listed for them, and what: for the owner alone."""
    cells = held_in(file, [], list(listed), options)[1]
    found = {name: others_than(codes, cells[name]) for name, codes in listed.items()}
    return {name: said_of(others) for name, others in found.items() if others}


def within(memory: int, function: Callable[..., Found], file: InMemory, *given: Any) -> Found:
    """`function(file, *given)`, in another process that may take `memory` bytes beyond the file itself."""
    if len(file.content) <= SMALL and kind_of(file.content[:16]) is None:
        return function(file, *given)
    kind, found = _answer(pickle_of=(memory, function, (file, *given)))
    if kind == "rule":
        raise ParameterError(*found)
    if kind != "found":
        raise ParameterError("FILE", f"must be a table that can be read within {memory >> 20} MiB", name_of(file))
    return found


def _answer(pickle_of: tuple[Any, ...]) -> tuple[str, Any]:
    # An empty entry of PYTHONPATH would stand for the user's folder.
    path = [_FROM, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, **_ALONE, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-P", "-m", "tukeydp.app.reading"]  # -P: nothing is imported from the user's folder
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    # In a session of its own: Ctrl-C is for the page, which waits for a release that has begun.
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(pickle_of, child.stdin)
            child.stdin.close()
        try:
            return pickle.load(child.stdout)
        except Exception:  # it was ended, in the middle of an answer perhaps
            return "ended", None
        finally:
            child.kill()


def main() -> None:
    """In that process: one question from standard input, one answer to standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    memory, function, given = pickle.load(sys.stdin.buffer)
    if kind_of(given[0].content[:16]) is None:
        _compile_the_scan()
    limit(memory)
    try:
        answer = "found", function(*given)
    except ParameterError as error:
        answer = "rule", (error.parameter, error.rule, error.value)
    except MemoryError:
        answer = "memory", None
    pickle.dump(answer, answers, protocol=5)
    answers.flush()
    os._exit(0)  # an interpreter without memory need not tidy up


def _compile_the_scan() -> None:
    """Load or compile the scan of text before there is a limit: the compiler's memory is not the file's."""
    read_file(InMemory("t.csv", b"a\n1\n"), ["a"], ReadOptions())


def limit(memory: int) -> None:
    """No more than this beyond what is in use now and the readers themselves, where the system can see to it."""
    try:
        import resource

        pages = [int(text) for text in Path("/proc/self/statm").read_text().split()]
    except (ImportError, OSError):
        return
    # Private memory that can be written. The code of libraries, which is mapped from files, would count in RLIMIT_AS.
    most = pages[5] * os.sysconf("SC_PAGE_SIZE") + LIBRARIES + memory
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]  # which the machine's owner may have set, lower even
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    main()
