"""How many grid points a convex set has, counted slice by slice up to a limit.

The set is inside a region of finitely many halfspaces; whether a point of the region belongs to it is decided one by
one, and each point that does not gives halfspaces that shrink the region. A slice is the set's points in a plane of the
grid; slices of slices end in lines. On a line the set is an interval: its ends are searched, what is between is not
looked at. Planes are chosen so that few of them meet the region, in a reduced basis of the grid (Lenstra 1983): thin
and slanted sets take no longer than round ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.lattice import log_gain, reduced_basis
from tukeydp.exact.linear_programs import Region, maximum
from tukeydp.exact.matrices import Integers, integers
from tukeydp.sizes.grid_points import units

# None if the point is in the set; else normals and offsets of halfspaces that hold the set, one of them without it.
Decide = Callable[[Integers], tuple[Integers, Integers] | None]
# How much smaller, in logarithm, a box in another basis must be to be worth it. Speed only.
_WORTHWHILE = 0.5


def count_in_slices(limit: int, region: Region, decide: Decide | None = None) -> int:
    """How many grid points the set has, or `limit` if there are more. Exact; without `decide` it is the region."""
    return _Count(limit, region, decide).total()


@dataclass(frozen=True, eq=False)
class _Slice:
    """The grid points origin + frame z, z of k whole numbers, with further halfspaces of z.

    `back` takes them back: back (frame z) = z. So no grid point of the slice's plane is left out.
    """

    origin: Integers
    frame: Integers
    back: Integers
    normals: Integers
    offsets: Integers

    @property
    def k(self) -> int:
        return self.frame.shape[1]

    def along(self, matrix: Integers, inverted: Integers) -> _Slice:
        """The same in coordinates matrix z, for a unimodular matrix."""
        return _Slice(self.origin, self.frame @ inverted, matrix @ self.back, self.normals @ inverted, self.offsets)

    def bounded(self, column: int, sign: int, offset: int) -> _Slice:
        """Those with sign z[column] <= offset."""
        row = integers([[sign * int(j == column) for j in range(self.k)]])
        normals, offsets = np.concatenate([self.normals, row]), np.append(self.offsets, offset)
        return _Slice(self.origin, self.frame, self.back, normals, offsets)

    def at(self, column: int, value: int) -> _Slice:
        """Those with z[column] = value, in the other coordinates."""
        others = [j for j in range(self.k) if j != column]
        return _Slice(
            self.origin + self.frame[:, column] * value,
            self.frame[:, others],
            self.back[others],
            self.normals[:, others],
            self.offsets - self.normals[:, column] * value,
        )


class _Count:
    """One count: the region as far as it is known, and the slices that wait."""

    def __init__(self, limit: int, region: Region, decide: Decide | None) -> None:
        d = region.d
        self._limit, self._decide, self._d = limit, decide, d
        self._normals, self._offsets = region.normals, region.offsets
        self._high, self._low = region.offsets[-2 * d : -d], -region.offsets[-d:]
        unit = integers(np.eye(d, dtype=np.int64))
        self._waiting = [_Slice(integers([0] * d), unit, unit, integers(np.empty((0, d))), integers([]))]

    def total(self) -> int:
        found = 0
        while self._waiting and found < self._limit:
            part = self._waiting.pop()
            if part.k == 1:
                found += self._on_line(part, self._limit - found)
            else:
                self._cut(part)
        return found

    def _cut(self, part: _Slice) -> None:
        """The middle slice of a part, and what is on either side of it."""
        found = self._thinnest(part)
        if found is None:
            return
        part, column, low, high = found
        middle = (low + high) // 2
        if low < middle:
            self._waiting.append(part.bounded(column, 1, middle - 1))
        if middle < high:
            self._waiting.append(part.bounded(column, -1, -middle - 1))
        self._waiting.append(part.at(column, middle))

    def _thinnest(self, part: _Slice) -> tuple[_Slice, int, int, int] | None:
        """The part in coordinates of which one takes few values, that one, and between which numbers it is."""
        measured = self._measured(part)
        if measured is None:
            return None
        ends, corners = measured
        if min(b - a for a, b in ends) > 1:
            centred = corners - corners.mean(axis=0)
            shape = centred.T @ centred
            basis = reduced_basis(shape)
            if basis is not None and log_gain(basis, shape) > _WORTHWHILE:
                part = part.along(integers(list(basis.matrix)), integers(list(basis.inverse)))
                measured = self._measured(part)
                if measured is None:
                    return None
                ends, _ = measured
        column = min(range(part.k), key=lambda j: ends[j][1] - ends[j][0])
        return part, column, *ends[column]

    def _measured(self, part: _Slice) -> tuple[list[tuple[int, int]], FloatArray] | None:
        """Least and largest value of each coordinate, and where they are; None if there is no grid point."""
        region = self._region(part)
        ends, corners = [], []
        for objective in units(part.k):
            best = maximum(region, objective)
            if best is None:
                return None
            ends.append(math.floor(best.value))
            away = best.numerators - region.centre * best.denominator
            corners.append([int(c) / best.denominator for c in away])
        both = [(-b, a) for a, b in zip(ends[::2], ends[1::2], strict=True)]
        return None if any(a > b for a, b in both) else (both, np.array(corners))

    def _region(self, part: _Slice) -> Region:
        """The region in the part's coordinates, and a box that holds it."""
        normals, offsets = self._in_coordinates(part)
        low, high = part.back * self._low, part.back * self._high
        here = part.back @ part.origin
        bounds = np.maximum(low, high).sum(axis=1) - here, here - np.minimum(low, high).sum(axis=1)
        box = integers(np.eye(part.k, dtype=np.int64))
        centre = (bounds[0] - bounds[1]) // 2
        scale = np.maximum((bounds[0] + bounds[1]).astype(np.float64), 1.0)
        return Region(np.concatenate([normals, box, -box]), np.concatenate([offsets, *bounds]), centre, scale)

    def _in_coordinates(self, part: _Slice) -> tuple[Integers, Integers]:
        normals = np.concatenate([self._normals @ part.frame, part.normals])
        return normals, np.concatenate([self._offsets - self._normals @ part.origin, part.offsets])

    def _on_line(self, line: _Slice, needed: int) -> int:
        """How many points of a line are in the set, or `needed` if there are more."""
        ends = self._ends(line)
        if ends is None or self._decide is None:
            return 0 if ends is None else min(needed, ends[1] - ends[0] + 1)
        inside = (ends[0] + ends[1]) // 2
        while not self._holds(line, inside):
            ends = self._ends(line)
            if ends is None:
                return 0
            inside = (ends[0] + ends[1]) // 2
        above = self._farthest(line, inside, 1, needed - 1)
        return above + 1 + self._farthest(line, inside, -1, needed - 1 - above)

    def _farthest(self, line: _Slice, inside: int, sign: int, most: int) -> int:
        """How many points beyond one inside are so, to one side, at most so many; sets are convex: all between are."""
        known, refuted = 0, most + 1
        middle = False
        while True:
            ends = self._ends(line)
            if ends is None:
                raise AssertionError("a halfspace that holds the set excludes a point of it")
            refuted = min(refuted, (ends[1] - inside if sign > 0 else inside - ends[0]) + 1)
            if refuted == known + 1:
                return known
            # The end of the region is likely the set's own; if not, halves bound the number of looks.
            there = (known + refuted) // 2 if middle else refuted - 1
            if self._holds(line, inside + sign * there):
                known = there
            else:
                refuted = there
            middle = not middle

    def _ends(self, line: _Slice) -> tuple[int, int] | None:
        """First and last point of a line in the region; None if there is none."""
        normals, offsets = self._in_coordinates(line)
        slopes = normals[:, 0]
        up, down = slopes > 0, slopes < 0
        if (offsets[slopes == 0] < 0).any():
            return None
        high = (offsets[up] // slopes[up]).min()
        low = -(offsets[down] // -slopes[down]).min()
        return (int(low), int(high)) if low <= high else None

    def _holds(self, line: _Slice, z: int) -> bool:
        """Whether a point of a line is in the set; if not, the region shrinks."""
        assert self._decide is not None
        found = self._decide(line.origin + line.frame[:, 0] * z)
        if found is None:
            return True
        self._normals = np.concatenate([found[0], self._normals])
        self._offsets = np.concatenate([found[1], self._offsets])
        return False
