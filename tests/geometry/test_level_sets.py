"""Level sets as polytopes: closed forms, independent hulls, exact depth on both sides of every facet, bad input."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import ConvexHull

import tukeydp as td

PULL = 1e-6  # vertices are floats: moved by this part of the way to the centroid they are inside for certain
NOTIONS = [td.Exact(), td.AxisAligned(), td.Random(6, seed=3), td.Random(5, axes=False, seed=4), td.Spread(5, seed=5)]


def small_data(most_rows=9, most_columns=3):
    """Few integers: ties, duplicates, collinear points and flats come by themselves."""
    return st.integers(1, most_columns).flatmap(
        lambda d: arrays(np.float64, st.tuples(st.integers(1, most_rows), st.just(d)), elements=st.integers(-3, 3))
    )


def sign_vectors(d):
    return np.array(list(product([-1.0, 1.0], repeat=d)))


def probes(x, rng, count=40):
    """Rows, midpoints of rows, and random points around them."""
    middles = (x[:, np.newaxis] + x[np.newaxis]).reshape(-1, x.shape[1]) / 2
    around = rng.uniform(x.min(axis=0) - 1, x.max(axis=0) + 1, size=(count, x.shape[1]))
    return np.vstack([x, middles, around])


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_convex_hulls_with_closed_forms(d):
    """The exact level 1 set is the convex hull: cube, simplex, cross-polytope."""
    cube = td.level_set(sign_vectors(d), 1)
    assert cube.volume == pytest.approx(2.0**d)
    assert {tuple(v) for v in np.rint(cube.vertices)} == {tuple(v) for v in sign_vectors(d)}
    assert len(cube.halfspaces[0]) == 2 * d
    simplex = td.level_set(np.vstack([np.zeros(d), np.eye(d)]), 1)
    assert simplex.volume == pytest.approx(1 / math.factorial(d))
    assert len(simplex.vertices) == d + 1
    cross = td.level_set(np.vstack([np.eye(d), -np.eye(d)]), 1)
    assert cross.volume == pytest.approx(2.0**d / math.factorial(d))
    assert len(cross.vertices) == 2 * d


@pytest.mark.parametrize("d", [5, 6])
def test_cross_polytope_by_its_directions(d):
    """Vertices where 2^(d-1) facets meet: as far from a simple polytope as can be."""
    volumes = td.level_volumes(np.vstack([np.eye(d), -np.eye(d)]), td.Directions(sign_vectors(d)))
    assert volumes[1] == pytest.approx(2.0**d / math.factorial(d))


@pytest.mark.parametrize("m", [3, 5, 8, 31])
def test_regular_polygons(m):
    """Level l of a regular m-gon is the m-gon within its diagonals from corner to l-th next corner."""
    turn = 2 * np.pi * np.arange(m) / m
    x = np.column_stack([np.cos(turn), np.sin(turn)])
    volumes = td.level_volumes(x)
    for level in range(1, len(volumes)):
        inner = math.cos(math.pi * level / m)
        assert volumes[level] == pytest.approx(m * inner**2 * math.tan(math.pi / m), abs=1e-9)


def test_boxes_by_order_statistics():
    x = np.random.default_rng(0).normal(size=(40, 3)) * [1, 1e5, 1e-5]
    ordered = np.sort(x, axis=0)
    volumes = td.level_volumes(x, td.AxisAligned())
    for level in range(1, 21):
        assert volumes[level] == pytest.approx(np.prod(ordered[-level] - ordered[level - 1]))


def some_of(points, most):
    """So many of the points, or all: so close to the border, exact depth in four columns takes long."""
    return np.random.default_rng(0).permutation(points)[:most]


@pytest.mark.parametrize(
    ("n", "d", "most"),
    [(25, 2, None), (18, 3, None), (12, 4, 30), pytest.param(12, 4, None, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("depth", NOTIONS)
def test_volumes_and_facets_against_qhull_and_exact_depth(n, d, most, depth):
    x = np.random.default_rng(n).normal(size=(n, d)) @ np.diag(10.0 ** np.arange(d))
    volumes = td.level_volumes(x, depth)
    assert volumes[0] == np.inf
    for level in range(1, len(volumes)):
        region = td.level_set(x, level, depth)
        assert region.volume == pytest.approx(volumes[level], rel=1e-9, abs=1e-300)
        if region.volume == 0:
            continue
        if len(region.vertices) > d:
            assert ConvexHull(region.vertices, qhull_options="QJ").volume == pytest.approx(region.volume, rel=1e-5)
        normals, offsets = region.halfspaces
        centre = region.vertices.mean(axis=0)
        within = centre + (1 - PULL) * (some_of(region.vertices, most) - centre)
        assert (td.tukey_depth(within, x, depth) >= level).all()
        on = np.abs(region.vertices @ normals.T - offsets) <= 1e-9 * np.ptp(x)
        facets = np.array([region.vertices[column].mean(axis=0) for column in on.T])
        assert (on.sum(axis=0) >= d).all()
        beyond = centre + (1 + PULL) * (some_of(facets, most) - centre)
        assert (td.tukey_depth(beyond, x, depth) < level).all()


def test_many_columns():
    """d = 5 against a second convex hull; d = 8 against itself in other coordinates."""
    x = np.random.default_rng(1).normal(size=(60, 8))
    region = td.level_set(x[:, :5], 8, td.Random(10, seed=2))
    assert ConvexHull(region.vertices).volume == pytest.approx(region.volume, rel=1e-8)
    depth = td.Random(6, seed=2)
    turned = td.Directions([v[::-1] for v in depth.in_data_units(8, b"")])
    wide = td.level_set(x[:, ::-1] * 3, 8, turned)
    assert wide.volume == pytest.approx(3.0**8 * td.level_set(x, 8, depth).volume, rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(small_data(), st.sampled_from(NOTIONS), st.integers(0, 2**32 - 1))
def test_membership_is_exact_and_halfspaces_agree(x, depth, seed):
    """Ties, duplicates, flats: every level against the exact depth of many points."""
    points = probes(x, np.random.default_rng(seed))
    depths = td.tukey_depth(points, x, depth)
    volumes = td.level_volumes(x, depth)
    assert depths.max() <= len(volumes) - 1
    assert (np.diff(volumes) <= 1e-9).all()
    for level in range(1, len(volumes) + 1):
        region = td.level_set(x, level, depth)
        assert (region.contains(points) == (depths >= level)).all()
        assert (level < len(volumes)) == (region.volume > 0 or len(region.vertices) > 0)
        normals, offsets = region.halfspaces
        excess = (points @ normals.T - offsets).max(axis=1)
        assert (depths[excess < -1e-7] >= level).all()
        assert (depths[excess > 1e-7] < level).all()
        if level < len(volumes):
            assert region.volume == pytest.approx(volumes[level], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(small_data(), st.sampled_from(NOTIONS[:3]))
def test_nested(x, depth):
    before = None
    for level in range(1, len(td.level_volumes(x, depth))):
        region = td.level_set(x, level, depth)
        if before is not None and len(before.vertices):
            normals, offsets = before.halfspaces
            assert (region.vertices @ normals.T <= offsets + 1e-9).all()
        before = region


@settings(max_examples=25, deadline=None)
@given(small_data(8, 3), st.permutations(range(8)))
def test_order_of_rows_and_affine_maps_do_not_matter(x, order):
    n, d = x.shape
    volumes = td.level_volumes(x)
    shear = np.eye(d) * 2 + np.triu(np.ones((d, d)), 1)
    moved = x[[i for i in order if i < n]] @ shear + 5
    assert td.level_volumes(moved) == pytest.approx(2.0**d * volumes, abs=1e-9)


def test_top_levels_without_volume():
    """A single deepest point that no float can express: where the diagonals of a kite cross."""
    kite = [[0, 0], [3, 1], [7, 7], [0, 5]]
    assert len(td.level_volumes(kite)) == 3
    point = td.level_set(kite, 2)
    assert point.volume == 0.0
    # x = y on one diagonal, 3 y = 15 - 4 x on the other.
    assert point.vertices == pytest.approx(np.full((1, 2), float(Fraction(15, 7))))
    assert not point.contains(point.vertices).any()
    inside = td.level_set([[0, 0], [4, 0], [0, 4], [1, 1]], 2)
    assert inside.vertices.tolist() == [[1, 1]]
    assert inside.contains([[1, 1], [1, 1.0000001]]).tolist() == [True, False]


@pytest.mark.parametrize("depth", NOTIONS)
def test_duplicates(depth):
    x = np.repeat(np.random.default_rng(3).normal(size=(7, 2)), 3, axis=0)
    once, thrice = td.level_volumes(x[::3], depth), td.level_volumes(x, depth)
    assert len(thrice) == 3 * (len(once) - 1) + 1
    assert thrice[1:] == pytest.approx(np.repeat(once[1:], 3))
    heavy = np.vstack([x, np.tile(x[0], (50, 1))])
    assert td.level_set(heavy, 50, depth).vertices == pytest.approx(x[:1])
    assert len(td.level_volumes(np.ones((6, 2)), depth)) == 7
    assert td.level_set(np.ones((6, 2)), 6, depth).vertices == pytest.approx(np.ones((1, 2)))


def test_different_planes_with_many_rows_each():
    """Of planes with more than d rows on them one of each kind is kept: x + y and z - x are not of one kind."""
    x = [[-1, 0, 1], [0, -1, -1], [-2, -2, 0], [0, 0, -1], [2, -1, -2], [-1, -1, 0], [1, 0, -1]]
    x += [[2, -2, -2], [-1, 1, 2], [2, 0, -1], [2, 1, 2], [2, 0, 0], [1, 2, 0]]
    assert td.level_volumes(x)[2] == pytest.approx(3.7740922000113164)
    region = td.level_set(x, 2)
    assert region.volume == pytest.approx(3.7740922000113164)
    centre = region.vertices.mean(axis=0)
    assert (td.tukey_depth(centre + (1 - PULL) * (region.vertices - centre), x) >= 2).all()


def test_flat_data():
    rng = np.random.default_rng(4)
    plane = rng.integers(-50, 50, size=(15, 2)).astype(float)
    x = np.column_stack([plane, plane @ [2, -1] + 3])
    volumes = td.level_volumes(x)
    assert not volumes[1:].any()
    assert len(volumes) == len(td.level_volumes(plane))
    region, shadow = td.level_set(x, 3), td.level_set(plane, 3)
    assert region.vertices[:, :2] == pytest.approx(shadow.vertices)
    assert region.vertices[:, 2] == pytest.approx(shadow.vertices @ [2, -1] + 3)
    assert (region.contains(probes(x, rng)) == (td.tukey_depth(probes(x, rng), x) >= 3))[: len(x)].all()
    line = td.level_set([[0, 0, 0], [1, 2, 3], [2, 4, 6]], 1)
    assert sorted(line.vertices.tolist()) == [[0, 0, 0], [2, 4, 6]]


def test_flat_but_for_rounding():
    """Slivers no thicker than a float's last bit still have points: at least the rows themselves."""
    t = 0.1 * np.arange(30)
    x = np.column_stack([t, 2 * t + 0.3])
    volumes = td.level_volumes(x)
    assert len(volumes) - 1 >= td.tukey_depth(x, x).max()
    assert (volumes[1:] < 1e-9).all()


