"""`tukeydp quantiles` and `--person`: files, reports, ledgers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tukeydp.cli import app

ASKED = ["--columns", "pulse", "--epsilon", "2", "--bounds", "30,220", "--seed", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, place = np.random.default_rng(4), tmp_path_factory.mktemp("quantiles")
    ids = rng.permutation(np.repeat(np.arange(400), rng.integers(1, 4, 400)))
    texts = [f"0{i}" if i else "" for i in ids]  # the first has no id, all others one with a zero in front
    frame = pd.DataFrame({"patient": texts, "pulse": rng.normal(70, 10, len(ids)).round(1)})
    frame["arm"] = np.where(ids % 2, "A", "B")
    frame.to_csv(place / "t.csv", index=False)
    frame.to_parquet(place / "t.parquet")
    return place


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


def test_quantiles_of_a_file_with_reports(folder):
    targets = [folder / f"q.{kind}" for kind in ("html", "md", "csv", "json")]
    outs = [part for target in targets for part in ("--out", target)]
    result = run("quantiles", folder / "t.csv", *ASKED, "--q", "0.9,0.5", *outs)
    assert result.exit_code == 0, result.output
    page, text, table, told = (target.read_text(encoding="utf-8") for target in targets)
    assert page.startswith("<!DOCTYPE html>")
    assert "| 0.5 |" in text
    assert [line.split(",")[0] for line in table.splitlines()] == ["quantile", "0.5", "0.9"]
    found = json.loads(told)["quantiles"]
    assert abs(found["0.5"][0] - 70) < 5
    assert abs(found["0.9"][0] - 83) < 8


def test_accuracy_cliff_and_ties_are_told_everywhere(folder):
    """From public numbers: on the terminal, on pages, and with --verbose in JSON."""
    targets = [folder / f"told.{kind}" for kind in ("html", "md", "json")]
    outs = [part for target in targets for part in ("--out", target)]
    result = run("quantiles", folder / "t.csv", *ASKED, "--sd", "10", *outs)
    assert result.exit_code == 0, result.output
    page, text, told = (target.read_text(encoding="utf-8") for target in targets)
    for said in (" ".join(result.stdout.split()), page, text):
        assert "Half of the released values are within" in said
        assert "In the columns" in said
        assert "Bounds may be up to" in said
        assert "where the rank asked for lies more than about" in said
    assert any("Bounds may be up to" in caveat for caveat in json.loads(told)["caveats"])
    verbose = run("quantiles", folder / "t.csv", *ASKED, "--json", "--verbose")
    assert json.loads(verbose.stdout)["expected_error"]["estimand"] == "quantiles"


def test_a_ledger_pays_for_quantiles(folder):
    ledger = folder / "q.db"
    assert run("ledger", "create", ledger, "--epsilon", "3").exit_code == 0
    assert run("quantiles", folder / "t.csv", *ASKED, "--ledger", ledger, "--json").exit_code == 0
    assert run("quantiles", folder / "t.csv", *ASKED, "--ledger", ledger, "--json").exit_code == 2


@pytest.mark.parametrize("command", ["mean", "centre"])
def test_persons_are_the_same_from_every_file(folder, command):
    found = []
    for name in ("t.csv", "t.parquet"):
        result = run(command, folder / name, *ASKED, "--person", "patient", "--per-person", "median", "--json")
        assert result.exit_code == 0, result.output
        found.append(json.loads(result.stdout))
    assert found[0] == found[1]
    assert found[0]["n"] == 399
    assert "one person swapped" in found[0]["guarantee"]["neighbours"]


def test_other_mechanisms_release_about_persons_too(folder):
    asked = [*ASKED, "--person", "patient", "--json"]
    for more in (["--mechanism", "cube"], ["--mechanism", "analytic-gaussian", "--delta", "1e-6"]):
        result = run("mean", folder / "t.csv", *asked, *more)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["n"] == 399


def test_a_ledger_for_persons_pays_for_persons_only(folder):
    ledger = folder / "persons.db"
    assert run("ledger", "create", ledger, "--epsilon", "5", "--persons").exit_code == 0
    paid = [*ASKED, "--mechanism", "cube", "--ledger", ledger, "--json"]
    assert run("mean", folder / "t.csv", *paid, "--person", "patient").exit_code == 0
    assert run("mean", folder / "t.csv", *paid).exit_code == 2


def test_quantiles_of_persons_by_group_of_a_secret_number_of_rows(folder):
    targets = [folder / f"groups.{kind}" for kind in ("html", "md", "csv")]
    outs = [part for target in targets for part in ("--out", target)]
    groups = ["--by", "arm", "--keys", "A,B", "--person", "patient", "--neighbours", "add-remove", "--rows", "400"]
    result = run("quantiles", folder / "t.csv", *ASKED, *groups, "--q", "0.5,0.9", *outs)
    assert result.exit_code == 0, result.output
    assert "one person added or removed" in " ".join(result.stdout.split())
    page, text, table = (target.read_text(encoding="utf-8") for target in targets)
    assert page.startswith("<!DOCTYPE html>")
    assert "quantile" in text
    lines = [line.split(",")[:2] for line in table.splitlines()]
    assert lines == [["arm", "quantile"], ["A", "0.5"], ["A", "0.9"], ["B", "0.5"], ["B", "0.9"]]
    told = json.loads(run("quantiles", folder / "t.csv", *ASKED, *groups, "--json").stdout)
    assert told["n"] is None
    assert abs(told["groups"]["A"]["quantiles"]["0.5"][0] - 70) < 5
