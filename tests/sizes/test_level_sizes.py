"""REM's sizes: exact linear programs, certified ellipsoids, counts of grid points, and that they bracket the truth."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from support.regions import ends, region
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.matrices import integers
from tukeydp.trusted.rem.evidence import sparse_offsets
from tukeydp.trusted.sizes import boxed, grid_points, linear_programs
from tukeydp.trusted.sizes import ellipsoids as ellipsoids
from tukeydp.trusted.sizes.boxed import SLACK
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids, Proposal, Shape, certified, largest_ellipsoid
from tukeydp.trusted.sizes.grid_points import count_up_to, tight_ends
from tukeydp.trusted.sizes.inner_points import inner_point
from tukeydp.trusted.sizes.linear_programs import Region, maximum
from tukeydp.trusted.sizes.polygons import floor_sum, grid_points_in_polygon
from tukeydp.trusted.sizes.polyhedra import Polyhedra


class TestLinearPrograms:
    @pytest.mark.parametrize("seed", range(30))
    def test_against_scipy(self, seed):
        rng = np.random.default_rng(seed)
        d, m = int(rng.integers(1, 6)), int(rng.integers(1, 12))
        body = region(rng.integers(-9, 10, size=(m, d)), rng.integers(-20, 40, size=m), 50)
        objective = rng.integers(-5, 6, size=d)
        objective[0] = 1
        ours = maximum(body, objective.tolist())
        theirs = linprog(
            -objective.astype(float), body.normals.astype(float), body.offsets.astype(float), bounds=(None, None)
        )
        assert (ours is None) == (theirs.status == 2)
        if ours is not None:
            assert float(ours.value) == pytest.approx(-theirs.fun, abs=1e-6)
            # Feasible and attained, in integers.
            assert (body.normals @ ours.numerators <= body.offsets * ours.denominator).all()
            assert Fraction(int(objective.astype(object) @ ours.numerators), ours.denominator) == ours.value

    def test_ties_do_not_cycle(self):
        """Many rows through one point: Bland's rule, and a basis from floats that may be any of them."""
        rng = np.random.default_rng(0)
        normals = np.vstack([rng.integers(-3, 4, size=(200, 4)), np.ones((1, 4), dtype=int)])
        body = region(normals, [0] * 200 + [0], 10**6)
        best = maximum(body, [1, 1, 1, 1])
        assert best is not None
        assert best.value == 0

    @pytest.mark.parametrize("seed", range(20))
    def test_a_vertex_whose_basis_lost_a_row_is_the_one_computed_anew(self, seed):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 7))
        body = region(rng.integers(-(10**6), 10**6, size=(8, d)), rng.integers(-(10**9), 10**9, size=8), 10**9)
        objective = rng.integers(-9, 10, size=d).tolist()
        here = linear_programs._vertex(body, objective, range(8, 8 + d))
        signs = set()
        for row in range(8):
            out = int(rng.integers(d))
            weight = int((body.normals[row] @ here.adjugate)[out])
            basis = [*here.basis[:out], row, *here.basis[out + 1 :]]
            anew = linear_programs._vertex(body, objective, basis)
            assert (anew is None) == (weight == 0)
            if anew is None:
                continue
            here = linear_programs._exchanged(body, objective, here, basis, out)
            signs.add(weight > 0)
            assert here.basis == anew.basis
            assert here.denominator == anew.denominator > 0
            for name in ("adjugate", "point", "multipliers"):
                assert (getattr(here, name) == getattr(anew, name)).all()
        assert signs

    def test_few_pivots_are_made_in_integers(self, monkeypatch):
        """The point with most room in a level of forty columns: floats find the basis, integers prove it."""
        rng = np.random.default_rng(1)
        directions = np.rint(2**10 * rng.standard_normal((190, 40))).astype(np.int64)
        rows = np.rint(2**20 * rng.standard_normal((40, 40))).astype(np.int64)
        ranks = np.sort(directions @ rows.T, axis=1)
        body = region(np.vstack([directions, -directions]), [*ranks[:, 29], *-ranks[:, 10]], 2**24)
        count, vertex = itertools.count(1), linear_programs._Vertex

        def counted(*given):
            assert next(count) <= 50
            return vertex(*given)

        monkeypatch.setattr(linear_programs, "_Vertex", counted)
        assert inner_point(body) is not None

    def test_whatever_the_start(self):
        body = region([[1, 2, 3], [3, -1, 1], [-2, 1, 5]], [10, 7, 8], 40)
        right = maximum(body, [1, 1, 1])
        for start in ([0, 1, 2], [2, 0, 1], [3, 4, 5], [6, 7, 8], [0, 0, 0]):
            found = maximum(body, [1, 1, 1], start)
            assert found.value == right.value


