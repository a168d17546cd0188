"""Tables in which most rows agree in most columns: rare yes/no answers, nearly all zeros, one value."""

from __future__ import annotations

import numpy as np
import pytest

import tukeydp as td

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
