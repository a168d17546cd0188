"""One column: BoxEM, the Gaussian mechanism, the median and the mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    PAPER,
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
    level,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import WORDS, colour, legend, new_figure, ticks_at
from tukeydp.paper.experiments.methods import DELTA, EMPIRICAL, EPSILON

_RADIUS = 5.0  # the paper's range in one column
_BLOCK = 50  # trials that make one row
_SMALL, _LARGE = (20, 30, 50, 75, 100, 150, 200, 300), (500, 1000, 1300, 1700, 2500, 5000, 8000)
_QUICK = (50, 100, 300, 1000, 1700, 5000)
_CLAIMED = (100, 1000, 1700, 5000)  # where the claims compare
_HALVED = "Gaussian, half the noise"
_METHODS = (EMPIRICAL, "median", "BoxEM", "Gaussian", _HALVED, "analytic Gaussian")


def _cells(quick: bool) -> list[Cell]:
    if quick:
        return [cell(26 if n in _CLAIMED else 6, n=n, d=1) for n in _QUICK]
    return [cell(200, n=n, d=1) for n in _SMALL + _LARGE]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Mean squared distances to the truth, 0, over a block of datasets."""
    rng, source, n = seeds.rng("data"), seeds.source("draws"), settings["n"]
    squares = dict.fromkeys(_METHODS, 0.0)
    budget: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "radius": _RADIUS, "randomness": source}
    for _ in range(_BLOCK):
        x = rng.normal(size=(n, 1))[:, 0]
        outputs = {
            EMPIRICAL: x.mean(),
            "median": np.median(x),
            "BoxEM": td.boxem(
                x, epsilon=EPSILON, bounds=(-_RADIUS, _RADIUS), depth=td.AxisAligned(), randomness=source
            ).point[0],
            "Gaussian": td.baselines.gaussian(x, **budget).point[0],
            _HALVED: np.clip(x, -_RADIUS, _RADIUS).mean() + rng.normal() * halved_deviation(n),
            "analytic Gaussian": td.baselines.analytic_gaussian(x, **budget).point[0],
        }
        for method, output in outputs.items():
            squares[method] += float(output) ** 2 / _BLOCK
    return [{"method": method, "square": square, "datasets": _BLOCK} for method, square in squares.items()]


def halved_deviation(n: int) -> float:
    """The classical deviation for a sensitivity of R/n; swapping a row in [-R, R] moves the mean by 2R/n."""
    return _RADIUS * math.sqrt(2 * math.log(1.25 / float(DELTA))) / (EPSILON * n)


def _to_empirical(method: str, at_least: float, at_most: float) -> Check:
    def check(results: Results) -> list[Finding]:
        pair = [results.values("square", method=m, n=100) for m in (method, EMPIRICAL)]
        found = ratio(pair[0], pair[1], power=0.5)
        return [Finding(f"RMSE of {method} / RMSE of the mean at n = 100", found, at_least, at_most)]

    return check


def _crossover(gaussian: str) -> Check:
    def check(results: Results) -> list[Finding]:
        findings = []
        for n, side in ((1000, {"at_most": 1.0}), (1700, {"at_least": 1.0})):
            pair = [results.values("square", method=m, n=n) for m in ("BoxEM", gaussian)]
            label = f"RMSE of BoxEM / RMSE of {gaussian} at n = {n}"
            findings.append(Finding(label, ratio(pair[0], pair[1], power=0.5), **side))
        return findings

    return check


def _limit(results: Results) -> list[Finding]:
    n = max(results.distinct("n", method="BoxEM"), default=0)
    found = level(results.values("square", method="BoxEM", n=n), math.sqrt(math.pi / (2 * n)), 0.5)
    return [Finding(f"RMSE of BoxEM / sqrt(pi / (2 n)) at n = {n}", found, 0.9, 1.1)]


def _like_median(results: Results) -> list[Finding]:
    pair = [results.values("square", method=m, n=100) for m in ("BoxEM", "median")]
    return [Finding("RMSE of BoxEM / RMSE of the median at n = 100", ratio(pair[0], pair[1], power=0.5), at_most=1.5)]


def _draw(results: Results) -> Any:
    figures = {}
    for words, small in (("Small samples", True), ("Large samples", False)):
        figure, panel = new_figure()
        places = [n for n in results.distinct("n") if (n <= max(_SMALL)) == small]
        for method in _METHODS:
            values = [math.sqrt(n * results.values("square", method=method, n=n).mean()) for n in places]
            line = "--" if method in (EMPIRICAL, "median") else ":" if method == _HALVED else "-"
            panel.plot(places, values, marker="o", markersize=3, linestyle=line, color=colour(method), label=method)
        panel.axhline(math.sqrt(math.pi / 2), color="0.6", linewidth=0.8, linestyle=":")
        panel.set_yscale("log")
        ticks_at(panel, places)
        panel.set_xlabel(WORDS["n"])
        panel.set_ylabel("root mean square error times root n")
        panel.grid(alpha=0.25)
        legend(figure)
        figures[words] = figure
    return figures


UNIVARIATE = Experiment(
    name="univariate",
    title="One column: small and large samples",
    place="Appendix: univariate Gaussian mean estimation, both figures (10,000 trials in full)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("n", "method"),
    shown="square",
    chunk=2,
    claims=(
        Claim(
            "With 100 samples BoxEM has roughly 1.5 times the error of the mean (1.25 to 1.75).",
            _to_empirical("BoxEM", 1.25, 1.75),
            whose=PAPER,
        ),
        Claim(
            "With 100 samples the Gaussian mechanism has roughly three times the error of the mean (2.5 to 3.5).",
            _to_empirical("Gaussian", 2.5, 3.5),
            whose=PAPER,
        ),
        Claim("The same with half the noise, as if the sensitivity were R/n.", _to_empirical(_HALVED, 2.5, 3.5)),
        Claim(
            "Errors cross near n = 1,300 (between 1,000 and 1,700): the Gaussian mechanism is better beyond.",
            _crossover("Gaussian"),
            whose=PAPER,
        ),
        Claim("The same with half the noise.", _crossover(_HALVED)),
        Claim(
            "Already at n = 100 BoxEM's error is comparable to the median's (1.5 times at most).",
            _like_median,
            whose=PAPER,
        ),
        Claim("For large n BoxEM's RMSE approaches sqrt(pi / (2 n)) (10 %).", _limit, whose=PAPER),
    ),
    notes=(
        "Swapping one row in [-5, 5] moves the mean by up to 10/n, so the classical noise has deviation 53/n. The "
        "paper's numbers (three times, 1,300) fit half of it, 26.5/n, as if rows were only added "
        "or removed. Squared errors are averaged over blocks of 50 datasets.",
    ),
)
register(UNIVARIATE)
