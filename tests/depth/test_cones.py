"""Decisions without sweeps: cones of normals that prove, descents that refute; against depth by definition."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.grids import centred_grid
from support.halfspaces import brute_force
from tukeydp.trusted.exact import depth as cones
from tukeydp.trusted.exact import depth as exact_depth
from tukeydp.trusted.exact import depth as round_frames
from tukeydp.trusted.exact import loops
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.exact.depth import found_at_once, proven
from tukeydp.trusted.exact.vectors import Vectors, from_integers
from tukeydp.trusted.matrices import integers


def clouds(d: int, most: int, largest: int):
    row = st.tuples(*[st.integers(-largest, largest)] * d).filter(any)
    return st.lists(row, min_size=d + 1, max_size=most)


def weight_beyond(normal, rows) -> int:
    return sum(sum(a * b for a, b in zip(normal, row, strict=True)) >= 0 for row in rows)


@pytest.mark.parametrize(("d", "most", "largest"), [(3, 7, 2), (3, 7, 1000), (4, 6, 2), (4, 6, 1000)])
def test_what_is_proven_is_true_and_what_is_refuted_is_not(d, most, largest):
    """Small lattices are full of ties, parallel and opposite vectors, and planes with many rows."""

    @given(clouds(d, most, largest))
    def check(rows):
        depth = brute_force((0,) * d, rows)
        vectors = from_integers(rows, [1] * len(rows))
        for least in range(depth + 3):
            for found in (proven(vectors, least), proven(vectors, least, exact_depth._in_plane)):
                assert found is not True or depth >= least
            light = found_at_once(vectors, least)
            assert light is None or depth <= light.least == weight_beyond(light.normal, rows) < least

    check()


def test_nothing_in_general_position_stays_in_doubt():
    rng = np.random.default_rng(0)
    for d, n in ((3, 60), (4, 40), (5, 30)):
        rows = rng.integers(-(2**30), 2**30, size=(n, d))
        vectors = from_integers(rows.tolist(), [1] * n)
        answers = [proven(vectors, least) for least in range(1, n)]
        last = sum(answer is True for answer in answers)
        assert all(answer is True for answer in answers[:last])
        for least, normal in enumerate(answers[last:], last + 1):
            assert isinstance(normal, np.ndarray)
            assert (rows @ normal >= 0).sum() < least
        if d < 5:
            assert last == exact_depth.least_weight(vectors).least


@pytest.mark.parametrize(("d", "n"), [(3, 30), (4, 18)])
def test_the_decision_with_and_without_cones_is_the_same_near_planes_and_ties(d, n):
    rng = np.random.default_rng(d)
    flat = rng.integers(-8, 9, size=(n, d)) * 10**6
    flat[:, -1] = flat[:, :-1].sum(axis=1) + rng.integers(-1, 2, size=n)  # a step off a plane
    stretched = np.rint(rng.normal(size=(n, d)) * 10.0 ** np.arange(1, 3 * d, 3)).astype(np.int64)
    lattice = rng.integers(-2, 3, size=(n, d))
    for rows in (flat, stretched, lattice, np.repeat(lattice[:6], 4, axis=0)):
        deciding = GridDepth(rows, centred_grid(int(np.abs(rows).max()) + 1, d))
        for point in (rows[0], rows[:5].sum(axis=0) // 5, np.zeros(d, dtype=np.int64)):
            depth = deciding.depth(point.tolist())
            for level in range(max(1, depth - 2), depth + 4):
                refutation = deciding.refute(point, level)
                assert (refutation is None) == (depth >= level)
                if refutation is not None:
                    for normal in [*refutation.short.tolist(), refutation.exact_normal()]:
                        assert weight_beyond(normal, (integers(rows) - integers(point)).tolist()) < level


def test_large_tables_are_refuted_by_descent_with_a_normal_of_integers(monkeypatch):
    monkeypatch.setattr(exact_depth, "_FEW_KEYS", 0)
    rng = np.random.default_rng(1)
    for d in (3, 4, 5):
        rows = rng.integers(-(2**20), 2**20, size=(14, d))
        vectors = from_integers(rows.tolist(), [1] * 14)
        depth = brute_force((0,) * d, rows.tolist()) if d < 5 else 6
        for asked in (depth + 1, depth + 4, 8):
            answer = exact_depth.least_weight(vectors, asked, enough=True)
            assert answer.least < asked
            assert answer.normal is not None
            assert weight_beyond(answer.normal, rows.tolist()) == answer.least
        if d < 5:
            assert exact_depth.least_weight(vectors, depth, enough=True).least >= depth


def test_floats_that_hardly_tell_the_side_prove_nothing():
    """Vectors in a plane but for their last digits: products below the margin are on no side."""
    plane = np.array([[1, 0, 1], [0, 1, 1], [-1, -1, -2], [1, 2, 3], [-2, 1, -1], [3, -1, 2]]) * 2**40
    rows = plane + np.array([[0, 0, 1], [0, 0, -1], [0, 0, 1], [0, 0, -1], [0, 0, 1], [0, 0, -1]])
    shadow = rows / np.abs(rows).max(axis=1, keepdims=True)
    vectors = Vectors(shadow, np.ones(6, dtype=np.int64), lambda j: rows[j].tolist())
    depth = brute_force((0, 0, 0), rows.tolist())
    for least in range(1, 5):
        assert proven(vectors, least) is not True or depth >= least
    # Floats that are off by as much as the bound on them allows must change nothing that is proven.
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = shadow + rng.choice([-1, 1], size=shadow.shape) * 2.0**-51
        for least in range(1, 5):
            found = proven(Vectors(moved, vectors.weights, vectors.exactly), least)
            assert found is not True or depth >= least


@pytest.mark.parametrize("d", [3, 4, 5])
def test_cells_too_thin_for_floats_are_decided_all_the_same(d):
    """Rows that all but surround the point: what is left open is 2^-30 ... 2^-70 of a turn wide, and skewed."""
    rng = random.Random(d)
    proofs = []
    for _ in range({3: 40, 4: 15, 5: 3}[d]):
        rows = [[int(i == j) for j in range(d)] for i in range(d)]
        for _ in range(3):
            i, j = rng.sample(range(d), 2)
            factor = rng.randint(-3, 3) * 2 ** rng.choice([0, 5, 20])
            rows[i] = [a + factor * b for a, b in zip(rows[i], rows[j], strict=True)]
        frame, far = rows[:], 2 ** rng.choice([30, 45, 50, 51, 52, 53, 54, 70])
        for _ in range(rng.randint(1, 3)):
            by = [-rng.randint(1, 3) * far for _ in range(d)]
            by[rng.randrange(d)] = rng.randint(-3, 3)
            rows.append([sum(c * v[j] for c, v in zip(by, frame, strict=True)) for j in range(d)])
        depth = brute_force((0,) * d, rows)
        rounded = from_integers(rows, [1] * len(rows))
        off = np.random.default_rng(len(proofs)).choice([-1, 1], size=rounded.shadow.shape) * 2.0**-52
        for vectors in (rounded, replace(rounded, shadow=rounded.shadow + off)):
            for least in (depth, depth + 1):
                found = proven(vectors, least, exact_depth._in_plane)
                assert found is not True or depth >= least
                assert (exact_depth.least_weight(vectors, least, enough=True).least >= least) == (depth >= least)
                proofs.append(found is True and least > 0)
    assert any(proofs)


def test_without_margins_floats_would_prove_what_is_not_true():
    """Must-fail control. A halfspace without any vector is there, a turn of 2^-53 wide; in floats it is not."""
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-(2**52), -(2**52), 1]]
    shadow = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, 2.0**-52 - 2.0**-51]])  # off by no more than allowed
    vectors = Vectors(shadow, np.ones(4, dtype=np.int64), rows.__getitem__)
    assert brute_force((0, 0, 0), rows) == 0
    assert proven(vectors, 1) is not True
    honest = cones.round_frame

    def careless(given):
        return replace(honest(given), errors=np.full(4, -(2.0**-53) * (cones._CUTS * 3 + 1)))

    with patch.object(cones, "round_frame", careless), patch.object(round_frames, "_axes", lambda *_: np.eye(3)):
        assert proven(vectors, 1) is True


def test_vectors_a_step_off_a_plane_are_round_in_their_frame():
    rng = np.random.default_rng(3)
    rows = rng.integers(-(2**29), 2**29, size=(50, 3))
    rows[:, 2] = rows[:, 0] + rows[:, 1] + rng.integers(-1, 2, size=50)
    frame = round_frames.round_frame(
        Vectors(rows.astype(float), np.ones(50, dtype=np.int64), rows.tolist().__getitem__, True)
    )
    assert np.linalg.svd(frame.products, compute_uv=False)[-1] > 0.5
    assert frame.errors.max() < 2.0**-50
    for row, found in zip(rows.tolist(), frame.products.tolist(), strict=True):
        exact = [sum(Fraction(c) * a for c, a in zip(normal, row, strict=True)) for normal in frame.normals.tolist()]
        over = max(map(abs, exact))
        assert all(abs(Fraction(a) - b / over) <= 2.0**-53 for a, b in zip(found, exact, strict=True))


def test_rows_in_a_plane_through_the_point_are_counted_together():
    """No cone around the plane's normal is small enough to tell them apart; together they have a depth of their own."""
    rng = np.random.default_rng(4)
    rows = rng.integers(-(10**6), 10**6, size=(40, 3))
    rows[:28, 2] = 0
    rows = rows[(rows != 0).any(axis=1)]
    vectors = from_integers(rows.tolist(), [1] * len(rows))
    depth = exact_depth.least_weight(vectors).least
    assert proven(vectors, depth) is None
    assert proven(vectors, depth, exact_depth._in_plane) is True
    assert proven(vectors, depth + 1, exact_depth._in_plane) is not True

    def too_little(vectors, chosen):
        plane = exact_depth._in_plane(vectors, chosen)
        return replace(plane, least=plane.least - 4)

    assert proven(vectors, depth, too_little) is not True  # the weight of the plane does decide