def within(d, bound):
    return lambda: ends(d, bound)


class TestEllipsoids:
    GAP = Fraction(1, 10**6)

    def test_cube(self):
        """The ball of its half-width."""
        for d in (1, 2, 3, 5):
            body = region(np.empty((0, d)), [], 100)
            found = largest_ellipsoid(body, self.GAP, within(d, 100))
            assert float(found.determinant) == pytest.approx(100.0**d, rel=1e-5)
            assert found.determinant <= 100**d

    def test_simplex(self):
        """In {y >= 0, sum y <= s} it is the image of the ball in the regular simplex: centre s/(d+1)."""
        for d in (2, 3, 4):
            s = 10**6
            body = region(np.vstack([-np.eye(d, dtype=int), np.ones((1, d), dtype=int)]), [0] * d + [s], 2 * s)
            found = largest_ellipsoid(body, self.GAP, within(d, 2 * s))
            # A regular simplex of edge a has inradius a / sqrt(2 d (d+1)) and volume a^d sqrt(d+1) / (d! sqrt(2^d)).
            ratio = math.sqrt(2 * d * (d + 1)) ** -d / (math.sqrt(d + 1) / (math.factorial(d) * math.sqrt(2.0**d)))
            assert float(found.determinant) == pytest.approx(ratio * s**d / math.factorial(d), rel=1e-5)

    def test_cross_polytope(self):
        d, s = 3, 10**6
        signs = np.array(list(np.ndindex(2, 2, 2))) * 2 - 1
        found = largest_ellipsoid(region(signs, [s] * 8, 2 * s), self.GAP, within(d, 2 * s))
        assert float(found.determinant) == pytest.approx((s / math.sqrt(3)) ** 3, rel=1e-5)

    def test_stretched_a_million_times(self):
        normals = np.array([[1000, 999], [999, 1000], [-1000, -999], [-999, -1000]])
        body = region(normals, [10**9, 1000, 10**9, 1000], 10**12)
        found = largest_ellipsoid(body, self.GAP, within(2, 10**12))
        exact = 10**9 * 1000 / abs(1000 * 1000 - 999 * 999)
        assert float(found.determinant) == pytest.approx(exact, rel=1e-5)

    def test_rows_of_very_different_weight(self):
        """A needle of 10^12 by 1: the weights of its rows differ as much, and each needs all its digits."""
        rng = np.random.default_rng(0)
        normals = np.column_stack([rng.integers(10**4, 10**5, size=12), rng.integers(-(10**5), 10**5, size=(12, 2))])
        long, wide = 10**13, 13
        body = region(
            np.vstack([normals, -normals, np.eye(3)[1:], -np.eye(3)[1:]]),
            [*(normals[:, 0] * long), *(normals[:, 0] * long), *[wide] * 4],
            2**49,
        )
        low, high = integers([-2 * long, -wide, -wide]), integers([2 * long, wide, wide])
        found = largest_ellipsoid(body, self.GAP, lambda: (low, high))
        assert float(found.determinant) == pytest.approx(long * wide**2, rel=1e-5)

    @pytest.mark.parametrize("long", [10**9, 10**12, 10**14])
    def test_a_needle_along_no_axis(self, long):
        """In floats the entries of B, of the size of its length, would round away its width."""
        body = region([[1, 1], [-1, -1], [1, -1], [-1, 1]], [long, long, 10, 10], 2**49)
        found = largest_ellipsoid(body, self.GAP, within(2, long))
        assert float(found.determinant) == pytest.approx(long * 10 / 2, rel=1e-5)

    def test_most_rows_in_one_plane(self):
        """So many of the longest rows that those of the other column are not held from the start."""
        body = region([[1, 0], [-1, 0]] * 80 + [[0, 1], [0, -1]] * 120, [100] * 160 + [300] * 240, 10**6)
        found = largest_ellipsoid(body, self.GAP, within(2, 10**6))
        assert float(found.determinant) == pytest.approx(100 * 300, rel=1e-5)

    def test_no_inner_point(self):
        flat = region([[1, 1], [-1, -1]], [5, -5], 100)
        assert inner_point(flat) is None
        assert largest_ellipsoid(flat, self.GAP, within(2, 100)) is None
        assert largest_ellipsoid(region([[1, 0], [-1, 0]], [1, -2], 100), self.GAP, within(2, 100)) is None
        sliver = region([[2**30, 1], [-(2**30), -1]], [1, 0], 100)
        assert largest_ellipsoid(sliver, self.GAP, within(2, 100)) is not None

    @pytest.mark.parametrize("seed", range(12))
    def test_a_bad_solver_is_seen_through(self, seed):
        """Whatever the floats propose, the bound is on the right side and the gap says how bad it is."""
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 5))
        normals = rng.integers(-20, 21, size=(12, d))
        normals[np.abs(normals).sum(axis=1) == 0] = 1
        body = region(normals, rng.integers(50, 400, size=12), 1000)
        truth = largest_ellipsoid(body, Fraction(1, 10**9), within(d, 1000))
        honest = ellipsoids._solved
        seen = []

        def lying(*arguments):
            proposal = honest(*arguments)
            noise = np.diag(np.exp(0.3 * rng.normal(size=d)))
            noisy = Shape(proposal.shape.times(noise, proposal.shape.bits), proposal.shape.bits)
            weights = proposal.weights * np.exp(rng.normal(size=len(proposal.weights)))
            return Proposal(proposal.centre, proposal.bits, noisy, weights)

        centre, bits = inner_point(body)
        for _ in range(5):
            found = certified(body, lying(body, centre, bits, Shape.of(np.diag(body.scale)), self.GAP), within(d, 1000))
            if found is not None:
                seen.append(found)
                assert found.determinant <= truth.determinant * (1 + truth.gap)
                assert (1 + found.gap) * found.determinant >= truth.determinant
        assert any(found.gap > Fraction(1, 100) for found in seen)

    def test_weights_on_one_side_are_paid_for_by_the_box(self):
        """They cannot be balanced, so the largest ellipsoid may be anywhere in the box: the ends are asked for."""
        body = region([[2, 1], [1, 2], [3, 3], [-1, 0], [0, -1]], [60, 60, 150, 90, 90], 100)
        truth = largest_ellipsoid(body, Fraction(1, 10**9), within(2, 100))
        centre, bits = inner_point(body)
        asked = []

        def box():
            asked.append(1)
            return ends(2, 100)

        proposal = ellipsoids._solved(body, centre, bits, Shape.of(np.diag(body.scale)), self.GAP)
        for weights in ([1.0, 1.0, 0.5], [0.2, 1.0, 1.0], [1.0, 0.1, 0.1]):
            one_sided = np.zeros(len(body.normals))
            one_sided[:3] = weights
            found = certified(body, replace(proposal, weights=one_sided), box)
            assert found.gap > 1
            assert (1 + found.gap) * found.determinant >= truth.determinant
        assert len(asked) == 3

    @pytest.mark.parametrize("seed", range(6))
    def test_a_similar_ellipsoid_is_a_hint_only(self, seed):
        """Whether its centre is inside, close to a side or far outside: the same size as without it."""
        rng = np.random.default_rng(seed)
        normals = rng.integers(-20, 21, size=(14, 3))
        normals[np.abs(normals).sum(axis=1) == 0] = 1
        offsets = rng.integers(300, 900, size=14)
        similar = largest_ellipsoid(region(normals, offsets, 1000), self.GAP, within(3, 1000))
        for less in (0, 100, 250, 299):
            body = region(normals, offsets - less, 1000)
            plain = largest_ellipsoid(body, self.GAP, within(3, 1000))
            found = largest_ellipsoid(body, self.GAP, within(3, 1000), similar)
            assert float(found.determinant / plain.determinant) == pytest.approx(1, abs=2e-6)
        aside = replace(body, offsets=body.offsets + body.normals @ integers([5000, -3000, 10**6]))
        far = largest_ellipsoid(aside, self.GAP, within(3, 10**7), similar)
        assert float(far.determinant / plain.determinant) == pytest.approx(1, abs=2e-6)

    def test_it_asks_again_until_the_gap_is_small(self):
        body = region([[1, 2], [3, -1], [-2, 1]], [100, 70, 80], 400)
        honest, calls = ellipsoids._solved, []

        def first_time_bad(*arguments):
            proposal = honest(*arguments)
            calls.append(1)
            small = Shape(proposal.shape.matrix, proposal.shape.bits + (len(calls) == 1))
            return Proposal(proposal.centre, proposal.bits, small, proposal.weights)

        with patch.object(ellipsoids, "_solved", first_time_bad):
            found = largest_ellipsoid(body, self.GAP, within(2, 400))
        assert len(calls) == 2
        assert found.gap <= self.GAP

    def test_floats_that_give_out_raise_nothing(self):
        body = region([[1, 2], [3, -1], [-2, 1]], [100, 70, 80], 400)
        honest, calls = ellipsoids._solved, []

        def first_time_broken(*arguments):
            calls.append(1)
            if len(calls) < 3:
                raise [np.linalg.LinAlgError, OverflowError][len(calls) - 1]
            return honest(*arguments)

        with patch.object(ellipsoids, "_solved", first_time_broken):
            found = largest_ellipsoid(body, self.GAP, within(2, 400))
        assert found.gap <= self.GAP

    @pytest.mark.parametrize("broken", [0.0, np.nan, np.inf, 1e-300])
    def test_proposals_that_make_no_sense_raise_and_warn_nothing(self, broken):
        body = region([[1, 2], [3, -1], [-2, 1]], [100, 70, 80], 400)
        honest, calls = ellipsoids._solved, []

        def first_time_senseless(*arguments):
            proposal = honest(*arguments)
            calls.append(1)
            if len(calls) > 2:
                return proposal
            far = Shape(proposal.shape.matrix << (2000 if len(calls) == 1 else 0), proposal.shape.bits)
            return Proposal(proposal.centre, proposal.bits, far, proposal.weights * broken)

        with patch.object(ellipsoids, "_solved", first_time_senseless):
            found = largest_ellipsoid(body, self.GAP, within(2, 400))
        assert found.gap <= self.GAP
        assert len(calls) >= 2


