"""Coordinates in which a dataset is of size one, whatever its units and wherever it lies."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.scale import middle_range
from tukeydp.errors import ParameterError

# Largest coordinate, in units of a column's spread: the square of a larger one is no float.
_FAR = 1e150


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows in coordinates of size one."""

    rows: FloatArray
    centre: FloatArray
    scale: FloatArray
    z: FloatArray

    def exactly(self, z: FloatArray) -> list[Fraction]:
        """A point in data units, without rounding."""
        return [
            Fraction(c) + Fraction(s) * Fraction(t)
            for c, s, t in zip(self.centre.tolist(), self.scale.tolist(), z.tolist(), strict=True)
        ]

    def units(self, z: FloatArray) -> FloatArray:
        return self.centre + self.scale * z

    def inwards(self, points: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return (points / self.scale) - (self.centre / self.scale)


def frame(rows: FloatArray) -> Frame:
    """The middle value of each column, and the first positive range of its middle half, three quarters, ..., all."""
    n = len(rows)
    ordered = np.sort(rows, axis=0)
    scale = middle_range(ordered / 4)  # so that no difference overflows
    scale[scale == 0] = np.maximum(np.abs(ordered[0, scale == 0]), 1.0)
    scale = np.ldexp(1.0, np.clip(np.frexp(scale)[1] + 2, -1000, 1000))
    centre = ordered[n // 2]
    with np.errstate(all="ignore"):
        # Dividing by a power of two is exact and keeps the difference from overflowing.
        z = rows / scale - centre / scale
    if rows.shape[1] > 1 and not np.abs(z).max() <= _FAR:
        rule = f"must not reach farther than {_FAR:g} times the range of a column's middle half"
        raise ParameterError("x", rule, "a row beyond that")
    return Frame(rows, centre, scale, z)
