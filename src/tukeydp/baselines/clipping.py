"""Public regions that rows are moved into, one by one, and the noised mean of what lies there.

A row becomes integers: its place in the region, in steps of 2^-30 of the region's size. That a row is inside is checked
in integers, so the sensitivity of a sum of rows holds for the numbers the program computes. A row with a missing cell
counts at the centre, unless a public value takes the cell's place before (`filled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.baselines.noise import Noise
from tukeydp.trusted.parameters import Bounds, FloatArray, IntArray, ParameterError, positive_rational, show
from tukeydp.trusted.rows import bounded_grid, per_column

# Steps in half the size of a region. Squares of such numbers, and sums of 2^32 of them, fit in 64 bits. **More would
# overflow, and with it the bound on the sensitivity goes.** Fewer would round rows more coarsely, harmlessly.
STEPS = 2**30
# Sizes of regions, in the columns' units, for which no product of public numbers overflows a float. Accuracy only.
_SMALLEST, _LARGEST = Fraction(1, 10**100), Fraction(10**100)
# Where cells are clipped first, in sizes of the region: beyond every region, and its square still is a float. A larger
# one would make lengths infinite, and move such rows to the centre instead of the edge.
_FAR = 2.0**500
# Largest number that is released, in the columns' units: the range of floats. Only noise beyond all measure gets there.
_LARGEST_RELEASED = Fraction(10**300)


class ClippingRegion(Protocol):
    """A public set with a centre and a size for each column: `centre + size * w` is in it for the w it contains."""

    @property
    def centre(self) -> tuple[Fraction, ...]: ...

    @property
    def sizes(self) -> tuple[Fraction, ...]: ...

    @property
    def bounds(self) -> Bounds | None:
        """Lower and upper ends of a box; None for other regions."""
        ...

    @property
    def squared_diameter(self) -> int:
        """Of the integer image, in steps."""
        ...

    @property
    def radius(self) -> float:
        """Largest Euclidean length of a w."""
        ...

    def clipped(self, w: FloatArray) -> FloatArray:
        """Rows of w moved into the region, each by itself."""
        ...

    def integers(self, w: FloatArray) -> IntArray:
        """Clipped rows in whole steps, surely inside; missing ones at the centre."""
        ...


@dataclass(frozen=True)
class ClippingBox:
    """All |w_j| <= 1."""

    centre: tuple[Fraction, ...]
    sizes: tuple[Fraction, ...]

    @property
    def bounds(self) -> Bounds:
        ends = list(zip(self.centre, self.sizes, strict=True))
        return tuple(c - s for c, s in ends), tuple(c + s for c, s in ends)

    @property
    def squared_diameter(self) -> int:
        return len(self.centre) * (2 * STEPS) ** 2

    @property
    def radius(self) -> float:
        return float(np.sqrt(len(self.centre)))

    def clipped(self, w: FloatArray) -> FloatArray:
        return np.clip(w, -1.0, 1.0)

    def integers(self, w: FloatArray) -> IntArray:
        return _whole(self.clipped(w))


@dataclass(frozen=True)
class ClippingBall:
    """All w of Euclidean length at most 1; an ellipsoid where the sizes differ."""

    centre: tuple[Fraction, ...]
    sizes: tuple[Fraction, ...]

    @property
    def bounds(self) -> None:
        return None

    @property
    def squared_diameter(self) -> int:
        return (2 * STEPS) ** 2

    @property
    def radius(self) -> float:
        return 1.0

    def clipped(self, w: FloatArray) -> FloatArray:
        return w / np.maximum(1.0, lengths(w))[:, np.newaxis]

    def integers(self, w: FloatArray) -> IntArray:
        z = _whole(self.clipped(w))
        outside = (z * z).sum(axis=1) > STEPS**2
        while outside.any():  # by rounding, so by little
            z[outside] -= np.sign(z[outside])
            outside = (z * z).sum(axis=1) > STEPS**2
        return z


def relative(cells: FloatArray, region: ClippingRegion) -> FloatArray:
    """(cells - centre) / size, column by column; a row with a missing cell is missing altogether.

    Elementwise operations only, so what a row becomes cannot depend on other rows.
    """
    w = np.empty(cells.shape)
    with np.errstate(all="ignore"):
        for j, (centre, size) in enumerate(zip(region.centre, region.sizes, strict=True)):
            w[:, j] = np.clip((cells[:, j] - float(centre)) / float(size), -_FAR, _FAR)
    w[np.isnan(cells).any(axis=1)] = np.nan
    return w


def filled(cells: FloatArray, values: Sequence[Fraction]) -> FloatArray:
    """The cells with a public value of its column in the place of each missing one: a map of each row by itself."""
    return np.where(np.isnan(cells), np.array([float(v) for v in values]), cells)


def lengths(w: FloatArray) -> FloatArray:
    """Euclidean length of each row, added up column by column so that a row's result is its own."""
    squares = np.zeros(len(w))
    for j in range(w.shape[1]):
        squares += w[:, j] * w[:, j]
    return np.asarray(np.sqrt(squares))


