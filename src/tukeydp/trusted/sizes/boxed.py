"""What sizes in three and more columns share: the tight box above, counting grid points below."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.sizes.grid_points import count_up_to, tight_ends
from tukeydp.trusted.sizes.linear_programs import Region, centre_and_scale


class Regions:
    """The polytopes of the levels, within the public box."""

    def __init__(self, levels: LevelSets, within: Box) -> None:
        self._levels = levels
        self.d = levels.d
        self.top = levels.highest_unbroken()
        units = np.eye(levels.d, dtype=np.int64)
        self.normals = integers(np.vstack([levels.directions, -levels.directions, units, -units]))
        self._bounds = integers([*within.high, *(-a for a in within.low)])
        centre, self.scale = centre_and_scale(levels.sample)
        self.centre = integers(centre)

    def at(self, level: int) -> Region:
        low, high = self._levels.offsets(level)
        offsets = np.concatenate([integers(high), -integers(low), self._bounds])
        return Region(self.normals, offsets, self.centre, self.scale)


# tau of the proof, section 3. Public, and fixed before any data: the tests discount by it. Larger costs strength of the
# test, smaller costs time.
SLACK = Fraction(1, 2**20)
# Grid points that the lower size counts one by one, for columns of few different values. It is part of the function
# psi of the proof, section 5: public and the same for all data. Larger costs time.
COUNTED = 4096


class Boxed(ABC):
    """The tight box along the axes above, counting up to `COUNTED` below, and something better where there is more."""

    exact = False
    slack = SLACK

    def __init__(self, levels: LevelSets, within: Box, base: int) -> None:
        """`base` is the lowest level whose `lower` is wanted."""
        self._regions, self._base = Regions(levels, within), base
        self.top = self._regions.top
        self._sizes = np.abs(self._regions.normals).sum(axis=1)
        self._bases: dict[int, tuple[int, ...]] = {}
        self._boxes: dict[int, Box | None] = {}

    @property
    def place(self) -> tuple[Integers, FloatArray]:
        """About where the level sets are, and how large: a hint."""
        return self._regions.centre, self._regions.scale

    def upper(self, level: int) -> Fraction:
        box = self._box(level)
        return Fraction(0) if box is None else self._above(level, Fraction(box.size))

    def lower(self, level: int) -> Fraction:
        inscribed = self._below(level)
        if inscribed >= COUNTED:
            return inscribed
        box = self._box(level)
        counted = 0 if box is None else count_up_to(COUNTED, self._regions.at(level), box)
        return max(inscribed, Fraction(counted))

    @abstractmethod
    def _above(self, level: int, boxed: Fraction) -> Fraction:
        """The upper size of a level that is not empty and whose box has so many grid points."""

    @abstractmethod
    def _below(self, level: int) -> Fraction:
        """The lower size of a level with more than `COUNTED` grid points."""

    def _box(self, level: int) -> Box | None:
        """The tight box, its ends rounded to grid points inside; None if the level set is empty."""
        if level not in self._boxes:
            self._boxes[level] = self._tight_box(level)
        return self._boxes[level]

    def _tight_box(self, level: int) -> Box | None:
        if level > self.top:
            return None
        ends = tight_ends(self._regions.at(level), self._bases)
        return None if ends is None else Box(*ends)

    def _half_cells(self, level: int, sign: int) -> Region:
        """The region moved outwards or inwards by half a cell, in coordinates of half cells."""
        region = self._regions.at(level)
        moved = 2 * region.offsets + sign * self._sizes
        return Region(region.normals, moved, 2 * region.centre, 2.0 * region.scale)
