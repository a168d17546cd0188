"""Samplers on small grids, each made to take one rare path; what they draw must have one law all the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.accepted import branched_if_any, slanted_if_any, slice_everything, sliced_parts
from tukeydp.audit.forcing import forced
from tukeydp.audit.hostile_hints import Garbage
from tukeydp.audit.oracles.depths import Point
from tukeydp.data.grid import Grid
from tukeydp.depth.levels import level_sets
from tukeydp.depth.notions import Exact
from tukeydp.exact.boxes import Box, Union, whole_grid
from tukeydp.exact.level_draw import Group
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints import planner, slices
from tukeydp.hints.envelope import Envelope
from tukeydp.sampling.cutting_planes import DepthSampler
from tukeydp.sampling.sampler import Sampler
from tukeydp.trusted import exponential
from tukeydp.trusted.exponential import Search

EPSILON = Fraction(3, 2)
ROWS: tuple[Point, ...] = ((1, 1), (1, 2), (2, 2), (2, 2), (3, 2), (4, 4), (0, 3), (2, 1))
DIRECTIONS: tuple[Point, ...] = ((1, 0), (0, 1), (1, 2), (3, -1))
STRETCHED: tuple[Point, ...] = tuple((i, i + j % 2) for i in range(5) for j in range(3))
ACROSS: tuple[Point, ...] = ((1, 0), (0, 1), (1, -1), (2, -1))
_SHORT_LANES = (40,)  # words: a few proposals, so that draws go through many lanes


@dataclass(frozen=True)
class Draws:
    """A draw from a key, what its law depends on, and whether the path was taken (asked after the draws)."""

    draw: Callable[[bytes], list[int]]
    taken: Callable[[], bool]
    rows: tuple[Point, ...] = ROWS
    directions: tuple[Point, ...] | None = DIRECTIONS
    side: int = 5
    lowest: int = 0


def _plain(**options: object) -> Sampler:
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS), lowest=int(str(options.pop("held", 1))))
    hints = Garbage(levels) if options.pop("garbage", False) else None
    return Sampler(levels, within=Box((0, 0), (4, 4)), epsilon=EPSILON, hints=hints, **options)  # type: ignore[arg-type]


@contextmanager
def garbage_hints() -> Iterator[Draws]:
    yield Draws(_plain(garbage=True).draw, lambda: True)


@contextmanager
def undecided_words() -> Iterator[Draws]:
    """One bit of a word counts: levels are drawn in big integers."""
    sampler = _plain(word_bits=1)
    table = sampler._draws._search._proposals
    yield Draws(sampler.draw, lambda: bool((table.last < table.first).any() or len(table.first) < 3))


@contextmanager
def windowed_ranks() -> Iterator[Draws]:
    """Only the two ranks in the middle are known at first."""
    sampler = _plain(held=4, garbage=True)
    before = sampler._covers.levels.held
    yield Draws(sampler.draw, lambda: before > 1 or sampler._covers.levels.held < 4)


@contextmanager
def level_sliced() -> Iterator[Draws]:
    """Every box is cut in two."""
    with forced((slices, "_SLICES", 2), (Envelope, "slice", slice_everything), (Envelope, "_parts", sliced_parts)):
        sampler = _plain()
    boxes, search = len(sampler._planner._envelope.boxes), sampler._draws._search
    yield Draws(sampler.draw, lambda: len(search._boxes) > boxes + 1)


@contextmanager
def slanted_boxes() -> Iterator[Draws]:
    """Boxes along a basis, from the first proposal on."""
    levels = level_sets(np.array(STRETCHED), np.array(ACROSS))
    with forced(
        (boxes_module, "_WORTHWHILE", -math.inf),
        (planner, "_FEW_STEPS", 0),
        (planner, "_box_cost", lambda levels: 0.0),
        (Envelope, "slice", lambda *_: None),
        (Envelope, "_best", slanted_if_any),
    ):
        sampler = Sampler(levels, within=Box((0, 0), (6, 6)), epsilon=EPSILON)
        sampler._planner._envelope.refine([1, 2, 3])
        sampler._planner._envelope.rebase()
        sampler._draws._rungs, sampler._draws._budget = sampler._draws._planned(failed=False)
        sampler._draws._search = sampler._draws._searching()
    slanted = bool(sampler._draws._search._proposals.slanted.any())
    yield Draws(sampler.draw, lambda: slanted, STRETCHED, ACROSS, 7)


@contextmanager
def settled_boxes() -> Iterator[Draws]:
    """Every grid point of a small box was looked at; the deepest levels hold none."""
    rows = tuple((int(a), int(b)) for a, b in np.random.default_rng(0).integers(0, 4, size=(40, 2)))
    levels = level_sets(np.array(rows), np.array(DIRECTIONS))
    sampler = Sampler(levels, within=Box((0, 0), (3, 3)), epsilon=Fraction(1, 5))
    settled = sampler._planner._envelope._settled <= levels.rows
    yield Draws(sampler.draw, lambda: settled, rows, DIRECTIONS, 4)


@contextmanager
def branches() -> Iterator[Draws]:
    """Branch and bound: proposals come from its boxes, half grown, with the levels below them from a box."""
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    with forced((Envelope, "branched", branched_if_any)):
        sampler = Sampler(levels, within=Box((0, 0), (4, 4)), epsilon=EPSILON)
        sampler._planner._envelope.refine([1, 2])
        sampler._planner._envelope.branch(0, float(EPSILON) / 2, 12, 0.0)
        groups = sampler._planner._envelope.groups(0)
    sampler._draws._search, sampler._draws._budget = Search(levels, Box((0, 0), (4, 4)), groups, EPSILON), 1e9
    taken = any(isinstance(box, Union) and box.count > 1 for _, box in groups)
    yield Draws(sampler.draw, lambda: taken)


@contextmanager
def cutting_planes() -> Iterator[Draws]:
    """Exact depth: halfspaces that refute proposals join the envelope, draw after draw."""
    grid = Grid((Fraction(0),) * 2, (Fraction(1),) * 2, (4, 4))
    prepared = Exact().prepare(np.array(ROWS) + grid.low, grid, bytes(32))
    # The axes alone to begin with, so that there is much to refute.
    axes = level_sets(np.array(ROWS) + grid.low, np.eye(2, dtype=np.int64))
    sampler = DepthSampler(prepared, within=whole_grid(grid), epsilon=EPSILON)
    sampler._levels = axes
    sampler._sampler = sampler._sharpened()

    def draw(key: bytes) -> list[int]:
        return [int(c) for c in np.array(sampler.draw(key)) - grid.low]

    yield Draws(draw, lambda: len(sampler._levels.directions) > 2, directions=None)


@contextmanager
def levels_without_a_box() -> Iterator[Draws]:
    """All levels are proposed from the public box."""
    sampler = _plain()
    whole = Box((0, 0), (4, 4))
    groups = [(Group(0, sampler._planner._envelope.top, whole.size), whole)]
    sampler._draws._search, sampler._draws._budget = Search(sampler._covers.levels, whole, groups, EPSILON), 1e9
    yield Draws(sampler.draw, lambda: len(sampler._draws._search._boxes) == 1)


@contextmanager
def refined_in_the_middle() -> Iterator[Draws]:
    """Draws start with the public box at all levels and go on with others once a few proposals have failed."""
    levels = level_sets(np.array(ROWS), np.array(DIRECTIONS))
    wide = Box((0, 0), (16, 16))  # so that proposals at deep levels mostly fail
    refined = 0

    def draw(key: bytes) -> list[int]:
        nonlocal refined
        sampler = Sampler(levels, within=wide, epsilon=EPSILON, hints=Garbage(levels), threads=1)
        everything = [(Group(0, sampler._planner._envelope.top, wide.size), wide)]
        sampler._draws._search, sampler._draws._budget = Search(levels, wide, everything, EPSILON), 1.0
        before = sampler._draws._search
        point = sampler.draw(key)
        refined += sampler._draws._search is not before
        return point

    with forced((exponential, "_LANE_WORDS", _SHORT_LANES)):
        yield Draws(draw, lambda: refined > 0, side=17)


@contextmanager
def shared_lanes() -> Iterator[Draws]:
    """Short lanes, poor boxes, and four threads from the first lane on."""
    with forced((exponential, "_LANE_WORDS", _SHORT_LANES)):
        yield Draws(_plain(garbage=True, threads=4).draw, lambda: True)


@contextmanager
def deep_points_only() -> Iterator[Draws]:
    """REM's draw: from level 2 up."""
    yield Draws(_plain(lowest=2).draw, lambda: True, lowest=2)


@contextmanager
def nothing_forced() -> Iterator[Draws]:
    yield Draws(_plain().draw, lambda: True)


PATHS = {
    "nothing forced": nothing_forced,
    "garbage hints": garbage_hints,
    "undecided words": undecided_words,
    "windowed ranks": windowed_ranks,
    "slices": level_sliced,
    "slanted boxes": slanted_boxes,
    "settled boxes": settled_boxes,
    "branches": branches,
    "cutting planes": cutting_planes,
    "levels without a box": levels_without_a_box,
    "refined in the middle of a draw": refined_in_the_middle,
    "lanes shared by threads": shared_lanes,
    "deep points only": deep_points_only,
}
