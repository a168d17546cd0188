"""Pictures of depth: what it is, and how mechanisms follow the shape of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    PAPER,
    Cell,
    Claim,
    Estimate,
    Experiment,
    Finding,
    Results,
    Row,
    Seeds,
    Settings,
    cell,
    exactly,
    log_contrast,
    ratio,
    register,
)
from tukeydp.paper.experiments.figures import colour, legend, new_figure
from tukeydp.paper.experiments.methods import EMPIRICAL, RADIUS, run_method
from tukeydp.trusted.parameters import FloatArray

_POINTS = 14  # few enough that every region can be seen


def _illustrated(seed: int) -> FloatArray:
    return np.asarray(np.round(np.random.default_rng([seed, 14]).normal(size=(_POINTS, 2)), 2))


def _measure_depth(settings: Settings, seeds: Seeds) -> list[Row]:
    from scipy.spatial import ConvexHull

    picture = seeds.number("points") % 2**32
    x = _illustrated(picture)
    volumes = td.level_volumes(x, td.Exact())
    rows: list[Row] = [{"method": "convex hull", "level": 1, "area": float(ConvexHull(x).volume), "picture": picture}]
    return rows + [
        {"method": "level set", "level": i, "area": float(volumes[i]), "picture": picture}
        for i in range(1, len(volumes))
    ]


def _hull(results: Results) -> list[Finding]:
    first = results.values("area", method="level set", level=1)
    return [Finding("area of depth >= 1 / area of the hull", ratio_of_one(first, results), 1 - 1e-9, 1 + 1e-9)]


def ratio_of_one(first: FloatArray, results: Results) -> Estimate:
    return exactly(float(first[0]) / float(results.values("area", method="convex hull")[0]))


def _nested(results: Results) -> list[Finding]:
    areas = results.values("area", method="level set")
    return [Finding("smallest drop in area from level to level", exactly(float(-np.diff(areas).max())), at_least=0.0)]


def _draw_depth(results: Results) -> Any:
    x = _illustrated(int(results.values("picture")[0]))
    figure, panel = new_figure()
    styles = {1: {"facecolor": "none"}, 3: {"facecolor": "0.85"}, 4: {"facecolor": "0.65", "hatch": "///"}}
    for wanted, style in styles.items():
        corners = td.level_set(x, wanted, td.Exact()).vertices
        if len(corners) > 2:
            panel.fill(*_around(corners).T, edgecolor="black", linewidth=1, label=f"depth ≥ {wanted}", **style)
    panel.scatter(*x.T, color="black", s=14, zorder=3)
    legend(figure, 3)
    panel.set_xlabel("first column")
    panel.set_ylabel("second column")
    panel.set_aspect("equal")
    return figure


def _around(corners: FloatArray) -> FloatArray:
    middle = corners.mean(axis=0)
    return np.asarray(corners[np.argsort(np.arctan2(*(corners - middle).T[::-1]))])


DEPTH = Experiment(
    name="depth",
    title="Tukey depth, illustrated",
    place="Figure 1: regions of depth at least 1, 3 and 4",
    cells=lambda quick: [cell(1, n=_POINTS, d=2)],
    measure=_measure_depth,
    draw=_draw_depth,
    across=("method", "level"),
    shown="area",
    claims=(
        Claim("The convex hull is exactly the set of points of nonzero depth.", _hull, whose=PAPER),
        Claim("Level sets are nested: their area falls as the level rises.", _nested, whose=PAPER),
    ),
)
register(DEPTH)

# --- data that is not round -------------------------------------------------------------------------------------------

_ROTATION = np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
_DEVIATIONS = np.array([3.0, 0.6])
_SHAPE = _ROTATION * _DEVIATIONS  # rows are _SHAPE times a standard normal
_ROWS = 200
_SHOWN = (EMPIRICAL, "BoxEM exact", "BoxEM axis-aligned", "CoinPress")


def _cells(quick: bool) -> list[Cell]:
    return [cell(400 if quick else 1000, n=_ROWS, d=2)]


def _slanted(rng: np.random.Generator) -> FloatArray:
    return np.asarray(rng.normal(size=(_ROWS, 2)) @ _SHAPE.T)


def _measure(settings: Settings, seeds: Seeds) -> list[Row]:
    """Where each mechanism's output lies, also along the long and the short axis of the data."""
    x = _slanted(seeds.rng("data"))
    points = {EMPIRICAL: x.mean(axis=0)}
    for name in _SHOWN[1:]:
        point = run_method(name, x, RADIUS, seeds.source(name)).point
        assert point is not None
        points[name] = point
    rows = []
    for name, point in points.items():
        long, short = point @ _ROTATION
        rows.append(
            {
                "method": name,
                "x": float(point[0]),
                "y": float(point[1]),
                "long": float(long**2),
                "short": float(short**2),
            }
        )
    return rows


