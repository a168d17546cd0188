"""Neighbouring tables with odd rows, every public mechanism, and everything a run shows besides its point."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import inspect
import itertools
import logging
import os
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp import approximate, baselines
from tukeydp.mechanisms.readable_check import Check, CheckPlan, Counts, passed, reasons_to_stop
from tukeydp.mechanisms.registry import MECHANISMS
from tukeydp.results.counts_release import CountsRelease
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.results.release import Outcome
from tukeydp.results.summary_result import Summary

N = 300  # rows: enough that td.rem releases, and that a file is checked at epsilon = 1
D = 2
SECRET = 4.711815162342  # stands in the row of every neighbour that holds numbers, and nowhere else


def table(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, D))


# What the first row is swapped for. Numbers only: each is a row of a float table.
ROWS = {
    "a plain row": [SECRET, SECRET],
    "a missing cell": [np.nan, SECRET],
    "a missing row": [np.nan, np.nan],
    "infinities": [np.inf, -np.inf],
    "huge": [1.7e308, -1.7e308],
    "tiny": [5e-324, -5e-324],
    "minus zero": [-0.0, SECRET],
    "far away": [SECRET * 1e6, -SECRET * 1e6],
    "a duplicate": table()[1].tolist(),
}
# The same for tables of Python objects, and as text in files.
OBJECTS = {
    "text": ["secret-4711", SECRET],
    "empty": [None, ""],
    "a decimal without a value": [Decimal("sNaN"), Decimal("Infinity")],
    "an integer beyond all floats": [10**400, -(10**400)],
    "a list": [[SECRET], SECRET],
    "a dict": [{"secret": 4711}, SECRET],
    "bytes": [b"\xff\xfe4711", SECRET],
    "a complex number": [4711j, SECRET],
}


def neighbour(row: list[float]) -> np.ndarray:
    x = table()
    x[0] = row
    return x


def neighbour_of_objects(row: list[Any]) -> list[list[Any]]:
    x: list[list[Any]] = table().tolist()
    x[0] = row
    return x


def degenerate() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pairs of neighbours that are odd as a whole: each with a table in which one row is a plain one."""
    found = {
        "all missing": np.full((N, D), np.nan),
        "all equal": np.full((N, D), 1.25),
        "all infinite": np.full((N, D), np.inf),
        "two values": np.tile([[0.0, 1.0], [1.0, 0.0]], (N // 2, 1)),
        "on a line": np.repeat(np.linspace(-3, 3, N)[:, np.newaxis], D, axis=1),
        "huge and tiny": np.tile([[1e308, 5e-324], [-1e308, -5e-324]], (N // 2, 1)),
    }
    pairs = {}
    for name, x in found.items():
        other = x.copy()
        other[0] = [0.5, -0.5]
        pairs[name] = (x, other)
    return pairs


Result = Outcome | Summary | GroupedRelease | QuantileRelease | CountsRelease
Run = Callable[[Any, Any], Result]  # table, randomness -> outcome
_RICH = {"epsilon": 8, "bounds": (-10, 10)}  # enough for what takes several steps
_ARMS = ["A", "B", "C"] * (N // 3)  # C is not listed: those rows belong to no group
_BOXED = {"epsilon": 1, "bounds": (-10, 10)}
_NOISED = {**_BOXED, "delta": "1e-6"}
_FREE = {"epsilon": 1, "delta": "1e-6"}


def _run(function: Callable[..., Any], **given: Any) -> Run:
    return lambda x, randomness: function(x, **given, randomness=randomness)


def _of_secret_size(function: Callable[..., Any], **given: Any) -> Run:
    """Lists are refused there, because an empty one has no columns: their cells go as an array of objects."""
    run = _run(function, neighbours="add-remove", rows=N, **given)
    return lambda x, randomness: run(_objects(x) if isinstance(x, list) else x, randomness)


def _objects(rows: list[list[Any]]) -> np.ndarray:
    """Cell by cell: numpy would look into a cell that is a list."""
    x = np.empty((len(rows), D), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            x[i, j] = cell
    return x


def _counted(**given: Any) -> Run:
    """Counts of the first column, by its name where it has one."""

    def run(x: Any, randomness: Any) -> Any:
        column = 0 if isinstance(x, np.ndarray | list) else "a"
        table = _objects(x) if isinstance(x, list) and "neighbours" in given else x
        return td.counts(table, column, epsilon=1, **given, randomness=randomness)

    return run


def _first_rows(function: Callable[..., Any]) -> Run:
    """Algorithm 3 counts points for each level: twenty rows, the one that differs among them, take milliseconds."""
    given = {"epsilon": 1, "delta": "1e-2", "bounds": (-10, 10), "depth": td.AxisAligned()}
    return lambda x, randomness: function(x[:20], **given, randomness=randomness)


def _medians(rows: Any) -> Any:
    return np.median(rows, axis=0)


def _halves(x: Any) -> tuple[Any, Any]:
    """The first column, and the last."""
    if isinstance(x, np.ndarray):
        return x[:, 0], x[:, -1]
    return [[row[0]] for row in x], [[row[-1]] for row in x]


WAYS: dict[str, Run] = {
    "boxem": _run(td.boxem, **_BOXED),
    "boxem, axes": _run(td.boxem, depth=td.AxisAligned(), **_BOXED),
    "boxem, exact depth": _run(td.boxem, depth=td.Exact(), **_BOXED),
    "boxem, coarse grid": _run(td.boxem, resolution=1, **_BOXED),
    "boxem, certificate": _run(td.boxem, certify="0.1", **_BOXED),
    "rem": _run(td.rem, **_FREE),
    "mean": _run(td.mean, **_BOXED),
    "mean, subset": _run(td.mean, mechanism="subset", **_BOXED),
    "mean, three dealings": _run(td.mean, mechanism="subset", blocks=20, partitions=3, **_BOXED),
    "mean, two steps": _run(td.mean, mechanism="two-step", **_BOXED),
    "mean, known sd": _run(td.mean, mechanism="two-step", sd=1, **_BOXED),
    "mean, cube": _run(td.mean, mechanism="cube", **_BOXED),
    "mean, scale first": _run(td.mean, **_RICH),
    "mean, confidence": _run(td.mean, confidence="0.95", **_RICH),
    "mean, confidence and known sd": _run(td.mean, confidence="0.95", sd=1, joint=True, **_BOXED),
    "mean without bounds": _run(td.mean, **_FREE),
    "mean without bounds, confidence": _run(td.mean, confidence="0.95", **(_FREE | {"epsilon": 8})),
    "summary": _run(td.summary, **_RICH),
    "summary, without intervals": _run(td.summary, confidence=None, **_RICH),
    "summary, shares": _run(td.summary, epsilon=1, bounds=(0, 1)),
    "summary, groups": _run(td.summary, by=_ARMS, keys=["A", "B"], **_BOXED),
    "mean, groups": _run(td.mean, by=_ARMS, keys=["A", "B"], **_BOXED),
    "mean, groups, scale first": _run(td.mean, by=_ARMS, keys=["A", "B"], check=td.Check(unlisted="0.5"), **_RICH),
    "mean, persons": _run(td.mean, person=[i // 2 for i in range(N)], **_BOXED),
    "mean, add-remove": _of_secret_size(td.mean, **_BOXED),
    "boxem, groups": _run(td.boxem, by=_ARMS, keys=["A", "B"], **_BOXED),
    "boxem, add-remove": _of_secret_size(td.boxem, **_BOXED),
    "rem, add-remove": _of_secret_size(td.rem, **_FREE),
    "aggregate": _run(td.aggregate, statistic=_medians, blocks=40, **_BOXED),
    "regression": lambda x, randomness: td.regression(
        *_halves(x), epsilon=8, bounds=(-10, 10), blocks=40, randomness=randomness
    ),
    "regression, sums": lambda x, randomness: td.regression(
        *_halves(x), epsilon=8, ranges=(-10, 10), target_range=(-10, 10), confidence=0.9, randomness=randomness
    ),
    "quantiles": _run(td.quantiles, q=[0.25, 0.75], **_BOXED),
    "counts": _counted(edges=[-10, -1, 0, 1, 10]),
    "counts, categories": _counted(categories=[0, 1, "text"]),
    "counts, groups": _counted(edges=[-10, 0, 10], by=_ARMS, keys=["A", "B"]),
    "counts, persons": _counted(edges=[-10, 0, 10], person=[i // 2 for i in range(N)]),
    "counts, add-remove": _counted(edges=[-10, 0, 10], neighbours="add-remove", rows=N),
    "cube": _run(td.cube, **_BOXED),
    "cube, fill": _run(td.cube, fill=0, **_BOXED),
    "spread": _run(td.spread, **_BOXED),
    "gaussian": _run(baselines.gaussian, **(_NOISED | {"epsilon": "0.9"})),
    "analytic_gaussian": _run(baselines.analytic_gaussian, **_NOISED),
    "coinpress": _run(baselines.coinpress, deviation=1, **_NOISED),
    "huang_liang_yi": _run(baselines.huang_liang_yi, **_NOISED),
    "plan": _run(baselines.plan, **_NOISED),
    "approximate_boxem": _first_rows(approximate.approximate_boxem),
    "approximate_rem": _first_rows(approximate.approximate_rem),
}


def public_mechanisms() -> dict[str, Callable[..., Any]]:
    """Every function that takes an accountant, and so has a guarantee to spend."""
    found = {}
    for home in (td, baselines, approximate):
        for name in dir(home):
            value = getattr(home, name)
            if inspect.isfunction(value) and "accountant" in inspect.signature(value).parameters:
                found[name] = value
    return found | {
        run.__name__: run for run in (inspect.unwrap(getattr(m.run, "func", m.run)) for m in MECHANISMS.values())
    }


@dataclass
class Shown:
    """What a run let out besides its outcome."""

    error: tuple[str, str] | None = None
    trace: str = ""
    log: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    outcome: Result | None = None

    @property
    def silent(self) -> bool:
        return not (self.log or self.warned or self.written)


class _Keeping(logging.Handler):
    def __init__(self, kept: list[str]) -> None:
        super().__init__(level=0)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record.getMessage())


class Writing:
    """Listens to every file that Python opens for writing, makes, renames or removes, in any folder."""

    def __init__(self) -> None:
        self.heard: list[str] | None = None
        sys.addaudithook(self._listen)

    def _listen(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.heard is None:
            return
        # Modes of open() are letters, those of os.open() flags.
        writes = event == "open" and (
            any(letter in str(arguments[1] or "") for letter in "wax+") or bool((arguments[2] or 0) & 0b11)
        )
        # What a caller's own statistic prints goes nowhere: into the null device, for every block.
        if str(arguments[:1]) != str((os.devnull,)) and (
            writes
            or event
            in (
                "os.mkdir",
                "os.rename",
                "os.remove",
                "os.symlink",
                "tempfile.mkstemp",
                "tempfile.mkdtemp",
            )
        ):
            self.heard.append(f"{event} {arguments[0]}")

    @contextlib.contextmanager
    def into(self, heard: list[str]) -> Iterator[None]:
        self.heard = heard
        try:
            yield
        finally:
            self.heard = None


WRITING = Writing()


def watched(run: Callable[[], Result]) -> Shown:
    """Run it with logs at every level, all warnings, and files listened to."""
    shown = Shown()
    handler = _Keeping(shown.log)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        with warnings.catch_warnings(record=True) as caught, WRITING.into(shown.written):
            warnings.simplefilter("always")
            try:
                shown.outcome = run()
            except Exception as error:
                shown.error = (type(error).__name__, str(error))
                shown.trace = "".join(traceback.format_exception(error))
        shown.warned += [str(warning.message) for warning in caught]
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
    return shown


# What is paid for: the point, whether there is one, and what was released with it.
PAID = {
    "point",
    "values_by_share",
    "tables",
    "counts",
    "released",
    "calibration",
    "certificate",
    "interval",
    "lines",
    "source",
    "footnote",
}


def _without_counts(outcome: Result) -> Result:
    """Without the check's noisy counts, which are paid for, and what it says of them: a function of these alone."""
    settings = dict(outcome.settings)
    if "epsilon_check" not in settings or "unreadable_cells" not in settings:
        return outcome
    names = ("unreadable_cells", "fewest_values", "rows_unlisted")
    counts = Counts(*(settings.pop(name, None) for name in names))
    if outcome.n is None:
        del settings["unreadable_cells_most"]
    # What the caller allows is public, and stands in the settings, which are compared.
    most = settings.get("rows_unlisted_most")
    allowed = Check() if most is None else Check(unlisted=Fraction(most, outcome.n))
    said: set[str] = set()
    for in_memory, whole_rows in itertools.product((False, True), repeat=2):
        kind = {"grouped": counts.unlisted is not None, "in_memory": in_memory, "whole_rows": whole_rows}
        plan = CheckPlan(outcome.n, settings["epsilon_check"], allowed, **kind)
        said |= {*passed(plan, counts), f"Stopped before the release. {' '.join(reasons_to_stop(plan, counts))}"}
    assert any(note in said for note in outcome.notes), (outcome.notes, said)
    notes = tuple(note for note in outcome.notes if note not in said)
    return dataclasses.replace(outcome, settings=settings, notes=notes)


def public_part(outcome: Result) -> dict[str, Any]:
    """Every field and every public property of an outcome that is not paid for."""
    outcome = _without_counts(outcome)
    found: dict[str, Any] = {}
    for item in dataclasses.fields(outcome):
        if item.name not in PAID | {"rehearsal"}:
            value = getattr(outcome, item.name)
            found[item.name] = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(outcome, QuantileRelease):
        told = {name: value for name, value in outcome.to_dict().items() if name != "quantiles"}
        return found | {"private": outcome.private, "widest": outcome.widest, "dict": told}
    if isinstance(outcome, CountsRelease):
        told = dataclasses.replace(outcome).to_dict()  # a copy: intervals are kept once they are found
        return found | {"dict": {name: value for name, value in told.items() if name not in PAID}}
    if isinstance(outcome, Summary):
        return found | {"private": outcome.private}
    if isinstance(outcome, GroupedRelease):
        return found | {"releases": {key: public_part(one) for key, one in outcome.items()}, "private": outcome.private}
    found["grid"] = None if outcome.grid is None else outcome.grid.to_dict()
    found |= {name: getattr(outcome, name) for name in ("private", "caveats", "forecast", "widest")}
    bare = outcome if getattr(outcome, "calibration", None) is None else dataclasses.replace(outcome, calibration=None)
    found["dict"] = {name: value for name, value in bare.to_dict(verbose=False).items() if name not in PAID}
    return found


def reachable(start: object) -> Iterator[object]:
    """Every object that can be reached from here, through closures and defaults too; not modules or classes."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if id(here) in seen or isinstance(here, types.ModuleType | type):
            continue
        seen.add(id(here))
        yield here
        if isinstance(here, types.FunctionType):
            waiting += [cell.cell_contents for cell in here.__closure__ or ()] + list(here.__defaults__ or ())
            waiting += list((here.__kwdefaults__ or {}).values())
        else:
            waiting += gc.get_referents(here)


def holds_cell(start: object, cell: float) -> bool:
    """Whether a number can be found in what is reachable: as a float or in an array."""
    for here in reachable(start):
        if isinstance(here, np.ndarray) and here.dtype.kind == "f" and bool((here == cell).any()):
            return True
        if isinstance(here, float) and here == cell:
            return True
    return False
