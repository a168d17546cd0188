"""Made-up runs, drawn part by part, against whole releases: they must err alike, or intervals would be off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.data.bounded import bounded_columns
from tukeydp.data.shapes import SHAPES
from tukeydp.mechanisms.interval_plan import interval_plan
from tukeydp.mechanisms.interval_runs import Clipped, runs
from tukeydp.mechanisms.mean_interval import calibrated

EXPONENTIAL, GAUSSIAN = SHAPES[2], SHAPES[0]
WIDTH = 64.0
RELEASES = 120
# Ranks of 120 releases of two columns among made-up runs: how far their shares may be off, six standard errors and
# what few rehearsed tables add.
OFF = 6 * np.sqrt(0.25 / (2 * RELEASES)) + 0.05


def released(shape, n, mechanism):
    """Errors and spreads of whole releases on fresh tables, in standard deviations."""
    errors, spreads = [], []
    for seed in range(RELEASES):
        x = shape.draw(np.random.default_rng([seed, n]), (n, 2))
        release = td.mean(
            x,
            epsilon=1,
            bounds=(-WIDTH / 2, WIDTH / 2),
            mechanism=mechanism,
            confidence=0.95,
            randomness=td.seeded(seed),
        )
        errors.append(release.point)
        widths = (release.calibration.inputs[2].spread,)
        spreads.append(np.array(widths[0]) * WIDTH)
    return np.array(errors), np.array(spreads)


def spending(n, mechanism):
    columns = bounded_columns(2, (-WIDTH / 2, WIDTH / 2))
    return interval_plan(n, columns, Fraction(1), confidence=0.95, mechanism=mechanism).spending


def off(sample, reference):
    """The largest distance between two distribution functions, at the quantiles of the reference."""
    at = np.quantile(reference, np.linspace(0.05, 0.95, 19))
    return max(abs((sample <= a).mean() - (reference <= a).mean()) for a in at)


@pytest.mark.parametrize(
    ("shape", "n", "mechanism"),
    [(EXPONENTIAL, 1500, "two-step"), (EXPONENTIAL, 1000, "subset"), (GAUSSIAN, 1000, "cube")],
    ids=["two-step", "subset", "cube"],
)
def test_made_up_runs_err_as_whole_releases_do(shape, n, mechanism):
    errors, spreads = released(shape, n, mechanism)
    made = runs(spending(n, mechanism), (WIDTH, WIDTH), shape)
    assert off(errors.ravel(), made.errors.ravel()) < OFF
    assert off(np.abs(errors).ravel(), np.abs(made.errors).ravel()) < OFF
    assert off(spreads.ravel(), made.spreads.ravel()) < OFF + 0.1  # a grid of eighths of octaves: steps of a tenth
    assert np.quantile(np.abs(errors), 0.9) == pytest.approx(np.quantile(np.abs(made.errors), 0.9), rel=0.35)


def test_runs_without_depth_would_be_noticed():
    """The control: the sampling error alone, in the place of all that subset means do."""
    errors, _ = released(GAUSSIAN, 1000, "subset")
    alone = np.random.default_rng(0).normal(size=(4000, 2)) / np.sqrt(1000)
    assert off(np.abs(errors).ravel(), np.abs(alone).ravel()) > OFF


def test_clipping_takes_off_what_the_law_says():
    """Of exponential values less their mean, clipped at -2 and 2: the tail beyond is e^-3, with mean excess 1."""
    law = Clipped.of(EXPONENTIAL)
    mean, deviation = law.moments(np.array([-2.0]), np.array([2.0]))
    assert mean[0] == pytest.approx(-np.exp(-3), abs=0.004)
    assert 0.7 < deviation[0] < 1
    assert law.share_between(np.array([-2.0]), np.array([2.0]))[0] == pytest.approx(1 - np.exp(-3), abs=0.003)
    whole, one = law.moments(np.array([-1e9]), np.array([1e9]))
    assert abs(whole[0]) < 1e-9
    assert one[0] == pytest.approx(1, abs=0.03)


def test_known_spreads_and_noise_alone_need_no_factor():
    """Cube noise with a public sd: Gaussian sampling and a known law, so the factor is 1 but for 4000 runs' chance."""
    columns = bounded_columns(2, (-3, 3))
    plan = interval_plan(400, columns, Fraction(1), confidence=0.95, mechanism="cube", sd=1)
    found = calibrated(plan.spending, (6.0, 6.0), 0.95, False)
    assert found.factor == pytest.approx(1, abs=0.08)
    assert set(found.shapes) == {shape.name for shape in SHAPES}
    assert not found.left_out
