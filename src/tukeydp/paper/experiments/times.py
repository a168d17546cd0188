"""Running times: the paper's Table I, every cell, beside the authors' code."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    PAPER,
    Cell,
    Check,
    Claim,
    Estimate,
    Experiment,
    Finding,
    NotMeasured,
    Results,
    Row,
    Seeds,
    Settings,
    Table,
    cell,
    exactly,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import MARKERS, WORDS, legend, new_figure, ticks_at
from tukeydp.paper.experiments.methods import EPSILON, PAPERS, RADIUS, papers_data

_NOTIONS: dict[str, Any] = {"random": PAPERS, "exact": td.Exact()}
# The columns and rows of the paper's Table I.
_ROWS = (50, 100, 500, 1000, 2000)
_COLUMNS = (("random", 2), ("random", 3), ("random", 4), ("random", 5), ("exact", 2), ("exact", 3), ("exact", 4))
_TEN_MINUTES = 600.0  # seconds; where the paper's table has a dash

# Seconds of the authors' code (commit 86732e9, unedited) on a two-core machine; None: over ten minutes, or not tried.
# One cell is extrapolated from n = 1000: it is shown, and decides nothing.
_EXTRAPOLATED = (("random", 5), 2000)
# The unit that relates machines: one np.sort of so many random floats, which took so many seconds on that machine. It
# is timed again in every cell here, so that only numbers of sorts are compared, never seconds of two machines.
_SORTED, _THEIR_SORT = 2_000_000, 0.115
# One sort does not tell all about a machine: a ratio of sorts is taken to be right within this factor either way.
_MACHINES = 3.0
AUTHORS: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("random", 2): (0.27, 0.55, 3.19, 6.72, 14.6),
    ("random", 3): (0.13, 0.27, 1.55, 3.27, 6.30),
    ("random", 4): (1.15, 2.25, 11.5, 24.3, 49.1),
    ("random", 5): (18.2, 37.8, 200, 382, 760),
    ("exact", 2): (0.10, 0.18, 5.43, 40.8, 320),
    ("exact", 3): (0.47, 9.54, None, None, None),
    ("exact", 4): (36.7, None, None, None, None),
}
# The paper's own table, on its 2019 laptop.
PAPER_TABLE: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("random", 2): (0.6, 1.1, 4.9, 10.0, 21.9),
    ("random", 3): (0.7, 1.1, 5.2, 9.4, 19.4),
    ("random", 4): (2.0, 4.0, 19.8, 38.1, 75.2),
    ("random", 5): (24.1, 50.0, 252.1, None, None),
    ("exact", 2): (1.0, 0.4, 6.6, 46.0, 376.2),
    ("exact", 3): (0.9, 14.7, None, None, None),
    ("exact", 4): (34.6, None, None, None, None),
}


# Calls of a cell, by (depth, d, n): fewer where one takes more than a fraction of a second, more where they are short
# and the notions differ least. The two largest take a minute and more, and are left to the full run.
_QUICK_CALLS = {
    ("random", 2, 50): 80, ("random", 2, 100): 80, ("exact", 2, 50): 80, ("exact", 2, 100): 80,
    ("exact", 3, 1000): 5, ("exact", 3, 2000): 5, ("exact", 4, 100): 10, ("exact", 4, 500): 5,
}  # fmt: skip
_FULL_CALLS = {("exact", 4, 500): 5, ("exact", 4, 1000): 3, ("exact", 4, 2000): 1}
_LARGEST = (("exact", 4, 1000), ("exact", 4, 2000))


def _cells(quick: bool) -> list[Cell]:
    cells = []
    for depth, d in _COLUMNS:
        for n in _ROWS:
            if quick and (depth, d, n) in _LARGEST:
                continue
            calls = _QUICK_CALLS.get((depth, d, n), 25) if quick else _FULL_CALLS.get((depth, d, n), 60)
            cells.append(cell(calls, depth=depth, d=d, n=n))
    return cells


def _sort_seconds(rng: np.random.Generator) -> float:
    """Processor seconds of the unit."""
    numbers = rng.random(_SORTED)
    start = time.process_time()
    numbers.sort()
    return time.process_time() - start


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Seconds of one call on fresh data, after a small call that compiles what has to be compiled.

    On the clock (`seconds`) and of all processors together (`processor`); ratios are taken of the latter, which other
    programs on the machine disturb least. Compiling is not counted: what it makes is kept by every process.
    """
    depth, bounds = _NOTIONS[settings["depth"]], (-RADIUS, RADIUS)
    warm = np.arange(4.0 * settings["d"]).reshape(4, -1) % 3
    td.boxem(warm, epsilon=EPSILON, bounds=bounds, depth=depth, randomness=seeds.source("warm"))
    _, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    start, spent = time.perf_counter(), time.process_time()
    td.boxem(x, epsilon=EPSILON, bounds=bounds, depth=depth, randomness=seeds.source("draw"))
    seconds, processor = time.perf_counter() - start, time.process_time() - spent
    return [
        {
            "method": f"BoxEM {settings['depth']}",
            "seconds": seconds,
            "processor": processor,
            "sort": _sort_seconds(seeds.rng("sort")) if seeds.trial == 0 else None,
        }
    ]


def _median(results: Results, depth: str, d: int, n: int, column: str = "seconds") -> float | None:
    try:
        return float(np.median(results.values(column, depth=depth, d=d, n=n)))
    except NotMeasured:
        return None


def _unit(results: Results) -> float:
    """Processor seconds of a sort on this machine: the median over cells, each of which timed one."""
    return float(np.median(Results(row for row in results if row.get("sort") is not None).values("sort")))


