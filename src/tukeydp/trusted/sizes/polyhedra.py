"""Sizes in three columns: volumes of polyhedra with integer halfspaces, exactly (docs/proofs/rem.md, section 5).

A box is cut by one halfspace after another. Invariant: the corners are those of a simple polyhedron, three planes and
three edges at each. A plane through a corner leaves that corner inside. That is a symbolic perturbation (Edelsbrunner
and Muecke 1990): plane i is moved outwards by e_i with 0 < e_1 << e_2 << ..., in the order in which planes cut. The
volume at the limit is that of the polyhedron, and no special position needs a case of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.sizes.boxed import Boxed
from tukeydp.trusted.sizes.linear_programs import Region

Point = tuple[int, int, int, int]  # three numerators over a positive denominator
Plane = tuple[int, int, int, int]  # a, b, c, e: a x + b y + c z <= e

# Relative to the sum of the sizes of all terms: far above the error of four rounded products and their sum. Larger
# costs speed; one below that error would decide sides wrongly, and break the bounds.
_ROUNDING = 2.0**-48
# Bits of each pyramid behind the point. Fewer widen the bracket, which must stay far below a grid point.
_BITS = 64


class Polyhedra(Boxed):
    """Three columns: the volume of the set grown by half a cell above, of the set shrunk by half a cell below."""

    def _above(self, level: int, boxed: Fraction) -> Fraction:
        return min(boxed, volume(self._half_cells(level, +1))[1] / 8)

    def _below(self, level: int) -> Fraction:
        return Fraction(0) if level > self.top else volume(self._half_cells(level, -1))[0] / 8


def volume(region: Region) -> tuple[Fraction, Fraction]:
    """The volume of a region in space from below and from above, apart by less than 2^-40."""
    return _Polyhedron(region).volume()


@dataclass(eq=False, slots=True)
class _Corner:
    """Where three planes meet. The edge that is not on plane p leads to corner number `across[p]`."""

    planes: tuple[int, int, int]
    point: Point
    across: dict[int, int]

    def third(self, p: int, q: int) -> int:
        """The plane other than p and q."""
        return next(r for r in self.planes if r not in (p, q))


class _Polyhedron:
    """The region, seen from its centre."""

    def __init__(self, region: Region) -> None:
        offsets = region.offsets - region.normals @ region.centre
        self._planes: list[Plane] = [
            (int(a), int(b), int(c), int(e)) for (a, b, c), e in zip(region.normals, offsets, strict=True)
        ]
        rows = np.array([[float(v) for v in plane] for plane in self._planes])
        self._normals, self._offsets = rows[:, :3], rows[:, 3:]
        lengths = np.linalg.norm(self._normals * region.scale, axis=1)
        self._corners: dict[int, _Corner] = {}
        self._unused: list[int] = []
        # One row a plane, one column a corner: the sign is exact, the value is not. No corner, no excess.
        self._excess: FloatArray = np.empty((len(rows), 0))
        self._add(self._box())
        while self._corners:
            farthest = self._excess.max(axis=1)
            if farthest.max() <= 0.0:
                break
            self._cut(int(np.argmax(np.where(farthest > 0.0, farthest / lengths, -1.0))))

    def volume(self) -> tuple[Fraction, Fraction]:
        """Pyramids from the centre to the faces, each face seen from one of its corners as triangles to its edges."""
        apex = {p: corner.point for corner in self._corners.values() for p in corner.planes}
        low = high = 0
        for i, corner in self._corners.items():
            for p, j in corner.across.items():
                if j < i:
                    continue  # every edge once
                for face in corner.planes:
                    offset = self._planes[face][3]
                    if face == p or not offset:
                        continue
                    six_times, unit = _six_volumes(apex[face], corner.point, self._corners[j].point)
                    # A pyramid counts negative if the centre is beyond its face.
                    scaled = (six_times if offset > 0 else -six_times) << _BITS
                    low += scaled // unit
                    high -= -scaled // unit
        return Fraction(max(0, low), 6 << _BITS), Fraction(max(0, high), 6 << _BITS)

    def _box(self) -> dict[int, _Corner]:
        """The corners of the box, whose planes are the last six; none if it is empty."""
        first = len(self._planes) - 6
        if any(self._planes[first + j][3] < -self._planes[first + j + 3][3] for j in range(3)):
            return {}
        numbers = [self._number() for _ in range(8)]
        corners = {}
        for i, number in enumerate(numbers):
            x, y, z = (first + j + (3 if i >> j & 1 else 0) for j in range(3))
            across = {x: numbers[i ^ 1], y: numbers[i ^ 2], z: numbers[i ^ 4]}
            corners[number] = _Corner((x, y, z), self._meet(x, y, z), across)
        return corners

    def _cut(self, plane: int) -> None:
        """Replace the corners beyond a plane by those on it."""
        numbers = np.flatnonzero(self._excess[plane] > 0.0).tolist()
        self._excess[:, numbers] = -np.inf
        self._unused += numbers
        outside = {i: self._corners.pop(i) for i in numbers}
        fresh: dict[int, _Corner] = {}
        around: dict[int, list[tuple[int, _Corner]]] = {}
        for corner in outside.values():
            for p, i in corner.across.items():
                if i in outside:
                    continue
                q, r = (face for face in corner.planes if face != p)
                number, new = self._number(), _Corner((q, r, plane), self._meet(q, r, plane), {plane: i})
                inner = self._corners[i]
                inner.across[inner.third(q, r)] = number
                fresh[number] = new
                for face in (q, r):
                    around.setdefault(face, []).append((number, new))
        for face, ((i, one), (j, two)) in around.items():  # a plane enters a convex face once and leaves it once
            one.across[one.third(face, plane)] = j
            two.across[two.third(face, plane)] = i
        self._add(fresh)

    def _number(self) -> int:
        """A number that no corner has."""
        if not self._unused:
            room = max(8, self._excess.shape[1])
            self._unused = list(range(self._excess.shape[1], self._excess.shape[1] + room))[::-1]
            self._excess = np.hstack([self._excess, np.full((len(self._planes), room), -np.inf)])
        return self._unused.pop()

    def _add(self, corners: dict[int, _Corner]) -> None:
        """Take corners in, with the signs of their excess over every plane."""
        if not corners:
            return
        listed = list(corners.values())
        points = np.array([[v / corner.point[3] for v in corner.point[:3]] for corner in listed]).T
        excess = self._normals @ points - self._offsets
        doubt = _ROUNDING * (np.abs(self._normals) @ np.abs(points) + np.abs(self._offsets))
        for i, j in np.argwhere(np.abs(excess) <= doubt).tolist():
            a, b, c, e = self._planes[i]
            x, y, z, w = listed[j].point
            exact = a * x + b * y + c * z - e * w
            excess[i, j] = max(-1.0, min(1.0, exact / w))
        self._excess[:, list(corners)] = excess
        self._corners |= corners

    def _meet(self, p: int, q: int, r: int) -> Point:
        """Where three planes meet, by Cramer's rule."""
        a, b, c, e = self._planes[p]
        f, g, h, k = self._planes[q]
        l, m, n, o = self._planes[r]  # noqa: E741
        u, v, w = g * n - h * m, h * l - f * n, f * m - g * l
        below = a * u + b * v + c * w
        s, t, y = k * n - h * o, k * m - g * o, k * l - f * o
        point = (
            e * u - b * s + c * t,
            a * s + e * v - c * y,
            -a * t + b * y + e * w,
        )
        return (*point, below) if below > 0 else (-point[0], -point[1], -point[2], -below)


def _six_volumes(one: Point, two: Point, three: Point) -> tuple[int, int]:
    """Six times the volume of the pyramid from the origin to a triangle, as numerator and denominator."""
    a, b, c, u = one
    d, e, f, v = two
    g, h, i, w = three
    return abs(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)), u * v * w
