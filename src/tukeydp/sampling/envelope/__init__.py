"""Certified boxes around level sets: the sets the sampler draws from.

Invariant: the box of a level contains every grid point of the public box whose depth is at least that level; where it
has been cut into slices, these are disjoint, and one of them contains the point; a box along the axes lies inside the
public box, a slanted one may extend beyond it; no grid point of the public box has a depth above `top`. The hints only
decide how tight this is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box, Union
from tukeydp.exact.lattice import Basis
from tukeydp.exact.level_draw import Group
from tukeydp.exact.parallelepipeds import Parallelepiped
from tukeydp.exact.tilted_boxes import TiltedBox
from tukeydp.sampling.branches import Tree, planted
from tukeydp.sampling.envelope.boxes import Certifier, better_basis, fits_in_words
from tukeydp.sampling.envelope.breaks import Break, breaks
from tukeydp.sampling.envelope.frames import Frames
from tukeydp.sampling.envelope.settle import base_level, lowest_small, spanned_boxes
from tukeydp.sampling.envelope.slices import Shape, Slice, Stretch, heaviest, log_weights, worthwhile_slices
from tukeydp.sampling.envelope.tilts import tilted_box
from tukeydp.sampling.envelope.top import highest_level
from tukeydp.sampling.hints import Hints
from tukeydp.sampling.simplex_hints import MANY_COLUMNS

# A public box of few points is looked at as a whole, if that takes no more than so many ranks: faster than the linear
# programs that find the level to begin with. Speed only, but it decides what a seeded draw gives.
_ALL_RANKS = 2**22
# Logs of ratios, speed only: how much smaller than a box another shape must be, as proposals from it take longer; and
# how much lighter than the heaviest a group may be before its box is left as it is.
_WORTH_SHAPING, _LIGHT = math.log(16), 14.0
_SLOWER = 8  # proposals from a parallelepiped in the time of one from a tilted box


class Envelope:
    """Boxes at some levels; each serves its own level and all those above it up to the next."""

    def __init__(self, levels: LevelSets, within: Box, hints: Hints, highest: int | None = None) -> None:
        """`highest` is a level above which no point is wanted."""
        self._levels, self._within, self._hints = levels, within, hints
        self._certifier = Certifier(levels, within, hints)
        self.needs_programs = self._certifier.needs_programs
        self.boxes: dict[int, Box] = {}
        self._slanted: dict[int, Box] = {}
        self._slices: dict[int, list[Slice]] = {}
        self._shapes: dict[int, Shape] = {}
        self._shaped_by: Callable[[int], Shape] | None = None
        self._frames = Frames(self._certifier)
        self._boxy: set[int] = set()  # levels for which no other shape was much smaller than their box
        self._bases: list[Basis] = []
        self._looked_at: set[int] = set()  # levels for which a basis was looked for
        self.tree: Tree | None = None
        self._barren = False  # no tree can be planted
        self._settled = levels.rows + 1  # from here up, every grid point has been looked at
        self._highest = levels.rows if highest is None else highest
        self.top = min(self._highest, highest_level(self._certifier))

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """Levels from which on a column is far narrower than just below them."""
        return breaks(self._certifier)

    def lacks(self, wanted: Sequence[int]) -> bool:
        """Whether a box is missing at some of these levels."""
        return any(level not in self.boxes for level in wanted)

    def log_size(self, level: int) -> float:
        return math.log(self._best(level).size)

    def groups(self, lowest: int) -> list[tuple[Group, Shape | Union]]:
        """The levels lowest ... top as groups that share a box. The first holds the lowest level.

        `lowest` is 0 or a level with a box.
        """
        if self.tree is not None and self.branched(lowest):
            # The loop that draws from a tree knows no shapes but boxes; below its base there is little to draw.
            below = [self._from_box(*group) for group in self._boxed_groups(lowest, self.tree.base - 1)]
            return [*below, *self.tree.groups(self.top)]
        return [*self._boxed_groups(lowest, max(self.top, lowest))]

    def _boxed_groups(self, lowest: int, highest: int) -> list[tuple[Group, Shape]]:
        """The levels lowest ... highest, drawn from the boxes of levels."""
        first = self._best(lowest) if lowest in self.boxes else self._within
        stretches = [stretch for stretch in self._stretches(lowest) if stretch.start <= highest]
        end = stretches[0].start - 1 if stretches else highest
        return [(Group(lowest, end, first.size), first)] + [
            (Group(stretch.start, min(stretch.end, highest), part.box.size), part.box)
            for stretch in stretches
            for part in stretch.parts
        ]

    def _from_box(self, group: Group, shape: Shape) -> tuple[Group, Box]:
        """A group drawn from its level's box, where it has another shape."""
        if isinstance(shape, Box):
            return group, shape
        box = self._best_box(group.lowest)
        return replace(group, size=box.size), box

    def refine(self, wanted: Sequence[int]) -> None:
        """Certify boxes at the wanted levels that have none yet."""
        fresh = sorted(set(wanted) - self.boxes.keys())
        before = set(self.boxes)
        for level, supports in zip(fresh, self._certifier.supports(fresh), strict=True):
            if level <= self.top:
                below = max((known for known in self.boxes if known < level), default=None)
                known = self._within if below is None else self.boxes[below]
                box = self._certifier.box(level, supports, known)
                if box.size == 0:
                    self._lower_top(level - 1)
                else:
                    self.boxes[level] = box
        for basis in self._bases:
            self._slant(self.boxes.keys() - before, basis)

    def rebase(self) -> None:
        """Look for a basis of the grid in which boxes fit much better than along the axes.

        Once for the level in the middle; whenever asked again, for the largest box that none was looked for.
        """
        waiting = sorted(self.boxes.keys() - self._looked_at)
        if not waiting or not self.needs_programs:
            return
        middle = sorted(self.boxes)[len(self.boxes) // 2]
        level = max(waiting, key=self.log_size) if self._looked_at else middle
        self._looked_at.add(level)
        basis = better_basis(self._hints, level)
        if basis is not None and basis not in self._bases:
            self._bases.append(basis)
            self._slant(self.boxes, basis)

    def settle(self, most_points: int) -> None:
        """Look at every grid point of the largest level box that has at most `most_points` of them.

        Sets the top to the deepest grid point and the boxes from there down to what the points span.
        """
        if self._within.size <= most_points and self._levels.rows * len(self._levels.directions) <= _ALL_RANKS:
            self.boxes.setdefault(1, self._within)
            level: int | None = 1
        else:
            level = lowest_small(self, most_points)
        if level is None or level >= self._settled:
            return
        self._settled = level
        top, boxes = spanned_boxes(self._levels, self.boxes[level], level)
        self._lower_top(level - 1)
        self.top = min(top, self._highest)
        self.boxes.update((level, box) for level, box in boxes.items() if level <= self.top)

    def branch(self, lowest: int, half_epsilon: float, programs: int, cost: float) -> None:
        """Branch and bound on the levels that matter, until so many programs were solved or it would not pay off; where
        there are many columns and few grid points, lists of points come first.

        `cost` is what a program takes, in proposals. Sets the top to the deepest that a grid point can be.
        """
        listed = False
        if self.tree is None and not self._barren:
            base = base_level(self, self._levels, self._within, lowest, half_epsilon)
            if base is not None:
                root = self.boxes[base]
                self.tree = planted(self._levels, root, base, self.top, half_epsilon)
            self._barren = self.tree is None
            if self.tree is not None and self._levels.d > MANY_COLUMNS:
                middle = self._levels.sample[len(self._levels.sample) // 2]
                listed = self.tree.list_points(np.clip(middle, root.low, root.high))
        if self.tree is not None:
            if not listed:
                self.tree.grow(programs, cost)
            self._lower_top(min(self.top, max(self.tree.top, self.tree.base - 1)))

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
        groups, weights = self._boxed_groups(lowest, max(self.top, lowest)), self._weights(lowest, half_epsilon)
        heavy = {group.lowest: weight for (group, _), weight in zip(groups, weights, strict=True)}
        waiting = [
            level
            for level, weight in heavy.items()
            if weight > max(weights) - _LIGHT and level in self.boxes and level not in self._shapes
        ]
        if not waiting:
            return False
        if self._shaped_by is None:
            self._shaped_by = self._better_than_a_box(max(waiting, key=lambda level: heavy[level]))
        if self._shaped_by is not None:
            self._shapes.update((level, self._shaped_by(level)) for level in waiting)
        return self._shaped_by is not None

    def _better_than_a_box(self, level: int) -> Callable[[int], Shape] | None:
        """What makes a shape much smaller than the level's box, if anything does."""
        if level in self._boxy:
            return None
        # Proposals from tilted boxes take longer.
        best = self._framed if self._framed(level).size < _SLOWER * self._tilted(level).size else self._tilted
        if math.log(self._best_box(level).size) - math.log(best(level).size) >= _WORTH_SHAPING:
            return best
        self._boxy.add(level)
        return None

    def _tilted(self, level: int) -> TiltedBox:
        """The smaller of a tilted box and a tilted parallelepiped."""
        shapes: list[Box | Parallelepiped] = [self._best_box(level), *self._frames.around(level, self.boxes[level])]
        tilted = [tilted_box(self._certifier, level, shape, self.boxes[level]) for shape in shapes]
        return min(tilted, key=lambda shape: shape.size)

    def _framed(self, level: int) -> Box | Parallelepiped:
        """A parallelepiped, or the box if that is smaller."""
        shapes: list[Box | Parallelepiped] = [self._best_box(level), *self._frames.around(level, self.boxes[level])]
        return min(shapes, key=lambda shape: shape.size)

    def _weights(self, lowest: int, half_epsilon: float) -> list[float]:
        """About the logs of the weights of all groups, drawn from the boxes of levels."""
        return log_weights(
            [
                Stretch(group.lowest, group.highest, [Slice(box, None)])
                for group, box in self._boxed_groups(lowest, max(self.top, lowest))
            ],
            half_epsilon,
        )

    def slice(self, lowest: int, half_epsilon: float, proposals: float, box_cost: float) -> None:
        """Cut boxes into slices, the heaviest first, while that pays off for a point that takes so many proposals.

        The lowest level is left alone, and so are slanted boxes.
        """
        while self.needs_programs:
            found = heaviest(self._stretches(lowest), half_epsilon)
            if found is None or not found.worth_slicing(proposals, box_cost):
                return
            parts = self._parts(found.level)
            part, others = parts[found.index], parts[: found.index] + parts[found.index + 1 :]
            fresh = worthwhile_slices(self._certifier, found.level, part)
            if not others + fresh:  # proven empty
                self._lower_top(found.level - 1)
                continue
            self._slices[found.level] = others + fresh
            proposals *= 1.0 - found.share * (1.0 - sum(other.box.size for other in fresh) / part.box.size)

    def _best(self, level: int) -> Shape:
        """What a level is drawn from, if it is not sliced."""
        return self._shapes.get(level) or self._best_box(level)

    def _best_box(self, level: int) -> Box:
        """The smaller of the two boxes of a level, along the axes and slanted."""
        return min(self.boxes[level], self._slanted.get(level, self.boxes[level]), key=lambda box: box.size)

    def _parts(self, level: int) -> list[Slice]:
        """Disjoint boxes that contain the level together: its slices, or a slanted box if smaller, or a tilted one."""
        if level in self._shapes:
            return [Slice(self._shapes[level], None)]
        slices, best = self._slices.get(level, []), self._best(level)
        return slices if 0 < sum(part.box.size for part in slices) <= best.size else [Slice(best, 0)]

    def _stretches(self, lowest: int) -> list[Stretch]:
        """The levels from the first box above `lowest` to the top."""
        starts = sorted(level for level in self.boxes if level > lowest)
        ends = [*(level - 1 for level in starts[1:]), self.top]
        return [Stretch(start, end, self._parts(start)) for start, end in zip(starts, ends, strict=False)]

    def _slant(self, levels: Iterable[int], basis: Basis) -> None:
        """Certify boxes in the basis at these levels, and keep those that are smaller than others."""
        wanted = sorted(levels)
        hints = self._hints.supports(wanted, basis.matrix) if wanted else []
        for level, supports in zip(wanted, hints, strict=True):
            if level <= self.top:
                box = self._certifier.slanted_box(level, basis, supports, self.boxes[level])
                if box.size == 0:
                    self._lower_top(level - 1)
                elif fits_in_words(box):
                    self._slanted[level] = min(self._slanted.get(level, box), box, key=lambda other: other.size)

    def _lower_top(self, top: int) -> None:
        """Forget the levels above `top`, which turned out to be empty."""
        self.top = top
        self.boxes = {level: box for level, box in self.boxes.items() if level <= top}
        self._slanted = {level: box for level, box in self._slanted.items() if level <= top}
        self._slices = {level: parts for level, parts in self._slices.items() if level <= top}
        self._shapes = {level: shape for level, shape in self._shapes.items() if level <= top}
