"""Level sets, and what each level weighs: many shallow points against few deep ones."""

from __future__ import annotations

import math

import numpy as np
from canvas import BLUE, FAINT, INK, LINE, RED, WIDTH, Drawing, Panel, shade
from rows import small_table

import tukeydp as td

ROWS, BOUNDS = 80, (0.0, 10.0)
NOTION = td.Spread(8, seed=1)


def levels() -> str:
    """Nested regions of the points that are at least so deep."""
    rows = small_table(ROWS, 11)
    top = len(td.level_volumes(rows, NOTION)) - 1
    shown = [1, 6, 12, 18, 24, 30, top]
    drawing = Drawing(
        350,
        "Levels: the points that are at least so deep",
        f"Eighty rows, and nested polygons around their middle: the points of depth at least {shown[0]}, "
        f"{shown[1]}, and so on up to {top}.",
    )
    panel = Panel((10, 10), (WIDTH - 20, 290), (0.4, 9.6), (1.4, 8.4))
    for i, level in enumerate(shown):
        corners = outline(td.level_set(rows, level, NOTION).vertices)
        colour = shade(0.1 + 0.9 * i / (len(shown) - 1))
        drawing.polygon(panel.all(corners), fill=colour, stroke=colour if level == top else "#ffffff", stroke_width=1)
    drawing.dots(panel.all(rows), 2.4, fill=INK)
    panel.frame(drawing, stroke=LINE)
    drawing.words((10, 320), "depth at least")
    for i, level in enumerate(shown):
        x = 104 + 44 * i
        drawing.rectangle((x, 309), (x + 14, 323), fill=shade(0.1 + 0.9 * i / (len(shown) - 1)), stroke=FAINT)
        drawing.words((x + 18, 321), str(level))
    drawing.words((10, 342), f"Deeper than {top} is no point.", size=12, fill=FAINT)
    return drawing.svg()


def outline(corners: np.ndarray) -> np.ndarray:
    """Corners of a convex polygon in their order around it."""
    middle = corners.mean(axis=0)
    return corners[np.argsort(np.arctan2(*(corners - middle).T[::-1]))]


def depth_law(rows: np.ndarray, epsilon: float) -> np.ndarray:
    """Chance of each depth for a release between the bounds, by volumes; the chance of depth 0 is the first."""
    volumes = np.array(td.level_volumes(rows, NOTION))
    volumes[0] = (BOUNDS[1] - BOUNDS[0]) ** 2
    just = volumes - np.append(volumes[1:], 0.0)
    weights = just * np.exp(epsilon * np.arange(len(just)) / 2)
    return np.asarray(weights / weights.sum())


def weights() -> str:
    """The chance that a release is so deep, for two epsilons."""
    rows = small_table(ROWS, 11)
    volumes = np.array(td.level_volumes(rows, NOTION))
    laws = {epsilon: depth_law(rows, epsilon) for epsilon in (0.2, 1.0)}
    top = len(volumes) - 1
    drawing = Drawing(
        420,
        "Room falls with depth, weight grows with it",
        "Above: the room that each depth has, from nearly all of the area between the bounds at depth 0 to a "
        "thousandth of a unit at the deepest. Below: the chance that a release is so deep. At epsilon 0.2, "
        f"{100 * laws[0.2][0]:.0f} of 100 releases have depth 0; at epsilon 1, {100 * laws[1.0][30:].sum():.0f} of "
        f"100 have depth 30 to {top}.",
    )
    above = Panel((56, 30), (WIDTH - 76, 110), (-0.6, top + 0.6), (-3.2, 2.2))
    drawing.words((10, 20), "room at each depth: area")
    above.ticks_left(drawing, [(v, f"{10.0**v:g}") for v in (-3, -2, -1, 0, 1, 2)])
    just = np.append(BOUNDS[1] ** 2 - volumes[1], volumes[1:-1] - volumes[2:])
    just = np.append(just, volumes[-1])
    bars(drawing, above, np.log10(np.maximum(just, 1e-9)), -3.2, FAINT)
    for place, (epsilon, law) in enumerate(laws.items()):
        colour = (RED, BLUE)[place]
        below = Panel((56, 178 + 116 * place), (WIDTH - 76, 80), (-0.6, top + 0.6), (0.0, 0.3))
        drawing.words((10, 168 + 116 * place), f"chance that a release is so deep, epsilon = {epsilon:g}")
        below.ticks_left(drawing, [(v, f"{v:g}") for v in (0, 0.1, 0.2, 0.3)])
        bars(drawing, below, np.minimum(law, 0.3), 0.0, colour)
        if law[0] > 0.3:
            drawing.words(below.at((1.2, 0.23)), f"depth 0: {100 * law[0]:.0f} of 100 releases", size=12)
        if place:
            below.ticks_below(drawing, [(v, str(v)) for v in range(0, top + 1, 6)])
    drawing.words((WIDTH / 2 + 18, 412), "depth", anchor="middle")
    return drawing.svg()


def bars(drawing: Drawing, panel: Panel, heights: np.ndarray, foot: float, colour: str) -> None:
    for place, height in enumerate(heights):
        if height > foot and math.isfinite(height):
            drawing.rectangle(panel.at((place - 0.36, foot)), panel.at((place + 0.36, height)), fill=colour)
    panel.frame(drawing, stroke=LINE)
