"""Real tables: the mean, td.mean beside other private means, and the centre."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.extras import missing
from tukeydp.paper.experiments.contenders import APPROXIMATE, CENTRE, CONTENDERS, MEAN, PURE, WITH_SD, Question
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
    level,
    mean,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import MARKERS, colour, legend, log_axis, new_figure
from tukeydp.paper.experiments.methods import DELTA, EPSILON
from tukeydp.paper.experiments.tables import TABLES, installed_tables, real_table, skipped_tables
from tukeydp.trusted.parameters import FloatArray

TIGHT, WIDE = 2, 10  # widths of the bounds, in ranges of the columns
_METHODS = tuple(name for name in CONTENDERS if not name.startswith("td.mean by"))


_DRAWN = (MEAN, "td.mean (sd right)", "Laplace", "CoinPress", "Huang-Liang-Yi", "PLAN")
_SHOWN_TRIALS = 5  # trials of what is slow, shown for comparison, and in no claim


def _claimed(times: int) -> tuple[str, ...]:
    """What claims are about: everything but the centre and, with wide bounds, td.mean told a standard deviation."""
    return tuple(
        name for name in _METHODS if CONTENDERS[name].kind != CENTRE and (times == TIGHT or name not in WITH_SD)
    )


def _cells(quick: bool) -> list[Cell]:
    names = installed_tables()
    if not names:
        raise missing("real-tables", "tables", "bench")
    return [cell(18 if quick else 60, table=name, times=times) for times in (TIGHT, WIDE) for name in names]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """One row per method: the median over columns of the distance to the column's mean, in standard deviations."""
    question = Question(real_table(settings["table"]), settings["times"])
    rows: list[Row] = []
    for name in _METHODS if seeds.trial < _SHOWN_TRIALS else _claimed(settings["times"]):
        release = CONTENDERS[name].run(question, seeds)
        error = float(np.median(question.errors(release.point)))
        rows.append({"method": name, "mechanism": release.mechanism, "error": error})
    return rows


def geometric_ratio(pairs: Sequence[tuple[FloatArray, FloatArray]]) -> Estimate:
    """The geometric mean, over tables and trials, of one method's error over another's; one pair for each table.

    Student's interval on the logarithms, trial by trial; tables are fixed, not drawn. A few releases that are far off
    weigh little, as they do in a median.
    """
    if not pairs:
        raise NotMeasured("no table")
    if any((errors <= 0).any() for pair in pairs for errors in pair):
        raise NotMeasured("no logarithm: an error is 0")
    logs = mean(np.mean([np.log(above) - np.log(below) for above, below in pairs], axis=0))

    def interval(confidence: float) -> tuple[float, float]:
        low, high = logs.interval(confidence)
        return math.exp(max(low, -700.0)), math.exp(min(high, 700.0))

    return Estimate(math.exp(logs.value), interval)


def errors_by_method(results: Results, table: str, times: int) -> dict[str, FloatArray]:
    here = results.where(table=table, times=times)
    return {name: here.values("error", method=name) for name in here.distinct("method")}


def best_other(errors: Mapping[str, FloatArray], kinds: tuple[str, ...]) -> str:
    """The other method with the least error in these very trials, which flatters it."""
    others = [name for name in errors if CONTENDERS[name].kind in kinds]
    if not others:
        raise NotMeasured("no other method")
    return min(others, key=lambda name: float(np.log(errors[name]).mean()))


def _over_all(times: int, kinds: tuple[str, ...], most: float, fresh: bool = False) -> Check:
    def check(results: Results) -> list[Finding]:
        pairs = []
        for table in results.distinct("table", times=times):
            if TABLES[table].fresh or not fresh:
                errors = errors_by_method(results, table, times)
                pairs.append((errors[MEAN], errors[best_other(errors, kinds)]))
        return [Finding(f"td.mean / the best other, {len(pairs)} tables", geometric_ratio(pairs), at_most=most)]

    return check


def _on_each(times: int, kinds: tuple[str, ...], most: float, methods: tuple[str, ...] = (MEAN,)) -> Check:
    def check(results: Results) -> list[Finding]:
        findings = []
        for table in results.distinct("table", times=times):
            errors = errors_by_method(results, table, times)
            other = best_other(errors, kinds)
            findings += [
                Finding(
                    f"{method} / {other}, {table}", geometric_ratio([(errors[method], errors[other])]), at_most=most
                )
                for method in methods
            ]
        return findings

    return check


def _draw(results: Results) -> Any:
    """A line of marks for each table, the best to the left."""
    names = results.distinct("table")
    methods = [name for name in _DRAWN if name in results.distinct("method")]
    figures = {}
    for times in results.distinct("times"):
        figure, panel = new_figure(height=3.0 + 0.3 * len(names))
        measured = [errors_by_method(results, name, times) for name in names]
        for i, method in enumerate(methods):
            errors = [float(np.exp(np.log(found[method]).mean())) for found in measured]
            face = colour(method) if method.startswith("td.mean") else "none"
            panel.plot(
                errors, range(len(names)), MARKERS[i % len(MARKERS)], color=colour(method), mfc=face, label=method
            )
        shapes = [real_table(name).shape for name in names]
        labels = [f"{name}\n{n} x {d}" for name, (n, d) in zip(names, shapes, strict=True)]
        panel.set_yticks(range(len(names)), labels, fontsize=7)
        panel.invert_yaxis()
        panel.grid(axis="y", color="0.9")
        log_axis(panel.xaxis)
        panel.set_xlabel("error in standard deviations")
        legend(figure)
        figures[f"Bounds {times} times the range"] = figure
    return figures


