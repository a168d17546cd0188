"""When text is a number: the rule, its compiled twin, and Python's own floats as the judge of rounding."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tukeydp.data.numbers import NumberRule, number
from tukeydp.data.readers.scanning import MISSING, READ, UNDECIDED, numbers_in

RULES = [
    NumberRule(),
    NumberRule(","),
    NumberRule(".", ","),
    NumberRule(",", ".", ("kg", "g")),
    NumberRule(",", " "),
    NumberRule(".", "'", ("mmHg", "m2", "€")),
]


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "-", "+-1", "1..2", "1.2.3", "1e", "e5", "1e1.5", "1 2", "1_000", "nan", "inf", "-Infinity", "0x1",
     "\uff11", "٣", "½", "1,5", "5%", "$5", "(5)", "1\0", "--1", "1e+-5", "1-", "truth", "tru", "fals\u0435", "yes"],
)  # fmt: skip
def test_what_is_no_number(text):
    assert math.isnan(NumberRule().number(text))
    assert math.isnan(number(text.encode()))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), (" 1\t", 1), ("\u00a01.5", 1.5), ("+.5", 0.5), ("5.", 5), ("-1E-3", -0.001), ("\u22127", -7), ("007", 7),
     ("1e999", math.inf), ("-1e999", -math.inf), ("1e-999", 0), ("0e999999999999", 0), ("TRUE", 1), (" false ", 0)],
)  # fmt: skip
def test_what_is_a_number(text, value):
    assert NumberRule().number(text) == number(text) == value


def agree(texts, rule):
    for text, (state, value) in zip(texts, numbers_in([text.encode() for text in texts], rule), strict=True):
        expected = rule.number(text)
        if state == READ:
            assert struct.pack("d", value) == struct.pack("d", expected), text
        elif state == MISSING:
            assert math.isnan(expected), text


parts = st.sampled_from([*"0123456789", *"0123456789", "000", "123", "1", ".", ",", " ", "'", "\u2019", "-", "+", "e",
                         "E", "\u202f", "\u00a0", "\u2212", "kg", "g", "mmHg", "m2", "€", "x", "\t", "é",
                         "true", "False", "t"])  # fmt: skip


@given(st.lists(st.lists(parts, max_size=12).map("".join), min_size=1, max_size=20), st.sampled_from(RULES))
@example(["1,234", "12,34", "1,234.5", "0,125", "1,234,567e2", ",123", "1,", "1234,567"], NumberRule(".", ","))
@example(["5 kg", "kg5", "5 kgkg", "kg", "5g", "g 5 g", "1.234,5 kg"], RULES[3])
@example(["TRUE", "tRue kg", "kg false", "truee", "+true", "FALSE", "true1", "Kalse"], RULES[3])
@example(["m25", "5m2", "5 m2 m2", "€5", "€-5", "-€5"], RULES[5])
@settings(max_examples=300)
def test_the_compiled_rule_is_the_rule(texts, rule):
    agree(texts, rule)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1))
def test_floats_are_read_back(texts):
    agree(texts, NumberRule())


@given(st.lists(st.tuples(st.integers(0, 10**19 - 1), st.integers(-360, 330)), min_size=1))
@example([(2**53 + 1, 0), (9007199254740993, 0), (9007199254740995, 0), (5, -324), (24703282292062327, -340)])
@example([(17976931348623158, 292), (17976931348623159, 292), (22250738585072014, -324)])
@settings(max_examples=300)
def test_all_digits_and_powers_are_rounded_to_the_nearest(pairs):
    agree([f"{digits}e{power}" for digits, power in pairs], NumberRule())


@given(st.lists(st.tuples(st.integers(2**52, 2**53 - 1), st.integers(0, 10)), min_size=1))
def test_halves_are_rounded_to_even(pairs):
    """2m + 1 with m of 53 bits lies half way between two floats."""
    agree([str((2 * m + 1) << shift) for m, shift in pairs], NumberRule())
    agree([f"{(2 * m + 1) * 5**3}e-3" for m, _ in pairs if (2 * m + 1) * 5**3 < 10**19], NumberRule())


def test_few_cells_are_left_to_python():
    """The check that the tests above test the compiled rule at all."""
    texts = [repr(i / 7).encode() for i in range(1, 1000)]
    assert [state for state, _ in numbers_in(texts, NumberRule())].count(READ) > 990
    assert numbers_in([b"1" * 25], NumberRule())[0][0] == UNDECIDED
