"""Rows of the sweeps that are in doubt because vectors coincide in their planes: settled exactly, many at a time.

Where a table holds few different values most rows of work have such ties, and each would be done in integers. Vectors
in the plane that a row projects along are weighed there, once for all rows of the same plane
(docs/proofs/exact-depth.md, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from tukeydp.depth.double_digits import doubled
from tukeydp.depth.tie_sweep import IN_DOUBT, Exactly, fill_chosen, scan_ties
from tukeydp.depth.vectors import Vectors
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import IntArray

Place = tuple[int, ...]
# Sort keys in a block of rows. Speed only.
_KEYS_AT_A_TIME = 2**19


@dataclass(frozen=True)
class Enclosed:
    """Bounds of the least weight over halfspaces whose edges pass close to a plane, and vectors that attain it."""

    lower: int
    upper: int
    place: Place


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of work: bounds of the least weight beside their planes, and as bits which vectors are in these."""

    places: list[Place]
    bounds: IntArray
    members: list[bytes]


def tied_rows(vectors: Vectors, places: Sequence[Place], below: int) -> tuple[list[Enclosed], list[Place]]:
    """Bounds for the planes of these rows, each plane once, that may be less than `below`; and rows still in doubt.

    Vectors of three or four columns.
    """
    exact = _primitive(vectors)
    planes: dict[bytes, tuple[int, int]] = {}
    doubtful: list[Place] = []
    for block in _swept(_exactly(exact), vectors.weights, places):
        for place, (low, high), key in zip(block.places, block.bounds.tolist(), block.members, strict=True):
            if low >= 0:
                lowest, highest = planes.get(key, (low, high))
                planes[key] = max(low, lowest), min(high, highest)
            elif low == IN_DOUBT:
                doubtful.append(place)
    found = []
    for key, (low, high) in planes.items():
        if low < below:
            members = np.flatnonzero(np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=len(exact)))
            least, place = _least_within(exact[members], vectors.weights[members])
            found.append(Enclosed(low + least, high + least, tuple(members[list(place)].tolist())))
    return found, doubtful


def _primitive(vectors: Vectors) -> Integers:
    """The vectors in integers without common factors."""
    exact = [list(vectors.exactly(j)) for j in range(len(vectors.weights))]
    return integers([[int(c) // math.gcd(*v) for c in v] for v in exact])


def _exactly(primitive: Integers) -> Exactly:
    """The vectors in four columns, and one vector along the fourth that completes those of three."""
    m, d = primitive.shape
    whole = np.zeros((m + 1, 4), dtype=object)
    whole[:m, :d], whole[m, 3] = primitive, 1
    # No determinant of up to four of them is larger.
    moduli = _coprime(math.factorial(4) * int(np.abs(primitive).max()) ** d)
    residues = np.stack([(whole % p).astype(np.int64) for p in moduli])
    return Exactly(doubled(whole), np.array(moduli, dtype=np.int64), residues)


def _coprime(beyond: int) -> list[int]:
    """Numbers below 2^31 without common factors, their product larger than `beyond`.

    >>> _coprime(2**40)
    [2147483647, 2147483646]
    """
    found: list[int] = []
    candidate = 2**31 - 1
    while math.prod(found) <= beyond:
        if all(math.gcd(candidate, p) == 1 for p in found):
            found.append(candidate)
        candidate -= 1
    return found


def _swept(vectors: Exactly, weights: IntArray, places: Sequence[Place]) -> Iterator[_Block]:
    """The rows again, a block at a time, with all ties decided."""
    m = len(weights)
    bits = max(1, m.bit_length())
    size = max(1, _KEYS_AT_A_TIME // m)
    # A row of three columns is one vector; the other is that along the fourth.
    for first, together in groupby(sorted(places), key=lambda place: m if len(place) == 1 else place[0]):
        rows = list(together)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            chosen = np.array([place[-1] for place in part], dtype=np.int64)
            keys = np.full((len(part), m), np.iinfo(np.int64).max)
            usable = np.zeros(len(part), dtype=np.int64)
            bounds = np.zeros((len(part), 2), dtype=np.int64)
            inside = np.zeros((len(part), m), dtype=np.bool_)
            fill_chosen(vectors, first, chosen, bits, keys, usable)
            keys.sort(axis=1)
            scan_ties(keys, usable, weights, vectors, first, chosen, bits, bounds, inside)
            yield _Block(part, bounds, [row.tobytes() for row in np.packbits(inside, axis=1)])


def _least_within(exact: Integers, weights: IntArray) -> tuple[int, tuple[int, ...]]:
    """The least weight that a halfspace has of vectors in a plane or, in three columns, a line; which attain it.

    One vector and what is to one side of it, or to the other, in the plane: one of them is at the edge of the best.
    """
    k, d = exact.shape
    if k == d - 2:
        return 0, tuple(range(k))
    if d == 3:
        along = int(weights[(exact @ exact[0] > 0).astype(np.bool_)].sum())
        return min(along, int(weights.sum()) - along), (0,)
    x, y = _telling(exact)
    sides, ahead = np.multiply.outer(x, y) - np.multiply.outer(y, x), np.multiply.outer(x, x) + np.multiply.outer(y, y)
    level = sides == 0
    totals = [(chosen.astype(np.bool_) @ weights) for chosen in (level & (ahead > 0), level & (ahead < 0), sides > 0)]
    same, opposite, left = totals
    weighed = np.minimum(same, opposite) + np.minimum(left, weights.sum() - same - opposite - left)
    best = int(weighed.argmin())
    return int(weighed[best]), (best, int(np.flatnonzero(~level[best])[0]))


def _telling(exact: Integers) -> tuple[Integers, Integers]:
    """Two coordinates that tell the vectors of a plane in four columns apart."""
    for a in range(4):
        for b in range(a + 1, 4):
            if (exact[:, a] * exact[0, b] != exact[:, b] * exact[0, a]).any():
                return exact[:, a], exact[:, b]
    raise ArithmeticError("vectors of a plane are on a line")
