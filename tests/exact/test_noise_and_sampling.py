"""Quantiles of noise and sampling together: against samples, against the laws at both ends, and there and back."""

from __future__ import annotations

import numpy as np
import pytest

from tukeydp.results.noise_quantiles import noise_and_sampling, quantile_of_noise


@pytest.mark.parametrize("d", [1, 3, 8])
@pytest.mark.parametrize("share", [0.8, 0.95])
def test_half_widths_cover_their_share_of_samples(d, share):
    """Of 40,000 samples; six standard errors."""
    law = noise_and_sampling(d, share)
    rng = np.random.default_rng(d)
    z = rng.gamma(d + 1, size=40_000) * rng.uniform(-1, 1, 40_000)
    g = rng.normal(size=40_000)
    for noise, sampling in ((1.0, 0.3), (2.0, 2.0), (0.1, 1.0), (0.0, 1.0), (1.0, 0.0)):
        half = law.half_width(np.array(noise), np.array(sampling))
        covered = (np.abs(noise * z + sampling * g) <= half).mean()
        assert abs(covered - share) < 6 * np.sqrt(share * (1 - share) / 40_000)
        # The control: a twentieth more or less would be noticed.
        wider = (np.abs(noise * z + sampling * g) <= 1.15 * half).mean()
        assert abs(wider - share) > 6 * np.sqrt(share * (1 - share) / 40_000)


@pytest.mark.parametrize("d", [1, 2, 20])
def test_noise_alone_has_the_quantile_of_its_law(d):
    law = noise_and_sampling(d, 0.95)
    assert law.half_width(np.array(3.0), np.array(0.0)) == pytest.approx(3 * quantile_of_noise(d, 0.95), rel=3e-3)


def test_sampling_alone_has_the_quantile_of_a_gaussian_variable():
    law = noise_and_sampling(2, 0.95)
    for noise in (0.0, 1e-9):
        assert law.half_width(np.array(noise), np.array(2.0)) == pytest.approx(2 * 1.959964, rel=1e-5)


def test_the_sampling_error_is_found_again_from_the_half_width():
    law = noise_and_sampling(2, 0.9)
    noise, sampling = np.meshgrid([0.0, 1e-6, 0.4, 3.0], [1e-2, 0.5, 7.0, 1e4])
    found = law.sampling(noise, law.half_width(noise, sampling))
    assert found == pytest.approx(sampling, rel=1e-3)


def test_half_widths_grow_with_both_parts_and_noise_alone_needs_no_sampling():
    law = noise_and_sampling(3, 0.95)
    grid = np.linspace(0, 5, 60)
    assert (np.diff(law.half_width(np.array(1.0), grid)) >= 0).all()
    assert (np.diff(law.half_width(grid, np.array(1.0))) > -1e-9).all()
    assert (law.sampling(np.array(1.0), np.array([0.0, 1.0, 4.0])) == 0).all()
