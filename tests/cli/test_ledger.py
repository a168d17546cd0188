"""`--ledger` and `tukeydp ledger` as a person types them."""

from __future__ import annotations

import json
import sys

import pytest

from tukeydp.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n3,4\n" * 100)
    return path


def test_a_study_from_the_terminal(run, table, tmp_path):
    book = tmp_path / "study.db"
    assert run("ledger", "create", book, "--epsilon", "1")[0] == 0
    assert "Nothing was spent yet" in run("ledger", "show", book)[1]
    release = ("mean", table, "--columns", "a,b", "--bounds=0,10", "--mechanism=cube", "--ledger", book, "--epsilon")
    code, out, err = run(*release, "0.7")
    assert (code, err) == (0, "")
    assert "epsilon = 0.7" in out
    code, out, err = run(*release, "0.7")
    assert (code, out) == (2, "")
    assert err == "tukeydp: epsilon must be at most 0.3, what the accountant has left; got 0.7.\n"
    assert run(*release, "0.1", "--seed=1")[0] == 0
    code, out, _ = run("ledger", "show", book)
    assert code == 0
    for word in ("epsilon = 1", "0.7", "up to 0.2", "cube", "seeded", "a, b"):
        assert word in " ".join(out.split())
    history = json.loads(run("ledger", "export", book)[1])["history"]
    assert [(entry["epsilon"], entry["seeded"]) for entry in history] == [("7/10", False), ("1/10", True)]
    assert run("ledger", "export", book, "--format", "yaml")[1].startswith("# A draft")


def test_without_room_the_table_is_not_even_opened(run, tmp_path):
    book = tmp_path / "study.db"
    run("ledger", "create", book, "--epsilon", "0.5", "--delta", "1e-6")
    rest = (tmp_path / "missing.csv", "--columns", "a,b", "--ledger", book)
    for command, *more in (
        ("mean", "--epsilon=1", "--bounds=0,1"),
        ("centre", "--epsilon=1", "--bounds=0,1"),
        ("mean", "--epsilon=0.5", "--delta=1e-5"),
        ("centre", "--mechanism=rem", "--epsilon=0.6", "--delta=1e-6"),
    ):
        code, _, err = run(command, *rest, *more)
        assert code == 2
        assert "what the accountant has left" in err


@pytest.mark.parametrize("command", [("show",), ("export",)])
def test_what_is_no_ledger(run, table, tmp_path, command):
    for path in (table, tmp_path / "none.db"):
        code, out, err = run("ledger", *command, path)
        assert (code, out) == (2, "")
        assert "ledger must" in err
    code, _, err = run("mean", table, "--columns", "a", "--bounds=0,9", "--epsilon=1", "--ledger", tmp_path / "none.db")
    assert code == 2
    assert "must exist" in err
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("more", [(), ("--delta=1e-6",)])
def test_a_stop_says_that_the_ledger_has_paid_for_the_whole_run(run, tmp_path, more):
    book, text = tmp_path / "study.db", tmp_path / "text.csv"
    text.write_text("a\n" + "twelve\n" * 400)
    run("ledger", "create", book, "--epsilon=2", "--delta=2e-6", "--conversion=0")
    asked = ("mean", text, "--columns=a", "--epsilon=1", "--seed=1", *(more or ("--bounds=0,10",)))
    code, out, err = run(*asked, "--ledger", book, "--out", tmp_path / "report.md")
    assert (code, err) == (3, "")
    said = " ".join(out.split())
    paid = "epsilon = 1 and delta = 1e-06" if more else "epsilon = 1"
    assert f"Spent {paid}: a ledger pays for the whole run" in said
    assert "the check alone would have cost epsilon = 0.05" in said
    assert "the rest is not spent" not in said
    assert f"**Spent**: {paid}: a ledger" in (tmp_path / "report.md").read_text(encoding="utf-8")
    stop = json.loads(run(*asked, "--ledger", book, "--json")[1])
    assert stop["guarantee"]["epsilon_exact"] == "1"
    assert [entry["epsilon"] for entry in json.loads(run("ledger", "export", book)[1])["history"]] == ["1", "1"]
    assert "the rest is not spent" in " ".join(run(*asked)[1].split())
