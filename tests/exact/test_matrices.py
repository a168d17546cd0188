"""Determinants, inverses and echelon forms against python-flint, and against their own definitions."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tukeydp.trusted.matrices import determinant, integers, inverse, rational_determinant, reduced_echelon

# Small entries make singular matrices and zero pivots; large ones do not fit in 64 bits.
ENTRIES = st.one_of(st.integers(-2, 2), st.integers(-50, 50), st.integers(-(2**90), 2**90))
RATIONALS = st.one_of(st.integers(-1, 1).map(Fraction), st.fractions(-9, 9, max_denominator=2**70))


def matrices(rows, columns, entries):
    return st.lists(st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def rational(entry):
    return flint.fmpq(entry.numerator, entry.denominator)


def fractions(matrix):
    return [[Fraction(int(c.p), int(c.q)) for c in row] for row in matrix.tolist()]


def test_no_integer_becomes_a_float():
    """numpy by itself takes a list like this one for floats."""
    for values in ([2**63 + 1, -1], [[2**63 + 1], [-1]], [np.int64(2**62), 2**63 + 1], [1, -1]):
        array = integers(values)
        assert all(type(v) is int for v in array.ravel())
        assert array.tolist() == values


@given(st.integers(1, 6).flatmap(lambda d: matrices(d, d, ENTRIES)))
@settings(max_examples=300, deadline=None)
def test_determinant_and_inverse_are_those_of_flint(rows):
    matrix, judge = integers(rows), flint.fmpz_mat(rows)
    value = determinant(matrix)
    assert value == int(judge.det())
    assert matrix.tolist() == rows  # not modified
    found = inverse(matrix)
    assert matrix.tolist() == rows
    assert (found is None) == (value == 0)
    if found is not None:
        numerators, denominator = found
        assert denominator == abs(value)
        assert all(type(v) is int for v in numerators.ravel())
        assert [[Fraction(v, denominator) for v in row] for row in numerators.tolist()] == fractions(judge.inv())
        assert (matrix @ numerators == integers(np.eye(len(rows), dtype=np.int64)) * denominator).all()


@pytest.mark.parametrize(
    "rows", [[[0, 1], [1, 0]], [[0, 2, 0], [0, 0, 3], [5, 0, 0]], [[0, 0, 1], [0, 1, 0], [1, 0, 0]]]
)
def test_zero_pivots_are_swapped_and_the_sign_follows(rows):
    assert determinant(integers(rows)) == int(flint.fmpz_mat(rows).det())
    numerators, denominator = inverse(integers(rows))
    assert denominator > 0
    assert (integers(rows) @ numerators == integers(np.eye(len(rows), dtype=np.int64)) * denominator).all()


def test_singular_and_empty_matrices():
    assert determinant(integers([[0]])) == 0
    assert inverse(integers([[1, 2, 3], [4, 5, 6], [7, 8, 9]])) is None
    assert determinant(integers(np.empty((0, 0), dtype=object))) == 1
    assert rational_determinant([]) == 1


@given(st.integers(1, 5).flatmap(lambda d: matrices(d, d, RATIONALS)))
@settings(max_examples=150, deadline=None)
def test_determinants_of_rationals_are_those_of_flint(rows):
    value = flint.fmpq_mat([[rational(c) for c in row] for row in rows]).det()
    assert rational_determinant(rows) == Fraction(int(value.p), int(value.q))


@given(st.data(), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_the_echelon_form_is_that_of_flint(data, height, width):
    rows = data.draw(matrices(height, width, RATIONALS))
    if height > 1 and data.draw(st.booleans()):
        rows[-1] = [2 * a - b for a, b in zip(rows[0], rows[height // 2], strict=True)]
    form, rank = flint.fmpq_mat([[rational(c) for c in row] for row in rows]).rref()
    reduced = [list(row) for row in rows]
    pivots = reduced_echelon(reduced, width)
    assert reduced == fractions(form)
    assert len(pivots) == rank
    for i, pivot in enumerate(pivots):
        assert [row[pivot] for row in reduced] == [int(i == j) for j in range(height)]


def test_columns_to_the_right_are_carried_along():
    """As in solving: x + 2 y = 5 and 3 x + 4 y = 6."""
    rows = [[Fraction(c) for c in row] for row in ([1, 2, 5], [3, 4, 6])]
    assert reduced_echelon(rows, 2) == [0, 1]
    assert [row[2] for row in rows] == [-4, Fraction(9, 2)]
