"""REM's plan: threshold and split of epsilon, from public values alone."""

from __future__ import annotations

import inspect
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.mechanisms import rem_choice as choice
from tukeydp.mechanisms.rem_choice import chosen_plan, paper_plan
from tukeydp.trusted.rem.evidence import Plan

# n, d, epsilon, delta, and what was chosen: threshold, part of epsilon for the test, swaps.
FROZEN = [
    (1, 1, "1", "1e-6", 1, "1/10", 0),
    (7, 2, "10", "1/2", 3, "1/10", 2),
    (100, 1, "1", "1e-6", 18, "3/8", 17),
    (1000, 1, "1", "1e-6", 99, "1/5", 95),
    (300, 2, "1", "1e-6", 42, "3/8", 41),
    (1000, 2, "1/2", "1e-6", 125, "3/10", 124),
    (10000, 2, "1/10", "1e-8", 1233, "1/5", 1172),
    (1000, 3, "1", "1e-6", 99, "1/5", 95),
    (5000, 3, "1/4", "1e-9", 558, "1/5", 515),
    (1000, 5, "1", "1e-6", 99, "1/5", 95),
    (2000, 5, "2", "1e-6", 99, "1/10", 95),
    (1000000, 10, "1/10", "1e-12", 4110, "1/10", 3264),
    (400, 2, "1/1000", "1e-300", 88, "11/20", 87),
    (400, 2, "10000", "9/10", 8, "1/10", 1),
]


def log_strength(d: int, plan: Plan) -> float:
    """What the graded test makes of the Gaussian reference table, as a logarithm."""
    return choice._log_strength(
        choice._gaussian(plan.n, d), plan.n, plan.threshold, float(plan.test), float(plan.release), float(plan.delta)
    )


def assert_sound(plan: Plan, n: int, epsilon: Fraction, delta: Fraction) -> None:
    assert 1 <= plan.threshold <= n
    assert 0 <= plan.swaps < plan.threshold
    assert plan.n == n
    assert plan.delta == delta
    assert min(plan.test, plan.release) > 0
    assert isinstance(plan.test, Fraction)
    assert plan.offsets[0] == 0
    assert list(plan.offsets) == sorted(set(plan.offsets))
    assert plan.test + plan.release <= epsilon


@pytest.mark.parametrize("case", FROZEN, ids=lambda case: f"n{case[0]}d{case[1]}e{case[2]}")
def test_frozen_plans(case):
    n, d, epsilon, delta, threshold, part, swaps = case
    plan = chosen_plan(n, d, Fraction(epsilon), Fraction(delta), None)
    assert (plan.threshold, plan.test / plan.epsilon, plan.swaps) == (threshold, Fraction(part), swaps)


def test_a_plan_sees_no_data():
    """Public values are all that it takes, and two tables of one size have one plan."""
    assert list(inspect.signature(chosen_plan).parameters) == ["n", "d", "epsilon", "delta", "threshold", "neighbours"]
    assert list(inspect.signature(paper_plan).parameters) == ["n", "epsilon", "delta", "threshold"]
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(300, 2)), rng.standard_cauchy(size=(300, 2)) * 1e5, np.zeros((300, 2)), [[0, 1]] * 300]
    runs = [td.rem(x, epsilon=1, delta=1e-6, check=False, randomness=td.seeded(i)) for i, x in enumerate(tables)]
    assert len({tuple(sorted(run.settings.items())) for run in runs}) == 1
    assert runs[0].settings["threshold"] == 42


@given(
    st.integers(1, 3000),
    st.integers(1, 8),
    st.fractions(Fraction(1, 1000), 100, max_denominator=10**6),
    st.fractions(Fraction(1, 10**12), Fraction(99, 100)),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_the_split_adds_up_to_epsilon_exactly(n, d, epsilon, delta, given_threshold):
    threshold = 1 + n // 3 if given_threshold else None
    plan = chosen_plan(n, d, epsilon, delta, threshold)
    assert_sound(plan, n, epsilon, delta)
    assert plan.test + plan.release == plan.epsilon == epsilon
    assert plan.threshold == threshold or threshold is None
    paper = paper_plan(n, epsilon, delta, threshold)
    assert_sound(paper, n, epsilon, delta)
    assert (paper.test, paper.release) == (epsilon / 4, epsilon / 2)


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_twice_the_rows_are_never_worse(d, epsilon):
    """The Gaussian reference passes with a chance that does not fall, up to where it is all but certain (0.99999)."""
    plans = [chosen_plan(50 * 2**k, d, Fraction(epsilon), Fraction(1, 10**6), None) for k in range(7)]
    strengths = [min(choice._SAFE, log_strength(d, plan)) for plan in plans]
    for fewer, more in pairwise(strengths):
        assert more >= fewer
    assert strengths[0] < 0 < choice._SAFE == strengths[-1]


@pytest.mark.parametrize("plan", [chosen_plan, lambda n, d, *rest: paper_plan(n, *rest)], ids=["chosen", "paper"])
@pytest.mark.parametrize("n", [1, 2, 400])
@pytest.mark.parametrize("d", [1, 12])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(10_000)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**300), 1 - Fraction(1, 10**9)])
def test_extreme_values_have_a_plan(plan, n, d, epsilon, delta):
    assert_sound(plan(n, d, epsilon, delta, None), n, epsilon, delta)


@pytest.mark.parametrize("plan", [chosen_plan, lambda n, d, *rest: paper_plan(n, *rest)], ids=["chosen", "paper"])
@pytest.mark.parametrize(
    ("name", "epsilon", "delta"),
    [
        ("epsilon", Fraction(999, 10**6), Fraction(1, 10**6)),
        ("epsilon", Fraction(1, 10**300), Fraction(1, 10**6)),
        ("epsilon", Fraction(10_001), Fraction(1, 10**6)),
        ("epsilon", Fraction(10**300), Fraction(1, 10**6)),
        ("delta", Fraction(1), Fraction(1, 10**301)),
        ("delta", Fraction(1), Fraction(1, 10**400)),
    ],
)
def test_values_beyond_the_extremes_are_refused_by_name(plan, name, epsilon, delta):
    with pytest.raises(td.ParameterError) as caught:
        plan(400, 2, epsilon, delta, None)
    assert caught.value.parameter == name
