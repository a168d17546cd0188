"""Linear programs solved exactly: the simplex method in integers, started from a basis that floats suggest.

Optima are rational and proven: a basis is optimal because its point violates no row and its multipliers are >= 0.
The basis of one level is nearly that of the next, so it is handed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tukeydp.trusted.hinted import asked
from tukeydp.trusted.matrices import Integers, integers, inverse
from tukeydp.trusted.parameters import FloatArray, IntArray

# Speed only, all of them: an optimum is proven in integers.
_HUGE = 2**900  # what an integer counts as that no float holds, with room for factors
_STEEPEST = 200  # exact pivots on the worst row; afterwards on the first one, which cannot cycle (Bland's rule)

# A column may be mostly one value: then its scale is its whole range over this. A wrong value costs speed only.
_WHOLE_RANGES = 1000.0


@dataclass(frozen=True, eq=False)
class Region:
    """{y : normals y <= offsets}, in integers. The last 2d rows are a box: the units, then their opposites.

    `centre` and `scale` say about where the region is and how large: a hint for the floats.
    """

    normals: Integers
    offsets: Integers
    centre: Integers
    scale: FloatArray

    @property
    def d(self) -> int:
        return self.normals.shape[1]

    @cached_property
    def in_floats(self) -> tuple[FloatArray, FloatArray]:
        """The region in coordinates (y - centre) / scale, with rows of length one."""
        normals = _rough(self.normals) * self.scale
        lengths = np.linalg.norm(normals, axis=1)
        slack = _rough(self.offsets - self.normals @ self.centre)
        return normals / lengths[:, np.newaxis], slack / lengths


def _rough(values: Integers) -> FloatArray:
    """Integers as floats; those that no float holds as large ones: an exception would depend on the data."""
    try:
        return values.astype(np.float64)
    except OverflowError:
        return np.clip(values, -_HUGE, _HUGE).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The largest value, where it is attained (numerators over one positive denominator), and the tight rows."""

    value: Fraction
    numerators: Integers
    denominator: int
    basis: tuple[int, ...]


def in_units(value: float, bits: int) -> int:
    """A float in units of 2^-bits, rounded down; raises for what is not a finite number."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << bits) // denominator


def maximum(region: Region, objective: Sequence[int], start: Sequence[int] | None = None) -> Optimum | None:
    """The maximum of objective.y over the region, or None if the region is empty. Exact.

    `start` is the basis of another region with the same normals; any hint will do, as will none.
    """
    first = len(region.normals) - 2 * region.d
    box = [first + j + (0 if c >= 0 else region.d) for j, c in enumerate(objective)]
    basis = _proposed_basis(region, objective, box if start is None else start)
    here = _vertex(region, objective, basis)
    if here is None or (min(here.multipliers) < 0 and here.violated(region) is not None):
        here = _vertex(region, objective, box)  # has multipliers >= 0 whatever the objective
        assert here is not None
    return _pivoted(region, objective, here)


@dataclass(frozen=True, eq=False)
class _Vertex:
    """Where the rows of a basis meet; all numbers are over the one positive denominator."""

    basis: list[int]
    adjugate: Integers
    denominator: int
    point: Integers
    multipliers: Integers

    def excess(self, region: Region) -> Integers:
        return region.normals @ self.point - region.offsets * self.denominator

    def violated(self, region: Region, worst: bool = True) -> int | None:
        """A row that the point violates: the worst, or the first."""
        excess = self.excess(region)
        rows = np.flatnonzero(excess > 0)
        if not len(rows):
            return None
        return int(rows[np.argmax(excess[rows])] if worst else rows[0])


def _vertex(region: Region, objective: Sequence[int], basis: Sequence[int]) -> _Vertex | None:
    inverted = inverse(region.normals[list(basis)])
    if inverted is None:
        return None
    adjugate, denominator = inverted
    point = adjugate @ region.offsets[list(basis)]
    return _Vertex(list(basis), adjugate, denominator, point, integers(objective) @ adjugate)


def _exchanged(region: Region, objective: Sequence[int], here: _Vertex, basis: list[int], out: int) -> _Vertex:
    """The vertex of a basis that differs from another in one place.

    Integer pivoting (Edmonds 1967): entries of the new adjugate are minors too, so the division has no remainder. The
    inverse is not computed anew, which would take d times as long.
    """
    weights = region.normals[basis[out]] @ here.adjugate
    head, column = weights[out], here.adjugate[:, out].copy()
    adjugate = (here.adjugate * head - np.outer(column, weights)) // here.denominator
    adjugate[:, out] = column
    if head < 0:
        adjugate, head = -adjugate, -head
    point = adjugate @ region.offsets[basis]
    return _Vertex(basis, adjugate, int(head), point, integers(objective) @ adjugate)


def _pivoted(region: Region, objective: Sequence[int], here: _Vertex) -> Optimum | None:
    """The simplex method from a vertex that is feasible or has multipliers >= 0, and keeps that property."""
    steps = 0
    while True:
        negative = [i for i in range(region.d) if here.multipliers[i] < 0]
        row = None if negative else here.violated(region, worst=steps < _STEEPEST)
        if not negative and row is None:
            value = Fraction(int(integers(objective) @ here.point), here.denominator)
            return Optimum(value, here.point, here.denominator, tuple(here.basis))
        basis = list(here.basis)
        if row is None:
            out = min(negative, key=lambda i: basis[i])
            basis[out] = _blocking(region, here, -here.adjugate[:, out])
        else:
            weights = region.normals[row] @ here.adjugate
            leaving = [i for i in range(region.d) if weights[i] > 0]
            if not leaving:
                return None  # the row is a combination <= 0 of rows whose common point it excludes
            out = min(leaving, key=lambda i: (Fraction(int(here.multipliers[i]), int(weights[i])), here.basis[i]))
            basis[out] = row
        here, steps = _exchanged(region, objective, here, basis, out), steps + 1


def _blocking(region: Region, here: _Vertex, edge: Integers) -> int:
    """The first row that stops a walk along the edge; the box stops every walk."""
    speed = region.normals @ edge
    room = -here.excess(region)
    return min(np.flatnonzero(speed > 0).tolist(), key=lambda i: (Fraction(int(room[i]), int(speed[i])), i))


def _proposed_basis(region: Region, objective: Sequence[int], start: Sequence[int]) -> list[int]:
    """The rows that floats take for the optimal basis; `start` if they have none. Any will do."""
    with np.errstate(all="ignore"):
        normals, offsets = region.in_floats
        costs = _rough(integers(objective)) * region.scale
    answer = asked("likely_basis", normals, offsets, costs, tuple(start))
    if not (isinstance(answer, list) and len(answer) == region.d and all(type(i) is int for i in answer)):
        return list(start)
    return answer if all(0 <= i < len(region.normals) for i in answer) else list(start)


def centre_and_scale(ordered: IntArray) -> tuple[IntArray, FloatArray]:
    """The middle value of each column of grid points, and its interquartile range or what is left of it, at least 1."""
    quarter = len(ordered) // 4
    spread = (ordered[-1 - quarter] - ordered[quarter]).astype(np.float64)
    whole = (ordered[-1] - ordered[0]).astype(np.float64)
    return ordered[len(ordered) // 2], np.maximum(np.maximum(spread, whole / _WHOLE_RANGES), 1.0)
