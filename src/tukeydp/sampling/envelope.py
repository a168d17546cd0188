"""Certified boxes around level sets: the sets the sampler draws from.

Invariant: the box of a level contains every grid point of the public box whose depth is at least that level; where it
has been cut into slices, these are disjoint, and one of them contains the point; a box along the axes lies inside the
public box, a slanted one may reach beyond it; no grid point of the public box has a depth above `top`. The hints only
decide how tight this is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.data.grid import LIMIT
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box
from tukeydp.exact.lattice import Basis, log_gain, reduced_basis
from tukeydp.exact.level_draw import Group
from tukeydp.sampling.certificates import Multipliers, proves_empty, upper_bound
from tukeydp.sampling.hints import Hints

_SLICES = 8
_SLICE_COST = 2.0  # in boxes: its programs cannot go on where those of the last level ended
_SAVED = 0.6  # of the proposals from a box, about so many are saved by slicing it
_POOR = 4, 5
_WORTHWHILE = math.log(4)  # a slanted box costs as many programs as one along the axes


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of a level's box, and the column to cut it along next; None if that is no use."""

    box: Box
    column: int | None


@dataclass(frozen=True)
class _Heaviest:
    """Which part of which level's box, and its share of all proposals."""

    level: int
    index: int
    share: float


class Envelope:
    """Boxes at some levels; each serves its own level and all those above it up to the next."""

    def __init__(self, levels: LevelSets, within: Box, hints: Hints) -> None:
        self._levels, self._within, self._hints = levels, within, hints
        self._axes = _axis_rows(levels)
        self.boxes: dict[int, Box] = {}
        self._slanted: dict[int, Box] = {}
        self._slices: dict[int, list[Slice]] = {}
        self._basis: Basis | None = None
        self._rebased = False
        self._units = [[int(i == j) for i in range(levels.d)] for j in range(levels.d)]
        self._settled = levels.rows + 1  # from here up, every grid point has been looked at
        self.needs_programs = len(self._axes) < len(levels.directions)
        self.top = self._find_top()

    def lacks(self, wanted: Sequence[int]) -> bool:
        """Whether a box is missing at some of these levels."""
        return any(level not in self.boxes for level in wanted)

    def refine(self, wanted: Sequence[int]) -> None:
        """Certify boxes at the wanted levels that have none yet."""
        fresh = sorted(set(wanted) - self.boxes.keys())
        if self.needs_programs:
            hints = self._hints.supports(fresh, self._units)
        else:
            hints = [[] for _ in fresh]
        for level, supports in zip(fresh, hints, strict=True):
            if level <= self.top:
                box = self._certify(level, supports)
                if box.size == 0:
                    self._cut(level - 1)
                else:
                    self.boxes[level] = box
        self._slant()

    def rebase(self) -> None:
        """Look once for a basis of the grid in which boxes fit much better than along the axes."""
        if self.boxes and self.needs_programs and not self._rebased:
            self._rebased = True
            shape = self._hints.shape(sorted(self.boxes)[len(self.boxes) // 2])
            basis = None if shape is None else reduced_basis(shape)
            if shape is not None and basis is not None and log_gain(basis, shape) > _WORTHWHILE:
                self._basis = basis
                self._slant()

    def log_size(self, level: int) -> float:
        return math.log(self._best(level).size)

    def _best(self, level: int) -> Box:
        """The smaller of the two boxes of a level."""
        return min(self.boxes[level], self._slanted.get(level, self.boxes[level]), key=lambda box: box.size)

    def _slant(self) -> None:
        """Certify boxes in the basis at all levels that have only one along the axes."""
        missing = sorted(self.boxes.keys() - self._slanted.keys())
        if self._basis is None or not missing:
            return
        rows = self._basis.matrix
        for level, supports in zip(missing, self._hints.supports(missing, rows), strict=True):
            if level <= self.top:
                known = self.boxes[level]
                box = Box(*self._ranges(level, rows, supports, known), self._basis)
                if box.size == 0:
                    self._cut(level - 1)
                elif _safe(box):
                    self._slanted[level] = box

    def settle(self, most_points: int) -> None:
        """Look at every grid point of the largest level box that has at most `most_points` of them.

        On a coarse grid the level sets near the top are polytopes without a single grid point, which no linear program
        can tell from others: without this, nearly all proposals would be made for levels that nothing reaches. Sets
        the top to the deepest grid point and the boxes from there down to what the points span.
        """
        level = self._lowest_small(most_points)
        if level is None or level >= self._settled:
            return
        self._settled = level
        points, depths = self._points_in(self.boxes[level], level)
        points, depths = points[depths >= level], depths[depths >= level]
        top = int(depths.max(initial=level - 1))
        self._cut(level - 1)
        self.top = top
        start = level
        for depth in np.unique(depths).tolist():
            deep = points[depths >= depth]
            self.boxes[start] = Box(tuple(deep.min(axis=0).tolist()), tuple(deep.max(axis=0).tolist()))
            start = depth + 1

    def _lowest_small(self, most_points: int) -> int | None:
        """The lowest level whose box has at most so many points; box sizes fall as levels rise."""
        low, high, step = 0, None, 1
        probe = self.top
        while probe > low:
            self.refine([probe])
            if probe > self.top:  # it turned out to be empty, and so are those above
                high, probe = None, self.top
            elif self.boxes[probe].size <= most_points:
                high, probe, step = probe, max(probe - step, (low + probe) // 2), 2 * step
            else:
                low = probe
                probe = low if high is None else (low + high) // 2
        return high if high in self.boxes else None

    def _points_in(self, box: Box, least: int) -> tuple[IntArray, IntArray]:
        """All grid points of a box and their depths, exact from `least` on."""
        rest = np.arange(box.size, dtype=np.int64)
        columns = []
        for a, b in zip(box.low, box.high, strict=True):
            rest, place = np.divmod(rest, b - a + 1)
            columns.append(a + place)
        points = np.column_stack(columns)
        return points, self._levels.depths(points, least)

    def groups(self, lowest: int) -> list[tuple[Group, Box]]:
        """The levels lowest ... top as groups that share a box. The first holds the lowest level.

        `lowest` is 0 or a level with a box.
        """
        starts = sorted(level for level in self.boxes if level > lowest)
        ends = [level - 1 for level in starts] + [max(self.top, lowest)]
        first = self._best(lowest) if lowest in self.boxes else self._within
        boxes = [[first]] + [[part.box for part in self._parts(level)] for level in starts]
        return [
            (Group(start, end, box.size), box)
            for start, end, parts in zip([lowest, *starts], ends, boxes, strict=True)
            for box in parts
        ]

    def _parts(self, level: int) -> list[Slice]:
        """Disjoint boxes that together contain the level: its slices, unless a slanted box is smaller."""
        slices, best = self._slices.get(level, []), self._best(level)
        return slices if 0 < sum(part.box.size for part in slices) <= best.size else [Slice(best, 0)]

    def slice(self, lowest: int, half_epsilon: float, proposals: float, box_cost: float) -> None:
        """Cut boxes into slices, the heaviest first, while that pays off for a point that takes so many proposals.

        Each slice has certified ends of its own: near its ends a level is narrower than in the middle. The lowest
        level is left alone, and so are slanted boxes.
        """
        while self.needs_programs:
            found = self._heaviest(lowest, half_epsilon)
            if found is None or not found.share * proposals * _SAVED >= _SLICES * _SLICE_COST * box_cost:
                return  # not a number where epsilon is astronomical: no slices then
            level, parts = found.level, self._parts(found.level)
            part, others = parts[found.index], parts[: found.index] + parts[found.index + 1 :]
            fresh = self._sliced(level, part)
            after = sum(other.box.size for other in fresh)
            if after * _POOR[1] > part.box.size * _POOR[0]:  # in integers: no float holds the size of some
                fresh, after = [Slice(part.box, None)], part.box.size  # not worth a second look
            if not others + fresh:  # proven empty
                self._cut(level - 1)
                continue
            self._slices[level] = others + fresh
            proposals *= 1.0 - found.share * (1.0 - after / part.box.size)

    def _heaviest(self, lowest: int, half_epsilon: float) -> _Heaviest | None:
        """The box that most proposals come from, among those that may be cut, and their share."""
        starts = sorted(level for level in self.boxes if level > lowest)
        if not starts:
            return None
        ends = [level - 1 for level in starts[1:]] + [self.top]
        weights: list[float] = []
        places: list[tuple[int, int, Slice]] = []
        for start, end in zip(starts, ends, strict=True):
            count = half_epsilon * (end - start + 1)
            weight = half_epsilon * end + (math.log(-math.expm1(-count)) if count else 0.0)
            for i, part in enumerate(self._parts(start)):
                weights.append(weight + math.log(part.box.size))
                places.append((start, i, part))
        heaviest = max(weights)
        total = math.fsum(math.exp(weight - heaviest) for weight in weights)
        whole = [i for i, (*_, part) in enumerate(places) if part.column is not None and part.box.basis is None]
        if not whole:
            return None
        best = max(whole, key=lambda i: weights[i])
        return _Heaviest(*places[best][:2], math.exp(weights[best] - heaviest) / total)

    def _sliced(self, level: int, part: Slice) -> list[Slice]:
        """Certified boxes of what a level has in equal slices of a box."""
        assert part.column is not None
        column = part.column
        low, high = part.box.low[column], part.box.high[column]
        count = min(_SLICES, high - low + 1)
        ends = [low + (high - low + 1) * i // count for i in range(count + 1)]
        following = (column + 1) % self._levels.d
        found = []
        for first, behind in pairwise(ends):
            slab = Box(_with(part.box.low, column, first), _with(part.box.high, column, behind - 1))
            box = self._tightened(level, self._hints.supports([level], self._units, slab)[0], slab)
            if box.size:
                found.append(Slice(box, following))
        return found

    def _certify(self, level: int, supports: Sequence[tuple[Multipliers, Multipliers]]) -> Box:
        below = max((known for known in self.boxes if known < level), default=None)
        return self._tightened(
            level, supports, self._along_axes(level).meet(self._within if below is None else self.boxes[below])
        )

    def _tightened(self, level: int, supports: Sequence[tuple[Multipliers, Multipliers]], box: Box) -> Box:
        """The part of a box that can hold points of the level."""
        # A residual costs its size times the known box, so a box that shrank much can shrink again.
        shrunk = True
        while shrunk and supports and box.size:
            tighter = box.meet(self._bounded(level, supports, box))
            shrunk = tighter.size * 2 < box.size
            box = tighter
        return box

    def _bounded(self, level: int, supports: Sequence[tuple[Multipliers, Multipliers]], known: Box) -> Box:
        return Box(*self._ranges(level, self._units, supports, known))

    def _ranges(
        self,
        level: int,
        objectives: Sequence[Sequence[int]],
        supports: Sequence[tuple[Multipliers, Multipliers]],
        known: Box,
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Certified smallest and largest value of each objective on the level."""
        low, high = [], []
        for objective, (largest, smallest) in zip(objectives, supports, strict=True):
            high.append(upper_bound(self._levels, level, objective, largest, known))
            low.append(-upper_bound(self._levels, level, [-c for c in objective], smallest, known))
        return tuple(low), tuple(high)

    def _along_axes(self, level: int) -> Box:
        """What the directions parallel to an axis say, without any program."""
        low, high = list(self._within.low), list(self._within.high)
        smallest, largest = self._levels.offsets(level)
        for row, j, entry in self._axes:
            # smallest <= entry * y_j <= largest, with entry > 0 after a change of sign
            a, b = int(smallest[row]), int(largest[row])
            if entry < 0:
                a, b = -b, -a
            low[j] = max(low[j], -(-a // abs(entry)))
            high[j] = min(high[j], b // abs(entry))
        return Box(tuple(low), tuple(high))

    def _find_top(self) -> int:
        """The highest level not proven empty, by Newton's method from above.

        The multipliers that prove a level empty also prove others below it; the lowest of those gives the next
        level to ask about.
        """
        top = self._levels.highest_unbroken()
        while top and self.needs_programs:
            multipliers = self._hints.emptiness(top)
            if not self._proves_empty(top, multipliers):
                break
            # `high` is proven empty, `low` will not be; questions about levels that are not held take long.
            low, high = min(self._levels.held, top - 1), top
            while low and self._proves_empty(low, multipliers):
                low, high = max(0, 2 * low - top), low
            while low + 1 < high:
                middle = (low + high) // 2
                if self._proves_empty(middle, multipliers):
                    high = middle
                else:
                    low = middle
            top = high - 1
        return top

    def _proves_empty(self, level: int, multipliers: Multipliers) -> bool:
        return proves_empty(self._levels, level, multipliers, self._along_axes(level))

    def _cut(self, top: int) -> None:
        """Levels above `top` turned out to be empty."""
        self.top = top
        self.boxes = {level: box for level, box in self.boxes.items() if level <= top}
        self._slanted = {level: box for level, box in self._slanted.items() if level <= top}
        self._slices = {level: parts for level, parts in self._slices.items() if level <= top}


def _with(ends: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*ends[:column], value, *ends[column + 1 :])


def _safe(box: Box) -> bool:
    """Whether every point of a slanted box can be computed in 64 bits, inside the public box or not."""
    largest = [max(abs(a), abs(b)) for a, b in zip(box.low, box.high, strict=True)]
    inverse = box.basis.inverse if box.basis else ()
    return max(largest) < LIMIT and all(
        max(map(abs, row)) < LIMIT and sum(abs(a) * z for a, z in zip(row, largest, strict=True)) < LIMIT
        for row in inverse
    )


def _axis_rows(levels: LevelSets) -> list[tuple[int, int, int]]:
    """(row, column, entry) of each direction parallel to an axis."""
    parallel = np.flatnonzero(np.count_nonzero(levels.directions, axis=1) == 1)
    columns = np.argmax(levels.directions[parallel] != 0, axis=1)
    return [(int(row), int(j), int(levels.directions[row, j])) for row, j in zip(parallel, columns, strict=True)]
