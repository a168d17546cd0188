"""Forked, spawned and threaded workers never repeat a draw.

Points lie on grids of 2^44 steps a column, so that two equal ones among a few dozen come by chance once in 10^20 runs
or less: a repetition is a shared stream.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

# Every way that keys are used: boxem's two, a mean's dealings and coins, noise, and a test's coin.
RELEASES = """
import numpy as np, tukeydp as td
x = np.random.default_rng(0).normal(size=(60, 2))
def releases(_=None):
    given = {"epsilon": 1, "bounds": (-5, 5)}
    return [
        td.boxem(x, **given).point.tobytes(),
        td.mean(x, mechanism="subset", **given).point.tobytes(),
        td.mean(x, mechanism="two-step", **given).point.tobytes(),
        td.mean(x, mechanism="cube", sd=1, confidence="0.95", **given).point.tobytes(),
        np.array([line.mean for line in td.summary(x, by=["A"] * 60, keys=["A"], **given).lines]).tobytes(),
        td.baselines.analytic_gaussian(x, delta="1e-6", **given).point.tobytes(),
    ]
"""
SPAWNED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(METHOD)) as pool:
        found = [point for points in pool.map(releases, range(6)) for point in points] + releases()
    print(len(found), len(set(found)))
"""
FORKED = """
import os
found, ends = releases(), []
for _ in range(3):
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        os.write(write, b"".join(point.ljust(16) for point in releases()))
        os._exit(0)
    os.close(write)
    ends.append(read)
for read in ends:
    with os.fdopen(read, "rb") as file:
        content = file.read()
    found += [content[i : i + 16] for i in range(0, len(content), 16)]
found += releases()
print(len(found), len(set(found)))
"""


def counted(tmp_path, code):
    script = tmp_path / "script.py"
    script.write_text(RELEASES + code)
    done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_draw_differently(tmp_path):
    assert counted(tmp_path, FORKED) == [30, 30]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_of_processes_draw_differently(tmp_path, method):
    if method == "fork" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    assert counted(tmp_path, SPAWNED.replace("METHOD", repr(method))) == [42, 42]


def test_threads_draw_differently():
    names: dict[str, object] = {}
    exec(RELEASES, names)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.extend(names["releases"]())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found))) == (48, 48)


def test_a_shared_stream_would_be_noticed(tmp_path):
    """The control: children that inherit a source made before the fork repeat each other."""
    shared = "import tukeydp.trusted.bits as r, os, itertools; K, C = os.urandom(32), itertools.count(); import numpy"
    seeded = RELEASES.replace("import numpy", shared, 1)
    patched = seeded + "r.SystemRandomness.key = lambda self: r.derived_key(K, next(C))\n"
    script = tmp_path / "script.py"
    script.write_text(patched + FORKED)
    done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=600)
    assert [int(n) for n in done.stdout.split()] == [30, 12]
