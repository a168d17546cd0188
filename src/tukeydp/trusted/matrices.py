"""Matrices of integers and of rationals, and bases of the grid: determinant, inverse, echelon form, reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import FloatArray

# Matrices of integers and of rationals: determinant, inverse, echelon form. Exact.
#
# Integers by fraction-free elimination (Bareiss 1968): at every step the entries are minors of the matrix, so that each
# division by the pivot before has no remainder, and numbers stay as short as they can be.

Integers = NDArray[np.object_]  # Python's integers, of any size


def integers(values: Any) -> Integers:
    """An array of Python's integers.

    Lists are never given to numpy to guess a type for: it takes [2**63, -1] for floats.
    """
    if isinstance(values, np.ndarray):
        return values if values.dtype == object else values.astype(object)
    return np.asarray(np.frompyfunc(int, 1, 1)(np.array(values, dtype=object)), dtype=object)


def determinant(matrix: Integers) -> int:
    """The determinant of a square matrix; that of an empty one is 1.

    >>> determinant(integers([[2, 1], [7, 4]]))
    1
    """
    pivot, sign = _bareiss(matrix.copy(), above=False)
    return sign * pivot


def inverse(matrix: Integers) -> tuple[Integers, int] | None:
    """The inverse as a matrix over one positive denominator, the size of the determinant; None if there is none.

    >>> numerators, denominator = inverse(integers([[2, 0], [0, -3]]))
    >>> numerators.tolist(), denominator
    ([[3, 0], [0, -2]], 6)
    """
    d = len(matrix)
    work = np.concatenate([matrix, integers(np.eye(d, dtype=np.int64))], axis=1)
    pivot, _ = _bareiss(work, above=True)
    if not pivot:
        return None
    return (work[:, d:], pivot) if pivot > 0 else (-work[:, d:], -pivot)


def _bareiss(work: Integers, *, above: bool) -> tuple[int, int]:
    """Eliminate in place, with as many columns as there are rows: the last pivot, and the sign of the row swaps.

    Below the diagonal only, or above it too (Gauss-Jordan): what stands to the right of the square is then its inverse
    times the last pivot. Eliminated columns are left as they were; nobody looks at them again. Stops at pivot 0.
    """
    d, previous, sign = len(work), 1, 1
    for column in range(d):
        pivot = next((i for i in range(column, d) if work[i, column] != 0), None)
        if pivot is None:
            return 0, sign
        if pivot != column:
            work[[column, pivot]] = work[[pivot, column]]
            sign = -sign
        head = work[column, column]
        others = [i for i in range(0 if above else column + 1, d) if i != column]
        rest = work[others, column + 1 :] * head - np.outer(work[others, column], work[column, column + 1 :])
        work[others, column + 1 :] = rest // previous
        previous = head
    return int(previous), sign


def rational_determinant(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """The determinant of a square matrix of rationals, in integers over a common denominator."""
    common = math.lcm(*(entry.denominator for row in rows for entry in row))
    whole = integers([[int(entry * common) for entry in row] for row in rows])
    return Fraction(determinant(whole), common ** len(rows))


def reduced_echelon(rows: list[list[Fraction]], columns: int) -> list[int]:
    """Gauss-Jordan elimination in place over the first `columns`; returns the pivot columns.

    Afterwards row i has a one in pivot column i, where all others have a zero; rows beyond the pivots are zero there.
    """
    pivots: list[int] = []
    for column in range(columns):
        r = len(pivots)
        at = next((i for i in range(r, len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        rows[r], rows[at] = rows[at], rows[r]
        head = rows[r][column]
        rows[r] = [c / head for c in rows[r]]
        for i in range(len(rows)):
            if i != r and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[r], strict=True)]
        pivots.append(column)
    return pivots


# Reduced bases of the grid: integer matrices that keep grid points and their number, and fit slanted sets.
#
# A box {y : low <= U y <= high} with U unimodular holds as many grid points as the product of its widths, and fits a
# stretched or rotated set far better than one along the axes. Which U is used affects speed only.

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
