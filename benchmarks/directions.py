"""Error of boxem against the number of directions: random, spread, the axes alone, exact depth.

Privacy error only: mean distance between the release and the table's own mean, Gaussian tables, epsilon = 1. All
notions see the same tables; directions are fresh for each. `--quick` for a rough look, `--out curves.png` for a
picture. `--many` compares numbers of spread directions beyond ten columns, and nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tukeydp as td
from tukeydp.depth.notions import Notion
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.rows import Grid, bounded_grid
from tukeydp.trusted.sampling.draws import DepthSampler

EPSILON = Fraction(1)
DRAWS = 20
Errors = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A dimension, with the numbers of directions to try besides the axes."""

    d: int
    n: int
    counts: tuple[int, ...]
    tables: int
    exact_tables: int = 0


SETTINGS = [
    Setting(2, 200, (1, 2, 4, 6, 12, 30, 60), tables=600, exact_tables=600),
    Setting(3, 1000, (3, 6, 12, 30, 90), tables=300, exact_tables=60),
    Setting(5, 1000, (5, 10, 30, 75, 150, 300), tables=200),
    Setting(10, 1000, (10, 30, 100, 300, 1000), tables=60),
]
MANY_COLUMNS = [Setting(12, 1000, (300, 1000), tables=30), Setting(20, 2000, (300, 1000), tables=10)]


@dataclass
class Curves:
    """Mean error per table, for each notion and each number of directions."""

    setting: Setting
    random: dict[int, Errors] = field(default_factory=dict)
    spread: dict[int, Errors] = field(default_factory=dict)
    axes: Errors | None = None
    exact: Errors | None = None


def measure(setting: Setting) -> Curves:
    curves = Curves(setting)
    curves.axes = errors(setting, td.AxisAligned())
    for k in setting.counts:
        curves.random[k] = errors(setting, td.Random(k))
        curves.spread[k] = errors(setting, td.Spread(k))
    if setting.exact_tables:
        curves.exact = errors(replace(setting, tables=setting.exact_tables), None)
    return curves


def errors(setting: Setting, depth: Notion | None) -> Errors:
    """Mean distance of the draws from the mean of each table; None is exact depth."""
    bits = 30 if depth is None else 44
    grid = bounded_grid(setting.d, bounds=(-10, 10), resolution=None, bits=bits)
    found = np.empty(setting.tables)
    for i in range(setting.tables):
        x = np.random.default_rng([setting.d, i]).normal(size=(setting.n, setting.d))
        draw = drawer(x, grid, depth, derived_key("directions", i))
        points = np.array([grid.point(draw(derived_key("draw", i, j))) for j in range(DRAWS)])
        found[i] = np.linalg.norm(points - x.mean(axis=0), axis=1).mean()
    return found


def drawer(x: Errors, grid: Grid, depth: Notion | None, key: bytes) -> Callable[[bytes], list[int]]:
    prepared = (depth or td.Exact()).prepare(grid.snap(x), grid, key)
    return DepthSampler(prepared, within=whole_grid(grid), epsilon=EPSILON).draw


def shown(found: Errors) -> str:
    return f"{found.mean():.4f} ± {found.std(ddof=1) / len(found) ** 0.5:.4f}"


def ratio(found: Errors, other: Errors) -> str:
    """Ratio of the means; its standard error takes into account that the tables are the same."""
    value = found.mean() / other.mean()
    spread = (found - value * other).std(ddof=1) / len(found) ** 0.5 / other.mean()
    return f"{value:.3f} ± {spread:.3f}"


def report(curves: Curves) -> Table:
    setting = curves.setting
    table = Table(title=f"d = {setting.d}, n = {setting.n}: {setting.tables} tables, {DRAWS} draws of each")
    for column in ("directions", "random", "spread", "spread / random"):
        table.add_column(column, justify="right")
    if curves.axes is not None:
        table.add_row("axes", shown(curves.axes), "", "")
    for k in setting.counts:
        random, spread = curves.random[k], curves.spread[k]
        table.add_row(f"axes + {k}", shown(random), shown(spread), ratio(spread, random))
    if curves.exact is not None:
        most = curves.spread[setting.counts[-1]][: setting.exact_tables]
        table.add_row("all (exact)", shown(curves.exact), "", "")
        table.caption = (
            f"exact / spread with {setting.counts[-1]}, on the same {len(most)} tables: {ratio(curves.exact, most)}"
        )
    return table


def compare_many(console: Console) -> None:
    """Spread directions beyond ten columns: what more of them are worth."""
    for setting in MANY_COLUMNS:
        few, most = (errors(setting, td.Spread(k)) for k in setting.counts)
        console.print(
            f"d = {setting.d}, n = {setting.n}, {setting.tables} tables, {DRAWS} draws of each: axes + "
            f"{setting.counts[0]} {shown(few)}, axes + {setting.counts[1]} {shown(most)}, ratio {ratio(most, few)}"
        )


def draw_picture(all_curves: list[Curves], out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(all_curves), figsize=(3.4 * len(all_curves), 3.2), layout="constrained")
    for panel, curves in zip(np.atleast_1d(panels), all_curves, strict=True):
        for name, values in (("random", curves.random), ("spread", curves.spread)):
            means = [values[k].mean() for k in curves.setting.counts]
            bars = [values[k].std(ddof=1) / len(values[k]) ** 0.5 for k in curves.setting.counts]
            panel.errorbar(curves.setting.counts, means, yerr=bars, marker="o", markersize=3, label=f"axes + {name}")
        for name, flat, style in (("axes alone", curves.axes, ":"), ("exact depth", curves.exact, "--")):
            if flat is not None:
                mean, bar = flat.mean(), flat.std(ddof=1) / len(flat) ** 0.5
                panel.axhline(mean, linestyle=style, color="grey", label=name)
                panel.axhspan(mean - bar, mean + bar, color="grey", alpha=0.15, linewidth=0)
        panel.set(xscale="log", xlabel="directions besides the axes", title=f"d = {curves.setting.d}")
        panel.legend(fontsize=7)
    np.atleast_1d(panels)[0].set_ylabel("distance from the table's mean")
    figure.savefig(out, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tables")
    parser.add_argument("--out", type=Path, help="picture to write (needs matplotlib)")
    parser.add_argument("--many", action="store_true", help="beyond ten columns only")
    options = parser.parse_args()
    console = Console()
    if options.many:
        compare_many(console)
        return
    settings = SETTINGS
    if options.quick:
        settings = [replace(s, tables=s.tables // 10, exact_tables=s.exact_tables // 10) for s in settings]
    found = []
    for setting in track(settings, description="measuring", console=console, transient=True):
        found.append(measure(setting))
        console.print(report(found[-1]))
    if options.out is not None:
        draw_picture(found, options.out)


if __name__ == "__main__":
    main()
