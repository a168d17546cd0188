"""Pages of results say what the data beside them say, and the data say what was run."""

from __future__ import annotations

import importlib.util
import json
import re

import pytest

from support.references import ROOT

RESULTS = ROOT / "docs" / "results"
SPEC = importlib.util.spec_from_file_location("docs_results", ROOT / "tools" / "docs_results.py")
docs_results = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(docs_results)

CHECK = {
    "name": "boxem: enumeration", "claim": "No ratio above e^epsilon.", "measure": "m", "datasets": 1200, "pairs": 3400,
    "draws": 0, "bound": 1.0, "worst": 0.5, "passed": True, "failures": [], "cpu_seconds": 90.0,
}  # fmt: skip
AUDIT = {"version": "1", "python": "3", "platform": "L", "quick": False, "seed": 0, "checks": [CHECK], "schema": 1}


@pytest.mark.parametrize("path", docs_results.tables(), ids=lambda path: path.stem)
def test_a_page_has_the_table_of_its_data(path):
    page = path.read_text(encoding="utf-8")
    assert docs_results.with_table(page, docs_results.tables()[path]) == page
    assert docs_results.with_table(page, "| another |") != page  # the control


def test_the_audit_on_the_page_was_a_full_run_without_failures():
    data = json.loads((RESULTS / "audit.json").read_text(encoding="utf-8"))
    assert not data["quick"]
    assert all(check["passed"] for check in data["checks"])
    assert len(data["checks"]) > 40


def test_a_failed_check_is_shown_as_failed():
    table = docs_results.audit_table(docs_results.audit_data(AUDIT))
    assert "**1 of 1 checks passed**, on 1,200 datasets, 3,400 pairs" in table
    assert "| boxem: enumeration | 1,200 | 3,400 | 0 | 1 | 0.5 | passed |" in table
    failed = docs_results.audit_data({**AUDIT, "checks": [{**CHECK, "passed": False, "worst": None}]})
    assert "**0 of 1 checks passed**" in docs_results.audit_table(failed)
    assert "| none | **failed** |" in docs_results.audit_table(failed)


def test_the_audit_still_writes_what_the_page_needs():
    from tukeydp.audit.check import Check, Effort, Result
    from tukeydp.audit.report import as_object
    from tukeydp.audit.running import Outcome

    check = Check("a", "b", "c", run=lambda effort: Result(1, 2, 1.0, 0.5))
    written = as_object([Outcome(check, check.run(Effort()), cpu_seconds=3.0)], Effort())
    assert docs_results.audit_data(json.loads(json.dumps(written)))["checks"][0]["pairs"] == 2


def claim(sentence, whose, verdict, *, remark=""):
    return {
        "id": f"times/{sentence[0]}", "claim": sentence, "whose": whose, "chosen_afterwards": bool(remark),
        "verdict": verdict, "remark": remark, "numbers": [], "words": [],
    }  # fmt: skip


def test_claims_are_counted_and_their_marks_mean_themselves():
    facts = {"quick": "yes", "seed": 0, "tukeydp": "1", "numpy": "2"}
    claims = [
        claim("a | b", "the paper's", "borne out"),
        claim("c", "the paper's", "not borne out"),
        claim("$k$ < 3", "ours", "undecided", remark="a | first look"),
    ]
    sentences = [
        {"place": "5", "quote": "a_b", "claims": ["times/a", "times/zzz"], "reason": ""},
        {"place": "6", "quote": "said", "claims": [], "reason": "because"},
    ]
    data = docs_results.reproduction_data({"facts": facts, "tally": {}, "claims": claims, "sentences": sentences})
    table = docs_results.reproduction_table(data)
    assert "**2 claims, the paper's: 1 borne out, 1 not borne out, 0 undecided.**" in table
    assert "**1 claims, ours: 0 borne out, 0 not borne out, 1 undecided.**" in table
    assert r"| `times/a` | a \| b | the paper's | borne out |" in table
    assert r"| `times/$` | \$k\$ &lt; 3 *(a \| first look)* | ours | **undecided** |" in table
    assert r"| 5 | a\_b | borne out `times/a`<br>**not run** `times/zzz` |" in table
    assert "| 6 | said | because |" in table


def test_the_comparison_takes_the_best_of_the_others():
    lines = [
        {"table": "t", "rows": "10", "columns": "2", "bounds over range": "10", "method": method, "error": error}
        for method, error in (
            ("td.mean", "0.2"),
            ("Laplace", "0.8"),
            ("OpenDP", "0.9"),
            ("CoinPress", "0.1"),
            ("Huang-Liang-Yi", "3"),
            ("PLAN", "4"),
        )
    ]
    table = docs_results.comparison_table(lines)
    assert "| t | 10 | 2 | 0.2 | 0.8 | **0.1** |" in table
    assert "| 10 | 0.25 | 2.00 | 2.0 |" in table


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="no marks"):
        docs_results.with_table("# A page", "| table |")


def test_figures_in_the_readme_are_those_of_the_comparison():
    """Where both have a table, they agree to the digits shown."""
    comparison = rows((ROOT / "docs" / "comparison.md").read_text(encoding="utf-8"))
    readme = rows((ROOT / "README.md").read_text(encoding="utf-8"))
    for name in comparison.keys() & readme.keys():
        assert comparison[name][0] == pytest.approx(readme[name][0], rel=0.02), name


def rows(text):
    """Name of a table and its numbers, for lines that begin with a name and have three errors at their end."""
    found = re.findall(r"^\| ([A-Za-z ]+?) \|.*?\| \**([\d.]+)\** \| \**([\d.]+)\** \| \**([\d.]+)\** \|$", text, re.M)
    return {name: [float(number) for number in numbers] for name, *numbers in found}
