"""Made-up runs, drawn part by part, against whole releases: they must err alike, or intervals would be off."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tukeydp.forecast.interval_runs import Clipped, runs
from tukeydp.mechanisms.interval_plan import interval_plan
from tukeydp.mechanisms.mean_interval import Found, calibrated, mean_interval

import tukeydp as td
from tukeydp.forecast.shapes import SHAPES
from tukeydp.results.noise_quantiles import noise_and_sampling
from tukeydp.trusted.rows import bounded_columns

EXPONENTIAL, GAUSSIAN = SHAPES[2], SHAPES[0]
WIDTH = 64.0
RELEASES = 100
# How far the shares of 100 releases of two columns may be off: what is exceeded once in a million (Kolmogorov's bound),
# and what few rehearsed tables add.
OFF = np.sqrt(np.log(2e6) / (4 * RELEASES)) + 0.03


@cache
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
        found = release.calibration.inputs[2]
        spreads.append(np.array(found.spread) * WIDTH)
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
    [
        pytest.param(EXPONENTIAL, 1500, "two-step", marks=pytest.mark.slow, id="two-step"),
        pytest.param(EXPONENTIAL, 1000, "subset", marks=pytest.mark.slow, id="subset"),
        pytest.param(GAUSSIAN, 1000, "cube", id="cube"),
    ],
)
def test_made_up_runs_err_as_whole_releases_do(shape, n, mechanism):
    errors, spreads = released(shape, n, mechanism)
    made = runs(spending(n, mechanism), (WIDTH, WIDTH), shape)
    assert off(errors.ravel(), made.errors.ravel()) < OFF
    assert off(np.abs(errors).ravel(), np.abs(made.errors).ravel()) < OFF
    assert off(spreads.ravel(), made.spreads.ravel()) < OFF + 0.1  # a grid of eighths of octaves: steps of a tenth
    assert np.quantile(np.abs(errors), 0.9) == pytest.approx(np.quantile(np.abs(made.errors), 0.9), rel=0.35)


def test_runs_with_another_error_would_be_noticed():
    """The control: the sampling error alone in the place of noise, and spreads that read a third less."""
    errors, spreads = released(GAUSSIAN, 1000, "cube")
    made = runs(spending(1000, "cube"), (WIDTH, WIDTH), GAUSSIAN)
    alone = np.random.default_rng(0).normal(size=(4000, 2)) / np.sqrt(1000)
    assert off(np.abs(errors).ravel(), np.abs(alone).ravel()) > OFF
    assert off(spreads.ravel(), made.spreads.ravel() / 1.5) > OFF + 0.1


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


def test_known_spreads_and_noise_alone_need_no_calibration():
    """Cube noise with a public sd: a known law and the normal approximation, so that no shape is named."""
    columns = bounded_columns(2, (-3, 3))
    plan = interval_plan(400, columns, Fraction(1), confidence=0.95, mechanism="cube", sd=1)
    nothing = (0.0, 0.0)
    noise = 6 / (0.9 * 400)
    found = mean_interval(plan, columns, Found((0.5, 0.5), (1 / 6, 1 / 6), (noise / 6, noise / 6), nothing))
    expected = float(noise_and_sampling(2, 0.95).half_width(np.array(noise), np.array(1 / 20)))
    assert found.ends[:, 1] == pytest.approx([expected] * 2)
    assert found.ends[:, 0] == pytest.approx([-expected] * 2)
    assert "by the law of the noise" in found.note
    # The runs agree, but for the chance of 4000 of them and the margin.
    assert calibrated(plan.spending, (6.0, 6.0), 0.95, False).factor == pytest.approx(1.1, abs=0.15)