def test_fewer_rows_than_columns_need():
    assert td.level_volumes([[1.0, 2.0, 3.0]]).tolist() == [np.inf, 0]
    assert td.level_volumes([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]).tolist() == [np.inf, 0]
    assert td.level_set([[1.0, 2.0], [3.0, 5.0]], 1).contains([[2, 3.5], [2, 3.4]]).tolist() == [True, False]
    assert td.level_volumes([[np.nan, 1.0]]).tolist() == [np.inf]
    assert td.level_set([[np.nan, 1.0]], 1).vertices.shape == (0, 2)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e140])
def test_scale_and_place(scale):
    x = np.random.default_rng(5).integers(-1000, 1000, size=(14, 2)).astype(float)
    volumes = td.level_volumes(x)
    assert td.level_volumes(x * scale)[1:] / scale / scale == pytest.approx(volumes[1:])
    assert td.level_volumes(x + 2.0**50) == pytest.approx(volumes)
    assert td.level_volumes(x * [scale, 1 / scale]) == pytest.approx(volumes)
    assert td.level_volumes(x * 1e300)[1] == np.inf
    assert (np.abs(td.level_set(x * 1e300, 1).vertices) <= 1e303).all()


def test_far_rows():
    x = np.random.default_rng(6).normal(size=(15, 3))
    x[:3] *= 1e7
    assert td.level_volumes(x)[1] == pytest.approx(ConvexHull(x).volume, rel=1e-6)
    assert td.level_set(x, 1).volume == pytest.approx(ConvexHull(x).volume, rel=1e-6)
    x[0] = 1e300
    with pytest.raises(td.ParameterError, match="x must not reach"):
        td.level_volumes(x)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("far", [1e12, 1e20])
