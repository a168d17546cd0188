"""Columns of different scale on one range: who loses the small ones?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    Cell,
    Check,
    Claim,
    Experiment,
    Finding,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import averages, colour, legend, new_figure
from tukeydp.paper.experiments.methods import EPSILON

# The first setting turned out to have too few rows for its wide range; the second was chosen after seeing that.
_DEVIATIONS = {4: (1.0, 10.0, 1000.0, 20000.0), 3: (1.0, 100.0, 20000.0)}
_ROWS = {4: 200, 3: 600}
_BOUND = 1e6  # the range, the same for all columns
_NOTIONS: dict[str, Any] = {
    "BoxEM random": td.Random(30, axes=False),
    "BoxEM axes + 30": td.Random(30),
    "BoxEM default": None,
    "BoxEM axis-aligned": td.AxisAligned(),
    "BoxEM exact": td.Exact(),
}


def _cells(quick: bool) -> list[Cell]:
    trials = {4: 12, 3: 30} if quick else {4: 60, 3: 200}
    return [cell(trials[d], n=_ROWS[d], d=d) for d in _DEVIATIONS]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Per column: distance to the sample mean in standard deviations of that column."""
    deviations = _DEVIATIONS[settings["d"]]
    x = seeds.rng("data").normal(size=(settings["n"], settings["d"])) * deviations
    rows = []
    for name, depth in _NOTIONS.items():
        point = td.boxem(x, epsilon=EPSILON, bounds=(-_BOUND, _BOUND), depth=depth, randomness=seeds.source(name)).point
        assert point is not None
        errors = np.abs(point - x.mean(axis=0)) / deviations
        rows += [{"method": name, "column": j, "error": float(error)} for j, error in enumerate(errors)]
    return rows


def _lost(d: int) -> Check:
    def check(results: Results) -> list[Finding]:
        pair = [results.values("error", method=m, column=0, d=d) for m in ("BoxEM random", "BoxEM axes + 30")]
        return [Finding("smallest column: 30 directions without / with axes", ratio(pair[0], pair[1]), at_least=3.0)]

    return check


def _even(d: int) -> Check:
    def check(results: Results) -> list[Finding]:
        first, last = (results.values("error", method="BoxEM exact", column=j, d=d) for j in (0, d - 1))
        return [Finding("exact depth: smallest / largest column", ratio(first, last, paired=False), 0.5, 2.0)]

    return check


def _draw(results: Results) -> Any:
    figures = {}
    for d, deviations in _DEVIATIONS.items():
        figure, panel = new_figure()
        for i, method in enumerate(_NOTIONS):
            points = averages(results.where(d=d), method, "column", "error", math.inf)
            if not points:
                continue
            places, values, halves, _ = (np.array(column) for column in zip(*points, strict=True))
            offset = 0.06 * (i - 2)
            style = {"fmt": "o", "capsize": 3, "color": colour(method), "label": method}
            panel.errorbar(places + offset, values, yerr=halves, **style)
        panel.set_xticks(range(d), [f"{deviation:g}" for deviation in deviations])
        panel.set_xlabel("standard deviation of the column")
        panel.set_ylabel("error in the column's standard deviations")
        panel.set_yscale("log", nonpositive="clip")
        panel.grid(alpha=0.25)
        legend(figure)
        figures[f"{_ROWS[d]} rows, {d} columns"] = figure
    return figures


SCALES = Experiment(
    name="scales",
    title="Columns of different scale",
    place="Beyond the paper: affine invariance of exact depth, and what few directions make of it",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("d", "method", "column"),
    chunk=5,
    claims=tuple(
        Claim(f"n = {_ROWS[d]}, d = {d}: {sentence}", check(d), afterwards=d == 3)
        for d in _DEVIATIONS
        for sentence, check in (
            ("random directions lose the column of smallest scale without the axes, not with them.", _lost),
            ("exact depth treats all columns alike.", _even),
        )
    ),
    notes=(
        "With 200 rows in four columns on a range of 10^6, exact depth and directions with the axes return points far "
        "outside the data: too few rows for so wide a range (the accuracy theorem's term in log R).",
    ),
)
register(SCALES)
