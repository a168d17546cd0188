"""Error against the number of directions: random, spread, axis-aligned, exact."""

from __future__ import annotations

from typing import Any

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
    mean,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import colour, legend, lines, new_figure
from tukeydp.paper.experiments.methods import EMPIRICAL, boxem_over, distance, error_row, papers_data

_RADIUS = 10.0
_COUNTS, _QUICK_COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 30, 50, 100), (2, 4, 8, 16, 30, 100)
_MANY = 100  # directions at which the claims compare
# Trials under --quick: many where claims compare errors that differ by a tenth; the others are for the figure.
_QUICK_TRIALS = {0: 700, 2: 100, 4: 600, _MANY: 700}
_FIXED = {"BoxEM exact": td.Exact(), "BoxEM axis-aligned": td.AxisAligned()}


def _cells(quick: bool) -> list[Cell]:
    if quick:
        return [cell(_QUICK_TRIALS.get(k, 40), k=k, n=200, d=2) for k in (0, *_QUICK_COUNTS)]
    return [cell(1000, k=k, n=200, d=2) for k in (0, *_COUNTS)]


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """k = 0: the notions that have no k. Trial i is on the same data for every k."""
    mu, x = papers_data(settings["n"], settings["d"], seeds.shared.rng("data"))
    middle, k = x.mean(axis=0), settings["k"]
    notions: dict[str, Any] = _FIXED
    if k:
        notions = {"BoxEM random": td.Random(k, axes=False), "BoxEM spread": td.Spread(k, axes=False)}
    rows = [
        error_row(name, boxem_over(depth)(x, _RADIUS, seeds.source(name)), middle) for name, depth in notions.items()
    ]
    return rows + [{"method": EMPIRICAL, "error": distance(middle, mu), "released": 1}]


def _against(results: Results, first: str, k: int, second: str) -> Any:
    """Over the trials that both have: trial i is on the same data."""
    above, below = results.values("error", method=first, k=k), results.values("error", method=second, k=0)
    both = min(len(above), len(below))
    return ratio(above[:both], below[:both])


def _overtakes(results: Results) -> list[Finding]:
    axes = "BoxEM axis-aligned"
    return [
        Finding("random / axis-aligned at k = 2", _against(results, "BoxEM random", 2, axes), at_least=1.0),
        Finding("random / axis-aligned at k = 100", _against(results, "BoxEM random", _MANY, axes), at_most=1.0),
    ]


def _approaches(results: Results) -> list[Finding]:
    found = _against(results, "BoxEM random", _MANY, "BoxEM exact")
    return [Finding("random at k = 100 / exact", found, 0.8, 1.2)]


def _exact_beats_axes(results: Results) -> list[Finding]:
    pair = [results.values("error", method=m, k=0) for m in ("BoxEM axis-aligned", "BoxEM exact")]
    return [Finding("axis-aligned / exact", ratio(pair[0], pair[1]), at_least=1.0)]


def _spread_at_few(results: Results) -> list[Finding]:
    pair = [results.values("error", method=m, k=4) for m in ("BoxEM random", "BoxEM spread")]
    return [Finding("random / spread at k = 4", ratio(pair[0], pair[1]), at_least=1.0)]


def _draw(results: Results) -> Any:
    figure, panel = new_figure()
    some = Results(row for row in results if row["k"])
    lines(some, "k", methods=["BoxEM random", "BoxEM spread"], panel=panel, logy=False)
    for method in ("BoxEM axis-aligned", "BoxEM exact", EMPIRICAL):
        estimate = mean(results.values("error", method=method, k=0))
        panel.axhline(estimate.value, color=colour(method), linestyle="--", label=method)
        panel.axhspan(*estimate.interval(0.95), color=colour(method), alpha=0.12, linewidth=0)
    legend(figure)
    return figure


DIRECTIONS = Experiment(
    name="directions",
    title="Error against the number of directions",
    place="Figure: BoxEM's error under different notions of depth (n = 200, d = 2, 200 trials)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("k", "method"),
    chunk=20,
    claims=(
        Claim("Axis-aligned depth has higher error than exact depth.", _exact_beats_axes, whose=PAPER),
        Claim("As k grows, random depth overtakes axis-aligned depth.", _overtakes, whose=PAPER),
        Claim(
            "With many directions the error of random depth is close to that of exact depth (20 %).",
            _approaches,
            whose=PAPER,
        ),
        Claim("Spread directions beat random ones where they are few.", _spread_at_few),
    ),
)
register(DIRECTIONS)
