"""How few rows REM needs under each of its tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tukeydp.paper.experiments.experiment import (
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
    cell,
    proportion,
    quotient,
    register,
)
from tukeydp.paper.experiments.figures import MARKERS, WORDS, colour, legend, new_figure, ticks_at
from tukeydp.paper.experiments.methods import RADIUS, papers_data, run_method

_TESTS = {"graded": "REM", "laplace": "REM (laplace test)", "paper": "REM (paper's test)"}
# Where each test begins to pass, from the population's volumes; rows are tried around it.
_AROUND = {
    "graded": {1: 190, 2: 215, 3: 235, 5: 290},
    "laplace": {1: 340, 2: 380, 3: 410, 5: 470},
    "paper": {1: 600, 2: 680, 3: 740, 5: 860},
}
_MOSTLY = 0.8  # what 50 trials can tell from less, one refusal among them; the figure's 95 % are read off
# Numbers of rows that are tried, over the one expected to suffice.
_STEPS = (0.75, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35)


_QUICK_STEPS = (0.85, 1.0, 1.2)  # in two columns, for the figure; elsewhere only what the claims compare


def _cells(quick: bool) -> list[Cell]:
    cells = []
    for test, around in _AROUND.items():
        trials = (50 if test == "graded" else 25) if quick else 100  # a share near 1 takes more to tell from 0.8
        for d in (1, 2, 3, 5):
            steps = (_QUICK_STEPS if d == 2 else (0.85,) if test == "paper" else ()) if quick else _STEPS
            cells += [cell(trials, test=test, d=d, n=round(around[d] * step)) for step in steps]
            if test == "paper":  # what the paper's test makes of twice the rows that the graded one needs
                cells.append(cell(trials, test=test, d=d, n=2 * _enough(d)))
            if test == "graded":
                cells.append(cell(trials, test=test, d=d, n=_enough(d)))
    return cells


def _enough(d: int) -> int:
    return round(1.15 * _AROUND["graded"][d])


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    _, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    name = _TESTS[settings["test"]]
    return [{"method": name, "released": int(run_method(name, x, RADIUS, seeds.source("draw")).released)}]


def smallest(results: Results, test: str, d: int, share: float = 0.95) -> float | None:
    """The least n from which on at least this share is released, read off between the rows that were tried.

    The smallest n tried, if so many were released even there: the true one then is smaller.
    """
    from scipy.optimize import isotonic_regression

    rows = sorted(results.distinct("n", test=test, d=d))
    if not rows:
        return None
    # Rates can only rise with n; what chance does to single ones is pooled.
    rates = isotonic_regression([float(results.values("released", test=test, d=d, n=n).mean()) for n in rows]).x
    above = np.flatnonzero(rates >= share - 1e-12)
    if not len(above):
        return None
    i = int(above[0])
    if i == 0:
        return float(rows[0])
    gain = (share - rates[i - 1]) / (rates[i] - rates[i - 1])
    return float(rows[i - 1] + gain * (rows[i] - rows[i - 1]))


def rows_needed(results: Results, test: str, d: int, share: float) -> Estimate:
    """The same between two of the n that were tried: at the lower one surely fewer are released, at the upper one not.

    Surely: by Clopper-Pearson intervals that hold together for all n tried. Rates are taken to rise with n.
    """
    rows = sorted(results.distinct("n", test=test, d=d))
    if not rows:
        raise NotMeasured(f"no released for test = {test}, d = {d}")
    rates = [proportion(results.values("released", test=test, d=d, n=n)) for n in rows]

    def interval(confidence: float) -> tuple[float, float]:
        ends = [rate.interval(1 - (1 - confidence) / len(rows)) for rate in rates]
        below = [n for n, (_, high) in zip(rows, ends, strict=True) if high < share]
        above = [n for n, (low, _) in zip(rows, ends, strict=True) if low >= share]
        return float(max(below, default=0)), float(min(above, default=math.inf))

    return Estimate(smallest(results, test, d, share) or math.inf, interval)


def _half_as_many(d: int) -> Check:
    def check(results: Results) -> list[Finding]:
        n = _enough(d)
        graded = results.values("released", test="graded", d=d, n=n)
        paper = results.values("released", test="paper", d=d, n=2 * n)
        return [
            Finding(f"graded test, released at n = {n}", proportion(graded), at_least=0.8),
            Finding(f"the paper's test, released at n = {2 * n}", proportion(paper), at_most=0.5),
        ]

    return check


def _draw(results: Results) -> Any:
    figures = {}
    for d in results.distinct("d"):
        figure, panel = new_figure(height=4.3)
        tried: set[int] = set()
        for i, (test, method) in enumerate(_TESTS.items()):
            rows = sorted(results.distinct("n", test=test, d=d))
            if not rows:
                continue
            tried.update(rows)
            rates = [proportion(results.values("released", test=test, d=d, n=n)) for n in rows]
            values = [rate.value for rate in rates]
            ends = np.array([rate.interval(0.95) for rate in rates]).T
            least = smallest(results, test, d)
            sign = "=" if least != rows[0] else "≤"
            label = f"{test} test, 95 % from: " + ("not reached" if least is None else f"n {sign} {math.ceil(least)}")
            style = {"marker": MARKERS[i], "markersize": 4, "capsize": 2, "color": colour(method)}
            panel.errorbar(rows, values, yerr=np.abs(ends - np.array(values)), label=label, **style)
        panel.axhline(0.95, color="0.6", linewidth=0.8, linestyle=":")
        ticks_at(panel, sorted(tried))
        panel.set_xlabel(WORDS["n"])
        panel.set_ylabel("share released")
        legend(figure, 1)
        figures["One column" if d == 1 else f"{d} columns"] = figure
    return figures


def _measured(results: Results) -> list[Finding]:
    return [
        Finding(
            f"rows needed, paper / graded, d = {d}",
            quotient(*(rows_needed(results, test, d, _MOSTLY) for test in ("paper", "graded"))),
            at_least=2.0,
        )
        for d in results.distinct("d")
    ]


SMALLEST_ROWS = Experiment(
    name="smallest-n",
    title="The fewest rows that REM releases from",
    place="Beyond the paper: its test against the graded one (axes + 30 random directions)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("test", "d", "n"),
    shown="released",
    chunk=10,
    notes=("Legend: the n from which on 95 % are released, read off between those tried; no interval goes with it.",),
    claims=(
        *(
            Claim(
                f"d = {d}: the graded test passes where the paper's mostly refuses twice as many rows.",
                _half_as_many(d),
            )
            for d in (1, 2, 3, 5)
        ),
        Claim(f"The paper's test needs more than twice the rows to release {_MOSTLY:.0%} of the time.", _measured),
    ),
)
register(SMALLEST_ROWS)