def _elongation(results: Results, method: str, of: str | None = None) -> Estimate:
    """(variance along the long axis / along the short one), to the same of another method if one is given."""
    groups = [results.values(axis, method=m) for m in (method, of) if m for axis in ("long", "short")]
    return log_contrast(groups, [1.0, -1.0, -1.0, 1.0][: len(groups)])


def _like_data(results: Results) -> list[Finding]:
    return [Finding("elongation, exact / empirical", _elongation(results, "BoxEM exact", EMPIRICAL), 0.5, 2.0)]


def _round(results: Results) -> list[Finding]:
    return [Finding("elongation, CoinPress / empirical", _elongation(results, "CoinPress", EMPIRICAL), at_most=0.5)]


def _between(results: Results) -> list[Finding]:
    axes = "BoxEM axis-aligned"
    return [
        Finding("elongation, axis-aligned / exact", _elongation(results, axes, "BoxEM exact"), at_most=1.0),
        Finding("elongation, axis-aligned / CoinPress", _elongation(results, axes, "CoinPress"), at_least=1.0),
    ]


def _high_error(results: Results) -> list[Finding]:
    size = [results.values("long", method=m) + results.values("short", method=m) for m in ("CoinPress", "BoxEM exact")]
    return [Finding("variance, CoinPress / exact", ratio(size[0], size[1]), at_least=2.0)]


def _draw(results: Results) -> Any:
    x = _slanted(Seeds((results.rows[0]["seed"], "picture")).rng("data"))
    figures = {}
    for words, fill in (("The data", _scatter), ("Level sets of depth", _level_sets)):
        figures[words], panel = new_figure()
        fill(panel, x)
    figures["Covariance of the outputs: one standard deviation"], panel = new_figure()
    for method in _SHOWN:
        points = np.column_stack([results.values(axis, method=method) for axis in ("x", "y")])
        scale = 0.1 if method == "CoinPress" else 1.0
        outline = _ellipse(np.cov(points.T) * scale)
        label = f"{method} (covariance / 10)" if scale < 1 else method
        panel.plot(*outline, color=colour(method), label=label, linestyle="--" if method == EMPIRICAL else "-")
    legend(panel.figure)
    for figure in figures.values():
        figure.axes[0].set_aspect("equal", adjustable="datalim")
        figure.axes[0].set_xlabel("first column")
        figure.axes[0].set_ylabel("second column")
    return figures


def _scatter(panel: Any, x: FloatArray) -> None:
    panel.scatter(*x.T, s=6, color="0.3")


def _level_sets(panel: Any, x: FloatArray) -> None:
    panel.scatter(*x.T, s=3, color="0.7")
    for depth in np.linspace(0.02, 0.42, 6):
        corners = td.level_set(x, max(1, int(depth * _ROWS)), td.Exact()).vertices
        if len(corners) > 2:
            panel.fill(*_around(corners).T, fill=False, edgecolor=colour("BoxEM exact"))


def _ellipse(covariance: FloatArray) -> FloatArray:
    """The points at one standard deviation; of few outputs too, whose covariance may be flat."""
    angles = np.linspace(0, 2 * np.pi, 100)
    squares, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(np.maximum(squares, 0.0)) @ np.array([np.cos(angles), np.sin(angles)]))


NONSPHERICAL = Experiment(
    name="nonspherical",
    title="Data that is not round",
    place="Figure: scatter, level sets and covariance of the outputs for a nonspherical distribution (n = 200)",
    cells=_cells,
    measure=_measure,
    draw=_draw,
    across=("method",),
    shown="long",
    claims=(
        Claim(
            "The empirical mean and BoxEM with exact depth have outputs of similar shape (within a factor 2).",
            _like_data,
            whose=PAPER,
        ),
        Claim(
            "CoinPress reveals its spherical noise: its outputs are less than half as elongated.", _round, whose=PAPER
        ),
        Claim("BoxEM with axis-aligned depth sits between the two.", _between, whose=PAPER),
        Claim("CoinPress has relatively high error here (twice the variance).", _high_error, whose=PAPER),
    ),
    notes=(
        "Covariance with standard deviations 3 and 0.6 along axes turned by 0.6 radians (the paper does not state its "
        "own). Elongation: variance along the long axis over variance along the short one. CoinPress is told the unit "
        "covariance, as in the paper's code.",
    ),
)
register(NONSPHERICAL)
