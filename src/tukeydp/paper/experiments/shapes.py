"""What depth sees: regions, data that are not round, outliers."""

from __future__ import annotations

from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.experiment import (
    PAPER,
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
    difference,
    exactly,
    linear_slope,
    log_contrast,
    mean,
    quotient,
    ratio,
    register,
    scaled,
)
from tukeydp.paper.experiments.figures import colour, legend, lines, new_figure
from tukeydp.paper.experiments.methods import EMPIRICAL, RADIUS, distance, error_row, run_method
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
        Claim("hull", "The convex hull is exactly the set of points of nonzero depth.", _hull, whose=PAPER),
        Claim("nested", "Level sets are nested: their area falls as the level rises.", _nested, whose=PAPER),
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
            "similar",
            "The empirical mean and BoxEM with exact depth have outputs of similar shape (within a factor 2).",
            _like_data,
            whose=PAPER,
        ),
        Claim(
            "spherical",
            "CoinPress reveals its spherical noise: its outputs are less than half as elongated.",
            _round,
            whose=PAPER,
        ),
        Claim("between", "BoxEM with axis-aligned depth sits between the two.", _between, whose=PAPER),
        Claim("high-error", "CoinPress has relatively high error here (twice the variance).", _high_error, whose=PAPER),
    ),
    notes=(
        "Covariance with standard deviations 3 and 0.6 along axes turned by 0.6 radians (the paper does not state its "
        "own). Elongation: variance along the long axis over variance along the short one. CoinPress is told the unit "
        "covariance, as in the paper's code.",
    ),
)
register(NONSPHERICAL)


# Robustness: what a share of corrupted rows does, and where they lie; at worst, by search.

_OUTLIERS_ROWS, _COLUMNS = 500, 2
_TUKEY = ("BoxEM random", "REM random")  # over the paper's 30 directions, without axes
_COMPARED = (EMPIRICAL, *_TUKEY, "REM", "CoinPress")
_PLACE, _SHARE = 5.0, 0.1  # of outliers, where the other one varies
_PUT = (0.5, 1.0, 2.0, 4.0, 10.0)  # distances from the clean mean at which an adversary puts its rows


def corrupted(n: int, d: int, share: float, place: float, rng: np.random.Generator) -> FloatArray:
    """Clean rows N(0, 1), and every row with probability `share` from N(place, 1/10) in all columns instead."""
    rows = rng.normal(size=(n, d))
    bad = rng.random(n) < share
    rows[bad] = place + np.sqrt(0.1) * rows[bad]
    return np.asarray(rows)


def attacked(rows: FloatArray, share: float, place: float, chosen: str) -> FloatArray:
    """Strong contamination: a share of the rows, picked by looking at them, is moved to one side of all others.

    Towards (1, ..., 1), `place` from the clean mean: those farthest on the other side ("opposite"), which moves every
    quantile twice, those nearest the middle ("middle"), or any ("any").
    """
    d = rows.shape[1]
    along = rows.sum(axis=1) / np.sqrt(d)
    order = {"opposite": np.argsort(along), "middle": np.argsort(np.abs(along)), "any": np.arange(len(rows))}[chosen]
    moved = rows.copy()
    bad = order[: round(share * len(rows))]
    moved[bad] = place / np.sqrt(d) + 0.01 * rows[bad]
    return np.asarray(moved)


def _distances(x: FloatArray, seeds: Seeds) -> list[Row]:
    """Distances to the clean rows' true mean, 0."""
    truth = np.zeros(_COLUMNS)
    rows: list[Row] = [{"method": EMPIRICAL, "error": distance(x.mean(axis=0), truth), "released": 1}]
    return rows + [error_row(name, run_method(name, x, RADIUS, seeds.source(name)), truth) for name in _COMPARED[1:]]


def _outliers_measure(settings: Settings, seeds: Seeds) -> list[Row]:
    return _distances(
        corrupted(_OUTLIERS_ROWS, _COLUMNS, settings["share"], settings["place"], seeds.rng("data")), seeds
    )


