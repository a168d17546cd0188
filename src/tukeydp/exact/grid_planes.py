"""Planes of the grid: a point of one and a short basis that leads to all of its points; parts of it in that basis.

A plane whose normal has many digits holds few grid points, though its surroundings hold astronomically many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tukeydp.trusted.matrices import Integers, integers, inverse, short_rows


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
