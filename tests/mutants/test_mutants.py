"""The list of mutants is true: every bug still applies, and every named test is there. `make mutants` runs them."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from mutants import run
from mutants.catalogue import HARMLESS, MUTANTS
from mutants.mutant import PACKAGE, ROOT, Mutant, span_of
from tukeydp.trusted.compiled_code import USES

FEWEST = 150
# Files that compiled code is made from, and that no bug in them breaks a guarantee of.
NO_GUARANTEE = {
    "depth/repulsion.py": "directions, which are public",
    "forecast/walk_loops.py": "forecasts, which see no data",
    "hints/facet_walk.py": "hints: whoever takes one proves it",
    "hints/nodes.py": "hints: whoever takes one proves it",
    "hints/simplex.py": "hints: whoever takes one proves it",
    "paper/polytope_kernels.py": "the paper's geometry, which is not private",
    "paper/random_walks.py": "walks, which carry no guarantee",
}


# Functions of trusted/ that need none.
NEED_NONE: dict[str, str] = {
    "trusted/exact/loops.py::length_of": "speed only: which edge of a cone is cut",
    "trusted/exponential.py::Exponential._renew": "time only: when to make other covers, any of which will do",
    "trusted/release.py::PartOf.require": "does nothing",
    "trusted/rem/evidence.py::OneSided._look": "older brackets hold too: without it a coin would wait for ever",
    "trusted/sampling/draws.py::DepthSampler._near_rows": "none found: without its second condition no fast test fails",
    "trusted/sampling/loops.py::high_word": "numba's takes its place; without numba no loop calls it",
    "trusted/sizes/copies.py::_inner_of": "speed only: where a search starts",
    "trusted/sizes/ellipsoids.py::Shape.times": "speed only: what it proposes is certified",
    "trusted/sizes/ellipsoids.py::_near": "speed only: where a search starts",
    "trusted/sizes/ellipsoids.py::_pulled_inside": "speed only: what it proposes is certified",
    "trusted/sizes/ellipsoids.py::_solved": "speed only: what it proposes is certified",
    "trusted/sizes/ellipsoids.py::_usable": "speed only: what it proposes is certified",
    "trusted/sizes/exact_depth_sizes.py::ExactSizes._cut": "speed only: bounds are certified by whoever asks",
    "trusted/sizes/exact_depth_sizes.py::ExactSizes._halvings": "speed only: how much smaller a copy is looked at",
    "trusted/sizes/copies.py::upright_copy": "none found so far",
    "trusted/sizes/exact_depth_sizes.py::ExactSizes._box": "none found so far",
    "trusted/sizes/exact_depth_sizes.py::ExactSizes.lower_between": "none found so far",
    "trusted/streams/streamed_levels.py::StreamedLevels._find": "none found so far",
    "trusted/streams/streamed_levels.py::RankCells.forget": "memory only",
    "trusted/streams/streamed_levels.py::RoughLevels.rough": "speed only: a rehearsal",
    "trusted/streams/streamed_levels.py::memory_for": "memory only",
    "trusted/threads.py::available_cores": "speed only",
}
TRUSTED = sorted(path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "trusted").rglob("*.py"))


@cache
def functions_in(text: str) -> dict[str, tuple[int, int]]:
    """Where the functions and methods of a file begin and end; stubs of protocols and of abstract classes are none."""
    found = {}

    def look(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef) and not any(ast.unparse(base) == "Protocol" for base in node.bases):
                look(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and "abstractmethod" not in map(ast.unparse, node.decorator_list):
                found[prefix + node.name] = span_of(text, prefix + node.name)

    look(ast.parse(text).body, "")
    return {name: span for name, span in found.items() if not name.endswith("__repr__")}


def without_mutant(file: str, text: str, mutants) -> set[str]:
    """The functions of a file that none of these changes."""
    functions, changed = functions_in(text), set()
    for mutant in mutants:
        if mutant.function:
            changed.add(mutant.function)
        else:
            at = text.index(mutant.old)
            changed |= {name for name, (start, end) in functions.items() if start <= at < end}
    return {f"{file}::{name}" for name in functions.keys() - changed}


# Moved into the folder last: their functions with bugs of their own are those of other lists. May only shrink.
LATE_FILES = {f"trusted/{name}.py" for name in ("block_steps", "clipped_sums", "points", "ranks", "sums")}
MOST_LATE = 112
LATE = {
    *(f"trusted/prepared.py::{name}" for name in ("usual", "usual_to_draw", "choose_by", "in_all_columns")),
    *("trusted/prepared.py::PreparedBlocks.depth", "trusted/sampling/draws.py::point_sampler"),
    *("trusted/streams/rows.py::StreamedRows.of", "trusted/rem/evidence.py::Plan.__post_init__"),
    *("trusted/rem/safety.py::Laplace.epsilon", "trusted/rem/safety.py::Paper.epsilon"),
}


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
    assert len({(mutant.file, mutant.function, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


def test_every_kernel_file_has_a_mutant_or_no_guarantee_to_break():
    assert set(USES) - {mutant.file for mutant in MUTANTS} == NO_GUARANTEE.keys()


def test_every_function_of_the_trusted_folder_has_a_mutant():
    found = set()
    for file in TRUSTED:
        of_file = [mutant for mutant in MUTANTS if mutant.file == file]
        found |= without_mutant(file, (PACKAGE / file).read_text(encoding="utf-8"), of_file)
    late = {function for function in found if function.partition("::")[0] in LATE_FILES}
    assert len(late) <= MOST_LATE
    assert found - late == NEED_NONE.keys() | LATE
    assert len(NEED_NONE) <= 22  # fewer as some are found


def test_a_function_without_a_mutant_is_seen():
    text = (
        "class A:\n    def f(self):\n        return 1\n\ndef f():\n    return 2\n\nclass B(Protocol):\n    def g(): 1"
    )
    one = Mutant("", "a.py", "return 1", "return 3", (), "")
    assert without_mutant("a.py", text, [one]) == {"a.py::f"}
    assert without_mutant("a.py", text, [Mutant("", "a.py", "return", "", (), "", "f")]) == {"a.py::A.f"}
    assert without_mutant("a.py", text, []) == {"a.py::A.f", "a.py::f"}


def test_a_mutant_whose_line_is_gone_is_refused():
    gone = MUTANTS[0].__class__("gone", MUTANTS[0].file, "a line that is not there", "", MUTANTS[0].tests, "")
    with pytest.raises(ValueError, match="0 times"):
        gone.applied()


class Scripted:
    """A runner that runs nothing: what pytest would have answered, in turn."""

    def __init__(self, *answers):
        self._answers = iter([run.Tested(0, "all pass", 1.0), *answers])
        self.mutated = []

    def tested(self, source, tests, patience=0):
        changed = [m for m in MUTANTS[:2] if (source / "tukeydp" / m.file).read_text("utf-8") == m.applied()]
        self.mutated.append([m.name for m in changed])
        return next(self._answers)


CAUGHT = run.Tested(1, "1 failed", 2.0)


@pytest.mark.parametrize(
    ("second", "word", "code"),
    [
        (CAUGHT, "caught", 0),
        (run.Tested(0, "1 passed", 2.0), "SURVIVED", 1),
        (run.Tested(None, "", 300.0), "HANGS", 1),
        (run.Tested(4, "no such test", 1.0), "BROKEN", 1),
        (run.Tested(1, "E   NameError: name 'np' is not defined", 1.0), "BROKEN", 1),
    ],
)
def test_a_run_fails_unless_every_mutant_is_caught(second, word, code, tmp_path, capsys):
    """One copy without a bug, then each bug by itself; a line for each, on the screen and in the file."""
    runner, results = Scripted(CAUGHT, second), tmp_path / "results.txt"
    assert run._tried_with([runner], MUTANTS[:2], tmp_path, results) == code
    assert runner.mutated == [[], [MUTANTS[0].name], [MUTANTS[1].name]]
    said = results.read_text("utf-8")
    assert said == capsys.readouterr().out
    assert f"   1/2 caught      2 s  {MUTANTS[0].file}" in said
    assert f"   2/2 {word}" in said
    assert f"{2 - code} of 2 mutants caught, in " in said
    slowest = said.partition("The slowest:\n")[2].splitlines()
    assert [float(line.split()[0]) for line in slowest[:2]] == sorted([CAUGHT.seconds, second.seconds], reverse=True)


def test_a_run_fails_where_tests_fail_without_a_mutant(tmp_path, capsys):
    runner = Scripted()
    runner._answers = iter([run.Tested(1, "1 failed", 1.0)])
    assert run._tried_with([runner], MUTANTS[:2], tmp_path, None) == 1
    assert "without a mutant" in capsys.readouterr().out
    assert runner.mutated == [[]]
