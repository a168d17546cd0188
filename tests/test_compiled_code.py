"""Compiled code is kept for the sources it was made from: all of them, and no others."""

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tukeydp
from tukeydp.trusted import compiled_code
from tukeydp.trusted.exact.loops import minor

PACKAGE = Path(tukeydp.__file__).parent
SOURCES = {PACKAGE / name for name in compiled_code.USES}
# Of arrays and of numpy's generators; what else compiled functions read of their arguments are fields of records.
OF_NUMPY = {"shape", "size", "dtype", "T", "copy", "min", "sum", "random", "integers", "standard_normal"}
DECORATORS = {"compiled", "compiled_in_memory", "njit", "jit", "intrinsic", "vectorize", "guvectorize"}


@cache
def trees():
    """Of the sources, and of all files that mention numba or our decorator."""
    texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
    words = ("numba", "compiled_code")
    return {f: ast.parse(text) for f, text in texts.items() if f in SOURCES or any(word in text for word in words)}


def keeps_by_itself(tree):
    """Whether a source asks numba to keep compiled code."""
    return any(
        (isinstance(node, ast.keyword) and node.arg == "cache" and ast.unparse(node.value) != "False")
        or (isinstance(node, ast.Attribute) and node.attr == "enable_caching")
        for node in ast.walk(tree)
    )


def test_nothing_is_kept_in_another_way():
    assert not [file for file, tree in trees().items() if keeps_by_itself(tree)]
    assert keeps_by_itself(ast.parse("@njit(cache=True)\ndef f(): pass"))
    assert keeps_by_itself(ast.parse("f.enable_caching()"))


def compiled_functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = (mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list)
            if DECORATORS & {ast.unparse(mark) for mark in marks}:
                yield node


def file_of(module, name):
    """Where the thing is that `from module import name` gives."""
    below = PACKAGE.joinpath(*module.split(".")[1:])
    places = (below / f"{name}.py", below / name / "__init__.py", below.with_suffix(".py"), below / "__init__.py")
    return next(file for file in places if file.exists())


