from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.trusted.parameters import rational


@pytest.mark.parametrize(
    "value", [0.1, "0.1", "1/10", Fraction(1, 10), Decimal("0.1"), np.float64(0.1), np.float32(0.1), " 0.1 "]
)
def test_a_number_means_its_shortest_decimal(value):
    assert td.PureDP(value).epsilon == Fraction(1, 10)


def test_integers_stay_integers():
    assert td.PureDP(np.int64(3)).epsilon == td.PureDP("3").epsilon == 3


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_survives(value):
    assert float(rational("epsilon", value)) == value


@pytest.mark.parametrize(
    "value",
    [0, -1, -0.5, math.nan, math.inf, "nan", "", "one", None, True, [1], 1j, "1/0", "1e99999999", Decimal("1e999999"),
     Decimal("NaN"), 10**400, pytest.param(10**5000, id="many digits"), np.array([1.0])],
)  # fmt: skip
def test_bad_epsilons_are_named(value):
    with pytest.raises(td.ParameterError, match="epsilon") as caught:
        td.PureDP(value)
    assert len(str(caught.value)) < 200


def test_guarantees_and_errors_print_and_pickle():
    guarantee = td.PureDP("1/3")
    assert str(guarantee).startswith("epsilon = 1/3")
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    error = td.ParameterError("epsilon", "must be > 0", -1)
    assert str(error) == "epsilon must be > 0; got -1."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
