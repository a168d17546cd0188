"""Figures in one style, as PNG and SVG, without a display."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.extras import missing
from tukeydp.paper.experiments.experiment import NotMeasured, Results, level, mean, papers_half_width
from tukeydp.paper.experiments.methods import EMPIRICAL, METHODS

MARKERS = "osD^v<>Pp*X"
TRIVIAL = 3.0  # what "0" achieves, the mean being on the sphere of this radius: larger average errors are left out
# Inches of one panel: as wide as a phone, so that its letters are readable there. Panels of one experiment are pictures
# of their own, which a page can set side by side or below each other.
WIDTH, HEIGHT = 4.6, 3.9
_DOTS = 200  # per inch: twice what a phone shows, for whoever opens the picture
_BESIDE = 0.03  # what series keep from each other, in parts of x, where there is one place only
MOST_SERIES = 6  # in one panel: more cannot be told apart in print
# Multiples of powers of ten that have a tick, by the ratio of an axis's ends.
_TICKS = (
    (100.0, (1.0,)),
    (10.0, (1.0, 2.0, 5.0)),
    (3.0, (1.0, 2.0, 3.0, 5.0, 7.0)),
    (0.0, (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)),
)
WORDS = {
    "n": "number of rows, n",
    "d": "number of columns, d",
    "k": "number of directions, k",
    "R": "range R: columns lie in [-R, R]",
    "epsilon": "privacy budget, epsilon",
    "delta": "delta",
    "share": "fraction of outliers",
    "place": "where the outliers lie, s",
}


def new_figure(width: float = WIDTH, height: float = HEIGHT) -> tuple[Any, Any]:
    """A figure bound to no window, and its one panel."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("reproduce", "matplotlib", "reproduce") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def legend(figure: Any, columns: int = 2) -> None:
    """Below the panel, where it hides nothing."""
    figure.legend(loc="outside lower center", ncols=columns, fontsize=8, frameon=False)


def colour(method: str) -> Any:
    """That of `METHODS`; others, with their number of directions in the label, have one that is fixed by the label."""
    from matplotlib import colormaps

    if method in METHODS:
        return METHODS[method].colour
    return colormaps["tab10"](sum(map(ord, method)) % 10)


@dataclass(frozen=True)
class Point:
    """A mean with its 95 % interval, and half of the paper's own; NaN where nothing can be shown."""

    at: float
    value: float
    low: float
    high: float
    papers: float = math.nan


def averages(
    results: Results, method: str, x: str, column: str, most: float = math.inf, *, log: bool = True
) -> list[Point]:
    """A point for every place, by x; without a value where a trial was refused, or the mean is above `most`.

    On a logarithmic axis the interval is that of the mean's logarithm: never below zero, longer above than below.
    """
    points = []
    for place in sorted(results.distinct(x, method=method)):
        try:
            sample = results.values(column, method=method, **{x: place})
        except NotMeasured:  # a refusal among the trials
            points.append(Point(float(place), math.nan, math.nan, math.nan))
            continue
        estimate = level(sample) if log and sample.mean() > 0 else mean(sample)
        ends = estimate.interval(0.95) if len(sample) > 1 else (estimate.value, estimate.value)
        shown = estimate.value if estimate.value <= most else math.nan
        points.append(Point(float(place), shown, *ends, papers_half_width(sample)))
    return points


def draw_points(panel: Any, points: Sequence[Point], *, shift: float = 0.0, **style: Any) -> None:
    """Marks with bars to either side of their own length, joined by a line that is broken where a point is missing."""
    at, value, low, high = (np.array([getattr(p, name) for p in points]) for name in ("at", "value", "low", "high"))
    if np.isnan(value).all():
        return
    bars = np.nan_to_num(np.array([value - low, high - value]), posinf=0.0).clip(min=0.0)
    panel.errorbar(at + shift, value, yerr=bars, **({"marker": "o", "markersize": 4, "capsize": 3} | style))


