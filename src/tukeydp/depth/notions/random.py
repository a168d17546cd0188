"""Directions uniform on the sphere."""

from __future__ import annotations

from dataclasses import dataclass

from tukeydp.depth.notions.drawn import Drawn
from tukeydp.trusted.directions import unit_vectors
from tukeydp.trusted.parameters import FloatArray


@dataclass(frozen=True)
class Random(Drawn):
    """The d axes and `directions` directions uniform on the sphere of grid coordinates.

    Parameters
    ----------
    directions
        How many besides the axes. None: `default_directions(d)`.
    axes
        False leaves the axes out: the random Tukey depth of the paper. With the axes the error in each column
        scales with that column's own spread.
    seed
        Fixes the directions. None draws fresh public ones for each call.

    Privacy
    -------
    The directions are drawn before and without the data, from randomness of their own, and are published.
    """

    def units(self, count: int, d: int, key: bytes) -> FloatArray:
        return unit_vectors(count, d, key)
