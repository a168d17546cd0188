"""Where rays leave a level set: walks end on its facets, and what they find cuts it out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.grids import centred_grid
from tukeydp.hints.facet_walk import _ranked, walk
from tukeydp.hints.ray_facets import compile_walk, facets_before
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.matrices import integers


def planes_through_rows(rows: np.ndarray, level: int) -> np.ndarray:
    """Every v with <v, y> = 1 on d rows and fewer than `level` rows beyond: among them all facets of the level set."""
    d = rows.shape[1]
    found = []
    for chosen in combinations(range(len(rows)), d):
        v = np.linalg.solve(rows[list(chosen)], np.ones(d))
        if (rows @ v > 1 + 1e-9).sum() < level:
            found.append(v)
    return np.array(found)


@pytest.mark.parametrize(("n", "d", "level"), [(24, 2, 6), (20, 3, 4), (16, 4, 2)])
def test_rays_leave_where_the_nearest_facet_is(n, d, level):
    """Of 20 rays, from starts far from the facets: most walks end on the first facet of all."""
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, d))
    facets = planes_through_rows(rows, level)
    assert (facets @ np.zeros(d) < 1).all()
    rays = rng.normal(size=(20, d)) * 10
    known = rng.normal(size=(4 * d, d)) / 10
    nearest = (rays @ facets.T).max(axis=1)
    found = facets_before(rays, rows, np.ones(n), level, known)
    held = (rays @ found.T).max(axis=1)
    assert (held <= nearest * (1 + 1e-7)).all()  # never too close: that would cut off deep points
    assert (held >= nearest * (1 - 1e-7)).mean() >= 0.75


@pytest.mark.parametrize(("n", "d", "level"), [(24, 2, 12), (20, 3, 8), (20, 4, 5)])
def test_each_hyperplane_passes_through_rows_and_leaves_out_few(n, d, level):
    rng = np.random.default_rng(n)
    rows, weights = rng.normal(size=(n, d)), rng.integers(1, 4, size=n)
    points, known = rng.normal(size=(9, d)) * 10, rng.normal(size=(4 * d, d)) / 10
    found = facets_before(points, rows, weights.astype(float), level, known)
    assert len(found)
    along = found @ rows.T
    assert ((along > 1 + 1e-7) @ weights < level).all()
    assert ((np.abs(along - 1) < 1e-7).sum(axis=1) == d).all()


@pytest.mark.parametrize(("points", "rows", "known"), [(100, 20, 5), (100, 1, 5), (6, 1, 5), (6, 20, 1), (100, 1, 1)])
def test_compiled_code_has_one_form_whatever_the_table(points, rows, known):
    """How many corners are looked at, and how many rows differ, is the data; what is compiled is kept in a file."""
    compile_walk()
    rng = np.random.default_rng(0)
    shapes = (3 * rng.normal(size=(points, 3)), rng.normal(size=(rows, 3)), np.ones(rows))
    facets_before(*shapes, 1, rng.normal(size=(known, 3)))
    assert len(walk.signatures) == 1


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 4)), min_size=1, max_size=12), st.integers(1, 60))
def test_a_rank_counts_weights(pairs, level):
    values, weights = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    found = _ranked(values, weights, float(level), np.empty(len(pairs)), np.empty(len(pairs)))
    listed = sorted(np.repeat(values, weights.astype(int)), reverse=True)
    assert found == listed[min(level, len(listed)) - 1]


@pytest.mark.parametrize("points", [np.zeros((4, 2)), np.ones((4, 2)), np.full((4, 2), np.nan), np.full((4, 2), 1e300)])
def test_what_floats_cannot_tell_is_nothing_and_silent(points):
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    assert facets_before(points, rows, np.ones(3), 1, rows).shape[1] == 2
    assert facets_before(points, rows * 0, np.ones(3), 1, rows).shape == (0, 2)
    assert facets_before(points, rows, np.ones(3), 1, np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("bits", [0, 5, 70])
def test_normals_part_points_of_the_grid_from_what_is_deep(bits):
    rng = np.random.default_rng(bits)
    rows = np.rint(rng.normal(size=(30, 3)) * 1000).astype(np.int64)
    depth = GridDepth(rows, centred_grid(10**4, 3))
    points = integers(rng.integers(-600, 601, size=(12, 3))) * (1 << bits)
    normals = depth.parted(points, 8, bits, np.concatenate([np.eye(3), -np.eye(3)]))
    assert len(normals)
    for normal in normals:
        # Fewer rows than eight are as far out as the farthest of the points, or as what is closest before it.
        along = np.sort(rows @ normal)[::-1]
        farthest = max(int(integers(normal) @ point) for point in points)
        assert int(along[7]) << bits < farthest


@pytest.mark.parametrize("bits", [0, 7, 80])
def test_a_facet_parts_a_point_between_grid_points_too(bits):
    """The hyperplane through rows is the same, however finely the point is written."""
    rng = np.random.default_rng(4)
    rows = np.rint(rng.normal(size=(40, 3)) * 10**6).astype(np.int64)
    depth = GridDepth(rows, centred_grid(10**8, 3))
    point = integers([10**6, 0, 0])
    refutation = depth.refute(point * (1 << bits), 9, bits)
    assert refutation is not None
    facet = integers(refutation.facet())
    along = integers(rows) @ facet
    assert (along >= int(facet @ point)).sum() < 9
    edge = max(int(value) for value in along if value < int(facet @ point))
    assert (along == edge).sum() == 3
