"""Grid points near a parallelepiped, drawn as rounded real points: for slanted sets on fine grids.

A *frame* is d independent integer vectors, the rows of V. For a real point s, uniform in a box low <= s < low + widths,
x = V^-1 s is uniform in a parallelepiped, and y = floor(x + 1/2) is a grid point. If V maps the unit cube around y into
the box, then y comes with probability |det V| / prod widths (docs/proofs/boxem.md, section 4, "Parallelepipeds").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.exact.matrices import Integers, integers, inverse
from tukeydp.randomness import Bits

_WORD = 64  # bits of each coordinate that are revealed at a time
_FINE = 192  # bits behind the point of the rounded inverse: what is left out is below any rounding of floats


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows of an invertible integer matrix, and its inverse: numerators over one denominator, the determinant."""

    matrix: IntArray
    numerators: list[list[int]]
    denominator: int

    def turned(self, directions: IntArray) -> Integers:
        """Directions v in the frame, v V^-1, in units of 2^-192: off by at most the sum of the sizes of v's entries."""
        rounded = [[(entry << _FINE) // self.denominator for entry in row] for row in self.numerators]
        return np.asarray(integers(directions) @ integers(rounded))

    @property
    def unit(self) -> float:
        return 2.0**-_FINE


def frame_of(matrix: IntArray) -> Frame | None:
    """The frame of these rows; None if they are dependent."""
    inverted = inverse(integers(matrix))
    return None if inverted is None else Frame(matrix, inverted[0].tolist(), inverted[1])


@dataclass(frozen=True, eq=False)
class Parallelepiped:
    """The real points whose products with the rows of a frame are in a box: low <= s < low + widths.

    Every wanted grid point has its whole unit cube in there.
    """

    frame: Frame
    low: tuple[int, ...]
    widths: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """One over the probability with which any wanted point is drawn and kept: the volume, rounded up."""
        return -(-math.prod(self.widths) // self.frame.denominator)

    def point(self, known: Sequence[int], have: int, more: Bits) -> list[int]:
        """The grid point of a uniform real point in [0, 1)^d, of whose coordinates so many bits are known."""
        known = list(known)
        while True:
            known, have = [(bits << _WORD) | more.take(_WORD) for bits in known], have + _WORD
            starts = [(a << have) + w * bits for a, w, bits in zip(self.low, self.widths, known, strict=True)]
            ends = [self._between(row, starts, have) for row in self.frame.numerators]
            if all(first == last for first, last in ends):
                return [first for first, _ in ends]

    def corner(self) -> list[Fraction]:
        """Where the low corner is."""
        return [Fraction(top, self.frame.denominator) for top in self._corner]

    def at_corner(self, directions: IntArray) -> tuple[IntArray, IntArray]:
        """Products of directions with the low corner, rounded down and up; they have to fit in words."""
        exact = (integers(directions) @ integers(self._corner)).tolist()
        first = [value // self.frame.denominator for value in exact]
        last = [-(-value // self.frame.denominator) for value in exact]
        return np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)

    @cached_property
    def _corner(self) -> list[int]:
        """The low corner times the denominator."""
        return [sum(entry * a for entry, a in zip(row, self.low, strict=True)) for row in self.frame.numerators]

    def keeps(self, more: Bits) -> bool:
        """Whether a wanted point is kept: nearly always, the size is an integer."""
        return more.below(self.size * self.frame.denominator) < math.prod(self.widths)

    def _between(self, row: Sequence[int], starts: Sequence[int], have: int) -> tuple[int, int]:
        """The least and the largest that a coordinate of the grid point can be."""
        first = last = sum(entry * start for entry, start in zip(row, starts, strict=True))
        first += sum(entry * width for entry, width in zip(row, self.widths, strict=True) if entry < 0)
        last += sum(entry * width for entry, width in zip(row, self.widths, strict=True) if entry > 0)
        one = self.frame.denominator << have
        return (2 * first + one) // (2 * one), (2 * last + one) // (2 * one)


def around(frame: Frame, smallest: Sequence[int], largest: Sequence[int]) -> Parallelepiped:
    """Around the unit cubes of all grid points whose products with the frame are between these, ends included."""
    margins = [-(-sum(map(abs, row)) // 2) for row in frame.matrix.tolist()]
    low = tuple(a - margin for a, margin in zip(smallest, margins, strict=True))
    return Parallelepiped(frame, low, tuple(b + margin - a for a, b, margin in zip(low, largest, margins, strict=True)))
