"""How many grid points a convex set has, counted slice by slice up to a limit.

The set is inside a region of finitely many halfspaces; whether a point of the region belongs to it is decided one by
one, and each point that does not gives halfspaces that shrink the region. A slice is the set's points in a plane of the
grid; slices of slices end in lines. On a line the set is an interval: its ends are searched, what is between is not
looked at. Planes are chosen so that few of them meet the region, in a reduced basis of the grid (Lenstra 1983): thin
and slanted sets take no longer than round ones. Where there are many points a simplex of points of the set soon holds
enough of them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tukeydp.trusted.matrices import Integers, integers, inverse, log_gain, reduced_basis, short_rows
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.sizes.linear_programs import Region, maximum


@dataclass(frozen=True, eq=False)
class Slice:
    """The grid points origin + frame z of a plane of the grid, z of k whole numbers, with further halfspaces of z.

    Every grid point of the plane is one of them. `low` and `high` are the ends of a box of z that holds the set's.
    """

    origin: Integers
    frame: Integers
    normals: Integers
    offsets: Integers
    low: Integers
    high: Integers

    @property
    def k(self) -> int:
        return self.frame.shape[1]

    def along(self, matrix: Integers, inverted: Integers) -> Slice:
        """The same in coordinates matrix z, for a unimodular matrix."""
        ends = matrix * self.low, matrix * self.high
        return replace(
            self,
            frame=self.frame @ inverted,
            normals=self.normals @ inverted,
            low=np.minimum(*ends).sum(axis=1),
            high=np.maximum(*ends).sum(axis=1),
        )

    def bounded(self, column: int, sign: int, offset: int) -> Slice:
        """Those with sign z[column] <= offset."""
        row = integers([[sign * int(j == column) for j in range(self.k)]])
        return replace(
            self, normals=np.concatenate([self.normals, row]), offsets=np.append(self.offsets, integers([offset]))
        )

    def on_plane(self, point: Integers, basis: Integers) -> Slice:
        """Those with z = point + basis w, in coordinates w; the columns of the basis are independent."""
        inverted = inverse(basis.T @ basis)
        if inverted is None:
            raise ArithmeticError("a basis of a plane is dependent")
        back, denominator = inverted[0] @ basis.T, inverted[1]
        ends = back * (self.low - point), back * (self.high - point)
        return Slice(
            self.origin + self.frame @ point,
            self.frame @ basis,
            self.normals @ basis,
            self.offsets - self.normals @ point,
            -(-np.minimum(*ends).sum(axis=1) // denominator),
            np.maximum(*ends).sum(axis=1) // denominator,
        )

    def at(self, column: int, value: int) -> Slice:
        """Those with z[column] = value, in the other coordinates."""
        others = [j for j in range(self.k) if j != column]
        return Slice(
            self.origin + self.frame[:, column] * value,
            self.frame[:, others],
            self.normals[:, others],
            self.offsets - self.normals[:, column] * value,
            self.low[others],
            self.high[others],
        )


def points_of_plane(normal: Integers, value: int) -> tuple[Integers, Integers] | None:
    """A grid point and a basis (k, k - 1): the grid points y with normal.y = value are point + basis z. Or none are.

    The normal is not zero.

    >>> point, basis = points_of_plane(integers([2, 3]), 7)
    >>> point.tolist(), basis.tolist()
    ([2, 1], [[3], [-2]])
    """
    products = [int(c) for c in normal]
    columns = integers(np.eye(len(products), dtype=np.int64))
    # Euclid's algorithm on all entries at once; the columns are a basis of the grid, and these are their products.
    while True:
        least = min((j for j, c in enumerate(products) if c), key=lambda j: abs(products[j]))
        others = [j for j, c in enumerate(products) if c and j != least]
        if not others:
            break
        for j in others:
            times = products[j] // products[least]
            products[j] -= times * products[least]
            columns[:, j] -= times * columns[:, least]
    if value % products[least]:
        return None
    basis = np.delete(columns, least, axis=1)
    basis = basis @ integers(short_rows((basis.T @ basis).tolist())).T
    point = columns[:, least] * (value // products[least])
    return point - basis @ _nearest(basis, point), basis


def _nearest(basis: Integers, point: Integers) -> Integers:
    """About which combination of the basis is closest to a point."""
    inverted = inverse(basis.T @ basis)
    if inverted is None:
        raise ArithmeticError("a basis of a plane is dependent")
    adjugate, denominator = inverted
    return integers((2 * (adjugate @ (basis.T @ point)) + denominator) // (2 * denominator))


def pinned(normals: Integers, offsets: Integers) -> list[tuple[Integers, int]]:
    """Normals v and values c such that grid points with normals y <= offsets have v.y = c, if there are any."""
    ends: dict[tuple[int, ...], int] = {}
    for normal, offset in zip(normals.tolist(), offsets.tolist(), strict=True):
        key = tuple(normal)
        ends[key] = min(offset, ends.get(key, offset))
    found = []
    for key, offset in ends.items():
        opposite = ends.get(tuple(-c for c in key))
        # Each pair once: that whose first entry is positive.
        if opposite is None or key <= tuple(-c for c in key):
            continue
        step = math.gcd(*key)
        if offset // step <= -(opposite // step):
            found.append((integers([c // step for c in key]), offset // step))
    return found


# None if the point is in the set; else normals and offsets of halfspaces that hold the set, one of them without it.
Decide = Callable[[Integers], tuple[Integers, Integers] | None]
# How much smaller, in logarithm, a box in another basis must be to be worth it. Speed only.
_WORTHWHILE = 0.5
# Lines with points of the set after which a simplex of them is looked at; again after twice as many. Speed only.
_FIRST_LINES = 4


def count_in_slices(limit: int, region: Region, decide: Decide | None = None) -> int:
    """How many grid points the set has, or `limit` if there are more. Exact; without `decide` it is the region."""
    return SliceCount(limit, region, decide).upto(limit)


@dataclass(frozen=True, eq=False)
class _Measured:
    """A part in a tight box, and some of its corners in floats, seen from `centre`."""

    part: Slice
    corners: FloatArray
    centre: Integers

    def place(self, matrix: Integers) -> tuple[Integers, FloatArray]:
        """About where the part is in coordinates matrix z, and how large: a hint."""
        corners = self.corners @ matrix.astype(np.float64).T
        return matrix @ self.centre, np.maximum(np.ptp(corners, axis=0), 1.0)


class SliceCount:
    """One count: the region as far as it is known, and the slices that wait. It goes on where it was left."""

    def __init__(self, limit: int, region: Region, decide: Decide | None) -> None:
        d = region.d
        self._limit, self._decide, self._d = limit, decide, d
        self._normals, self._offsets = region.normals, region.offsets
        unit, nothing = integers(np.eye(d, dtype=np.int64)), integers(np.empty((0, d)))
        ends = -region.offsets[-d:], region.offsets[-2 * d : -d]
        # First come, first served: the lines that are looked at first are far apart.
        self._waiting = deque([Slice(integers([0] * d), unit, nothing, integers([]), *ends)])
        self._planes = pinned(region.normals, region.offsets)  # that hold all of the region's grid points
        self._place = region.centre, region.scale
        self._inside: list[Integers] = []  # first and last point of each line that has some
        self._found = self._held = 0  # points on lines that were looked at; points of a simplex, some of them the same
        self._look_at = 2 * _FIRST_LINES
        self._close = False  # whether the last line of the set was that of the region: then likely the next one is

    def upto(self, enough: int) -> int:
        """How many grid points the set has, or `enough` if there are more; `enough` is at most the limit."""
        while self._waiting and max(self._found, self._held) < enough:
            part = self._waiting.popleft()
            if part.k > 1:
                self._cut(part)
                continue
            self._found += self._on_line(part, self._limit - self._found)
            if self._decide is not None and len(self._inside) >= self._look_at:
                self._look_at *= 2
                self._held = self._in_simplex(enough)
        return min(max(self._found, self._held), enough)

    def _in_simplex(self, limit: int) -> int:
        """Grid points in a simplex of points of the set, up to the limit: sets are convex, all of them are in it."""
        corners = _far_apart(self._inside)
        inverted = None if corners is None else inverse((corners[1:] - corners[0]).T)
        if corners is None or inverted is None:
            return 0
        # Barycentric coordinates, times the denominator: none is negative, and their sum is at most one.
        weights, denominator = inverted
        box = integers(np.eye(self._d, dtype=np.int64))
        low, high = corners.min(axis=0), corners.max(axis=0)
        simplex = Region(
            np.concatenate([-weights, [weights.sum(axis=0)], box, -box]),
            np.concatenate([-weights @ corners[0], [weights.sum(axis=0) @ corners[0] + denominator], high, -low]),
            (low + high) // 2,
            np.maximum((high - low).astype(np.float64), 1.0),
        )
        return count_in_slices(limit, simplex)

    def _cut(self, part: Slice) -> None:
        """The middle slice of a part, and what is on either side of it."""
        flat = self._in_planes(part)
        if flat is not None and flat.k == 1:
            self._waiting.append(flat)
            return
        found = None if flat is None else self._thinnest(flat)
        if found is None:
            return
        part, column = found
        low, high = int(part.low[column]), int(part.high[column])
        middle = (low + high) // 2
        self._waiting.append(part.at(column, middle))
        if low < middle:
            self._waiting.append(part.bounded(column, 1, middle - 1))
        if middle < high:
            self._waiting.append(part.bounded(column, -1, -middle - 1))

    def _in_planes(self, part: Slice) -> Slice | None:
        """The part in coordinates of the planes that it is in; None if it has no grid point there."""
        for normal, value in self._planes:
            along, rest = normal @ part.frame, value - int(normal @ part.origin)
            if part.k > 1 and along.any():
                found = points_of_plane(along, rest)
                if found is None:
                    return None
                part = part.on_plane(*found)
            elif rest and not along.any():
                return None
        return part

    def _thinnest(self, part: Slice) -> tuple[Slice, int] | None:
        """The part in a tight box along coordinates of which one takes few values, and which; None if it is empty."""
        measured = self._measured(part, self._place if part.k == self._d else None)
        if measured is None:
            return None
        if min(measured.part.high - measured.part.low) > 1:
            centred = measured.corners - measured.corners.mean(axis=0)
            shape = centred.T @ centred
            basis = reduced_basis(shape)
            if basis is not None and log_gain(basis, shape) > _WORTHWHILE:
                matrix = integers(list(basis.matrix))
                slanted = measured.part.along(matrix, integers(list(basis.inverse)))
                measured = self._measured(slanted, measured.place(matrix))
                if measured is None:
                    return None
        return measured.part, int(np.argmin(measured.part.high - measured.part.low))

    def _measured(self, part: Slice, place: tuple[Integers, FloatArray] | None) -> _Measured | None:
        """The part in its tight box; None if it has no grid point. `place` is a hint for the floats."""
        region = self._region(part, place)
        ends, corners = [], []
        for objective in _units(part.k):
            best = maximum(region, objective)
            if best is None:
                return None
            ends.append(math.floor(best.value))
            away = best.numerators - region.centre * best.denominator
            corners.append([int(c) / best.denominator for c in away])
        low, high = integers([-b for b in ends[1::2]]), integers(ends[::2])
        return (
            None
            if (low > high).any()
            else _Measured(replace(part, low=low, high=high), np.array(corners), region.centre)
        )

    def _region(self, part: Slice, place: tuple[Integers, FloatArray] | None) -> Region:
        """The region in the part's coordinates."""
        normals, offsets = self._in_coordinates(part)
        box = integers(np.eye(part.k, dtype=np.int64))
        if place is None:
            place = (part.low + part.high) // 2, np.maximum((part.high - part.low).astype(np.float64), 1.0)
        return Region(np.concatenate([normals, box, -box]), np.concatenate([offsets, part.high, -part.low]), *place)

    def _in_coordinates(self, part: Slice) -> tuple[Integers, Integers]:
        normals = np.concatenate([self._normals @ part.frame, part.normals])
        return normals, np.concatenate([self._offsets - self._normals @ part.origin, part.offsets])

    def _on_line(self, line: Slice, needed: int) -> int:
        """How many points of a line are in the set, or `needed` if there are more."""
        ends = self._ends(line)
        if ends is None or self._decide is None:
            return 0 if ends is None else min(needed, ends[1] - ends[0] + 1)
        inside = ends[1] if self._close else (ends[0] + ends[1]) // 2
        while not self._holds(line, inside):
            ends = self._ends(line)
            if ends is None:
                return 0
            inside = (ends[0] + ends[1]) // 2
        above = self._farthest(line, inside, 1, needed - 1)
        below = self._farthest(line, inside, -1, needed - 1 - above)
        self._close = (inside + above, inside - below) == ends[::-1]
        self._inside += [line.origin + line.frame[:, 0] * z for z in (inside + above, inside - below)]
        return above + 1 + below

    def _farthest(self, line: Slice, inside: int, sign: int, most: int) -> int:
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

    def _ends(self, line: Slice) -> tuple[int, int] | None:
        """First and last point of a line in the region; None if there is none."""
        normals, offsets = self._in_coordinates(line)
        slopes = normals[:, 0]
        up, down = slopes > 0, slopes < 0
        if (offsets[slopes == 0] < 0).any():
            return None
        high = (offsets[up] // slopes[up]).min()
        low = -(offsets[down] // -slopes[down]).min()
        return (int(low), int(high)) if low <= high else None

    def _holds(self, line: Slice, z: int) -> bool:
        """Whether a point of a line is in the set; if not, the region shrinks."""
        assert self._decide is not None
        found = self._decide(line.origin + line.frame[:, 0] * z)
        if found is None:
            return True
        self._planes += pinned(*found)
        self._normals = np.concatenate([found[0], self._normals])
        self._offsets = np.concatenate([found[1], self._offsets])
        return False


def _units(k: int) -> list[list[int]]:
    """The unit vectors, each followed by its opposite."""
    return [[sign * int(i == j) for i in range(k)] for j in range(k) for sign in (1, -1)]


def _far_apart(points: list[Integers]) -> Integers | None:
    """d + 1 of the points, each far from the span of those before; None if they do not span everything: a hint."""
    whole = np.array(points)
    d = whole.shape[1]
    away = (whole - whole[0]).astype(np.float64)
    away -= away.mean(axis=0)
    with np.errstate(all="ignore"):
        away = away / np.maximum(np.abs(away).max(axis=0), 1.0)
    chosen = [int(np.argmax(np.linalg.norm(away, axis=1)))]
    away = away - away[chosen[0]]
    for _ in range(d):
        lengths = np.linalg.norm(away, axis=1)
        farthest = int(np.argmax(lengths))
        if not lengths[farthest] > 0:
            return None
        chosen.append(farthest)
        unit = away[farthest] / lengths[farthest]
        away = away - np.outer(away @ unit, unit)
    return whole[chosen]
