"""Matrices of integers and of rationals: determinant, inverse, echelon form. Exact.

Integers by fraction-free elimination (Bareiss 1968): at every step the entries are minors of the matrix, so that each
division by the pivot before has no remainder, and numbers stay as short as they can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
