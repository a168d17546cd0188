"""Volumes of polytopes: closed forms, exact ones, coverage of the stated accuracy, nests, bad input."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.mcmc import mcmc_level_volumes, polytope_estimate
from tukeydp.regions import polytope_volume

# 59 calls without a miss show, at 95 % confidence, that at least 95 % of calls are within 10 %: 0.95^59 < 0.05.
CALLS = 60


def cube(d):
    return np.vstack([np.eye(d), -np.eye(d)]), np.ones(2 * d)


def simplex(d):
    return np.vstack([-np.eye(d), np.ones((1, d))]), np.append(np.zeros(d), 1.0)


def cross_polytope(d):
    signs = np.array(list(product([-1.0, 1.0], repeat=d)))
    return signs, np.ones(len(signs))


def birkhoff(n):
    """Doubly stochastic matrices by their upper left block, in which volume is that relative to the lattice."""
    k = n - 1
    places = np.arange(k * k).reshape(k, k)
    rows = [-np.eye(k * k)]
    for line in [*places, *places.T]:
        rows.append(np.isin(np.arange(k * k), line)[np.newaxis].astype(float))
    rows.append(-np.ones((1, k * k)))
    return np.vstack(rows), np.concatenate([np.zeros(k * k), np.ones(2 * k), [1.0 - k]])


def slabs(d, k, seed):
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(k, d))
    return np.vstack([v, -v]), rng.uniform(1, 2, size=2 * k) * np.linalg.norm(np.vstack([v, v]), axis=1)


CLOSED_FORMS = [
    pytest.param(cube(1), 2.0, id="interval"),
    pytest.param(cube(4), 2.0**4, id="cube 4"),
    pytest.param(cube(8), 2.0**8, id="cube 8"),
    pytest.param(simplex(3), 1 / 6, id="simplex 3"),
    pytest.param(simplex(8), 1 / math.factorial(8), id="simplex 8"),
    pytest.param(cross_polytope(5), 2.0**5 / math.factorial(5), id="cross-polytope 5"),
    pytest.param(birkhoff(3), 1 / 8, id="Birkhoff 3"),
    pytest.param(birkhoff(4), 352 / math.factorial(9), id="Birkhoff 4"),
]


@pytest.mark.parametrize(("body", "volume"), CLOSED_FORMS)
def test_closed_forms(body, volume):
    """Exactly to rounding; by walks with a standard deviation of about 3 % a call, so 2 % for the mean of four."""
    assert polytope_volume(*body) == pytest.approx(volume, rel=1e-6)
    source = td.seeded(1)

    def mean(normals, offsets):
        return np.mean([polytope_volume(normals, offsets, method="mcmc", randomness=source) for _ in range(4)])

    assert mean(*body) == pytest.approx(volume, rel=0.1)
    larger = 1.25 ** (1 / body[0].shape[1])
    assert mean(body[0], body[1] * larger) != pytest.approx(volume, rel=0.1)  # must fail: a quarter more volume


@pytest.mark.parametrize(("body", "volume"), [(cube(4), 2.0**4), (simplex(5), 1 / math.factorial(5))])
def test_random_directions_give_the_same_volumes(body, volume):
    inside = np.full(body[0].shape[1], 0.1)
    rng = np.random.default_rng(8)
    found = [polytope_estimate(*body, inside, rng, directions="random") for _ in range(4)]
    assert np.mean([estimate.volume for estimate in found]) == pytest.approx(volume, rel=0.1)
    assert all(estimate.error < 0.05 for estimate in found)
    with pytest.raises(td.ParameterError, match="error"):
        polytope_estimate(*body, inside, rng, error=1.0)


@pytest.mark.parametrize("directions", ["coordinate", "random"])
def test_estimates_of_what_is_no_polytope_around_a_point_are_refused(directions):
    """An estimate around a point outside was e^6712, that of a slanted strip e^41."""
    rng = np.random.default_rng(9)
    square, ones = cube(2)
    for normals, offsets, inside, words in [
        (square, ones, [5.0, 0.0], "inside"),
        (square, ones, [1.0, 0.0], "inside"),
        (square, ones, [math.nan, 0.0], "finite"),
        (square, ones, [0.0], "shapes"),
        (square[:3], ones[:3], [0.0, 0.0], "bounded"),
        (square[:1], ones[:1], [0.0, 0.0], "bounded"),
        (np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]), ones[:3], [0.0, 0.0], "bounded"),
    ]:
        with pytest.raises(td.ParameterError, match=words):
            polytope_estimate(normals, offsets, np.array(inside), rng, directions=directions)
    with pytest.raises(td.ParameterError, match="directions"):
        polytope_estimate(square, ones, np.zeros(2), rng, directions="sideways")


def ratios(body, error, calls):
    source = td.seeded(2)
    found = [polytope_volume(*body, method="mcmc", error=error, randomness=source) for _ in range(calls)]
    return np.array(found) / polytope_volume(*body)


def misses(ratios):
    return int((np.abs(ratios - 1) > 0.1).sum())


def test_within_a_tenth_of_the_exact_volume_in_five_dimensions():
    body = slabs(5, 20, seed=1)
    found = ratios(body, 0.03, CALLS)
    assert misses(found) == 0
    assert misses(found / 1.08) > 0  # must fail: another volume
    assert misses(ratios(body, 0.5, 20)) > 1  # must fail: walks that are far too short


@pytest.mark.slow
def test_within_a_tenth_of_the_exact_volume_in_eight_dimensions():
    assert misses(ratios(slabs(8, 30, seed=2), 0.03, CALLS)) == 0


@given(st.integers(0, 10_000), st.floats(-6, 6), st.floats(0, 1e6))
def test_units_and_place_do_not_matter(seed, log_scale, shift):
    """Exact volumes of a stretched and moved polytope, in any units; redundant and zero rows change nothing."""
    a, b = slabs(3, 5, seed)
    scale = 10.0**log_scale * np.array([1.0, 10.0, 0.1])
    moved = a / scale, b + (a / scale) @ np.full(3, shift * scale.min())
    assert polytope_volume(*moved) == pytest.approx(polytope_volume(a, b) * np.prod(scale), rel=1e-5)
    more = np.vstack([a, a[:1], np.zeros((1, 3))]), np.concatenate([b, b[:1] + 1, [0.0]])
    assert polytope_volume(*more) == pytest.approx(polytope_volume(a, b), rel=1e-9)


@pytest.mark.parametrize("size", [1e-90, 1e-30, 1e-9, 1e20, 1e90])
@pytest.mark.parametrize("method", ["exact", "mcmc"])
def test_any_unit_of_length(size, method):
    """To the solver 1e-30 is nothing and 1e20 infinite. A row far away that cuts nothing off changes nothing."""
    for (a, b), volume in ((cube(3), 8.0), (simplex(3), 1 / 6)):
        found = polytope_volume(a, b * size, method, randomness=td.seeded(4))
        assert found == pytest.approx(volume * size**3, rel=1e-9 if method == "exact" else 0.15)
    a, b = cube(2)
    far = np.vstack([a, [[1.0, 1.0]]]), np.append(b, max(size, 1e9))
    assert polytope_volume(*far, method, randomness=td.seeded(4)) == pytest.approx(4.0, rel=0.15)


def test_thin_polytopes_are_rounded():
    """A box with sides from 1 to 1e-6, turned: without rounding, a walk would never get along it."""
    rng = np.random.default_rng(6)
    d = 5
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    sides = np.logspace(0, -6, d)
    a = np.vstack([turn, -turn])
    found = polytope_volume(a, np.tile(sides, 2), method="mcmc", randomness=td.seeded(3))
    assert found == pytest.approx(np.prod(2 * sides), rel=0.15)


@pytest.mark.parametrize("method", ["exact", "mcmc"])
def test_empty_and_flat_polytopes_have_no_volume(method):
    square = np.vstack([np.eye(2), -np.eye(2)])
    assert polytope_volume(square, [1, 1, -2, 1], method) == 0.0
    assert polytope_volume(square, [1, 1, -1, 1], method) == 0.0
    assert polytope_volume([[1, 1], [-1, -1], [1, 0], [-1, 0]], [0, 0, 1, 1], method) == 0.0
    assert polytope_volume([[1, 0], [-1, 0]], [0, 0], method) == 0.0
    assert polytope_volume([[0, 0], [1, 0]], [-1, 1], method) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([[1, 0], [-1, 0]], [1, 1], "bounded"),
        ([[1, 0], [0, 1]], [1, 1], "bounded"),
        ([[0, 0]], [1], "bounded"),
        ([[1, 0]], [1, 2], "shapes"),
        ([1, 2], [1, 2], "shapes"),
        (np.empty((0, 2)), [], "shapes"),
        ([[1, math.nan]], [1], "finite"),
        ([["a"]], [1], "numbers"),
    ],
)
def test_what_is_no_bounded_polytope_is_refused(a, b, words):
    with pytest.raises(td.ParameterError, match=words):
        polytope_volume(a, b)


def test_parameters_are_checked():
    for options, words in [({"method": "guess"}, "method"), ({"error": 0.0}, "error"), ({"error": "x"}, "error")]:
        with pytest.raises(td.ParameterError, match=words):
            polytope_volume(*cube(2), **options)
    # Walks of bounded length do not get there, and the first Gaussian would fill the memory.
    for error in (0.009, 1e-9, math.nan):
        with pytest.raises(td.ParameterError, match=r"error must be at least 0.01"):
            polytope_volume(*cube(2), "mcmc", error=error)
        with pytest.raises(td.ParameterError, match=r"error must be at least 0.01"):
            mcmc_level_volumes(np.random.default_rng(1).normal(size=(9, 2)), td.AxisAligned(), error=error)


def test_the_smallest_error_is_kept():
    """Ten calls: the root mean square is above twice the error with probability below 1e-4; at error 0.1 it is."""
    body, inside = slabs(4, 12, seed=3), np.zeros(4)
    true = math.log(polytope_volume(*body))

    def off(error):
        rng = np.random.default_rng(10)
        return math.sqrt(
            np.mean([(polytope_estimate(*body, inside, rng, error=error).log_volume - true) ** 2 for _ in range(10)])
        )

    assert off(0.01) < 0.02
    assert off(0.1) > 0.02


def test_all_levels_beside_the_exact_ones():
    """Every level within a fifth, most within a tenth; flat and empty levels agree; threads do not matter."""
    x = np.random.default_rng(7).normal(size=(80, 4))
    notion = td.Random(12, axes=False, seed=5)
    exact = td.level_volumes(x, notion)
    one = mcmc_level_volumes(x, notion, threads=1, randomness=td.seeded(4))
    three = mcmc_level_volumes(x, notion, threads=3, randomness=td.seeded(4))
    assert (one == three).all()
    assert len(one) == len(exact)
    assert one[0] == math.inf
    assert ((one == 0) == (exact == 0)).all()
    beside = one[1:][exact[1:] > 0] / exact[1:][exact[1:] > 0]
    assert np.abs(beside - 1).max() < 0.2
    assert (np.abs(beside - 1) < 0.1).mean() > 0.9
    assert (np.diff(one[1:]) <= 0).all()


def test_levels_without_volume():
    assert mcmc_level_volumes([[1, 2]] * 3, td.AxisAligned()).tolist() == [math.inf, 0, 0, 0]
    assert mcmc_level_volumes([[math.nan, 2]], td.AxisAligned()).tolist() == [math.inf]
    unbounded = mcmc_level_volumes([[1, 2], [3, 5], [4, 9]], td.Directions([[1, 0]]))
    assert unbounded.tolist() == [math.inf, math.inf, 0]
    with pytest.raises(td.ParameterError, match="depth"):
        mcmc_level_volumes([[1, 2]], td.Exact())
