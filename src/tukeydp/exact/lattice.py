"""Reduced bases of the grid: integer matrices that keep grid points and their number, and fit slanted sets.

A box {y : low <= U y <= high} with U unimodular holds as many grid points as the product of its widths, and fits a
stretched or rotated set far better than one along the axes. Which U is used affects speed only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.exact.matrices import integers, inverse

# Bits of the Gram matrix in integers: all that floats hold, and room for entries of different sizes. Speed only.
_GRAM_BITS = 120
# Parts of the largest entry that are added to the diagonal where the floats are too coarse to be definite. Speed only.
_RIDGES = (2.0**-50, 2.0**-44)


@dataclass(frozen=True)
class Basis:
    """A unimodular integer matrix and its inverse."""

    matrix: tuple[tuple[int, ...], ...]
    inverse: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        d = range(len(self.matrix))
        product = [[sum(self.matrix[i][k] * self.inverse[k][j] for k in d) for j in d] for i in d]
        if product != [[int(i == j) for j in d] for i in d]:
            raise ArithmeticError("a basis and its inverse do not belong together")

    def point(self, coordinates: Sequence[int]) -> list[int]:
        """The grid point with these coordinates."""
        return [sum(a * z for a, z in zip(row, coordinates, strict=True)) for row in self.inverse]


def reduced_basis(shape: FloatArray) -> Basis | None:
    """An LLL-reduced basis for the quadratic form `shape`, whose value at u is a set's squared width along u.

    None if the shape is no use.
    """
    largest = float(np.abs(shape).max(initial=0.0))
    if not np.isfinite(largest) or largest < 1:
        return None
    # A grid step is the least width that matters; added to the diagonal it keeps the form definite, and where the
    # floats are too coarse for that, more is added.
    for ridge in (1.0, *(largest * part for part in _RIDGES)):
        scaled = np.ldexp((shape + shape.T) / 2 + ridge * np.eye(len(shape)), _GRAM_BITS - int(np.frexp(largest)[1]))
        matrix = _lll([[int(entry) for entry in row] for row in scaled.tolist()])
        if matrix is not None:
            inverted = inverse(integers(matrix))
            assert inverted is not None  # row operations on the identity: the determinant is 1 or -1
            return Basis(tuple(map(tuple, matrix)), tuple(map(tuple, inverted[0].tolist())))
    return None


def short_rows(gram: list[list[int]]) -> list[list[int]]:
    """Rows of a unimodular matrix that makes vectors with these products, which are independent, short."""
    rows = _lll(gram)
    if rows is None:
        raise ArithmeticError("vectors of a basis are dependent")
    return rows


def log_gain(basis: Basis, shape: FloatArray) -> float:
    """How much smaller, in logarithm, a box in the basis is than one along the axes, for a set of this shape."""
    rows = np.array(basis.matrix, dtype=np.float64)
    slanted = np.maximum(np.einsum("ij,jk,ik->i", rows, shape, rows), 1.0)
    return float(np.log(np.maximum(np.diag(shape), 1.0) / slanted).sum() / 2)


def _lll(gram: list[list[int]]) -> list[list[int]] | None:
    """Rows of a reduced basis of Z^d for an integer Gram matrix: the integral LLL algorithm (de Weger 1987).

    dets[i] is the Gram determinant of the first i vectors, lam[i][j] = dets[j+1] * mu_ij; all divisions are exact.
    """
    d = len(gram)
    basis = [[int(i == j) for j in range(d)] for i in range(d)]
    dets = [1] + [0] * d
    lam = [[0] * d for _ in range(d)]

    def inner(u: list[int], v: list[int]) -> int:
        return sum(a * sum(g * b for g, b in zip(row, v, strict=True)) for a, row in zip(u, gram, strict=True) if a)

    for k in range(d):
        for j in range(k + 1):
            value = inner(basis[k], basis[j])
            for i in range(j):
                value = (dets[i + 1] * value - lam[k][i] * lam[j][i]) // dets[i]
            if j < k:
                lam[k][j] = value
            else:
                dets[k + 1] = value
        if dets[k + 1] <= 0:
            return None

    def reduce(k: int, j: int) -> None:
        times = (2 * lam[k][j] + dets[j + 1]) // (2 * dets[j + 1])
        if times:
            basis[k] = [a - times * b for a, b in zip(basis[k], basis[j], strict=True)]
            lam[k][j] -= times * dets[j + 1]
            for i in range(j):
                lam[k][i] -= times * lam[j][i]

    def swap(k: int) -> None:
        basis[k], basis[k - 1] = basis[k - 1], basis[k]
        for j in range(k - 1):
            lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
        coupling = lam[k][k - 1]
        new = (dets[k - 1] * dets[k + 1] + coupling * coupling) // dets[k]
        for i in range(k + 1, d):
            old = lam[i][k]
            lam[i][k] = (dets[k + 1] * lam[i][k - 1] - coupling * old) // dets[k]
            lam[i][k - 1] = (new * old + coupling * lam[i][k]) // dets[k + 1]
        dets[k] = new

    k = 1
    while k < d:
        reduce(k, k - 1)
        # Lovasz' condition with 3/4.
        if 4 * (dets[k + 1] * dets[k - 1] + lam[k][k - 1] ** 2) < 3 * dets[k] * dets[k]:
            swap(k)
            k = max(1, k - 1)
        else:
            for j in range(k - 2, -1, -1):
                reduce(k, j)
            k += 1
    return basis
