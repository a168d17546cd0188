"""Fourteen columns, with a proof."""

from __future__ import annotations

import tukeydp as td
from tukeydp.experiments.claims import Claim
from tukeydp.experiments.experiment import Cell, Experiment, Seeds, Settings, cell, register
from tukeydp.experiments.figures import lines
from tukeydp.experiments.methods import RADIUS, boxem_over
from tukeydp.experiments.results import Row
from tukeydp.experiments.setup import error_row, errors_to_mean, papers_data
from tukeydp.experiments.ten_columns import comparable

_NOTIONS = {"BoxEM random, k = 42": td.Random(42, axes=False), "BoxEM default": None}


def _cells(quick: bool) -> list[Cell]:
    return [cell(16 if quick else 60, n=n, d=14) for n in ((1050,) if quick else (500, 1050, 2000))]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    rows = errors_to_mean(x, mu, ("Gaussian", "CoinPress"), seeds)
    for name, depth in _NOTIONS.items():
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
            comparable("BoxEM default", (1050,)),
        ),
    ),
)
register(FOURTEEN)
