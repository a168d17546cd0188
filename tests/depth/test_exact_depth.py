"""Exact Tukey depth against brute force over all candidate hyperplanes, and boxem over it against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support import oracle
from support.fit import FALSE_ALARM, g_test
from support.grids import centred_grid
from support.halfspaces import brute_force, dot
from tukeydp.depth.of_points import is_deep, shallowest_direction
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact import depth as halfspaces
from tukeydp.trusted.exact import sweeps
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.exact.sweeps import exact_row
from tukeydp.trusted.exact.vectors import exact_space, from_integers
from tukeydp.trusted.sampling.draws import DepthSampler


def clouds(d, most, largest=2):
    point = st.tuples(*[st.integers(-largest, largest)] * d)
    return st.tuples(st.lists(point, min_size=1, max_size=most), point)


@pytest.mark.parametrize(("d", "most"), [(1, 8), (2, 8), (3, 6), (4, 6)])
def test_depth_is_brute_force_under_ties_and_collinear_points(d, most):
    @given(clouds(d, most))
    def check(cloud):
        rows, y = cloud
        expected = brute_force(y, rows)
        assert td.tukey_depth([y], rows).tolist() == [expected]
        depth, v = shallowest_direction(np.array([y]), rows)
        assert depth == expected
        exact = [Fraction(c) if isinstance(c, int) else Fraction(float(c)) for c in v.tolist()]
        assert sum(dot(exact, r) >= dot(exact, y) for r in rows) == depth

    check()


@pytest.mark.slow
@pytest.mark.parametrize(("d", "n", "repeats"), [(3, 14, 60), (4, 10, 25)])
def test_depth_is_brute_force_on_larger_lattice_clouds(d, n, repeats):
    rng = np.random.default_rng(d)
    for _ in range(repeats):
        rows = rng.integers(-2, 3, size=(n, d))
        y = rows[0] if rng.random() < 0.3 else rng.integers(-1, 2, size=d)
        assert td.tukey_depth([y.tolist()], rows)[0] == brute_force(y.tolist(), rows.tolist())


def test_five_columns():
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, size=(6, 5))
    for y in (rows[0].tolist(), (rows[0] + rows[1] + rows[2]).tolist()):
        assert td.tukey_depth([y], rows)[0] == brute_force(y, rows.tolist())


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=7))
def test_floats_of_any_kind(rows):
    points = [rows[0], (0.0, 0.0), (rows[0][0] / 3, rows[-1][1])]
    assert td.tukey_depth(points, rows).tolist() == [brute_force(y, rows) for y in points]


@pytest.mark.parametrize("scale", [1e-308, 1e-160, 1e300])
def test_huge_and_tiny_coordinates(scale):
    rows = np.array([[1, 0], [-1, 0.5], [0, 1], [0, -1], [1, 1], [-1, -1]]) * scale
    assert td.tukey_depth([[0, 0]], rows).tolist() == [2]


def test_near_ties_are_decided_exactly():
    """Three points within one rounding error of a line through the point: the filter alone cannot tell."""
    tiny = 2.0**-52
    rows = [[1.0, 1.0], [-1.0, -1.0 - tiny], [3.0, 3.0 + 2 * tiny], [-3.0, -3.0]]
    assert td.tukey_depth([[0.0, 0.0]], rows)[0] == brute_force([0, 0], rows)


@pytest.mark.parametrize("seed", range(12))
def test_a_copied_column_of_long_entries_is_decided_exactly(seed):
    """All vectors in one plane: along any of them the others fall on one line, which floats see as a narrow fan."""
    rng = np.random.default_rng(seed)
    flat = rng.integers(-(2**29), 2**29, size=(11, 2))
    flat = np.vstack([flat, -2 * flat[:3]])
    rows = flat[:, [0, 0, 1]]
    depth = brute_force((0, 0), flat.tolist())
    vectors = halfspaces.from_integers(rows.tolist(), [1] * len(rows))
    assert halfspaces.least_weight(vectors).least == depth
    for level in range(depth, depth + 2):
        answer = halfspaces.least_weight(vectors, level)
        assert (answer.least < level) == (depth < level)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("d", [3, 4])
def test_opposite_vectors_of_unlike_length_are_on_two_sides(d, seed):
    """Of a w and -b w every halfspace without either on its edge holds one, so the least count is that of pairs.
    Along one of them rounding is all that floats leave of the other: it has no angle."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(-(2**25), 2**25, size=(9, d))
    rows = np.vstack([pairs * rng.integers(2, 1000, size=(9, 1)), pairs * -rng.integers(2, 1000, size=(9, 1))])
    vectors = halfspaces.from_integers(rows.tolist(), [1] * len(rows))
    assert halfspaces.least_weight(vectors).least == len(pairs)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("d", [3, 4])
