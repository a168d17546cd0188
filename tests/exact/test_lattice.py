"""Reduced bases: unimodular always, short where it matters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.matrices import Basis, reduced_basis


def defect(matrix, shape):
    """Product of the basis vectors' widths over the volume they cannot go below."""
    widths = [np.sqrt(u @ shape @ u) for u in np.array(matrix, dtype=float)]
    return np.prod(widths) / np.sqrt(np.linalg.det(shape))


def ellipsoid(d, condition, seed):
    frame = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    widths = np.geomspace(1, condition, d) * 100
    return frame @ np.diag(widths**2) @ frame.T


@pytest.mark.parametrize(("d", "most"), [(2, 1.1), (3, 1.5), (5, 3), (10, 30)])
def test_stretched_ellipsoids_become_round(d, most):
    shape = ellipsoid(d, 1e5, seed=d)
    basis = reduced_basis(shape)
    assert defect(np.eye(d), shape) > 100
    assert defect(basis.matrix, shape) < most


@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([1.0, 1e3, 1e9, 1e15]))
def test_every_basis_is_unimodular(d, seed, condition):
    basis = reduced_basis(ellipsoid(d, condition, seed))
    assert round(abs(np.linalg.det(np.array(basis.matrix, dtype=object).astype(float)))) == 1
    y = [seed % 7 - 3] * d
    z = [sum(a * c for a, c in zip(row, y, strict=True)) for row in basis.matrix]
    assert basis.point(z) == y


def test_equal_columns_are_subtracted_from_each_other():
    basis = reduced_basis(np.full((4, 4), 2.0**80))
    assert sorted(sum(map(abs, row)) for row in basis.matrix) == [1, 2, 2, 2]


@pytest.mark.parametrize("shape", [np.full((2, 2), np.nan), np.zeros((3, 3)), np.full((2, 2), np.inf)])
def test_useless_shapes_give_no_basis(shape):
    assert reduced_basis(shape) is None


def test_a_wrong_inverse_is_never_used():
    with pytest.raises(ArithmeticError):
        Basis(((1, 1), (0, 1)), ((1, 1), (0, 1)))


def test_a_slanted_box_holds_as_many_grid_points_as_its_size():
    box = Box((-2, 1), (3, 4), Basis(((2, 1), (1, 1)), ((1, -1), (-1, 2))))
    inside = [
        y for y in itertools.product(range(-30, 31), repeat=2) if -2 <= 2 * y[0] + y[1] <= 3 and 1 <= y[0] + y[1] <= 4
    ]
    assert len(inside) == box.size == 24
    assert {tuple(box.point(z)) for z in itertools.product(range(-2, 4), range(1, 5))} == set(inside)


def points_between(matrix, low, high, extent):
    """All grid points y with |y_j| <= extent_j and low <= matrix y <= high, by looking at each."""
    y = np.array(list(itertools.product(*(range(-r, r + 1) for r in extent))), dtype=np.int64)
    z = y @ np.array(matrix, dtype=np.int64).T
    return y[((z >= low) & (z <= high)).all(axis=1)]


@given(st.integers(2, 3), st.integers(0, 10**6), st.sampled_from([1, 5, 20]), st.data())
def test_boxes_in_a_reduced_basis_count_grid_points_exactly(d, seed, condition, data):
    basis = reduced_basis(ellipsoid(d, condition, seed))
    low = data.draw(st.tuples(*[st.integers(-4, 2)] * d))
    widths = data.draw(st.tuples(*[st.integers(1, 4)] * d))
    box = Box(low, tuple(a + w - 1 for a, w in zip(low, widths, strict=True)), basis)
    furthest = [max(abs(a), abs(b)) for a, b in zip(box.low, box.high, strict=True)]
    extent = [sum(abs(e) * z for e, z in zip(row, furthest, strict=True)) for row in basis.inverse]
    assume(np.prod([2.0 * r + 1 for r in extent]) < 200_000)
    inside = points_between(basis.matrix, box.low, box.high, extent)
    assert len(inside) == box.size == np.prod(widths)
    reached = itertools.product(*(range(a, b + 1) for a, b in zip(box.low, box.high, strict=True)))
    assert {tuple(box.point(z)) for z in reached} == set(map(tuple, inside.tolist()))


def test_a_matrix_that_is_not_unimodular_would_miscount():
    """The control: of the 6 x 4 values between the ends, this one of determinant two reaches only half."""
    assert len(points_between([[2, 0], [1, 1]], (-2, 1), (3, 4), (9, 9))) == 12
