"""The README's picture: what private means of a real table look like, and how far off they are on 22 of them.

    pip install -e ".[bench,plots]"
    python tools/pictures/overview.py docs/pictures/overview.svg

Left: seeded releases on the penguins. Right: docs/results/real-tables.csv, which `benchmarks/real_tables.py` measured.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from tukeydp.paper.experiments.contenders import CONTENDERS, LAPLACE, MEAN, Question
from tukeydp.paper.experiments.experiment import Seeds
from tukeydp.paper.experiments.tables import real_table

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "tukeydp", "font.size": 9.5, "axes.spines.top": False, "axes.spines.right": False})
from matplotlib import pyplot as plt  # noqa: E402

FIGURES = Path(__file__).parents[2] / "docs" / "results" / "real-tables.csv"
RELEASES = 60
WIDE = "10"  # bounds, in ranges of the column
PURE, APPROXIMATE = (LAPLACE, "OpenDP"), ("CoinPress", "Huang-Liang-Yi", "PLAN")
# Okabe and Ito's colours: told apart by colour-blind readers, too.
BLUE, ORANGE, GREEN, ROWS, INK = "#0072B2", "#D55E00", "#009E73", "#C4C4C4", "#222222"
BILL, FLIPPER = 0, 2  # columns of the penguins, in millimetres


def draw_releases(panel: Any) -> None:
    question = Question(real_table("penguins"), float(WIDE))
    panel.scatter(*question.x[:, [BILL, FLIPPER]].T, s=11, color=ROWS, lw=0, label="one penguin")
    for name, colour, marker, label in (
        (LAPLACE, ORANGE, "x", "Laplace noise, epsilon = 1"),
        ("CoinPress", GREEN, "+", "CoinPress, epsilon = 1, delta = 1e-6"),
        (MEAN, BLUE, "o", "td.mean, epsilon = 1"),
    ):
        points = np.array([CONTENDERS[name].run(question, Seeds(("overview", i))).point for i in range(RELEASES)])
        panel.scatter(*points[:, [BILL, FLIPPER]].T, s=16, color=colour, marker=marker, lw=1, alpha=0.75, label=label)
    panel.set(xlabel="bill length, mm", ylabel="flipper length, mm", xlim=(30, 61), ylim=(158, 236))
    panel.set_title(f"The mean of 342 penguins,\n{RELEASES} private releases each", loc="left", color=INK)
    panel.legend(loc="lower right", fontsize=8, frameon=True, framealpha=0.9, edgecolor="none")


def draw_errors(panel: Any) -> None:
    errors: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    with FIGURES.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["bounds over range"] == WIDE:
                errors[line["table"], int(line["rows"]), int(line["columns"])][line["method"]] = float(line["error"])
    tables = sorted(errors, key=lambda table: -table[1])
    places = range(len(tables))
    for methods, colour, marker, label in (
        (PURE, ORANGE, "x", "best other with epsilon alone"),
        (APPROXIMATE, GREEN, "+", "best other with epsilon and delta"),
        ((MEAN,), BLUE, "o", "td.mean, epsilon alone"),
    ):
        best = [min(errors[table][method] for method in methods) for table in tables]
        panel.scatter(best, places, s=30, color=colour, marker=marker, lw=1.4, label=label, zorder=3)
    panel.set_xscale("log")
    panel.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    panel.set_yticks(places, [f"{name}, {n:,} × {d}" for name, n, d in tables], fontsize=7.5)  # noqa: RUF001
    panel.grid(axis="y", color="#EEEEEE")
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel("error of a column's mean, in standard deviations")
    panel.set_title("Error on 22 real tables,\nrows × columns", loc="left", color=INK)  # noqa: RUF001
    panel.legend(loc="lower right", fontsize=8, frameon=True, framealpha=0.9, edgecolor="none")


def main(target: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.9), layout="constrained")
    draw_releases(left)
    draw_errors(right)
    figure.savefig(target, format="svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