@pytest.mark.parametrize("depth", NOTIONS[::2])
def test_one_row_far_beyond_what_floats_resolve(d, far, depth):
    """Only the level that reaches out to it is refused. For the others just its direction counts."""
    x = np.random.default_rng(d).normal(size=(14, d))
    x[0] *= 1e8
    volumes = td.level_volumes(x, depth)
    x[0] *= far / 1e8
    beyond = td.level_volumes(x, depth)
    assert beyond[2:] == pytest.approx(volumes[2:], rel=1e-6)
    for level in range(2, len(volumes)):
        region = td.level_set(x, level, depth)
        assert region.volume == pytest.approx(volumes[level], rel=1e-6)
        assert (region.contains(x) == (td.tukey_depth(x, x, depth) >= level)).all()
    with pytest.raises(td.ParameterError, match=r"^level must be one whose set reaches at most 1e\+09 times"):
        td.level_set(x, 1, depth)


def test_directions_that_do_not_span():
    x = np.random.default_rng(7).normal(size=(20, 2))
    slab = td.level_set(x, 4, td.Directions([[1, 1]]))
    assert (slab.volume, slab.vertices.shape) == (np.inf, (0, 2))
    assert slab.contains([[50, -50], [50, 50]]).tolist() == [True, False]
    assert td.level_volumes(x, td.Directions([[1, 1]])).tolist() == [np.inf] * 11


