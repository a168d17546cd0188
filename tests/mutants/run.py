"""Put each mutant into a copy of the package, run its tests, and say which mutants no test noticed.

    PYTHONPATH=tests python -m mutants.run [--processes 2] [words of a name ...]

Exit code 1 if a mutant survives, or if a test fails without any. The tests are those of the working tree; only the
package is copied, with numba's compiled code, so that nothing but the mutated file is compiled again.
"""

from __future__ import annotations

import argparse
import os
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

# Seconds: a test that takes so long hangs. That is no verdict, since a hang may have other causes: choose another bug.
_PATIENCE = 300
_FAILED = 1  # pytest's exit code for failing tests; others mean that nothing was tested


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: "caught", or what is wrong."""

    mutant: Mutant
    word: str
    seconds: float
    output: str


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants whose names contain one of these")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    chosen = [m for m in MUTANTS if not options.words or any(word in m.name for word in options.words)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        clean = Path(folder) / "clean"
        shutil.copytree(PACKAGE, clean / "tukeydp", ignore=shutil.ignore_patterns("__pycache__"))
        print(f"{len(chosen)} mutants. Their tests without any of them ...", flush=True)
        code, output, seconds = _tested(clean, _unique(test for m in chosen for test in m.tests))
        if code:
            print(output, f"\nTests fail (pytest's code {code}) without a mutant.", sep="")
            return 1
        print(f"pass in {seconds:.0f} s.\n", flush=True)
        survivors = _all_tried(chosen, clean, options.processes)
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} mutants caught.")
    for verdict in survivors:
        print(f"\n{verdict.mutant.name}: {verdict.word}\n{verdict.output[-2000:]}")
    return 1 if survivors else 0


def _all_tried(chosen: Sequence[Mutant], clean: Path, processes: int) -> list[Verdict]:
    """A line for each mutant; those that were not caught."""
    survivors = []
    with ThreadPoolExecutor(processes) as pool:
        for verdict in pool.map(lambda mutant: _tried(mutant, clean), chosen):
            mutant = verdict.mutant
            print(f"{verdict.word:9} {verdict.seconds:4.0f} s  {mutant.file:34} {mutant.name}", flush=True)
            if verdict.word != "caught":
                survivors.append(verdict)
    return survivors


def _tried(mutant: Mutant, clean: Path) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        source = Path(folder)
        # With times of change, by which numba and Python know their compiled code again.
        shutil.copytree(clean / "tukeydp", source / "tukeydp")
        target = source / "tukeydp" / mutant.file
        target.write_text(mutant.applied(), encoding="utf-8")
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*"):
            compiled.unlink()
        code, output, seconds = _tested(source, mutant.tests)
    words = {0: "SURVIVED", _FAILED: "caught", None: "HANGS"}
    return Verdict(mutant, words.get(code, "BROKEN"), seconds, output)


def _tested(source: Path, tests: Sequence[str]) -> tuple[int | None, str, float]:
    """pytest's exit code, None if it took too long; what it said; how long it took."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-o", f"pythonpath=tests {source}", *tests]
    # For processes that tests start; one thread each, because several mutants run at a time.
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE * (1 + len(tests) // 9),
        )
    except subprocess.TimeoutExpired:
        return None, "took too long", time.monotonic() - began
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


if __name__ == "__main__":
    sys.exit(main())
