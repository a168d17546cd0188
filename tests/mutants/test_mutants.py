"""The list of mutants is true: every bug still applies, and every named test is there. `make mutants` runs them."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from mutants.catalogue import HARMLESS, MUTANTS
from mutants.mutant import PACKAGE, ROOT

FEWEST = 150


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    methods = {
        f"{node.name}::{inner.name}"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef)
    }
    return frozenset(functions | methods)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_applies_and_names_tests_that_exist(mutant):
    changed = mutant.applied()
    assert changed != (PACKAGE / mutant.file).read_text(encoding="utf-8")
    ast.parse(changed)
    assert "\n" not in mutant.old  # one line
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert name.partition("[")[0] in names_in(file)


@pytest.mark.parametrize("change", HARMLESS, ids=lambda change: change.name)
def test_every_harmless_change_is_still_one_that_could_be_made(change):
    assert (PACKAGE / change.file).read_text(encoding="utf-8").count(change.old) == 1
    assert len(change.why) > 80  # an argument, not a word


def test_there_are_enough_of_them_and_no_two_are_the_same():
    assert len(MUTANTS) >= FEWEST
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


def test_a_mutant_whose_line_is_gone_is_refused():
    gone = MUTANTS[0].__class__("gone", MUTANTS[0].file, "a line that is not there", "", MUTANTS[0].tests, "")
    with pytest.raises(ValueError, match="0 times"):
        gone.applied()
