"""Put each mutant into a copy of the package, run its tests, and say which mutants no test noticed.

    PYTHONPATH=tests python -m mutants.run [--processes 2] [--results FILE] [words of a name ...]

A line for each mutant as soon as it was tried: its place, result, seconds, file and name; at the end the slowest. Exit
code 1 if one is not caught, or if a test fails without any. The tests are those of the working tree; only the package
is copied, with its compiled code, which is kept by a hash of all that it is made from: a kernel that was changed, and
those that call it, are compiled again (`tukeydp.trusted.compiled_code`).
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutants.catalogue import MUTANTS
from mutants.mutant import PACKAGE, ROOT, Mutant

# Seconds: tests that take so long hang. That is no verdict, since a hang may have other causes: choose another bug.
_PATIENCE, _PATIENCE_WITH_ALL = 300, 3600
_SLOWEST = 10  # that are named at the end
_FAILED = 1  # pytest's exit code for failing tests; others mean that nothing was tested
# Errors of a mutant that is no program any more: its tests fail whatever they are for.
_SLIPS = ("NameError:", "UnboundLocalError:", "SyntaxError:", "ImportError:", "ModuleNotFoundError:")


@dataclass(frozen=True)
class Tested:
    """pytest's exit code, None if it took too long; what it said; how long it took."""

    code: int | None
    output: str
    seconds: float

    @property
    def word(self) -> str:
        if self.code == _FAILED and any(slip in self.output for slip in _SLIPS):
            return "BROKEN"
        return {0: "SURVIVED", _FAILED: "caught", None: "HANGS"}.get(self.code, "BROKEN")


class Runner:
    """A process that runs tests of one copy of the package after the other (`mutants.zygote`)."""

    def __init__(self, folder: Path) -> None:
        # One thread each: several mutants run at a time.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "tests")}
        command = [sys.executable, "-m", "mutants.zygote"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._output = folder / f"output-{self._process.pid}"

    def tested(self, source: Path, tests: Sequence[str], patience: int = _PATIENCE) -> Tested:
        job = {"source": str(source), "tests": list(tests), "output": str(self._output), "patience": patience}
        began = time.monotonic()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())
        return Tested(code, self._output.read_text(errors="replace"), time.monotonic() - began)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants whose names contain one of these")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--results", type=Path, help="a file that gets the table too, line by line")
    options = parser.parse_args(arguments)
    chosen = [m for m in MUTANTS if not options.words or any(word in m.name for word in options.words)]
    if not chosen:
        parser.error("no mutant has such a name")
    if options.results is not None:
        options.results.write_text("", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        runners = [Runner(Path(folder)) for _ in range(options.processes)]
        try:
            return _tried_with(runners, chosen, Path(folder), options.results)
        finally:
            for runner in runners:
                runner.close()


def _tried_with(runners: Sequence[Runner], chosen: Sequence[Mutant], folder: Path, results: Path | None) -> int:
    def say(line: str) -> None:
        print(line, flush=True)
        if results is not None:
            with results.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    began, clean = time.monotonic(), folder / "clean"
    shutil.copytree(PACKAGE, clean / "tukeydp", ignore=shutil.ignore_patterns("__pycache__"))
    tests = _unique(test for m in chosen for test in m.tests)
    say(f"{len(chosen)} mutants. Their {len(tests)} tests without any of them: minutes, for the whole list ...")
    without = runners[0].tested(clean, tests, _PATIENCE_WITH_ALL)
    if without.code != 0:
        say(f"{without.output}\nTests fail (pytest's code {without.code}) without a mutant.")
        return 1
    say(f"pass in {without.seconds:.0f} s.\n")
    free: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    for runner in runners:
        free.put(runner)

    def tried(mutant: Mutant) -> Tested:
        runner = free.get()
        try:
            return _tried(mutant, clean, runner)
        finally:
            free.put(runner)

    survivors, taken = [], []
    with ThreadPoolExecutor(len(runners)) as pool:
        for place, (mutant, found) in enumerate(zip(chosen, pool.map(tried, chosen), strict=True), 1):
            say(f"{place:4}/{len(chosen)} {found.word:8} {found.seconds:4.0f} s  {mutant.file:34} {mutant.name}")
            taken.append((found.seconds, mutant))
            if found.word != "caught":
                survivors.append((mutant, found))
    for mutant, found in survivors:
        say(f"\n{mutant.name}: {found.word}\n{', '.join(mutant.tests)}\n{found.output[-2000:]}")
    say("\nThe slowest:")
    for seconds, mutant in sorted(taken, key=lambda one: -one[0])[:_SLOWEST]:
        say(f"{seconds:5.1f} s  {mutant.file:34} {mutant.name}")
    minutes = (time.monotonic() - began) / 60
    say(f"\n{len(chosen) - len(survivors)} of {len(chosen)} mutants caught, in {minutes:.1f} minutes.")
    return 1 if survivors else 0


def _tried(mutant: Mutant, clean: Path, runner: Runner) -> Tested:
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        source = Path(folder)
        # Links: Python and numba replace the files that they keep, and write into none.
        shutil.copytree(clean / "tukeydp", source / "tukeydp", copy_function=os.link)
        changed = source / "tukeydp" / mutant.file
        changed.unlink()
        changed.write_text(mutant.applied(), encoding="utf-8")
        return runner.tested(source, mutant.tests)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


if __name__ == "__main__":
    sys.exit(main())
