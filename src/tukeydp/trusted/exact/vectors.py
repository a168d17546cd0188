"""Vectors from a point to the rows: the least weight of a halfspace by projections, in integers; floats; spans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.matrices import reduced_echelon
from tukeydp.trusted.parameters import FloatArray, IntArray

Vector = Sequence[int]


def exact_space(exact: Sequence[Vector], weights: Sequence[int]) -> tuple[int, list[int]]:
    """The least weight over generic halfspaces by the recursion itself, in integers, any dimension."""
    if not exact:
        raise ValueError("no vectors")
    d = len(exact[0])
    if d == 1:
        plus = sum(w for v, w in zip(exact, weights, strict=True) if v[0] > 0)
        minus = sum(weights) - plus
        return (plus, [1]) if plus <= minus else (minus, [-1])
    if d == 2:
        return exact_plane(exact, weights)
    return min((least_along(exact, weights, [u]) for u in exact), key=lambda found: found[0])


def least_along(exact: Sequence[Vector], weights: Sequence[int], chain: Sequence[Vector]) -> tuple[int, list[int]]:
    """The least weight over halfspaces whose edges pass close to all vectors of the chain."""
    if not chain:
        return exact_space(exact, weights)
    u, later = chain[0], chain[1:]
    k = largest(u)
    same = opposite = 0
    flat, rest = [], []
    for v, w in zip(exact, weights, strict=True):
        projected = project(v, u)
        if any(projected):
            flat.append(projected)
            rest.append(w)
        elif (v[k] > 0) == (u[k] > 0):
            same += w
        else:
            opposite += w
    # A later vector of the chain that is parallel to u spans nothing new: then all rows of u count.
    onward = [projected for projected in (project(v, u) for v in later) if any(projected)]
    inner, normal = least_along(flat, rest, onward) if flat else (0, [0] * (len(u) - 1))
    return inner + min(same, opposite), _lifted_exactly(normal, u, exact, towards=1 if same <= opposite else -1)


def _lifted_exactly(normal: Sequence[int], u: Vector, exact: Sequence[Vector], towards: int) -> list[int]:
    """A normal of the quotient by u as one of the whole space, turned towards +u or -u, no other sign moved."""
    k = largest(u)
    sign = 1 if u[k] > 0 else -1
    others = iter(normal)
    whole = [0 if c == k else next(others) * abs(u[k]) for c in range(len(u))]
    whole[k] = -sign * sum(n * c for n, c in zip(normal, (c for j, c in enumerate(u) if j != k), strict=True))
    # Products with `whole` are integers, so at least one in size unless zero.
    most = 1 + max(abs(sum(a * b for a, b in zip(u, v, strict=True))) for v in exact)
    lifted = [most * c + towards * e for c, e in zip(whole, u, strict=True)]
    shrink = math.gcd(*lifted)
    return [c // shrink for c in lifted]


def largest(u: Vector) -> int:
    return max(range(len(u)), key=lambda c: abs(u[c]))


def project(v: Vector, u: Vector) -> list[int]:
    k = largest(u)
    sign = 1 if u[k] > 0 else -1
    return [sign * (v[c] * u[k] - u[c] * v[k]) for c in range(len(u)) if c != k]


def exact_plane(exact: Sequence[Vector], weights: Sequence[int]) -> tuple[int, list[int]]:
    """The least weight of an open half-plane over generic lines, in integers, and its normal."""
    upper: list[tuple[int, int, int]] = []
    here = whole = 0
    for (a, b), w in zip(exact, weights, strict=True):
        turned = b < 0 or (b == 0 and a < 0)
        upper.append((-a, -b, w) if turned else (a, b, -w))
        whole += w
        here += 0 if turned else w
    upper.sort(key=_by_angle)
    # Before the first vector the line runs between it and the opposite of the last.
    (a, b, _), (c, d, _) = upper[0], upper[-1]
    line = (a - c, b - d) if a * d != b * c else (b, -a)
    best, normal = _lighter_side(here, whole, line)
    for (a, b, change), (c, d, _) in pairwise(upper):
        here += change
        if a * d != b * c:
            best, normal = min((best, normal), _lighter_side(here, whole, (a + c, b + d)), key=lambda found: found[0])
    return best, normal


def _lighter_side(left: int, whole: int, line: tuple[int, int]) -> tuple[int, list[int]]:
    a, b = line
    return (left, [-b, a]) if left <= whole - left else (whole - left, [b, -a])


@cmp_to_key
def _by_angle(p: tuple[int, int, int], q: tuple[int, int, int]) -> int:
    """Vectors of the upper half-plane, by angle."""
    cross = p[0] * q[1] - p[1] * q[0]
    return (cross < 0) - (cross > 0)


# Vectors from a point to the rows: floats for the sweeps, integers wherever those are in doubt.


# In data units: a vector with no component larger than this is taken from the integers. Floats lose digits below
# 2.2e-308, and the bound on `shadow` needs them; the distance to that is generous, and larger costs speed only.
_SMALL = 1e-290


@dataclass(frozen=True, eq=False)
class Vectors:
    """Distinct nonzero vectors with weights: floats for speed, integers (up to a positive factor each) when it matters.

    `shadow` is off by at most 2^-51 of a vector's largest component; where `whole` it is whole numbers, and not off.
    """

    shadow: FloatArray
    weights: IntArray
    exactly: Callable[[int], Vector]
    whole: bool = False

    @property
    def total(self) -> int:
        return int(self.weights.sum())


def from_integers(exact: Sequence[Vector], weights: Sequence[int]) -> Vectors:
    """Nonzero vectors given as integers of any size; those of one direction are merged."""
    reduced: dict[tuple[int, ...], int] = {}
    for v, w in zip(exact, weights, strict=True):
        shrink = math.gcd(*v)
        key = tuple(c // shrink for c in v)
        reduced[key] = reduced.get(key, 0) + w
    kept = list(reduced)
    shadow = np.array([[c / max(map(abs, v)) for c in v] for v in kept], dtype=np.float64)
    d = len(exact[0]) if exact else 1
    return Vectors(shadow.reshape(len(kept), d), np.array(list(reduced.values()), dtype=np.int64), kept.__getitem__)


def from_floats(rows: FloatArray, point: FloatArray, weights: IntArray) -> Vectors:
    """Vectors from a point to distinct rows, none of them equal to it, all finite."""

    def exactly(j: int) -> Vector:
        parts = [Fraction(a) - Fraction(b) for a, b in zip(rows[j].tolist(), point.tolist(), strict=True)]
        common = math.lcm(*(part.denominator for part in parts))
        return [int(part * common) for part in parts]

    with np.errstate(all="ignore"):
        offsets = rows - point
        lengths = np.abs(offsets).max(axis=1, keepdims=True, initial=0.0)
        shadow = offsets / lengths
    if len(rows) and not (np.isfinite(lengths).all() and lengths.min() > _SMALL):
        # Differences overflow or lose digits: start from the integers.
        return from_integers([exactly(j) for j in range(len(rows))], weights.tolist())
    return Vectors(np.ascontiguousarray(shadow), weights, exactly)


# Vectors that span less than the whole space: in which of their coordinates they can be told apart, exactly.
#
# Rows in a plane, a constant column, one column the sum of others. A halfspace's count depends on its normal only
# through the products with the vectors, so that depth in the span is depth: and there nothing is degenerate any more.


# Relative to the largest singular value: beyond this vectors are taken to span everything, without a look at integers.
# Speed only: flatter ones are looked at in integers, and what those say holds.
_FLAT = 1e-9


def look_flat(vectors: FloatArray) -> bool:
    """Whether vectors seem to span less than the whole space, each scaled to about one: a hint."""
    with np.errstate(all="ignore"):
        lengths = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
        scaled = vectors / lengths
        try:
            values = np.linalg.svd(scaled[np.isfinite(scaled).all(axis=1)], compute_uv=False)
        except np.linalg.LinAlgError:
            return True  # an exception would tell something about the data, and integers can tell
    return len(values) < vectors.shape[1] or not values[-1] > _FLAT * values[0]


def spanning_rows(vectors: Iterable[Vector], d: int) -> list[list[Fraction]]:
    """A basis of the span in reduced echelon form, exactly."""
    basis: list[list[Fraction]] = []
    lacking = [(j, 1, [0] * d) for j in range(d)]
    for vector in vectors:
        # In the span if every other coordinate is the combination of the pivots' that the basis says it is.
        if all(vector[j] * common == sum(map(mul, vector, weights)) for j, common, weights in lacking):
            continue
        basis.append([Fraction(int(c)) for c in vector])
        pivots = reduced_echelon(basis, d)
        lacking = [(j, *_combination(basis, pivots, j)) for j in range(d) if j not in pivots]
        if not lacking:
            break
    return basis


def _combination(basis: list[list[Fraction]], pivots: list[int], j: int) -> tuple[int, list[int]]:
    """A factor and weights w such that factor times coordinate j of a vector in the span is w.vector, in integers."""
    common = math.lcm(*(row[j].denominator for row in basis))
    weights = [0] * len(basis[0])
    for p, row in zip(pivots, basis, strict=True):
        weights[p] = int(row[j] * common)
    return common, weights


def pivot_columns(basis: Sequence[Sequence[Fraction]]) -> list[int]:
    """Coordinates that tell the vectors of the span apart."""
    return [next(j for j, c in enumerate(row) if c) for row in basis]


def orthogonal_integers(basis: Sequence[Sequence[Fraction]], d: int) -> list[list[int]]:
    """Integer vectors orthogonal to the span, one for each dimension that it lacks."""
    pivots = pivot_columns(basis)
    found = []
    for free in (j for j in range(d) if j not in pivots):
        normal = [Fraction(0)] * d
        normal[free] = Fraction(1)
        for p, row in zip(pivots, basis, strict=True):
            normal[p] = -row[free]
        common = math.lcm(*(c.denominator for c in normal))
        whole = [int(c * common) for c in normal]
        shrink = math.gcd(*whole)
        found.append([c // shrink for c in whole])
    return found


def normals_of_hull(rows: IntArray) -> list[list[int]]:
    """Integer normals of the hyperplanes that hold all rows (m, d); none if the rows span the whole space."""
    d = rows.shape[1]
    if len(rows) == 0:
        return []
    away = rows - rows[0]
    away = away[(away != 0).any(axis=1)]
    if len(away) > d and not look_flat(away.astype(np.float64)):
        return []
    return orthogonal_integers(spanning_rows(away.tolist(), d), d)


def in_span(vectors: Vectors) -> tuple[Vectors, list[int]] | None:
    """The vectors in coordinates that tell them apart, and which those are; None if that takes all coordinates."""
    m, d = vectors.shadow.shape
    if not look_flat(vectors.shadow):
        return None
    columns = pivot_columns(spanning_rows((vectors.exactly(j) for j in range(m)), d))
    if len(columns) == d:
        return None
    exact = [[vectors.exactly(j)[c] for c in columns] for j in range(m)]
    scaled = [[c / max(map(abs, v)) for c in v] for v in exact]
    return Vectors(np.array(scaled, dtype=np.float64), vectors.weights, exact.__getitem__), columns


def spread_out(normals: NDArray[Any], columns: list[int], d: int) -> NDArray[Any]:
    """Normals in some coordinates as normals in all: those left out say nothing about vectors in the span."""
    whole = np.zeros((len(normals), d), dtype=normals.dtype)
    whole[:, columns] = normals
    return whole
