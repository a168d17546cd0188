"""Sizes in two columns: the grid points in a polygon, exactly (docs/proofs/rem.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.sizes.boxed import Regions
from tukeydp.trusted.sizes.grid_points import tight_ends
from tukeydp.trusted.sizes.linear_programs import Region

Line = tuple[int, int, int]  # y <= (b - a x) / c, c > 0, as (a, b, c)


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


def grid_points_in_polygon(region: Region, first: int, last: int) -> int:
    """How many grid points a region in the plane has; `first` ... `last` are the columns x that it meets.

    In column x the points are those from the ceiling of its lower end to the floor of its upper end. Where there is no
    integer between the two ends the difference plus one is zero.
    """
    if first > last:
        return 0
    rows = [(int(a), int(c), int(b)) for (a, c), b in zip(region.normals, region.offsets, strict=True)]
    above = [(a, b, c) for a, c, b in rows if c > 0]
    below = [(a, b, -c) for a, c, b in rows if c < 0]  # -y <= (b - a x) / -c
    return _floors(above, first, last) + _floors(below, first, last) + last - first + 1


def _floors(lines: Sequence[Line], first: int, last: int) -> int:
    """The sum over x = first ... last of the floor of the lowest line."""
    total = 0
    for line, start, end in _lowest(lines, first, last):
        a, b, c = line
        total += floor_sum(end - start + 1, c, -a, b - a * start)
    return total


def _lowest(lines: Sequence[Line], first: int, last: int) -> list[tuple[Line, int, int]]:
    """Which line is lowest, from which x to which: by falling slope from left to right is by rising a / c."""
    ordered = sorted(lines, key=lambda line: (Fraction(line[0], line[2]), Fraction(line[1], line[2])))
    kept: list[Line] = []
    starts: list[int] = []
    for line in ordered:
        a, b, c = line
        if kept and Fraction(kept[-1][0], kept[-1][2]) == Fraction(a, c):
            continue  # parallel and not lower
        start = first
        while kept:
            # From the first x on at which the steeper line is lower.
            p, q, r = kept[-1]
            cross = Fraction(b * r - q * c, a * r - p * c)
            start = max(first, cross.numerator // cross.denominator + 1)
            if start > starts[-1]:
                break
            kept.pop()
            starts.pop()
            start = first
        if start <= last:
            kept.append(line)
            starts.append(start)
    ends = [s - 1 for s in starts[1:]] + [last]
    return list(zip(kept, starts, ends, strict=True))


def floor_sum(n: int, m: int, a: int, b: int) -> int:
    """The sum of floor((a i + b) / m) over i = 0 ... n - 1, by Euclid's algorithm.

    >>> floor_sum(4, 10, 6, 3), sum((6 * i + 3) // 10 for i in range(4))
    (3, 3)
    """
    total = 0
    sign = 1
    while n > 0:
        total += sign * (n * (n - 1) // 2 * (a // m) + n * (b // m))
        a, b = a % m, b % m
        # Count the grid points under the rest of the line by columns in the place of rows.
        top = (a * (n - 1) + b) // m
        if not top:
            break
        # It is n top less the sum over j < top of ceil((m (j + 1) - b) / a), and ceil(u / a) = floor((u + a - 1) / a).
        total += sign * n * top
        n, m, a, b, sign = top, a, m, m - b + a - 1, -sign
    return total
