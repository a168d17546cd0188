"""Hints of exact depth: whatever they answer, decisions are those of the definition; and the margins of the floats."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from support.grids import centred_grid
from support.halfspaces import brute_force
from tukeydp.trusted.exact import depth as cones
from tukeydp.trusted.exact import depth as exact_depth
from tukeydp.trusted.exact import depth as round_frames
from tukeydp.trusted.exact import sweeps
from tukeydp.trusted.exact.deciding import GridDepth
from tukeydp.trusted.exact.depth import found_at_once, least_weight, round_frame
from tukeydp.trusted.exact.vectors import Vectors, from_integers
from tukeydp.trusted.hinted import OFFERED, asked, finite_rows, integer_vector
from tukeydp.trusted.matrices import integers

HINTS = (
    *("light_normals", "lifted_along", "lifted", "principal_axes", "evenly_spread", "parting_facet", "facets_before"),
)


def raises(*_):
    raise RuntimeError("no hint")


def writes(*given):
    next(value for value in given if isinstance(value, np.ndarray))[...] = 0


ANSWERS = {
    "raises": raises,
    "writes to what it got": writes,
    "nothing": lambda *_: None,
    "text": lambda *_: "seven",
    "not a number": lambda *_: np.full((3, 3), np.nan),
    "infinity": lambda *_: np.full((4, 3), np.inf),
    "another shape": lambda *_: np.ones((2, 5, 3)),
    "one number": lambda *_: 1e300,
    "zeros": lambda *_: np.zeros((5, 3)),
    "a halfspace that refutes nothing": lambda *_: np.array([[1.0, 0.0, 0.0]]),
    "dependent axes": lambda *_: np.ones((3, 3)),
    "a list": lambda *_: [1, 1, 1],
    "zeros in a list": lambda *_: [0, 0, 0],
    "floats in a list": lambda *_: [0.5, float("nan"), 1.0],
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_whatever_hints_answer_decisions_are_those_of_the_definition(answer, monkeypatch):
    rng = np.random.default_rng(5)
    lattice = rng.integers(-2, 3, size=(9, 3))
    round_cloud = rng.integers(-(2**20), 2**20, size=(9, 3))
    cases = [(rows, point) for rows in (lattice, round_cloud) for point in (rows[0], rows[:4].sum(axis=0) // 4)]
    depths = [brute_force(point.tolist(), rows.tolist()) for rows, point in cases]
    monkeypatch.setattr(exact_depth, "_FEW_KEYS", 0)
    monkeypatch.setattr(exact_depth, "_FEW_DOUBTS", 0)
    for name in HINTS:
        monkeypatch.setitem(OFFERED, name, ANSWERS[answer])
    for (rows, point), depth in zip(cases, depths, strict=True):
        deep = GridDepth(rows, centred_grid(2**21, 3))
        for level in range(1, depth + 3):
            refutation = deep.refute(point, level)
            assert (refutation is None) == (depth >= level)
            if refutation is None:
                continue
            facet = refutation.facet()
            for normal in [*refutation.short.tolist(), refutation.exact_normal(), *([] if facet is None else [facet])]:
                assert (integers(rows) @ integers(normal) >= int(integers(normal) @ integers(point))).sum() < level
            cuts = deep.cuts(integers(point), level)
            assert cuts is not None
            assert (cuts.normals @ integers(point) > cuts.offsets).any()
        normals = deep.parted(integers(rows[:3]), 2, 0, np.eye(3))
        assert normals.dtype == np.int64
        assert normals.shape[1] == 3


def test_a_halfspace_that_nobody_counted_would_be_noticed(monkeypatch):
    """Must-fail control: with every proposal taken at its word, a deep point is refuted."""
    rows = [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    vectors = from_integers(rows, [1] * 8)
    depth = brute_force((0, 0, 0), rows)
    monkeypatch.setitem(OFFERED, "light_normals", lambda *_: np.eye(3))
    assert found_at_once(vectors, depth) is None
    monkeypatch.setattr(exact_depth, "_closed_weight", lambda *_: 0)
    found = found_at_once(vectors, depth)
    assert found is not None
    assert found.least < depth


def test_a_matrix_that_cannot_be_inverted_is_no_other_coordinates(monkeypatch):
    """Must-fail control: without a look at the determinant a flat image would be taken for the vectors."""
    rows = [[3, 0, 1], [-3, 1, 1], [0, -3, 1], [1, 3, 1], [-2, -1, 1]]
    vectors = from_integers(rows, [1] * 5)
    assert brute_force((0, 0, 0), rows) == 0
    monkeypatch.setitem(OFFERED, "evenly_spread", lambda *_: np.diag([1.0, 1.0, 0.0]))
    assert round_frames.spread_evenly(vectors) is None
    monkeypatch.setattr(round_frames, "determinant", lambda *_: 1)
    moved = round_frames.spread_evenly(vectors)
    assert moved is not None
    assert least_weight(moved[0]).least > 0


def test_cones_between_dependent_normals_prove_nothing(monkeypatch):
    """With some signs a combination of them, none of its weights negative, is zero: nothing is on one side of all."""
    rows = [[3, 0, 1], [-3, 1, 1], [0, -3, 1], [1, 3, 1], [-2, -1, 1]]
    flat = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    monkeypatch.setitem(OFFERED, "principal_axes", lambda *_: flat)
    monkeypatch.setattr(round_frames, "determinant", lambda *_: 1)
    assert cones.proven(from_integers(rows, [1] * 5), 1) is not True


def test_the_door_is_one_way():
    array = np.arange(3.0)
    assert asked(writes, array) is None
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert finite_rows([[1.0, np.inf], [2.0, 3.0]], 2).tolist() == [[2.0, 3.0]]
    assert finite_rows([[1.0], [2.0, 3.0]], 2).shape == (0, 2)
    assert integer_vector([1, 2], 2) == [1, 2]
    for nonsense in ([True, 2], [1.0, 2], (1, 2), [0, 0], [1], np.array([1, 2]), None):
        assert integer_vector(nonsense, 2) is None


def hostile_vectors(d: int, rng: np.random.Generator) -> list[Vectors]:
    """Near a plane, of very different sizes, near 2^62; each shadow off by as much as is allowed, on purpose."""
    flat = rng.integers(-(2**61), 2**61, size=(20, d)).astype(object)
    flat[:, -1] = flat[:, :-1].sum(axis=1) + rng.integers(-1, 2, size=20)
    huge = 2**62 - rng.integers(0, 3, size=(20, d)).astype(object) * rng.choice([1, 2**31, 2**62], size=(20, d))
    spread = rng.integers(1, 9, size=(20, d)).astype(object) * 2 ** rng.integers(0, 62, size=(20, d)).astype(object)
    found = []
    for rows in (flat, huge, spread):
        signed = [[int(c) * int(s) for c, s in zip(v, rng.choice([-1, 1], size=d), strict=True)] for v in rows]
        exact = [v for v in signed if any(v)]
        vectors = from_integers(exact, [1] * len(exact))
        axes = np.sign(round_frame(vectors).normals[0])
        found.append(vectors)
        found.append(Vectors(vectors.shadow + axes * 2.0**-51 * (1 - 2.0**-10), vectors.weights, vectors.exactly))
    return found


def worst_errors(vectors: Vectors, cuts: int, rng: np.random.Generator) -> float:
    """The largest error of a product along random paths of cuts, as a part of the margin that `proven` allows."""
    frame = round_frame(vectors)
    d = vectors.shadow.shape[1]
    margins = 2 * frame.errors + 2.0**-52 * (cones._CUTS * d + 1)
    worst = 0.0
    for j in range(len(vectors.weights)):
        row = [Fraction(int(c)) for c in vectors.exactly(j)]
        true = [sum(Fraction(c) * a for c, a in zip(f, row, strict=True)) for f in frame.normals.tolist()]
        at = frame.products[j].tolist()
        if not any(at):
            continue
        k = int(np.argmax(np.abs(at)))
        # Vectors count up to a positive factor each: that of the shadow, over its own largest product.
        size = Fraction(float(np.abs(vectors.shadow[j]).max())) / max(map(abs, row))
        longest = abs(sum(Fraction(c) * Fraction(a) for c, a in zip(frame.normals[k], vectors.shadow[j], strict=True)))
        exact = [c * size / longest for c in true]
        signs = rng.choice([-1.0, 1.0], size=d)
        at, exact = (
            [a * s for a, s in zip(at, signs, strict=True)],
            [c * int(s) for c, s in zip(exact, signs, strict=True)],
        )
        for _ in range(cuts + 1):
            error = max(abs(Fraction(a) - c) for a, c in zip(at, exact, strict=True))
            worst = max(worst, float(error) / margins[j])
            a, b = rng.choice(d, size=2, replace=False)
            at[a], exact[a] = 0.5 * (at[a] + at[b]), (exact[a] + exact[b]) / 2
    return worst


@pytest.mark.parametrize("d", [3, 4])
def test_products_are_off_by_at_most_half_of_the_margin(d):
    """docs/proofs/exact-depth.md, section 5. Must-fail control: a sixty-fourth of the margin would be too little."""
    rng = np.random.default_rng(d)
    found = [worst_errors(vectors, cones._CUTS * d, rng) for vectors in hostile_vectors(d, rng)]
    assert max(found) <= 0.5
    assert max(found) > 1 / 64


def test_a_halfspace_that_floats_do_not_see_is_not_proven_away(monkeypatch):
    """It holds no vector and is a turn of 2^-53 wide; without margins nothing would be seen of it."""
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-(2**52), -(2**52), 1]]
    shadow = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, 2.0**-52 - 2.0**-51]])  # off by no more than allowed
    monkeypatch.setattr(round_frames, "_axes", lambda *_: np.eye(3))
    assert brute_force((0, 0, 0), rows) == 0
    assert cones.proven(Vectors(shadow, np.ones(4, dtype=np.int64), rows.__getitem__), 1) is not True


@pytest.mark.parametrize("d", [2, 3])
def test_what_is_decided_near_2_to_the_62_is_the_definition(d):
    rng = np.random.default_rng(d)
    for _ in range(12):
        frame = rng.integers(-3, 4, size=(d, d)) * 2**60
        rows = [
            [int(c) + int(e) for c, e in zip(v, rng.integers(-1, 2, size=d), strict=True)] for v in [*frame, *-frame]
        ]
        rows += [[int(c) for c in v] for v in rng.integers(-(2**62), 2**62, size=(3, d))]
        rows = [v for v in rows if any(v)]
        depth = brute_force((0,) * d, rows)
        exact = from_integers(rows, [1] * len(rows))
        moved = exact.shadow + rng.choice([-1, 0, 1], size=exact.shadow.shape) * 2.0**-52
        for vectors in (exact, Vectors(moved, exact.weights, exact.exactly)):
            assert least_weight(vectors).least == depth
            for least in (depth, depth + 1):
                assert cones.proven(vectors, least) is not True or depth >= least
                assert (least_weight(vectors, least, enough=True).least >= least) == (depth >= least)


# How far two angles of one direction may be apart, docs/proofs/exact-depth.md, section 3.
APART = {2: 2.0**-36, 3: 2.0**-33, 4: 1.01 * 2.0**-25}


def covered(d: int, bits: int) -> bool:
    """Whether keys of angles that may coincide are as close as the tolerance, in whole units of a key."""
    unit = 2.0 ** -(60 - bits)
    return int(sweeps._TOLERANCE[d] / unit) >= -(-APART[d] // unit)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_key_has_room_for_angles_as_close_as_the_tolerance(d):
    assert all(covered(d, bits) for bits in range(1, sweeps._INDEX_BITS[d] + 1))
    assert not covered(d, 40)  # of too many vectors the numbers leave no room: floats would decide ties


@pytest.mark.parametrize("d", [2, 3, 4])
def test_more_vectors_than_keys_have_room_for_are_done_in_integers(d):
    rows = np.random.default_rng(d).integers(-3, 4, size=(7, d)).tolist()
    rows = [v for v in rows if any(v)]
    vectors = from_integers(rows, [1] * len(rows))
    with patch.object(sweeps, "_INDEX_BITS", {d: 1}):
        search = sweeps.swept(vectors, 0, 1)
        assert search.doubts() == {2: 1, 3: len(vectors.weights), 4: search.doubts()}[d] > 0
        assert search.answer().least == brute_force((0,) * d, rows)
