"""Tables that are wider than the terminal: in blocks of columns, each with what names the rows, and nothing cut."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import tukeydp as td
from test_house import SOURCE
from tukeydp.cli import words
from tukeydp.results.summary_result import table as summary_table
from tukeydp.results.views import Shown, blocks, lines, places, shown, shown_groups

NAMES = [f"measurement {j}" for j in range(12)]
KEYS = ["north", "south", "the ward beyond the river"]


@pytest.fixture(scope="module")
def tables():
    x = np.random.default_rng(1).random((300, 12))
    ends = {"epsilon": 1, "bounds": (0, 1), "randomness": td.seeded(1)}
    named = td.data.tables.Table(x, tuple(NAMES))
    groups = {"by": [KEYS[i % 3] for i in range(300)], "keys": KEYS}
    long = td.data.tables.Table(x[:, :2], ("systolic blood pressure, sitting, left arm", "nights"))
    release = td.mean(long, mechanism="cube", confidence=0.9, **ends)
    return {
        "by group": shown_groups(td.mean(named, **groups, **ends)),
        "columns": shown(release, release.quick_error),
        "quantiles": td.quantiles(named, **ends).shown(),
        "counts": td.counts(x, (0, 1), edges={0: [0, "0.5", 1], 1: [0, "0.5", 1]}, **groups, epsilon=1).shown(),
        "summary": summary_table(td.summary(named, **groups, **ends)),
        "no blanks": Shown(["key", "a" * 90, "b"], [["k" * 50, "1.5", "-2"], ["\u8840" * 30, "2", "3"]], ("key",)),
    }  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_every_cell_is_shown_beside_the_name_of_its_row(tables, width):
    for name, table in tables.items():
        found = blocks(table, width)
        assert all(places(line) <= width for line in lines(table, width)), name
        text = re.sub(r"\s", "", "".join(line for block in found for line in (*block.header, *block.rows)))
        for row in table.rows:
            for cell in row[table.keys :]:
                assert re.sub(r"\s", "", cell) in text or len(cell.split()) > 1, (name, cell)
        for block in found:  # every row begins with its own name, or with the first piece of it
            assert all(any(line.startswith(row[0][:4]) for line in block.rows) for row in table.rows), name
            assert any(line.startswith(table.header[0][:4]) for line in block.header), name


def test_numbers_stay_whole_and_all_columns_are_there(tables):
    table = tables["by group"]
    for width in (40, 60, 80, 200, None):
        said = "\n".join(lines(table, width))
        for row in table.rows:
            assert all(said.split().count(cell) >= 1 for cell in row[1:])
        assert all(name in re.sub(r"\s+", " ", said) for name in NAMES)
    assert len(blocks(table, None)) == 1
    assert len(blocks(table, 80)) > 1


def test_a_narrow_table_is_as_it_was(tables):
    small = Shown(["column", "released"], [["age", "61"], ["weight", "75.5"]])
    assert lines(small) == ["column  released", "age           61", "weight      75.5"]
    assert lines(small, 16) == lines(small)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_on_a_terminal_of_any_width(tables, monkeypatch, width):
    out = io.StringIO()
    terminal = Console(file=out, width=width, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(words, "console", lambda **_: terminal)
    words.print_table(tables["by group"])
    assert out.getvalue().splitlines() == lines(tables["by group"], width)


ASKED = """
import sys
from tukeydp.cli import main
names = ",".join(f"measurement {j}" for j in range(12))
sys.argv = ["tukeydp", "mean", sys.argv[1], "--columns", names, "--by", "ward", "--keys", "north,south",
            "--epsilon", "1", "--bounds=0,1", "--mechanism", "cube", "--seed", "1", "--no-check"]
main()
"""


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "t.csv"
    cells = np.random.default_rng(1).random((200, 12)).round(3).tolist()
    rows = [",".join(map(str, [*row, ("north", "south")[i % 2]])) for i, row in enumerate(cells)]
    path.write_text(",".join([*NAMES, "ward"]) + "\n" + "\n".join(rows) + "\n")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "NO_COLOR": "1", "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    return [sys.executable, "-c", ASKED, str(path)], environment


def test_mean_by_groups_with_twelve_columns_keeps_its_keys_on_a_terminal_of_80(asked):
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    command, environment = asked
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    with subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        said = b""
        while block := _read(ours):
            said += block
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m", "", said.decode()).replace("\r", "")
    rows = [line for line in text.splitlines() if re.match(r"(north|south)  ", line)]
    assert len(rows) == 2 * text.count("\nward")
    assert len(rows) > 2
    assert sum(len(row.split()) - 1 for row in rows) == 24  # all numbers
    assert all(name in text for name in NAMES)
    assert all(len(line) <= 80 for line in rows)


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that nobody has it open any more
        return b""


def test_into_a_pipe_it_is_one_table(asked):
    command, environment = asked
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if re.match(r"(north|south)  ", line)]
    assert [len(row) for row in rows] == [13, 13]
