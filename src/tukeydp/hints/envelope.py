"""Which covers the levels get: boxes, slices, bases, trees and other shapes, as far as they pay off.

Covers are proven by `trusted/covers.py` whatever is decided here: this is about speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from tukeydp.hints.boxes import Certifier, better_basis
from tukeydp.hints.branches import Tree, planted
from tukeydp.hints.breaks import Break, breaks
from tukeydp.hints.frames import Frames
from tukeydp.hints.linear_programs import Hints
from tukeydp.hints.slices import Sliced, Stretch, heaviest, log_weights, worthwhile_slices
from tukeydp.hints.small_boxes import base_level, lowest_small
from tukeydp.hints.tilts import tilted_box
from tukeydp.hints.top import highest_level
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Cover, Covers, Rung, Shape
from tukeydp.trusted.exponential import groups_of
from tukeydp.trusted.lanes import MANY_COLUMNS
from tukeydp.trusted.laws import Group
from tukeydp.trusted.matrices import Basis

# A public box of few points is looked at as a whole, if that takes no more than so many ranks: faster than the linear
# programs that find the level to begin with. Speed only, but it decides what a seeded draw gives.
_ALL_RANKS = 2**22
# Logs of ratios, speed only: how much smaller than a box another shape must be, as proposals from it take longer; and
# how much lighter than the heaviest a group may be before its box is left as it is.
_WORTH_SHAPING, _LIGHT = math.log(16), 14.0
_SLOWER = 8  # proposals from a parallelepiped in the time of one from a tilted box


class Envelope:
    """Covers at some levels; each serves its own level and all those above it up to the next."""

    def __init__(self, made: Covers, hints: Hints) -> None:
        self.made, self._hints = made, hints
        self._levels, self._within = made.view, made.within
        self._certifier = Certifier(made, hints)
        self.needs_programs = self._certifier.needs_programs
        self.covers: dict[int, Cover] = {}  # boxes along the axes
        self._slanted: dict[int, Cover] = {}
        self._slices: dict[int, Sliced] = {}
        self._shapes: dict[int, Cover] = {}
        self._shaped_by: Callable[[int], Cover] | None = None
        self._frames = Frames(self._certifier)
        self._boxy: set[int] = set()  # levels for which no other shape was much smaller than their box
        self._bases: list[Basis] = []
        self._looked_at: set[int] = set()  # levels for which a basis was looked for
        self.tree: Tree | None = None
        self._branched: list[Rung] = []
        self._barren = False  # no tree can be planted
        self._settled = self._levels.rows + 1  # from here up, every grid point has been looked at
        highest_level(made, hints)

    @property
    def top(self) -> int:
        """The highest level not proven empty."""
        return self.made.top

    @property
    def boxes(self) -> dict[int, Box]:
        """The boxes along the axes."""
        return {level: cover.hull for level, cover in self.covers.items()}

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """Levels from which on a column is far narrower than just below them."""
        return breaks(self.made)

    def lacks(self, wanted: Sequence[int]) -> bool:
        """Whether a box is missing at some of these levels."""
        return any(level not in self.covers for level in wanted)

    def log_size(self, level: int) -> float:
        return math.log(self._best(level).size)

    def rungs(self, lowest: int) -> list[Rung]:
        """What the levels lowest ... top are drawn from.

        `lowest` is 0 or a level with a box.
        """
        if self.tree is not None and self.branched(lowest):
            # The loop that draws from a tree knows no shapes but boxes; below its base there is little to draw.
            below = [self._from_box(*rung) for rung in self._boxed(lowest) if rung[0] < self.tree.base]
            return [*below, *self._branched]
        return self._boxed(lowest)

    def groups(self, lowest: int) -> list[tuple[Group, Shape]]:
        """The same as groups of levels that share a box. The first holds the lowest level."""
        return groups_of(self.made, lowest, self.rungs(lowest), many=0)

    def _boxed(self, lowest: int) -> list[Rung]:
        """The levels from `lowest` up, drawn from the covers of levels."""
        first = self._best(lowest) if lowest in self.covers else self.made.whole()
        return [(lowest, first), *((stretch.start, stretch.sliced.cover) for stretch in self._stretches(lowest))]

    def _from_box(self, level: int, cover: Cover) -> Rung:
        """A level drawn from its box, where it has another shape."""
        if all(isinstance(part, Box) for part in cover.parts):
            return level, cover
        return level, self._best_box(level)

    def refine(self, wanted: Sequence[int]) -> None:
        """Have boxes made at the wanted levels that have none yet."""
        fresh = sorted(set(wanted) - self.covers.keys())
        before = set(self.covers)
        for level, supports in zip(fresh, self._certifier.supports(fresh), strict=True):
            if level <= self.top:
                below = max((known for known in self.covers if known < level), default=None)
                cover = self._certifier.box(level, supports, None if below is None else self.covers[below])
                if cover.size == 0:
                    self._forget_empty()
                else:
                    self.covers[level] = cover
        for basis in self._bases:
            self._slant(self.covers.keys() - before, basis)

    def rebase(self) -> None:
        """Look for a basis of the grid in which boxes fit much better than along the axes.

        Once for the level in the middle; whenever asked again, for the largest box that none was looked for.
        """
        waiting = sorted(self.covers.keys() - self._looked_at)
        if not waiting or not self.needs_programs:
            return
        middle = sorted(self.covers)[len(self.covers) // 2]
        level = max(waiting, key=self.log_size) if self._looked_at else middle
        self._looked_at.add(level)
        basis = better_basis(self._hints, level)
        if basis is not None and basis not in self._bases:
            self._bases.append(basis)
            self._slant(self.covers, basis)

    def settle(self, most_points: int) -> None:
        """Look at every grid point of the largest level box that has at most `most_points` of them.

        Sets the top to the deepest grid point and the boxes from there down to what the points span.
        """
        if self._within.size <= most_points and self._levels.rows * len(self._levels.directions) <= _ALL_RANKS:
            self.covers.setdefault(1, self.made.whole())
            level: int | None = 1
        else:
            level = lowest_small(self, most_points)
        if level is None or level >= self._settled:
            return
        self._settled = level
        rungs = self.made.looked_at(self.covers[level])
        self._forget_above(level - 1)
        self.covers.update((level, cover) for level, cover in rungs if level <= self.top)

    def branch(self, lowest: int, half_epsilon: float, programs: int, cost: float) -> None:
        """Branch and bound on the levels that matter, until so many programs were solved or it would not pay off; where
        there are many columns and few grid points, lists of points come first.

        `cost` is what a program takes, in proposals. Sets the top to the deepest that a grid point can be.
        """
        listed = False
        if self.tree is None and not self._barren:
            base = base_level(self, self._levels, self._within, lowest, half_epsilon)
            if base is not None:
                root = self.covers[base].hull
                self.tree = planted(self.made, self.covers[base], half_epsilon)
            self._barren = self.tree is None
            if self.tree is not None and self._levels.d > MANY_COLUMNS:
                middle = self._levels.sample[len(self._levels.sample) // 2]
                listed = self.tree.list_points(np.clip(middle, root.low, root.high))
        if self.tree is not None:
            if not listed:
                self.tree.grow(programs, cost)
            self._branched = self.tree.rungs()
            self._forget_empty()

    def branched(self, lowest: int) -> bool:
        """Whether proposals come from the tree: where it makes fewer of them than boxes."""
        if self.tree is None or self.tree.base > self.top:
            return False
        return self.tree.log_weight < max(self._weights(lowest, self.tree.half_epsilon))

    def reshape(self, lowest: int, half_epsilon: float) -> bool:
        """Other shapes than boxes for the levels that proposals come from, if one is much smaller for the heaviest of
        them: tilted boxes or parallelepipeds. Whether there are more of them now.

        Once there is one, all levels that are not light get one: proposals from both would be slow.
        """
        if not self.needs_programs:
            return False
        groups, weights = groups_of(self.made, lowest, self._boxed(lowest), many=0), self._weights(lowest, half_epsilon)
        heavy = {group.lowest: weight for (group, _), weight in zip(groups, weights, strict=True)}
        waiting = [
            level
            for level, weight in heavy.items()
            if weight > max(weights) - _LIGHT and level in self.covers and level not in self._shapes
        ]
        if not waiting:
            return False
        if self._shaped_by is None:
            self._shaped_by = self._better_than_a_box(max(waiting, key=lambda level: heavy[level]))
        if self._shaped_by is not None:
            self._shapes.update((level, self._shaped_by(level)) for level in waiting)
        return self._shaped_by is not None

    def _better_than_a_box(self, level: int) -> Callable[[int], Cover] | None:
        """What makes a shape much smaller than the level's box, if anything does."""
        if level in self._boxy:
            return None
        # Proposals from tilted boxes take longer.
        best = self._framed if self._framed(level).size < _SLOWER * self._tilted(level).size else self._tilted
        if math.log(self._best_box(level).size) - math.log(best(level).size) >= _WORTH_SHAPING:
            return best
        self._boxy.add(level)
        return None

    def _tilted(self, level: int) -> Cover:
        """The smaller of a tilted box and a tilted parallelepiped."""
        shapes = [self._best_box(level), *self._frames.around(level, self.covers[level])]
        return min((tilted_box(self._certifier, shape) for shape in shapes), key=lambda cover: cover.size)

    def _framed(self, level: int) -> Cover:
        """A parallelepiped, or the box if that is smaller."""
        shapes = [self._best_box(level), *self._frames.around(level, self.covers[level])]
        return min(shapes, key=lambda cover: cover.size)

    def _weights(self, lowest: int, half_epsilon: float) -> list[float]:
        """About the logs of the weights of all groups, drawn from the covers of levels."""
        groups = groups_of(self.made, lowest, self._boxed(lowest), many=0)
        return log_weights([(group.lowest, group.highest, part.size) for group, part in groups], half_epsilon)

    def slice(self, lowest: int, half_epsilon: float, proposals: float, box_cost: float) -> None:
        """Cut boxes into slices, the heaviest first, while that pays off for a point that takes so many proposals.

        The lowest level is left alone, and so are slanted boxes.
        """
        while self.needs_programs:
            found = heaviest(self._stretches(lowest), half_epsilon)
            if found is None or not found.worth_slicing(proposals, box_cost):
                return
            before = self._parts(found.level)
            after = worthwhile_slices(self._certifier, before, found.index)
            if not after.cover.parts:  # proven empty
                self._forget_empty()
                continue
            self._slices[found.level] = after
            part = before.cover.parts[found.index].size
            fresh = after.cover.size - (before.cover.size - part)
            proposals *= 1.0 - found.share * (1.0 - fresh / part)

    def _best(self, level: int) -> Cover:
        """What a level is drawn from, if it is not sliced."""
        return self._shapes.get(level) or self._best_box(level)

    def _best_box(self, level: int) -> Cover:
        """The smaller of the two boxes of a level, along the axes and slanted."""
        return min(self.covers[level], self._slanted.get(level, self.covers[level]), key=lambda cover: cover.size)

    def _parts(self, level: int) -> Sliced:
        """Disjoint boxes that contain the level together: its slices, or a slanted box if smaller, or a tilted one."""
        if level in self._shapes:
            return Sliced(self._shapes[level], (None,))
        best, slices = self._best(level), self._slices.get(level)
        return slices if slices is not None and 0 < slices.cover.size <= best.size else Sliced(best, (0,))

    def _stretches(self, lowest: int) -> list[Stretch]:
        """The levels from the first box above `lowest` to the top."""
        starts = sorted(level for level in self.covers if level > lowest)
        ends = [*(level - 1 for level in starts[1:]), self.top]
        return [Stretch(start, end, self._parts(start)) for start, end in zip(starts, ends, strict=False)]

    def _slant(self, levels: Iterable[int], basis: Basis) -> None:
        """Have boxes made in the basis at these levels, and keep those that are smaller than others."""
        wanted = sorted(levels)
        hints = self._hints.supports(wanted, basis.matrix) if wanted else []
        for level, supports in zip(wanted, hints, strict=True):
            if level <= self.top:
                cover = self.made.slanted(level, basis.matrix, supports, self.covers[level])
                if cover.size == 0:
                    self._forget_empty()
                elif isinstance(cover.parts[0], Box) and cover.parts[0].basis is not None:
                    self._slanted[level] = min(self._slanted.get(level, cover), cover, key=lambda other: other.size)

    def _forget_empty(self) -> None:
        """Forget the levels that turned out to be empty."""
        self._forget_above(self.top)

    def _forget_above(self, top: int) -> None:
        self.covers = {level: cover for level, cover in self.covers.items() if level <= top}
        self._slanted = {level: cover for level, cover in self._slanted.items() if level <= top}
        self._slices = {level: parts for level, parts in self._slices.items() if level <= top}
        self._shapes = {level: cover for level, cover in self._shapes.items() if level <= top}
