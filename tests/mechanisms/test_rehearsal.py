from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.data.grid import bounded_grid
from tukeydp.mechanisms.rehearsal import expected_error


def expect(n, d, epsilon=1, depth=None):
    grid = bounded_grid(d, bounds=(-10, 10), resolution=None)
    directions = (depth or td.Random(30, seed=0)).on_grid(grid, bytes(32))
    return expected_error(n=n, epsilon=Fraction(epsilon), directions=directions, cells=grid.cells)


@pytest.mark.parametrize(("n", "d"), [(200, 2), (500, 4), (4000, 3)])
def test_expected_error_agrees_with_fresh_runs(n, d):
    """Within a quarter of what 60 fresh releases show: their own standard error is about 7 percent."""
    rng, source = np.random.default_rng(1), td.seeded(2)
    errors = []
    for _ in range(60):
        x = rng.normal(size=(n, d))
        release = td.boxem(x, epsilon=1, bounds=(-10, 10), depth=td.Random(30), randomness=source)
        errors.append(release.point - x.mean(axis=0))
    expected = expect(n, d)
    assert expected.distance == pytest.approx(np.linalg.norm(errors, axis=1).mean(), rel=0.25)
    assert expected.privacy == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.3)
    assert np.quantile(np.abs(errors), 0.95) == pytest.approx(expected.privacy_95, rel=0.35)
    # Control: half the budget is outside these margins.
    assert expect(n, d, Fraction(1, 3)).distance > 1.25 * np.linalg.norm(errors, axis=1).mean()


def test_expected_error_is_repeatable_and_falls_with_epsilon_and_n():
    assert expect(300, 2) == expect(300, 2)
    assert expect(300, 2, 1).privacy < expect(300, 2, Fraction(1, 2)).privacy
    assert expect(3000, 2).total < expect(300, 2).total
    assert expect(100, 1).sampling == pytest.approx(0.1)


def test_hopeless_settings_look_hopeless():
    assert expect(10, 5).privacy_95 > 1


def test_coarse_grids_and_many_columns_have_an_answer():
    release = td.boxem(np.ones((30, 2)), epsilon=1, bounds=(0, 1), resolution=1)
    assert release.expected_error.privacy >= 0
    assert expect(400, 12).privacy > 0
