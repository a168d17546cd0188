"""Covers of levels: finite sets of grid points, of known size, that hold every grid point of a level exactly once.

The sampler's law rests on this and nothing else (docs/proofs/boxem.md, section 4). So a `Cover` is a proof: only the
methods of `Covers` make one, each by a rule whose conclusion holds whatever the hints are. Hints are plain data:
multipliers, where to cut, matrices, rates. They are copied, made integers and checked here; what is nonsense (other
shapes or types, NaN, numbers out of range, objects that raise) is no hint, and the cover is the weaker one without it.

The table's levels end at `Covers.top`: every proof that a level is empty lowers it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.boxes import Box, Pieces, Union
from tukeydp.trusted.certificates import Weights, in_integers, weighted_bound
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Basis, integers, inverse
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.records import Ranks
from tukeydp.trusted.rows import LIMIT
from tukeydp.trusted.sampling import compiling
from tukeydp.trusted.shapes import STEPS, Frame, Parallelepiped, TiltedBox, around, cut, frame_of, least_ends, widths_of
from tukeydp.trusted.sizes.linear_programs import Region, centre_and_scale, maximum

Shape = Box | TiltedBox | Parallelepiped | Union
Rung = tuple[int, "Cover"]  # a level, and what it and those above it are drawn from, up to the next rung

# Memory and time only: boxes with more points are not looked at one by one; levels are not listed with more points.
_MOST_LOOKED_AT, _MOST_LISTED = 2**20, 2**20
_TOGETHER = 2**12  # nodes of a tree whose claims are checked at a time
_STEEPEST = 600.0  # log of how much the density of a tilted box may fall along a column: exp of it is a float
SLOPE_BITS = 64  # bits behind the point of a tilted box's slopes: rounding them costs less than a step in all
# Soundness: numbers of points are drawn below 2^61 in one 64-bit word; sums of a claim's certificate below 2^60 each
# are exact in 64 bits, and so are products of a parallelepiped's corner with directions and their differences to ranks.
_MOST_POINTS, _LARGEST_SUM, _LARGEST_CORNER = 2**61, 2.0**60, 2.0**61

_PROVEN = object()


class Cover:
    """Disjoint sets, `parts`, one of which holds y for every grid point y of the public box of depth >= level.

    `hull` is a box along the axes, inside the public one, that holds all these y too. No parts: the level is empty.
    """

    __slots__ = ("hull", "level", "of", "parts")

    of: Covers
    level: int
    parts: tuple[Shape, ...]
    hull: Box

    def __init__(self, proof: object, of: Covers, level: int, parts: Sequence[Shape], hull: Box) -> None:
        if proof is not _PROVEN:
            raise TypeError("covers are made by Covers only")
        for name, value in (("of", of), ("level", level), ("parts", tuple(parts)), ("hull", hull)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("covers are never changed")

    def __init_subclass__(cls) -> None:
        raise TypeError("covers are made by Covers only")

    @property
    def size(self) -> int:
        """How many points its parts have; of those that are not drawn alike often, one over how often."""
        return sum(part.size for part in self.parts)


class Claims(NamedTuple):
    """Of the parts of a tree: no point is deeper than `caps[i]`, by multipliers `values[i]` of directions `rows[i]`."""

    caps: Any
    rows: Any
    values: Any


class Listed:
    """All points of a box of depth at least `level`, one a row, each with a cap on its depth; and how long it took."""

    __slots__ = ("caps", "level", "of", "points", "root", "visits")

    def __init__(
        self, proof: object, of: Covers, root: Box, points: IntArray, caps: IntArray, level: int, visits: int
    ) -> None:
        if proof is not _PROVEN:
            raise TypeError("lists are made by Covers only")
        self.of, self.root, self.points, self.caps, self.level, self.visits = of, root, points, caps, level, visits


class View:
    """What hints may see of level sets: to read, not to write."""

    def __init__(self, levels: LevelSets) -> None:
        self._levels = levels
        self.d, self.rows = levels.d, levels.rows
        self.directions, self.sample = _read_only(levels.directions), _read_only(levels.sample)

    @property
    def held(self) -> int:
        return self._levels.held

    @property
    def rough(self) -> LevelSets | None:
        return self._levels.rough

    def offsets(self, level: int) -> tuple[IntArray, IntArray]:
        smallest, largest = self._levels.offsets(level)
        return _read_only(smallest), _read_only(largest)

    def depths(self, points: IntArray, least: int = 1) -> IntArray:
        return self._levels.depths(points, least)

    def ranks(self, lowest: int, highest: int) -> Ranks:
        """A copy of the ranks of these levels."""
        found = _ranks(self._levels, lowest, highest)
        return found._replace(directions=found.directions.copy(), projections=found.projections.copy())


class Covers:
    """The rules by which covers of one table's levels are made, all of them inside the public box `within`.

    `highest` is a level that no point which will be accepted in the end is deeper than, where that is known.
    """

    def __init__(self, levels: LevelSets, within: Box, highest: int | None = None) -> None:
        self._levels, self.within, self.view = levels, within, View(levels)
        self._axes = _axis_rows(levels)
        self._units = [[int(i == j) for i in range(levels.d)] for j in range(levels.d)]
        self._bases: dict[tuple[tuple[int, ...], ...], Basis | None] = {}
        self._frames: dict[tuple[int, ...], Frame | None] = {}
        self._top = levels.rows if highest is None else min(highest, levels.rows)

    @property
    def top(self) -> int:
        """No grid point that will be accepted is deeper."""
        return self._top

    @property
    def levels(self) -> LevelSets:
        return self._levels

    @property
    def axes(self) -> list[int]:
        """Columns along which there is a direction."""
        return sorted({j for _, j, _ in self._axes})

    @property
    def along_axes_only(self) -> bool:
        """Whether all directions are parallel to axes: then these say everything."""
        return len(self._axes) == len(self._levels.directions)

    def unbroken(self) -> int:
        """The highest level at which no single direction contradicts itself: all above are empty."""
        found = self._levels.highest_unbroken()
        self._made(found + 1, [], self.within)
        return found

    # Boxes along the axes.

    def whole(self) -> Cover:
        """The public box: a cover of every level."""
        return self._made(0, [self.within], self.within)

    def box_along_axes(self, level: int) -> Box:
        """What the directions parallel to an axis say, 1 <= level <= rows."""
        low, high = list(self.within.low), list(self.within.high)
        smallest, largest = self._levels.offsets(level)
        for row, j, entry in self._axes:
            # smallest <= entry * y_j <= largest, with entry > 0 after a change of sign
            a, b = int(smallest[row]), int(largest[row])
            if entry < 0:
                a, b = -b, -a
            low[j] = max(low[j], -(-a // abs(entry)))
            high[j] = min(high[j], b // abs(entry))
        return Box(tuple(low), tuple(high))

    def boxed(self, level: int, supports: Any = None, known: Cover | None = None) -> Cover:
        """A box around what a level has in another cover's box.

        `supports` are, for each column, multipliers for its largest and for its smallest value.
        """
        level = self._checked(level)
        if not 0 < level <= self._levels.rows:
            return self.whole() if level <= 0 else self._made(level, [], self.within)
        box = self.box_along_axes(level).meet(self._hull(known, level))
        box = self._tightened(level, self._pairs(supports, self._levels.d), box)
        return self._made(level, [box], box)

    def proves_empty(self, level: int, multipliers: Any) -> bool:
        """Whether multipliers, or nothing at all, prove that a level has no point; if so, the top is below it."""
        level = self._checked(level)
        if not 0 < level <= self._levels.rows:
            return level > 0
        weights = in_integers(multipliers, len(self._levels.directions))
        known = self.box_along_axes(level)
        if known.size and weighted_bound(self._levels, level, [0] * self._levels.d, weights, known) >= 0:
            return False
        self._made(level, [], self.within)
        return True

    def own(self, level: int) -> Cover:
        """A box without any hint: columns without a direction of their own get ends by exact linear programs."""
        level = self._checked(level)
        if not 0 < level <= self._levels.rows:
            return self.boxed(level)
        box = self.box_along_axes(level)
        rest = sorted(set(range(self._levels.d)) - set(self.axes))
        if box.size and rest:
            region = region_of(self._levels, box, level)
            low, high = list(box.low), list(box.high)
            for j in rest:
                up, down = maximum(region, self._units[j]), maximum(region, [-c for c in self._units[j]])
                if up is None or down is None:
                    return self._made(level, [], box)
                low[j], high[j] = max(low[j], math.ceil(-down.value)), min(high[j], math.floor(up.value))
            box = Box(tuple(low), tuple(high))
        return self._made(level, [box], box)

    def own_top(self) -> int:
        """The top by exact linear programs, without any hint."""
        low, high = 0, self._top + 1
        while low + 1 < high and not self.along_axes_only:
            middle = (low + high) // 2
            box = self.box_along_axes(middle)
            if box.size and maximum(region_of(self._levels, box, middle), [0] * self._levels.d) is not None:
                low = middle
            else:
                high = middle
                self._made(middle, [], self.within)
        return self._top

    # Slices, and boxes looked at point by point.

    def sliced(self, cover: Cover, index: Any, column: Any, starts: Any, supports: Any = None) -> Cover:
        """The same with one part, a box along the axes, cut into slabs along a column; they come last.

        A slab begins at each of `starts`. `supports` are those of `boxed` for each slab, from its low end up.
        """
        cover = self._ours(cover)
        try:
            index, column = operator.index(index), operator.index(column)
            cuts = {operator.index(start) for start in _plain(starts)}
        except Exception:  # no hint
            return cover
        if not (0 <= index < len(cover.parts) and 0 <= column < self._levels.d):
            return cover
        part = cover.parts[index]
        if not isinstance(part, Box) or part.basis is not None:
            return cover
        low, high = part.low[column], part.high[column]
        ends = [low, *sorted(start for start in cuts if low < start <= high), high + 1]
        hints = supports if type(supports) in (list, tuple) and len(supports) == len(ends) - 1 else [None] * len(ends)
        fresh = []
        for (first, behind), hint in zip(pairwise(ends), hints, strict=False):
            slab = Box(_with(part.low, column, first), _with(part.high, column, behind - 1))
            if cover.level:
                slab = self._tightened(cover.level, self._pairs(hint, self._levels.d), slab)
            fresh.append(slab)
        others = [*cover.parts[:index], *cover.parts[index + 1 :]]
        return self._made(cover.level, [*others, *fresh], cover.hull)

    def looked_at(self, cover: Cover) -> list[Rung]:
        """Boxes that the points of a cover's levels span, found by the depth of each one; the top is exact then.

        Where there are too many, the cover as it is.
        """
        cover = self._ours(cover)
        if cover.hull.size > _MOST_LOOKED_AT:
            return [(cover.level, cover)]
        level = max(1, cover.level)
        points = _members(self._levels, _points_in(cover.hull), level)
        depths = self._levels.depths(points, level)
        points, depths = points[depths >= level], depths[depths >= level]
        rungs = []
        start = level
        for depth in np.unique(depths).tolist():
            deep = points[depths >= depth]
            box = Box(tuple(deep.min(axis=0).tolist()), tuple(deep.max(axis=0).tolist()))
            rungs.append((start, self._made(start, [box], box)))
            start = depth + 1
        self._made(start, [], cover.hull)
        return rungs

    # Other shapes.

    def slanted(self, level: int, matrix: Any, supports: Any = None, known: Cover | None = None) -> Cover:
        """A box along a basis of the grid, the rows of a matrix; along the axes if that is none.

        `supports` are, for each row, multipliers for its largest and for its smallest product.
        """
        level = self._checked(level)
        basis = self._basis(matrix)
        if basis is None or not 0 < level <= self._levels.rows:
            return self.boxed(level, None, known)
        hull = self._hull(known, level)
        box = Box(*self._ranges(level, basis.matrix, self._pairs(supports, self._levels.d), hull), basis)
        if box.size and not fits_in_words(box):
            return self.boxed(level, None, known)
        return self._made(level, [box], hull)

    def framed(self, level: int, rows: Any, supports: Any = None, known: Cover | None = None) -> Cover:
        """A parallelepiped between the ranks of d directions, given by number; `supports` may bound it more tightly."""
        level = self._checked(level)
        chosen, frame = self._frame(rows)
        if frame is None or not 0 < level <= self._levels.rows:
            return self.boxed(level, None, known)
        hull = self._hull(known, level)
        smallest, largest = self._levels.offsets(level)
        low, high = self._ranges(level, frame.matrix.tolist(), self._pairs(supports, self._levels.d), hull)
        low = tuple(map(max, low, smallest[list(chosen)].tolist()))
        high = tuple(map(max, low, map(min, high, largest[list(chosen)].tolist())))
        found = around(frame, low, high)
        corner = np.array([abs(_rough(c)) for c in found.corner()]) + 1
        if not (np.abs(self._levels.directions).astype(np.float64) @ corner).max() < _LARGEST_CORNER:
            return self.boxed(level, None, known)
        return self._made(level, [found], hull)

    def tilted(self, cover: Cover, rates: Any, multipliers: Any = None) -> Cover:
        """The same with its one part's points not alike likely: from the low end of a column to its high end they fall
        by e^-rate. The multipliers are for the largest product with `tilt` of the rates.
        """
        cover = self._ours(cover)
        fall = _rates(rates, self._levels.d)
        if fall is None or len(cover.parts) != 1 or not isinstance(cover.parts[0], Box | Parallelepiped):
            return cover
        box = cover.parts[0]
        cells = cut(box, fall)
        slopes, objective, off = tilt(box, fall)
        largest = int(cells.heights.max(axis=1).sum())
        if any(objective) and cover.level > 0:
            weights = in_integers(multipliers, len(self._levels.directions))
            bound = weighted_bound(self._levels, cover.level, objective, weights, cover.hull)
            ends = least_ends(cells, slopes, SLOPE_BITS, real=isinstance(box, Parallelepiped))
            largest = min(largest, (ends + bound + off) >> SLOPE_BITS)
        return self._made(cover.level, [TiltedBox(box, cells, max(largest, 0))], cover.hull)

    # Branch and bound: boxes with caps on the depth of their points.

    def listed(self, root: Cover, level: Any, margin: Any, visits: Any, room: Any) -> Listed | None:
        """All points from `level` up in a cover's box; the level rises to `margin` below the deepest of them, and where
        there is no room. None if it takes more visits than asked for.
        """
        root = self._ours(root)
        try:
            level, margin, visits, room = map(operator.index, (level, margin, visits, room))
        except Exception:  # no hint
            return None
        if not (1 <= root.level <= level <= self._top and min(margin, visits) >= 0 and 1 <= room <= _MOST_LISTED):
            return None
        ranks = _ranks(self._levels, root.level, self._top)
        low, high = (np.array(ends, dtype=np.int64) for ends in (root.hull.low, root.hull.high))
        if not root.hull.size or not _largest_projections(ranks, root.hull).max() < _LARGEST_SUM / 4:
            return None
        from tukeydp.trusted.sampling.loops import Listed as Room

        margin, visits = min(margin, self._levels.rows), min(visits, LIMIT)
        found = Room(np.empty((room, len(low)), dtype=np.int64), np.empty(room, dtype=np.int64))
        find = compiling.lister()[2]
        count, level, made = find(walk_of(low, high, ranks.directions), level, self._top, margin, ranks, visits, found)
        if level < 0:
            return None
        order = np.argsort(-found.cap[:count], kind="stable")
        return Listed(_PROVEN, self, root.hull, found.points[order], found.cap[order], int(level), int(made))

    def branched(self, root: Cover, cuts: Any, claims: Any, listed: Any = None) -> list[Rung]:
        """The levels from a cover's own up, each drawn from the listed points or the boxes whose caps are as high.

        Cut i, (part, column, coordinate), makes part i + 1 of what a part has beyond the coordinate; parts are numbered
        from the cover's box, 0. A claim that is not proven counts for nothing: a part has a cap of its own.
        """
        root = self._ours(root)
        base, points = root.level, root.hull.size
        if not (1 <= base <= self._top and 0 < points < _MOST_POINTS):
            return [(base, root)]
        low, high = self._parts_of(root.hull, cuts)
        ours = type(listed) is Listed and listed.of is self and listed.root == root.hull and listed.level >= base
        top = min(self._top, listed.level - 1) if ours else self._top
        caps = self._caps(low, high, claims, root, top)
        order = np.argsort(-caps, kind="stable")[: np.count_nonzero(caps >= base)]
        low, high, caps = low[order], high[order], caps[order]
        above: IntArray = np.empty(0, dtype=np.int64)
        if ours:
            low, high, above = np.vstack([listed.points, low]), np.vstack([listed.points, high]), listed.caps
        pieces = Pieces(low, high, np.cumsum(np.prod(high - low + 1, axis=1)))
        deepest = int(max(caps.max(initial=base - 1), above.max(initial=base - 1)))
        self._made(deepest + 1, [], root.hull)
        rungs = self._unions(pieces, len(above), caps, base, min(self._top, top), root.hull)
        return rungs + (self._unions(pieces, 0, above, top + 1, self._top, root.hull) if ours else [])

    def _unions(self, pieces: Pieces, first: int, caps: IntArray, lowest: int, top: int, hull: Box) -> list[Rung]:
        """The levels lowest ... top from the pieces `first`, first + 1, ..., of these caps, the highest first."""
        found: list[Rung] = []
        start = lowest
        for end in np.unique(caps).tolist():
            if start <= min(end, top):
                union = Union(pieces, first + int(np.count_nonzero(caps >= end)), first)
                found.append((start, self._made(start, [union], hull)))
                start = end + 1
        return found

    def _parts_of(self, root: Box, cuts: Any) -> tuple[IntArray, IntArray]:
        """Disjoint boxes that make up the root, by its cuts up to the first that is none."""
        made = _integer_array(cuts, 2)
        made = made if made is not None and made.shape[1] == 3 else np.empty((0, 3), dtype=np.int64)
        d = self._levels.d
        low, high = (np.tile(np.array(ends, dtype=np.int64), (len(made) + 1, 1)) for ends in (root.low, root.high))
        count = 1
        for part, column, coordinate in made.tolist():
            inside = 0 <= part < count and 0 <= column < d and low[part, column] <= coordinate < high[part, column]
            if not inside:
                break
            low[count], high[count] = low[part], high[part]
            high[part, column], low[count, column] = coordinate, coordinate + 1
            count += 1
        return low[:count], high[:count]

    def _caps(self, low: IntArray, high: IntArray, claims: Any, root: Cover, top: int) -> IntArray:
        """For each box a number, at most `top`, that none of its points of depth up to `top` is deeper than."""
        count, base = len(low), root.level
        caps = np.full(count, top, dtype=np.int64)
        try:
            given = [
                _integer_array(claims.caps, 1),
                *(_integer_array(some, 2) for some in (claims.rows, claims.values)),
            ]
        except Exception:  # no hint
            return caps
        claimed, rows, values = given
        if claimed is None or rows is None or values is None or rows.shape != values.shape:
            return caps
        count = min(count, len(claimed), len(rows))
        claimed = np.clip(claimed[:count], base - 1, top)
        ranks = _ranks(self._levels, base, max(base, self._top))
        for start in range(0, count, _TOGETHER):
            some = slice(start, min(start + _TOGETHER, count))
            open_ = claimed[some] < top
            proven = open_ & _claims_hold(
                low[some], high[some], claimed[some], rows[some], values[some], ranks, root.hull
            )
            caps[some][proven] = claimed[some][proven]
            rest = np.flatnonzero(open_ & ~proven) + start
            if len(rest):
                caps[rest] = np.minimum(top, np.maximum(claimed[rest], _own_caps(low[rest], high[rest], ranks, top)))
        return caps

    # What hints and covers are made of.

    def _made(self, level: int, parts: Sequence[Shape], hull: Box) -> Cover:
        """A cover of these parts; where there is none, the level is empty, and so are all above it."""
        filled = [part for part in parts if part.size]
        if not filled:
            self._top = min(self._top, level - 1)
        return Cover(_PROVEN, self, level, filled, hull)

    def in_its_hull(self, cover: Cover) -> Cover:
        """The same level in a box along the axes."""
        cover = self._ours(cover)
        return self._made(cover.level, [cover.hull] if cover.parts else [], cover.hull)

    def _ours(self, cover: Any) -> Cover:
        """A cover of this table, or the public box."""
        return cover if type(cover) is Cover and cover.of is self else self.whole()

    def _hull(self, known: Any, level: int) -> Box:
        """A box that holds a level: that of a cover made for it or for one below."""
        known = self._ours(known)
        return known.hull if known.level <= level else self.within

    def _checked(self, level: Any) -> int:
        """A level; for nonsense 0, of which little is known."""
        try:
            return min(max(operator.index(level), 0), self._levels.rows + 1)
        except Exception:  # no hint
            return 0

    def _pairs(self, supports: Any, count: int) -> list[tuple[Weights, Weights]] | None:
        """Multipliers for the largest and for the smallest value of so many objectives; None if there are none."""
        k = len(self._levels.directions)
        try:
            if type(supports) not in (list, tuple) or len(supports) != count:
                return None
            return [(in_integers(up, k), in_integers(down, k)) for up, down in supports]
        except Exception:  # no hint
            return None

    def _tightened(self, level: int, pairs: list[tuple[Weights, Weights]] | None, box: Box) -> Box:
        # A residual costs its size times the known box, so a box that shrank much can shrink again.
        shrunk = True
        while shrunk and pairs and box.size:
            tighter = box.meet(Box(*self._ranges(level, self._units, pairs, box)))
            shrunk = tighter.size * 2 < box.size
            box = tighter
        return box

    def _ranges(
        self, level: int, objectives: Sequence[Sequence[int]], pairs: list[tuple[Weights, Weights]] | None, known: Box
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Certified smallest and largest value of each objective on the level."""
        low, high = [], []
        for objective, (up, down) in zip(objectives, pairs or [([], [])] * len(objectives), strict=True):
            high.append(weighted_bound(self._levels, level, objective, up, known))
            low.append(-weighted_bound(self._levels, level, [-c for c in objective], down, known))
        return tuple(low), tuple(high)

    def _basis(self, matrix: Any) -> Basis | None:
        """A basis of the grid; None if the rows are none."""
        rows = _integer_rows(matrix, self._levels.d)
        if rows is None:
            return None
        if rows not in self._bases:
            inverted = inverse(integers([list(row) for row in rows]))
            unimodular = inverted is not None and inverted[1] == 1
            self._bases[rows] = (
                Basis(rows, tuple(map(tuple, inverted[0].tolist()))) if unimodular and inverted else None
            )
        return self._bases[rows]

    def _frame(self, rows: Any) -> tuple[tuple[int, ...], Frame | None]:
        """The frame of d directions, by number; None if they are dependent, or none."""
        try:
            chosen = tuple(operator.index(row) for row in _plain(rows))
        except Exception:  # no hint
            return (), None
        if len(chosen) != self._levels.d or not all(0 <= row < len(self._levels.directions) for row in chosen):
            return (), None
        if chosen not in self._frames:
            self._frames[chosen] = frame_of(self._levels.directions[list(chosen)])
        return chosen, self._frames[chosen]


