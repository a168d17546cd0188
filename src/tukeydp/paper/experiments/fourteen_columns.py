"""Fourteen columns, with a proof."""

from __future__ import annotations

from typing import Any

import tukeydp as td
from tukeydp.paper.experiments.experiment import Cell, Claim, Experiment, Row, Seeds, Settings, cell, register
from tukeydp.paper.experiments.figures import lines
from tukeydp.paper.experiments.methods import RADIUS, boxem_over, error_row, errors_to_mean, papers_data
from tukeydp.paper.experiments.ten_columns import comparable

# What runs together on one table: the paper's notion, without the axes, takes seconds here, and no claim is about it.
_RUNS: dict[str, dict[str, Any]] = {
    "default": {"BoxEM default": None},
    "paper's notion": {"BoxEM random, k = 42": td.Random(42, axes=False)},
}


def _cells(quick: bool) -> list[Cell]:
    trials = {"default": 32, "paper's notion": 3} if quick else {"default": 100, "paper's notion": 30}
    rows = (1050,) if quick else (500, 1050, 2000)
    return [cell(count, run=run, n=n, d=14) for run, count in trials.items() for n in rows]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    rows = errors_to_mean(x, mu, ("Gaussian", "CoinPress"), seeds) if settings["run"] == "default" else []
    for name, depth in _RUNS[settings["run"]].items():
        rows.append(error_row(name, boxem_over(depth)(x, RADIUS, seeds.source(name)), x.mean(axis=0)))
    return rows


FOURTEEN = Experiment(
    name="fourteen-columns",
    title="Fourteen columns, with a proof",
    place="Beyond the paper, which stops at d = 5 with a proof and at d = 10 without one",
    cells=_cells,
    measure=_measure,
    draw=lambda results: lines(results, "n"),
    across=("n", "method"),
    chunk=1,
    claims=(
        Claim(
            "At n = 75 d the privacy error is comparable to the sampling error in d = 14 too (at most 1.5 times).",
            comparable("BoxEM default", (1050,), run="default"),
        ),
    ),
)
register(FOURTEEN)
