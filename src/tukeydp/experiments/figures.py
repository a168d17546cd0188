"""Figures in one style, as PNG and SVG, without a display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tukeydp.experiments.estimates import mean, papers_half_width
from tukeydp.experiments.methods import EMPIRICAL, METHODS
from tukeydp.experiments.results import NotMeasured, Results
from tukeydp.extras import missing

MARKERS = "osD^v<>Pp*X"
TRIVIAL = 3.0  # what "0" achieves, the mean being on the sphere of this radius: larger average errors are left out


def new_figure(rows: int = 1, columns: int = 1, width: float = 6.0, height: float = 4.0) -> tuple[Any, Any]:
    """A figure bound to no window, and its panels."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("reproduce", "matplotlib", "reproduce") from None
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


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
        figure, panels = new_figure()
        panel = panels[0, 0]
    names = results.distinct("method") if methods is None else methods
    for i, method in enumerate(names):
        points = averages(results, method, x, column, most)
        if not points:
            continue
        places, values, halves, papers = zip(*points, strict=True)
        style = {"color": colour(method), "marker": MARKERS[i % len(MARKERS)], "markersize": 4, "linewidth": 1.3}
        if method == EMPIRICAL:
            style |= {"linestyle": "--"}
        panel.errorbar(places, values, yerr=halves, capsize=3, label=method, **style)
        if papers_bars:
            panel.errorbar(places, values, yerr=papers, fmt="none", ecolor="0.55", elinewidth=3, alpha=0.5, zorder=0)
    if logx:
        panel.set_xscale("log")
    if logy:
        panel.set_yscale("log", nonpositive="clip")
    panel.set_xlabel(x)
    panel.set_ylabel(label)
    panel.grid(alpha=0.25)
    panel.legend(fontsize="x-small", frameon=False)
    return figure


def plain_ticks(panel: Any, places: Sequence[float]) -> None:
    """Ticks at the measured places, in plain numbers: logarithmic axes over a short range have none of use."""
    panel.set_xticks(list(places), [f"{place:g}" for place in places], fontsize="small")
    panel.minorticks_off()


def save(figure: Any, folder: Path, name: str) -> None:
    """NAME.png and NAME.svg; without dates and random names, so that equal results give equal files."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "tukeydp"}):
        figure.savefig(folder / f"{name}.png", dpi=130)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