def region_of(levels: LevelSets, within: Box, level: int) -> Region:
    """A level inside a box, for exact programs; 1 <= level <= rows."""
    low, high = levels.offsets(level)
    units = np.eye(levels.d, dtype=np.int64)
    centre, scale = centre_and_scale(levels.sample)
    return Region(
        integers(np.vstack([levels.directions, -levels.directions, units, -units])),
        integers([*high.tolist(), *(-low).tolist(), *within.high, *(-a for a in within.low)]),
        integers(centre),
        scale,
    )


def fits_in_words(box: Box) -> bool:
    """Whether every point of a slanted box can be computed in 64 bits, inside the public box or not."""
    largest = [max(abs(a), abs(b)) for a, b in zip(box.low, box.high, strict=True)]
    rows = box.basis.inverse if box.basis else ()
    return max(largest) < LIMIT and all(
        max(map(abs, row)) < LIMIT and sum(abs(a) * z for a, z in zip(row, largest, strict=True)) < LIMIT
        for row in rows
    )


def tilt(box: Box | Parallelepiped, rates: FloatArray) -> tuple[list[int], list[int], int]:
    """Slopes along a box's coordinates for these rates; the objective that bounds them; by how much real points of the
    cube around a grid point may exceed it.
    """
    widths = np.array(widths_of(box), dtype=np.float64)
    slopes = [round(rate) for rate in np.ldexp(rates * STEPS / (math.log(2.0) * widths), SLOPE_BITS).tolist()]
    rows = coordinates_of(box)
    if rows is None:
        return slopes, slopes, 0
    objective = [sum(a * b for a, b in zip(slopes, column, strict=True)) for column in zip(*rows, strict=True)]
    off = 0
    if isinstance(box, Parallelepiped):
        off = sum(abs(slope) * sum(map(abs, row)) for slope, row in zip(slopes, rows, strict=True)) // 2 + 1
    return slopes, objective, off


