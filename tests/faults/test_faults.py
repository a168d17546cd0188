"""What fails, fails closed: an error, never a value. Or the value is the right one, whatever has failed.

Out of memory, no entropy, a solver that raises or lies, a worker that dies.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from support.leaks import WAYS, table
from support.oracle import depth as oracle_depth
from tukeydp.cli import main
from tukeydp.data.numbers import number
from tukeydp.hints import float_programs
from tukeydp.trusted import exponential
from tukeydp.trusted.sampling import draws

BOXED = {"epsilon": 1, "bounds": (-10, 10)}


class TestEntropy:
    """Keys come from `os.urandom`, in one place."""

    @pytest.mark.parametrize("error", [OSError("no source"), NotImplementedError("no source")])
    @pytest.mark.parametrize("way", WAYS)
    def test_a_source_that_raises(self, way, error, monkeypatch):
        def dead(size):
            raise error

        monkeypatch.setattr(os, "urandom", dead)
        with pytest.raises(type(error)):
            WAYS[way](table(), None)

    @pytest.mark.parametrize("length", [0, 16, 31, 33])
    @pytest.mark.parametrize("way", WAYS)
    def test_a_source_that_gives_too_little(self, way, length, monkeypatch):
        """Keys that are hashed on would hide it."""
        real = os.urandom
        monkeypatch.setattr(os, "urandom", lambda size: real(length))
        with pytest.raises(OSError, match="randomness has failed"):
            WAYS[way](table(), None)

    @pytest.mark.parametrize("way", ["boxem", "rem", "mean", "mean without bounds", "cube", "spread", "summary"])
    def test_a_source_that_repeats_itself(self, way, monkeypatch):
        monkeypatch.setattr(os, "urandom", lambda size: b"\7" * size)
        with pytest.raises(OSError, match="randomness has failed"):
            WAYS[way](table(), None)

    def test_the_budget_is_spent_all_the_same(self, monkeypatch):
        """The run had begun; nothing is given back for a failure that depends on who knows what."""
        account = td.Accountant(1)
        monkeypatch.setattr(os, "urandom", lambda size: b"")
        with pytest.raises(OSError, match="randomness"):
            td.boxem(table(), **BOXED, accountant=account)
        assert account.totals.epsilon == 1

    def test_on_the_command_line(self, monkeypatch, capfd, tmp_path):
        path, report = tmp_path / "t.csv", tmp_path / "r.json"
        path.write_text("a\n" + "1\n" * 9)
        monkeypatch.setattr(os, "urandom", lambda size: b"")
        asked = ["mean", path, "--columns=a", "--epsilon=1", "--bounds=0,4", f"--out={report}"]
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, asked)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        assert (stopped.value.code, out, report.exists()) == (1, "", False)
        assert "unexpected OSError; nothing was released" in err


class TestMemory:
    @pytest.mark.parametrize("way", ["boxem", "boxem, exact depth", "rem", "mean, subset", "mean, two steps", "cube"])
    def test_no_allocation_that_fails_leads_to_a_value(self, way, monkeypatch):
        """numpy.empty, zeros, full, array and asarray fail from the k-th call on, for k spread over the run."""
        run, rows = WAYS[way], table()
        names = ("empty", "zeros", "full", "array", "asarray", "arange", "concatenate")
        real = {name: getattr(np, name) for name in names}
        calls, failing_from = 0, float("inf")

        def counting(name):
            def called(*given, **named):
                nonlocal calls
                calls += 1
                if calls >= failing_from:
                    raise MemoryError
                return real[name](*given, **named)

            return called

        for name in names:
            monkeypatch.setattr(np, name, counting(name))
        run(rows, td.seeded(1))
        total, calls = calls, 0
        run(rows, td.seeded(1))
        total = min(total, calls)  # the second run has less to look up
        assert total
        for k in {1, 2, total // 3 + 1, total // 2 + 1, total - 1, total} - {0}:
            calls, failing_from = 0, k
            with pytest.raises(MemoryError):
                run(rows, td.seeded(1))
        failing_from, calls = float("inf"), 0
        assert run(rows, td.seeded(1)).guarantee is not None

    def test_a_cell_is_not_missing_because_memory_was_short(self):
        class Short(float):
            def __float__(self):
                raise MemoryError

        class Odd(float):
            def __float__(self):
                raise ArithmeticError

        assert np.isnan(number(Odd()))
        with pytest.raises(MemoryError):
            number(Short())

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of another kind")
    def test_a_process_without_memory_releases_nothing(self):
        """In earnest: a limit on the address space, a little above what is in use, and a table that does not fit."""
        code = (
            "import resource, sys, numpy as np, tukeydp as td\n"
            "td.boxem(np.zeros((99, 3)), epsilon=1, bounds=(0, 1))\n"
            "x = np.random.default_rng(0).normal(size=(400_000, 3))\n"
            "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
            "resource.setrlimit(resource.RLIMIT_AS, (used + 12_000_000,) * 2)\n"
            "try:\n    release = td.boxem(x, epsilon=1, bounds=(-9, 9))\n"
            "except MemoryError:\n    sys.exit(9)\n"
            "print(release)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        assert done.stdout == ""
        assert done.returncode == 9, done.stderr


class _Solver:
    """HiGHS, but for one method."""

    def __init__(self, real, name, what):
        self._real, self._name, self._what = real, name, what

    def __getattr__(self, name):
        return self._what if name == self._name else getattr(self._real, name)


def broken_solver(monkeypatch, name, what):
    real = float_programs.quiet_solver
    for module in ("tukeydp.hints.linear_programs", "tukeydp.hints.float_programs"):
        monkeypatch.setattr(f"{module}.quiet_solver", lambda *a, **k: _Solver(real(*a, **k), name, what))


class TestSolver:
    """Its answers are hints: a solver that raises or lies changes nothing but the time; one that is missing is said."""

    def test_one_that_raises(self, monkeypatch):
        def fails(*_):
            raise RuntimeError("no licence")

        broken_solver(monkeypatch, "run", fails)
        release = td.boxem(table(), **BOXED, depth=td.Random(20, axes=False, seed=1))
        assert np.isfinite(release.point).all()

    def test_one_that_is_not_there(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "highspy", None)
        with pytest.raises(ImportError):
            td.boxem(table(), **BOXED, depth=td.Random(20, axes=False, seed=1))

    @pytest.mark.parametrize("kind", ["nothing", "nonsense"])
    def test_one_that_fails_and_says_nothing_or_nonsense(self, kind, monkeypatch):
        """The law stays the exact one. False alarms: 1e-6; a law of another epsilon is found out."""

        class Empty:
            col_value: tuple[float, ...] = ()
            row_dual: tuple[float, ...] = ()

        class Nonsense:
            col_value = (np.nan, 1e300)
            row_dual = (1e300,) * 40

        broken_solver(monkeypatch, "getSolution", Empty if kind == "nothing" else Nonsense)
        x = np.random.default_rng(3).integers(0, 5, size=(12, 2)).astype(float)
        notion = td.Directions([[1, 1], [1, -1], [2, 1]])
        grid = [(a, b) for a in range(5) for b in range(5)]
        given = {"epsilon": 1, "bounds": (0, 4), "resolution": 1, "depth": notion}
        source = td.seeded(11)
        points = [tuple(td.boxem(x, **given, randomness=source).point.astype(int).tolist()) for _ in range(200)]
        counts = np.array([points.count(y) for y in grid])
        rows = [tuple(row) for row in x.astype(int).tolist()]
        depths = np.array([oracle_depth(rows, y, [(1, 1), (1, -1), (2, 1)]) for y in grid])

        def law(epsilon):
            weights = np.exp(epsilon * depths / 2)
            return weights / weights.sum()

        assert g_test(counts, law(1.0)) > FALSE_ALARM
        assert g_test(counts, law(3.0)) < FALSE_ALARM


class TestWorkers:
    def test_a_thread_that_fails_beside_one_that_found_a_point(self, monkeypatch):
        """Which of them is first must not decide whether there is a release."""
        real, main_thread = exponential.Search.first_accepted, threading.current_thread()

        def first_accepted(self, stream, lane, order):
            if threading.current_thread() is not main_thread:
                raise MemoryError
            return real(self, stream, lane, order)

        monkeypatch.setattr(exponential, "_LANE_WORDS", (64,))
        monkeypatch.setattr(draws, "available_cores", lambda: 4)
        monkeypatch.setattr(exponential.Search, "first_accepted", first_accepted)
        x = np.random.default_rng(0).normal(size=(60, 4))
        failed = 0
        for i in range(20):
            try:
                td.boxem(x, epsilon=1, bounds=(-5, 5), depth=td.Random(20, axes=False, seed=1), randomness=td.seeded(i))
            except MemoryError:
                failed += 1
        assert failed

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_killed_process_gives_no_value_and_has_spent(self, tmp_path):
        ledger = tmp_path / "study.db"
        td.Accountant.open(ledger, epsilon=1)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            future = pool.submit(killed_in_the_middle, str(ledger))
            with pytest.raises(BrokenProcessPool):
                future.result()
        assert float(td.Accountant.open(ledger).remaining().epsilon) == 0.5


def killed_in_the_middle(ledger):
    exponential.Search.run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return td.boxem(table(), epsilon="1/2", bounds=(-10, 10), accountant=td.Accountant.open(ledger)).point
