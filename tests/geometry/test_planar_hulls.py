"""Hulls and lines in the plane, plain and compiled, against their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.paper import polytopes as planar_hulls
from tukeydp.paper.halfspaces import beside_lines
from tukeydp.paper.polytopes import planar_hull

coordinate = st.integers(-4, 4)
points_of = st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=20)


def turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def corners(points):
    """By definition: a point that is in no segment and no triangle of others."""
    distinct = sorted(set(points))
    found = set()
    for p in distinct:
        others = [q for q in distinct if q != p]
        # Some open halfplane with p on its edge holds all others, or they lie on one ray from p.
        if not others or any(
            all(turn(p, q, r) > 0 or (turn(p, q, r) == 0 and ahead(p, q, r)) for r in others) for q in others
        ):
            found.add(p)
    return found


def ahead(p, q, r):
    return (q[0] - p[0]) * (r[0] - p[0]) + (q[1] - p[1]) * (r[1] - p[1]) > 0


@given(points_of)
def test_hulls_have_the_corners_of_the_definition_compiled_or_not(points):
    from tukeydp.paper.polytope_kernels import compiled_chain

    table = np.array(points, dtype=np.float64)
    plain = planar_hull(table)
    assert {points[i] for i in plain} == corners(points)
    order, hull = np.lexsort((table[:, 1], table[:, 0])), np.empty(2 * len(points) + 2, dtype=np.int64)
    count = compiled_chain(table[:, 0].copy(), table[:, 1].copy(), order, hull)
    assert hull[:count].tolist() == plain.tolist()


def test_many_points_get_the_hull_that_few_get(monkeypatch):
    table = np.random.default_rng(3).normal(size=(400, 2))
    plain = planar_hull(table)
    monkeypatch.setattr(planar_hulls, "_MANY_POINTS", 1)
    assert planar_hull(table).tolist() == plain.tolist()


@given(st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=12, unique=True), st.data())
def test_the_weights_beside_lines_are_those_counted_one_by_one(points, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(points), max_size=len(points)))
    pairs, normals, above, below = beside_lines(np.array(points, dtype=np.float64), np.array(weights))
    assert pairs.tolist() == [list(pair) for pair in combinations(range(len(points)), 2)]
    for (i, j), normal, left, right in zip(pairs.tolist(), normals, above.tolist(), below.tolist(), strict=True):
        sides = [turn(points[i], points[j], r) for r in points]
        assert left == sum(w for w, side in zip(weights, sides, strict=True) if side > 0)
        assert right == sum(w for w, side in zip(weights, sides, strict=True) if side < 0)
        assert np.isclose(np.hypot(*normal), 1.0)
        assert all(
            np.sign(normal @ np.subtract(r, points[i]).round(9)) == np.sign(side)
            for r, side in zip(points, sides, strict=True)
            if side
        )