def coordinates_of(box: Box | Parallelepiped) -> Sequence[Sequence[int]] | None:
    """What a box's coordinates are products with; None for the axes."""
    if isinstance(box, Parallelepiped):
        return box.frame.matrix.tolist()
    return None if box.basis is None else box.basis.matrix


def walk_of(low: IntArray, high: IntArray, directions: IntArray) -> Any:
    """All columns of more than one point, those first that say most about sums. Where there is but a point, any."""
    from tukeydp.trusted.sampling.loops import Walk

    reach = np.abs(directions).sum(axis=0) * (high - low)
    moving = np.flatnonzero(high > low) if (high > low).any() else np.array([0])  # also where no direction crosses them
    columns = moving[np.argsort(-reach[moving], kind="stable")]
    return Walk(low, high, columns, np.ascontiguousarray(directions[:, columns].T), directions @ low)


def _ranks(levels: LevelSets, lowest: int, highest: int) -> Ranks:
    """Those of these levels only: a row far away makes no number large."""
    out = min(lowest - 1, levels.rows - highest)
    window = levels.ensure(out + 1, upto=highest)
    kept = window.projections[:, out - window.first : window.rows - out - window.first]
    held = min(window.highest, window.rows - out)
    return Ranks(levels.directions, np.ascontiguousarray(kept), out, held)


