"""Files that differ in one record, through the commands: the same words and the same exit code, but for the release."""

from __future__ import annotations

import io
import json
import os
import re
import sys

import numpy as np
import pytest

from support import leaks, messy
from support.leaks import WRITING
from tukeydp.cli import main

SECRET = "4711.815162"
# One record of a file with 300: what a person may have typed, or a program written.
RECORDS = {
    "plain": f"{SECRET},1",
    "missing": ",",
    "a word for no value": "NA,null",
    "text": "secret-4711,x",
    "infinities": "inf,-inf",
    "huge": "1e308,-1e308",
    "beyond all floats": "1e999,-1e999",
    "tiny": "5e-324,-5e-324",
    "many digits": "0." + "4711" * 200 + ",1",
    "too few cells": SECRET,
    "too many cells": f"{SECRET},1,2,3",
    "quotes": f'"{SECRET}","say ""no"""',
    "odd bytes": "\udcff\udcfe4711,1",
    "a nul": f"\0{SECRET},1",
    "a duplicate": "0.25,0.5",
}
COMMANDS = {
    "mean": ("mean", "--bounds=-10,10"),
    "subset": ("mean", "--bounds=-10,10", "--mechanism=subset"),
    "two-step": ("mean", "--bounds=-10,10", "--mechanism=two-step"),
    "cube": ("mean", "--bounds=-10,10", "--mechanism=cube"),
    "no check": ("mean", "--bounds=-10,10", "--no-check"),
    "without bounds": ("mean", "--delta=1e-6"),
    "gaussian": ("mean", "--bounds=-10,10", "--delta=1e-6", "--mechanism=analytic-gaussian"),
    "centre": ("centre", "--bounds=-10,10"),
    "rem": ("centre", "--mechanism=rem", "--delta=1e-6"),
    "interval": ("mean", "--bounds=-10,10", "--sd=1", "--confidence=0.95"),
    "summary": ("summary", "--bounds=-10,10", "--confidence=none"),
    "summary by group": ("summary", "--bounds=-10,10", "--by=c", "--keys=A,B"),
}
# In every run of the tests; the others in the long one.
OFTEN = ("mean", "rem", "interval", "summary by group")
MISTAKES = {
    "a column that is not there": ("mean", "--bounds=-10,10", "--columns=a,age"),
    "bounds the wrong way round": ("mean", "--bounds=10,-10"),
    "no bounds": ("mean",),
    "too many blocks": ("mean", "--bounds=-10,10", "--mechanism=subset", "--blocks=1000"),
    "a decimal mark of two letters": ("mean", "--bounds=-10,10", "--decimal=.."),
    "more lines skipped than there are": ("mean", "--bounds=-10,10", "--skip=1000"),
    "an interval of block means": ("mean", "--bounds=-10,10", "--confidence=0.95", "--mechanism=subset"),
    "no keys": ("summary", "--bounds=-10,10", "--by=c"),
    "keys that are the same": ("summary", "--bounds=-10,10", "--by=c", "--keys=A,A"),
    "a picture of another kind": ("summary", "--bounds=-10,10", "--out=table.gif"),
}


def lines(record):
    rows = [f"{a!r},{b!r}" for a, b in np.random.default_rng(0).normal(size=(300, 2)).tolist()]
    rows[150] = record
    # The key of a group stands first, so that records with too few or too many cells have one.
    keyed = [f"{'ABC'[i % 3]},{row}" for i, row in enumerate(rows)]
    return "\n".join(["c,a,b", *keyed, ""]).encode("utf-8", "surrogateescape")


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Everything a command shows: exit code, output, complaints, files that it opened for writing."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.csv"

    def call(content, command, *more):
        path.write_bytes(content)
        arguments = [command[0], str(path), "--epsilon=1", "--seed=3", *command[1:], *more]
        if not any(a.startswith("--columns") for a in arguments):
            arguments.append("--columns=a,b")
        monkeypatch.setattr(sys, "argv", ["tukeydp", *arguments])
        written = []
        with WRITING.into(written), pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        # Where standard output is a pipe, asking whether it is a terminal opens nothing; null devices hold nothing.
        return stopped.value.code or 0, out, err, [name for name in written if os.devnull not in name]

    call(lines("1,2"), COMMANDS["centre"])
    return call


# And which deviations are said to be rough.
NUMBERS_RELEASED = re.compile(
    r"""(<p>|")?Rough SDs, [^<"\n]*?\d\.(?=[\s<"\\]|$)(</p>|",)?|[#-]?[\d.]+(e[+-]\d+)?|\s+"""
)


def without_the_release(out):
    """A JSON object but for what was paid for: the point, and the noisy counts of the check."""
    told = json.loads(out)
    for name in ("point", "released", "interval", "lines", "overall", "sizes"):
        told.pop(name, None)
    for name in ("unreadable_cells", "fewest_values", "rows_unlisted"):
        told["settings"].pop(name, None)
    for words in ("caveats", "footnote", "details"):
        # Why a cell of a summary is a dash, and which deviations are rough, follows from what was released.
        said = [re.sub(r"(about|more than) \d+( \(\d+ %\))?", r"\1 ...", text) for text in told.pop(words, ())]
        told[words] = [text for text in said if not text.startswith(("\u2013", "Rough SDs"))]
    return told