@np.errstate(all="ignore")  # whatever the caller has set: no cell may raise or warn
def noised_mean(cells: FloatArray, region: ClippingRegion, noise: Noise, share: Fraction) -> list[Fraction]:
    """The mean of the rows, each moved into the region, with noise for one swap; in data units."""
    sums = region.integers(relative(cells, region)).sum(axis=0)
    noised = noise.add(sums.tolist(), squared_sensitivity=region.squared_diameter, share=share)
    steps = len(cells) * STEPS
    return [c + s * v / steps for c, s, v in zip(region.centre, region.sizes, noised, strict=True)]


def noise_deviations(n: int, region: ClippingRegion, noise: Noise, share: Fraction) -> FloatArray:
    """Standard deviations of the noise in `noised_mean`, one per column; public."""
    one = noise.standard_deviation(region.squared_diameter, share) / (n * STEPS)
    return one * np.array([float(s) for s in region.sizes])


def within(region: ClippingRegion, w: FloatArray) -> FloatArray:
    """A released w in data units, moved to the box around the region if noise has carried it outside."""
    sizes, middle = (np.array([float(v) for v in values]) for values in (region.sizes, region.centre))
    return np.asarray(middle + sizes * np.clip(w, -1.0, 1.0))


def public_region(
    d: int, *, bounds: Any, centre: Any, radius: Any, columns: Sequence[str] | None = None
) -> ClippingRegion:
    """The region that the caller names: a box by its bounds, or a ball by its radius and, unless 0, its centre."""
    if (bounds is None) == (radius is None):
        rule = "must be given: bounds=(lower, upper), what is known of the columns without looking, or radius= instead"
        raise ParameterError("bounds", rule, "neither" if bounds is None else "both")
    if bounds is not None:
        if centre is not None:
            raise ParameterError("centre", "must be left out when bounds are given", "both")
        grid = bounded_grid(d, bounds=bounds, resolution=None, columns=columns)
        halves = [s * c / 2 for s, c in zip(grid.step, grid.cells, strict=True)]
        for lower, half in zip(grid.lower, halves, strict=True):
            checked_size("bounds", max(half, abs(lower)))
            checked_size("bounds", half)
        return ClippingBox(tuple(a + h for a, h in zip(grid.lower, halves, strict=True)), tuple(halves))
    size = checked_size("radius", positive_rational("radius", radius))
    middle = per_column("centre", 0 if centre is None else centre, d, columns)
    if max(map(abs, middle)) > _LARGEST:
        raise ParameterError("centre", f"must be at most {float(_LARGEST)} in size", show(max(middle, key=abs)))
    return ClippingBall(tuple(middle), (size,) * d)


def checked_fill(
    d: int, fill: Any, region: ClippingRegion, columns: Sequence[str] | None = None
) -> tuple[Fraction, ...]:
    """What missing cells count as, one value per column: within the bounds, or within the radius of the centre."""
    values = per_column("fill", fill, d, columns)
    for value, centre, size in zip(values, region.centre, region.sizes, strict=True):
        if abs(value - centre) > size:
            raise ParameterError("fill", "must lie within the region that rows are moved into", show(value))
    return tuple(values)


def checked_size(parameter: str, size: Fraction) -> Fraction:
    if not _SMALLEST <= size <= _LARGEST:
        rule = f"must lie between {float(_SMALLEST)} and {float(_LARGEST)} in size"
        raise ParameterError(parameter, rule, show(size))
    return size


def nearest_float(value: Fraction) -> float:
    """Post-processing: the nearest float, also of numbers that only noise beyond all measure produces."""
    return float(max(-_LARGEST_RELEASED, min(value, _LARGEST_RELEASED)))


def _whole(w: FloatArray) -> IntArray:
    return np.rint(np.where(np.isnan(w), 0.0, w) * STEPS).astype(np.int64)