def _largest_projections(ranks: Ranks, root: Box) -> FloatArray:
    """For each direction, at least the size of every projection of the root's points, and of every rank."""
    ends = np.array([max(abs(a), abs(b)) for a, b in zip(root.low, root.high, strict=True)], dtype=np.float64)
    return np.maximum(
        np.abs(ranks.directions.astype(np.float64)) @ ends,
        np.abs(ranks.projections[:, [0, -1]].astype(np.float64)).max(axis=1),
    )


def _claims_hold(
    low: IntArray, high: IntArray, caps: IntArray, rows: IntArray, values: IntArray, ranks: Ranks, root: Box
) -> IntArray:
    """For which boxes the multipliers prove level cap + 1 empty: sum_i u_i <v_i, y> - (sum_i u_i v_i) y = 0 for every
    y, and if the left side is negative at its largest on the level, that has no point there.
    """
    k, kept, out = len(ranks.directions), ranks.projections.shape[1], ranks.left_out
    fine = ((rows >= 0) & (rows < k)).all(axis=1) & (out <= caps) & (caps < ranks.highest)
    rows, level = np.where(fine[:, np.newaxis], rows, 0), np.where(fine, caps + 1, out + 1)
    largest = _largest_projections(ranks, root)
    # Each of the two sums below is at most this: exact in 64 bits.
    fine &= (np.abs(values.astype(np.float64)) * largest[rows]).sum(axis=1) < _LARGEST_SUM
    values = np.where(fine[:, np.newaxis], values, 0)
    rest = -np.einsum("ni,nij->nj", values, ranks.directions[rows])
    ends = np.where(rest > 0, rest * high, rest * low).sum(axis=1)
    place = np.where(values > 0, (kept + out - level)[:, np.newaxis], (level - 1 - out)[:, np.newaxis])
    total = ends + (values * ranks.projections[rows, place]).sum(axis=1)
    return np.asarray(fine & (total < 0))


