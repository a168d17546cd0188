"""One rule for parameters of a kind, wherever they are given: what is taken, what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tukeydp as td
from tukeydp.algorithm3 import BoxCounting, rem_parameters, score
from tukeydp.approximate import approximate_rem
from tukeydp.depth.of_points import is_deep
from tukeydp.mcmc import mcmc_level_volumes, walk
from tukeydp.paper.experiments.runner import reproduce
from tukeydp.plots import contours
from tukeydp.trusted.parameters import (
    ParameterError,
    checked_choice,
    checked_integer,
    positive_rational,
    rational,
    show,
)

X = np.random.default_rng(1).normal(size=(8, 2))
BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
SQUARE = np.vstack([np.eye(2), -np.eye(2)]), np.ones(4), np.zeros(2)


def _walk(**options: Any) -> Any:
    return walk(*SQUARE, np.random.default_rng(1), **{"samples": 2, "thin": 2, **options})


# name in the message, how it is given, a value that is fine, the largest that is too small, whether None is a default
PARAMETERS: dict[str, tuple[str, Callable[[Any, Any], Any], int, int | None, bool]] = {
    "level_set": ("level", lambda v, out: td.level_set(X, v), 2, 0, False),
    "is_deep": ("level", lambda v, out: is_deep(X, X, v), 2, -1, False),
    "rem": ("threshold", lambda v, out: td.rem(X, **BUDGET, threshold=v), 3, 0, True),
    "rem by walks": ("threshold", lambda v, out: td.rem(X, **BUDGET, threshold=v, unproven="mcmc"), 3, 0, True),
    "approximate_rem": (
        "threshold",
        lambda v, out: approximate_rem(X, **BUDGET, threshold=v, bounds=(-5, 5), padding=0),
        3,
        0,
        True,
    ),
    "score": ("lowest", lambda v, out: score([Fraction(1)] * 4, v, rem_parameters(1, "1e-6")), 1, 0, False),
    "BoxCounting": ("threads", lambda v, out: BoxCounting(threads=v), 1, 0, True),
    "coinpress": ("steps", lambda v, out: td.baselines.coinpress(X, **BUDGET, radius=9, steps=v), 3, 0, True),
    "Random": ("directions", lambda v, out: td.Random(v), 3, -1, True),
    "Random, seed": ("seed", lambda v, out: td.Random(3, seed=v), 3, -1, True),
    "Spread": ("directions", lambda v, out: td.Spread(v), 3, -1, True),
    "seeded": ("seed", lambda v, out: td.seeded(v), 3, None, False),
    "walk, samples": ("samples", lambda v, out: _walk(samples=v), 3, 0, False),
    "walk, thin": ("thin", lambda v, out: _walk(thin=v), 3, 0, False),
    "mcmc_level_volumes": (
        "threads",
        lambda v, out: mcmc_level_volumes(X, td.Random(3), threads=v, error=0.5),
        1,
        0,
        True,
    ),
    "contours": ("levels", lambda v, out: contours(X, levels=[v]), 2, 0, False),
    "reproduce, jobs": ("jobs", lambda v, out: reproduce([], out, jobs=v), 1, 0, True),
    "reproduce, seed": ("seed", lambda v, out: reproduce([], out, seed=v), 1, None, False),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_integer_parameter_takes_integers_of_every_kind(name, tmp_path):
    _, give, fine, _, optional = PARAMETERS[name]
    for value in (fine, np.int64(fine), np.uint8(fine), *([None] if optional else [])):
        give(value, tmp_path)


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_integer_parameter_refuses_all_else(name, tmp_path):
    parameter, give, _, too_small, optional = PARAMETERS[name]
    refused = [True, np.True_, 2.0, np.float64(2), "3", [3]]
    refused += ([] if too_small is None else [too_small, np.int64(too_small)]) + ([] if optional else [None])
    for value in refused:
        with pytest.raises(ParameterError, match=rf"^{parameter} must be an integer.*; got ") as caught:
            give(value, tmp_path)
        assert str(caught.value).endswith(f"got {value!r}.")


def test_thresholds_end_at_the_number_of_rows():
    for give in (PARAMETERS["rem"][1], PARAMETERS["rem by walks"][1], PARAMETERS["approximate_rem"][1]):
        with pytest.raises(ParameterError, match=r"^threshold must be an integer from 1 to 8; got 9\.$"):
            give(9, None)


def test_an_integer_of_any_size_is_taken_and_a_long_one_is_not_printed():
    assert checked_integer("seed", -(10**30)) == -(10**30)
    with pytest.raises(ParameterError) as caught:
        checked_integer("level", -(10**6000), least=1)
    assert str(caught.value) == "level must be an integer >= 1; got a int."


@pytest.mark.parametrize(
    ("least", "most", "rule"),
    [
        (None, None, "must be an integer"),
        (2, None, "must be an integer >= 2"),
        (None, 9, "must be an integer <= 9"),
        (2, 9, "must be an integer from 2 to 9"),
    ],
)
def test_the_rule_names_its_ends(least, most, rule):
    with pytest.raises(ParameterError) as caught:
        checked_integer("k", 2.0, least=least, most=most)
    assert str(caught.value) == f"k {rule}; got 2.0."
    assert [v for v in range(12) if _taken(v, least, most)] == list(range(least or 0, (most or 11) + 1))


def _taken(value: int, least: int | None, most: int | None) -> bool:
    try:
        return checked_integer("k", value, least=least, most=most) == value
    except ParameterError:
        return False


def test_a_choice_is_one_of_the_names():
    assert checked_choice("test", "paper", ("graded", "laplace", "paper")) == "paper"
    for value in ("Paper", "", None, 3, ["paper"]):
        with pytest.raises(ParameterError, match=r"^test must be graded, laplace or paper; got "):
            checked_choice("test", value, ("graded", "laplace", "paper"))
    with pytest.raises(ParameterError, match=r"^unproven must be mcmc; got 'x'\.$"):
        checked_choice("unproven", "x", ("mcmc",))


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 1e-6 ", Fraction(1, 10**6)),
        (np.int64(2), Fraction(2)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_a_number_means_its_shortest_decimal(value, number):
    assert rational("epsilon", value) == number == positive_rational("epsilon", value)


@pytest.mark.parametrize("value", [True, None, "", "x", "1e1000000", float("inf"), float("nan"), 10**400, [1]])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ParameterError, match=r"^epsilon must be "):
        rational("epsilon", value)
    with pytest.raises(ParameterError, match=r"^epsilon must be "):
        positive_rational("epsilon", value)


@pytest.mark.parametrize("value", [0, -1, "-1/3", 0.0])
def test_a_positive_number_is_above_zero(value):
    with pytest.raises(ParameterError, match=r"^epsilon must be > 0; got "):
        positive_rational("epsilon", value)


def test_a_number_is_shown_as_a_decimal_only_where_that_is_exact():
    assert show(Fraction(1, 10)) == "0.1"
    assert show(Fraction(1, 3)) == "1/3"
    assert Fraction(show(Fraction(7, 2**20))) == Fraction(7, 2**20)


FRAME = pd.DataFrame({"age": [30.0, np.nan, 50.0] * 20, "pulse": [60.0, 70.0, 80.0] * 20})
BY_NAME = {
    "mean, sd": lambda v: td.mean(FRAME, epsilon=1, bounds=(0, 200), sd=v, randomness=td.seeded(1)),
    "cube, fill": lambda v: td.cube(FRAME, epsilon=1, bounds=(0, 200), fill=v, randomness=td.seeded(1)),
    "boxem, resolution": lambda v: td.boxem(FRAME, epsilon=1, bounds=(0, 200), resolution=v, randomness=td.seeded(1)),
    "rem, resolution": lambda v: td.rem(FRAME, epsilon=9, delta="1e-3", resolution=v, randomness=td.seeded(1)),
    "gaussian, fill": lambda v: td.baselines.gaussian(
        FRAME, epsilon=1, delta="1e-6", bounds=(0, 200), fill=v, randomness=td.seeded(1)
    ),
    "plan, centre": lambda v: td.baselines.plan(
        FRAME, epsilon=1, delta="1e-6", radius=200, centre=v, randomness=td.seeded(1)
    ),
    "coinpress, deviation": lambda v: td.baselines.coinpress(
        FRAME, epsilon=1, delta="1e-6", bounds=(0, 200), deviation=v, randomness=td.seeded(1)
    ),
}


@pytest.mark.parametrize("call", BY_NAME)
def test_a_dict_by_column_name_is_the_list_in_the_columns_order(call):
    run = BY_NAME[call]
    listed, named, reverse = run([5, 20]), run({"pulse": 20, "age": 5}), run([20, 5])
    assert listed.to_dict() == named.to_dict()
    assert listed.to_dict() != reverse.to_dict()
    assert run({"age": 5, "pulse": 20, "weight": 3}).to_dict() == listed.to_dict()  # of another table of the study
    with pytest.raises(td.ParameterError, match="must name all columns; got none for 'pulse'"):
        run({"age": 5})


def test_a_rehearsal_takes_standard_deviations_by_name():
    release = td.cube(FRAME, epsilon=1, bounds=(0, 200), randomness=td.seeded(1))
    assert release.rehearse(sd={"pulse": 20, "age": 5}) == release.rehearse(sd=[5, 20])


@pytest.mark.parametrize("run", [td.boxem, td.cube, td.spread, td.mean])
def test_bounds_that_were_left_out_are_explained(run):
    with pytest.raises(td.ParameterError, match=r"bounds must be given: bounds=\(lower, upper\)"):
        run(FRAME, epsilon=1)
