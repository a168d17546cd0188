"""Grid points of planes: none is missing, none is twice there."""

from __future__ import annotations

import itertools
import math
from unittest.mock import DEFAULT, patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.regions import region
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.sizes import slices
from tukeydp.trusted.sizes.linear_programs import Region
from tukeydp.trusted.sizes.slices import count_in_slices, pinned, points_of_plane

BOUND = 6


@pytest.mark.parametrize("d", [2, 3])
def test_all_grid_points_of_a_plane_are_found_once(d):
    @given(st.tuples(*[st.integers(-9, 9)] * d).filter(any), st.integers(-12, 12))
    def check(normal, value):
        found = points_of_plane(integers(list(normal)), value)
        there = [y for y in itertools.product(range(-BOUND, BOUND + 1), repeat=d) if np.dot(normal, y) == value]
        assert (found is None) == bool(value % math.gcd(*normal))
        if found is None:
            assert not there
            return
        point, basis = found
        assert int(integers(list(normal)) @ point) == value
        # A basis of all grid points in the plane through zero: its minors are the shortest integer normal's entries.
        minors = [round(np.linalg.det(np.delete(basis, j, axis=0).astype(float))) for j in range(d)]
        assert [abs(c) for c in minors] == [abs(c) // math.gcd(*normal) for c in normal]

    check()


def test_pairs_that_leave_one_value_pin_a_plane():
    normals, offsets = integers([[2, 4], [-2, -4], [1, 0], [-1, 0], [3, 1]]), integers([7, -5, 4, 3, 0])
    ((normal, value),) = pinned(normals, offsets)
    assert (normal.tolist(), value) == ([1, 2], 3)
    assert not pinned(integers([[1, 2], [-1, -2]]), integers([1, 0]))
    # The closest of equal halfspaces counts.
    assert len(pinned(integers([[1, 2], [-1, -2], [1, 2]]), integers([1, 0, 0]))) == 1


FAR = 2**41


def cross(a, b):
    return integers([int(a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2]) for i in range(3)])


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("stretch", [(1, 1), (5, 3), (1, 7)])
def test_a_triangle_as_far_as_the_grid_goes_is_counted(stretch, hidden):
    """By Pick's theorem in its plane. Boxes around it hold 10^24 grid points and more, whatever their coordinates."""
    rng = np.random.default_rng(5)
    first, second = (integers(rng.integers(-FAR, FAR, size=3)) * factor for factor in stretch)
    normal = cross(first, second)
    corners = [integers([1, -2, 3]), first + [1, -2, 3], second + [1, -2, 3]]
    sides = [integers(b - a) for a, b in itertools.pairwise([*corners, corners[0]])]
    on_sides = sum(math.gcd(*side.tolist()) for side in sides)
    points = (math.gcd(*normal.tolist()) + on_sides) // 2 + 1
    rows = np.stack([normal, -normal, *(cross(side, normal) for side in sides)])
    offsets = integers([max(int(row @ corner) for corner in corners) for row in rows])

    def decide(point):
        violated = [i for i in range(5) if int(rows[i] @ point) > offsets[i]]
        chosen = [0, 1] if violated and violated[0] < 2 else violated
        return (rows[chosen], offsets[chosen]) if chosen else None

    body = region(np.empty((0, 3), dtype=np.int64), [], 8 * FAR)
    if not hidden:
        ends = np.concatenate([rows, body.normals]), np.concatenate([offsets, body.offsets])
        body = Region(*ends, body.centre, body.scale)
    with patch.object(slices, "maximum", wraps=slices.maximum) as programs:
        programs.side_effect = lambda *_: pytest.fail("too many programs") if programs.call_count > 2000 else DEFAULT
        assert count_in_slices(4096, body, decide if hidden else None) == points
