"""Plans with groups: what `td.mean(by=...)` takes, by its own choice, and predictions that hold for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.forecast.options import meets
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.mechanisms.grouped_mean import GROUP_MECHANISMS

GAUSSIAN, EXPONENTIAL = SHAPES[0], SHAPES[2]
RELEASES = 5
# Monte Carlo error of medians and 95 % quantiles of 20 to 180 values, not independent; the seeds are fixed. A plan for
# sums in a range, where noise between wide bounds is released, is off by a factor of five.
SLACK, SLACK_95 = 1.3, 1.5


def named(plan, mechanism, estimand="mean"):
    return next(option for option in plan.options if (option.mechanism, option.estimand) == (mechanism, estimand))


def released(shape, n, d, groups, epsilon, width, sd, number):
    """What was taken, and the errors of all groups and columns in standard deviations."""
    lower, upper = -width / 3, 2 * width / 3
    x = np.clip(made_up(shape, n, d, 300 + number), lower, upper)
    by = np.random.default_rng(number).integers(0, groups, n)
    options = {"by": by, "keys": list(range(groups)), "sd": sd, "randomness": td.seeded(number)}
    found = td.mean(x, epsilon=epsilon, bounds=(lower, upper), **options)
    return found.mechanism, [np.abs(found[g].point - x[by == g].mean(axis=0)) for g in range(groups)]


CELLS = [
    (2000, 6, 4, 1, 100, None),
    (2000, 6, 4, 1, 100, 1),
    (2000, 6, 4, 1, 10, 1),
    (1000, 2, 2, 1, 10, None),
    (5000, 3, 12, 1, 100, None),
    (400, 2, 2, 1, 100, None),
]


@pytest.mark.parametrize("cell", CELLS)
def test_the_plan_recommends_what_is_taken_and_its_errors_hold(cell):
    n, d, groups, epsilon, width, sd = cell
    plan = td.plan(n=n, d=d, by=groups, epsilon=epsilon, bounds=(0, width), sd=sd)
    for shape in (GAUSSIAN, EXPONENTIAL):
        runs = [released(shape, *cell, i) for i in range(RELEASES)]
        assert {mechanism for mechanism, _ in runs} == {plan.recommended.mechanism}
        errors = np.concatenate([found for _, found in runs])
        # Without sd bounds are assumed to be 100 standard deviations wide, which errs on the safe side.
        assert np.median(errors) <= SLACK * plan.recommended.typical[1]
        assert np.quantile(errors, 0.95) <= SLACK_95 * plan.recommended.within_95[1]
        if width == 100 or sd is not None:
            assert np.median(errors) >= plan.recommended.typical[0] / SLACK
            assert np.quantile(errors, 0.95) >= plan.recommended.within_95[0] / SLACK_95


def test_an_old_theorem_would_be_noticed():
    """Depth with half of epsilon was promised where noise between the bounds was released: 0.34 at most, and 1.3."""
    noise = named(td.plan(n=2000, d=6, by=4, epsilon=1, bounds=(0, 100)), "cube")
    assert noise.typical[0] > SLACK * 0.34


@pytest.mark.parametrize("given", [{}, {"sd": 1}, {"sd": 1, "missing": 0.2}, {"bounds": (0, 1)}, {"bounds": (0, 10)}])
@pytest.mark.parametrize("n", [20, 300, 3000, 30_000])
def test_every_way_has_a_record_and_the_recommended_one_is_among_them(given, n):
    plan = td.plan(n=n, d=3, by=5, **{"bounds": (0, 100), **given})
    means = [option for option in plan.options if option.estimand == "mean"]
    assert [option.mechanism for option in means] == [name for name in GROUP_MECHANISMS if name != "auto"]
    assert plan.recommended in means
    assert all(option.epsilon == 1 for option in means)


def test_a_wish_is_kept_and_hardly_more():
    """The answer keeps the wish by the plan's own numbers; a tenth less of epsilon, or of the rows, does not."""
    given = {"d": 4, "bounds": (0, 50), "sd": 1, "by": 3}
    epsilon = td.plan(n=6000, error=0.3, **given)
    assert epsilon.solved == "epsilon"
    assert meets(epsilon.question, epsilon.recommended)
    less = td.plan(n=6000, epsilon=epsilon.epsilon * Fraction(9, 10), **given)
    assert not meets(epsilon.question, less.recommended)
    rows = td.plan(epsilon=1, error=0.3, **given)
    assert rows.solved == "rows"
    assert meets(rows.question, rows.recommended)
    fewer = td.plan(n=rows.n * 9 // 10, epsilon=1, **given)
    assert not meets(rows.question, fewer.recommended)


def test_more_groups_are_less_accurate_and_centres_are_those_of_a_group():
    two, eight = (td.plan(n=8000, d=2, by=groups, epsilon=1, bounds=(0, 100)) for groups in (2, 8))
    assert two.recommended.typical[1] < eight.recommended.typical[1]
    alone = td.plan(n=1000, d=2, bounds=(0, 100))
    assert named(eight, "boxem", "centre") == named(alone, "boxem", "centre")
    assert eight.sampling == alone.sampling


def test_words_are_about_groups():
    plan = td.plan(n=2000, d=6, by=4, epsilon=1, bounds=(0, 100))
    said = " ".join(str(plan).split())
    assert "td.mean with bounds, by and keys (tukeydp mean --by), which takes two-step" in said
    assert "All groups together cost epsilon once" in said
    assert "fewer groups" in said
    assert "not built" not in said


def test_groups_take_bounds():
    with pytest.raises(td.ParameterError, match="bounds must be given with by"):
        td.plan(n=2000, d=6, by=4, epsilon=1, delta=1e-6)
