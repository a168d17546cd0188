"""Rows on the grid, and depth: how many rows a line through a point has on its thinner side."""

from __future__ import annotations

import math

import numpy as np
from canvas import BLUE, FAINT, INK, LINE, RED, WIDTH, Drawing, Panel

import tukeydp as td
from tukeydp.trusted.rows import bounded_grid


def small_table(n: int, seed: int) -> np.ndarray:
    """Made-up rows in two columns that go together: nobody's."""
    return np.random.default_rng(seed).multivariate_normal([5.0, 5.0], [[2.2, 1.2], [1.2, 1.6]], n)


def grid() -> str:
    """Rows as they are, and where the grid puts them."""
    rows = np.vstack([small_table(12, 4), [[11.4, 8.3]]])
    lattice = bounded_grid(2, bounds=(0, 10), resolution=1)
    snapped = [lattice.point(row) for row in lattice.snap(rows)]
    drawing = Drawing(
        330,
        "Rows go to the nearest grid point",
        "Thirteen rows as hollow circles between bounds of 0 and 10, each joined to the nearest point of a "
        "grid of step 1. "
        "One row lies beyond the bounds and goes to their edge.",
    )
    panel = Panel((14, 34), (WIDTH - 84, 260), (0, 10), (0, 10))
    drawing.words((14, 20), "hollow: rows as they are; full: on the grid")
    drawing.dots(panel.all((i, j) for i in range(11) for j in range(11)), 1.4, fill=FAINT)
    panel.frame(drawing)
    for row, point in zip(rows, snapped, strict=True):
        drawing.line(panel.all([row, point]), stroke=RED, stroke_width=1.5)
    drawing.dots(panel.all(rows), 4, fill="none", stroke=RED, stroke_width=1.5)
    drawing.dots(panel.all(snapped), 4, fill=BLUE)
    drawing.words((14, 316), "frame: the bounds; rows beyond go to the edge")
    return drawing.svg()


def depth() -> str:
    """A deep point and a shallow one, each with the line that leaves the fewest rows on one side."""
    rows = small_table(24, 8)
    most = len(td.level_volumes(rows)) - 1
    deep, shallow = td.level_set(rows, most).vertices.mean(axis=0), np.array([6.9, 6.6])
    lines = [thinnest(rows, point) for point in (deep, shallow)]
    drawing = Drawing(
        370,
        "Depth counts the rows on the thinner side",
        "Twenty-four rows and two points. Through each point runs the line that leaves the fewest rows on one "
        f"side; those rows are circled. The deep point has {lines[0][1]} rows even there, the shallow one "
        f"{lines[1][1]}.",
    )
    panel = Panel((10, 54), (WIDTH - 20, 306), (0.9, 9.5), (2.2, 8.6))
    for place, (point, colour, name) in enumerate(((deep, BLUE, "deep"), (shallow, RED, "shallow"))):
        normal, count = lines[place]
        if count != int(td.tukey_depth([point], rows)[0]):
            raise AssertionError("the line that is drawn is not the one that depth is about")
        beyond = (rows - point) @ normal >= 0
        along = np.array([-normal[1], normal[0]]) * 2.2
        drawing.line(panel.all([point - along, point + along]), stroke=colour, stroke_width=2)
        drawing.dots(panel.all(rows[beyond]), 6 + 3 * place, fill="none", stroke=colour, stroke_width=1.8)
        drawing.cross(panel.at(point), 5, stroke=colour)
        drawing.cross((18, 15 + 22 * place), 5, stroke=colour)
        drawing.words((30, 20 + 22 * place), f"{name} point: at least {count} rows on either side", fill=INK)
    drawing.dots(panel.all(rows), 3.2, fill=INK)
    panel.frame(drawing, stroke=LINE)
    return drawing.svg()


def thinnest(rows: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, int]:
    """The direction with the fewest rows on its side of the point, the middle one of those that are equal."""
    angles = np.arange(0, 3600) * math.pi / 1800
    normals = np.column_stack([np.cos(angles), np.sin(angles)])
    counts = ((rows - point) @ normals.T >= 0).sum(axis=0)
    fewest = np.flatnonzero(counts == counts.min())
    run = max(np.split(fewest, np.flatnonzero(np.diff(fewest) > 1) + 1), key=len)
    return normals[run[len(run) // 2]], int(counts.min())