def _own_caps(low: IntArray, high: IntArray, ranks: Ranks, top: int) -> IntArray:
    """Caps without any hint: the least number of rows, over directions, on either side of a box's projections."""
    kept, out = ranks.projections.shape[1], ranks.left_out
    least = np.full(len(low), ranks.highest, dtype=np.int64)
    for v, ranked in zip(ranks.directions, ranks.projections, strict=True):
        ends = low * v, high * v
        first, last = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
        below = out + np.searchsorted(ranked, last, side="right")
        above = out + kept - np.searchsorted(ranked, first, side="left")
        least = np.minimum(least, np.minimum(below, above))
    # Equal projections may run on past both ends of the ranks: then they do not tell.
    return np.asarray(np.where(least < ranks.highest, least, top))


def _members(levels: LevelSets, points: IntArray, level: int) -> IntArray:
    """Those of the points that are in a level: in many columns few are, and the rest need no depth.

    The last directions come first: the axes, which the box has seen to, are among the others.
    """
    if level > levels.rows:
        return points[:0]
    smallest, largest = levels.offsets(level)
    end, together = len(levels.directions), 2
    while end:
        some = slice(max(0, end - together), end)
        projected = points @ levels.directions[some].T
        points = points[((smallest[some] <= projected) & (projected <= largest[some])).all(axis=1)]
        end, together = some.start, 2 * together
    return points


