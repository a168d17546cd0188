"""The trusted folder: what it may import, and how long it is."""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path

import pytest

import tukeydp

FOLDER = Path(tukeydp.__file__).parent / "trusted"
FILES = sorted(FOLDER.rglob("*.py"))
FOREIGN = {"numpy", "cryptography", "numba", "llvmlite"}  # llvmlite: its version is part of the cache's key


def taken(tree: ast.AST) -> set[str]:
    """All modules that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module or "")
    return found


def foreign(tree: ast.AST) -> set[str]:
    """Those that are neither of Python, nor of the three packages, nor of the folder itself."""
    return {
        name
        for name in taken(tree)
        if name.split(".")[0] not in FOREIGN | sys.stdlib_module_names and not f"{name}.".startswith("tukeydp.trusted.")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_trusted_file_imports_numpy_cryptography_numba_and_its_own_folder(path):
    assert foreign(ast.parse(path.read_text(encoding="utf-8"))) == set()


def test_the_rule_can_fail():
    text = "import scipy\nfrom tukeydp.hints import programs\nfrom tukeydp.trusted.laws import f\nimport numpy.linalg"
    assert foreign(ast.parse(text)) == {"scipy", "tukeydp.hints"}
    assert foreign(ast.parse("def f():\n    import tukeydp")) == {"tukeydp"}


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            docs |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    with tokenize.open(path) as file:
        tokens = [t for t in tokenize.generate_tokens(file.readline) if t.type not in skipped]
    return len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - docs)


# Lines of code, part by part: they may only shrink. What nobody needs who leaves out exact depth and `td.rem` stands in
# folders of its own, and so does what reads rows in passes.
MOST = {"": 4270, "sampling": 1500, "streams": 540, "exact": 1540, "rem": 440, "sizes": 1520}


@pytest.mark.parametrize("part", MOST)
def test_the_folder_does_not_grow(part, capsys):
    lines = {path.stem: code_lines(path) for path in FILES if path.parent == FOLDER / part}
    with capsys.disabled():
        sys.stdout.write(f"trusted/{part}: {sum(lines.values())} lines of code in {len(lines)} files ")
    assert sum(lines.values()) <= MOST[part]


def test_every_part_is_counted():
    assert {path.parent.relative_to(FOLDER).as_posix() for path in FILES} == {part or "." for part in MOST}


def bound_twice(tree: ast.Module) -> set[str]:
    """Names that stand for two things at the top of a file: all functions see the last one only."""
    found = [
        name.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    ]
    found += [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {name for name in found if found.count(name) > 1}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_name_at_the_top_of_a_file_means_one_thing(path):
    assert bound_twice(ast.parse(path.read_text(encoding="utf-8"))) == set()


def test_two_meanings_are_seen():
    assert bound_twice(ast.parse("A, B = 1, 2\nC: int = 3\ndef f(): A = 4\nB = 5\ndef C(): pass")) == {"B", "C"}


def test_lines_of_code_are_counted(tmp_path):
    path = tmp_path / "t.py"
    path.write_text('"""Doc."""\n\n# comment\nx = (1,\n     2)\n\n\ndef f():\n    """Doc\n    more."""\n    return x\n')
    assert code_lines(path) == 4


# Other people's mechanisms and the paper's Algorithm 3 have prices and noise of their own; the audit looks at keys.
WITH_PRICES_OF_THEIR_OWN = {"baselines/setting.py", "paper/algorithm3.py", "audit/checks/scale_first.py"}


def consuming(tree: ast.AST) -> bool:
    """Whether a file consumes a charge by itself, rather than by a step that knows its own sensitivity."""
    names = {"for_bounded_range", "for_any_law", "consume"}
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names
        for node in ast.walk(tree)
    )


def test_charges_are_consumed_in_the_trusted_folder_only():
    outside = {path for path in FOLDER.parent.rglob("*.py") if FOLDER not in path.parents}
    found = {path for path in outside if consuming(ast.parse(path.read_text(encoding="utf-8")))}
    assert {path.relative_to(FOLDER.parent).as_posix() for path in found} == WITH_PRICES_OF_THEIR_OWN
    assert consuming(ast.parse("def f(charge): return charge.for_any_law().bits()"))
    assert not consuming(ast.parse("def f(charge): return noised_counts([1], charge)"))