_ANY = (PURE, APPROXIMATE)
_SKIPPED = skipped_tables()

REAL_TABLES = Experiment(
    name="real-tables",
    title="The mean of real tables",
    place="Beyond the paper: td.mean beside other private means on tables that packages ship, epsilon = 1",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("times", "table", "method"),
    chunk=6,
    claims=(
        Claim(
            "all",
            "td.mean's error is at most 0.7 of the best other mechanism's in the geometric mean (bounds 10 x range).",
            _over_all(WIDE, _ANY, 0.7),
        ),
        Claim(
            "all-pure",
            "td.mean's error is at most 0.4 of the best pure-DP one's in the geometric mean (bounds 10 x range).",
            _over_all(WIDE, (PURE,), 0.4),
        ),
        Claim(
            "fresh",
            "The same, at most 0.7, on the tables that were chosen by name, no result on them seen.",
            _over_all(WIDE, _ANY, 0.7, fresh=True),
        ),
        Claim(
            "fresh-pure",
            "The same, at most 0.4 of the best pure-DP one's, on those tables.",
            _over_all(WIDE, (PURE,), 0.4, fresh=True),
        ),
        Claim(
            "each",
            "On no table is td.mean's error more than 1.6 times the best other's (bounds 10 x range).",
            _on_each(WIDE, _ANY, 1.6),
        ),
        Claim(
            "tight",
            "With bounds 2 x range td.mean's error is at most 1.1 of the best pure-DP one's in the geometric mean.",
            _over_all(TIGHT, (PURE,), 1.1),
        ),
        Claim(
            "tight-sd",
            "With bounds 2 x range and a public sd that is right within a factor of 2, it is at most 1.2 of the best "
            "pure-DP one's on every table.",
            _on_each(TIGHT, (PURE,), 1.2, WITH_SD),
        ),
    ),
    notes=(
        "A trial's error is the median over columns of the distance from the column's mean, in its standard "
        "deviations; ratios are geometric means over trials. The best other mechanism is picked on the same trials, "
        "which flatters it. (epsilon, delta) mechanisms have delta = 1e-6. CoinPress is told a sixth of the column's "
        "range as its deviation. Laplace is the clipped mean with noise for epsilon/d in every column, as the usual "
        "libraries add it. td.boxem returns a centre, not a mean, and is shown for comparison only.",
        *(() if _SKIPPED is None else (_SKIPPED,)),
    ),
)
register(REAL_TABLES)


# Real tables that ship with scikit-learn.

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


def _centre_cells(quick: bool) -> list[Cell]:
    return [cell(24 if quick else 200, table=name) for name in _TABLES]


def _centre_measure(settings: Settings, seeds: Seeds) -> list[Row]:
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


def _centre_draw(results: Results) -> Any:
    figure, panel = new_figure()
    methods = results.distinct("method")
    width = 0.8 / len(methods)
    for i, method in enumerate(methods):
        found = [level(results.values("error", method=method, table=name)) for name in results.distinct("table")]
        values = np.array([estimate.value for estimate in found])
        ends = np.array([estimate.interval(0.95) for estimate in found]).T
        places = np.arange(len(found)) + (i - (len(methods) - 1) / 2) * width
        panel.bar(places, values, width, yerr=np.abs(ends - values), capsize=2, color=colour(method), label=method)
    names = [
        f"{name.replace('_', ' ')}\n{table(name).shape[0]} x {table(name).shape[1]}"
        for name in results.distinct("table")
    ]
    panel.set_xticks(range(len(names)), names, fontsize="small")
    panel.axhline(1.0, color="0.6", linewidth=0.8, linestyle=":")
    log_axis(panel.yaxis)
    panel.set_ylabel("RMSE in standard deviations")
    legend(figure)
    return figure


REAL_DATA = Experiment(
    name="real-data",
    title="Real tables",
    place="Beyond the paper: iris, wine, diabetes and breast cancer from scikit-learn (at most ten columns)",
    cells=_centre_cells,
    measure=_centre_measure,
    draw=_centre_draw,
    across=("table", "method"),
    chunk=2,
    claims=(
        Claim(
            "below-gaussian",
            "BoxEM's error is below the analytic Gaussian's on every table.",
            _below("analytic Gaussian", _all),
        ),
        Claim(
            "below-coinpress",
            "BoxEM's error is below CoinPress's (told the deviations) on every table.",
            _below("CoinPress", _all),
        ),
        Claim("below-plan", "BoxEM's error is below PLAN's on every table.", _below("PLAN", _all)),
        Claim("useful", "BoxEM's error is below one standard deviation on every table.", _useful(_all)),
        *(
            Claim(
                f"roomy-{other.split()[0].lower()}",
                f"With 30 rows a column BoxEM's error is below {other}'s.",
                _below(other, _roomy),
                afterwards=True,
            )
            for other in _BASELINES
        ),
        Claim(
            "roomy-useful",
            "With 30 rows a column BoxEM's error is below one standard deviation.",
            _useful(_roomy),
            afterwards=True,
        ),
        Claim("too-few", "With 18 rows a column and wide bounds (wine) it is not.", _too_few, afterwards=True),
    ),
    notes=(
        "Bounds stand in for what one would know beforehand: from 0 (or symmetric) to a power of ten above twice the "
        "largest value. Columns are skewed and mixed here: part of the error is the difference between a deep point "
        "and the mean, which no budget removes.",
    ),
)
register(REAL_DATA)
