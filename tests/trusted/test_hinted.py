"""The one door to hints: what they are given, and what comes back."""

import math

import numpy as np
import pytest

from tukeydp.trusted import hinted
from tukeydp.trusted.hinted import asked, finite_rows, integer_vector, offer


@pytest.fixture
def offered(monkeypatch):
    monkeypatch.setattr(hinted, "OFFERED", {})
    return offer


def test_a_hint_answers_or_there_is_none(offered):
    def raises():
        raise RuntimeError("a cell")

    offered(
        {"twice": lambda number, *, more=0: 2 * number + more, "raises": raises, "named": "math:sqrt", "not": "a:b"}
    )
    assert asked("twice", 4, more=1) == 9
    assert asked("named", 4) == 2.0
    assert hinted.OFFERED["named"] is math.sqrt
    assert [asked(name) for name in ("raises", "nobody", "not", "twice")] == [None] * 4
    offered({"twice": lambda number: 0})
    assert asked("twice", 4) == 0


def test_a_hint_warns_nobody_and_writes_into_nothing(offered):
    values = np.array([1.0, 2.0])
    offered(
        {"divides": lambda array: array / 0.0, "writes": lambda array: array.fill(7.0), "same": lambda a, b: (a, b)}
    )
    assert asked("divides", values).tolist() == [math.inf, math.inf]
    assert asked("writes", values) is None
    assert values.tolist() == [1.0, 2.0]
    assert values.flags.writeable
    seen, number = asked("same", values, 3)
    assert (seen.tolist(), number) == ([1.0, 2.0], 3)


@pytest.mark.parametrize(
    "answer", [None, "12", [1.0, 2.0], [[1.0], [2.0]], [[1.0, 2.0], [3.0]], [["a", "b"]], np.zeros((2, 2, 2)), object()]
)
def test_what_are_no_rows_are_none(answer):
    found = finite_rows(answer, 2)
    assert found.shape == (0, 2)
    assert found.dtype == np.float64


def test_rows_that_are_not_finite_are_left_out():
    assert finite_rows([[1, 2], [math.nan, 0], [0, math.inf], [3, 4]], 2).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_vector_of_whole_numbers_is_a_list_of_them_and_not_all_zero():
    assert integer_vector([0, -(10**30)], 2) == [0, -(10**30)]
    for wrong in ([0, 0], [1], [1, 2, 3], (1, 2), [1, 2.0], [1, True], [1, np.int64(2)], None):
        assert integer_vector(wrong, 2) is None


class Talks:
    """Tells what it saw when it is made an array."""

    def __array__(self, *_, **__):
        raise RuntimeError("cell 42")


@pytest.mark.parametrize("answer", [Talks(), np.array([[1.0 + 1j, 2.0]])])
def test_answers_whose_conversion_says_something_are_none(answer):
    assert finite_rows(answer, 2).shape == (0, 2)


def test_what_a_hint_keeps_is_its_own(offered):
    values = np.array([1.0, 2.0])

    def keeps(array):
        array.flags.writeable = True
        array[0] = 99.0
        return array.base

    offered({"keeps": keeps})
    assert asked("keeps", values) is None
    assert values.tolist() == [1.0, 2.0]
