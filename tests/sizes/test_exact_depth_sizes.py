"""REM's sizes for exact depth: copies of a fixed polytope, and that they bracket the number of deep grid points."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import tukeydp as td
from support.grids import centred_grid
from support.regions import ends, region
from support.rem_cases import TESTS, chance, grid_points, plan
from support.rem_oracle import Dataset, datasets, depths, outcome, worst_delta
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.hinted import OFFERED
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.rem.evidence import Evidence
from tukeydp.trusted.sizes import copies as copies
from tukeydp.trusted.sizes import exact_depth_sizes as exact_sizes
from tukeydp.trusted.sizes.copies import largest_copy, template, upright_copy
from tukeydp.trusted.sizes.exact_depth_sizes import ExactSizes

SLACK = Fraction(1, 256)
SMALLEST_SLACK = Fraction(1, 64 * 10**4)  # that of the smallest epsilon, a tenth of it for the test


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_templates(d):
    shape = template(d)
    corners = shape.corners.astype(float)
    hull = ConvexHull(corners)
    assert float(shape.volume) == pytest.approx(hull.volume)
    assert len(hull.vertices) == len(corners)
    assert {tuple(-c for c in corner) for corner in shape.corners.tolist()} == set(map(tuple, shape.corners.tolist()))
    assert (np.abs(corners).max(axis=1) == shape.radius).sum() == 2 * d


class TestCopies:
    def test_cube(self):
        for d in (2, 3):
            body = region(np.empty((0, d)), [], 3000)
            copy, _ = largest_copy(body, *ends(d, 3000), 10)
            # Scaled up to touch the sides, and no better by shearing: |B e_j| in row j is at most 3000 / radius.
            assert float(copy.diagonal) == pytest.approx((3000 / template(d).radius) ** d, rel=1e-2)
            assert copy.diagonal <= copy.most

    @pytest.mark.parametrize("seed", range(8))
    def test_the_bound_holds_whatever_the_floats_do(self, seed):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 4))
        body = region(rng.integers(-20, 21, size=(12, d)), rng.integers(5000, 40000, size=12), 10**5)
        good, _ = largest_copy(body, *ends(d, 10**5), 16)
        assert good.most <= good.diagonal * (1 + Fraction(1, 500))
        honest = copies._solved

        def lying(*arguments):
            centre, shape, weights = honest(*arguments)
            return centre, shape, weights * np.exp(rng.normal(size=weights.shape))

        with patch.object(copies, "_solved", lying):
            bad, _ = largest_copy(body, *ends(d, 10**5), 16)
        assert bad.most >= good.diagonal
        assert bad.most > good.most  # the weights did matter

    @pytest.mark.parametrize("broken", [0.0, np.nan, np.inf, 1e-320])
    def test_weights_that_make_no_sense_raise_and_warn_nothing(self, broken):
        body = region([[1, 2], [3, -1], [-2, 1]], [10000, 7000, 8000], 40000)
        honest = copies._solved

        def senseless(*arguments):
            centre, shape, weights = honest(*arguments)
            return centre, shape, weights * broken

        with patch.object(copies, "_solved", senseless):
            copy, _ = largest_copy(body, *ends(2, 40000), 16)
        assert copy.most >= copy.diagonal

    def test_floats_that_give_out_are_asked_again(self):
        body = region([[1, 2], [3, -1], [-2, 1]], [10000, 7000, 8000], 40000)
        honest, calls = copies._solved, []

        def broken_at_first(*arguments):
            calls.append(1)
            if len(calls) < 3:
                raise [np.linalg.LinAlgError, OverflowError][len(calls) - 1]
            return honest(*arguments)

        with patch.object(copies, "_solved", broken_at_first):
            copy, _ = largest_copy(body, *ends(2, 40000), 16)
        assert copy.most <= copy.diagonal * (1 + Fraction(1, 500))

    def test_a_step_too_far_ends_at_the_centre_if_nothing_else_is_inside(self):
        """A halfspace so close to the centre that the next smaller number is beyond it."""
        body = region([[-2, -2]], [1], 100)
        pairs = np.ones((5, len(template(2).corners)))
        with patch.dict(OFFERED, largest_in_floats=lambda *_: (np.array([-3.0, -4.0]), np.eye(2), pairs)):
            moved, _, _ = copies._solved(body, integers([0, 0]), 0, np.eye(2), 0.1)
        assert moved.tolist() == [0, 0]

    @pytest.mark.parametrize("seed", range(6))
    def test_upright_or_not_the_bound_is_one_of_the_same_copies(self, seed):
        """In whatever coordinates: a slant from another shape weakens nothing that the proof needs."""
        rng = np.random.default_rng(seed)
        d = 2 + seed % 2
        body = region(rng.integers(-20, 21, size=(12, d)), rng.integers(5000, 40000, size=12), 10**5)
        good, shape = largest_copy(body, *ends(d, 10**5), 16)
        upright, again = upright_copy(body, shape, 16, 2.0**-10)
        assert upright.diagonal <= good.most
        assert good.diagonal <= upright.most
        assert upright.most <= upright.diagonal * (1 + Fraction(1, 500))
        assert again == pytest.approx(upright.factor.astype(float) / 2**16, rel=1e-3, abs=1.0)
        for corner in template(d).corners:
            y = upright.centre + upright.factor @ corner
            assert (body.normals @ y <= (body.offsets + np.abs(body.normals).sum(axis=1)) * 2**16).all()
        other, _ = upright_copy(body, np.tril(rng.normal(size=(d, d)) * 100) + 300 * np.eye(d), 16, 2.0**-10)
        assert other.diagonal <= good.most
        assert good.diagonal <= other.most

    def test_no_inner_point(self):
        assert largest_copy(region([[1, 1], [-1, -1]], [5, -5], 100), *ends(2, 100), 10) is None


def brute_depths(rows: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    points = np.array(list(np.ndindex(2 * bound + 1, 2 * bound + 1))) - bound
    return points, td.tukey_depth(points, rows)


def exact_sizes_of(
    rows: np.ndarray, directions: np.ndarray, within: Box, base: int, slack: Fraction = SLACK
) -> ExactSizes:
    grid = centred_grid(max(within.high), rows.shape[1])
    prepared = td.Exact().prepare(rows, grid, bytes(32))
    assert prepared.decide is not None
    return ExactSizes(prepared.decide, level_sets(rows, directions), prepared.levels, within, base, slack)


def test_deep_points_are_those_of_tukey_depth():
    rng = np.random.default_rng(0)
    rows = rng.integers(-6, 7, size=(25, 2))
    points, depth = brute_depths(rows, 6)
    deep = GridDepth(rows, centred_grid(50, 2))
    for level in (1, 3, 6, 9):
        for point, value in zip(points[::3], depth[::3], strict=True):
            refutation = deep.refute(integers(point * 8), level, bits=3)
            assert (refutation is not None) == (value < level)
            if refutation is not None:
                for normal in [*refutation.short.tolist(), refutation.exact_normal(), *refutation.longest().tolist()]:
                    assert ((rows - point) @ np.array(normal) >= 0).sum() < level


@pytest.mark.parametrize("counted", [1, 4096])
def test_sizes_bracket_the_number_of_deep_grid_points(counted):
    rng = np.random.default_rng(1)
    bound = 20
    rows = np.clip(np.rint(rng.normal(size=(40, 2)) * 8), -bound, bound).astype(np.int64)
    _, depth = brute_depths(rows, bound)
    directions = np.array([[1, 0], [0, 1], [1, 1], [1, -1]], dtype=np.int64)
    with patch.object(exact_sizes, "COUNTED", counted):
        sizes = exact_sizes_of(rows, directions, Box((-bound, -bound), (bound, bound)), 1)
        below = []
        for level in (2, 5, 8, 11, 14, 17, 20):
            count = int((depth >= level).sum())
            below.append(sizes.lower(level))
            assert below[-1] <= count <= sizes.upper(level)
            assert (below[-1] == 0) == (count == 0)
            if counted > count:
                assert below[-1] == count
    for larger, smaller in pairwise(below):
        assert smaller <= larger * (1 + 2 * SLACK)


def test_a_fine_grid_needs_no_look_at_half_cells():
    rng = np.random.default_rng(2)
    rows = np.rint(rng.normal(size=(60, 2)) @ [[1, 0.99], [0, 0.02]] * 10**7).astype(np.int64)
    directions = np.eye(2, dtype=np.int64)
    sizes = exact_sizes_of(rows, directions, Box((-(2**40),) * 2, (2**40,) * 2), 10)
    volume = td.level_set(rows.astype(float), 12).volume
    # Between the twelve-gon's share of an ellipse's area in a polygon and the polygon's own.
    assert 0.5 * volume < sizes.lower(12) <= volume


@pytest.mark.parametrize(
    ("d", "slack"),
    [
        (2, Fraction(1, 2000)),
        (2, SMALLEST_SLACK),
        pytest.param(3, SMALLEST_SLACK, marks=pytest.mark.slow),
    ],
)
def test_small_slacks_end_too(d, slack):
    """A copy shrunk by more than the slack would never meet the bound."""
    rows = np.rint(np.random.default_rng(d).normal(size=(20, d)) * 10**6).astype(np.int64)
    box = Box((-(2**40),) * d, (2**40,) * d)
    asked = []
    honest = ExactSizes._shallow

    def counted(self, *arguments, **options):
        asked.append(1)
        assert len(asked) < 60
        return honest(self, *arguments, **options)

    with patch.object(ExactSizes, "_shallow", counted):
        sharp = exact_sizes_of(rows, np.eye(d, dtype=np.int64), box, 2, slack).lower(2)
    usual = exact_sizes_of(rows, np.eye(d, dtype=np.int64), box, 2).lower(2)
    # Both are between psi and e^-slack psi, each with its own slack.
    assert usual <= sharp * (1 + slack)
    assert sharp <= usual * (1 + SLACK)
    assert sharp > 4096


@pytest.mark.parametrize(("length", "slack"), [(2**40, SLACK), (2**40, SLACK / 8), (2**30, SMALLEST_SLACK)])
@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_thin_and_slanted_sets_end_too(d, length, slack):
    """Two cells thick: the last digits of a float are worth more there than what corners may be off."""
    rng = np.random.default_rng(length.bit_length())
    flat = rng.uniform(-0.5, 0.5, size=(14, d - 1)) * length
    rows = np.rint(np.column_stack([flat, flat @ [0.7318, 0.3141][: d - 1] + 2 * rng.normal(size=14)])).astype(np.int64)
    box = Box((-(2**41),) * d, (2**41,) * d)

    def fresh(closer=slack):
        return exact_sizes_of(rows, np.eye(d, dtype=np.int64), box, 1, closer)

    found = []
    with patch.object(exact_sizes, "upright_copy", lambda *given: found.append(given[2]) or upright_copy(*given)):
        size = fresh().lower(1)
    assert size > 4096
    assert max(found, default=0) < 64  # few more digits were asked for
    assert fresh(4 * slack).lower(1) <= size * (1 + slack)
    low, high = fresh().lower_between(1, Fraction(1))
    assert low <= size * (1 + slack)
    assert size <= high * (1 + slack)


def test_no_pair_of_neighbours_breaks_the_guarantee():
    points, n, t = grid_points((3, 3)), 3, 2
    release, part, delta = Fraction(2), Fraction(1), Fraction(1, 10)
    fixed = plan(n, t, release, part, delta)
    every = np.array([(a, b) for a in range(-7, 8) for b in range(-7, 8) if (a, b) != (0, 0)], dtype=np.int64)
    box = Box((0, 0), (2, 2))
    evidence = {
        x: Evidence(exact_sizes_of(points[list(x)], np.eye(2, dtype=np.int64), box, t), fixed)
        for x in datasets(len(points), n)
    }
    for test in TESTS:

        def law(x: Dataset, test=test) -> np.ndarray:
            return outcome(depths(x, points, every), t, float(release) / 2, chance(test, evidence[x]))

        assert worst_delta(len(points), n, float(release + part), law) <= float(delta) * (1 + 1e-9)


def test_rem_with_exact_depth():
    x = np.random.default_rng(0).normal(size=(300, 2)) @ [[1, 300], [0, 0.1]]
    release = td.rem(x, epsilon=2, delta=1e-6, depth=td.Exact(), randomness=td.seeded(1))
    assert release.released
    assert release.notion == "Exact()"
    covariance = np.cov(x.T)
    away = release.point - x.mean(axis=0)
    assert away @ np.linalg.solve(covariance, away) < 0.3**2
    assert not td.rem(x[:30], epsilon=1, delta=1e-6, depth=td.Exact(), randomness=td.seeded(1)).released
    assert td.rem(x[:, 0], epsilon=2, delta=1e-6, depth=td.Exact(), randomness=td.seeded(1)).released


@pytest.mark.parametrize(("d", "levels"), [(2, (3, 6, 9)), (3, (4,)), pytest.param(4, (2,), marks=pytest.mark.slow)])
def test_rough_bounds_hold_the_lower_size(d, levels):
    rng = np.random.default_rng(d)
    rows = np.rint(rng.normal(size=(24, d)) * 10**6).astype(np.int64)
    box = Box((-(2**40),) * d, (2**40,) * d)
    sizes = exact_sizes_of(rows, np.eye(d, dtype=np.int64), box, 1)
    rough = [
        (
            level,
            sizes.lower_at_most(level),
            [sizes.lower_between(level, Fraction(*apart)) for apart in ((8, 1), (1, 2))],
        )
        for level in levels
    ]
    for level, most, between in rough:
        size = exact_sizes_of(rows, np.eye(d, dtype=np.int64), box, 1).lower(level)
        assert size <= most
        for low, high in between:
            assert 0 < low <= size * (1 + SLACK)
            assert size <= high
        assert between[1][1] <= 3 * between[1][0]
    empty = sizes.lower_between(20, Fraction(8))
    assert empty == (0, 0)


@pytest.mark.parametrize("shape", ["lattice", "repeated", "line"])
def test_rough_bounds_of_degenerate_rows_hold_the_count(shape):
    """Few grid points are counted: some of them at first, all of them where that is asked for."""
    rng = np.random.default_rng(5)
    rows = rng.integers(-4, 5, size=(20, 2))
    if shape == "repeated":
        rows = np.repeat(rows[:5], 4, axis=0)
    if shape == "line":
        rows[:, 1] = 2 * rows[:, 0]
    box = Box((-9, -9), (9, 9))
    for level in (1, 3, 6, 9):
        sizes = exact_sizes_of(rows, np.eye(2, dtype=np.int64), box, 1)
        low, high = sizes.lower_between(level, Fraction(8))
        points = np.array(list(np.ndindex(19, 19))) - 9
        truth = (td.tukey_depth(points, rows) >= level).sum()
        assert low <= truth <= high
        assert low == high or low > 40
        assert sizes.lower_at_most(level) >= truth
        assert sizes.lower(level) == truth


def test_a_copy_whose_corners_nobody_looks_at_would_be_too_large():
    """Must-fail control of the lower bound: without decisions it exceeds the size."""
    rows = np.rint(np.random.default_rng(2).normal(size=(24, 2)) * 10**6).astype(np.int64)
    box = Box((-(2**40),) * 2, (2**40,) * 2)
    size = exact_sizes_of(rows, np.eye(2, dtype=np.int64), box, 1).lower(6)
    depth, axes = GridDepth(rows, centred_grid(2**40, 2)), level_sets(rows, np.eye(2, dtype=np.int64))
    nothing = patch.object(GridDepth, "parted", lambda *_, **__: np.empty((0, 2), dtype=np.int64))
    with nothing, patch.object(GridDepth, "refute", lambda *_, **__: None):
        low, _ = ExactSizes(depth, axes, axes, box, 1, SLACK).lower_between(6, Fraction(1, 16))
    assert low > size * (1 + 2 * SLACK)
    low, _ = ExactSizes(depth, axes, axes, box, 1, SLACK).lower_between(6, Fraction(1, 16))
    assert low <= size * (1 + SLACK)
