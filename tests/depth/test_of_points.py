"""Depth on floats against the definition in rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td

number = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 0.30000000000000004, 1e-17, 1e17, 1e17 + 16, 5e-324, 1e200]),
    st.floats(-10, 10),
)
point = st.tuples(number, number)


def by_definition(y, rows, directions):
    def projected(v, p):
        return sum(Fraction(a) * Fraction(b) for a, b in zip(v, p, strict=True))

    counts = []
    for v in directions:
        at = projected(v, y)
        counts += [sum(projected(v, r) >= at for r in rows), sum(projected(v, r) <= at for r in rows)]
    return min(counts)


@given(st.lists(point, min_size=1, max_size=8), st.lists(point, min_size=1, max_size=4))
def test_depth_is_exact_under_ties_and_near_ties(rows, points):
    points = [*points, rows[0]]
    vectors = [[1.0, 0.0], [0.0, 1.0], [0.1, 0.3], [1.0, -1.0], [2.0**0.5, 1e-9]]
    found = td.tukey_depth(points, rows, td.Directions(vectors))
    assert found.tolist() == [by_definition(y, rows, vectors) for y in points]


def test_the_float_filter_alone_would_be_wrong():
    """0.1 + 0.2 and 0.3 project to different reals that floats may confuse after a rotation."""
    rows = [[0.1, 0.2], [0.3, 0.0], [0.0, 0.30000000000000004]]
    exact = by_definition(rows[1], rows, [[1.0, 1.0]])
    assert td.tukey_depth([rows[1]], rows, td.Directions([[1.0, 1.0]])).tolist() == [exact]


def test_shapes_missing_rows_and_far_points():
    assert td.tukey_depth([0, 1, 9], [0, 1, 2], td.AxisAligned()).tolist() == [1, 2, 0]
    assert td.tukey_depth([1.0, 1.0], [[0, 0], [1, 1], [2, 2]], td.AxisAligned()).tolist() == [2]
    rows = [[0.0, 0.0], [math.nan, 0.0], [1.0, math.inf]]
    assert td.tukey_depth([[0, 0], [math.nan, 0], [math.inf, 0]], rows, td.Random(5)).tolist() == [1, 0, 0]
    with pytest.raises(td.ParameterError, match="points"):
        td.tukey_depth([[1, 2, 3]], [[0, 0]], td.AxisAligned())
    with pytest.raises(td.ParameterError, match="depth"):
        td.tukey_depth([[1, 2]], [[0, 0]], "random")


def test_overflow_is_decided_exactly():
    rows = [[1e308], [1.5e308], [1.7e308]]
    assert td.tukey_depth([[1.5e308]], rows, td.Directions([[10.0]])).tolist() == [2]
    rows = [[1e308, 1e308, 0, 0]] * 3
    assert td.tukey_depth([[0] * 4], rows, td.Directions([[10, -10, 0, 0]])).tolist() == [3]


def test_directions_are_not_rounded():
    assert td.tukey_depth([[0, 0]], [[-49, 1]] * 3, td.Directions([[Fraction(1, 49), 1]])).tolist() == [3]
    assert td.tukey_depth([[0, 0]], [[1, 1]] * 3, td.Directions([[2**53 + 1, -(2**53)]])).tolist() == [0]
    assert td.tukey_depth([[0, 0]], [[1, 1]] * 3, td.Directions([["1e-340", 0]])).tolist() == [0]


def test_large_integers_do_not_overflow():
    rows = np.array([[2**52, 1], [2**52 + 1, 0], [0, 0]], dtype=float)
    assert td.tukey_depth(rows, rows, td.Directions([[1, 1]])).tolist() == [2, 2, 1]
