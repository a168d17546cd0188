"""Integer noise: its law by enumeration of every way a draw can go, and by samples with a stated false-alarm rate."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted import laws as noise
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import bernoulli_exp, discrete_gaussian, discrete_laplace, geometric

Z = np.arange(-400, 401)


def bits(*name):
    return Keystream(derived_key("noise", *name)).bits(0)


def tally(draws):
    return np.bincount(np.array(draws) + 400, minlength=len(Z))


def laplace(scale):
    weights = np.exp(-np.abs(Z) / float(scale))
    return weights / weights.sum()


def gaussian(deviation):
    weights = np.exp(-(Z**2) / (2 * deviation**2))
    return weights / weights.sum()


class Unfinished(Exception):
    """A draw asked for more than the script holds; it has this many equally likely ways to go on."""

    def __init__(self, ways):
        self.ways = ways


class Script:
    """Uniform choices read from a list. In the place of `Bits`."""

    def __init__(self, choices):
        self._choices = iter(choices)

    def below(self, bound):
        choice = next(self._choices, None)
        if choice is None:
            raise Unfinished([(i, Fraction(1, bound)) for i in range(bound)])
        return choice

    def take(self, count):
        return self.below(1 << count)


def outcomes(draw, negligible):
    """The probability of every outcome, over all scripts whose own is not negligible; and the rest."""
    found, rest = Counter(), 0
    scripts = [((), 1)]
    while scripts:
        script, probability = scripts.pop()
        if probability < negligible:
            rest += probability
            continue
        try:
            found[draw(Script(script))] += probability
        except Unfinished as more:
            scripts += [((*script, choice), probability * part) for choice, part in more.ways]
    return found, rest


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 2), (2, 3), (1, 7), (5, 2)])
def test_the_coin_has_its_probability(numerator, denominator):
    """In rationals: what is known of either side, and the little that is left open, enclose e^-x."""
    found, rest = outcomes(lambda script: bernoulli_exp(numerator, denominator, script), Fraction(1, 10**6))
    assert found[True] + found[False] + rest == 1
    assert rest < 0.02
    assert found[True] <= math.exp(-numerator / denominator) * (1 + 1e-15)
    assert found[True] + rest >= math.exp(-numerator / denominator) * (1 - 1e-15)


def exact_coin(numerator, denominator, script):
    """A coin of probability e^-x as one choice of two: that it is right is another test's."""
    heads = math.exp(-numerator / denominator)
    choice = next(script._choices, None)
    if choice is None:
        raise Unfinished([(True, heads), (False, 1 - heads)] if numerator else [(True, 1.0)])
    return choice


@pytest.mark.parametrize("scale", ["1", "2", "5", "1/3", "3/2", "7/5"])
def test_the_discrete_laplace_has_its_law_by_enumeration(scale, monkeypatch):
    """Given that an attempt comes to something, z has probability (1 - q) / (1 + q) q^|z|, q = e^(-1 / scale)."""
    scale = Fraction(scale)
    monkeypatch.setattr(noise, "bernoulli_exp", exact_coin)
    found, rest = outcomes(lambda s: noise._signed_geometric(scale.numerator, scale.denominator, s), 1e-13)
    assert rest < 1e-10
    kept = 1 - found[None]
    q = math.exp(-1 / scale)
    for z in range(-8, 9):
        assert float(found[z]) / kept == pytest.approx((1 - q) / (1 + q) * q ** abs(z), abs=1e-9)


@pytest.mark.parametrize("scale", ["5", "1", "1/2", "7/3"])
def test_discrete_laplace_samples_have_the_law(scale):
    scale = Fraction(scale)
    draw = bits("laplace", scale)
    counts = tally([discrete_laplace(scale, draw) for _ in range(20_000)])
    assert g_test(counts, laplace(scale)) > FALSE_ALARM
    assert g_test(counts, laplace(scale * Fraction(28, 25))) < FALSE_ALARM


def test_minus_zero_would_be_noticed(monkeypatch):
    """The control: with both zeros kept, zero is twice as likely."""
    honest = noise._signed_geometric

    def careless(*arguments):
        z = honest(*arguments)
        return 0 if z is None else z

    monkeypatch.setattr(noise, "_signed_geometric", careless)
    draw = bits("careless")
    counts = tally([discrete_laplace(5, draw) for _ in range(20_000)])
    assert g_test(counts, laplace(5)) < FALSE_ALARM


def test_an_integer_scale_is_the_same_as_a_fraction():
    ours, theirs = bits("same"), bits("same")
    assert [discrete_laplace(4, ours) for _ in range(50)] == [
        discrete_laplace(Fraction(8, 2), theirs) for _ in range(50)
    ]


@pytest.mark.parametrize("deviation", [1, 3, 12])
def test_the_discrete_gaussian_has_its_law(deviation):
    draw = bits("gaussian", deviation)
    counts = tally([discrete_gaussian(deviation, draw) for _ in range(20_000)])
    assert g_test(counts, gaussian(deviation)) > FALSE_ALARM
    assert g_test(counts, gaussian(deviation * 1.08)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [0, -1, Fraction(-1, 3)])
def test_a_scale_that_is_not_positive_is_refused(scale):
    with pytest.raises(td.ParameterError, match="scale must be > 0"):
        discrete_laplace(scale, bits())
    if isinstance(scale, int):
        with pytest.raises(td.ParameterError, match="deviation must be"):
            discrete_gaussian(scale, bits())


@pytest.mark.parametrize("scale", ["1", "3", "1/2", "5/3"])
def test_the_geometric_draw_has_its_law_by_enumeration(scale, monkeypatch):
    """Given that an attempt comes to something, k has probability (1 - q) q^k, q = e^(-1 / scale)."""
    scale = Fraction(scale)
    monkeypatch.setattr(noise, "bernoulli_exp", exact_coin)
    found, rest = outcomes(lambda s: noise._geometric(scale.numerator, scale.denominator, s), 1e-13)
    assert rest < 1e-10
    q = math.exp(-1 / scale)
    for k in range(9):
        assert float(found[k]) / (1 - found[None]) == pytest.approx((1 - q) * q**k, abs=1e-9)


@pytest.mark.parametrize("scale", ["6", "2/3"])
def test_geometric_samples_have_the_law(scale):
    def law(of):
        return np.append(np.exp(-np.arange(100) / float(of)) * -math.expm1(-1 / of), math.exp(-100 / of))

    scale = Fraction(scale)
    draw = bits("geometric", scale)
    counts = np.bincount([min(geometric(scale, draw), 100) for _ in range(10_000)], minlength=101)
    assert g_test(counts, law(scale)) > FALSE_ALARM
    assert g_test(counts, law(scale * Fraction(10, 9))) < FALSE_ALARM


@pytest.mark.parametrize("scale", [0, Fraction(-1, 3)])
def test_so_is_that_of_a_geometric_draw(scale):
    with pytest.raises(td.ParameterError, match="scale must be > 0"):
        geometric(scale, bits())
