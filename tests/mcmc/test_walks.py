"""Hit-and-run has the law it claims: goodness of fit on partitions of known volume, with laws that must be rejected."""

import math

import numpy as np
import pytest
from scipy.stats import truncnorm

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.mcmc import walk

SHELLS = np.array([0.0, 0.5, 0.7, 0.85, 1.0])


def simplex(d):
    return np.vstack([-np.eye(d), np.ones((1, d))]), np.append(np.zeros(d), 1.0)


def cells_of(points):
    """Cells of the simplex by the order of its barycentric coordinates and by nested smaller simplices."""
    weights = np.column_stack([points, 1.0 - points.sum(axis=1)])
    m = weights.shape[1]
    ranks = np.argsort(np.argsort(weights, axis=1), axis=1)
    order = ranks @ m ** np.arange(m)
    # {all weights >= s/m} is the simplex shrunk by 1 - s.
    shell = np.searchsorted(SHELLS, 1.0 - m * weights.min(axis=1)) - 1
    names, which = np.unique(order, return_inverse=True)
    assert len(names) == math.factorial(m)
    return which * (len(SHELLS) - 1) + np.clip(shell, 0, len(SHELLS) - 2)


def uniform_shares(d):
    shells = np.diff(SHELLS**d)
    return np.tile(shells / math.factorial(d + 1), math.factorial(d + 1))


@pytest.mark.parametrize(("directions", "thin"), [("coordinate", 90), ("random", 60)])
def test_uniform_on_the_simplex(directions, thin):
    """Thinned until draws are as good as independent; a wide Gaussian instead is rejected."""
    d, samples = 3, 20_000

    def p_value(sharpness):
        rng = np.random.default_rng(1)
        points = walk(
            *simplex(d), np.full(d, 0.2), rng, samples=samples, thin=thin, sharpness=sharpness, directions=directions
        )
        return g_test(np.bincount(cells_of(points), minlength=96), uniform_shares(d))

    assert p_value(0.0) > FALSE_ALARM
    assert p_value(1.5) < FALSE_ALARM


@pytest.mark.parametrize(
    ("low", "high"), [(-3, 4), (-0.3, 0.8), (-4, 0.01), (0.5, 1), (2, 8), (5, 5.1), (-9, -4), (0.2, 5), (30, 40)]
)
def test_gaussian_on_a_chord(low, high):
    """In one dimension each step is an independent draw from the truncated normal."""
    rng = np.random.default_rng(2)
    middle = [(low + high) / 2]
    line = np.array([[1.0], [-1.0]]), np.array([high, -low], dtype=float)
    draws = walk(*line, middle, rng, samples=20_000, thin=1, sharpness=0.5)[:, 0]
    levels = np.linspace(0, 1, 21)

    def p_value(law):
        counts = np.bincount(np.clip((law.cdf(draws) * 20).astype(int), 0, 19), minlength=20)
        return g_test(counts, np.diff(levels))

    assert (draws >= low).all()
    assert (draws <= high).all()
    assert p_value(truncnorm(low, high)) > FALSE_ALARM
    if high - low > 0.5:  # on very short chords every law is nearly uniform
        shift = 0.3 * max(1.0, min(abs(low), abs(high)))
        assert p_value(truncnorm(low - shift, high - shift, loc=shift)) < FALSE_ALARM


def test_gaussian_without_walls():
    """Far walls: independent standard normal coordinates after a few sweeps."""
    d = 4
    far = np.vstack([np.eye(d), -np.eye(d)]), np.full(2 * d, 50.0)

    def farthest(sharpness):
        rng = np.random.default_rng(3)
        points = walk(*far, np.zeros(d), rng, samples=8000, thin=40, sharpness=sharpness, directions="random")
        return np.abs(np.cov(points.T) - np.eye(d)).max()

    assert farthest(0.5) < 5.5 * math.sqrt(2 / 8000)
    assert farthest(0.6) > 5.5 * math.sqrt(2 / 8000)


def test_points_stay_inside_and_input_is_untouched():
    d = 6
    rng = np.random.default_rng(4)
    normals = rng.normal(size=(40, d))
    offsets, start = np.ones(40), np.zeros(d)
    before = normals.copy()
    for directions in ("coordinate", "random"):
        points = walk(normals, offsets, start, rng, samples=5000, thin=3, directions=directions)
        assert (points @ normals.T <= 1.0 + 1e-9).all()
    assert (normals == before).all()
    assert not start.any()
    with pytest.raises(td.ParameterError, match="directions must be"):
        walk(normals, offsets, start, rng, samples=1, thin=1, directions="sideways")


SQUARE = np.vstack([np.eye(2), -np.eye(2)])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sharpness": math.nan}, "sharpness must be"),
        ({"sharpness": -1.0}, "sharpness must be"),
        ({"sharpness": math.inf}, "sharpness must be"),
        ({"samples": 0}, "samples must be"),
        ({"thin": 0}, "thin must be"),
        ({"start": [math.nan, 0.0], "sharpness": 1.0}, "must be finite"),
        ({"offsets": [1.0, math.inf, 1.0, 1.0]}, "must be finite"),
        ({"start": [5.0, 0.0]}, "start must be strictly inside"),
        ({"start": [0.0]}, "must have shapes"),
        ({"offsets": [1.0, 1.0]}, "must have shapes"),
        ({"normals": SQUARE[:1], "offsets": np.ones(1)}, "bounded"),
    ],
)
@pytest.mark.parametrize("directions", ["coordinate", "random"])
def test_what_would_mislead_compiled_code_is_refused(changes, words, directions):
    """Each of these ran for ever, wrote beyond its arrays, or returned points outside, without a word."""
    plain = {"normals": SQUARE, "offsets": np.ones(4), "start": np.zeros(2), "samples": 200, "thin": 2}
    rng = np.random.default_rng(6)
    assert walk(**plain, rng=rng, directions=directions).shape == (200, 2)
    with pytest.raises(td.ParameterError, match=words):
        walk(**(plain | changes), rng=rng, directions=directions)


def test_a_gaussian_may_be_unbounded():
    """The quarter plane with its corner at the origin: half normals, whose second moment is 1; another scale is not."""

    def moment(sharpness):
        rng = np.random.default_rng(7)
        corner = -np.eye(2), np.zeros(2)
        points = walk(*corner, np.ones(2), rng, samples=8000, thin=20, sharpness=sharpness, directions="random")
        return float((points**2).mean())

    # The variance of a squared normal is 2: 16,000 of them.
    assert abs(moment(0.5) - 1) < 5.5 * math.sqrt(2 / 16_000)
    assert abs(moment(0.6) - 1) > 5.5 * math.sqrt(2 / 16_000)
