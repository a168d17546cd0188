"""Spread directions: far apart, the same on every call but for their position, and chosen without the data."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.fit import FALSE_ALARM, g_test
from tukeydp.depth import spherical_codes as spread_module
from tukeydp.depth.spherical_codes import least_angle, smallest_angle, spread_lines
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rows import bounded_grid
from tukeydp.trusted.sampling.draws import Sampler

SHAPES = [(2, 1), (2, 7), (2, 60), (3, 1), (3, 4), (3, 30), (3, 90), (4, 20), (5, 30), (5, 150), (8, 11), (10, 300)]
MANY = [(d, k) for d, k in SHAPES if k >= 20]
ROUNDING = 1e-4  # radians: entries are rounded to integers of 2^16 and more


def unit(notion, d, key):
    v = notion.on_grid(bounded_grid(d, bounds=(-1, 1), resolution=None), key).astype(float)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize(("d", "k"), SHAPES)
def test_no_two_directions_are_closer_than_the_stated_angle(d, k, axes):
    for i in range(3):
        lines = unit(td.Spread(k, axes=axes), d, derived_key("angle", i))
        assert smallest_angle(lines) >= least_angle(len(lines), d) - ROUNDING


@pytest.mark.parametrize(("d", "k"), MANY)
def test_random_directions_are_closer_than_that(d, k):
    """The control. Of these tables of random lines the least crowded has 5 pairs within the angle on average."""
    for i in range(3):
        lines = unit(td.Random(k), d, derived_key("angle", i))
        assert smallest_angle(lines) < least_angle(len(lines), d) - ROUNDING


@pytest.mark.parametrize("axes", [True, False])
@pytest.mark.parametrize(("d", "k"), SHAPES)
def test_they_are_further_apart_than_the_best_of_many_random_sets(d, k, axes):
    ours = smallest_angle(unit(td.Spread(k, axes=axes), d, derived_key("mine")))
    random = [smallest_angle(unit(td.Random(k, axes=axes, seed=i), d, b"")) for i in range(20)]
    assert ours > max(random) - ROUNDING


@pytest.mark.parametrize(("d", "k"), [(3, 30), (5, 60), (8, 100)])
def test_no_place_on_the_sphere_is_left_empty(d, k):
    """The furthest of many points from its nearest direction: nearer than for any of ten random sets."""
    gauss = np.random.default_rng(0).normal(size=(20_000, d))
    points = gauss / np.linalg.norm(gauss, axis=1, keepdims=True)

    def hole(lines):
        return float(np.arccos(np.abs(points @ lines.T).max(axis=1).min()))

    assert hole(unit(td.Spread(k), d, b"7" * 32)) < min(hole(unit(td.Random(k, seed=i), d, b"")) for i in range(10))


@pytest.mark.parametrize("k", range(1, 12))
def test_in_the_plane_they_are_evenly_spaced(k):
    angles = np.sort(np.degrees([math.atan2(y, x) % math.pi for x, y in unit(td.Spread(k, axes=False), 2, b"3" * 32)]))
    gaps = np.append(np.diff(angles), angles[0] + 180 - angles[-1])
    assert gaps == pytest.approx(np.full(k, 180 / k), abs=0.01)
    # With the axes: an even number fills both quadrants alike; of an odd one, either gets one more.
    angles = np.sort(np.degrees([math.atan2(y, x) % math.pi for x, y in unit(td.Spread(k), 2, b"3" * 32)]))
    gaps = np.append(np.diff(angles), angles[0] + 180 - angles[-1])
    assert set(gaps.round(2)) == {round(90 / (k // 2 + 1), 2), round(90 / ((k + 1) // 2 + 1), 2)}


def test_axes_are_in_the_set_exactly_and_keep_others_away():
    lines = td.Spread(40, seed=1).on_grid(bounded_grid(4, bounds=(-1, 1), resolution=None), b"")
    assert lines[:4].tolist() == np.eye(4, dtype=int).tolist()
    assert np.count_nonzero(lines[4:], axis=1).min() > 1


def test_few_directions_without_axes_are_orthogonal():
    lines = unit(td.Spread(3, axes=False), 5, b"1" * 32)
    assert np.abs(lines @ lines.T - np.eye(3)).max() < ROUNDING
    assert np.count_nonzero(np.abs(lines) > 0.01) > 3  # a random position, not the axes


def test_fresh_positions_are_the_same_set_seen_from_elsewhere():
    """Angles between directions do not depend on the key; with axes, neither do the sizes of entries."""
    for axes in (True, False):
        one, other = (unit(td.Spread(20, axes=axes), 4, key)[-20:] for key in (b"a" * 32, b"b" * 32))
        assert np.abs(one - other).max() > 0.1
        assert np.abs(np.abs(one @ one.T) - np.abs(other @ other.T)).max() < ROUNDING
        if axes:
            assert np.abs(np.sort(np.abs(one), axis=None) - np.sort(np.abs(other), axis=None)).max() < ROUNDING


def test_without_axes_the_position_is_uniform():
    """One direction of the set over many keys has the second moments of a uniform one; 6 standard errors."""
    first = np.array([unit(td.Spread(7, axes=False), 3, derived_key("turn", i))[0] for i in range(3000)])
    assert np.abs((first**2).mean(axis=0) - 1 / 3).max() < 6 * (4 / 45 / 3000) ** 0.5
    assert np.abs((first[:, 0] * first[:, 1]).mean()) < 6 * (1 / 15 / 3000) ** 0.5


def test_lines_are_found_once_and_cannot_be_changed():
    assert spread_lines(30, 4, True) is spread_lines(30, 4, True)
    with pytest.raises(ValueError):
        spread_lines(30, 4, True)[0, 0] = 2.0


def test_another_process_finds_the_same_lines():
    """The start is fixed and the arithmetic in a fixed order: clearing the cache changes nothing."""
    before = spread_lines(40, 5, True).copy()
    spread_lines.cache_clear()
    assert (before == spread_lines(40, 5, True)).all()


def test_lines_that_missed_the_angle_are_pushed_on(monkeypatch):
    """With a single short round the first pass leaves lines too close; the check sends them on."""
    monkeypatch.setattr(spread_module, "_ROUNDS", 1)
    monkeypatch.setattr(spread_module, "_FEWEST_ROUNDS", 1)
    monkeypatch.setattr(spread_module, "_PASSES", 1)
    once = spread_lines.__wrapped__(60, 3, True)
    assert smallest_angle(once) < least_angle(60, 3)
    monkeypatch.setattr(spread_module, "_PASSES", 20)
    assert smallest_angle(spread_lines.__wrapped__(60, 3, True)) >= least_angle(60, 3)


def test_directions_do_not_depend_on_the_data():
    x = np.random.default_rng(0).normal(size=(40, 3))
    releases = [
        td.boxem(rows, epsilon=1, bounds=(-5, 5), depth=td.Spread(9), randomness=td.seeded(5))
        for rows in (x, x * 0, np.full((40, 3), np.nan))
    ]
    assert len({release.directions.tobytes() for release in releases}) == 1


def test_the_law_is_the_exponential_mechanism_over_these_directions():
    points = list(itertools.product(range(5), repeat=2))
    rows = [(1, 1), (1, 2), (2, 2), (2, 2), (3, 2), (4, 4), (0, 3), (2, 1)]
    directions = td.Spread(4, seed=1).on_grid(bounded_grid(2, bounds=(0, 4), resolution=1), b"")
    vectors = [tuple(v) for v in directions.tolist()]
    sampler = Sampler(level_sets(np.array(rows), directions), within=Box((0, 0), (4, 4)), epsilon=Fraction(3, 2))
    tally = dict.fromkeys(points, 0)
    for i in range(20_000):
        tally[tuple(sampler.draw(derived_key("spread law", i)))] += 1
    observed = np.array(list(tally.values()))
    q = Fraction(math.exp(3 / 4))

    def pmf(q, vectors=vectors):
        return [float(p) for p in oracle.law([oracle.depth(rows, y, vectors) for y in points], q)]

    assert g_test(observed, pmf(q)) > FALSE_ALARM
    assert g_test(observed, pmf(q * Fraction(6, 5))) < FALSE_ALARM
    assert g_test(observed, pmf(q, vectors[:2])) < FALSE_ALARM  # the axes alone are another law


@pytest.mark.parametrize(("count", "d"), [(9, 3), (34, 4), (40, 10)])
def test_lines_are_the_same_compiled_or_not(count, d, monkeypatch):
    """Bit for bit: seeded releases must not depend on which of the two moved the lines."""
    found = []
    for few in (0, count):
        monkeypatch.setattr(spread_module, "_FEW_LINES", few)
        found.append(spread_module.spread_lines.__wrapped__(count, d, True))
    assert found[0].tobytes() == found[1].tobytes()
