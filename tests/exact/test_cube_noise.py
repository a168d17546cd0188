"""Cube noise: its law in rationals from the sampler's own decisions, and by samples with a stated false-alarm rate."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from support.fit import FALSE_ALARM, g_test
from tukeydp.results.noise_quantiles import cube_deviation
from tukeydp.trusted import laws as module
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import cube_noise

FAR = 9  # max |z| from here on is one cell in the tests by samples


def bits(*name):
    return Keystream(derived_key("cube noise", *name)).bits(0)


class Counting:
    """In the place of `Bits`: notes the bound of each choice, and makes the one it was told to."""

    def __init__(self, choices):
        self.choices, self.bounds = iter(choices), []

    def below(self, bound):
        self.bounds.append(bound)
        choice = next(self.choices)
        assert 0 <= choice < bound
        return choice


def acceptance(d, s, monkeypatch):
    """The exact probability that the sum s is kept, by trying the choices around the edge."""
    drawn = iter([s, *[0] * d] * 2)  # d + 1 geometric variables, twice
    monkeypatch.setattr(module, "geometric", lambda scale, script: next(drawn))
    edge = (2 * s + 1) ** d
    script = Counting([edge, edge - 1, *[0] * d])  # refused, then accepted
    assert cube_noise(d, None, script) == [-s] * d
    assert script.bounds[0] == script.bounds[1]
    assert script.bounds[2:] == [2 * s + 1] * d
    return Fraction(edge, script.bounds[0])


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_sum_and_a_point_come_with_probability_proportional_to_q_to_the_sum(d, monkeypatch):
    """In rationals: (proposals of s) x (kept) / (points of the cube) is one number for all s.

    The sum of d + 1 geometric variables is s with probability (s + d choose d) (1 - q)^(d+1) q^s.
    """
    shares = {Fraction(math.comb(s + d, d)) * acceptance(d, s, monkeypatch) / (2 * s + 1) ** d for s in range(40)}
    assert shares == {Fraction(1, 2**d * math.factorial(d))}


def shells(d, scale):
    """Probabilities of max |z| = 0, 1, ..., FAR - 1, and of more: (2m+1)^d - (2m-1)^d points of weight q^m each."""
    weights = [((2 * m + 1) ** d - (2 * m - 1) ** d if m else 1) * math.exp(-m / float(scale)) for m in range(400 * d)]
    return np.array([*weights[:FAR], sum(weights[FAR:])]) / sum(weights)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_samples_have_the_law(d):
    """Each point by its own probability where it is near; the control: a scale that is off by a tenth."""
    scale = Fraction(3, 2)
    draw = bits(d)
    points = [tuple(cube_noise(d, scale, draw)) for _ in range(20_000)]
    largest = np.bincount([min(max(map(abs, z)), FAR) for z in points], minlength=FAR + 1)
    assert g_test(largest, shells(d, scale)) > FALSE_ALARM
    assert g_test(largest, shells(d, scale / Fraction(11, 10))) < FALSE_ALARM
    near = list(itertools.product(range(-2, 3), repeat=d))
    law = shells(d, scale)
    counts = [points.count(z) for z in near]
    expected = [law[0] * math.exp(-max(map(abs, z)) / float(scale)) for z in near]
    counts, expected = [*counts, len(points) - sum(counts)], [*expected, 1 - sum(expected)]
    assert g_test(np.array(counts), np.array(expected)) > FALSE_ALARM


def test_columns_that_each_had_laplace_noise_would_be_noticed():
    """The control: the same largest coordinate now and then, but corners too rare."""
    scale = 1.5
    weights = np.exp(-np.abs(np.arange(-200, 201)) / scale)
    weights /= weights.sum()
    draw = bits(2)
    points = [tuple(cube_noise(2, Fraction(3, 2), draw)) for _ in range(20_000)]
    near = list(itertools.product(range(-2, 3), repeat=2))
    expected = [weights[a + 200] * weights[b + 200] for a, b in near]
    counts = [points.count(z) for z in near]
    assert g_test(np.array([*counts, 20_000 - sum(counts)]), np.array([*expected, 1 - sum(expected)])) < FALSE_ALARM


@pytest.mark.parametrize("d", [1, 5, 30])
def test_the_deviation_of_one_column(d):
    """Within five standard errors of 3000 draws' second moment, and not within them of a deviation a sixth larger."""
    scale = Fraction(10**6, 3)
    draw = bits("deviation", d)
    squares = np.array([cube_noise(d, scale, draw)[0] / float(scale) for _ in range(3000)]) ** 2
    error = 5 * squares.std() / math.sqrt(3000)
    assert abs(squares.mean() - cube_deviation(d) ** 2) < error
    assert abs(squares.mean() - (7 / 6 * cube_deviation(d)) ** 2) > error


def test_small_scales_and_many_columns_end():
    """The rarest acceptance that td.mean's largest epsilon leads to: 10^6, where a step has a thousandth of it."""
    draw = bits("many")
    assert len(cube_noise(200, Fraction(2**30, 10**6), draw)) == 200
