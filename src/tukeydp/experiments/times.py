"""Running times: the paper's Table I, every cell, beside the authors' code."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.experiments.claims import Claim, Finding
from tukeydp.experiments.estimates import exactly, ratio
from tukeydp.experiments.experiment import Cell, Experiment, Seeds, Settings, cell, register
from tukeydp.experiments.figures import new_figure
from tukeydp.experiments.methods import EPSILON, PAPERS, RADIUS
from tukeydp.experiments.results import NotMeasured, Results, Row
from tukeydp.experiments.setup import papers_data

_NOTIONS: dict[str, Any] = {"random": PAPERS, "exact": td.Exact()}
# The columns and rows of the paper's Table I.
_ROWS = (50, 100, 500, 1000, 2000)
_COLUMNS = (("random", 2), ("random", 3), ("random", 4), ("random", 5), ("exact", 2), ("exact", 3), ("exact", 4))
_TEN_MINUTES = 600.0  # seconds; where the paper's table has a dash

# Seconds of the authors' code (commit 86732e9, unedited) on a two-core machine; None: over ten minutes, or not tried.
# One cell is extrapolated from n = 1000: it is shown, and decides nothing.
_EXTRAPOLATED = (("random", 5), 2000)
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
PAPER: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("random", 2): (0.6, 1.1, 4.9, 10.0, 21.9),
    ("random", 3): (0.7, 1.1, 5.2, 9.4, 19.4),
    ("random", 4): (2.0, 4.0, 19.8, 38.1, 75.2),
    ("random", 5): (24.1, 50.0, 252.1, None, None),
    ("exact", 2): (1.0, 0.4, 6.6, 46.0, 376.2),
    ("exact", 3): (0.9, 14.7, None, None, None),
    ("exact", 4): (34.6, None, None, None, None),
}


def _cells(quick: bool) -> list[Cell]:
    cells = []
    for depth, d in _COLUMNS:
        for n in _ROWS:
            calls = 3 if quick else 7
            if (depth, d) == ("exact", 4) and n >= 500:
                # Seconds to minutes each; the two largest are left to the full run.
                calls = {500: 1, 1000: 0, 2000: 0}[n] if quick else {500: 5, 1000: 3, 2000: 1}[n]
            if calls:
                cells.append(cell(calls, depth=depth, d=d, n=n))
    return cells


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Seconds of one call on fresh data, after a small call that compiles what has to be compiled."""
    depth, bounds = _NOTIONS[settings["depth"]], (-RADIUS, RADIUS)
    warm = np.arange(4.0 * settings["d"]).reshape(4, -1) % 3
    td.boxem(warm, epsilon=EPSILON, bounds=bounds, depth=depth, randomness=seeds.source("warm"))
    _, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    start = time.perf_counter()
    td.boxem(x, epsilon=EPSILON, bounds=bounds, depth=depth, randomness=seeds.source("draw"))
    return [{"method": f"BoxEM {settings['depth']}", "seconds": time.perf_counter() - start}]


def _median(results: Results, depth: str, d: int, n: int) -> float | None:
    try:
        return float(np.median(results.values("seconds", depth=depth, d=d, n=n)))
    except NotMeasured:
        return None


def _no_dash(results: Results) -> list[Finding]:
    findings = []
    for depth, d in _COLUMNS:
        for n in _ROWS:
            slowest = float(results.values("seconds", depth=depth, d=d, n=n).max())
            findings.append(
                Finding(f"slowest call, {depth} d = {d} n = {n}, s", exactly(slowest), at_most=_TEN_MINUTES)
            )
    return findings


def _faster(results: Results) -> list[Finding]:
    findings = []
    for (depth, d), seconds in AUTHORS.items():
        for n, theirs in zip(_ROWS, seconds, strict=True):
            if theirs is None or ((depth, d), n) == _EXTRAPOLATED or _median(results, depth, d, n) is None:
                continue
            ours = float(results.values("seconds", depth=depth, d=d, n=n).max())
            label = f"authors / our slowest call, {depth} d = {d} n = {n}"
            findings.append(Finding(label, exactly(theirs / ours), at_least=1.0))
    if not findings:
        raise NotMeasured("no seconds")
    return findings


def _random_faster(results: Results) -> list[Finding]:
    findings = []
    for d in (2, 3, 4):
        for n in _ROWS:
            if _median(results, "exact", d, n) is not None:
                exact, random = (results.values("seconds", depth=depth, d=d, n=n) for depth in ("exact", "random"))
                findings.append(Finding(f"exact / random, d = {d} n = {n}", ratio(exact, random, paired=False), 1.0))
    if not findings:
        raise NotMeasured("no seconds")
    return findings


def _theirs(column: tuple[str, int], i: int) -> str:
    about = "about " if (column, _ROWS[i]) == _EXTRAPOLATED else ""
    return about + _text(AUTHORS[column][i])


def _text(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.3g}"


def _draw(results: Results) -> Any:
    """The table: ours (median), the authors' code on two cores, the paper's own figure."""
    figure, panels = new_figure(width=13, height=3.6)
    panel = panels[0, 0]
    panel.axis("off")
    rows = []
    for i, n in enumerate(_ROWS):
        row = []
        for column in _COLUMNS:
            ours = _median(results, *column, n)
            mine = "not run" if ours is None else _text(ours)
            row.append(f"{mine} | {_theirs(column, i)} | {_text(PAPER[column][i])}")
        rows.append(row)
    heads = [f"{depth} d={d}" for depth, d in _COLUMNS]
    table = panel.table(rows, colLabels=heads, rowLabels=[f"n={n}" for n in _ROWS], loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.9)
    panel.set_title(
        "seconds: ours (median of warm calls) | the authors' code, two cores | the paper's table", fontsize=11
    )
    return figure


TIMES = Experiment(
    name="times",
    title="Running times",
    place="Table I: running time of BoxEM, random (k = 30) and exact depth",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("depth", "d", "n"),
    shown="seconds",
    chunk=1,
    alone=True,
    claims=(
        Claim("All 35 cells finish within ten minutes (the paper has nine dashes).", _no_dash),
        Claim("Every cell that the authors' code was measured on is faster here.", _faster),
        Claim("Random depth is faster than exact depth in all regimes.", _random_faster),
    ),
    notes=(
        "A dash in the second place: over ten minutes, or not tried. In the third, the paper's: over ten minutes.",
        "Seconds vary from machine to machine and from run to run: this table is the one that a seed does not fix.",
    ),
)
register(TIMES)
