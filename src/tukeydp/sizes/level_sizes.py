"""Certified sizes of level sets for REM's test, counted in grid points (docs/proofs/rem.md, sections 5 and 6).

Invariant: `upper` and `lower` of a level are within a factor e^slack of two functions of the level set alone, one above
and one below the number of its grid points, both of which grow with the set. `lower` is zero exactly if its function
is. Where `exact`, both are the number of grid points itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Protocol

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.scale import centre_and_scale
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box
from tukeydp.exact.linear_programs import Region, maximum
from tukeydp.exact.matrices import Integers, integers
from tukeydp.sizes.grid_points import count_up_to, tight_ends, units
from tukeydp.sizes.inscribed_ellipsoids import Shape, largest_ellipsoid
from tukeydp.sizes.polygons import grid_points_in_polygon
from tukeydp.sizes.polyhedra import volume

SLACK = Fraction(1, 2**20)
# The lower function counts up to this many grid points one by one, for columns of few different values.
_COUNTED = 4096
_PI = (Fraction(314159265358979323846, 10**20), Fraction(314159265358979323847, 10**20))


class Sizes(Protocol):
    """Sizes of the level sets of one dataset. Not private: all of this is the data."""

    @property
    def exact(self) -> bool: ...

    @property
    def slack(self) -> Fraction: ...

    @property
    def top(self) -> int:
        """No level above this has a grid point."""
        ...

    def upper(self, level: int) -> Fraction: ...

    def lower(self, level: int) -> Fraction: ...


class Intervals:
    """One column: level sets are intervals, and counting is subtracting."""

    exact = True
    slack = Fraction(0)

    def __init__(self, levels: LevelSets, within: Box) -> None:
        self._levels, self._within = levels, within
        self.top = levels.highest_unbroken()

    def upper(self, level: int) -> Fraction:
        low, high = self._within.low[0], self._within.high[0]
        if level > self._levels.rows:
            return Fraction(0)
        if level > 0:
            smallest, largest = self._levels.offsets(level)
            for v, a, b in zip(
                self._levels.directions[:, 0].tolist(), smallest.tolist(), largest.tolist(), strict=True
            ):
                if v:
                    a, b = (a, b) if v > 0 else (-b, -a)
                    low, high = max(low, -(-a // abs(v))), min(high, b // abs(v))
        return Fraction(max(0, high - low + 1))

    lower = upper


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


class Polygons:
    """Two columns: grid points are counted exactly, edge by edge."""

    exact = True
    slack = Fraction(0)

    def __init__(self, levels: LevelSets, within: Box) -> None:
        self._regions = Regions(levels, within)
        self.top = self._regions.top
        self._bases: dict[int, tuple[int, ...]] = {}

    def upper(self, level: int) -> Fraction:
        ends = None if level > self.top else tight_ends(self._regions.at(level), self._bases)
        if ends is None:
            return Fraction(0)
        return Fraction(grid_points_in_polygon(self._regions.at(level), ends[0][0], ends[1][0]))

    lower = upper


class _Boxed(ABC):
    """The tight box along the axes above, counting up to `_COUNTED` below, and something better where there is more."""

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
        if inscribed >= _COUNTED:
            return inscribed
        box = self._box(level)
        counted = 0 if box is None else count_up_to(_COUNTED, self._regions.at(level), box)
        return max(inscribed, Fraction(counted))

    @abstractmethod
    def _above(self, level: int, boxed: Fraction) -> Fraction:
        """The upper size of a level that is not empty and whose box has so many grid points."""

    @abstractmethod
    def _below(self, level: int) -> Fraction:
        """The lower size of a level with more than `_COUNTED` grid points."""

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


class Polyhedra(_Boxed):
    """Three columns: the volume of the set grown by half a cell above, of the set shrunk by half a cell below."""

    def _above(self, level: int, boxed: Fraction) -> Fraction:
        return min(boxed, volume(self._half_cells(level, +1))[1] / 8)

    def _below(self, level: int) -> Fraction:
        return Fraction(0) if level > self.top else volume(self._half_cells(level, -1))[0] / 8


class BoxesAndEllipsoids(_Boxed):
    """Any number of columns: largest inscribed ellipsoids.

    Above: d^d times the largest one in the set grown by half a cell, or the tight box, whichever is less. Below: the
    largest one in the set shrunk by half a cell.
    """

    def __init__(self, levels: LevelSets, within: Box, base: int) -> None:
        super().__init__(levels, within, base)
        self._shapes: dict[int, Shape] = {}

    def _above(self, level: int, boxed: Fraction) -> Fraction:
        d = self._regions.d
        # The ellipsoid of the grown set holds that of any smaller, shrunk one: often enough to see that it is no use.
        if boxed <= d**d * self._below(max(level, self._base)):
            return boxed
        return min(boxed, d**d * self._grown(level))

    def _below(self, level: int) -> Fraction:
        """A little less than the volume of the largest ellipsoid in the set shrunk by half a cell."""
        box = None if level > self.top else self._box(min(level, self._base))
        if box is None:
            return Fraction(0)
        low, high = integers([2 * a - 2 for a in box.low]), integers([2 * b + 2 for b in box.high])
        found = largest_ellipsoid(self._half_cells(level, -1), SLACK / 2, low, high, self._nearest_shape(level))
        if found is None:
            return Fraction(0)
        ellipsoid, self._shapes[level] = found
        return rounded_down(_ball(self._regions.d, _PI[0]) * ellipsoid.determinant)

    def _grown(self, level: int) -> Fraction:
        """A little more than the volume of the largest ellipsoid in the set grown by half a cell."""
        region = self._half_cells(level, +1)
        ends = [maximum(region, objective) for objective in units(region.d)]
        high, low = ([best.value for best in ends[i::2] if best is not None] for i in range(2))
        found = largest_ellipsoid(
            region,
            SLACK / 2,
            integers([-math.ceil(v) for v in low]),
            integers([math.ceil(v) for v in high]),
            self._nearest_shape(level),
        )
        assert found is not None  # a cell around any point of the level set is inside
        return _ball(self._regions.d, _PI[1]) * (1 + SLACK / 2) * found[0].determinant

    def _nearest_shape(self, level: int) -> Shape | None:
        if not self._shapes:
            return None
        return self._shapes[min(self._shapes, key=lambda known: abs(known - level))]


def _ball(d: int, pi: Fraction) -> Fraction:
    """The volume of a ball of half cells with radius one, in cells."""
    half = d // 2
    if d % 2 == 0:
        return pi**half / (math.factorial(half) * 2**d)
    return 2 * math.factorial(half) * (4 * pi) ** half / (math.factorial(d) * 2**d)


def rounded_down(value: Fraction, bits: int = 128) -> Fraction:
    """The value with its leading bits only."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - bits
    if shift >= 0:
        return Fraction((value.numerator // (value.denominator << shift)) << shift)
    return Fraction((value.numerator << -shift) // value.denominator, 1 << -shift)


def sizes_of(levels: LevelSets, within: Box, base: int) -> Sizes:
    """Counts in one and two columns, volumes in three, boxes and ellipsoids beyond."""
    if levels.d == 1:
        return Intervals(levels, within)
    if levels.d == 2:
        return Polygons(levels, within)
    return bounds_of(levels, within, base)


def bounds_of(levels: LevelSets, within: Box, base: int) -> Polyhedra | BoxesAndEllipsoids:
    """Bounds in any number of columns."""
    return Polyhedra(levels, within, base) if levels.d == 3 else BoxesAndEllipsoids(levels, within, base)