def lines(
    results: Results,
    x: str,
    *,
    column: str = "error",
    label: str = "distance to the sample mean",
    most: float = TRIVIAL,
    logx: bool = True,
    logy: bool = True,
    methods: Sequence[str] | None = None,
    panel: Any = None,
    papers_bars: bool = True,
) -> Any:
    """Means of every method against x with correct 95 % intervals; the paper's own in grey beside them."""
    figure = None
    if panel is None:
        figure, panel = new_figure()
    names = results.distinct("method") if methods is None else methods
    if len(names) > MOST_SERIES:
        raise ValueError(f"{len(names)} series in one panel: at most {MOST_SERIES} can be told apart")
    drawn = [averages(results, method, x, column, most, log=logy) for method in names]
    places = sorted({point.at for points in drawn for point in points})
    for i, (method, points) in enumerate(zip(names, drawn, strict=True)):
        if len(places) == 1:  # side by side
            points = [replace(p, at=p.at * (1 + _BESIDE * (i - (len(names) - 1) / 2))) for p in points]
        elif points:
            points = _with_gaps(points, places)
        line = "--" if method == EMPIRICAL else "-"
        style = {"color": colour(method), "marker": MARKERS[i % len(MARKERS)], "linewidth": 1.3, "linestyle": line}
        draw_points(panel, points, label=method, **style)
        if papers_bars:
            shown = [p for p in points if not math.isnan(p.value)]
            grey: dict[str, Any] = {"fmt": "none", "ecolor": "0.55", "elinewidth": 3, "alpha": 0.5, "zorder": 0}
            panel.errorbar([p.at for p in shown], [p.value for p in shown], yerr=[p.papers for p in shown], **grey)
    dress(panel, x, label, logx=logx, logy=logy)
    if not logx:
        panel.locator_params(axis="x", nbins=6)
    if len(places) == 1:
        panel.set_xticks(places, [_number(places[0])])
        panel.set_xticks([], minor=True)
    if figure is not None:
        legend(figure)
    return figure


def _with_gaps(points: Sequence[Point], places: Sequence[float]) -> list[Point]:
    """A point without a value wherever others were measured and this one was not: no line passes there."""
    found = {point.at: point for point in points}
    missing = (math.nan, math.nan, math.nan)
    return [found[at] if at in found else Point(at, *missing) for at in places]


def dress(panel: Any, x: str, label: str, *, logx: bool = True, logy: bool = True) -> None:
    """What the axes are, their ticks, and a faint grid."""
    for axis, log in ((panel.xaxis, logx), (panel.yaxis, logy)):
        if log:
            log_axis(axis)
    panel.set_xlabel(WORDS.get(x, x))
    panel.set_ylabel(label)
    panel.grid(alpha=0.25)


def log_axis(axis: Any) -> None:
    """A logarithmic axis with ticks at powers of ten, labelled; where it spans less than two, at more places of each.

    Small ticks without labels at all digits.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log", nonpositive="clip")
    axis.axes.autoscale_view()
    low, high = axis.get_view_interval()
    span = high / low if low > 0 else math.inf
    axis.set_major_locator(LogLocator(subs=next(subs for least, subs in _TICKS if span >= least), numticks=12))
    axis.set_minor_locator(LogLocator(subs=tuple(range(1, 10)), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axis.set_minor_formatter(NullFormatter())


def _number(place: float) -> str:
    """From 10^4 on, and below 10^-2, with a power of ten."""
    if place <= 0 or 0.0099 < place < 9999:
        return f"{place:g}"
    exponent = math.floor(math.log10(place) + 1e-9)
    times = f"{place / 10**exponent:g}"
    return f"$10^{{{exponent}}}$" if times == "1" else f"${times}\\cdot 10^{{{exponent}}}$"


def save(drawn: Any, folder: Path, name: str) -> dict[str, Path]:
    """PNG and SVG of every panel; without dates and random names, so that equal results give equal files.

    `drawn` is a figure, NAME.png, or figures by what they show, NAME-1.png and on. Returns the PNG of each.
    """
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    several = isinstance(drawn, Mapping)
    panels = dict(drawn) if several else {"": drawn}
    paths = {}
    for i, (words, figure) in enumerate(panels.items(), 1):
        stem = f"{name}-{i}" if several else name
        with rc_context({"svg.hashsalt": "tukeydp"}):
            figure.savefig(folder / f"{stem}.png", dpi=_DOTS)
            figure.savefig(folder / f"{stem}.svg", metadata={"Date": None})
        paths[words] = folder / f"{stem}.png"
    return paths
