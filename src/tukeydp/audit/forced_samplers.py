"""Samplers on small grids, each made to take one rare path or given hostile hints: what they draw has one law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.audit.oracles.laws import Point
from tukeydp.depth.notions import Exact
from tukeydp.hints import boxes as boxes_module
from tukeydp.hints import planner, slices
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted import exponential
from tukeydp.trusted.boxes import Box, Union, whole_grid
from tukeydp.trusted.certificates import Multipliers
from tukeydp.trusted.covers import Cover, Shape
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.exponential import Search
from tukeydp.trusted.laws import Group, WordTable
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling import kept, loops
from tukeydp.trusted.sampling.draws import DepthSampler, Sampler
from tukeydp.trusted.shapes import SHARES, Parallelepiped, TiltedBox

# Names of the package that stand for something else for a while: how rare paths are forced and coins are chosen.
#
# Process-wide, so checks never run in two threads of one process.


@contextmanager
def forced(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """(object, name, value): each is put back at the end, whatever happens. Unknown names are an error."""
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            setattr(owner, name, value)


# Hints for the envelope that no sampler should be able to trust: the law must not depend on them.


class Garbage:
    """Numbers without any sense, NaN and infinity among them."""

    def __init__(self, levels: LevelSets) -> None:
        self._count, self._d = levels.directions.shape
        self._random = np.random.default_rng(1)

    def emptiness(self, level: int) -> Multipliers:
        return self._multipliers()

    def supports(
        self, levels: Sequence[int], objectives: Any, within: Any = None
    ) -> list[list[tuple[Multipliers, Multipliers]]]:
        return [[(self._multipliers(), self._multipliers()) for _ in objectives] for _ in levels]

    def shape(self, level: int) -> FloatArray:
        a = self._random.normal(size=(self._d, self._d)) * 5
        return np.asarray(a @ a.T)

    def middle(self, level: int) -> FloatArray:
        return np.asarray(self._random.standard_cauchy(self._d))

    def _multipliers(self) -> Multipliers:
        values: FloatArray = np.asarray(self._random.standard_cauchy(self._count))
        values[self._random.integers(self._count)] = self._random.choice([math.nan, math.inf, -1e300, 1e-300])
        return Multipliers(range(self._count), values.tolist())


class AnyShape(LinearPrograms):
    """Good bounds, in a basis for a random shape: it may fit the level sets or not."""

    def __init__(self, levels: LevelSets) -> None:
        super().__init__(levels)
        self._random = np.random.default_rng(2)

    def shape(self, level: int) -> FloatArray:
        a = self._random.normal(size=(2, 2)) * 3
        return np.asarray(a @ a.T)


# What the package's sampler accepts each grid point with, in rationals: its boxes, its groups, its membership.
#
# A proposal at level l is drawn uniformly from the boxes of the level's group, so a point is accepted with probability
# proportional to the sum of the weights w_l over the levels whose boxes hold it and that it belongs to. Membership is
# asked of the compiled loop.

# Every word decides: the one level of the table.
_ALL_WORDS = np.array([0], dtype=np.uint64), np.array([2**64 - 1], dtype=np.uint64)


class Membership:
    """Whether the compiled loop takes a point for as deep as a level; each question is asked once."""

    def __init__(self, levels: LevelSets, within: Box, decide: GridDepth | None = None) -> None:
        self._levels, self._within, self._decide = levels, within, decide
        self._known: dict[tuple[Point, int], bool] = {}
        self.agrees = True  # with `LevelSets.contains`, which other parts of the package use

    def __call__(self, y: Point, level: int) -> bool:
        if (y, level) not in self._known:
            inside = self._compiled(y, level)
            self.agrees &= inside == self._levels.contains(y, level)
            if inside and self._decide is not None:
                inside = self._decide.refute(y, level) is None
            self._known[y, level] = inside
        return self._known[y, level]

    def _compiled(self, y: Point, level: int) -> bool:
        """A proposal at this level from a box with this one point: accepted or not."""
        if level > self._levels.rows:
            return self._levels.contains(y, level)
        self._levels.ensure(max(1, level))
        table = WordTable(*_ALL_WORDS, np.array([level]), np.array([0]))
        proposals = loops.proposals(table, [Box(y, y)], self._within)
        d = self._levels.d
        words = np.zeros(1 + d + loops.SPARE, dtype=np.uint64)
        scratch = np.empty((2, d), dtype=np.int64)
        order = np.arange(len(self._levels.directions))
        status, _, _ = kept.propose(words, 0, proposals, loops.ranks(self._levels), order, scratch[0], scratch[1])
        return bool(status == loops.ACCEPTED)


def accepted_weight(member: Membership, groups: Sequence[tuple[Group, Shape]], y: Point, q: Fraction) -> Fraction:
    total = Fraction(0)
    lowest = groups[0][0].lowest
    for group, box in groups:
        times = _times(box, y)
        if not times:
            continue
        for level in range(group.lowest, group.highest + 1):
            if member(y, level):
                total += times * (q**level - (q ** (level - 1) if level > lowest else 0))
    return total


def _times(box: Shape, y: Point) -> Fraction | int:
    """How often the box holds the point: the boxes of a union might overlap, and must not.

    Of a tilted one, its size times the probability that the point is drawn and kept, if it is wanted.
    """
    if isinstance(box, Parallelepiped):
        return int(_holds_cube(box, y))
    if isinstance(box, TiltedBox):
        return _times(box.box, y) and _kept(box, y)
    if isinstance(box, Union):
        low, high = (ends[box.start : box.count].tolist() for ends in (box.pieces.low, box.pieces.high))
        return sum(_between(a, y, b) for a, b in zip(low, high, strict=True))
    z = y if box.basis is None else [sum(a * c for a, c in zip(row, y, strict=True)) for row in box.basis.matrix]
    return int(_between(box.low, z, box.high))


def _holds_cube(shape: Parallelepiped, y: Point) -> bool:
    """Whether the unit cube around a point is in the parallelepiped: else it is drawn less often."""
    for row, low, width in zip(shape.frame.matrix.tolist(), shape.low, shape.widths, strict=True):
        at, half = sum(a * c for a, c in zip(row, y, strict=True)), Fraction(sum(map(abs, row)), 2)
        if not low <= at - half <= at + half <= low + width:
            return False
    return True


def _kept(box: TiltedBox, y: Point) -> Fraction:
    """One, or less if the bound on the point's heights is wrong."""
    assert isinstance(box.box, Box)
    rarity = Fraction(1)
    basis = box.box.basis
    z = y if basis is None else [sum(a * c for a, c in zip(row, y, strict=True)) for row in basis.matrix]
    for c, starts, ends in zip(z, box.cells.starts.tolist(), box.cells.ends.tolist(), strict=True):
        cell = max(i for i, start in enumerate(starts[:-1]) if start <= c and ends[i] < ends[i + 1])
        rarity *= Fraction(SHARES * (starts[cell + 1] - starts[cell]), ends[cell + 1] - ends[cell])
    return min(Fraction(1), box.size / rarity)


