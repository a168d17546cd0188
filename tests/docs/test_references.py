"""Every reference from code to pages, from pages to code, and between pages resolves."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import tukeydp as td
from support.references import (
    ROOT,
    SPAN,
    broken,
    broken_links,
    broken_spans,
    file_at,
    sections,
    unresolved,
)
from tukeydp import approximate
from tukeydp.mechanisms.registry import MECHANISMS

DOCS = ROOT / "docs"
PROOFS = DOCS / "proofs"
CODE = sorted(path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
# Names and paths on these are checked one by one; others also speak of files that a run writes.
STRICT = sorted(
    [*PROOFS.glob("*.md"), *(DOCS / "decisions").glob("*.md")]
    + [DOCS / f"{name}.md" for name in ("architecture", "glossary", "stability", "errata", "threat-model")]
)
THIS = Path(__file__)


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_between_pages_lead_somewhere(page):
    assert broken_links(page.read_text(encoding="utf-8"), page) == []


@pytest.mark.parametrize("page", STRICT, ids=relative)
def test_names_and_paths_on_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    assert broken_spans(text, page) == []


def test_references_from_code_to_pages_resolve():
    wrong = {relative(p): unresolved(p.read_text(encoding="utf-8")) for p in CODE if p != THIS}
    assert {path: found for path, found in wrong.items() if found} == {}


def test_references_between_pages_resolve():
    wrong = {relative(p): unresolved(p.read_text(encoding="utf-8")) for p in PAGES if p.stem != "extending"}
    assert {path: found for path, found in wrong.items() if found} == {}


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "extending"], ids=relative)
def test_sections_that_a_page_cites_of_itself_or_of_a_proof_exist(page):
    """`section 4` alone is this page's, `boxem.md, section 4` that page's."""
    text = page.read_text(encoding="utf-8")
    for other, number in re.findall(r"(?:([\w-]+\.md)[`)]*,? )?\bsection (\d+)", " ".join(text.split())):
        known = sections((PROOFS / other).read_text(encoding="utf-8") if other else text)
        assert number in known, f"{other or page.name}, section {number}"


def mechanisms():
    """Every function that claims a guarantee, by its name."""
    runs = {name: mechanism.run for name, mechanism in MECHANISMS.items()}
    found = {name: inspect.unwrap(getattr(run, "func", run)) for name, run in runs.items()}
    found |= {name: getattr(td, name) for name in ("boxem", "rem", "mean", "cube", "spread", "summary")}
    return found | {name: getattr(approximate, name) for name in ("approximate_boxem", "approximate_rem")}


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_mechanism_names_its_proof_and_the_proof_names_it(name):
    module = inspect.getmodule(mechanisms()[name])
    pages = set(re.findall(r"docs/proofs/[\w-]+\.md", inspect.getsource(module)))
    assert pages, f"{module.__name__} names no proof"
    file = Path(module.__file__).name
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert file in text or mechanisms()[name].__name__ in text, f"{page} does not mention {file}"


def rows():
    """(page, section, functions, tests) for each row of the tables in docs/proofs/README.md."""
    page, found = "", []
    for line in (PROOFS / "README.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## \[?([\w-]+\.md)", line):
            page = heading[1]
        if row := re.match(r"\| (\d+) \| .* \| (.*) \| (.*) \|$", line):
            found.append((page, row[1], SPAN.findall(row[2]), SPAN.findall(row[3])))
    return found


def test_every_section_of_every_proof_has_a_function_and_a_test():
    told = {(page, section) for page, section, _, _ in rows()}
    for path in PROOFS.glob("[a-z]*.md"):
        numbers = {number for number in sections(path.read_text(encoding="utf-8")) if number.isdigit()}
        assert numbers == {section for page, section in told if page == path.name}, path.name
    here = PROOFS / "README.md"
    for page, section, functions, tests in rows():
        assert functions, (page, section)
        assert tests, (page, section)
        assert all("::" in name and "tests" not in file_at(name.partition("::")[0], here).parts for name in functions)
        assert all("::test_" in name or ".test_" in name for name in tests), (page, section)


def test_bad_references_are_noticed():
    """The control: each of these is wrong in one way."""
    page = PROOFS / "README.md"
    wrong = (
        "data/grids.py",
        "trusted/rows.py::Grid.snapped",
        "trusted/rows.py::snap",
        "depth/test_sensitivity.py::test_nothing",
        "envelope._safe",
        "directions._checked",
        "Envelope.sliced",
        "td.boxen",
        "tukeydp.mcmc.McmcVolume",
        "test_a_row_is_mapped_by_nobody",
        "test_a_row_is_mapped_by_nobody_...",
        "upper_bounds(levels)",
    )
    assert [span for span in wrong if not broken(span, page)] == []
    right = (
        "trusted/rows.py",
        "trusted/rows.py::Grid.snap",
        "Envelope.slice",
        "certificates.upper_bound",
        "td.boxem",
        "td.baselines.gaussian",
        "tukeydp.mcmc.McmcVolumes",
        "test_a_row_is_mapped_...",
        "q^T(y) / Z(x)",
        "tukeydp reproduce all",
    )
    assert [span for span in right if broken(span, page)] == []
    for text in (
        "docs/proofs/boxen.md",
        "docs/proofs/boxem.md, section 44",
        "docs/proofs/boxem.md,\n# section 44",
        "docs/proofs/rem.md, sections 5 to 77)",
        'docs/proofs/boxem.md, "The label draw")',
        "docs/errata.md, 70)",
        "docs/proofs/mean.md, section 12)",
    ):
        assert unresolved(text), text
    assert unresolved("docs/proofs/boxem.md, sections 4 and 6; docs/errata.md, 1)") == []
    assert unresolved('docs/proofs/boxem.md, "The level draw")') == []
    assert broken_links("[proof](proofs/boxen.md)", page) == ["proofs/boxen.md"]