def all_points(bound: int, d: int) -> np.ndarray:
    return np.array(list(np.ndindex(*([2 * bound + 1] * d)))) - bound


@pytest.mark.parametrize("seed", range(8))
def test_counting(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    body = region(rng.integers(-5, 6, size=(4, d)), rng.integers(0, 40, size=4), 9)
    truth = int((all_points(9, d) @ body.normals.astype(np.int64).T <= body.offsets.astype(np.int64)).all(axis=1).sum())
    box = Box((-9,) * d, (9,) * d)
    assert count_up_to(10**6, body, box) == truth
    assert count_up_to(7, body, box) == min(7, truth)
    with patch("tukeydp.trusted.sizes.grid_points._AT_ONCE", 4):
        assert count_up_to(10**6, body, box) == truth


@pytest.mark.parametrize("at_once", [1, 3, 256])
@pytest.mark.parametrize("seed", range(12))
def test_counting_column_by_column(seed, at_once, monkeypatch):
    """Few values in each of up to six columns, in boxes that are not about zero, against every point by itself."""
    monkeypatch.setattr(grid_points, "_AT_ONCE", at_once)
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    low = rng.integers(-4, 3, size=d)
    high = low + rng.integers(0, 4, size=d)
    points = np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))))
    normals = rng.integers(-9, 10, size=(int(rng.integers(1, 9)), d))
    body = region(normals, rng.integers(-10, 30, size=len(normals)), 50)
    truth = int((points @ body.normals.astype(np.int64).T <= body.offsets.astype(np.int64)).all(axis=1).sum())
    box = Box(tuple(low.tolist()), tuple(high.tolist()))
    assert grid_points.has_few_values(body, box)
    assert sum(grid_points.counts_of_parts(body, box)) == truth
    assert count_up_to(10**6, body, box) == truth
    assert count_up_to(5, body, box) == min(5, truth)


