"""Without numba the same bits: every kernel, as Python and compiled, on calls of the library and on hostile arguments.

Both run in processes of their own (support/kernel_calls.py).
"""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from support import kernel_calls
from tukeydp.trusted import compiled_code

TESTS = Path(__file__).parent
PACKAGE = Path(compiled_code.__file__).parent.parent
pytestmark = pytest.mark.skipif(compiled_code.numba is None, reason="there is nothing to compare with")


def run(mode, file, **environment):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(PACKAGE.parent)]), **environment}
    command = [sys.executable, "-m", "support.kernel_calls", mode, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """For each kernel: how many calls, and which of them came out otherwise."""
    file = tmp_path_factory.mktemp("calls") / "calls.pickle"
    run("record", file, TUKEYDP_NUMBA="off")
    return json.loads(run("repeat", file))


def test_every_kernel_gives_the_same_bits_with_numba_and_without(compared):
    assert {name: seen["differ"] for name, seen in compared.items() if seen["differ"]} == {}
    assert sum(seen["calls"] for seen in compared.values()) > 1000


def test_every_kernel_was_called_or_is_part_of_one_that_was(compared):
    called = {name for name, seen in compared.items() if seen["calls"]}
    assert len(called) > 60
    assert set(kernel_calls.kernels()) - parts_of(called) == set()


def test_one_bit_is_seen(compared):
    """In every call that gives a number at all."""
    assert {name for name, seen in compared.items() if seen["calls"] and not seen["caught"]} == set()
    assert kernel_calls.bits_of(np.float64(1.0)) != kernel_calls.bits_of(np.nextafter(1.0, 2.0))
    assert kernel_calls.bits_of(0.0) != kernel_calls.bits_of(-0.0)
    assert kernel_calls.bits_of(np.array([1, 2])) != kernel_calls.bits_of(np.array([1, 3]))


def parts_of(called):
    """These kernels, and those that they call."""
    found = set(called)
    waiting = list(called)
    while waiting:
        for name in calls_of().get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


@cache
def calls_of():
    """For each kernel, those whose names stand in it."""
    names = set(kernel_calls.kernels())
    found = {}
    for source in compiled_code.USES:
        tree = ast.parse((PACKAGE / source).read_text(encoding="utf-8"))
        module = source.removesuffix(".py").replace("/", ".")
        homes = {
            alias.asname or alias.name: f"{node.module.removeprefix('tukeydp.')}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tukeydp")
            for alias in node.names
        }
        homes["compiled_chain"] = "paper.polytope_kernels.chain"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                found[f"{module}.{node.name}"] = {homes.get(name, f"{module}.{name}") for name in used} & names
    return found


SAFE = """
import warnings
warnings.simplefilter("error")
import numpy as np, tukeydp as td
from tukeydp.trusted import compiled_code
assert compiled_code.numba is None
x = np.random.default_rng(0).normal(size=(200, 2))
print(td.boxem(x, epsilon=1, bounds=(-9, 9), randomness=td.seeded(1)).point.tolist())
"""


@pytest.mark.parametrize("way", ["TUKEYDP_NUMBA", "not there"])
def test_numba_is_not_needed(way, tmp_path):
    """Nor for this NumPy: an import that fails is as good as none. Overflows of words warn nobody."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    if way == "TUKEYDP_NUMBA":
        environment["TUKEYDP_NUMBA"] = "off"
    else:
        (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 2.4 or less')\n")
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    done = subprocess.run([sys.executable, "-c", SAFE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    import tukeydp as td

    x = np.random.default_rng(0).normal(size=(200, 2))
    here = td.boxem(x, epsilon=1, bounds=(-9, 9), randomness=td.seeded(1))
    assert done.stdout.strip() == str(here.point.tolist())
