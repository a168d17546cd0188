"""Enclosures of exponentials and logarithms, against python-flint's ball arithmetic."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukeydp.trusted.laws import Bracket, exp_between, exp_bracket, log_between


@pytest.fixture(autouse=True)
def precision():
    before = flint.ctx.prec
    flint.ctx.prec = 2000
    yield
    flint.ctx.prec = before


def ball(x: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


@given(st.fractions(0, 5000, max_denominator=10**12), st.integers(8, 400))
def test_exp_bracket_encloses(x, bits):
    b = exp_bracket(x, bits)
    scale = flint.arb(2) ** b.exponent
    assert b.low * scale <= ball(x).exp() <= b.high * scale
    assert b.high - b.low <= 4
    assert b.high.bit_length() <= bits + 1


@given(st.integers(0, 2**80), st.integers(0, 2**20), st.integers(-90, 90), st.integers(-100, 100))
def test_fixed_rounds_outwards(low, extra, exponent, unit):
    low_units, high_units = Bracket(low, low + extra, exponent).fixed(unit)
    scale = Fraction(2) ** (exponent - unit)
    assert low_units <= low * scale < low_units + 1
    assert high_units - 1 < (low + extra) * scale <= high_units


@given(st.fractions(-300, 300, max_denominator=10**9), st.integers(16, 300))
def test_exp_between_encloses_to_about_so_many_bits(x, bits):
    low, high = exp_between(x, bits)
    assert ball(low) <= ball(x).exp() <= ball(high)
    assert high - low <= high * Fraction(8, 2**bits)


@given(st.fractions(Fraction(1, 10**40), 10**40).filter(lambda x: x > 0), st.integers(16, 300))
def test_log_between_encloses_to_about_so_many_bits(x, bits):
    low, high = log_between(x, bits)
    assert not ball(low) > ball(x).log()
    assert not ball(high) < ball(x).log()
    assert high - low <= Fraction(1, 2**bits)
