"""Certified sizes of level sets for REM's test, counted in grid points (docs/proofs/rem.md, sections 5 to 7).

Invariant: `upper` and `lower` of a level are within a factor e^slack of two functions of the level set alone, one above
and one below the number of its grid points, both of which grow with the set. `lower` is zero exactly if its function
is. Where `exact`, both are the number of grid points itself.

    columns     module                  above                             below, or grid points up to 4096
    1           level_sizes             grid points                       all grid points
    2           polygons                grid points                       all grid points
    3           polyhedra               tight box or volume               volume
    4 ...       ellipsoids              tight box or larger John ellipsoid  John ellipsoid
    exact depth exact_depth_sizes       that of some public directions    copy of a fixed polytope
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, runtime_checkable

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.polygons import Polygons
from tukeydp.trusted.sizes.polyhedra import Polyhedra


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


@runtime_checkable
class RoughlyMeasured(Protocol):
    """Sizes that cost less if they need not be so close."""

    def lower_at_most(self, level: int) -> Fraction:
        """A number that `lower` is not above, at least cost."""
        ...

    def lower_between(self, level: int, apart: Fraction) -> tuple[Fraction, Fraction]:
        """Two numbers with `lower` between them, if possible a factor of 1 + apart from each other; 0 only if it is."""
        ...


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
