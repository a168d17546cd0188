"""The affine hull of the rows, in rational arithmetic: which columns determine the others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.matrices import reduced_echelon

# Smallest singular value, relative to the largest coordinate, from which on floats may say that rows span all columns:
# far above rounding (1e-16), so that they never say so wrongly. Larger: speed only, more data take the rational way.
_SURELY_FULL = 1e-6


@dataclass(frozen=True, eq=False)
class Hull:
    """The affine hull of the data: every column is base + slopes (columns - base there), exactly."""

    columns: list[int]
    base: list[Fraction]
    slopes: list[list[Fraction]]

    def lifted(self, vertices: FloatArray) -> FloatArray:
        slopes = np.array([[float(c) for c in row] for row in self.slopes])
        base = np.array([float(c) for c in self.base])
        lifted = base + (vertices - base[self.columns]) @ slopes
        lifted[:, self.columns] = vertices
        return lifted


def affine_hull(rows: FloatArray, z: FloatArray) -> Hull:
    """Which columns determine the others, and how. Floats tell most full-dimensional data at once."""
    n, d = rows.shape
    base = [Fraction(c) for c in rows[0].tolist()]
    if n > d:
        size = np.abs(z).max()
        if np.isfinite(size) and np.linalg.svd((z - z[0]) / max(size, 1.0), compute_uv=False)[-1] > _SURELY_FULL:
            return Hull(list(range(d)), base, [[Fraction(int(i == j)) for j in range(d)] for i in range(d)])
    basis: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in np.unique(rows, axis=0).tolist():
        basis.append([Fraction(a) - b for a, b in zip(row, base, strict=True)])
        pivots = reduced_echelon(basis, d)
        del basis[len(pivots) :]  # a row that depends on those before it is zero now
        if len(pivots) == d:
            break
    return Hull(pivots, base, basis)
