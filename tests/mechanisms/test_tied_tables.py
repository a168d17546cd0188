"""Tables in which most rows agree in most columns: rare yes/no answers, nearly all zeros, one value."""

from __future__ import annotations

import numpy as np
import pytest

import tukeydp as td
from tukeydp.mechanisms import clipped_mean, mean_ways

TABLES = {
    "one value, at a bound": lambda rng, size: np.zeros(size),
    "one value": lambda rng, size: np.full(size, 5.0),
    "yes in one of fifty": lambda rng, size: (rng.random(size) < 0.02).astype(float),
    "yes in one of twenty": lambda rng, size: (rng.random(size) < 0.05).astype(float),
    "nine of ten zero": lambda rng, size: np.where(rng.random(size) < 0.1, rng.exponential(size=size), 0.0),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("size", [(600, 4), (1000, 8), (3000, 8)])
def test_no_release_is_a_random_point_between_the_bounds(table, size):
    """Ten seeded releases between bounds ten times as wide as the values: all nearer than a tenth of the width.

    Noise between the bounds has a twentieth of that. A random point is nearer with a chance of 0.2^4 at most.
    """
    for seed in range(10):
        x = TABLES[table](np.random.default_rng([*size, seed]), size)
        release = td.mean(x, epsilon=1, bounds=(0, 10), randomness=td.seeded(seed))
        assert release.mechanism == "two-step"
        assert np.abs(release.point - x.mean(axis=0)).max() < 1.0


# Too few rows to find the scale first: 500 / epsilon are asked for. Costs, visits to a doctor, days of sick leave.
SKEWED = {
    "four fifths zero": lambda rng, size: np.where(rng.random(size) < 0.2, np.exp(rng.normal(size=size)), 0.0),
    "nine tenths zero": lambda rng, size: np.where(rng.random(size) < 0.1, np.exp(rng.normal(size=size)), 0.0),
    "log-normal(1.25)": lambda rng, size: np.exp(1.25 * rng.normal(size=size)),
}


def far_off(table, size, width, **options):
    """How many of five seeded releases have a column more than three standard deviations off."""
    count = 0
    for seed in range(5):
        x = SKEWED[table](np.random.default_rng([*size, seed]), size)
        bounds = (-width / 4 * x.std(), 3 * width / 4 * x.std())
        release = td.mean(x, epsilon=1, bounds=bounds, randomness=td.seeded(seed), **options)
        assert release.mechanism == "subset"
        count += bool((np.abs(release.point - x.mean(axis=0)) > 3 * x.std()).any())
    return count


@pytest.mark.parametrize("table", SKEWED)
@pytest.mark.parametrize("size", [(220, 3), (300, 6), (450, 6)])
@pytest.mark.parametrize("width", [30, 100, 300])
def test_neither_is_one_of_few_rows(table, size, width):
    """A random point is that near with a chance of 0.2^3 at most."""
    assert far_off(table, size, width) == 0


@pytest.mark.parametrize("table", SKEWED)
@pytest.mark.parametrize("size", [(220, 3), (450, 6), (1000, 6)])
def test_neither_is_one_of_a_secret_number_of_rows(table, size):
    """Without shifts most are, of nine tenths zero in six columns all."""
    assert far_off(table, size, 100, neighbours="add-remove", rows=size[0]) == 0


@pytest.mark.parametrize("table", SKEWED)
def test_without_shifts_most_would_be(monkeypatch, table):
    planned = mean_ways.subset_plan
    monkeypatch.setattr(mean_ways, "subset_plan", lambda *given: planned(*given[:-1], smooth=False))
    assert far_off(table, (300, 6), 100) >= 4


@pytest.mark.parametrize("table", TABLES)
def test_windows_of_many_columns_hold_values_that_lie_at_a_bound(table):
    """Where rows are too few for depth. Random points have no chance to be nearer than a tenth of the width in all."""
    for seed in range(5):
        x = TABLES[table](np.random.default_rng([seed, 40]), (1000, 40))
        release = td.mean(x, epsilon=1, bounds=(0, 10), randomness=td.seeded(seed))
        assert release.mechanism == "two-step"
        assert np.abs(release.point - x.mean(axis=0)).max() < 1.0


@pytest.mark.parametrize(("n", "d"), [(120, 4), (300, 8)])
def test_windows_of_known_spread_hold_values_that_lie_at_a_bound(n, d, monkeypatch):
    """Median errors in standard deviations. With the windows' margins left out at the bounds, too, all are lost."""

    def errors():
        found = []
        for seed in range(5):
            x = TABLES["nine of ten zero"](np.random.default_rng([seed, n]), (n, d))
            release = td.mean(x, epsilon=1, bounds=(0, 100), sd=0.44, randomness=td.seeded(seed))
            assert "epsilon_windows" in release.settings
            found.append(np.median(np.abs(release.point - x.mean(axis=0))) / 0.44)
        return np.array(found)

    assert errors().max() < 1.0
    monkeypatch.setattr(
        clipped_mean, "inside", lambda first, end: np.array([first + (end - first) // 6, end - (end - first) // 6])
    )
    assert np.median(errors()) > 20.0
