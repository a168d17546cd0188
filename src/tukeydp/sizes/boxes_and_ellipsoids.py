"""Sizes in any number of columns, by tight boxes and John ellipsoids (docs/proofs/rem.md, sections 5 and 6)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from tukeydp.exact.linear_programs import maximum
from tukeydp.sizes.boxed import SLACK, Boxed
from tukeydp.sizes.ellipsoid_certificate import Ellipsoid
from tukeydp.sizes.grid_points import units
from tukeydp.sizes.john_ellipsoid import largest_ellipsoid
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.laws import rounded_down
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, integers

# Rationals below and above pi: wrong digits would break the bounds.
_PI = (Fraction(314159265358979323846, 10**20), Fraction(314159265358979323847, 10**20))
_ROOT_BITS = 64  # of a square root, rounded down and up. Fewer make the bound above larger, and REM refuse more


class BoxesAndEllipsoids(Boxed):
    """Any number of columns: largest inscribed ellipsoids.

    Above: the largest one in the set grown by half a cell, times what a simplex exceeds its own by, or the tight box,
    whichever is less. Below: the largest one in the set shrunk by half a cell.
    """

    def __init__(self, levels: LevelSets, within: Box, base: int) -> None:
        super().__init__(levels, within, base)
        self._ellipsoids: dict[int, Ellipsoid] = {}

    def _above(self, level: int, boxed: Fraction) -> Fraction:
        d = self._regions.d
        # The ellipsoid of the grown set holds that of any smaller, shrunk one: often enough to see that it is no use.
        if boxed <= _excess(d)[0] * self._below(max(level, self._base)):
            return boxed
        return min(boxed, _excess(d)[1] * self._grown(level))

    def _below(self, level: int) -> Fraction:
        """A little less than the volume of the largest ellipsoid in the set shrunk by half a cell."""
        box = None if level > self.top else self._box(min(level, self._base))
        if box is None:
            return Fraction(0)
        ends = integers([2 * a - 2 for a in box.low]), integers([2 * b + 2 for b in box.high])
        found = largest_ellipsoid(self._half_cells(level, -1), SLACK / 2, lambda: ends, self._nearest(level))
        if found is None:
            return Fraction(0)
        self._ellipsoids[level] = found
        return rounded_down(_ball(self._regions.d, _PI[0]) * found.determinant)

    def _grown(self, level: int) -> Fraction:
        """A little more than the volume of the largest ellipsoid in the set grown by half a cell."""
        region = self._half_cells(level, +1)

        def ends() -> tuple[Integers, Integers]:
            best = [maximum(region, objective, self._bases.get(i)) for i, objective in enumerate(units(region.d))]
            high, low = ([math.ceil(end.value) for end in best[i::2] if end is not None] for i in range(2))
            return -integers(low), integers(high)

        found = largest_ellipsoid(region, SLACK / 2, ends, self._nearest(level))
        assert found is not None  # a cell around any point of the level set is inside
        return _ball(self._regions.d, _PI[1]) * (1 + SLACK / 2) * found.determinant

    def _nearest(self, level: int) -> Ellipsoid | None:
        """That of the nearest level."""
        if not self._ellipsoids:
            return None
        return self._ellipsoids[min(self._ellipsoids, key=lambda known: abs(known - level))]


@cache
def _excess(d: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above the volume of a regular simplex over that of its largest ball.

    No convex body exceeds its largest ellipsoid by more (Ball 1991, Volume ratios and a reverse isoperimetric
    inequality): sqrt(d^d (d+1)^(d+1)) / d! over the volume of the unit ball, 7.6 for d = 4, 5.8e3 for d = 10.
    """
    square = d**d * (d + 1) ** (d + 1) << (2 * _ROOT_BITS)
    root = math.isqrt(square)
    whole = math.factorial(d) << _ROOT_BITS
    # _ball is in half cells: the unit ball has 2^d times as much.
    least, most = (2**d * _ball(d, pi) for pi in _PI)
    return Fraction(root, whole) / most, Fraction(root + 1, whole) / least


def _ball(d: int, pi: Fraction) -> Fraction:
    """The volume of a ball of half cells with radius one, in cells."""
    half = d // 2
    if d % 2 == 0:
        return pi**half / (math.factorial(half) * 2**d)
    return 2 * math.factorial(half) * (4 * pi) ** half / (math.factorial(d) * 2**d)
