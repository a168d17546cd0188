"""What the machine-checked proofs speak of exists, and their page lists all of them. Coq is not needed here."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import proofs  # noqa: E402


def defined(path: Path) -> set[str]:
    """Names of functions and classes, and of methods as `Class.method`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


def resolves(reference: str) -> bool:
    file, _, name = reference.partition("::")
    path = ROOT / "src" / "tukeydp" / file
    return path.is_file() and (not name or name in defined(path))


STATEMENTS = proofs.statements()


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: f"{one.file}.{one.name}")
def test_the_code_that_a_theorem_speaks_of_exists(statement):
    assert [reference for reference in statement.code if not resolves(reference)] == []


def test_a_name_that_does_not_exist_is_noticed():
    assert not resolves("mechanisms/boxem.py::boxen")
    assert not resolves("mechanisms/none.py")


def test_every_theorem_has_words_and_is_on_the_page():
    page = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    assert len(STATEMENTS) >= 80
    assert [one.name for one in STATEMENTS if f"**{one.name}.** {one.says}" not in page] == []


def test_no_proof_is_left_out():
    for name in proofs.FILES:
        text = (ROOT / "proofs" / f"{name}.v").read_text(encoding="utf-8")
        assert not {"Admitted", "admit.", "Axiom", "Parameter"} & set(text.split())


def test_wrong_constants_are_found_in_their_files():
    for file, before, after in proofs.MUTANTS:
        assert before in (ROOT / "proofs" / f"{file}.v").read_text(encoding="utf-8")
        assert before != after