def _between(low: Sequence[int], z: Sequence[int], high: Sequence[int]) -> bool:
    return all(a <= c <= b for a, c, b in zip(low, z, high, strict=True))


def slice_everything(envelope: Envelope, lowest: int, *_: object) -> None:
    """In the place of `Envelope.slice`: cut every box, whether it pays off or not."""
    for level in list(envelope.covers):
        if level > lowest and level not in envelope._slices:
            envelope._slices[level] = slices.slices(envelope._certifier, envelope._parts(level), 0)


def sliced_parts(envelope: Envelope, level: int) -> slices.Sliced:
    """In the place of `Envelope._parts`: the slices even if one box were smaller."""
    return envelope._slices.get(level) or slices.Sliced(envelope._best(level), (0,))


def slanted_if_any(envelope: Envelope, level: int) -> Cover:
    """In the place of `Envelope._best`: the slanted box even if it is larger."""
    return envelope._slanted.get(level, envelope.covers[level])


def branched_if_any(envelope: Envelope, lowest: int) -> bool:
    """In the place of `Envelope.branched`: the boxes of branch and bound even if they make more proposals."""
    return envelope.tree is not None and envelope.tree.base <= envelope.top


# Samplers on small grids, each made to take one rare path; what they draw must have one law all the same.

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
