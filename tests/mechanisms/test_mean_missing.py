"""Missing cells do not pull a mean anywhere: each mechanism, with a control that does."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tukeydp as td

RELEASES = 24
# 5 standard errors of the average of so many releases: a false alarm in less than 10^-5 of runs, were seeds not fixed.
ERRORS = 5


def creatinine(seed=0):
    """3000 values around 78 between bounds of 0 and 400, three in ten missing, and a column without missing cells."""
    rng = np.random.default_rng(seed)
    x = rng.normal(loc=[78, 40], scale=[12, 9], size=(3000, 2))
    x[rng.random(3000) < 0.3, 0] = np.nan
    return x


def average(release):
    """The average of many releases of the first column, and ERRORS of its standard errors."""
    points = np.array([release(td.seeded(seed)).point[0] for seed in range(RELEASES)])
    return points.mean(), ERRORS * points.std(ddof=1) / math.sqrt(RELEASES)


WAYS = {
    "subset": {"mechanism": "subset", "bounds": (0, 400)},
    "two-step": {"mechanism": "two-step", "bounds": (0, 400)},
    "two-step with known sd": {"mechanism": "two-step", "bounds": (0, 400), "sd": [12, 9]},
    "cube": {"mechanism": "cube", "bounds": (0, 400)},
    "rem": {"delta": 1e-6},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_third_of_missing_cells_does_not_move_the_mean(way):
    """Within its standard errors, and a tenth of a standard deviation for what clipping may cost."""
    x = creatinine()
    found, error = average(lambda bits: td.mean(x, epsilon=1, randomness=bits, **WAYS[way]))
    assert error < 5
    assert abs(found - np.nanmean(x[:, 0])) < error + 0.1 * 12


def test_filling_in_the_middle_of_the_bounds_would_be_noticed():
    """The control: three tenths of the way from 78 to 200."""
    x = creatinine()
    found, error = average(lambda bits: td.cube(x, epsilon=1, bounds=(0, 400), fill=200, randomness=bits))
    assert abs(found - np.nanmean(x[:, 0])) > error + 0.1 * 12
    assert found == pytest.approx(78 + 0.3 * (200 - 78), abs=error + 3)


def test_a_column_without_values_is_released_like_any_other():
    """Cube's rough mean of nothing is noise around the middle, and the other column does not notice."""
    x = creatinine()
    x[:, 0] = np.nan
    for mechanism in ("subset", "two-step", "cube"):
        point = td.mean(x, epsilon=1, bounds=(0, 400), mechanism=mechanism, randomness=td.seeded(3)).point
        assert ((point >= 0) & (point <= 400)).all()
    found = td.cube(x, epsilon=1, bounds=(0, 400), randomness=td.seeded(3)).point[1]
    assert found == pytest.approx(40, abs=3)
