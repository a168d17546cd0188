"""`tukeydp summary`: files with a column of keys, reports, and what is refused before anything is spent."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tukeydp as td
from tukeydp.cli import app

COMMON = ["--columns", "pressure,smoker", "--epsilon", "2", "--bounds", "pressure=60,240", "--bounds", "smoker=0,1"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    arm = rng.choice(["A", "B", "", ' "quoted" '], 900, p=[0.45, 0.45, 0.05, 0.05])
    return pd.DataFrame({"pressure": rng.normal(128, 16, 900), "arm": arm, "smoker": rng.integers(0, 2, 900)})


@pytest.fixture
def files(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "semicolon.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(tmp_path / "t.parquet")
    return tmp_path


def run(*arguments, **more):
    return CliRunner().invoke(app, ["summary", *map(str, arguments)], **more)


def groups(*arguments, **more):
    result = run(*arguments, *COMMON, "--by", "arm", "--keys", "A,B", "--seed", "3", "--no-check", "--json", **more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["lines"]


def test_the_same_groups_from_every_file(files):
    expected = groups(files / "t.csv")
    assert [line["group"] for line in expected] == ["A", "B", "A", "B"]
    assert 300 < expected[0]["n"] < 480
    assert groups(files / "t.parquet") == expected
    assert groups(files / "semicolon.csv", "--separator", ";", "--decimal", ",") == expected
    assert groups("-", input=(files / "t.csv").read_bytes()) == expected


def test_keys_that_are_numbers(tmp_path, frame):
    frame.assign(arm=np.where(frame.arm == "A", "01", "2")).to_csv(tmp_path / "n.csv", index=False)
    lines = run(tmp_path / "n.csv", *COMMON, "--by", "arm", "--keys", "1,2", "--seed", "3", "--json").stdout
    assert all(line["n"] > 300 for line in json.loads(lines)["lines"])


def test_groups_go_by_their_codes_or_by_what_a_dictionary_calls_them(tmp_path, frame):
    """In files of statistics packages cells are codes: whoever types what these are called must not spend in vain."""
    frame.assign(arm=np.where(frame.arm == "A", 1, 2)).to_csv(tmp_path / "n.csv", index=False)
    (tmp_path / "d.csv").write_text('column,categories\narm,"1, Drug | 2, Placebo"\n', encoding="utf-8")
    options = ("--by", "arm", "--dictionary", tmp_path / "d.csv", "--seed", "3", "--json")
    by_code, by_name, by_all = (
        run(tmp_path / "n.csv", *COMMON, *options, *keys).stdout
        for keys in (("--keys", "1,2"), ("--keys", "Drug,Placebo"), ())
    )
    assert by_code == by_name == by_all
    assert all(line["n"] > 300 for line in json.loads(by_name)["lines"])


def test_reports_by_their_endings(files):
    targets = [
        files / f"table.{kind}"
        for kind in ("html", "md", "csv", "tex", "json", "png", "svg", "docx", "xlsx", "ard.csv")
    ]
    arguments = [part for target in targets for part in ("--out", target)]
    result = run(files / "t.csv", *COMMON, "--by", "arm", "--keys", "A,B", "--seed", "3", *arguments)
    assert result.exit_code == 0, result.output
    assert all(target.stat().st_size > 200 for target in targets)
    assert targets[0].read_text().startswith("<!DOCTYPE html>")
    assert not list(files.glob(".*"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--by", "arm"], "keys must be given with by="),
        (["--keys", "A"], "by must be given with keys"),
        (["--by", "pressure", "--keys", "A"], "by must not be one of the columns"),
        (["--out", "table.doc"], "out must end in .html"),
        (["--by", "arms", "--keys", "A"], "columns must name columns of the header"),
        (["--confidence", "2"], "confidence must be from 0.5 to 0.99"),
        (["--depth", "exact"], "it belongs to `tukeydp centre`"),
    ],
)
def test_bad_parameters_are_told(files, more, message):
    result = run(files / "t.csv", *COMMON, *more)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_without_groups_and_without_intervals(files):
    result = run(files / "t.csv", *COMMON, "--confidence", "none", "--seed", "1")
    assert result.exit_code == 0
    assert "interval" not in result.stdout.splitlines()[2]
    assert "Summary of 900 rows, released with differential privacy" in result.stdout


@pytest.mark.parametrize("by", [(), ("--by", "arm", "--keys", "A,B")])
def test_text_is_checked_first_and_a_misread_file_stops_the_run(files, by):
    """Decimal commas that were not declared: the run stops, for a twentieth of epsilon, and no picture is written."""
    wrong = (files / "semicolon.csv", "--separator", ";", *COMMON, *by, "--seed", "3")
    report, picture = files / "r.json", files / "r.png"
    result = run(*wrong, "--out", report, "--out", picture)
    assert result.exit_code == 3, result.output
    assert "--decimal" in result.stdout
    told = json.loads(report.read_text())
    assert (told["mechanism"], told["guarantee"]["epsilon"], told["n"]) == ("readable-check", 0.1, 900)
    assert not picture.exists()
    assert json.loads(run(*wrong, "--json").stdout)["released"] is False
    assert run(*wrong, "--no-check").exit_code == 0


def test_the_check_is_paid_for_and_said_in_the_footnote(files):
    found = json.loads(run(files / "t.csv", *COMMON, "--seed", "3", "--json").stdout)
    assert found["guarantee"]["epsilon"] == 2
    assert found["settings"]["epsilon_check"] == "0.1"
    spent = ("check", "centre", "radii", "missing", "squares", "mean")
    assert sum(Fraction(found["settings"][f"epsilon_{part}"]) for part in spent) == 2
    assert any(note.startswith("Checked first, for epsilon = 0.1") for note in found["details"])
    without = json.loads(run(files / "t.csv", *COMMON, "--seed", "3", "--json", "--no-check").stdout)
    assert "epsilon_check" not in without["settings"]
    binary = json.loads(run(files / "t.parquet", *COMMON, "--seed", "3", "--json").stdout)
    assert binary["lines"] == without["lines"]


def test_a_ledger_pays_for_check_and_table_in_one_entry(files):
    ledger = files / "study.db"
    account = td.Accountant.open(ledger, epsilon=2)
    result = run(files / "t.csv", *COMMON, "--seed", "3", "--ledger", ledger)
    assert result.exit_code == 0, result.output
    (entry,) = account.history
    assert (entry.mechanism, entry.parameters["epsilon_check"], account.totals.epsilon) == ("summary", "1/10", 2)
    assert run(files / "t.csv", *COMMON, "--seed", "3", "--ledger", ledger).exit_code == 2