def test_opposite_vectors_whose_floats_are_rounded_apart_are_on_two_sides(d, seed):
    """Rows p + m and p - 3 m, floats all, but neither m nor 3 m is one: m has 54 bits and is 3 modulo 8, p is 1. So the
    two vectors are opposite and their floats not quite. Every halfspace still holds one of each pair."""
    rng = np.random.default_rng(seed)
    size = (9, d)
    away = 8 * rng.integers(2**50, 2**51, size=size) * rng.choice([-1, 1], size=size) + 3
    rows = np.vstack([1 + away, 1 - 3 * away])
    cells, point = rows.astype(np.float64), np.ones(d)
    assert (cells.astype(np.int64) == rows).all()
    vectors = halfspaces.from_floats(cells, point, np.ones(len(rows), dtype=np.int64))
    assert (vectors.shadow[:9] != -vectors.shadow[9:]).any()
    assert halfspaces.least_weight(vectors).least == len(away)
    assert td.tukey_depth(point, cells).tolist() == [len(away)]


@pytest.mark.parametrize(("n", "d"), [(60, 2), (25, 3), (14, 4)])
def test_depth_does_not_change_under_affine_maps(n, d):
    """Integer rows and an integer matrix, so that the map is exact."""
    rng = np.random.default_rng(n)
    rows = rng.integers(-50, 50, size=(n, d))
    points = rng.integers(-30, 30, size=(5, d))
    matrix = rng.integers(-3, 4, size=(d, d)) + 5 * np.eye(d, dtype=int)
    assert abs(np.linalg.det(matrix)) > 0.5
    shift = rng.integers(-9, 9, size=d)
    before = td.tukey_depth(points, rows)
    assert before.tolist() == td.tukey_depth(points @ matrix + shift, rows @ matrix + shift).tolist()


def test_outside_inside_and_at_a_corner():
    rows = np.random.default_rng(1).normal(size=(200, 3))
    corner = rows[np.argmax(rows[:, 0])]
    assert td.tukey_depth([[9, 9, 9], corner], rows).tolist() == [0, 1]
    assert td.tukey_depth([rows.mean(axis=0)], rows)[0] > 70


def test_depth_is_the_limit_of_many_directions():
    rows = np.random.default_rng(2).normal(size=(150, 3))
    points = rows[:10] / 2
    exact = td.tukey_depth(points, rows)
    many = td.tukey_depth(points, rows, td.Random(3000, seed=0))
    assert (many >= exact).all()
    assert (many - exact).max() <= 3


def test_the_decision_agrees_with_the_depth():
    rows = np.random.default_rng(3).normal(size=(80, 3))
    points = rows[:12] / 2
    depths = td.tukey_depth(points, rows)
    for level in (0, 1, 10, 25, 80, 81, 1000):
        assert is_deep(points, rows, level).tolist() == (depths >= level).tolist()
    assert is_deep([[math.nan] * 3], rows, 1).tolist() == [False]
    with pytest.raises(td.ParameterError, match="level"):
        is_deep(points, rows, -1)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_recursion_in_integers_is_right_by_definition(d):
    """Its count, and its normal: an open halfspace of that weight, with no vector on its edge."""
    rng = np.random.default_rng(d)
    for _ in range(6):
        exact = [v for v in rng.integers(-2, 3, (4, d)).tolist() if any(v)] + np.eye(d, dtype=int).tolist()
        vectors = from_integers(exact, rng.integers(1, 4, len(exact)).tolist())
        exact, weights = [vectors.exactly(j) for j in range(len(vectors.weights))], vectors.weights.tolist()
        found = exact_space(exact, weights)
        rows = [v for v, w in zip(exact, weights, strict=True) for _ in range(w)]
        assert found[0] == brute_force((0,) * d, rows)
        along = [exact_row(vectors, (j,)) for j in range(len(exact))] if d > 2 else [found]
        assert d > 3 or min(count for count, _ in along) == found[0]
        for count, normal in (found, *along):
            products = [dot(normal, v) for v in exact]
            assert all(products)
            assert sum(w for p, w in zip(products, weights, strict=True) if p > 0) == count


