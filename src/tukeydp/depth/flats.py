"""Vectors that span less than the whole space: in which of their coordinates they can be told apart, exactly.

Rows in a plane, a constant column, one column the sum of others. A halfspace's count depends on its normal only through
the products with the vectors, so that depth in the span is depth: and there nothing is degenerate any more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.depth.projections import Vector
from tukeydp.depth.vectors import Vectors
from tukeydp.trusted.matrices import reduced_echelon
from tukeydp.trusted.parameters import FloatArray, IntArray

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
