"""Exact level sets by cutting planes: against enumeration, against exact depth at large n, parts by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tukeydp as td
from tukeydp.depth.of_points import is_deep
from tukeydp.paper import depth_regions as bodies
from tukeydp.paper.polytope_kernels import lightest, ranked, settle

PULL = 1e-6


def assert_exact(region, x, level, count):
    """Vertices moved in a little have the depth, and middles of facets moved out a little do not: some of each."""
    rng = np.random.default_rng(0)
    d = x.shape[1]
    normals, offsets = region.halfspaces
    centre = region.vertices.mean(axis=0)
    some = rng.choice(len(region.vertices), min(count, len(region.vertices)), replace=False)
    assert is_deep(centre + (1 - PULL) * (region.vertices[some] - centre), x, level).all()
    on = np.abs(region.vertices @ normals.T - offsets) <= 1e-9 * np.ptp(region.vertices)
    assert (on.sum(axis=0) >= d).all()
    some = rng.choice(len(normals), min(count, len(normals)), replace=False)
    middles = np.array([region.vertices[on[:, i]].mean(axis=0) for i in some])
    assert not is_deep(centre + (1 + PULL) * (middles - centre), x, level).any()


@pytest.mark.parametrize(
    ("n", "d", "levels"),
    [
        (20_000, 2, (1, 3000)),
        (300, 3, (1, 70)),
        (60, 4, (1, 9)),
        (25, 5, (2,)),
        pytest.param(100_000, 2, (10, 20_000), marks=pytest.mark.slow),
        pytest.param(2000, 3, (10, 400), marks=pytest.mark.slow),
        pytest.param(300, 4, (50,), marks=pytest.mark.slow),
    ],
)
def test_large_data_against_exact_depth(n, d, levels):
    x = np.random.default_rng(n).normal(size=(n, d)) @ (np.eye(d) + np.triu(np.ones((d, d)), 1))
    for level in levels:
        assert_exact(td.level_set(x, level), x, level, count=12 if d < 5 else 1)


def shapes():
    rng = np.random.default_rng(0)
    turn = 2 * np.pi * np.arange(24) / 24
    return {
        "circle": np.column_stack([np.cos(turn), np.sin(turn)]),
        "lattice": np.array(list(itertools.product(range(5), repeat=2)), dtype=float),
        "cube lattice": np.array(list(itertools.product(range(3), repeat=3)), dtype=float),
        "bits": rng.integers(0, 2, size=(20, 4)).astype(float),
        "heavy tails": rng.standard_cauchy(size=(20, 3)),
        "tenths": np.rint(rng.normal(size=(30, 3)) * 4) * 0.1,
        "clusters": np.repeat(rng.normal(size=(8, 3)), 4, axis=0) + np.tile([[0, 0, 0], [1e-6, 0, 0]], (16, 1)),
        "narrow": rng.normal(size=(14, 3)) @ np.array([[1, 100, 100], [0, 1, 100], [0, 0, 1.0]]),
    }


@pytest.mark.parametrize("name", shapes())
def test_all_levels_against_enumeration(name, monkeypatch):
    x = shapes()[name]
    enumerated = td.level_volumes(x)
    monkeypatch.setattr(bodies, "_FEW_TUPLES", 0)
    assert td.level_volumes(x) == pytest.approx(enumerated, rel=1e-7, abs=1e-9 * enumerated[1])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 3).flatmap(
        lambda d: arrays(np.float64, st.tuples(st.integers(1, 9), st.just(d)), elements=st.integers(-3, 3))
    )
)
def test_all_levels_of_few_integers_against_enumeration(x):
    enumerated = td.level_volumes(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_FEW_TUPLES", 0)
        assert td.level_volumes(x) == pytest.approx(enumerated, abs=1e-9)


def test_volumes_of_narrow_data():
    """Inner radii of 1e-7: the hull must be taken in coordinates in which the polytope is round."""
    shear = np.eye(4) + np.triu(np.ones((4, 4)), 1) * 100
    x = np.random.default_rng(7).integers(-1000, 1000, size=(11, 4)).astype(float)
    volumes = td.level_volumes(x)
    assert td.level_volumes(x @ shear) == pytest.approx(volumes, rel=1e-6)
    for level in range(1, len(volumes)):
        assert td.level_set(x @ shear, level).volume == pytest.approx(volumes[level], rel=1e-6)


def test_levels_above_the_top_are_empty():
    x = np.random.default_rng(1).normal(size=(9000, 2))
    deepest = bodies.body_of(x, td.Exact()).top()
    assert td.level_set(x, deepest).volume > 0
    assert is_deep(td.level_set(x, deepest).vertices.mean(axis=0), x, deepest).all()
    for level in (deepest + 1, 4500, 9000):
        empty = td.level_set(x, level)
        assert (empty.volume, len(empty.vertices)) == (0.0, 0)


def test_single_deepest_point_among_many_rows():
    """All lines through the origin halve the rows, so the top level is that point alone; so it is off the origin."""
    half = np.random.default_rng(2).integers(1, 10**6, size=(3500, 2)).astype(float) * [1, -1]
    x = np.vstack([half, -half, [[0.0, 0.0]]])
    top = td.level_set(x + 5, 3501)
    assert top.volume == 0.0
    assert top.vertices == pytest.approx(np.full((1, 2), 5.0))
    assert top.contains([[5, 5], [5, 5.5]]).tolist() == [True, False]
    assert len(td.level_set(x + 5, 3502).vertices) == 0


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_lightest_direction_of_a_cone(d):
    """The cone of the axes at the origin, rows in general position: brute force over many shares."""
    rng = np.random.default_rng(d)
    many = rng.dirichlet(np.full(d, 0.7), size=20_000)
    for _ in range(20):
        z, weights = rng.normal(size=(9, d)) + 0.3, rng.integers(1, 4, size=9)
        shares = np.empty(d)

        def search(level, z=z, weights=weights, shares=shares):
            return lightest(z, weights, level, shares)

        def weight(where, z=z, weights=weights):
            return int((((where @ z.T) >= 0) @ weights).min())

        found = weight(many)
        light = search(found + 1)
        assert light <= found
        assert weight(shares) == light
        while search(found) < found:  # a cell that the many shares missed
            assert weight(shares) < found
            found = weight(shares)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 4)), min_size=1, max_size=12), st.data())
def test_weighted_ranks(rows, data):
    values, weights = np.array([float(v) for v, _ in rows]), np.array([w for _, w in rows])
    level = data.draw(st.integers(1, int(weights.sum())))
    assert values[ranked(values, weights, level)] == np.sort(np.repeat(values, weights))[-level]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_descent_ends_on_rows_and_never_higher(d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(40, d))
    weights = np.ones(40, dtype=np.int64)
    for level in (1, 5, 12):
        u = rng.normal(size=d)
        v = u / (u @ u)
        before = np.sort(points @ v)[-level]
        members = np.full(d, -1)
        assert settle(points, weights, level, v, u, members) == d
        assert v @ u == pytest.approx(1)
        assert points[members] @ v == pytest.approx(np.full(d, points[members[0]] @ v))
        assert np.sort(points @ v)[-level] == pytest.approx(points[members[0]] @ v)
        assert np.sort(points @ v)[-level] <= before + 1e-12
