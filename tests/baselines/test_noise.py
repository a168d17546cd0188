"""What discrete Gaussian noise costs, and how a budget is spent on it. Its law: tests/exact/test_noise.py."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, kstest, laplace, norm

import tukeydp as td
from support.fit import FALSE_ALARM
from tukeydp.baselines.curve import ROUNDING_SHARE, multiplier
from tukeydp.baselines.noise import Noise, _least_deviation
from tukeydp.trusted.bits import Keystream, derived_key

ONE = td.ApproxDP("1", "1e-6")


def bits(*name):
    return Keystream(derived_key("noise", *name)).bits(0)


def masses(deviation, reach=400):
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-(z**2) / (2 * deviation**2))
    return z, weights / weights.sum()


def test_large_deviations_look_continuous_and_are_as_large_as_said():
    """Size by a chi-squared test of the variance, shape by Kolmogorov-Smirnov; each with a control."""
    noise = Noise(ONE, coordinates=10_000, bits=bits("large"))
    share = Fraction(1, 4)
    values = [7 * k for k in range(4000)]
    noised = noise.add(values, squared_sensitivity=9, share=share)
    z = np.array([float(a - b) for a, b in zip(noised, values, strict=True)])
    expected = float(multiplier(ONE)) * 3 * 2
    assert noise.standard_deviation(9, share) == pytest.approx(expected, rel=1e-6)

    def alarm(sd):
        return 2 * min(chi2.cdf((z**2).sum() / sd**2, len(z)), chi2.sf((z**2).sum() / sd**2, len(z)))

    assert alarm(expected) > FALSE_ALARM
    assert alarm(expected * 1.1) < FALSE_ALARM
    assert kstest(z / expected, norm.cdf).pvalue > FALSE_ALARM
    assert kstest(z / expected, laplace(scale=0.5**0.5).cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize("deviation", [1, 2, 5, 20, 60])
def test_discrete_and_rounded_noise_differ_by_at_most_the_bound(deviation):
    """Total variation <= 1/(24 deviation^2) (docs/proofs/baselines.md, 2), and not much less: half of it fails."""
    z, p = masses(deviation, reach=12 * deviation)
    rounded = norm.cdf((z + 0.5) / deviation) - norm.cdf((z - 0.5) / deviation)
    distance = np.maximum(p - rounded, 0).sum()
    assert distance <= 1 / (24 * deviation**2)
    assert distance > 1 / (72 * deviation**2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("deviation", "shift"), [(4, 1), (9, 2), (9, 9), (30, 10)])
def test_delta_of_discrete_noise_is_the_curve_plus_the_bound(epsilon, deviation, shift):
    """By enumeration of the discrete law: sum of (p(z) - e^epsilon p(z - shift))^+."""
    z, p = masses(deviation, reach=14 * deviation + shift)
    moved = np.interp(z - shift, z, p, left=0)
    delta = np.maximum(p - np.exp(epsilon) * moved, 0).sum()
    m = deviation / shift
    curve = norm.cdf(0.5 / m - epsilon * m) - np.exp(epsilon) * norm.cdf(-0.5 / m - epsilon * m)
    assert delta <= curve + (1 + np.exp(epsilon)) / (24 * deviation**2) + 1e-12


@pytest.mark.parametrize("guarantee", [ONE, td.ApproxDP("0.01", "1e-30"), td.ApproxDP("100", "1e-9")])
def test_the_grid_is_fine_enough_for_the_part_of_delta_kept_for_it(guarantee):
    for coordinates, squared, share in ((1, 1, Fraction(1)), (500, 7, Fraction(1, 1000)), (9, 2**62, Fraction(1, 3))):
        noise = Noise(guarantee, coordinates=coordinates, bits=bits())
        shift, deviation = noise._scale(squared, share)
        # Discreteness: all coordinates together cost at most the share of delta set aside.
        spent = (1 + np.exp(float(guarantee.epsilon))) * coordinates / 24 / deviation**2
        assert spent <= float(ROUNDING_SHARE * guarantee.delta) * (1 + 1e-9)
        assert deviation >= _least_deviation(guarantee, coordinates)
        # And the deviation is no smaller than the share asks for: exact rationals.
        assert Fraction(squared * 4**shift, deviation**2) <= share / noise.deviation**2
        assert Fraction(squared * 4**shift, deviation**2) >= share / noise.deviation**2 * Fraction(999, 1000)


def test_nobody_spends_more_than_everything():
    noise = Noise(ONE, coordinates=3, bits=bits())
    noise.add([1], squared_sensitivity=1, share=Fraction(2, 3))
    with pytest.raises(AssertionError):
        noise.add([1], squared_sensitivity=1, share=Fraction(2, 3))
    noise = Noise(ONE, coordinates=3, bits=bits())
    with pytest.raises(AssertionError):
        noise.add([1, 2, 3, 4], squared_sensitivity=1, share=Fraction(1, 3))
