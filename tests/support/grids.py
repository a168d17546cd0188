"""Small grids around the origin."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.trusted.rows import Grid


def centred_grid(extent: int, d: int) -> Grid:
    """The whole points with coordinates of at most `extent` in size."""
    return Grid((Fraction(-extent),) * d, (Fraction(1),) * d, (2 * extent,) * d)
