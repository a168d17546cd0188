"""The threat model's tables: each attack and each promise has a test that exists, and the README leads there.

From README to proof to test in three clicks: README, the threat model or the map of proofs, a proof, a test.
"""

from __future__ import annotations

import re

import pytest

from support.references import LINK, ROOT, SPAN, definitions, file_at

PAGE = ROOT / "docs" / "threat-model.md"
# What the table must speak of, by a word of the row's name.
ATTACKS = (
    "floating-point", "precision", "timing", "sensitivity", "exceptions", "seeds", "logging", "small counts",
    "repeated runs", "group keys", "file reading", "streams", "refusals", "faults", "supply chain", "fields", "bounds",
)  # fmt: skip


def section(name):
    return PAGE.read_text(encoding="utf-8").partition(f"## {name}\n")[2].partition("\n## ")[0]


def rows(name):
    """The cells of a section's table, without its head."""
    lines = [line for line in section(name).splitlines() if line.startswith("| ")][1:]
    return [tuple(cell.strip() for cell in re.split(r" \|(?= |$)", line[1:-1])) for line in lines]


ROWS = rows("Known attacks")  # (name, what is done, proofs, tests)
PROMISES = rows("Every promise, and the test that holds it")  # (where, what is promised, tests)


def test_the_known_attacks_are_there():
    names = [row[0].lower() for row in ROWS]
    assert [attack for attack in ATTACKS if not any(attack in name for name in names)] == []


def require_tests(named):
    for span in named:
        path, _, test = span.partition("::")
        assert file_at(path, PAGE).is_relative_to(ROOT / "tests"), span
        assert test in definitions(file_at(path, PAGE)), span
        assert test.rpartition(".")[2].startswith("test_"), span


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].split("**")[1])
def test_every_attack_has_an_answer_and_a_test(row):
    name, done, proofs, tests = row
    assert len(done) > 20, name
    named = SPAN.findall(tests)
    assert named, name
    require_tests(named)
    for link in LINK.findall(proofs):
        assert (PAGE.parent / link).is_file(), link


def places():
    """Where the page promises something: its sections, and the points of what is not promised."""
    text = PAGE.read_text(encoding="utf-8")
    points = re.findall(r"^- \*\*(.+?)\.?\*\*", section("What is not promised"), re.MULTILINE)
    tables = {"Known attacks", "Every promise, and the test that holds it", "What is not promised"}
    return {*re.findall(r"^## (.+)$", text, re.MULTILINE), *points} - tables


def test_every_promise_has_a_test():
    """A place without a promise says so; one with promises has a test for each."""
    assert {where for where, _, _ in PROMISES} == places()
    for where, promise, tests in PROMISES:
        named = SPAN.findall(tests)
        assert bool(named) == (promise != "nothing"), where
        require_tests(named)


def test_a_promise_whose_test_is_gone_is_noticed():
    with pytest.raises(AssertionError):
        require_tests(["docs/test_attacks.py::test_that_was_never_there"])


def links(page):
    """Pages that a page leads to."""
    found = set()
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target.partition("#")[0]).resolve()
        if "://" not in target and path.exists():
            found.add(path / "README.md" if path.is_dir() and (path / "README.md").exists() else path)
    return found


OVERVIEW = ROOT / "docs" / "proofs" / "README.md"


def clicks(start, most):
    """How many clicks away every page and file is, up to `most`."""
    away, edge = {start: 0}, {start}
    for click in range(1, most + 1):
        edge = {found for page in edge if page.suffix == ".md" for found in links(page)} - away.keys()
        away |= dict.fromkeys(edge, click)
    return away


def sections():
    """For each proof, what the map of proofs says of it."""
    found = {}
    for part in OVERVIEW.read_text(encoding="utf-8").split("\n## ")[1:]:
        if name := re.match(r"\[([\w-]+\.md)\]", part):
            found[OVERVIEW.parent / name[1]] = part
    return found


def test_from_readme_to_proof_to_test_in_three_clicks():
    """README, map or threat model, proof, test: by links, and the tests are those that the map names for this proof."""
    away, known = clicks(ROOT / "README.md", 3), sections()
    assert away[PAGE] == away[OVERVIEW] == 1
    proofs = set((ROOT / "docs" / "proofs").glob("[a-z]*.md"))
    assert proofs == known.keys()
    for proof in proofs:
        assert away[proof] <= 2, proof.name
        tests = {path for path in links(proof) if path.is_relative_to(ROOT / "tests")}
        assert tests, proof.name
        for path in tests:
            assert away[path] <= 3
            assert f"`{path.relative_to(ROOT / 'tests')}::test_" in known[proof], (proof.name, path.name)


def test_the_wrong_page_would_be_noticed(tmp_path):
    page, far = tmp_path / "a.md", tmp_path / "far.md"
    page.write_text("[proof](proofs/none.md) and [far](far.md)")
    far.write_text("[back](a.md)")
    assert links(page) == {far}
    assert clicks(page, 3) == {page: 0, far: 1}
    assert clicks(page, 0) == {page: 0}
