"""Ctrl-C at any moment: standard output is empty or complete, files are absent or complete, the ledger has the entry.

A run with a report and a ledger is interrupted by a signal that the process sends itself when it enters the k-th
function of this package: so any moment can be hit, on machines of any speed. One process is started, and forks a child
for each moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

# For each moment k (0: none) a folder with out, err, code, and what the command left; `entered` counts the calls.
SCRIPT = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
import tukeydp as td, tukeydp.cli
from tukeydp.data.files import read_file
from tukeydp.mechanisms import readable_check
readable_check.noised_whole = lambda counts, charge: list(counts)    # its words depend on its noise; runs have no seed
base, count, asked = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
read_file(asked[1], ["a", "b"])                               # compiled code is loaded once, for all children

def child(folder, at):
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    entered = 0
    def entering(frame, event, _):
        nonlocal entered
        if event == "call" and "tukeydp" in frame.f_code.co_filename:
            entered += 1
            if entered == at:
                os.kill(os.getpid(), signal.SIGINT)
    sys.argv = ["tukeydp", *asked, f"--out={folder / 'left' / 'r.html'}", f"--ledger={folder / 'left' / 'study.db'}"]
    sys.setprofile(entering)
    code = 1
    try:
        tukeydp.cli.main()
    except SystemExit as stopped:
        code = stopped.code or 0
    except KeyboardInterrupt:  # before the command line's own handler is there
        code = 130
    finally:
        sys.setprofile(None)
        sys.stdout.flush()
        (folder / "entered").write_text(str(entered))
        os._exit(code)

def run(at):
    folder = base / str(at)
    (folder / "left").mkdir(parents=True)
    td.Accountant.open(folder / "left" / "study.db", epsilon=10)
    pid = os.fork()
    if pid == 0:
        child(folder, at)
    (folder / "code").write_text(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))

run(0)
total = int((base / "0" / "entered").read_text())
# Spread over the run by chance, with a fixed seed, early moments more often: most calls are made for printing. And
# densely where it prints and writes.
spread = (total ** np.random.default_rng(17).random(count // 2)).astype(int).tolist()
late = np.linspace(0.6 * total, total, count // 2, dtype=int).tolist()
for at in sorted({*spread, *late}):
    run(at)
"""
TABLE = np.random.default_rng(0).normal(size=(300, 2))
CELL = str(TABLE[0, 0])[:7]
INTERRUPTED = 130  # what a shell says of a command ended by Ctrl-C


@dataclass(frozen=True)
class Left:
    """What one run printed and left behind."""

    folder: Path

    def text(self, name):
        return (self.folder / name).read_text()

    @property
    def code(self):
        return int(self.text("code"))

    @property
    def files(self):
        return {path.name for path in (self.folder / "left").iterdir()}

    @property
    def spent(self):
        with sqlite3.connect(self.folder / "left" / "study.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        return td.Accountant.open(self.folder / "left" / "study.db").totals.count


@pytest.fixture
def runs(tmp_path):
    """Runs of one command: undisturbed, and interrupted at so many moments."""
    path = tmp_path / "t.csv"
    rows = [f"{a},{b},{'AB'[i % 2]}" for i, (a, b) in enumerate(TABLE.tolist())]
    path.write_text("\n".join(["a,b,arm", *rows, ""]))

    def call(count, command):
        base = tmp_path / "runs"
        asked = [command[0], path, "--columns=a,b", "--epsilon=1", "--bounds=-10,10", *command[1:]]
        words = [sys.executable, "-W", "ignore", "-c", SCRIPT, base, count, *asked]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=1800)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        whole, *stopped = (Left(base / str(at)) for at in sorted(int(folder.name) for folder in base.iterdir()))
        return whole, stopped

    return call


def _of_any_release(line):
    """Which deviations are rough follows from what was released, which differs between the two."""
    return line[:1].isalpha() and not line.startswith("Rough SDs")


def check(left, whole):
    """All or nothing, of each: words, report, entry; and nothing printed or written that was not paid for."""
    assert left.code in (0, INTERRUPTED), left.text("err")
    # Python says so itself where an interrupt meets a finalizer, and goes on; with lines of code, and no value.
    assert left.text("err") in ("", "Aborted.\n", "Aborted!\n") or "Exception ignored" in left.text("err")
    assert CELL not in left.text("err")
    assert left.files <= {"r.html", "study.db"}
    printed, written, spent = left.text("out") != "", "r.html" in left.files, left.spent
    assert spent in (0, 1)
    assert not (printed or written) or spent == 1
    # Once something is printed, all of it is, and the report too: the release has cost its budget.
    assert printed == written
    if printed:
        # Up to the names of files, which are longer in one of the two and break lines elsewhere.
        first_words = [
            [line.split()[0] for line in each.text("out").partition("Wrote")[0].splitlines() if _of_any_release(line)]
            for each in (left, whole)
        ]
        assert first_words[0] == first_words[1]
        assert ("Wrote" in left.text("out")) == ("Wrote" in whole.text("out"))
        assert (left.folder / "left" / "r.html").read_text().rstrip().endswith("</html>")


COMMANDS = {
    "mean": ("mean", "--mechanism=cube"),
    "mean as JSON": ("mean", "--mechanism=cube", "--json"),
    "summary": ("summary", "--by=arm", "--keys=A,B"),
}
FEW, MANY = 4, 60  # moments


@pytest.mark.parametrize(
    ("command", "count"),
    [("mean", FEW), *(pytest.param(name, MANY, marks=pytest.mark.slow) for name in COMMANDS)],
)
def test_all_or_nothing(runs, command, count):
    whole, stopped = runs(count, COMMANDS[command])
    assert (whole.code, whole.spent) == (0, 1)
    for left in stopped:
        check(left, whole)
        if command.endswith("JSON") and left.text("out"):
            assert len(json.loads(left.text("out"))["point"]) == 2
    # The moments hit both sides: before anything was printed, and after.
    assert {left.text("out") == "" for left in stopped} == {True, False}
    assert sum(left.code == INTERRUPTED for left in stopped) > len(stopped) // 2


def test_python_gets_the_interrupt_and_no_value():
    code = (
        "import os, signal, sys, numpy as np, tukeydp as td\n"
        "from tukeydp.trusted.exponential import Search\n"
        "real = Search.run\n"
        "def run(*a):\n    os.kill(os.getpid(), signal.SIGINT)\n    return real(*a)\n"
        "Search.run = run\n"
        "try:\n    print(td.boxem(np.zeros((9, 1)), epsilon=1, bounds=(0, 1)))\n"
        "except KeyboardInterrupt:\n    sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
