"""The boxes that the sampler draws from, and proposals: accepted where they are as deep as they were proposed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from canvas import FAINT, INK, LINE, RED, WIDTH, Drawing, Panel, shade
from levels import BOUNDS, NOTION, outline
from rows import small_table

import tukeydp as td
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted.bits import Keystream
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.laws import WORD, LevelDraw
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.rows import Grid, bounded_grid

_SHOWN = (1, 8, 16, 24, 32)
_BOXED = (1, 4, 8, 12, 16, 20, 24, 28, 30, 32, 33, 34, 35, 36, 37, 38)
_EPSILON, _PROPOSALS = Fraction(1, 4), 60


def certified() -> tuple[np.ndarray, Grid, LevelSets, Envelope]:
    """Rows, their grid and levels, and the package's own boxes around some of them."""
    rows = small_table(80, 11)
    grid = bounded_grid(2, bounds=BOUNDS, resolution=Fraction(1, 100))
    prepared = NOTION.prepare(grid.snap(rows), grid, bytes(32))
    found = Envelope(prepared.levels, whole_grid(grid), LinearPrograms(prepared.levels))
    found.refine(_BOXED)
    return rows, grid, prepared.levels, found


def ends(box: object, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Two opposite corners of a box along the axes, in the units of the data."""
    return grid.point(box.low), grid.point(box.high)  # type: ignore[attr-defined]


def envelope() -> str:
    """Level sets, each in a box that is proven to hold it."""
    rows, grid, _, found = certified()
    drawing = Drawing(
        372,
        "Each level in a box that holds it",
        "Nested polygons, the levels, and around each a rectangle that holds it. The sampler draws from the "
        "rectangles.",
    )
    panel = Panel((10, 10), (WIDTH - 20, 316), (0.4, 9.6), (1.4, 8.4))
    panel.frame(drawing, stroke=LINE)
    for i, level in enumerate(_SHOWN):
        colour = shade(0.15 + 0.85 * i / (len(_SHOWN) - 1))
        drawing.polygon(panel.all(outline(td.level_set(rows, level, NOTION).vertices)), fill=colour)
    for level in _SHOWN:
        low, high = ends(found.boxes[level], grid)
        drawing.rectangle(panel.at(low), panel.at(high), fill="none", stroke=RED, stroke_width=1.8)
        drawing.words(panel.at((low[0] + 0.06, high[1] - 0.32)), f"{level}" if level > 1 else "level 1", size=12)
    drawing.words((10, 346), "blue: levels; boxes: where the sampler draws from")
    drawing.words((10, 364), "A loose box costs time, never privacy.", size=12, fill=FAINT)
    return drawing.svg()


def proposals() -> str:
    """Proposals from the boxes, by the package's own level draw, boxes and membership."""
    rows, grid, levels, found = certified()
    groups = found.groups(0)
    law = LevelDraw([group for group, _ in groups], _EPSILON)
    bits = Keystream(bytes(31) + b"\x07").bits(0)
    kept, thrown = [], []
    for _ in range(_PROPOSALS):
        level, place = law.finish(bits.take(WORD), bits)
        point = groups[place][1].uniform(bits)
        (kept if levels.contains(point, level) else thrown).append(grid.point(point))
    drawing = Drawing(
        372,
        "Proposals, accepted and rejected",
        f"{_PROPOSALS} proposals. {len(kept)} lie in the level that they were proposed at and are accepted, "
        "the others are "
        "rejected: they fell into a corner of a box, outside its level.",
    )
    panel = Panel((10, 10), (WIDTH - 20, 316), (0, 10), (0, 10))
    panel.frame(drawing, stroke=LINE)
    for i, level in enumerate(_SHOWN):
        corners = outline(td.level_set(rows, level, NOTION).vertices)
        drawing.polygon(panel.all(corners), fill=shade(0.6 * i / (len(_SHOWN) - 1)))
        low, high = ends(found.boxes[level], grid)
        drawing.rectangle(panel.at(low), panel.at(high), fill="none", stroke=FAINT, stroke_width=0.8)
    drawing.dots(panel.all(kept), 4.5, fill=INK, stroke="#ffffff")
    drawing.dots(panel.all(thrown), 4, fill="#ffffff", stroke=RED, stroke_width=1.8)
    drawing.dots([(18, 342)], 4.5, fill=INK)
    drawing.words((30, 346), f"accepted: {len(kept)} of {_PROPOSALS}")
    drawing.dots([(188, 342)], 4, fill="#ffffff", stroke=RED, stroke_width=1.8)
    drawing.words((200, 346), f"rejected: {len(thrown)}")
    drawing.words((10, 364), "The first accepted proposal is the release.", size=12, fill=FAINT)
    return drawing.svg()
