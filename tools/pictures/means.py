"""Ways to a mean: rows dealt to blocks whose means have a deep point, and a mean clipped where the data are."""

from __future__ import annotations

import math

import numpy as np
from canvas import BLUE, FAINT, INK, LINE, ORANGE, RED, WIDTH, Drawing, Panel, shade
from levels import outline

import tukeydp as td
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.block_steps import corrected_means
from tukeydp.trusted.blocks import block_table, secret_order
from tukeydp.trusted.clipped_sums import RADII, WEIGHTS, rows_beyond

_ROWS, _BLOCKS = 240, 40


def skewed(n: int) -> np.ndarray:
    """Made-up waiting times and costs: many small ones, a few large."""
    return np.random.default_rng(5).exponential([1.0, 1.0], (n, 2))


def subset_means() -> str:
    """Skewed rows above, the means of their blocks below, on the same axes."""
    rows = skewed(_ROWS)
    order = secret_order(_ROWS, Keystream(bytes(31) + b"\x03"))
    means = block_table(rows, _BLOCKS, order, corrected_means)
    mean = rows.mean(axis=0)
    size = _ROWS // _BLOCKS
    drawing = Drawing(
        640,
        "Depth of subset means",
        f"Above: {_ROWS} skewed rows, six of them, one block, as triangles; the deepest point lies well below "
        "the mean. "
        f"Below: the means of {_BLOCKS} blocks of {size} rows with their levels. The deepest point among them "
        "is close to "
        "the mean.",
    )
    told = (
        f"{_ROWS} skewed rows; orange: one block of {size}",
        f"the means of {_BLOCKS} blocks, and their levels",
    )
    for place, points in enumerate((rows, means)):
        panel = Panel((10, 28 + 294 * place), (WIDTH - 20, 250), (-0.08, 3.2), (-0.08, 2.6))
        drawing.words((10, 20 + 294 * place), told[place])
        notion = td.Spread(8, seed=1)
        top = len(td.level_volumes(points, notion)) - 1
        for i, level in enumerate(sorted({max(1, top * j // 5) for j in range(1, 6)})):
            corners = outline(td.level_set(points, level, notion).vertices)
            drawing.polygon(panel.all(corners), fill=shade(0.1 + 0.12 * i))
        drawing.dots(panel.all(points[(points < [3.2, 2.6]).all(axis=1)]), 2.4, fill=INK, fill_opacity=0.75)
        block = rows[order[:size]] if place == 0 else means[:1]
        for point in panel.all(block):
            drawing.polygon(triangle(point), fill=ORANGE, stroke=INK)
        drawing.rectangle(*square(panel.at(deepest(points))), fill="#ffffff", stroke=BLUE, stroke_width=3)
        drawing.cross(panel.at(mean), 7, stroke=RED)
        panel.frame(drawing, stroke=LINE)
    drawing.cross((18, 600), 6, stroke=RED)
    drawing.words((32, 604), "mean of the table")
    drawing.rectangle(*square((188, 599)), fill="#ffffff", stroke=BLUE, stroke_width=3)
    drawing.words((202, 604), "deepest point of the dots")
    drawing.words((10, 628), "Rows beyond the frame are not shown.", size=12, fill=FAINT)
    return drawing.svg()


def deepest(points: np.ndarray) -> np.ndarray:
    notion = td.Spread(8, seed=1)
    return np.asarray(td.level_set(points, len(td.level_volumes(points, notion)) - 1, notion).vertices.mean(axis=0))


def triangle(point: tuple[float, float]) -> list[tuple[float, float]]:
    x, y = point
    return [(x - 5.5, y + 4.5), (x + 5.5, y + 4.5), (x, y - 6)]


def square(point: tuple[float, float]) -> list[tuple[float, float]]:
    x, y = point
    return [(x - 6, y - 6), (x + 6, y + 6)]


def radii() -> str:
    """A column with a long tail, the radii that are offered, and how likely each is at epsilon 0.12."""
    rows = np.random.default_rng(3).lognormal(0.0, 0.75, 1500)
    centre, spread = np.array([rows.mean()]), np.array([rows.std()])
    beyond = rows_beyond(rows[:, np.newaxis], centre, spread)[0]
    chance = np.array(WEIGHTS) * np.exp(-0.12 / 2 * (beyond - beyond.min()))
    chance = chance / chance.sum()
    likeliest = int(np.argmax(chance))
    low, high = (float(centre[0] + sign * RADII[likeliest] * spread[0]) for sign in (-1, 1))
    drawing = Drawing(
        500,
        "Where two steps clip",
        f"Above: a column of 1500 values with a long tail, and the likeliest clip range, {RADII[likeliest]:g} "
        "spreads to either side "
        "of the centre. Below: for each radius on offer how many rows lie beyond it, and how likely it is.",
    )
    edges = np.linspace(0, 10, 51)
    counts = np.histogram(rows, edges)[0]
    most = 1.1 * float(counts.max())
    panel = Panel((10, 34), (WIDTH - 20, 130), (-3.2, 10), (0, most))
    drawing.words((10, 20), "a column, and where it is clipped")
    drawing.rectangle(panel.at((max(low, -3.2), 0)), panel.at((high, most)), fill=shade(0.05))
    for left, right, count in zip(edges, edges[1:], counts, strict=False):
        if count:
            drawing.rectangle(panel.at((left, 0)), panel.at((right, count)), fill=FAINT)
    for value in (low, high):
        drawing.line(panel.all([(max(value, -3.2), 0), (max(value, -3.2), most)]), stroke=BLUE, stroke_width=2.5)
    drawing.line(panel.all([(centre[0], 0), (centre[0], most)]), stroke=RED, stroke_width=2, stroke_dasharray="5 3")
    panel.frame(drawing, stroke=LINE)
    panel.ticks_below(drawing, [(v, str(v)) for v in range(-2, 11, 2)])
    drawing.words((10, 204), "radius in", size=12)
    drawing.words((10, 218), "spreads", size=12)
    drawing.words((146, 204), "rows", anchor="end", size=12)
    drawing.words((146, 218), "beyond", anchor="end", size=12)
    drawing.words((170, 211), "chance that it is taken", size=12)
    for i, (radius, count, share) in enumerate(zip(RADII, beyond, chance, strict=True)):
        y = 240 + 23 * i
        drawing.words((34, y), "all" if math.isinf(radius) else f"{radius:g}", anchor="middle")
        drawing.words((146, y), str(int(count)), anchor="end")
        drawing.rectangle((170, y - 12), (170 + 190 * float(share), y + 2), fill=BLUE)
        drawing.words((176 + 190 * float(share), y), f"{share:.2f}" if share >= 0.005 else "0")
    return drawing.svg()
