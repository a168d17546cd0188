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


def claim(sentence, whose, verdict, *, remark="", numbers=()):
    given = [{"label": label, **dict(zip(ENDS, ends, strict=True))} for label, ends in numbers]
    words = [f"{label}: {v} [{low}, {high}], needed at most {most}" for label, (v, low, high, _, most) in numbers]
    return {
        "id": f"times/{sentence[0]}", "claim": sentence, "whose": whose, "chosen_afterwards": bool(remark),
        "verdict": verdict, "remark": remark, "numbers": given, "words": words or ["not part of this run: seconds"],
    }  # fmt: skip


ENDS = ("value", "low", "high", "at_least", "at_most")
FACTS = {"quick": "yes", "tukeydp": "1", "python": "3", "numpy": "2", "scipy": "1", "numba": "0"}
SENTENCES = [
    {"place": "5", "quote": "a_b", "claims": ["times/a", "times/$", "times/zzz"], "reason": ""},
    {"place": "6", "quote": "said", "claims": [], "reason": "because"},
]


def run(seed, claims, **facts):
    return {"facts": {**FACTS, "seed": seed, **facts}, "tally": {}, "claims": claims, "sentences": SENTENCES}


def two_seeds():
    first = [
        claim("a | b", "the paper's", "borne out", numbers=[("r", (1.0, 0.9, 1.1, None, 2.0))]),
        claim("c", "the paper's", "not borne out", remark="not seen"),
        claim("$k$ < 3", "ours", "undecided"),
    ]
    second = [
        claim("a | b", "the paper's", "borne out", numbers=[("r", (1.2, 1.1, 1.3, None, 2.0))]),
        claim("c", "the paper's", "borne out"),
        claim("$k$ < 3", "ours", "borne out"),
    ]
    return run(11, first), run(12, second)


def test_claims_are_counted_and_their_marks_mean_themselves():
    table = docs_results.reproduction_table(docs_results.reproduction_data(two_seeds()))
    counted = "1 borne out, 0 not borne out, 0 undecided, 1 different"
    assert f"**2 claims, the paper's, with both seeds: {counted}.**" in table
    assert "**1 claims, ours, with both seeds: 0 borne out, 0 not borne out, 0 undecided, 1 different.**" in table
    assert "Borne out with one seed and not with the other: `times/c`." in table
    assert (
        r"| `times/a` | a \| b | the paper's | borne out | r: 1.0 [0.9, 1.1] and 1.2 [1.1, 1.3], needed at most"
        in table
    )
    assert r"| `times/c` | c *(not seen)* | the paper's | **not borne out** (11), borne out (12) |" in table
    assert r"| `times/$` | \$k\$ &lt; 3 | ours | **undecided** (11), borne out (12) |" in table
    assert (
        r"| 5 | a\_b | borne out `times/a`<br>**undecided** (11), borne out (12) `times/$`<br>**not run** `times/zzz`"
        in table
    )
    assert "| 6 | said | because |" in table


def test_a_single_seed_is_counted_without_differences():
    table = docs_results.reproduction_table(docs_results.reproduction_data(two_seeds()[:1]))
    assert "with seed 11;" in table
    assert "**2 claims, the paper's: 1 borne out, 1 not borne out, 0 undecided.**" in table
    assert "not with the other" not in table


@pytest.mark.parametrize("other", [run(12, []), run(12, two_seeds()[1]["claims"], numpy="3")])
def test_runs_that_cannot_be_compared_are_refused(other):
    with pytest.raises(ValueError, match="run"):
        docs_results.reproduction_data([two_seeds()[0], other])
    unfinished = run(12, two_seeds()[1]["claims"], unfinished="1 of 2")
    with pytest.raises(ValueError, match="unfinished"):
        docs_results.reproduction_data([two_seeds()[0], unfinished])


def test_the_number_that_tells_most_is_the_nearest_to_its_range_s_end_or_farthest_beyond():
    far, near = ("far", (1.0, 0.9, 1.1, None, 9.0)), ("near", (1.8, 1.7, 1.9, None, 2.0))
    beyond = ("beyond", (3.0, 2.9, 3.1, None, 2.0))
    told = docs_results.telling_number([claim("a", "ours", "borne out", numbers=[far, near])])
    assert told.startswith("near: 1.8 [1.7, 1.9], needed at most 2.0 (2 numbers")
    assert docs_results.telling_number([claim("a", "ours", "x", numbers=[far, near, beyond])]).startswith("beyond: 3.0")
    open_ended = ("open", (3.0, None, None, None, 2.0))
    assert docs_results.telling_number([claim("a", "ours", "x", numbers=[beyond, open_ended])]).startswith("open")
    assert docs_results.telling_number([claim("a", "ours", "x")]) == "not part of this run: seconds"


def test_every_claim_on_which_seeds_differ_or_the_paper_is_not_borne_out_is_explained():
    page = (RESULTS / "reproduction.md").read_text(encoding="utf-8")
    _, _, explained = page.partition(docs_results.END)
    data = json.loads((RESULTS / "reproduction.json").read_text(encoding="utf-8"))
    assert len(data["facts"]["seeds"]) == 2
    for each in data["claims"]:
        wanting = each["whose"] == "the paper's" and "not borne out" in each["verdicts"]
        if wanting or len(set(each["verdicts"])) > 1:
            assert f"`{each['id']}`" in explained, each["id"]


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