@pytest.mark.parametrize(
    "command", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_neighbouring_files_are_told_apart_by_the_release_alone(run, command):
    expected = run(lines("1,2"), COMMANDS[command], "--json")
    for name, record in RECORDS.items():
        code, out, err, written = run(lines(record), COMMANDS[command], "--json")
        assert (code in (0, 3), err, written) == (True, "", []), name
        assert without_the_release(out) == without_the_release(expected[1]), name
        assert SECRET not in out


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_alike(run, mistake):
    expected = run(lines("1,2"), MISTAKES[mistake])
    assert (expected[0], expected[1]) == (2, "")
    for name in list(RECORDS)[::3]:
        assert run(lines(RECORDS[name]), MISTAKES[mistake]) == expected, name


# The key of one record, in a file whose other keys are A, B and C.
KEYS = {
    "another group": "B",
    "not listed": "secret-4711",
    "none": "",
    "a number": SECRET,
    "the number that stands for a key inside": repr(-1.5 * 2.0**1023),
    "quotes": '"A"',
    "odd bytes": "\udcff\udcfe",
    "very long": "A" * 10_000,
}


def test_neighbouring_keys_are_told_apart_by_the_release_alone(run):
    plain = lines("1,2").decode("utf-8", "surrogateescape").split("\n")
    expected = run(lines("1,2"), COMMANDS["summary by group"], "--json")
    for name, key in KEYS.items():
        other = [*plain[:151], f"{key},1,2", *plain[152:]]
        content = "\n".join(other).encode("utf-8", "surrogateescape")
        code, out, err, written = run(content, COMMANDS["summary by group"], "--json")
        assert (code, err, written) == (0, "", []), name
        assert without_the_release(out) == without_the_release(expected[1]), name
        assert "4711" not in out


def test_words_differ_in_numbers_of_the_release_only(run):
    """The text for people, with every number taken out."""

    def words(record):
        code, out, err, written = run(lines(record), COMMANDS["cube"])
        return code, re.sub(r"-?\d[\d.e+-]*", "#", re.sub(r" +|\n", " ", out)), err, written

    expected = words("1,2")
    for name, record in RECORDS.items():
        assert words(record) == expected, name


REPORTED = {
    "mean": (("mean", "--bounds=-10,10", "--mechanism=cube"), ("html", "md", "csv", "json")),
    "summary": (
        ("summary", "--bounds=-10,10", "--by=c", "--keys=A,B"),
        ("html", "md", "csv", "tex", "json", "svg"),
    ),
}


@pytest.mark.parametrize("command", REPORTED)
def test_reports_hold_no_cell_and_differ_in_numbers_of_the_release_only(run, command, tmp_path, monkeypatch):
    """Every kind of file that --out writes; and nothing is left beside them."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # pictures have the time in them
    asked, kinds = REPORTED[command]
    targets = {kind: tmp_path / f"report.{kind}" for kind in kinds}
    kept = []
    for record in ("1,2", RECORDS["plain"], RECORDS["text"]):
        code, out, err, _ = run(lines(record), asked, *(f"--out={target}" for target in targets.values()))
        assert (code, err) == (0, "")
        files = {kind: target.read_text() for kind, target in targets.items()}
        assert not [kind for kind, text in files.items() if SECRET in text or "secret-4711" in text]
        assert SECRET not in out
        kept.append({kind: NUMBERS_RELEASED.sub("", text) for kind, text in files.items() if kind != "svg"})
        assert {path.name for path in tmp_path.iterdir()} == {"t.csv", *(target.name for target in targets.values())}
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_other_formats(kind, capfd, monkeypatch, tmp_path):
    import pandas as pd

    shown = []
    odd = [[None, "secret-4711"], ["inf", True], [1e308, -5e-324]] if kind == "xlsx" else [[np.nan, 1], [np.inf, 1e308]]
    for row in [[1.0, 2.0], *odd]:
        rows = leaks.table().tolist()
        rows[0] = row
        path = tmp_path / f"t.{kind}"
        if kind == "xlsx":
            path.write_bytes(messy.workbook(("s", [["a", "b"], *rows])))
        else:
            out = io.BytesIO()
            pd.DataFrame(np.array(rows, dtype=float), columns=["a", "b"]).to_parquet(out)
            path.write_bytes(out.getvalue())
        arguments = ["mean", str(path), "--epsilon=1", "--seed=3", "--columns=a,b", "--bounds=-10,10", "--json"]
        monkeypatch.setattr(sys, "argv", ["tukeydp", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        told, err = capfd.readouterr()
        shown.append((stopped.value.code or 0, without_the_release(told), err))
    assert all(each == shown[0] for each in shown)


def test_an_unexpected_error_is_told_by_its_type_alone(run, monkeypatch):
    """And with a traceback that may show data only where it was asked for."""

    def fails(*_, **__):
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("tukeydp.mechanisms.planned.planned_release", fails)
    monkeypatch.setattr("tukeydp.mechanisms.mean.planned_release", fails)
    code, out, err, _ = run(lines(RECORDS["plain"]), COMMANDS["mean"])
    assert (code, out) == (1, "")
    assert "ZeroDivisionError" in err
    assert SECRET not in err
    assert "Traceback" not in err
