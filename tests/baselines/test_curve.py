"""How much noise (epsilon, delta) needs, against ball arithmetic and scipy."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import norm

import tukeydp as td
from tukeydp.baselines.curve import (
    ROUNDING_SHARE,
    _normal,
    classical_multiplier,
    concentrated_multiplier,
    delta_bound,
    multiplier,
)

EPSILONS = ["1e-12", "0.01", "0.1", "1", "3", "30", "200"]
DELTAS = ["1e-30", "1e-9", "1e-6", "0.01", "0.6"]


def delta_in_balls(m: Fraction, epsilon: Fraction) -> arb:
    """Balle and Wang's curve in ball arithmetic: an enclosure that shares no code with the package."""
    m, epsilon = (arb(fmpq(v.numerator, v.denominator)) for v in (m, epsilon))

    def phi(x):
        return (-x / arb(2).sqrt()).erfc() / 2

    return phi(1 / (2 * m) - epsilon * m) - epsilon.exp() * phi(-1 / (2 * m) - epsilon * m)


def rational(value: str) -> Fraction:
    return Fraction(value)


@pytest.fixture(autouse=True)
def _precision():
    before, ctx.prec = ctx.prec, 2000
    yield
    ctx.prec = before


@pytest.mark.parametrize(("epsilon", "delta"), list(itertools.product(EPSILONS, DELTAS)))
def test_the_multiplier_is_enough_and_hardly_more(epsilon, delta):
    m = multiplier(td.ApproxDP(epsilon, delta))
    exact = delta_in_balls(m, rational(epsilon))
    target = rational(delta) * (1 - ROUNDING_SHARE)
    assert exact <= arb(fmpq(target.numerator, target.denominator))
    assert delta_in_balls(m * (1 - Fraction(1, 10**8)), rational(epsilon)) > exact
    # Hardly more: a millionth less noise would break delta itself.
    assert delta_in_balls(m * (1 - Fraction(2, 10**6)), rational(epsilon)) > fmpq(target.numerator, target.denominator)


@pytest.mark.parametrize(("epsilon", "delta"), list(itertools.product(EPSILONS, DELTAS)))
def test_the_bound_on_delta_is_one_and_is_close(epsilon, delta):
    scale = rational(delta)
    for factor in ("0.3", "1", "2.5"):
        m = multiplier(td.ApproxDP(epsilon, delta)) * Fraction(factor)
        bound = delta_bound(m, rational(epsilon), scale)
        exact = delta_in_balls(m, rational(epsilon))
        gap = arb(fmpq(bound.numerator, bound.denominator)) - exact
        assert gap >= 0
        assert gap < float(scale) * 1e-9


@pytest.mark.parametrize("x", ["-30", "-3.7", "-1e-9", "0", "0.5", "8", "25"])
@pytest.mark.parametrize("bits", [20, 64, 500])
def test_the_normal_distribution_is_enclosed(x, bits):
    low, high = _normal(Fraction(x), bits)
    value = (-arb(fmpq(*Fraction(x).as_integer_ratio())) / arb(2).sqrt()).erfc() / 2 * arb(2) ** bits
    assert low <= value <= high
    assert high - low <= 3


def test_known_values():
    """The figures of the literature, and one of the formula in floats."""
    one = td.ApproxDP("1", "1e-6")
    assert float(multiplier(one)) == pytest.approx(4.2247, abs=1e-4)
    assert float(classical_multiplier(one)) == pytest.approx(np.sqrt(2 * np.log(1.25e6)), rel=1e-12)
    assert 1 / (2 * float(multiplier(one)) ** 2) == pytest.approx(0.0280, abs=5e-5)
    assert 1 / (2 * float(concentrated_multiplier(one)) ** 2) == pytest.approx(0.0175, abs=5e-5)
    s = 4.2247
    assert norm.cdf(0.5 / s - s) - np.e * norm.cdf(-0.5 / s - s) == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize("delta", ["1e-100", "1e-30", "1e-9", "1e-6", "0.1", "0.5", "0.99"])
@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", "0.7", "1"])
def test_the_classical_noise_is_the_larger_one_up_to_epsilon_one(epsilon, delta):
    """So it needs no theorem: the curve certifies it, at epsilon = 1 too."""
    guarantee = td.ApproxDP(epsilon, delta)
    formula = np.sqrt(2 * np.log(1.25 / float(delta))) / float(epsilon)
    assert float(classical_multiplier(guarantee)) == pytest.approx(formula, rel=1e-12)
    assert multiplier(guarantee) < classical_multiplier(guarantee)


def test_the_classical_formula_fails_for_large_epsilon_and_is_refused():
    """The control: at epsilon = 20 the formula's noise has a delta far above the stated one."""
    m = Fraction(np.sqrt(2 * np.log(1.25e6)) / 20)
    assert delta_in_balls(m, Fraction(20)) > 1e-5
    with pytest.raises(td.ParameterError, match=r"^epsilon must be <= 1 .*analytic_gaussian.*; got 1\.5"):
        classical_multiplier(td.ApproxDP("1.5", "1e-6"))


def test_beyond_the_curve_the_closed_form_takes_over():
    guarantee = td.ApproxDP("201", "1e-6")
    closed = multiplier(guarantee)
    assert closed == concentrated_multiplier(guarantee)
    assert delta_in_balls(closed, Fraction(201)) < 1e-6
    assert 1 < closed / multiplier(td.ApproxDP("200", "1e-6")) < Fraction(103, 100)
    assert multiplier(td.ApproxDP("1e300", "1e-6")) > 0
    with pytest.raises(td.ParameterError, match=r"^epsilon or delta must be at least"):
        multiplier(td.ApproxDP("1e-200", "1e-200"))
