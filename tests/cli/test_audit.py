"""`tukeydp audit` as its user sees it."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest
from typer.testing import CliRunner

from tukeydp.audit import catalogue, running
from tukeydp.audit.check import Check, Result
from tukeydp.cli import app

FAST = ["audit", "--quick", "--jobs", "1", "--only", "cube noise", "--only", "composition"]
FIELDS = {
    *("name", "claim", "measure", "datasets", "pairs", "draws", "bound", "worst", "passed", "verdict", "failures"),
    "cpu_seconds",
}


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def broken(effort):
    raise ValueError("no <good>")


@pytest.fixture
def failing(monkeypatch):
    checks = (
        Check("sound", "Nothing is wrong.", "losses", lambda effort: Result(3, 4, 1.0, 0.5)),
        Check("lossy", "Nothing is lost.", "losses", lambda effort: Result(3, 4, 1.0, 1.5)),
        Check("raising", "Nothing is raised.", "losses", broken),
    )
    monkeypatch.setattr(catalogue, "CHECKS", checks)


def test_a_table_and_exit_code_0(tmp_path):
    page = tmp_path / "audit.html"
    result = run(*FAST, "--html", str(page))
    assert result.exit_code == 0, result.output
    assert "All 2 checks passed" in result.stdout
    assert "Not covered: unproven modes" in " ".join(result.stdout.split())
    assert "\x1b" not in result.output  # plain where nobody sees colours
    text = page.read_text(encoding="utf-8")
    assert "cube noise: law" in text
    assert "<script" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_json_has_its_schema():
    result = run(*FAST, "--json", "--seed", "3")
    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (told["schema"], told["passed"], told["quick"], told["seed"]) == (1, True, True, 3)
    assert set(told) == {
        *("schema", "passed", "version", "python", "platform", "quick", "seed", "checks", "not_covered")
    }
    assert [check["name"] for check in told["checks"]] == ["cube noise: law", "accountant: composition"]
    for check in told["checks"]:
        assert set(check) == FIELDS
        assert check["worst"] <= check["bound"]


def test_failures_give_exit_code_1_and_are_named(failing, tmp_path):
    page = tmp_path / "audit.html"
    result = run("audit", "--quick", "--jobs", "1", "--html", str(page))
    assert result.exit_code == 1
    assert "2 of 3 checks failed: lossy, raising." in result.stdout
    assert "raised ValueError: no <good>" in result.stdout
    assert "no &lt;good&gt;" in page.read_text(encoding="utf-8")
    told = json.loads(run("audit", "--jobs", "1", "--json").stdout)
    assert [check["passed"] for check in told["checks"]] == [True, False, False]
    assert told["checks"][2]["worst"] is None


def test_wrong_options_are_refused_before_any_work(tmp_path):
    result = run("audit", "--only", "nonsense")
    assert result.exit_code == 2
    assert "only must be part of a check's name" in result.stderr
    result = run("audit", "--html", str(tmp_path / "nowhere" / "audit.html"))
    assert result.exit_code == 2
    assert "html must be a file" in result.stderr


def test_a_check_whose_process_was_killed_has_not_passed():
    future = Future()
    future.set_exception(BrokenProcessPool())
    result = running._outcome(catalogue.CHECKS[0], future).result
    assert not result.passed
    assert result.failures == ("its process was killed",)


@pytest.mark.slow
def test_what_is_found_does_not_depend_on_the_number_of_processes():
    found = [json.loads(run(*FAST[:2], "--json", "--jobs", jobs, *FAST[4:]).stdout)["checks"] for jobs in "12"]
    for check in itertools.chain(*found):
        del check["cpu_seconds"]
    assert found[0] == found[1]


@pytest.mark.slow
def test_the_quick_audit_passes():
    result = run("audit", "--quick", "--jobs", "1")
    assert result.exit_code == 0, result.output


def test_a_lower_bound_of_nothing_is_shown_as_no_power(monkeypatch, tmp_path):
    weak = Check(
        "weak", "Draws prove nothing.", "lower bound", lambda effort: Result(2, 2, 1.0, 0.0, 9, lower_bound=True)
    )
    strong = Check(
        "strong", "Draws prove some.", "lower bound", lambda effort: Result(2, 2, 1.0, 0.4, 9, lower_bound=True)
    )
    monkeypatch.setattr(catalogue, "CHECKS", (weak, strong))
    page = tmp_path / "audit.html"
    result = run("audit", "--html", str(page), "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert "1 of 2 checks passed" in " ".join(result.stdout.split())
    assert "No power, so nothing said: weak." in " ".join(result.stdout.split())
    assert 'class="powerless"' in page.read_text(encoding="utf-8")
    told = json.loads(run("audit", "--json", "--jobs", "1").stdout)
    assert told["passed"]
    assert [(one["passed"], one["verdict"]) for one in told["checks"]] == [(False, "no power"), (True, "passed")]
