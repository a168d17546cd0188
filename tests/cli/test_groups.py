"""`tukeydp mean` and `tukeydp centre` with `--by`: the same groups from every file, reports, exit codes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tukeydp.cli import app

ASKED = ["--columns", "pressure", "--epsilon", "2", "--bounds", "60,240", "--seed", "3"]
QUICK = ["--mechanism", "cube"]  # no accuracy to rehearse


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, place = np.random.default_rng(2), tmp_path_factory.mktemp("groups")
    arm = rng.choice(["A", "B, C", ""], 900, p=[0.45, 0.45, 0.1])
    frame = pd.DataFrame({"pressure": rng.normal(128, 16, 900) + 30 * (arm == "A"), "arm": arm})
    frame.to_csv(place / "t.csv", index=False)
    frame.to_parquet(place / "t.parquet")
    frame.assign(pressure="about 120").to_csv(place / "words.csv", index=False)
    (place / "keys.txt").write_text("A\n\n  B, C \n", encoding="utf-8")
    return place


def run(command, file, *more):
    return CliRunner().invoke(app, [command, str(file), *ASKED, "--by", "arm", *map(str, more)])


@pytest.mark.parametrize("command", ["mean", "centre"])
def test_groups_from_a_text_file_a_binary_file_and_a_file_of_keys(folder, command):
    found = []
    for file, keys in (
        ("t.csv", ["--keys", "A", "--keys", "B, C", "--no-check"]),
        ("t.csv", ["--keys-file", folder / "keys.txt", "--no-check"]),
        ("t.parquet", ["--keys-file", folder / "keys.txt", "--no-check"]),
    ):
        result = run(command, folder / file, *keys, "--json")
        assert result.exit_code == 0, result.output
        found.append(json.loads(result.stdout))
    assert found[0] == found[1] == found[2]
    assert found[0]["keys"] == ["A", "B, C"]
    assert abs(found[0]["groups"]["A"]["point"][0] - 158) < 5
    assert abs(found[0]["groups"]["B, C"]["point"][0] - 128) < 5


def test_the_terminal_says_what_it_cost_and_that_sizes_are_secret(folder):
    result = run("mean", folder / "t.csv", "--keys", "A,B", "--counts", "0.1", "--allow-unlisted", "0.8", *QUICK)
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    for said in ("SEEDED REHEARSAL", "all groups together", "secret but for the noised number", "Checked first"):
        assert said in words


def test_reports_by_their_endings(folder):
    targets = [folder / f"groups.{kind}" for kind in ("html", "md", "csv", "json")]
    outs = [part for target in targets for part in ("--out", target)]
    result = run("mean", folder / "t.csv", "--keys-file", folder / "keys.txt", *outs, *QUICK)
    assert result.exit_code == 0, result.output
    page, text, table, told = (target.read_text(encoding="utf-8") for target in targets)
    assert page.startswith("<!DOCTYPE html>")
    assert "NOT PRIVATE" in page
    assert "| A |" in text
    assert table.splitlines()[0] == "arm,pressure,epsilon,mechanism,private"
    assert json.loads(told)["guarantee"]["epsilon"] == 2


def test_a_file_of_words_stops_the_run(folder):
    result = run("mean", folder / "words.csv", "--keys", "A,B")
    assert result.exit_code == 3
    assert "Stopped before the release" in result.stdout


def test_a_ledger_pays_once(folder):
    ledger = folder / "study.db"
    CliRunner().invoke(app, ["ledger", "create", str(ledger), "--epsilon", "3"])
    asked = ("--keys", "A,B", "--allow-unlisted", "1", "--ledger", ledger, "--json")
    assert run("mean", folder / "t.csv", *asked).exit_code == 0
    again = run("mean", folder / "t.csv", *asked)
    assert again.exit_code == 2
    assert "at most 1, what the accountant has left" in again.output
