"""Real tables that ship with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.extras import missing
from tukeydp.paper.experiments.experiment import (
    Cell,
    Check,
    Claim,
    Experiment,
    Finding,
    NotMeasured,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    mean,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import colour, legend, new_figure
from tukeydp.paper.experiments.methods import DELTA, EPSILON
from tukeydp.trusted.parameters import FloatArray

_TABLES = ("iris", "wine", "diabetes", "breast_cancer")
_MOST_COLUMNS = 10  # of a table; the first ones
_ROWS_A_COLUMN = 30  # from which on a table counts as roomy: chosen after a first look, and its claims say so
_BASELINES = {
    "analytic Gaussian": td.baselines.analytic_gaussian,
    "CoinPress": td.baselines.coinpress,
    "PLAN": td.baselines.plan,
}


def table(name: str) -> FloatArray:
    """The first ten columns of a table, or all."""
    try:
        from sklearn import datasets
    except ImportError:
        raise missing("real-data", "scikit-learn", "reproduce") from None
    return np.asarray(getattr(datasets, f"load_{name}")().data[:, :_MOST_COLUMNS], dtype=np.float64)


def generous_bounds(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From 0, or minus the upper one where values are negative, up to a power of ten above twice the largest value."""
    upper = 10.0 ** np.ceil(np.log10(2 * np.abs(x).max(axis=0)))
    return np.where(x.min(axis=0) < 0, -upper, 0.0), upper


def _cells(quick: bool) -> list[Cell]:
    return [cell(24 if quick else 200, table=name) for name in _TABLES]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Root mean square over columns of the distance to the column's mean, in its standard deviations."""
    x = table(settings["table"])
    bounds = generous_bounds(x)
    deviation = x.std(axis=0)
    points = {
        "BoxEM default": td.boxem(x, epsilon=EPSILON, bounds=bounds, randomness=seeds.source("boxem")).point,
        "BoxEM axis-aligned": td.boxem(
            x, epsilon=EPSILON, bounds=bounds, depth=td.AxisAligned(), randomness=seeds.source("axes")
        ).point,
    }
    for name, function in _BASELINES.items():
        known: dict[str, Any] = {"deviation": deviation} if name == "CoinPress" else {}
        points[name] = function(
            x, epsilon=EPSILON, delta=DELTA, bounds=bounds, randomness=seeds.source(name), **known
        ).point
    return [
        {"method": name, "error": float(np.sqrt((((point - x.mean(axis=0)) / deviation) ** 2).mean()))}
        for name, point in points.items()
    ]


def _below(other: str, choose: Callable[[Results], list[str]]) -> Check:
    def check(results: Results) -> list[Finding]:
        return [
            Finding(
                f"BoxEM / {other}, {name}",
                ratio(
                    results.values("error", method="BoxEM default", table=name),
                    results.values("error", method=other, table=name),
                ),
                at_most=1.0,
            )
            for name in choose(results)
        ]

    return check


def _all(results: Results) -> list[str]:
    names: list[str] = results.distinct("table")
    if not names:
        raise NotMeasured("no table")
    return names


def _roomy(results: Results) -> list[str]:
    """Tables with at least thirty rows a column."""
    return [name for name in _all(results) if table(name).shape[0] >= _ROWS_A_COLUMN * table(name).shape[1]]


def _useful(choose: Callable[[Results], list[str]]) -> Check:
    def check(results: Results) -> list[Finding]:
        return [
            Finding(
                f"BoxEM's error, {name}, sds",
                mean(results.values("error", method="BoxEM default", table=name)),
                at_most=1.0,
            )
            for name in choose(results)
        ]

    return check


def _too_few(results: Results) -> list[Finding]:
    found = mean(results.values("error", method="BoxEM default", table="wine"))
    return [Finding("BoxEM's error, wine, sds", found, at_least=1.0)]


def _draw(results: Results) -> Any:
    figure, panel = new_figure()
    methods = results.distinct("method")
    width = 0.8 / len(methods)
    for i, method in enumerate(methods):
        found = [mean(results.values("error", method=method, table=name)) for name in results.distinct("table")]
        values = np.array([estimate.value for estimate in found])
        low = np.array([estimate.interval(0.95)[0] for estimate in found])
        places = np.arange(len(found)) + (i - (len(methods) - 1) / 2) * width
        panel.bar(places, values, width, yerr=values - low, capsize=2, color=colour(method), label=method)
    names = [
        f"{name.replace('_', ' ')}\n{table(name).shape[0]} x {table(name).shape[1]}"
        for name in results.distinct("table")
    ]
    panel.set_xticks(range(len(names)), names, fontsize="small")
    panel.axhline(1.0, color="0.6", linewidth=0.8, linestyle=":")
    panel.set_yscale("log")
    panel.set_ylabel("root mean square error in standard deviations")
    legend(figure)
    return figure


REAL_DATA = Experiment(
    name="real-data",
    title="Real tables",
    place="Beyond the paper: iris, wine, diabetes and breast cancer from scikit-learn (at most ten columns)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("table", "method"),
    chunk=2,
    claims=(
        Claim("BoxEM's error is below the analytic Gaussian's on every table.", _below("analytic Gaussian", _all)),
        Claim("BoxEM's error is below CoinPress's (told the deviations) on every table.", _below("CoinPress", _all)),
        Claim("BoxEM's error is below PLAN's on every table.", _below("PLAN", _all)),
        Claim("BoxEM's error is below one standard deviation on every table.", _useful(_all)),
        *(
            Claim(f"With 30 rows a column BoxEM's error is below {other}'s.", _below(other, _roomy), afterwards=True)
            for other in _BASELINES
        ),
        Claim("With 30 rows a column BoxEM's error is below one standard deviation.", _useful(_roomy), afterwards=True),
        Claim("With 18 rows a column and wide bounds (wine) it is not.", _too_few, afterwards=True),
    ),
    notes=(
        "Bounds stand in for what one would know beforehand: from 0 (or symmetric) to a power of ten above twice the "
        "largest value. Columns are skewed and mixed here: part of the error is the difference between a deep point "
        "and the mean, which no budget removes.",
    ),
)
register(REAL_DATA)
