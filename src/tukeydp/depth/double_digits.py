"""Compiled arithmetic with twice the digits of a float: a number is an unevaluated sum of two floats (Dekker 1971).

A sum or a product of numbers a, b is off by at most 2^-102 of |a| + |b| or |a b|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.matrices import Integers
from tukeydp.trusted.parameters import FloatArray

_HALVES = 2.0**27 + 1.0
_EXACT = 2**53  # integers below this are floats


def doubled(vectors: Integers) -> FloatArray:
    """Nonzero integer vectors (m, d) as numbers (m, d, 2), each vector over a power of two: no entry exceeds one."""
    largest = np.abs(vectors).max(axis=1).tolist()
    if max(largest) < _EXACT:
        beyond = np.exp2([[c.bit_length()] for c in largest])
        return np.stack([vectors.astype(np.float64) / beyond, np.zeros(vectors.shape)], axis=2)
    beyond_long = [1 << c.bit_length() for c in largest]
    return np.array([[_two(c, b) for c in v] for v, b in zip(vectors.tolist(), beyond_long, strict=True)])


def _two(numerator: int, denominator: int) -> tuple[float, float]:
    high = numerator / denominator
    top, bottom = high.as_integer_ratio()
    return high, (numerator * bottom - top * denominator) / (denominator * bottom)


@compiled
def minor(u: Any, v: Any, a: int, b: int) -> Any:
    """The determinant of two vectors in columns a and b."""
    x, y = _product(u[a, 0], u[a, 1], v[b, 0], v[b, 1])
    z, w = _product(u[b, 0], u[b, 1], v[a, 0], v[a, 1])
    return _sum(x, y, -z, -w)


@compiled
def sum_of_products(factors: Any, vector: Any, columns: Any) -> float:
    """The sum of three factors times entries of a vector, as one float."""
    high = low = 0.0
    for i in range(3):
        c = columns[i]
        x, y = _product(factors[i, 0], factors[i, 1], vector[c, 0], vector[c, 1])
        high, low = _sum(high, low, x, y)
    return high


@compiled
def _product(a: float, a_low: float, b: float, b_low: float) -> Any:
    product = a * b
    a_half, b_half = _half(a), _half(b)
    a_rest, b_rest = a - a_half, b - b_half
    error = ((a_half * b_half - product) + a_half * b_rest + a_rest * b_half) + a_rest * b_rest
    return _tidy(product, error + (a * b_low + a_low * b))


@compiled
def _sum(a: float, a_low: float, b: float, b_low: float) -> Any:
    total = a + b
    of_b = total - a
    error = (a - (total - of_b)) + (b - of_b)
    return _tidy(total, error + (a_low + b_low))


@compiled
def _half(a: float) -> float:
    """The first half of a float's digits."""
    large = _HALVES * a
    return large - (large - a)


@compiled
def _tidy(high: float, low: float) -> Any:
    total = high + low
    return total, low - (total - high)