def test_a_search_that_takes_too_long_or_too_much_room_is_left_to_the_sweeps(monkeypatch):
    rows = np.random.default_rng(2).integers(-(2**20), 2**20, size=(40, 3))
    vectors = from_integers(rows.tolist(), [1] * 40)
    least = exact_depth.least_weight(vectors).least
    assert proven(vectors, least) is True
    with patch.object(cones.math, "comb", lambda *_: 0), patch.object(cones, "_LITTLE_WORK", 50):
        assert proven(vectors, least) is None
        assert exact_depth.least_weight(vectors, least, enough=True).least == least
    # Of many vectors in many columns the sweeps take more steps than 64 bits can count.
    with patch.object(cones.math, "comb", lambda *_: 2**70):
        assert proven(vectors, least) is True
    with patch.object(cones.math, "comb", lambda *_: 2**62):
        assert proven(vectors, least) is True
    assert len(loops.search.signatures) == 1  # one form, whatever the vectors: it is kept in a file
    monkeypatch.setattr(cones, "_ROOM", 1)  # not enough for a path: asked again with more
    assert proven(vectors, least) is True


@pytest.mark.parametrize("d", [3, 4])
def test_halfspaces_weigh_the_same_in_other_coordinates(d):
    """Vectors of nearly one direction: sweeps leave them in doubt, and are repeated after a stretch."""
    rng = np.random.default_rng(d)
    along = rng.integers(-(10**6), 10**6, size=(9, 1)) * np.arange(1, d + 1) + rng.integers(-1, 2, size=(9, d))
    rows = np.vstack([along, rng.integers(-(10**6), 10**6, size=(4, d))]).tolist()
    vectors = from_integers(rows, [1] * len(rows))
    found = round_frames.spread_evenly(vectors)
    assert found is not None
    moved, matrix = found
    for j in range(len(vectors.weights)):
        exact = [sum(int(a) * b for a, b in zip(row, vectors.exactly(j), strict=True)) for row in matrix.tolist()]
        assert list(moved.exactly(j)) == exact
        assert np.allclose(moved.shadow[j], np.array(exact, dtype=np.float64) / max(map(abs, exact)), rtol=2.0**-50)
    depth = brute_force((0,) * d, rows) if d == 3 else exact_depth.least_weight(vectors).least
    assert exact_depth.least_weight(moved).least == depth
    with patch.object(exact_depth, "_FEW_DOUBTS", -1):
        assert exact_depth.least_weight(vectors).least == depth
