"""What is written of guarantees, word by word."""

from fractions import Fraction

from tukeydp.trusted.account import ApproxDP, PureDP, cost_of, epsilon_stated, relation_of, stated
from tukeydp.trusted.parameters import ParameterError

PURE = PureDP(Fraction(1, 10), neighbours="add-remove-person")
APPROX = ApproxDP(Fraction(1, 3), Fraction(1, 1000))


def test_a_pure_guarantee_says_what_it_is():
    assert str(PURE) == "epsilon = 0.1 (pure differential privacy, one person added or removed)"
    assert PURE.to_dict() == {
        "kind": "pure",
        "epsilon": 0.1,
        "epsilon_exact": "1/10",
        "delta": 0.0,
        "neighbours": "one person added or removed with all their rows, numbers of persons and of rows secret",
        "relation": "add-remove-person",
    }


def test_an_approximate_guarantee_says_what_it_is():
    assert str(APPROX) == "epsilon = 1/3, delta = 0.001 (approximate differential privacy, one row swapped)"
    assert APPROX.to_dict() == {
        "kind": "approximate",
        "epsilon": float(Fraction(1, 3)),
        "epsilon_exact": "1/3",
        "delta": 0.001,
        "delta_exact": "1/1000",
        "neighbours": "one row swapped, number of rows public",
        "relation": "swap",
    }


def test_an_error_has_no_codes_that_a_terminal_obeys():
    error = ParameterError("x", "must be small", "\x1b[2J")
    assert str(error) == "x must be small; got \\x1b[2J."
    assert (error.parameter, error.rule, error.value) == ("x", "must be small", "\x1b[2J")


def test_tables_and_titles_say_where_there_is_none():
    assert (stated(None), stated(PURE)) == ("NO GUARANTEE: not private, not for publication", str(PURE))
    assert (epsilon_stated(None), epsilon_stated(APPROX)) == ("", "1/3")


def test_parts_cost_their_sum_and_a_person_is_a_row_of_what_a_mechanism_sees():
    twice = cost_of({"first": PURE, "second": PURE})
    assert twice == PureDP(Fraction(1, 5), neighbours="add-remove-person")
    assert twice.zcdp.rho == 2 * PURE.zcdp.rho
    assert [relation_of(name) for name in ("swap", "swap-person", "add-remove-person")] == [
        "swap",
        "swap",
        "add-remove",
    ]