def imported(tree):
    """The file of every name that comes from this package."""
    return {
        alias.name: file_of(node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tukeydp"
        for alias in node.names
    }


def names_used(tree):
    """Names in compiled functions, and those that are handed to the decorator."""
    for function in compiled_functions(tree):
        yield from (n.id for line in function.body for n in ast.walk(line) if isinstance(n, ast.Name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DECORATORS and node.args:
            yield ast.unparse(node.args[0]).split(".")[0]


def fields_used(tree):
    """What compiled functions read of their arguments."""
    for function in compiled_functions(tree):
        arguments = {argument.arg for argument in function.args.args}
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and ast.unparse(node).split(".")[0] in arguments:
                yield node.attr


def fields_of_records(files):
    """Of those that stand in the files."""
    return {
        line.target.id
        for file in files
        for node in ast.walk(trees()[file])
        if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }


def missed(file, tree):
    """What compiled functions of a file are made from although it stands in none of their sources."""
    if any(compiled_functions(tree)) and file not in SOURCES:
        yield file.name
    own = file.relative_to(PACKAGE).as_posix()
    files = {PACKAGE / name for name in compiled_code.made_from(own)} if file in SOURCES else SOURCES
    homes = imported(tree)
    yield from (name for name in names_used(tree) if homes.get(name, file) not in {file, *files})
    yield from set(fields_used(tree)) - fields_of_records(files) - OF_NUMPY


def test_the_sources_are_all_that_kernels_are_made_from():
    """Files with compiled functions, whatever of ours these use, and records that they are handed."""
    assert set(trees()) >= SOURCES
    assert {file.name: found for file, tree in trees().items() if (found := list(missed(file, tree)))} == {}
    assert sum(any(compiled_functions(tree)) for tree in trees().values()) > 10


@pytest.mark.parametrize(
    ("file", "source", "name"),
    [
        ("elsewhere.py", "@compiled\ndef f(x): return x", "elsewhere.py"),
        ("hints/simplex.py", "from tukeydp.blas import DIM\n@njit(nogil=True)\ndef f(x): return DIM", "DIM"),
        ("hints/simplex.py", "from tukeydp import blas\nf = compiled(blas.f)", "blas"),
        ("hints/facet_walk.py", "from tukeydp.trusted.exact import loops\nf = compiled(loops.f)", "loops"),
        ("hints/simplex.py", "@compiled(fastmath=True)\ndef f(x): return x.no_such_field", "no_such_field"),
    ],
)
def test_a_source_that_is_left_out_is_seen(file, source, name):
    assert name in missed(PACKAGE / file, ast.parse(source))


def test_names_of_kept_functions_are_distinct():
    """The line of a function is in no name, so that a function that moves leaves no second file."""
    for file in SOURCES:
        names = [node.name for node in compiled_functions(trees()[file])]
        assert len(names) == len(set(names)), file


PROJECT = """
from fractions import Fraction
import numpy as np
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling import compiling, kept
compiling.keep()
rows, box = np.array([[0, 0], [1, 2], [2, 1], [1, 1]]), Box((0, 0), (3, 3))
search = Search(level_sets(rows, np.eye(2, dtype=np.int64)), box, [(Group(0, 4, box.size), box)], Fraction(1))
point = search.run(Keystream(bytes(32)), 0, 1e6, 1)[0].point
hits = kept.propose.stats.cache_hits
print(hits[kept.propose.signatures[0]] if hits else 0, sum(point) * 1.0)
"""


def projected(folder, **environment):
    """Whether a process found its code compiled, and what it computed, with the package in the folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": "", **environment}
    done = subprocess.run([sys.executable, "-c", PROJECT], env=environment, capture_output=True, text=True, check=True)
    hits, total = done.stdout.split()
    return bool(int(hits)), float(total)


def kept_files(folder):
    return sorted(path.name for path in folder.rglob("*.nb[ic]"))


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "tukeydp", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_change_in_a_file_that_a_kernel_uses_is_seen(copied):
    """A mended bug of records.py must not go on running inside a loop of another file, nor a new one stay unseen."""
    found, point = projected(copied)
    assert not found
    kept = kept_files(copied)
    assert len({name.split("-")[0] for name in kept}) == len(kept) / 2 >= 1  # an index and a file for each function
    text = (copied / "tukeydp/trusted/parameters.py").read_text(encoding="utf-8")
    (copied / "tukeydp/trusted/parameters.py").write_text(text + "\n# no kernel is made from this\n", encoding="utf-8")
    assert projected(copied) == (True, point)
    assert kept_files(copied) == kept
    used = copied / "tukeydp/trusted/records.py"
    numbers = "EXHAUSTED, ACCEPTED, UNDECIDED, STARVED, SHALLOW = "
    before = used.read_text(encoding="utf-8")
    used.write_text(before.replace(f"{numbers}0, 1, 2, 3, 4", f"{numbers}1, 0, 2, 3, 4"), encoding="utf-8")
    assert used.read_text(encoding="utf-8") != before
    # What was compiled before would take every accepted point for the end of the words.
    assert projected(copied) == (False, point)
    assert len(kept_files(copied)) == len(kept)  # what was kept of other sources is gone
    assert not set(kept_files(copied)) & set(kept)


def test_a_change_counts_for_those_that_use_it_alone():
    """So that a kernel under work does not have all others compiled again."""
    programs = "hints/programs.py"
    users = {name for name in compiled_code.USES if programs in compiled_code.made_from(name)}
    assert users == {programs, "hints/nodes.py"}


def test_where_the_package_cannot_be_written_to_code_is_kept_for_the_user(copied):
    (copied / "tukeydp/trusted/sampling/__pycache__").write_bytes(b"no folder")
    assert not projected(copied, XDG_CACHE_HOME=str(copied / "user"), HOME=str(copied / "user"))[0]
    assert kept_files(copied / "tukeydp") == []
    assert any(name.startswith("loops.propose-") for name in kept_files(copied / "user"))


def test_nothing_is_kept_once_a_source_has_changed_under_the_process(monkeypatch, tmp_path):
    """Its modules may be of either state."""

    def kept():
        again = compiled_code.compiled(minor.py_func)
        again._cache._cache_path = again._cache._cache_file._cache_path = str(tmp_path)
        monkeypatch.setattr(again._cache._impl.locator, "_cache_path", str(tmp_path))
        again._cache._cache_file._index_path = str(tmp_path / "minor.nbi")
        again(np.zeros((4, 2)), np.zeros((4, 2)), 0, 1)
        return compiled_code.is_kept(again)

    with monkeypatch.context() as changed:
        changed.setattr(compiled_code, "hash_of_sources", lambda source: "other")
        assert not kept()
        assert kept_files(tmp_path) == []
    assert kept()


def test_the_hash_is_that_of_all_that_a_file_is_made_from(monkeypatch, tmp_path):
    def hashes():
        return {name: compiled_code.hash_of_sources(name) for name in compiled_code.USES}

    for name in ("trusted/compiled_code.py", *compiled_code.USES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(compiled_code, "_PACKAGE", tmp_path)
    before = hashes()
    assert len(set(before.values())) == len(before)
    (tmp_path / "trusted/shapes.py").write_text("changed", encoding="utf-8")
    changed = {name for name, value in hashes().items() if value != before[name]}
    assert changed == {"trusted/shapes.py", "trusted/sampling/loops.py", "hints/nodes.py"}
    (tmp_path / "trusted/compiled_code.py").write_text("changed", encoding="utf-8")
    assert not set(hashes().values()) & set(before.values())


def test_files_are_named_by_the_hash():
    stamp = compiled_code.hash_of_sources("trusted/exact/loops.py")
    kept = compiled_code._SourcesCache(minor.py_func)._cache_file
    assert Path(kept._index_path).name.startswith(f"loops.minor-{stamp[:16]}.py")
    assert kept._source_stamp == stamp
    assert compiled_code.version_of_numba() == compiled_code.numba.__version__


@pytest.mark.parametrize("found", [None, "code"])
def test_who_waits_is_told_where_nothing_is_kept(found, monkeypatch):
    told = []
    monkeypatch.setattr(compiled_code.FunctionCache, "load_overload", lambda *_: found)
    monkeypatch.setattr(compiled_code, "_announce", told.append)
    assert compiled_code._SourcesCache(minor.py_func).load_overload((), None) == found
    assert told == ([] if found else ["trusted/exact/loops.py"])


def test_words_wrap_around_in_python_too():
    run = compiled_code._run_as_python(lambda word: word * np.uint64(3))
    assert run(np.uint64(2**63 + 1)) == (3 * (2**63 + 1)) % 2**64


def test_what_may_be_called_is_compiled_into_others():
    def twice(x):
        return 2 * x

    compiled_code.may_be_called(twice)
    assert compiled_code.compiled_in_memory(lambda x: twice(x) + 1)(3) == 7


def test_stale_files_are_removed_and_those_of_others_are_not(tmp_path):
    now = compiled_code.hash_of_sources("trusted/exact/loops.py")[:16]
    python = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
    other = "0123456789abcdef"
    stay = [f"loops.f-{now}.{python}.nbi", f"loops.f-{now}.{python}.1.nbc", "loops.f-12.nbi"]
    stay += [f"loops.f-{other}.py27.nbi", f"sweeps.f-{other}.{python}.nbi", "loops.pyc"]
    stale = [f"loops.f-{other}.{python}.nbi", f"loops.renamed-{other}.{python}.12.nbc"]
    for name in stay + stale:
        (tmp_path / name).write_bytes(b"")
    compiled_code._remove_stale(tmp_path, "trusted/exact/loops.py")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stay)


@pytest.mark.parametrize("terminal", [True, False])
def test_who_waits_at_a_terminal_is_told_once(terminal, monkeypatch, capsys):
    monkeypatch.setattr(compiled_code, "announced", set())
    monkeypatch.setattr(compiled_code.sys.stderr, "isatty", lambda: terminal, raising=False)
    for source in ("trusted/exact/loops.py", "trusted/exact/loops.py"):
        compiled_code._announce(source)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == ("Compiling exact depth, up to half a minute, once in this environment ...\n" if terminal else "")
