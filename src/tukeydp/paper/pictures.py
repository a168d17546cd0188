"""Pictures of level sets: nested regions over the scatter. Not private: the data itself is on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from tukeydp.data.tables import finite_rows, read_table
from tukeydp.depth.notions import Notion
from tukeydp.depth.of_points import EXACT
from tukeydp.extras import missing
from tukeydp.paper.depth_regions import body_of
from tukeydp.paper.level_sets import LevelSet, level_set_of
from tukeydp.results.escaping import in_plot
from tukeydp.trusted.parameters import FloatArray, ParameterError, checked_integer

_USUAL_LEVELS = 8  # drawn unless levels are named: more are hard to tell apart
_INCHES = 3.6  # height of a panel


def contours(
    x: Any,
    columns: Sequence[str | int] | None = None,
    depth: Notion = EXACT,
    levels: Sequence[int] | None = None,
) -> Any:
    """Draw the level sets of two columns over their scatter, or of every pair of columns in a grid.

    Parameters
    ----------
    x
        Array-like (n, d), or a table; d >= 2 columns, of which `columns` (names or positions) picks some.
    depth
        As for `td.level_set`, over each pair of columns by itself. `td.Directions` must have two entries each.
    levels
        Which levels to draw. None: about eight, evenly spaced up to the deepest, which is always marked.

    Returns
    -------
    A matplotlib `Figure`, bound to no window: `figure.savefig("contours.png")` works without a display.

    Privacy
    -------
    **Not private**: the figure shows the data. Do not publish it.
    """
    figure_class = _figure_class()
    table = read_table(x)
    chosen = _positions(columns, table.columns, table.d)
    names = table.columns or tuple(f"column {j}" for j in range(table.d))
    if levels is not None:
        levels = [checked_integer("levels", level, least=1) for level in levels]
        if not levels:
            raise ParameterError("levels", "must be integers >= 1", "none")
    side = len(chosen) - 1
    figure = figure_class(figsize=(1.4 * _INCHES * max(side, 1.4), _INCHES * max(side, 1.4)), layout="constrained")
    axes = figure.subplots(side, side, squeeze=False)
    for row in range(side):
        for column in range(side):
            axes[row, column].set_visible(column <= row)
    for a, b in combinations(range(len(chosen)), 2):
        panel = axes[b - 1, a]
        _draw(panel, finite_rows(table.cells[:, [chosen[a], chosen[b]]]), depth, levels)
        panel.set_xlabel(in_plot(names[chosen[a]]))
        panel.set_ylabel(in_plot(names[chosen[b]]))
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small", frameon=False)
    return figure


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("contours", "matplotlib", "plots") from None
    return Figure


def _positions(columns: Sequence[str | int] | None, names: tuple[str, ...] | None, d: int) -> list[int]:
    known: dict[str | int, int] = {j: j for j in range(d)} | {name: j for j, name in enumerate(names or ())}
    wanted = list(range(d)) if columns is None else list(columns)
    missing = [c for c in wanted if c not in known]
    if missing:
        raise ParameterError("columns", "must be columns of x", missing[:5])
    positions = [known[c] for c in wanted]
    if len(positions) < 2 or len(set(positions)) < len(positions):
        raise ParameterError("columns", "must be at least two different columns", f"{len(positions)} columns")
    return positions


def _draw(panel: Any, rows: FloatArray, depth: Notion, levels: Sequence[int] | None) -> None:
    from matplotlib import colormaps

    panel.scatter(rows[:, 0], rows[:, 1], s=8, color="0.25", alpha=0.6, linewidths=0, zorder=2, label="rows")
    if not len(rows):
        return
    body = body_of(rows, depth)  # one for all levels: directions may be drawn afresh for each
    top = body.top()
    shown = sorted(set(_usual(top) if levels is None else [level for level in levels if level < top]))
    colours = colormaps["viridis"](np.linspace(0.95, 0.2, max(len(shown), 1)))
    for colour, level in zip(colours, shown, strict=False):
        _outline(panel, level_set_of(body, level), colour, f"depth ≥ {level}")
    _outline(panel, level_set_of(body, top), "crimson", f"deepest (≥ {top})", deepest=True)


def _usual(top: int) -> list[int]:
    return sorted({max(1, round(top * i / _USUAL_LEVELS)) for i in range(_USUAL_LEVELS)} - {top})


def _outline(panel: Any, region: LevelSet, colour: Any, label: str, deepest: bool = False) -> None:
    corners = region.vertices
    if not len(corners):
        return
    middle = corners.mean(axis=0)
    around = corners[np.argsort(np.arctan2(*(corners - middle).T[::-1]))]
    closed = np.vstack([around, around[:1]])
    if deepest:
        panel.fill(*closed.T, color=colour, alpha=0.5, linewidth=0, zorder=3)
        panel.plot(*middle, marker="+", markersize=10, color=colour, linestyle="none", zorder=4, label=label)
    panel.plot(*closed.T, color=colour, linewidth=1.2, zorder=3, label=None if deepest else label)
