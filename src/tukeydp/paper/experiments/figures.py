"""Figures in one style, as PNG and SVG, without a display."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tukeydp.extras import missing
from tukeydp.paper.experiments.experiment import NotMeasured, Results, mean, papers_half_width
from tukeydp.paper.experiments.methods import EMPIRICAL, METHODS

MARKERS = "osD^v<>Pp*X"
TRIVIAL = 3.0  # what "0" achieves, the mean being on the sphere of this radius: larger average errors are left out
# Inches of one panel: as wide as a phone, so that its letters are readable there. Panels of one experiment are pictures
# of their own, which a page can set side by side or below each other.
WIDTH, HEIGHT = 4.6, 3.9
_DOTS = 200  # per inch: twice what a phone shows, for whoever opens the picture
_APART = 0.085  # of the axis: what a tick's label needs
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


def averages(
    results: Results, method: str, x: str, column: str, most: float
) -> list[tuple[float, float, float, float]]:
    """(x, mean, half of its 95 % interval, half of the paper's) where no trial was refused."""
    points = []
    for place in results.distinct(x, method=method):
        try:
            sample = results.values(column, method=method, **{x: place})
        except NotMeasured:  # a refusal among the trials
            continue
        estimate = mean(sample)
        if estimate.value <= most:
            half = estimate.value - estimate.interval(0.95)[0] if len(sample) > 1 else 0.0
            points.append((float(place), estimate.value, half, papers_half_width(sample)))
    return sorted(points)


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
    shown: set[float] = set()
    for i, method in enumerate(names):
        points = averages(results, method, x, column, most)
        if not points:
            continue
        places, values, halves, papers = zip(*points, strict=True)
        shown.update(places)
        style = {"color": colour(method), "marker": MARKERS[i % len(MARKERS)], "markersize": 4, "linewidth": 1.3}
        if method == EMPIRICAL:
            style |= {"linestyle": "--"}
        panel.errorbar(places, values, yerr=halves, capsize=3, label=method, **style)
        if papers_bars:
            panel.errorbar(places, values, yerr=papers, fmt="none", ecolor="0.55", elinewidth=3, alpha=0.5, zorder=0)
    if logy:
        panel.set_yscale("log", nonpositive="clip")
    ticks_at(panel, sorted(shown), log=logx)
    panel.set_xlabel(WORDS.get(x, x))
    panel.set_ylabel(label)
    panel.grid(alpha=0.25)
    if figure is not None:
        legend(figure)
    return figure


def ticks_at(panel: Any, places: Sequence[float], *, log: bool = True) -> None:
    """Ticks at the measured places, in plain numbers; a label that would run into the one before it is left out."""
    if log:
        panel.set_xscale("log")
    scale = [math.log(place) for place in places] if log else list(places)
    span = (scale[-1] - scale[0]) or 1.0 if scale else 1.0
    labels, last = [], -math.inf
    for at, place in zip(scale, places, strict=True):
        clear = (at - last) / span >= _APART
        labels.append(_number(place) if clear else "")
        last = at if clear else last
    panel.set_xticks(list(places), labels, fontsize="small")
    panel.set_xticks([], minor=True)


def _number(place: float) -> str:
    """Powers of ten from 10^4 on, and below 10^-2, as such."""
    exponent = math.log10(place) if place > 0 else 0.0
    if abs(exponent - round(exponent)) < 1e-9 and not -2 <= exponent < 4:
        return f"$10^{{{round(exponent)}}}$"
    return f"{place:g}"


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
