"""Walks for forecasts: about the mechanism's law, on a whole grid and against its sampler; None if they cannot tell."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.forecast import centre as centre_rehearsal
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.forecast.simulated_walk import _body, _climbed, walked_draws
from tukeydp.forecast.tables import smoothed
from tukeydp.forecast.walk_loops import depth, log_points
from tukeydp.results.accuracy import FAR
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.sampling.draws import Sampler

STEPS = 2.0**20  # grid steps in a standard deviation
GAUSSIAN, EXPONENTIAL, SCORES, YES_NO = (SHAPES[i] for i in (0, 2, 5, 6))


def spread_directions(d):
    fresh = np.random.default_rng(d).normal(size=(12 * d, d))
    unit = np.vstack([np.eye(d), fresh / np.abs(fresh).max(axis=1, keepdims=True)])
    return (unit * 2**16).astype(np.int64)


def made(shape, n, d, width):
    table = np.rint(made_up(shape, n, d, 0) * STEPS).astype(np.int64)
    return table, spread_directions(d), Box((int(-width / 2 * STEPS),) * d, (int(width / 2 * STEPS),) * d)


def walks(table, directions, within, epsilon, count=8):
    found = [walked_draws(table, directions, within, epsilon / 2, np.random.default_rng(seed)) for seed in range(count)]
    return np.concatenate(found)


# --- on a whole grid ------------------------------------------------------------------------------------------------

PLANE = np.array(list(itertools.product(range(-300, 301), repeat=2)))
ROWS = np.rint(np.random.default_rng(3).normal(size=(60, 2)) * [60, 40]).astype(np.int64)
OBLIQUE = np.array([[1, 0], [0, 1], [3, 2], [1, -2], [-1, 1]])


def depths(points):
    """By definition."""
    least = np.full(len(points), len(ROWS))
    for v in OBLIQUE:
        projected, at = ROWS @ v, points @ v
        below = (projected[np.newaxis] <= at[:, np.newaxis]).sum(axis=1)
        above = (projected[np.newaxis] >= at[:, np.newaxis]).sum(axis=1)
        least = np.minimum(least, np.minimum(below, above))
    return least


def moments(epsilon, depth_of):
    """Mean depth, and the mean distance from the middle, of the exponential mechanism on the plane."""
    weights = np.exp(epsilon / 2 * (depth_of - depth_of.max()))
    weights /= weights.sum()
    return np.array([weights @ depth_of, weights @ np.abs(PLANE[:, 0]), weights @ np.abs(PLANE[:, 1])])


def test_a_walk_has_the_law_of_the_mechanism_on_a_whole_grid():
    """2000 steps; means are good to 3 percent, and 8 are asked for. At 1.5 epsilon two of the three are not."""
    every = depths(PLANE)
    points = walks(ROWS, OBLIQUE, Box((-300, -300), (300, 300)), 1.0, count=30)
    at = np.array([depths(np.rint(points).astype(np.int64)).mean(), *np.abs(points).mean(axis=0)])
    assert at == pytest.approx(moments(1.0, every), rel=0.08)
    assert np.sum(np.abs(at / moments(1.5, every) - 1) > 0.08) >= 2


def test_depths_and_sizes_are_those_of_the_grid():
    every = depths(PLANE)
    body = _body(ROWS.astype(np.float32), OBLIQUE, np.full(2, -300.0), np.full(2, 300.0), 0.25)
    rng = np.random.default_rng(0)
    for point in PLANE[rng.integers(len(PLANE), size=200)]:
        assert depth(point.astype(float), len(ROWS), body) == depths(point[np.newaxis])[0]
    starts, deepest = _climbed(body, [np.zeros(2)], 30, rng)
    assert every.max() - 1 <= deepest <= every.max()
    for level in (1, 5, 12, 18):
        size = log_points(starts[-1], starts[-1].copy(), level, rng.random((400, 2)), body)
        assert size == pytest.approx(np.log(np.sum(every >= level)), abs=0.15), level


# --- against the sampler --------------------------------------------------------------------------------------------

CASES = {
    "Gaussian": (GAUSSIAN, 300, 3, 1, 50),
    "exponential": (EXPONENTIAL, 300, 3, 1, 50),
    "scores, between values": (SCORES, 300, 3, 1, 20),
    "scores, on a value": (SCORES, 300, 2, 4, 20),
    "yes/no, near a corner": (YES_NO, 300, 3, 1, 20),
    "at the cliff": (GAUSSIAN, 118, 4, 1, 100),
    "beyond it": (GAUSSIAN, 60, 4, 1, 1000),
}


@pytest.mark.parametrize("name", CASES)
def test_walks_agree_with_the_sampler(name):
    """300 draws, and walks worth about 200: medians are good to a tenth, shares to 0.05, and more than twice that is
    allowed. Half the epsilon shows, unless draws are on a value, between two, or anywhere in the box."""
    shape, n, d, epsilon, width = CASES[name]
    table, directions, within = made(shape, n, d, width)
    sampler = Sampler(level_sets(table, directions), within=within, epsilon=Fraction(epsilon))
    medians = np.median(table, axis=0)
    exact = (np.array([sampler.draw(derived_key("walk", i)) for i in range(300)]) - medians) / STEPS
    walked = (walks(table, directions, within, epsilon) - medians) / STEPS
    assert agree(walked, exact)
    if name in ("Gaussian", "exponential", "at the cliff"):
        assert not agree((walks(table, directions, within, epsilon / 2) - medians) / STEPS, exact)


def agree(walked, exact):
    """By the median error, around the table's medians and around the draws' own, and by the share of those far off."""
    typical = [np.median(np.abs(errors)) for errors in (walked, exact)]
    noise = [np.median(np.abs(errors - np.median(errors, axis=0))) for errors in (walked, exact)]
    far = [(np.abs(errors) > FAR).any(axis=1).mean() for errors in (walked, exact)]
    alike = [pair[0] == pytest.approx(pair[1], rel=0.25, abs=1e-6) for pair in (typical, noise)]
    return all(alike) and abs(far[0] - far[1]) < 0.12


# --- where it cannot tell -------------------------------------------------------------------------------------------


def test_walks_do_not_answer_where_other_levels_may_have_weight():
    """Fifty rows between bounds hardly wider than they are: outer levels weigh as much as the middle."""
    table, directions, within = made(GAUSSIAN, 50, 2, 10)
    rng = np.random.default_rng(0)
    assert walked_draws(table[:0], directions, within, 0.5, rng) is None
    assert walked_draws(table, directions, within, 0.5, rng) is None
    assert walked_draws(table, directions, within, 2.0, rng) is not None


def test_the_mechanism_itself_is_rehearsed_there_and_on_coarse_grids(monkeypatch):
    asked = []
    drawn = centre_rehearsal._drawn
    monkeypatch.setattr(centre_rehearsal, "SHAPES", (GAUSSIAN,))
    monkeypatch.setattr(centre_rehearsal, "_drawn", lambda *inputs: asked.append(inputs) or drawn(*inputs))
    for n, width, resolution, expected in ((53, 10, None, 1), (301, 100, None, 0), (302, 10, 1, 1)):
        asked.clear()
        release = td.boxem(
            np.zeros((n, 2)), epsilon=1, bounds=(-width / 2, width / 2), resolution=resolution, randomness=td.seeded(1)
        )
        assert release.rehearse(sd=1).typical[0] > 0
        assert len(asked) == expected, n


@pytest.mark.parametrize("symmetric", [False, True])
def test_few_strays_are_smoothed(symmetric):
    """Noise of deviation 1 around strays of deviation 2: shrunk by half, Gaussian of deviation sqrt(2). Unless it is
    known to be 0, their mean stays: good to 0.3, three standard errors of 400."""
    rng, mean = np.random.default_rng(4), 0.0 if symmetric else 3.0
    errors = [rng.normal(size=(401, 4)) + mean + 2 * rng.normal(size=4) for _ in range(100)]
    [found] = smoothed(errors, 0.5, symmetric)
    assert found.shape == (40_100, 4)
    assert found.mean() == pytest.approx(mean, abs=0.01 if symmetric else 0.3)
    assert found.std() == pytest.approx(np.sqrt(2), rel=0.06)


def test_many_more_rows_than_are_made_up_leave_symmetric_columns_without_an_error_of_their_own():
    """20,000 Gaussian rows: the mean stray of few tables of 1000 rows would double the forecast. A median of 48 values
    is good to 17 percent, the forecast to 15: a factor of 1.8 is three standard errors of the two."""
    rng, source, happens = np.random.default_rng(5), td.seeded(6), []
    for _ in range(16):
        table = rng.normal(size=(20_000, 3))
        release = td.boxem(table, epsilon=1, bounds=(-25, 25), depth=td.Spread(12), randomness=source)
        happens.append(np.abs(release.point - np.median(table, axis=0)))
    claimed = release.rehearse(sd=1).shapes[0].typical
    assert claimed / 1.8 < np.median(happens) < claimed * 1.8