def _no_dash(cells: Iterable[tuple[str, int, int]]) -> Check:
    def check(results: Results) -> list[Finding]:
        findings = []
        for depth, d, n in cells:
            slowest = float(results.values("seconds", depth=depth, d=d, n=n).max())
            label = f"slowest call, {depth} d = {d} n = {n}, s"
            findings.append(Finding(label, exactly(slowest), at_most=_TEN_MINUTES))
        return findings

    return check


def within_machines(value: float) -> Estimate:
    """A ratio of numbers of sorts: right within the factor that machines are allowed to differ by."""
    return Estimate(value, lambda confidence: (value / _MACHINES, value * _MACHINES))


def _faster(results: Results) -> list[Finding]:
    findings = []
    for (depth, d), seconds in AUTHORS.items():
        for n, theirs in zip(_ROWS, seconds, strict=True):
            ours = _median(results, depth, d, n, "processor")
            if theirs is None or ((depth, d), n) == _EXTRAPOLATED or ours is None:
                continue
            sorts = ours / _unit(results)
            label = f"sorts of the authors' code / ours, {depth} d = {d} n = {n}"
            findings.append(Finding(label, within_machines(theirs / _THEIR_SORT / sorts), at_least=1.0))
    if not findings:
        raise NotMeasured("no seconds")
    return findings


def _random_faster(results: Results) -> list[Finding]:
    findings = []
    for d in (2, 3, 4):
        for n in _ROWS:
            try:
                exact, random = (results.values("processor", depth=depth, d=d, n=n) for depth in ("exact", "random"))
            except NotMeasured:
                continue
            if len(exact) > 1:
                findings.append(Finding(f"exact / random, d = {d} n = {n}", ratio(exact, random, paired=False), 1.0))
    if not findings:
        raise NotMeasured("no seconds")
    return findings


def _theirs(column: tuple[str, int], i: int) -> str:
    about = "about " if (column, _ROWS[i]) == _EXTRAPOLATED else ""
    return about + _text(AUTHORS[column][i])


def _text(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.3g}"


def _table(results: Results) -> Table:
    """The paper's Table I: ours, the authors' code, the paper's own figure, in seconds of three machines."""
    rows = []
    for i, n in enumerate(_ROWS):
        row = [f"{n}", "here\nauthors\npaper"]
        for column in _COLUMNS:
            ours = _median(results, *column, n)
            mine = "not run" if ours is None else f"{ours:.2g}"
            row.append(f"{mine}\n{_theirs(column, i)}\n{_text(PAPER_TABLE[column][i])}")
        rows.append(tuple(row))
    heads = ("n", "", *(f"{depth}, d = {d}" for depth, d in _COLUMNS))
    caption = (
        "Table I in seconds on the clock: here (median of warm calls), the authors' code on another machine, and the "
        "paper on its laptop. A dash: over ten minutes, or, of the authors' code, not tried."
    )
    return Table(caption, heads, tuple(rows))


def _draw(results: Results) -> Any:
    """In sorts, which machines share: ours in full lines, the authors' code in dotted ones."""
    sort = _unit(results)
    figures = {}
    for depth in _NOTIONS:
        figure, panel = new_figure()
        for i, (_, d) in enumerate(column for column in _COLUMNS if column[0] == depth):
            ours = {n: _median(results, depth, d, n, "processor") for n in _ROWS}
            mine = {n: v / sort for n, v in ours.items() if v is not None}
            theirs = {n: v / _THEIR_SORT for n, v in zip(_ROWS, AUTHORS[depth, d], strict=True) if v is not None}
            style = {"color": f"C{i}", "marker": MARKERS[i], "markersize": 4}
            panel.plot(list(mine), list(mine.values()), label=f"d = {d}, here", **style)
            panel.plot(list(theirs), list(theirs.values()), linestyle=":", label=f"d = {d}, the authors' code", **style)
        ticks_at(panel, _ROWS)
        panel.set_yscale("log")
        panel.set_xlabel(WORDS["n"])
        panel.set_ylabel("processor time, in sorts")
        panel.grid(alpha=0.25)
        legend(figure)
        figures[f"{depth.capitalize()} depth, in sorts of {_SORTED:,} floats"] = figure
    return figures


_ALL = tuple((depth, d, n) for depth, d in _COLUMNS for n in _ROWS)
TIMES = Experiment(
    name="times",
    title="Running times",
    place="Table I: running time of BoxEM, random (k = 30) and exact depth",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("depth", "d", "n"),
    shown="seconds",
    chunk=10,
    alone=True,
    table=_table,
    claims=(
        Claim(
            "On this machine every cell but the two largest (exact, d = 4, n = 1000 and 2000) finishes within ten "
            "minutes; the paper has nine dashes.",
            _no_dash([place for place in _ALL if place not in _LARGEST]),
        ),
        Claim("On this machine the two largest cells do so, too.", _no_dash(_LARGEST)),
        Claim(
            "Every cell that the authors' code was measured on takes less time here, counted in sorts of each machine.",
            _faster,
        ),
        Claim("Random depth is faster than exact depth in all regimes.", _random_faster, whose=PAPER),
    ),
    notes=(
        f"Seconds of different machines are not compared. The unit is one np.sort of {_SORTED:,} random floats: "
        f"{_THEIR_SORT} s where the authors' code was timed, and timed again in every cell here. A machine is more "
        f"than one number, so a ratio of sorts counts as known within a factor of {_MACHINES:g} either way: above "
        f"{_MACHINES:g} the claim is borne out, below 1/{_MACHINES:g} it is not, and between it stays undecided. The "
        "paper's own seconds decide nothing: no unit is known for its laptop.",
        "The fourth claim is about the code that was timed: the paper says it of its own, here it is measured on ours.",
        "Times vary from machine to machine and from run to run: this table is the one that a seed does not fix.",
    ),
)
register(TIMES)
