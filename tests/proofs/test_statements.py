"""What the machine-checked proofs speak of exists, and their page lists all of them. Coq is not needed here."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import proofs  # noqa: E402

PACKAGE = ROOT / "src" / "tukeydp"
STATEMENTS = proofs.statements()
TOLD = tomllib.loads(proofs.MAP.read_text(encoding="utf-8"))


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
    """Whether a name such as trusted.laws.WeightedDraw.draw, or that of a module, is that of something."""
    parts = reference.split(".")
    for count in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:count]).with_suffix(".py")
        if path.is_file():
            return count == len(parts) or ".".join(parts[count:]) in defined(path)
    return False


def trusted() -> list[str]:
    """Every function and class of trusted/."""
    found = []
    for path in sorted((PACKAGE / "trusted").rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found += [f"{module}.{name}" for name in sorted(defined(path)) if "." not in name]
    return found


def named() -> set[str]:
    """All that theorems speak of; a method stands for its class too."""
    found = {reference for one in STATEMENTS for reference in one.code}
    return found | {reference.rpartition(".")[0] for reference in found}


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: one.key)
def test_the_code_that_a_theorem_speaks_of_exists(statement):
    gone = [reference for reference in statement.code if not resolves(reference)]
    assert not gone, f'proofs/map.toml, [theorems], "{statement.key}": nothing is named {gone}; say where it went.'
    assert statement.code or statement.why_none


def of_file(function: str) -> bool:
    """Whether its whole file, or folder, has a reason."""
    return any(function.startswith(f"{module}.") for module in TOLD["modules"])


def test_every_trusted_function_has_a_theorem_or_a_reason():
    silent = [one for one in trusted() if one not in named() and one not in TOLD["functions"] and not of_file(one)]
    wanted = "\n".join(f'"{one}" = "why no theorem speaks of it"' for one in silent)
    assert not silent, f"proofs/map.toml: name these under [theorems], or add under [functions]:\n{wanted}"


def test_reasons_are_of_functions_that_exist_and_have_no_theorem():
    known = set(trusted())
    gone = [one for one in TOLD["functions"] if one not in known]
    assert not gone, f"proofs/map.toml, [functions]: no longer in trusted/, take them out: {gone}"
    twice = [one for one in TOLD["functions"] if one in named()]
    assert not twice, f"proofs/map.toml, [functions]: theorems speak of these, take them out: {twice}"
    assert [one for one in TOLD["modules"] if not any(name.startswith(f"{one}.") for name in known)] == []
    short = [
        one
        for one, reason in (TOLD["functions"] | TOLD["modules"]).items()
        if len(TOLD["reasons"].get(reason, reason)) < 20
    ]
    assert not short, f"proofs/map.toml, [functions]: neither a reason nor the name of one under [reasons]: {short}"


def test_a_name_that_does_not_exist_is_noticed():
    assert resolves("mechanisms.boxem.boxem")
    assert not resolves("mechanisms.boxem.boxen")
    assert not resolves("mechanisms.none")


def test_every_theorem_has_words_and_is_on_the_page():
    page = proofs.STATEMENTS.read_text(encoding="utf-8")
    assert len(STATEMENTS) >= 179
    assert [one.name for one in STATEMENTS if f"**{one.name}.** {one.says}" not in page] == []
    assert list(proofs.faults(STATEMENTS)) == []


def test_no_proof_is_left_out():
    for name in proofs.FILES:
        text = (ROOT / "proofs" / f"{name}.v").read_text(encoding="utf-8")
        assert not {"Admitted", "admit.", "Axiom", "Parameter"} & set(text.split())


def test_wrong_constants_are_found_in_their_files():
    for file, before, after in proofs.MUTANTS:
        assert before in (ROOT / "proofs" / f"{file}.v").read_text(encoding="utf-8")
        assert before != after
