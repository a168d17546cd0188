"""Likely standard deviations: near the truth without noise, wide with much of it, never out of the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tukeydp.mechanisms.table_lines import at_most
from tukeydp.mechanisms.table_spread import (
    CANDIDATES,
    GIVEN,
    WINDOW,
    between_bounds,
    between_ends,
    cube_likelihood,
    laplace_likelihood,
    lengthened,
    likely,
    mean_sizes,
)


@pytest.mark.parametrize("true", [0.003, 0.05, 0.2, 0.7])
@pytest.mark.parametrize("beforehand", [GIVEN, (0.2, WINDOW[1])])
def test_without_noise_the_likely_deviation_is_the_true_one(true, beforehand):
    sizes = laplace_likelihood(mean_sizes(0.1, np.array([true]))[0], mean_sizes(0.1, CANDIDATES), 1e-9)
    squares = cube_likelihood(true**2, CANDIDATES**2, 1e-9, 3)
    if true > 0.04:  # below, sizes around a centre that is 0.1 off say nothing
        assert likely(sizes, *beforehand).middle == pytest.approx(true, rel=0.05)
    assert likely(squares, *beforehand).middle == pytest.approx(true, rel=0.05)


def test_noise_widens_the_range_and_never_makes_it_negative_or_wider_than_the_bounds():
    wide = []
    for scale in (0.001, 0.01, 0.1, 10.0):
        for released in (-5.0, 0.0, 0.16, 5.0):
            found = likely(laplace_likelihood(released, mean_sizes(0.0, CANDIDATES), scale), *GIVEN)
            assert 0.0 < found.low <= found.middle <= found.high <= 1.0
        wide.append(np.diff(np.log(likely(laplace_likelihood(0.16, mean_sizes(0, CANDIDATES), scale), *GIVEN)))[0])
    assert np.all(np.diff(wide) > 0)


@pytest.mark.parametrize(("a", "b"), [(1.0, 9.0), (0.5, 1.5), (4.0, 1.6), (300.0, 500.0)])
def test_skewed_columns_near_a_bound_have_their_own_deviation(a, b):
    x = 2.0 * np.random.default_rng(1).beta(a, b, 400_000) - 1.0
    bell = np.abs(x - x.mean()).mean() / np.sqrt(2.0 / np.pi)
    assert between_bounds(x.mean(), bell) == pytest.approx(x.std(), rel=0.01)


@pytest.mark.parametrize("scale", [0.001, 0.05, 0.3, 4.0])
def test_a_noised_mean_is_taken_for_one_between_the_bounds(scale):
    rng = np.random.default_rng(2)
    true = rng.uniform(-1.0, 1.0, 400_000)
    noised = true + rng.laplace(0.0, scale, len(true))
    for at in (-1.0 - scale, -1.0, -0.9, 0.0, 0.5, 1.0 + scale / 2.0):
        near = true[np.abs(noised - at) < max(0.003, scale / 60.0)]
        if len(near) > 500:
            assert between_ends(at, scale) == pytest.approx(
                np.median(near), abs=8.0 * min(1.0, scale) / len(near) ** 0.5 + 0.004
            )
    far = [between_ends(at * scale, scale) for at in (-1e6, -1e3, 1e3, 1e6)]
    assert all(-1.0 <= one <= 1.0 for one in far)
    assert between_ends(0.2, 1e-9) == pytest.approx(0.2)


def test_what_was_made_shorter_is_lengthened():
    x = 1.3 * np.random.default_rng(1).lognormal(-(0.45**2) / 2, 0.45, 400_000)
    left = np.minimum(x, 1.0).mean()
    assert lengthened(left) * left == pytest.approx(1.3, rel=0.02)
    assert lengthened(0.3) == pytest.approx(1.0, abs=0.01)
    assert lengthened(-1.0) == 1.0
    assert lengthened(2.0) < 3.0


@pytest.mark.parametrize("numbers", [[588.0, -28.0], [300.0, 300.0], [1000.0, 30.0, 5.0], [-3.0, -4.0], [10.0, 20.0]])
def test_sizes_are_no_more_than_the_public_number_together(numbers):
    found = at_most(numbers, 560.0)
    assert all(one >= 0.0 for one in found)
    assert sum(found) <= 560.0 + 1e-6
    if sum(max(0.0, one) for one in numbers) <= 560:
        assert found == [max(0.0, one) for one in numbers]