def test_halfspaces_that_refute_have_fewer_rows_by_definition():
    """Short normals, those with all their digits, and facets of the hull."""
    rng, facets, short = np.random.default_rng(4), 0, 0
    for _ in range(12):
        rows = rng.integers(-20, 21, size=(12, 3))
        rows = np.vstack([rows, rows[:3]])
        depth = GridDepth(rows, centred_grid(20, 3))
        point = rng.integers(-6, 7, size=3)
        refutation = depth.refute(point, depth.depth(point) + 2)
        normals = [refutation.short, refutation.longest(), refutation.longest_facet()]
        facets, short = facets + len(normals[2]), short + len(normals[0])
        for v in np.vstack(normals):
            assert (rows @ v >= point @ v).sum() < depth.depth(point) + 2
        assert depth.depth(point) == brute_force(tuple(point.tolist()), [tuple(row) for row in rows.tolist()])
    assert min(facets, short) > 4
    assert depth.fits([2**56, -(2**56), 0])
    assert not depth.fits([2**57, -(2**57), 0])


@pytest.mark.parametrize("d", [3, 4, 5])
def test_the_decision_is_right_on_antipodal_rows(d):
    """The point lies between rows on many lines: weights along a vector count on top of what is left."""
    rng = np.random.default_rng(d)
    for _ in range(12 if d < 5 else 5):
        half = rng.integers(-2, 3, size=(4, d))
        half = half[(half != 0).any(axis=1)]
        rows = np.repeat(np.vstack([half, -half]), rng.integers(1, 9, size=2 * len(half)), axis=0)
        (depth,) = td.tukey_depth(np.zeros((1, d)), rows)
        for level in range(int(depth) - 1, int(depth) + 4):
            assert is_deep(np.zeros((1, d)), rows, max(0, level)).tolist() == [depth >= max(0, level)]
    half = np.array([[2, -2, -1, -2, -2], [-1, 1, 0, 0, -2], [1, 1, -1, -2, -1], [-2, 1, 0, 0, -1]])
    rows = np.repeat(np.vstack([half, -half]), [5, 8, 2, 7, 1, 4, 4, 8], axis=0)
    assert not is_deep(np.zeros((1, 5)), rows, 15)[0]


def test_hints_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(sweeps, "_KEYS_AT_A_TIME", 4000)
    rows = np.random.default_rng(0).integers(-1000, 1000, size=(200, 3))
    vectors = halfspaces.from_integers(rows.tolist(), [1] * 200)
    least = halfspaces.least_weight(vectors).least
    for at_least in (0, least, least + 1, least + 20):
        answers = [halfspaces.least_weight(vectors, at_least, threads) for threads in (1, 2, 4, 4)]
        assert len({(a.least, a.place, a.directions.tobytes()) for a in answers}) == 1


def test_one_quantity_in_two_units():
    """Columns that are multiples of each other up to rounding: the exact level sets are a step thick."""
    t = np.random.default_rng(0).normal(size=(200, 1))
    x = np.hstack([t, t / 2.54])
    release = td.boxem(x, epsilon=1, bounds=(-10, 10), depth=td.Exact(), randomness=td.seeded(1))
    assert np.abs(release.point - np.median(x, axis=0)).max() < 0.5


ROWS = [(1, 1), (1, 2), (2, 2), (2, 2), (3, 2), (4, 4), (0, 3), (2, 1), (1, 3)]
PLANE = list(itertools.product(range(5), repeat=2))


def all_directions(points):
    """Integer directions that meet every cell for lattice points of this small grid."""
    largest = max(max(map(abs, p)) for p in points)
    span = range(-2 * largest - 1, 2 * largest + 2)
    return [v for v in itertools.product(span, repeat=2) if any(v) and math.gcd(*v) == 1]


