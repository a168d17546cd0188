"""Indices by weight: exact laws, also where the first bits do not decide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted import laws as weighted_draw
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.laws import WeightedDraw

SIZES, EXPONENTS = (3, 1, 7, 1000), (Fraction(-1, 2), Fraction(1), Fraction(0), Fraction(-5))


def law(sizes, exponents):
    weights = np.array([s * math.exp(e) for s, e in zip(sizes, exponents, strict=True)])
    return weights / weights.sum()


@pytest.mark.parametrize("first", [64, 1])
def test_draws_have_the_law(monkeypatch, first):
    """With a single bit at first nearly every draw looks at more."""
    monkeypatch.setattr(weighted_draw, "_FIRST", first)
    draw, bits = WeightedDraw(SIZES, EXPONENTS), Keystream(derived_key("weighted", first)).bits(0)
    counts = np.bincount([draw.draw(bits) for _ in range(20_000)], minlength=4)
    assert g_test(counts, law(SIZES, EXPONENTS)) > FALSE_ALARM
    assert g_test(counts, law((3, 1, 7, 1300), EXPONENTS)) < FALSE_ALARM


class Given:
    """Bits that are given: `value` first, then ones or zeros for ever."""

    def __init__(self, value, then):
        self.value, self.then = value, then

    def take(self, count):
        value, self.value = self.value, None
        return value if value is not None else (2**count - 1) * self.then


@pytest.mark.parametrize("then", [0, 1])
def test_a_word_at_an_edge_is_decided_by_those_that_follow(then):
    """Two equal halves: the edge is at 1/2 exactly, and words next to it are told apart in the end."""
    draw = WeightedDraw([5, 5], [Fraction(1), Fraction(1)])
    assert draw.draw(Given(2**63 - 1, 0)) == 0
    assert draw.draw(Given(2**63, 1)) == 1
    assert draw.draw(Given(0, then)) == 0
    assert draw.draw(Given(2**64 - 1, then)) == 1


def test_enormous_exponents_and_sizes():
    draw = WeightedDraw([2**60, 1], [Fraction(0), Fraction(10**6)])
    assert draw.draw(Keystream(derived_key("huge")).bits(0)) == 1


@pytest.mark.parametrize("sizes", [[], [0, 1], [1, 2, 3]])
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="sizes must be positive"):
        WeightedDraw(sizes, [Fraction(0)] * 2)
