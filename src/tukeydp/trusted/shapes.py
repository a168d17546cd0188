"""Sets other than boxes to draw grid points from, of known size: parallelepipeds and tilted boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from tukeydp.trusted.bits import Bits
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.matrices import Integers, integers, inverse
from tukeydp.trusted.parameters import FloatArray, IntArray

# Grid points near a parallelepiped, drawn as rounded real points: for slanted sets on fine grids.
#
# A *frame* is d independent integer vectors, the rows of V. For a real point s, uniform in a box low <= s < low +
# widths, x = V^-1 s is uniform in a parallelepiped, and y = floor(x + 1/2) is a grid point. If V maps the unit cube
# around y into the box, then y comes with probability |det V| / prod widths (docs/proofs/boxem.md, section 4,
# "Parallelepipeds").

_WORD = 64  # bits of each coordinate that are revealed at a time
_INVERSE_BITS = 192  # bits behind the point of the rounded inverse: what is left out is below any rounding of floats


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows of an invertible integer matrix, and its inverse: numerators over one denominator, the determinant."""

    matrix: IntArray
    numerators: list[list[int]]
    denominator: int

    def turned(self, directions: IntArray) -> Integers:
        """Directions v in the frame, v V^-1, in units of 2^-192: off by at most the sum of the sizes of v's entries."""
        rounded = [[(entry << _INVERSE_BITS) // self.denominator for entry in row] for row in self.numerators]
        return np.asarray(integers(directions) @ integers(rounded))

    @property
    def unit(self) -> float:
        return 2.0**-_INVERSE_BITS


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


# Boxes whose points are not alike likely: for sets that fill a corner of their box and little else.
#
# Each column of a box is cut into cells. A cell is drawn with probability share / SHARES, then a point of it uniformly:
# so a point y is drawn with probability 1 / prod_j t_j(y), where t_j = SHARES * (points of its cell) / share. It is
# kept with probability prod_j t_j(y) / size, so that every point comes with probability 1 / size, provided that
#
#     prod_j t_j(y) <= size    for every point y that is wanted.
#
# Logarithms in steps, 2^(1/STEPS) each and rounded up, say so in integers: `heights` of cells, at most `highest` in all
# (docs/proofs/boxem.md, section 4, "Tilted boxes").

CELLS = 512  # in a column at most; with fewer the steps between them are coarse. Speed only
SHARE_BITS = 25  # enough for cells of little weight, few enough for half a word
SHARES = 2**SHARE_BITS
STEPS = 256  # to a factor of two: what is lost by rounding up is at most one step in a column for each of two roundings
_FINE = 64  # bits behind the point of powers of two that are no integers


@dataclass(frozen=True, eq=False)
class Cells:
    """One row a column: `starts` are the cells' first coordinates and, behind the last, one more; `ends` count shares.

    A column of few points has few cells; the rest of its row is empty cells without a share.
    """

    starts: IntArray
    ends: IntArray
    heights: IntArray

    def drawn(self, bits: Bits) -> list[int]:
        """A cell of each column."""
        return [int(np.searchsorted(ends, bits.take(SHARE_BITS), side="right")) - 1 for ends in self.ends]

    def uniform(self, chosen: Sequence[int], bits: Bits) -> list[int]:
        """Coordinates in these cells, all alike likely."""
        first = [(int(starts[c]), int(starts[c + 1])) for starts, c in zip(self.starts, chosen, strict=True)]
        return [a + bits.below(b - a) for a, b in first]


@dataclass(frozen=True, eq=False)
class TiltedBox:
    """A box or a parallelepiped with cells. No wanted point has heights that sum up to more than `highest`; nor has any
    real point of its unit cube, where points are rounded.
    """

    box: Box | Parallelepiped
    cells: Cells
    highest: int

    @property
    def volume(self) -> int:
        """Of the image of a unit cube: one but for parallelepipeds."""
        return self.box.frame.denominator if isinstance(self.box, Parallelepiped) else 1

    @cached_property
    def size(self) -> int:
        """One over the probability with which any wanted point is drawn and kept."""
        return -(-power(self.highest) // self.volume)

    def point(self, chosen: Sequence[int], words: Sequence[int] | None, bits: Bits) -> list[int]:
        """A point of these cells, all alike likely; real coordinates start with the words, where these are known."""
        if isinstance(self.box, Box):
            return self.box.point(self.cells.uniform(chosen, bits))
        first = [(int(starts[c]), int(starts[c + 1])) for starts, c in zip(self.cells.starts, chosen, strict=True)]
        cell = Parallelepiped(self.box.frame, tuple(a for a, _ in first), tuple(b - a for a, b in first))
        return cell.point([0] * len(first), 0, bits) if words is None else cell.point(words, 64, bits)

    def keeps(self, chosen: Sequence[int], word: int, more: Bits) -> bool:
        """Whether a wanted point of these cells is kept, by a uniform real whose first 64 bits are `word`."""
        columns = range(len(chosen))
        ends, starts = self.cells.ends, self.cells.starts
        share = math.prod(int(ends[j, c + 1] - ends[j, c]) for j, c in zip(columns, chosen, strict=True))
        points = math.prod(int(starts[j, c + 1] - starts[j, c]) for j, c in zip(columns, chosen, strict=True))
        kept, of = points * SHARES ** len(chosen), share * self.size * self.volume
        bits = 64
        while True:
            if (word + 1) * of <= kept << bits:
                return True
            if word * of >= kept << bits:
                return False
            word, bits = (word << 64) | more.take(64), bits + 64


def cut(box: Box | Parallelepiped, rates: FloatArray) -> Cells:
    """Cells of about equal width; shares fall by e^-rate from the low end of a column to its high end: a hint."""
    d = len(rates)
    starts = np.zeros((d, CELLS + 1), dtype=np.int64)
    ends = np.full((d, CELLS + 1), SHARES, dtype=np.int64)
    heights = np.zeros((d, CELLS), dtype=np.int64)
    for j, (low, points, rate) in enumerate(zip(box.low, widths_of(box), rates, strict=True)):
        count = min(CELLS, points)
        edges = np.array([low + points * c // count for c in range(count + 1)], dtype=np.int64)
        shares = _shares(count, float(rate))
        starts[j, : count + 1], starts[j, count + 1 :] = edges, low + points
        ends[j, 0] = 0
        ends[j, 1 : count + 1] = np.cumsum(shares)
        widths = np.diff(edges)
        logs = {width: log_ceiling(SHARES * width) for width in set(widths.tolist())}
        heights[j, :count] = np.array([logs[width] for width in widths.tolist()]) - _log_floors(shares)
    return Cells(starts, ends, heights)


def widths_of(box: Box | Parallelepiped) -> tuple[int, ...]:
    """Points in each column of a box; lengths of the edges that a parallelepiped is the image of."""
    return box.widths if isinstance(box, Parallelepiped) else tuple(map(_points, box.low, box.high))


def _points(low: int, high: int) -> int:
    return high - low + 1


def upright(box: Box | Parallelepiped) -> TiltedBox:
    """A box whose points are about alike likely."""
    cells = cut(box, np.zeros(len(box.low)))
    return TiltedBox(box, cells, int(cells.heights.max(axis=1).sum()))


def least_ends(cells: Cells, slopes: Sequence[int], shift: int, real: bool = False) -> int:
    """The least b such that the heights of every point y sum up to at most (b + sum_j slopes_j y_j) / 2^shift; of every
    real point, if asked for.
    """
    total = 0
    for j, slope in enumerate(slopes):
        count = int(np.count_nonzero(np.diff(cells.ends[j])))
        first, last = cells.starts[j, :count].tolist(), (cells.starts[j, 1 : count + 1] - (not real)).tolist()
        heights = cells.heights[j, :count].tolist()
        # Over a cell the right side is least at the end where the slope is not.
        total += max((h << shift) - slope * y for h, y in zip(heights, first if slope >= 0 else last, strict=True))
    return total


def power(steps: int) -> int:
    """An integer that is at least 2^(steps / STEPS), and hardly more; `steps` at least 0."""
    whole, part = divmod(steps, STEPS)
    return -(-(_powers()[part] << whole) >> _FINE)


def log_ceiling(value: int) -> int:
    """The least number of steps whose power of two is at least `value` >= 1."""
    return int((value**STEPS - 1).bit_length())


def _log_floors(values: IntArray) -> IntArray:
    """The largest numbers of steps whose powers of two are at most these values, from 1 to SHARES."""
    return np.asarray(np.searchsorted(_ceilings(), values, side="right") - 1)


@cache
def _ceilings() -> IntArray:
    """ceil(2^(i / STEPS)) for all i up to that of SHARES: an integer is at least 2^(i / STEPS) exactly if it is so."""
    return np.array([power(i) for i in range(SHARE_BITS * STEPS + 1)], dtype=np.int64)


@cache
def _powers() -> tuple[int, ...]:
    """2^(_FINE + i / STEPS) for i < STEPS, rounded up: square roots of square roots."""
    found = []
    for i in range(STEPS):
        value = 1 << (_FINE * STEPS + i)
        for _ in range(STEPS.bit_length() - 1):
            value = math.isqrt(value - 1) + 1
        found.append(value)
    return tuple(found)


def _shares(count: int, rate: float) -> IntArray:
    """Of SHARES, one at least for each cell, and the others so that they fall by e^-rate in all."""
    places = (np.arange(count) + 0.5) / count
    weights = np.exp(-rate * places + min(rate, 0.0))
    weights /= weights.sum()
    shares: IntArray = 1 + np.floor((SHARES - 2 * count) * weights).astype(np.int64)
    shares[np.argmax(shares)] += SHARES - shares.sum()
    return shares