@pytest.mark.parametrize("lowest", [0, 2])
def test_the_law_of_boxem_over_exact_depth(lowest):
    epsilon = Fraction(3, 2)
    depths = [oracle.depth(ROWS, y, all_directions(PLANE)) for y in PLANE]
    assert depths == [brute_force(y, ROWS) for y in PLANE]
    prepared = td.Exact().prepare(np.array(ROWS), centred_grid(4, 2), bytes(32))
    sampler = DepthSampler(prepared, within=Box((0, 0), (4, 4)), epsilon=epsilon, lowest=lowest)
    tally = dict.fromkeys(PLANE, 0)
    for i in range(10_000):
        tally[tuple(sampler.draw(derived_key("exact", i)))] += 1
    observed = np.array(list(tally.values()))

    def pmf(q):
        weights = [float(q) ** t if t >= lowest else 0.0 for t in depths]
        return np.array(weights) / sum(weights)

    assert g_test(observed, pmf(math.exp(epsilon / 2))) > FALSE_ALARM
    assert g_test(observed, pmf(math.exp(epsilon * 5 / 8))) < FALSE_ALARM


@pytest.mark.slow
def test_the_law_in_three_columns_from_end_to_end():
    """A coarse grid in d = 3 through td.boxem, against brute-force depth of every grid point."""
    rows = [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0), (1, 1, 1), (2, 1, 0), (0, 2, 1)]
    cube = list(itertools.product(range(3), repeat=3))
    depths = [brute_force(y, rows) for y in cube]
    source = td.seeded(4)
    tally = dict.fromkeys(cube, 0)
    for _ in range(1500):
        release = td.boxem(rows, epsilon=3, bounds=(0, 2), resolution=1, depth=td.Exact(), randomness=source)
        tally[tuple(int(c) for c in release.point)] += 1
    observed = np.array(list(tally.values()))
    weights = np.exp(1.5 * np.array(depths))
    assert g_test(observed, weights / weights.sum()) > FALSE_ALARM
    wrong = np.exp(2.25 * np.array(depths))
    assert g_test(observed, wrong / wrong.sum()) < FALSE_ALARM


def test_boxem_exact_is_accurate_and_says_so():
    x = np.random.default_rng(0).normal(size=(300, 3))
    release = td.boxem(x, epsilon=1, bounds=(-10, 10), depth=td.Exact(), randomness=td.seeded(1))
    assert np.linalg.norm(release.point - x.mean(axis=0)) < 0.4
    assert release.to_dict()["notion"] == "Exact()"
    assert release.to_dict()["directions"] == []
    assert 0.01 < release.expected_error.shapes[0].typical < 0.15


@pytest.mark.parametrize(
    "x",
    [np.zeros((5, 2)), np.full((4, 3), np.nan), [[1.0, 2.0]], np.outer(np.arange(9), [1, 2, 3]), [1.0, 2.0, 2.0]],
)
def test_degenerate_data_gives_a_draw(x):
    release = td.boxem(x, epsilon=1, bounds=(-3, 3), depth=td.Exact())
    assert (np.abs(release.point) <= 3).all()


def test_too_fine_a_grid_for_exact_depth_is_refused():
    with pytest.raises(td.ParameterError, match="resolution"):
        td.boxem([[1.0, 2.0]], epsilon=1, bounds=(0, 1), resolution=2.0**-53, depth=td.Exact())


def test_the_error_in_the_datas_own_units_does_not_change_under_stretching():
    """Mahalanobis error over 150 releases each: standard error about 5 percent, so 30 percent is six of them."""
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(200, 2)) for _ in range(150)]
    stretch = np.array([[700.0, 699.0], [0.0, 1.0]])  # columns with sds near 700 and 989, correlated 0.71; then thin

    def error(matrix, depth):
        source = td.seeded(2)
        found = []
        for x in tables:
            y = td.boxem(x @ matrix, epsilon=1, bounds=(-10_000, 10_000), depth=depth, randomness=source).point
            found.append(np.linalg.norm(np.linalg.solve(matrix.T, y) - x.mean(axis=0)))
        return np.mean(found)

    plain = error(np.eye(2), td.Exact())
    assert error(stretch, td.Exact()) == pytest.approx(plain, rel=0.3)
    # Control: fixed directions do not follow the data's shape.
    assert error(stretch, td.Random(8, axes=False, seed=0)) > 2 * plain
