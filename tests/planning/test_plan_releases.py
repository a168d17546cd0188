"""The forecast of what is released: a mean beside its interval, and a summary, have less than all of epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import tukeydp as td
from tukeydp.forecast.options import option_of_mean, option_of_summary

COLUMNS = {"a": (-50, 50), "b": (0, 100)}  # 100 standard deviations wide, as is assumed
RNG = np.random.default_rng(8)
ROWS = RNG.normal([0, 50], 1, size=(1000, 2))


def asked(n=1000, columns=COLUMNS, **more):
    return td.plan(n, columns=columns, epsilon=1, **more).question


def runs(release, truth, count=40):
    """Errors of seeded releases of a bell-shaped table."""
    return np.array([np.abs(release(td.seeded(seed)) - truth) for seed in range(count)])


def test_a_mean_beside_its_interval_has_the_forecast_of_its_share():
    option = option_of_mean(asked(), 1000, Fraction(1), "0.95")
    first = td.mean(ROWS, epsilon=1, bounds=([-50, 0], [50, 100]), confidence=0.95, randomness=td.seeded(0))
    assert option.mechanism == first.mechanism
    alone = td.plan(1000, columns=COLUMNS, epsilon=1).recommended
    assert option.within_95[1] > 2 * alone.within_95[1]  # the forecast of a mean alone would promise far too much
    assert option_of_mean(asked(), 1000, Fraction(1)) == alone
    known = option_of_mean(asked(sd={"a": 1, "b": 1}), 1000, Fraction(1), "0.95")
    assert known.mechanism == "two-step"


def test_few_rows_have_a_forecast_too():
    assert option_of_mean(asked(20), 20, Fraction(1), "0.95").mechanism == "cube"
    assert option_of_summary(asked(20), 20, Fraction(1)).mechanism == "cube"


def test_means_of_groups_in_a_summary_are_as_far_off_as_forecast():
    """Medians of 480 errors; the forecast is a pair, since the number of values is noised too.

    They scatter by about 6 %, and one plan for all lines is a little closer than forecast: a quarter is allowed
    below, a tenth above, and the control is ten times off.
    """
    by = np.arange(1000) % 4
    truth = np.array([ROWS[by == g].mean(axis=0) for g in range(4)])
    question = asked(by=4)

    def release(randomness):
        found = td.summary(ROWS, by=by.astype(str), keys=list("0123"), epsilon=1,
                           bounds=([-50, 0], [50, 100]), confidence=None, randomness=randomness)  # fmt: skip
        means = {(line.group, line.column): line.mean for line in found.lines}
        return np.array([[means[g, c] for c in found.columns] for g in "0123"])

    errors = runs(release, truth, 60)
    option = option_of_summary(question, 1000, Fraction(1), grouped=True)
    low, high = option.typical
    assert 0.75 * low < np.median(errors) < 1.1 * high
    assert option_of_summary(question, 10_000, Fraction(1), grouped=True).typical[1] < 0.9 * np.median(errors)


def test_a_summary_without_groups_has_the_forecast_of_every_column():
    mixed = {"a": (-50, 50), "yes": (0, 1)}
    option = option_of_summary(asked(columns=mixed), 1000, Fraction(1))
    assert [column.column for column in option.columns] == ["a", "yes"]
    rows = np.column_stack([ROWS[:, 0], RNG.random(1000) < 0.4])
    found = td.summary(rows, epsilon=1, bounds=([-50, 0], [50, 1]), randomness=td.seeded(1))
    assert option.mechanism == found.mechanism
    assert option.within_95[1] == max(column.within_95[1] for column in option.columns)
