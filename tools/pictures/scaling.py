"""Rows a second against Dask's workers, from the figures that `make bench-larger` has measured."""

from __future__ import annotations

import csv
from pathlib import Path

from canvas import BLUE, FAINT, GREEN, RED, WIDTH, Drawing, Panel

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "results" / "larger-than-memory.csv"
CALLS = {"td.cube": BLUE, "td.mean": RED, "td.mean, subset": GREEN}
NAMES = {
    "td.cube": "td.cube, 2 passes",
    "td.mean": "two-step mean, 3 passes",
    "td.mean, subset": "subset means, 1 pass",
}


def scaling() -> str:
    """A line for each call, and what twice the workers would do at best."""
    rates = measured()
    workers = sorted({w for w, _ in rates})
    ideal = 2 * max(rates[workers[0], call] for call in CALLS)
    most = 1.05 * max(ideal, *rates.values())
    drawing = Drawing(
        330,
        "Rows a second against workers",
        "Million rows a second against the number of Dask's workers on two cores, for three calls; dashed lines: twice "
        "the workers, twice the rows.",
    )
    drawing.words((10, 20), "million rows a second, by the clock")
    panel = Panel((44, 34), (WIDTH - 64, 196), (0, workers[-1] + 0.5), (0, most))
    step = next(size for size in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if most / size <= 6)
    panel.ticks_left(drawing, [(i * step, f"{i * step:g}") for i in range(int(most / step) + 1)])
    panel.ticks_below(drawing, [(w, f"{w}") for w in workers])
    drawing.words((WIDTH - 20, 262), "workers, one thread each", anchor="end", size=12)
    for i, (call, colour) in enumerate(CALLS.items()):
        first = rates[workers[0], call]
        drawing.line(panel.all([(1, first), (2, 2 * first)]), stroke=FAINT, stroke_dasharray="4 4")
        points = panel.all([(w, rates[w, call]) for w in workers])
        drawing.line(points, stroke=colour, stroke_width=2)
        drawing.dots(points, 4, fill=colour)
        drawing.line([(44, 280 + 18 * i), (68, 280 + 18 * i)], stroke=colour, stroke_width=3)
        drawing.words((76, 284 + 18 * i), NAMES[call], size=12)
    panel.frame(drawing)
    return drawing.svg()


def measured() -> dict[tuple[int, str], float]:
    """Million rows a second by workers and call."""
    with FIGURES.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["engine"] == "dask" and line["call"] in CALLS]
    return {(int(line["workers"]), line["call"]): int(line["rows_per_second"]) / 1e6 for line in lines}
