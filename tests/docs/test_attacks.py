"""The threat model's table of attacks: each row has a test that exists, proofs that exist, and the README leads there.

From README to proof to test in three clicks: README, a proof (by the threat model or the overview of proofs), the
map of proofs, whose rows name functions and tests.
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


def rows():
    """(name, what is done, proofs, tests) for each attack."""
    text = PAGE.read_text(encoding="utf-8").partition("## Known attacks")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| **")]
    return [tuple(cell.strip() for cell in re.split(r" \|(?= )", line[1:-1])) for line in lines]


ROWS = rows()


def test_the_known_attacks_are_there():
    names = [row[0].lower() for row in ROWS]
    assert [attack for attack in ATTACKS if not any(attack in name for name in names)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].split("**")[1])
def test_every_attack_has_an_answer_and_a_test(row):
    name, done, proofs, tests = row
    assert len(done) > 20, name
    named = SPAN.findall(tests)
    assert named, name
    for span in named:
        path, _, test = span.partition("::")
        assert file_at(path, PAGE).is_relative_to(ROOT / "tests"), span
        assert test in definitions(file_at(path, PAGE)), span
        assert test.rpartition(".")[2].startswith("test_"), span
    for link in LINK.findall(proofs):
        assert (PAGE.parent / link).is_file(), link


def links(page):
    """Pages that a page leads to."""
    found = set()
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target.partition("#")[0]).resolve()
        if "://" not in target and path.exists():
            found.add(path / "README.md" if path.is_dir() and (path / "README.md").exists() else path)
    return found


def test_from_readme_to_proof_to_test_in_three_clicks():
    first = links(ROOT / "README.md")
    assert PAGE in first
    overview = ROOT / "docs" / "proofs" / "README.md"
    assert overview in first
    proofs = set((ROOT / "docs" / "proofs").glob("[a-z]*.md"))
    second = first | links(overview) | links(PAGE)
    assert proofs <= second
    for proof in proofs:
        # The third click: a test, on the map of proofs or beside the claim.
        text = proof.read_text(encoding="utf-8")
        third = re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)", text) or overview in links(proof)
        assert third, proof.name


def test_the_wrong_page_would_be_noticed(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("[proof](proofs/none.md)")
    assert links(page) == set()
