"""Rows in a plane: the exact depth there, its cutting planes, and directions that do not span."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support import oracle
from tukeydp.trusted.exact import depth as exact_depth_module
from tukeydp.trusted.exact.depth import exact_row, from_integers, least_weight
from tukeydp.trusted.exact.vectors import normals_of_hull, spanning_rows
from tukeydp.trusted.parameters import ParameterError

entry = st.integers(-3, 3)


@st.composite
def flat_vectors(draw):
    """Nonzero vectors of d coordinates in a span of dimension 1 ... d - 1."""
    d = draw(st.integers(3, 5))
    rank = draw(st.integers(1, d - 1))
    frame = np.array(draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=rank, max_size=rank)))
    weights = st.lists(st.lists(entry, min_size=rank, max_size=rank), min_size=1, max_size=6)
    vectors = [tuple((np.array(w) @ frame).tolist()) for w in draw(weights)]
    return [v for v in vectors if any(v)] or [(1,) + (0,) * (d - 1)], d


def fewest_by_directions(vectors, d):
    """The fewest vectors in an open halfspace with none on its edge, over all small directions."""
    best = len(vectors)
    for v in itertools.product(range(-7, 8), repeat=d):
        products = [sum(a * b for a, b in zip(v, u, strict=True)) for u in vectors]
        if all(products):
            best = min(best, sum(p > 0 for p in products))
    return best


@given(flat_vectors())
def test_the_least_weight_of_flat_vectors_is_that_of_a_halfspace_and_of_their_span(case):
    vectors, d = case
    found = from_integers(vectors, [1] * len(vectors))
    answer = least_weight(found)
    least, normal = exact_row(found, answer.place)
    products = [sum(a * b for a, b in zip(normal, u, strict=True)) for u in vectors]
    assert all(products)
    assert least == sum(p > 0 for p in products) == answer.least
    if d == 3:
        assert answer.least <= fewest_by_directions(vectors, d)


@given(st.lists(st.tuples(entry, entry, entry), min_size=1, max_size=6))
def test_normals_of_the_hull_hold_all_rows_and_there_are_as_many_as_there_should_be(rows):
    table = np.array(rows)
    normals = normals_of_hull(table)
    assert len(normals) == 3 - np.linalg.matrix_rank((table - table[0]).astype(float))
    for normal in normals:
        assert any(normal)
        assert len({sum(a * b for a, b in zip(normal, row, strict=True)) for row in rows}) == 1


def test_a_span_is_found_exactly_where_floats_would_not():
    large = 2**60
    assert len(spanning_rows([(large, large, 1), (large, large, 0)], 3)) == 2
    assert len(spanning_rows([(large, large + 1, 0), (2 * large, 2 * large + 2, 0)], 3)) == 1


PLANE = list(itertools.product(range(5), repeat=3))


@pytest.mark.parametrize("weights", [(1, 1), (0, 0), (2, -1)])
def test_the_depth_of_points_among_rows_in_a_plane(weights):
    rng = np.random.default_rng(1)
    plane = rng.integers(0, 3, size=(12, 2))
    rows = np.column_stack([plane, plane @ weights])
    directions = [v for v in itertools.product(range(-4, 5), repeat=3) if any(v)]
    points = np.vstack([rows[:4], rows[:4] + [0, 0, 1]])
    wanted = [oracle.depth([tuple(r) for r in rows.tolist()], tuple(y), directions) for y in points.tolist()]
    assert td.tukey_depth(points, rows).tolist() == wanted


@pytest.mark.parametrize("spans", [([1, 0, 1], [0, 1, 2]), ([1, 2, -1],), ([1, 0, 0], [0, 1, 0])])
def test_rows_in_a_plane_or_a_line_leave_hardly_anything_to_slow_integers(spans, monkeypatch):
    """Seen from a point in the plane, every sweep in space is in doubt; those in the plane are not."""
    asked = []

    def counting(vectors, place):
        asked.append(place)
        return exact_row(vectors, place)

    monkeypatch.setattr(exact_depth_module, "exact_row", counting)
    frame = np.array(spans)
    x = np.random.default_rng(0).integers(-100, 100, size=(300, len(frame))) @ frame
    release = td.boxem(x, epsilon=1, bounds=(-400, 400), resolution=1, depth=td.Exact(), randomness=td.seeded(1))
    assert len(asked) < 30
    assert np.linalg.matrix_rank(np.vstack([frame, release.point])) == len(frame)


DIRECTIONS = [
    td.Random(2, axes=False),
    td.Spread(1, axes=False),
    td.Directions([[1, 0, 0], [1, 1, 0], [2, 1, 0]]),
    td.Directions([[3, 1, 2]]),
]


@pytest.mark.parametrize("depth", DIRECTIONS)
@pytest.mark.parametrize("shift", [0, 10**6])
def test_rem_refuses_directions_that_do_not_span_whatever_the_data(depth, shift):
    x = np.random.default_rng(0).normal(size=(300, 3))
    x[150:] += shift
    with pytest.raises(ParameterError, match="span all 3 columns"):
        td.rem(x, epsilon=1, delta=1e-6, depth=depth, randomness=td.seeded(1))


def test_boxem_takes_directions_that_do_not_span():
    x = np.random.default_rng(0).normal(size=(300, 3))
    release = td.boxem(x, epsilon=1, bounds=(-9, 9), depth=DIRECTIONS[3], randomness=td.seeded(1))
    assert np.abs(release.point).max() <= 9


def test_exact_depth_in_thousands_of_columns_needs_a_coarser_grid():
    """Fewer than 2^52 steps, but no room for a digit of a normal beside them."""
    with pytest.raises(ParameterError, match="exact depth in 2048 columns"):
        td.boxem(np.zeros((3, 2048)), epsilon=1, bounds=(-5, 5), resolution="3e-15", depth=td.Exact())