def test_empty_levels():
    x = np.random.default_rng(8).normal(size=(20, 2))
    for depth in NOTIONS:
        top = len(td.level_volumes(x, depth)) - 1
        for level in (top + 1, 20, 21, 10**30):
            empty = td.level_set(x, level, depth)
            assert (empty.volume, empty.vertices.shape) == (0.0, (0, 2))
            assert not empty.contains(x).any()
            normals, offsets = empty.halfspaces
            assert not (x @ normals.T <= offsets).all(axis=1).any()


@pytest.mark.parametrize("level", [0, -1, 1.5, True, None, "1"])
def test_bad_levels(level):
    with pytest.raises(td.ParameterError, match=r"^level must be an integer >= 1"):
        td.level_set([[1.0, 2.0]], level)


def test_bad_parameters():
    with pytest.raises(td.ParameterError, match=r"^points must have 2 columns"):
        td.level_set([[1.0, 2.0]], 1).contains([[1, 2, 3]])
    with pytest.raises(td.ParameterError, match=r"^depth"):
        td.level_volumes([[1.0, 2.0]], "exact")


def test_input_is_not_modified_and_shapes_of_points():
    x = np.array([[-0.0, 1.0], [2.0, 3.0], [4.0, 0.0]])
    kept = x.copy()
    region = td.level_set(x, 1)
    assert region.contains([2, 1.5]).tolist() == [True]
    assert region.contains([[np.nan, 1], [np.inf, 0]]).tolist() == [False, False]
    assert np.signbit(x).tolist() == np.signbit(kept).tolist()
    assert td.level_set([1, 5, 3], 1).contains([0, 1, 4, 6]).tolist() == [False, True, True, False]


def test_contours_draw_nested_regions():
    from tukeydp.paper.level_sets import contours

    x = np.random.default_rng(9).normal(size=(40, 3))
    figure = contours(x)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [(a.get_xlabel(), a.get_ylabel()) for a in shown] == [
        ("column 0", "column 1"),
        ("column 0", "column 2"),
        ("column 1", "column 2"),
    ]
    labels = [text.get_text() for text in shown[0].get_legend().get_texts()]
    assert labels[0] == "rows"
    assert labels[1] == "depth ≥ 1"
    assert labels[-1].startswith("deepest")
    assert len(contours(x, columns=[0, 2], depth=td.Random(5), levels=[1, 5]).axes) == 1
    contours([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).canvas.draw()
    with pytest.raises(td.ParameterError, match=r"^columns must be columns of x"):
        contours(x, columns=[0, 7])
    with pytest.raises(td.ParameterError, match=r"^columns must be at least two"):
        contours(x[:, :1])
    with pytest.raises(td.ParameterError, match=r"^levels"):
        contours(x, levels=[0])
