"""Grid points of convex sets, counted slice by slice: against all points of a small box."""

from __future__ import annotations

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.regions import region
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes import slices
from tukeydp.trusted.sizes.slices import SliceCount, count_in_slices

BOUND = 5


def all_points(d: int) -> np.ndarray:
    return np.array(list(itertools.product(range(-BOUND, BOUND + 1), repeat=d)))


def halfspaces(d: int):
    """A few halfspaces; equal ones with opposite signs make flat sets."""
    one = st.tuples(st.tuples(*[st.integers(-4, 4)] * d).filter(any), st.integers(-3, 12), st.booleans())
    return st.lists(one, min_size=0, max_size=5)


def arrays(found, d: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = [pair for v, b, flat in found for pair in [(v, b), *([(tuple(-c for c in v), -b)] if flat else [])]]
    return np.array([v for v, _ in pairs], dtype=np.int64).reshape(-1, d), np.array([b for _, b in pairs])


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_regions_are_counted(d):
    @given(halfspaces(d), st.sampled_from([1, 7, 10**6]))
    def check(found, limit):
        normals, offsets = arrays(found, d)
        truth = int((all_points(d) @ normals.T <= offsets).all(axis=1).sum())
        assert count_in_slices(limit, region(normals, offsets, BOUND)) == min(limit, truth)

    check()


class Hidden:
    """A set behind a region that does not show it: halfspaces come out when a point violates them."""

    def __init__(self, normals: np.ndarray, offsets: np.ndarray) -> None:
        self.normals, self.offsets, self.asked = normals, offsets, 0

    def __call__(self, point):
        self.asked += 1
        violated = np.flatnonzero([v > b for v, b in zip(integers(self.normals) @ point, self.offsets, strict=True)])
        return (integers(self.normals[violated[:1]]), integers(self.offsets[violated[:1]])) if len(violated) else None


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("lines", [1, 4])
def test_hidden_sets_are_counted(d, lines):
    @given(halfspaces(d), st.sampled_from([1, 7, 10**6]))
    def check(found, limit):
        normals, offsets = arrays(found, d)
        truth = int((all_points(d) @ normals.T <= offsets).all(axis=1).sum())
        body = region(np.empty((0, d), dtype=np.int64), [], BOUND)
        with patch.object(slices, "_FIRST_LINES", lines):
            assert count_in_slices(limit, body, Hidden(normals, offsets)) == min(limit, truth)

    check()


@pytest.mark.parametrize("d", [2, 3])
def test_a_count_goes_on_where_it_was_left(d):
    @given(halfspaces(d), st.lists(st.integers(1, 400), min_size=1, max_size=4))
    def check(found, steps):
        normals, offsets = arrays(found, d)
        truth = int((all_points(d) @ normals.T <= offsets).all(axis=1).sum())
        body = region(np.empty((0, d), dtype=np.int64), [], BOUND)
        with patch.object(slices, "_FIRST_LINES", 1):
            count = SliceCount(400, body, Hidden(normals, offsets))
            for enough in sorted(steps):
                assert count.upto(enough) == min(enough, truth)

    check()


FAR = 2**40


@pytest.mark.parametrize(
    ("normals", "offsets", "points"),
    [
        ([[2, -2, 0], [-2, 2, 0]], [1, -1], 0),  # a plane between grid planes
        ([[1, 1, -1], [-1, -1, 1]], [0, 0], 4096),  # a slanted plane of grid points
        ([[1, -1, 0], [-1, 1, 0], [3, 0, -7], [-3, 0, 7]], [0, 0, 1, -1], 4096),  # a line with gaps
        ([[2, 1, 0], [-2, -1, 0], [4, 0, 6], [-4, 0, -6]], [3, -3, 1, -1], 0),  # a line without a grid point
        ([[1000001, -1000000, 0], [-1000001, 1000000, 0], [0, 1, -1], [0, -1, 1], [1, 0, 0], [-1, 0, 0]],
         [0, 0, 5, -5, 3 * 10**6, 10**6], 5),  # a long line with few of them
    ],
)  # fmt: skip
def test_thin_sets_of_astronomical_boxes_take_few_looks(normals, offsets, points):
    normals, offsets = np.array(normals), np.array(offsets)
    assert count_in_slices(4096, region(normals.copy(), offsets, FAR)) == points
    hidden = Hidden(normals, offsets)
    assert count_in_slices(4096, region(np.empty((0, 3), dtype=np.int64), [], FAR), hidden) == points
    assert hidden.asked < 200


def test_round_sets_of_many_points_take_few_looks():
    """Half a ball of a million points: a simplex of known points soon holds enough."""
    rng = np.random.default_rng(0)
    normals = np.rint(rng.normal(size=(200, 3)) * 1000).astype(np.int64)
    offsets = np.rint(np.linalg.norm(normals, axis=1) * 40).astype(np.int64)
    hidden = Hidden(normals, offsets)
    assert count_in_slices(4096, region(np.empty((0, 3), dtype=np.int64), [], 100), hidden) == 4096
    assert hidden.asked < 250
