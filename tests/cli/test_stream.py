"""`tukeydp centre --stream`: the release of the whole file, read in passes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tukeydp.cli import app
from tukeydp.trusted.streams import streamed_levels

ASKED = ["--columns", "a,b", "--bounds=-10,10", "--epsilon", "1", "--directions", "6", "--seed", "2", "--json"]


def run(file, *more):
    return CliRunner().invoke(app, ["centre", str(file), *ASKED, *more])


@pytest.fixture
def frame(monkeypatch):
    monkeypatch.setattr(streamed_levels, "_WHOLE_SHARE", 2**60)
    x = np.random.default_rng(3).normal(size=(2000, 3))
    x[::7, 1] = -999
    return pd.DataFrame(x, columns=["a", "b", "c"])


def test_a_file_and_a_folder_give_what_the_file_in_memory_gives(frame, tmp_path):
    frame.to_parquet(tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for name, part in (("1", frame[:700]), ("2", frame[700:])):
        part.to_parquet(tmp_path / "parts" / f"{name}.parquet")
    for declared in ([], ["--missing", "b=-999", "--unit", "a=kg"]):
        whole = run(tmp_path / "whole.parquet", *declared)
        assert whole.exit_code == 0, whole.output
        for source in ("whole.parquet", "parts"):
            streamed = run(tmp_path / source, "--stream", "--memory", "1", *declared)
            assert streamed.exit_code == 0, streamed.output
            assert json.loads(streamed.stdout) == json.loads(whole.stdout)


def test_a_ledger_pays_once(frame, tmp_path):
    frame.to_parquet(tmp_path / "x.parquet")
    CliRunner().invoke(app, ["ledger", "create", str(tmp_path / "l.db"), "--epsilon", "1.5"])
    assert run(tmp_path / "x.parquet", "--stream", "--ledger", str(tmp_path / "l.db")).exit_code == 0
    assert run(tmp_path / "x.parquet", "--stream", "--ledger", str(tmp_path / "l.db")).exit_code == 2
