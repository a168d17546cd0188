"""`tukeydp counts`: files, groups, persons, cross-tables, reports, ledgers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tukeydp as td
from tukeydp.cli import app

SEX = ["--column", "sex", "--categories", "f,m"]
ASKED = [*SEX, "--epsilon", "1", "--seed", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, place = np.random.default_rng(4), tmp_path_factory.mktemp("counts")
    ids = rng.integers(0, 200, 500)
    sex = np.where(ids % 3 == 0, "f", "m").astype(object)
    sex[ids == 7] = "unknown"
    frame = pd.DataFrame({"id": ids, "sex": sex, "arm": np.where(ids % 2, "A", "B"), "age": (20 + ids / 4).round(1)})
    frame.to_csv(place / "t.csv", index=False)
    frame.to_csv(place / "german.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(place / "t.parquet")
    return place


def run(*arguments):
    return CliRunner().invoke(app, ["counts", *map(str, arguments)])


def lines(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["lines"]


def test_a_file_gives_what_python_gives(folder):
    found = run(folder / "t.csv", *ASKED, "--json")
    expected = td.counts(td.read(folder / "t.csv"), categories={"sex": ["f", "m"]}, epsilon=1, randomness=td.seeded(3))
    assert lines(found) == expected.to_dict()["lines"]
    assert lines(run(folder / "t.parquet", *ASKED, "--json")) == lines(found)


def test_groups_persons_and_a_secret_number(folder):
    apart = ["--by", "arm", "--keys", "A,B", "--person", "id", "--neighbours", "add-remove"]
    result = run(folder / "t.csv", *ASKED, *apart, "--json")
    told = json.loads(result.stdout)
    assert told["n"] is None
    assert "one person added or removed" in told["guarantee"]["neighbours"]
    assert [(line["group"], line["category"]) for line in told["lines"]][:3] == [
        ("A", "f"),
        ("A", "m"),
        ("A", "other / missing"),
    ]
    words = run(folder / "t.csv", *ASKED, *apart).stdout
    assert "NOT PRIVATE" in words
    assert "Every person counts once" in " ".join(words.split())


def test_a_cross_table_with_a_histogram_in_a_german_file(folder):
    asked = ["--column", "sex", "--column", "age", "--categories", "sex=f,m", "--edges", "age=20,40,80", "--cross"]
    written = ["--separator", ";", "--decimal", ","]
    found = lines(run(folder / "german.csv", *asked, *written, "--epsilon", "500", "--seed", "1", "--json"))
    frame = pd.read_csv(folder / "t.csv")
    young = int(((frame.sex == "f") & (frame.age < 40)).sum())
    assert found[0]["category"] == "f, [20, 40)"
    assert found[0]["count"] == young
    apart = lines(run(folder / "german.csv", *asked[:-1], *written, "--epsilon", "500", "--seed", "1", "--json"))
    assert {line["column"] for line in apart} == {"sex", "age"}


def test_reports(folder):
    targets = [folder / f"c.{kind}" for kind in ("html", "md", "csv", "tex", "json")]
    outs = [part for target in targets for part in ("--out", target)]
    result = run(folder / "t.csv", *ASKED, "--confidence", "none", *outs)
    assert result.exit_code == 0, result.output
    page, text, table, latex, told = (target.read_text(encoding="utf-8") for target in targets)
    assert page.startswith("<!DOCTYPE html>")
    assert "| f |" in text
    assert table.startswith("column,group,category,count")
    assert r"\toprule" in latex
    assert json.loads(told)["confidence"] is None


def test_a_ledger_pays(folder):
    ledger = folder / "c.db"
    assert CliRunner().invoke(app, ["ledger", "create", str(ledger), "--epsilon", "1.5"]).exit_code == 0
    assert run(folder / "t.csv", *ASKED, "--ledger", ledger, "--json").exit_code == 0
    assert run(folder / "t.csv", *ASKED, "--ledger", ledger, "--json").exit_code == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--epsilon", "1"], "column must be given"),
        (["--column", "sex", "--epsilon", "1"], "categories must be given for every column"),
        (SEX, "epsilon must be given"),
        ([*SEX, "--epsilon", "1", "--cross"], "cross must be left out"),
        (["--column", "sex", "--column", "age", "--categories", "f,m", "--epsilon", "1"], "COLUMN=LIST"),
        (["--column", "nothing", "--categories", "f", "--epsilon", "1"], "columns must name columns of the header"),
        ([*SEX, "--epsilon", "1", "--keys", "A"], "by must be given"),
        ([*SEX, "--epsilon", "1", "--out", "c.pdf"], "out must end in"),
        ([*SEX, "--epsilon", "1", "--bounds", "0,1"], "belongs to `tukeydp"),
    ],
)
def test_mistakes_are_named(folder, asked, words):
    result = run(folder / "t.csv", *asked)
    assert result.exit_code == 2
    assert words in result.output
