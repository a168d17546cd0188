"""Axis-aligned against random and exact depth, from two to ten columns: the paper's sqrt(d) and its k = O(d)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    PAPER,
    Cell,
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
    slope_of_ratio,
)
from tukeydp.paper.experiments.figures import lines
from tukeydp.paper.experiments.methods import RADIUS, boxem_over, distance, errors_to_mean, papers_data

_ROWS = 1000
_MANY = 1000  # directions that stand in for all
_BEST = f"BoxEM spread, axes + {_MANY}"
_AXES, _EXACT, _FEW = "BoxEM axis-aligned", "BoxEM exact", "BoxEM random, k = 3 d"
_EXACT_UP_TO = 3  # columns; beyond, exact depth takes too long for so many trials


def _notions(d: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        _AXES: td.AxisAligned(),
        "BoxEM random": td.Random(30, axes=False),
        _FEW: td.Random(3 * d, axes=False),
        _BEST: td.Spread(_MANY, seed=0),
    }
    return found | ({_EXACT: td.Exact()} if d <= _EXACT_UP_TO else {})


def _cells(quick: bool) -> list[Cell]:
    trials = {2: 80, 3: 26, 5: 60, 10: 26} if quick else dict.fromkeys(range(2, 11), 150)
    return [cell(count, n=_ROWS, d=d) for d, count in trials.items()]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Two draws on the same data: their distance is noise alone, without what median and mean differ by.

    Twice where a claim is about the noise.
    """
    mu, x = papers_data(settings["n"], settings["d"], seeds.rng("data"))
    rows = errors_to_mean(x, mu, (), seeds)
    for name, depth in _notions(settings["d"]).items():
        draws = 2 if name in (_AXES, _BEST) else 1
        points = [np.asarray(boxem_over(depth)(x, RADIUS, seeds.source(name, i)).point) for i in range(draws)]
        row: Row = {"method": name, "error": distance(points[0], x.mean(axis=0)), "released": 1}
        rows.append(row if draws == 1 else row | {"noise": distance(*points) / math.sqrt(2)})
    return rows


def _columns(results: Results) -> list[int]:
    return [int(d) for d in results.distinct("d")]


def _root_d(column: str) -> Any:
    """The exponent of d in axis-aligned / best: 1/2 if the paper's sentence is meant literally."""

    def check(results: Results) -> list[Finding]:
        places = _columns(results)
        axes, best = ([results.values(column, method=m, d=d) for d in places] for m in (_AXES, _BEST))
        found = slope_of_ratio(places, axes, best)
        return [Finding("exponent of d in (axis-aligned / many directions)", found, 0.35, 0.65)]

    return check


def _worse(results: Results) -> list[Finding]:
    return [
        Finding(
            f"axis-aligned / many directions, d = {d}",
            ratio(results.values("error", method=_AXES, d=d), results.values("error", method=_BEST, d=d)),
            at_least=1.0,
        )
        for d in _columns(results)
        if d >= 5
    ]


def _enough(results: Results) -> list[Finding]:
    return [
        Finding(
            f"k = 3 d / many directions, d = {d}",
            ratio(results.values("error", method=_FEW, d=d), results.values("error", method=_BEST, d=d)),
            at_most=2.0,
        )
        for d in _columns(results)
    ]


def _stands_in(results: Results) -> list[Finding]:
    return [
        Finding(
            f"exact / many directions, d = {d}",
            ratio(results.values("error", method=_EXACT, d=d), results.values("error", method=_BEST, d=d)),
            0.7,
            1.4,
        )
        for d in results.distinct("d", method=_EXACT)
    ]


def _draw(results: Results) -> Any:
    wide: dict[str, Any] = {"most": math.inf, "papers_bars": False, "logy": False, "logx": False}
    noisy = Results(row for row in results if row.get("noise") is not None)
    return {
        "Error": lines(results, "d", **wide),
        "Noise alone": lines(noisy, "d", column="noise", label="distance of two draws / root 2", **wide),
    }


DIMENSIONS = Experiment(
    name="dimensions",
    title="Notions of depth from two to ten columns",
    place="Beyond the paper, which found this comparison prohibitively slow (n = 1000)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("d", "method"),
    chunk=2,
    claims=(
        Claim("Axis-aligned depth has more error than many directions, in d >= 5.", _worse, whose=PAPER),
        Claim(
            "Axis-aligned depth incurs sqrt(d) times more error (an exponent of 0.35 to 0.65).",
            _root_d("error"),
            whose=PAPER,
        ),
        Claim("The same for the noise alone.", _root_d("noise")),
        Claim(
            "k = O(d) directions are enough: with k = 3 d the error is at most twice that of many.",
            _enough,
            whose=PAPER,
        ),
        Claim("1000 spread directions stand in for exact depth (d <= 3, within 30 to 40 %).", _stands_in),
    ),
)
register(DIMENSIONS)