def _points_in(box: Box) -> IntArray:
    """All grid points of a box."""
    rest = np.arange(box.size, dtype=np.int64)
    columns = []
    for a, b in zip(box.low, box.high, strict=True):
        rest, place = np.divmod(rest, b - a + 1)
        columns.append(a + place)
    return np.column_stack(columns)


def _axis_rows(levels: LevelSets) -> list[tuple[int, int, int]]:
    """(row, column, entry) of each direction parallel to an axis."""
    parallel = np.flatnonzero(np.count_nonzero(levels.directions, axis=1) == 1)
    columns = np.argmax(levels.directions[parallel] != 0, axis=1)
    return [(int(row), int(j), int(levels.directions[row, j])) for row, j in zip(parallel, columns, strict=True)]


def _rough(value: Fraction) -> float:
    """About as much; infinite if no float is."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _with(ends: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*ends[:column], value, *ends[column + 1 :])


def _read_only(values: IntArray) -> IntArray:
    seen = values.view()
    seen.flags.writeable = False
    return seen


def _plain(values: Any) -> list[Any]:
    """A sequence that is plain data."""
    if type(values) not in (list, tuple, range, np.ndarray):
        raise TypeError("no plain data")
    return list(values)


def _integer_array(values: Any, dimensions: int) -> IntArray | None:
    """A copy of signed integers; None for anything else."""
    try:
        if type(values) not in (list, tuple, np.ndarray):
            return None
        found = np.array(values)
        fits = found.dtype.kind == "i" and found.ndim == dimensions
    except Exception:  # no hint
        return None
    return found.astype(np.int64) if fits else None


def _integer_rows(matrix: Any, d: int) -> tuple[tuple[int, ...], ...] | None:
    """A square matrix of integers below 2^62; None for anything else."""
    try:
        rows = tuple(tuple(operator.index(entry) for entry in _plain(row)) for row in _plain(matrix))
    except Exception:  # no hint
        return None
    square = len(rows) == d and all(len(row) == d and all(abs(entry) < LIMIT for entry in row) for row in rows)
    return rows if square else None


def _rates(rates: Any, d: int) -> FloatArray | None:
    """So many finite floats, cut off where their powers would not be floats; None for anything else."""
    try:
        found = np.array([float(rate) for rate in _plain(rates)])
    except Exception:  # no hint
        return None
    return np.clip(found, -_STEEPEST, _STEEPEST) if found.shape == (d,) and np.isfinite(found).all() else None
