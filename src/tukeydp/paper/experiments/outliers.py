"""Robustness: what a share of corrupted rows does, and where they lie."""

from __future__ import annotations

import numpy as np

from tukeydp.paper.experiments.experiment import (
    PAPER,
    Cell,
    Check,
    Claim,
    Estimate,
    Experiment,
    Finding,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    difference,
    linear_slope,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import lines
from tukeydp.paper.experiments.methods import EMPIRICAL, RADIUS, distance, error_row, run_method
from tukeydp.trusted.parameters import FloatArray

_ROWS, _COLUMNS = 500, 2
_TUKEY = ("BoxEM random", "REM")
_SHOWN = (EMPIRICAL, "BoxEM random", "REM", "CoinPress")
_PLACE, _SHARE = 5.0, 0.1  # of outliers, where the other one varies


def corrupted(n: int, d: int, share: float, place: float, rng: np.random.Generator) -> FloatArray:
    """Clean rows N(0, 1), and every row with probability `share` from N(place, 1/10) in all columns instead."""
    rows = rng.normal(size=(n, d))
    bad = rng.random(n) < share
    rows[bad] = place + np.sqrt(0.1) * rows[bad]
    return np.asarray(rows)


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Distances to the clean rows' true mean, 0."""
    x = corrupted(_ROWS, _COLUMNS, settings["share"], settings["place"], seeds.rng("data"))
    truth = np.zeros(_COLUMNS)
    rows: list[Row] = [{"method": EMPIRICAL, "error": distance(x.mean(axis=0), truth), "released": 1}]
    return rows + [error_row(name, run_method(name, x, RADIUS, seeds.source(name)), truth) for name in _SHOWN[1:]]


def _share_cells(quick: bool) -> list[Cell]:
    shares = (0.0, 0.1, 0.2) if quick else (0.0, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
    return [cell(30 if quick else 100, share=share, place=_PLACE) for share in shares]


def _place_cells(quick: bool) -> list[Cell]:
    places = (1.0, 4.0, 10.0, 20.0) if quick else (1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 15.0, 20.0)
    return [cell(80 if quick else 200, share=_SHARE, place=place) for place in places]


def _less_sensitive(results: Results) -> list[Finding]:
    shares = [share for share in results.distinct("share") if share <= 0.2]

    def rate(method: str) -> Estimate:
        return linear_slope(shares, [results.values("error", method=method, share=share) for share in shares])

    theirs = rate("CoinPress")
    return [
        Finding(f"error per share of outliers up to 0.2, CoinPress - {m}", difference(theirs, rate(m)), at_least=0.0)
        for m in _TUKEY
    ]


def _far_near(method: str, nearest: float, farthest: float) -> Check:
    def check(results: Results) -> list[Finding]:
        far, near = (results.values("error", method=method, place=place) for place in (farthest, nearest))
        label = f"{method}: error at s = {farthest:g} / at s = {nearest:g}"
        return [Finding(label, ratio(far, near, paired=False), 1 / 1.5, 1.5)]

    return check


FRACTION = Experiment(
    name="outliers-fraction",
    title="Robustness against the fraction of outliers",
    place="Figure: error against the fraction of outliers (n = 500, d = 2; outliers around (5, 5) here)",
    cells=_share_cells,
    measure=_measure,
    draw=lambda results: lines(
        results, "share", logx=False, logy=False, label="distance to the clean mean", methods=_SHOWN
    ),
    across=("share", "method"),
    claims=(
        Claim(
            "Tukey mechanisms are less sensitive to the fraction of outliers than CoinPress.",
            _less_sensitive,
            whose=PAPER,
        ),
    ),
    notes=("The paper does not say where its outliers lie in this figure.",),
)
register(FRACTION)

LOCATION = Experiment(
    name="outliers-location",
    title="Robustness against the location of outliers",
    place="Figure: error against the location of the outliers (n = 500, d = 2; a tenth of the rows here)",
    cells=_place_cells,
    measure=_measure,
    draw=lambda results: lines(
        results, "place", logx=False, logy=False, label="distance to the clean mean", methods=_SHOWN
    ),
    across=("place", "method"),
    claims=tuple(
        Claim(
            f"{method} is insensitive to the location of the outliers "
            f"(a factor 1.5 from s = {nearest:g} to {farthest:g}).",
            _far_near(method, nearest, farthest),
            afterwards=nearest != 4.0,
            whose=PAPER,
        )
        for nearest, farthest in ((4.0, 10.0), (1.0, 20.0))
        for method in _SHOWN[1:]
    ),
    notes=("The paper does not state the share of outliers in this figure.",),
)
register(LOCATION)
