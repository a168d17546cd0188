"""Made-up runs without bounds, drawn part by part, against whole releases: they must err alike."""

from __future__ import annotations

from functools import cache

import numpy as np

import tukeydp as td
from tukeydp.forecast.shapes import SHAPES
from tukeydp.mechanisms.interval_without_bounds import runs

GAUSSIAN, N = SHAPES[0], 1500
RELEASES = 50
# How far the shares of 50 releases of two columns may be off: what is exceeded once in a million (Kolmogorov's bound),
# and what few rehearsed tables add.
OFF = np.sqrt(np.log(2e6) / (4 * RELEASES)) + 0.03


@cache
def released():
    """Errors and spreads of whole releases on fresh tables, in standard deviations, and what was spent on them."""
    errors, spreads = [], []
    for seed in range(RELEASES):
        x = GAUSSIAN.draw(np.random.default_rng([seed, N]), (N, 2))
        release = td.mean(x, epsilon=2, delta=1e-6, confidence=0.95, randomness=td.seeded(seed))
        plan, point, spread = release.calibration.inputs
        errors.append(point)
        spreads.append(spread)
    return np.array(errors), np.array(spreads), plan.spending


def off(sample, reference):
    """The largest distance between two distribution functions, at the quantiles of the reference."""
    at = np.quantile(reference, np.linspace(0.05, 0.95, 19))
    return max(abs((sample <= a).mean() - (reference <= a).mean()) for a in at)


def test_made_up_runs_err_as_whole_releases_do():
    errors, spreads, spending = released()
    made = runs(spending, 2, GAUSSIAN)
    assert off(errors.ravel(), made.errors.ravel()) < OFF
    assert off(np.abs(errors).ravel(), np.abs(made.errors).ravel()) < OFF
    assert off(spreads.ravel(), made.spreads.ravel()) < OFF + 0.1  # a grid of eighths of octaves: steps of a tenth


def test_runs_with_another_error_would_be_noticed():
    """The control: errors twice as large, and spreads that read a third less."""
    errors, spreads, spending = released()
    made = runs(spending, 2, GAUSSIAN)
    assert off(np.abs(errors).ravel(), 2.5 * np.abs(made.errors).ravel()) > OFF
    assert off(spreads.ravel(), made.spreads.ravel() / 1.5) > OFF + 0.1
