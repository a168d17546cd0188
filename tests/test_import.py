"""The package loads what is asked for, when it is asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tukeydp as td

HEAVY = ("numpy", "scipy", "numba", "highspy", "cryptography", "typer", "rich", "narwhals")


def loaded_after(code):
    """Which of the heavy packages a fresh process has loaded then."""
    program = f"import sys\n{code}\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_import_loads_nothing_heavy():
    assert loaded_after("import tukeydp") == []
    assert "numpy" in loaded_after("import tukeydp; tukeydp.mean")  # the control


def test_the_version_is_printed_without_loading_the_commands():
    code = "import sys; sys.argv = ['tukeydp', '--version']; from tukeydp.cli import main; main()"
    assert loaded_after(code) == []


def test_no_public_name_loads_what_it_may_not_need():
    assert not {"scipy", "numba", "highspy"} & set(loaded_after("import tukeydp; tukeydp.mean; tukeydp.boxem"))


def test_every_public_name_is_there_and_known_to_type_checkers():
    names = set(td.__all__) - {"__version__"}
    for name in names:
        assert getattr(td, name) is not None
    tree = ast.parse(Path(td.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    checked = {alias.name: node.module for node in block.body for alias in node.names}
    assert set(checked) == names
    assert {name: home for name, home in td._HOMES.items() if name in names} == {
        name: home for name, home in checked.items() if home != "tukeydp"
    }
    assert names <= set(dir(td))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'tukeydp' has no attribute 'average'"):
        _ = td.average
    with pytest.raises(AttributeError, match="no attribute 'average'"):
        _ = td.baselines.average
    with pytest.raises(ImportError):
        exec("from tukeydp import average")


def test_baselines_that_need_geometry_are_found_either_way():
    program = "import tukeydp.baselines as b; b.tukey_median; b.paper_recipe"
    subprocess.run([sys.executable, "-c", program], check=True)