def _share_cells(quick: bool) -> list[Cell]:
    shares = (0.0, 0.1, 0.2) if quick else (0.0, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
    return [cell(60 if quick else 100, share=share, place=_PLACE) for share in shares]


def _place_cells(quick: bool) -> list[Cell]:
    places = (1.0, 4.0, 10.0, 20.0) if quick else (1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 15.0, 20.0)
    return [cell(80 if quick else 200, share=_SHARE, place=place) for place in places]


def _attack_cells(quick: bool) -> list[Cell]:
    trials = 12 if quick else 100
    chosen = ("opposite",) if quick else ("opposite", "middle", "any")
    cells = [cell(trials, share=share, place=r, chosen=c) for share in (0.05, 0.1) for c in chosen for r in _PUT]
    return [cell(3 * trials, share=0.0, place=0.0, chosen="any"), *cells]


def _attack_measure(settings: Settings, seeds: Seeds) -> list[Row]:
    clean = seeds.shared.rng("data").normal(size=(_OUTLIERS_ROWS, _COLUMNS))
    return _distances(attacked(clean, settings["share"], settings["place"], settings["chosen"]), seeds)


def _rate(results: Results, method: str) -> Estimate:
    """Error for each unit of the share of outliers, up to 0.2."""
    shares = [share for share in results.distinct("share") if share <= 0.2]
    return linear_slope(shares, [results.values("error", method=method, share=share) for share in shares])


def _less_sensitive(results: Results) -> list[Finding]:
    return [
        Finding(
            f"error per share of outliers up to 0.2, CoinPress - {m}",
            difference(_rate(results, "CoinPress"), _rate(results, m)),
            at_least=0.0,
        )
        for m in _TUKEY
    ]


def _much_less_sensitive(results: Results) -> list[Finding]:
    return [
        Finding(
            f"error per share of outliers up to 0.2, CoinPress / {m}",
            quotient(_rate(results, "CoinPress"), _rate(results, m)),
            at_least=2.0,
        )
        for m in _TUKEY
    ]


def _far_near(method: str, nearest: float, farthest: float) -> Check:
    def check(results: Results) -> list[Finding]:
        far, near = (results.values("error", method=method, place=place) for place in (farthest, nearest))
        label = f"{method}: error at s = {farthest:g} / at s = {nearest:g}"
        return [Finding(label, ratio(far, near, paired=False), 1 / 1.5, 1.5)]

    return check


def worst_case(results: Results, method: str, share: float) -> FloatArray:
    """Errors under the placement with the largest mean error, of all that were tried; not where one was refused."""
    tried = results.where(method=method, share=share)
    settings = dict.fromkeys((row["chosen"], row["place"]) for row in tried)
    samples = [tried.values("error", chosen=chosen, place=place) for chosen, place in settings]
    if not samples:
        raise NotMeasured(f"no attack on {method}")
    return max(samples, key=lambda sample: float(sample.mean()))


def _bounded_harm(results: Results) -> list[Finding]:
    """The median of a column moves by Phi^-1(1/2 + share) at most, 2.5 of the share; depth in d columns by no more."""
    return [
        Finding(
            f"{method}: (error, {share:.0%} of the rows put at worst - error, none) / share",
            scaled(difference(mean(worst_case(results, method, share)), _clean(results, method)), 1 / share),
            at_most=5.0,
        )
        for method in _TUKEY
        for share in (0.05, 0.1)
    ]


def _clean(results: Results, method: str) -> Estimate:
    return mean(results.values("error", method=method, share=0.0))


def _worst_less(results: Results) -> list[Finding]:
    theirs = worst_case(results, "CoinPress", _SHARE)
    return [
        Finding(f"worst error, CoinPress / {m}", ratio(theirs, worst_case(results, m, _SHARE), paired=False), 1.0)
        for m in _TUKEY
    ]


def _attack_draw(results: Results) -> Any:
    names = (*_TUKEY, "CoinPress", EMPIRICAL)
    figures = {}
    for share in (s for s in results.distinct("share") if s):
        some = results.where(share=share, chosen="opposite")
        figures[f"{share:.0%} of the rows moved to the other side"] = lines(
            some, "place", label="distance to the clean mean", methods=names, papers_bars=False, most=np.inf
        )
    return figures


FRACTION = Experiment(
    name="outliers-fraction",
    title="Robustness against the fraction of outliers",
    place="Figure: error against the fraction of outliers (n = 500, d = 2; outliers around (5, 5) here)",
    cells=_share_cells,
    measure=_outliers_measure,
    draw=lambda results: lines(
        results, "share", logx=False, logy=False, label="distance to the clean mean", methods=_COMPARED
    ),
    across=("share", "method"),
    claims=(
        Claim(
            "less-sensitive",
            "Tukey mechanisms are less sensitive to the fraction of outliers than CoinPress.",
            _less_sensitive,
            whose=PAPER,
        ),
        Claim(
            "much-less",
            "They are much less sensitive (the error grows at most half as fast, up to a fifth of the rows).",
            _much_less_sensitive,
            whose=PAPER,
            limits="with outliers around (5, 5), n = 500",
        ),
    ),
    notes=(
        "The paper does not say where its outliers lie in this figure. REM has the paper's 30 directions and the "
        "graded test: Algorithm 2 as printed, with true volumes, refuses at n = 500 (errata).",
    ),
)
register(FRACTION)

LOCATION = Experiment(
    name="outliers-location",
    title="Robustness against the location of outliers",
    place="Figure: error against the location of the outliers (n = 500, d = 2; a tenth of the rows here)",
    cells=_place_cells,
    measure=_outliers_measure,
    draw=lambda results: lines(
        results, "place", logx=False, logy=False, label="distance to the clean mean", methods=_COMPARED
    ),
    across=("place", "method"),
    claims=tuple(
        Claim(
            f"{method.split()[0].lower()}-{nearest:g}-to-{farthest:g}",
            f"{method} is insensitive to the location of the outliers "
            f"(a factor 1.5 from s = {nearest:g} to {farthest:g}).",
            _far_near(method, nearest, farthest),
            afterwards=nearest != 4.0,
            whose=PAPER,
        )
        for nearest, farthest in ((4.0, 10.0), (1.0, 20.0))
        for method in (*_TUKEY, "CoinPress")
    ),
    notes=(
        "The paper does not state the share of outliers in this figure. REM has the graded test: Algorithm 2 as "
        "printed refuses at n = 500.",
    ),
)
register(LOCATION)

ADVERSARY = Experiment(
    name="adversary",
    title="Strong contamination: the worst placement of a share of the rows",
    place="Definition of strong contamination and the sentences on robustness; no figure in the paper (n = 500, d = 2)",
    cells=_attack_cells,
    measure=_attack_measure,
    draw=_attack_draw,
    across=("share", "chosen", "place", "method"),
    claims=(
        Claim(
            "bounded",
            "An adversary who sees the data and may change 5 or 10 % of the rows adds at most 5 times that share to "
            "the error (in standard deviations).",
            _bounded_harm,
            whose=PAPER,
        ),
        Claim("worst", "At worst CoinPress is thrown farther off than Tukey mechanisms are.", _worst_less),
    ),
    notes=(
        "The search: which rows are changed (those farthest on the other side, in the full run those nearest the "
        "middle, or any) and how far out they are put (0.5 to 10 standard deviations, all on one spot: Gaussian data "
        "are round, so the direction does not matter). A search finds a bad placement, not surely the worst. The ideal "
        "law: a share a moved from one side to the other moves a median by Phi^-1(1/2 + a), 2.5 a for small a; twice "
        "that is the range. Guarantees of the theorem (up to a change in constant) speak of a share as large as the "
        "error.",
    ),
)
register(ADVERSARY)