def test_a_box_that_nothing_cuts_is_counted_as_a_whole():
    assert list(grid_points.counts_of_parts(region([[1] * 20], [100], 4), Box((-4,) * 20, (4,) * 20))) == [9**20]


def test_products_beyond_64_bits_are_counted_otherwise():
    body = region([[1, 0]], [0], 2)
    long = Region(body.normals * 2**61, body.offsets * 2**61, body.centre, body.scale)
    box = Box((-2, -2), (2, 2))
    assert grid_points.has_few_values(body, box)
    assert not grid_points.has_few_values(long, box)
    assert count_up_to(100, long, box) == count_up_to(100, body, box) == 15


@pytest.mark.parametrize("seed", range(40))
def test_polygons_are_counted_exactly(seed):
    rng = np.random.default_rng(seed)
    bound = int(rng.integers(1, 15))
    body = region(rng.integers(-9, 10, size=(int(rng.integers(1, 9)), 2)), rng.integers(-10, 60, size=8), bound)
    body = Region(body.normals, body.offsets[-len(body.normals) :], body.centre, body.scale)
    normals, offsets = body.normals.astype(np.int64), body.offsets.astype(np.int64)
    truth = int((all_points(bound, 2) @ normals.T <= offsets).all(axis=1).sum())
    found = tight_ends(body)
    assert (0 if found is None else grid_points_in_polygon(body, found[0][0], found[1][0])) == truth


