"""`tukeydp regress`: a file in, coefficients by name out, and what is refused before anything is spent."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tukeydp.cli import app

COMMON = ["--target", "pressure", "--features", "age,weight", "--epsilon", "1", "--seed", "3"]
RANGES = ["--ranges", "age=20,80", "--ranges", "weight=50,100", "--ranges", "pressure=80,200"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(50, 12, 3000), "weight": rng.normal(75, 10, 3000)})
    frame["pressure"] = 60 + 0.7 * frame["age"] + 0.4 * frame["weight"] + rng.normal(0, 9, 3000)
    frame.loc[::50, "weight"] = np.nan
    path = tmp_path_factory.mktemp("regress") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["regress", *map(str, arguments)])


def test_json_is_one_object_with_coefficients_by_name(file):
    result = run(file, *COMMON, *RANGES, "--delta", "1e-6", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["columns"] == ["intercept", "age", "weight"]
    assert np.abs(np.array(found["point"][1:]) - [0.7, 0.4]).max() < 0.15
    assert found["guarantee"]["delta"] == 1e-6
    assert found["settings"]["rows_needed"] < 3000


def test_words_and_a_report(file, tmp_path):
    out = tmp_path / "report.html"
    result = run(file, *COMMON, "--bounds", "intercept=-500,500", "--bounds", "age=-5,5", "--bounds", "weight=-5,5",
                 "--out", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    for words in ("Coefficients of 3000 rows", "R^2 falls against least squares", "intercept", "rows are needed"):
        assert words in " ".join(result.stdout.split())
    assert "Coefficients of 3000 rows" in out.read_text(encoding="utf-8")


def test_a_regression_for_each_group_of_persons_of_secret_number(tmp_path):
    rng, path = np.random.default_rng(3), tmp_path / "visits.csv"
    patient = np.repeat(np.arange(3000), 2)
    age = rng.integers(20, 80, 6000)
    pressure = 80 + 0.7 * age + rng.normal(size=6000)
    rows = zip(patient, patient % 2, age, pressure.round(2), strict=True)
    path.write_text("patient,arm,age,pressure\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    asked = ["--target", "pressure", "--features", "age", "--epsilon", "4", "--bounds=-200,200", "--seed", "1"]
    groups = ["--by", "arm", "--keys", "0,1", "--person", "patient", "--neighbours", "add-remove", "--rows", "3000"]
    result = run(path, *asked, *groups, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["guarantee"]["relation"] == "add-remove-person"
    assert all(abs(one["point"][1] - 0.7) < 0.2 for one in found["groups"].values())


def test_a_ledger_pays_once(file, tmp_path):
    ledger = tmp_path / "study.db"
    assert CliRunner().invoke(app, ["ledger", "create", str(ledger), "--epsilon", "1"]).exit_code == 0
    paid = [run(file, *COMMON, *RANGES, "--bounds=-5,5", "--ledger", ledger, "--json").exit_code for _ in range(2)]
    assert paid == [0, 2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--features", "age", "--epsilon", "1", "--delta", "1e-6"], "target must be given"),
        (["--target", "pressure", "--epsilon", "1", "--delta", "1e-6"], "features must be given"),
        (["--target", "age", "--features", "age", "--epsilon", "1", "--delta", "1e-6"], "must not be one of"),
        ([*COMMON, "--blocks", "9"], "blocks must be left out"),
        ([*COMMON, "--delta", "1e-6", "--ranges", "age=0,100"], "ranges must be given for every column"),
        (["--target", "pressure", "--features", "age,weight", "--epsilon", "0.1", "--delta", "1e-6"], "at least"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_spent(file, arguments, said):
    result = run(file, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_an_epsilon_is_all_it_takes(file):
    """By noised sums: ranges that are not given are found, and intervals cost nothing."""
    result = run(file, *COMMON, "--ranges", "age=20,80", "--confidence", "0.95", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["guarantee"]["delta"] in (None, 0, "0")
    assert found["settings"]["drawn_by"] == "noised sums"
    assert found["settings"]["ranges"][0] == [20.0, 80.0]
    assert len(found["interval"]["ends"]) == 3
    text = run(file, *COMMON)
    assert "Noised sums of products" in " ".join(text.output.split())