def test_long_normals_do_not_overflow():
    """Entries and offsets fit in 64 bits, products do not: 2^42 (y - x) = 2^64 must not be taken for zero."""
    far, long = 2**40, 2**42
    line = region([[long, -long], [-long, long]], [0, 0], 2 * far)
    for x, inside in ((far - 2**22, 0), (far, 1)):
        point = Box((x, far), (x, far))
        assert count_up_to(9, line, point) == inside


@given(st.integers(0, 40), st.integers(1, 40), st.integers(-60, 60), st.integers(-60, 60))
@settings(deadline=None)
def test_sums_of_floors(n, m, a, b):
    assert floor_sum(n, m, a, b) == sum((a * i + b) // m for i in range(n))


@pytest.mark.parametrize(("d", "kind"), [(2, BoxesAndEllipsoids), (3, BoxesAndEllipsoids), (3, Polyhedra)])
@pytest.mark.parametrize("counted", [0, 4096])
def test_sizes_bracket_the_number_of_grid_points_and_fall_with_the_level(d, kind, counted):
    rng = np.random.default_rng(d)
    bound = 12
    directions = np.vstack([np.eye(d, dtype=np.int64), rng.integers(-3, 4, size=(4, d)), np.ones((1, d), dtype=int)])
    directions = directions[np.abs(directions).sum(axis=1) > 0]
    rows = np.clip(np.rint(rng.normal(size=(40, d)) * 6), -bound, bound).astype(np.int64)
    levels = level_sets(rows, directions)
    with patch.object(boxed, "COUNTED", counted):
        measured = kind(levels, Box((-bound,) * d, (bound,) * d), 1)
        depth = levels.depths(all_points(bound, d))
        above, below = [], []
        for level in range(1, 22):
            above.append(measured.upper(level))
            below.append(measured.lower(level))
            count = int((depth >= level).sum())
            assert below[-1] <= count <= above[-1]
            if counted:
                assert (below[-1] == 0) == (count == 0)
    for larger, smaller in pairwise(above):
        assert smaller <= larger * (1 + 2 * SLACK)
    for larger, smaller in pairwise(below):
        assert smaller <= larger * (1 + 2 * SLACK)
    assert below[0] > 0
    assert above[-1] == below[-1] == 0


def test_a_correlated_set_is_measured_by_its_ellipsoid():
    """Along a diagonal the box along the axes is far too large; John's bound is not."""
    rng = np.random.default_rng(1)
    rows = np.rint(rng.normal(size=(100, 1)) * 10**6 + rng.normal(size=(100, 2)) * 10).astype(np.int64)
    directions = np.array([[1, 0], [0, 1], [1, 1], [1, -1]], dtype=np.int64)
    measured = BoxesAndEllipsoids(level_sets(rows, directions), Box((-(2**40),) * 2, (2**40,) * 2), 10)
    box = measured._box(10)
    assert measured.upper(10) < Fraction(box.size, 1000)
    assert measured.lower(10) <= measured.upper(10) <= 8 * measured.lower(10)


def test_offsets_are_public_and_reach_the_top():
    for n in (1, 5, 48, 49, 1000, 10**6):
        offsets = sparse_offsets(n)
        assert offsets[0] == 0
        assert offsets[-1] >= min(n, 48)
        assert list(offsets) == sorted(set(offsets))
    assert len(sparse_offsets(10**6)) < 250
