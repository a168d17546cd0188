"""The noised means as their users meet them, one contract for all."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kstest, norm

import tukeydp as td
from support.fit import FALSE_ALARM
from tukeydp.baselines import coinpress
from tukeydp.baselines.coinpress import shares
from tukeydp.baselines.noise import Noise

ALL = [
    td.baselines.gaussian,
    td.baselines.analytic_gaussian,
    td.baselines.coinpress,
    td.baselines.huang_liang_yi,
    td.baselines.plan,
]
EPSILON, DELTA = 1, "1e-6"


def call(mechanism, x, **parameters):
    parameters = {"epsilon": EPSILON, "delta": DELTA, "bounds": (-10, 10), **parameters}
    return mechanism(x, **{k: v for k, v in parameters.items() if v is not None})


def table(n=400, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def variance_alarm(z, sd):
    statistic = (z**2).sum() / sd**2
    return 2 * min(chi2.cdf(statistic, z.size), chi2.sf(statistic, z.size))


@pytest.mark.parametrize(
    ("mechanism", "multiplier"),
    [(td.baselines.gaussian, math.sqrt(2 * math.log(1.25e6))), (td.baselines.analytic_gaussian, 4.22468)],
)
@pytest.mark.parametrize("place", [{"radius": 10}, {"bounds": ([-10] * 50, [10] * 50)}])
def test_the_noise_is_gaussian_and_as_large_as_the_formula_says(mechanism, multiplier, place):
    x = table(40, 50)
    source = td.seeded(1)
    errors = np.array(
        [call(mechanism, x, **{"bounds": None, **place}, randomness=source).point for _ in range(60)]
    ).ravel() - np.tile(x.mean(axis=0), 60)
    diameter = 2 * 10 * (1 if "radius" in place else math.sqrt(50))
    sd = multiplier * diameter / 40
    assert variance_alarm(errors, sd) > FALSE_ALARM
    assert variance_alarm(errors, sd * 1.12) < FALSE_ALARM
    assert kstest(errors / sd, norm.cdf).pvalue > FALSE_ALARM


def test_coinpress_ends_with_the_noise_of_its_last_ball():
    """Rows that are all one point are never clipped, so what is left is the noise of the last step."""
    n, d = 2000, 30
    source = td.seeded(2)
    releases = [call(coinpress, np.full((n, d), 3.0), radius=30, bounds=None, randomness=source) for _ in range(60)]
    errors = np.array([r.point for r in releases]).ravel() - 3.0
    # By the recursion, in floats and independently: multiplier 4.22468, tail 0.01, three steps or however many.
    gamma = math.sqrt(d + 2 * math.sqrt(d * math.log(100)) + 2 * math.log(100))
    least = math.inf
    for steps in range(1, 13):
        budget = [1] if steps == 1 else [0.25 / (steps - 1)] * (steps - 1) + [0.75]
        r = 30.0
        for share in budget:
            tau = min(math.sqrt(r * r + 6 * r + gamma * gamma), r + gamma)
            sd = 4.22468 * 2 * tau / n / math.sqrt(share)
            r = gamma * math.sqrt(1 / n + sd * sd)
        least = min(least, sd)
    assert variance_alarm(errors, least) > FALSE_ALARM
    assert variance_alarm(errors, least * 1.12) < FALSE_ALARM
    assert releases[0].expected_error.within_95[0] == pytest.approx(1.96 * least, rel=0.05)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 100])
def test_coinpress_shares_add_up_exactly(steps):
    budget = shares(steps)
    assert len(budget) == steps
    assert sum(budget) == 1
    assert budget[-1] == (1 if steps == 1 else Fraction(3, 4))


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize("d", [1, 4])
def test_the_budget_is_spent_exactly_and_every_step_is_counted(mechanism, d, monkeypatch):
    """Over all steps, the sum of sensitivity^2 / deviation^2 is at most 1/multiplier^2, in rationals."""
    spent, made = [], []

    class Watched(Noise):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            made.append(self)

        def add(self, values, *, squared_sensitivity, share):
            shift, deviation = self._scale(squared_sensitivity, share)
            spent.append(Fraction(squared_sensitivity * 4**shift, deviation**2))
            return super().add(values, squared_sensitivity=squared_sensitivity, share=share)

    import sys

    monkeypatch.setattr(sys.modules[mechanism.__module__], "Noise", Watched)
    call(mechanism, table(200, d), randomness=td.seeded(1))
    assert len(made) == 1
    assert made[0].spent == 1
    assert sum(spent) <= 1 / made[0].deviation ** 2
    assert sum(spent) >= 1 / made[0].deviation ** 2 * Fraction(999, 1000)


@pytest.mark.parametrize("mechanism", ALL)
def test_the_release_says_what_is_public_and_nothing_else(mechanism):
    x = table()
    before = x.copy()
    release = call(mechanism, x)
    assert (x == before).all()
    assert release.released
    assert release.private
    assert release.point.shape == (3,)
    assert release.guarantee == td.ApproxDP("1", "1e-6")
    public = json.loads(json.dumps(release.to_dict()))
    other = json.loads(json.dumps(call(mechanism, x * np.nan).to_dict()))
    assert {k: v for k, v in public.items() if k != "point"} == {k: v for k, v in other.items() if k != "point"}
    assert public["expected_error"]["typical"][0] > 0
    assert any("floating-point" in caveat for caveat in release.caveats)
    assert pickle.loads(pickle.dumps(release)).to_dict() == release.to_dict()


@pytest.mark.parametrize("mechanism", ALL)
def test_seeds_repeat_and_mark_the_release(mechanism):
    x = table()
    a, b, c = (call(mechanism, x, randomness=td.seeded(seed)).point.tolist() for seed in (7, 7, 8))
    assert a == b != c
    assert not call(mechanism, x, randomness=td.seeded(7)).private
    assert call(mechanism, x).point.tolist() != call(mechanism, x).point.tolist()


@pytest.mark.parametrize("mechanism", ALL)
def test_no_cell_raises_warns_or_breaks_the_result(mechanism):
    odd = [
        [[math.nan, 1.0]] * 5,
        [[math.inf, -math.inf], [1e308, -1e308], [5e-324, 0]],
        [["many", None], ["1.5", "2"], [True, "-inf"]],
        [[10**400, 2], [1, -(10**400)]],
        [[0.0, 0.0]],
        [[1e300, 1e300]] * 3,
    ]
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for x in odd:
            for place in ({}, {"bounds": None, "radius": "1e-90"}, {"bounds": (-(10**99), [1, "1e-50"])}):
                assert np.isfinite(call(mechanism, x, **place).point).all()


@pytest.mark.parametrize("mechanism", ALL)
def test_a_few_missing_rows_hardly_matter(mechanism):
    x = table(4000, 2)
    gaps = x.copy()
    gaps[:40, 1] = math.nan
    a, b = (call(mechanism, v, randomness=td.seeded(3)).point for v in (x, gaps))
    assert np.abs(a - b).max() < 0.15


@pytest.mark.parametrize("mechanism", ALL)
def test_the_caveats_say_where_missing_cells_count(mechanism):
    plain = [note for note in call(mechanism, table(), randomness=td.seeded(1)).caveats if "missing" in note]
    assert len(plain) == 1
    assert "counts at the" in plain[0]
    release = call(mechanism, table(), fill=0, randomness=td.seeded(1))
    assert [note for note in release.caveats if "missing" in note] == [
        "A missing or unreadable cell counts as the public fill value; how many there are stays secret."
    ]
    assert release.to_dict()["settings"] == {"fill": [0, 0, 0]}


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize("place", [{}, {"bounds": None, "radius": 10}])
def test_a_fill_value_takes_the_place_of_missing_cells_only(mechanism, place):
    """The release is that of the table with the value written in, and without gaps that of the table itself."""
    x = table(400, 2) + 4
    gaps, written = x.copy(), x.copy()
    gaps[::3, 1], written[::3, 1] = math.nan, 5.5
    a, b = (
        call(mechanism, v, **place, **fill, randomness=td.seeded(3)).point
        for v, fill in ((gaps, {"fill": [0, 5.5]}), (written, {}))
    )
    assert (a == b).all()
    c, d = (call(mechanism, x, **place, **fill, randomness=td.seeded(3)).point for fill in ({"fill": 1}, {}))
    assert (c == d).all()
    # The control: without the value, the same gaps lead elsewhere.
    assert (call(mechanism, gaps, **place, randomness=td.seeded(3)).point != a).any()


@pytest.mark.parametrize("mechanism", ALL)
def test_bounds_by_column_name_are_the_same_bounds(mechanism):
    x = pd.DataFrame(table(200, 2), columns=["a", "b"])
    a, b = (
        call(mechanism, x, bounds=bounds, randomness=td.seeded(3)).point
        for bounds in (([-9, -5], [9, 50]), {"b": (-5, 50), "a": (-9, 9)})
    )
    assert (a == b).all()


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize("epsilon", ["1e-9", "0.5", "150", "1e6", "1e300"])
def test_any_epsilon_and_any_delta(mechanism, epsilon):
    if mechanism is td.baselines.gaussian and float(epsilon) > 1:
        return
    x = table(300, 2)
    for delta in ("1e-25", "0.2"):
        point = call(mechanism, x, epsilon=epsilon, delta=delta, randomness=td.seeded(1)).point
        assert np.isfinite(point).all()
        if float(epsilon) >= 1e6:
            assert np.abs(point - x.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("mechanism", [td.baselines.huang_liang_yi, td.baselines.plan])
def test_wide_bounds_hardly_matter_to_those_that_search(mechanism):
    """Columns of spread 1 and 20 far from the middle of very wide bounds: errors are a few hundredths of a spread."""
    spread = np.array([1.0, 20.0])
    x = table(4000, 2) * spread + [300, -2000]
    source = td.seeded(5)
    points = np.array([call(mechanism, x, bounds=(-(10**6), 10**6), randomness=source).point for _ in range(20)])
    errors = np.abs(points - x.mean(axis=0)).mean(axis=0)
    assert (errors < [0.6, 0.6]).all()
    # The control: the plain noised mean is nowhere near.
    plain = call(td.baselines.analytic_gaussian, x, bounds=(-(10**6), 10**6), randomness=source).point
    assert np.abs(plain - x.mean(axis=0)).max() > 100


def test_a_column_of_mostly_equal_values_throws_no_other_off():
    """Seven tenths are 0: its spread is found to be nothing. Scaled by that alone it put the others 30 sd off."""
    x = table(5000, 4)
    x[:, 0] = np.random.default_rng(1).random(len(x)) < 0.3
    bounds = np.array([0.0, -30, -30, -30]), np.array([1.0, 30, 30, 30])
    source = td.seeded(5)
    points = np.array([call(td.baselines.plan, x, bounds=bounds, randomness=source).point for _ in range(10)])
    assert (np.abs(points - x.mean(axis=0)).mean(axis=0) < 0.5).all()


def test_plan_is_the_better_one_where_spreads_differ():
    x = table(4000, 5) * [1, 1, 1, 1, 300]
    source = td.seeded(6)

    def error_in_the_narrow_columns(mechanism):
        points = np.array([call(mechanism, x, bounds=(-(10**4), 10**4), randomness=source).point for _ in range(15)])
        return np.abs(points - x.mean(axis=0))[:, :4].mean()

    narrow = error_in_the_narrow_columns(td.baselines.plan)
    assert narrow < error_in_the_narrow_columns(td.baselines.huang_liang_yi) / 1.5


def test_the_unit_of_a_column_does_not_matter_to_plan():
    """Powers of two, so that floats scale exactly: with its bounds scaled alike, a column's release is scaled and no
    other column's moves. The control: a column scaled within the same bounds is another table."""
    x = np.random.default_rng(8).normal(loc=(1, -2, 30), scale=(1, 0.1, 7), size=(1000, 3))
    x[::9, 1] = math.nan
    lower, upper = np.array([-20.0, -4, 0]), np.array([20.0, 4, 256])
    before = call(td.baselines.plan, x, bounds=(lower, upper), randomness=td.seeded(9)).point
    for exponents in ((20, 0, 0), (-30, 17, 1), (0, 0, -40)):
        unit = 2.0 ** np.array(exponents)
        bounds = (lower * unit, upper * unit)
        assert (call(td.baselines.plan, x * unit, bounds=bounds, randomness=td.seeded(9)).point == before * unit).all()
    narrow = x * [1, 1, 2.0**-6]
    assert (
        call(td.baselines.plan, narrow, bounds=(lower, upper), randomness=td.seeded(9)).point[:2] != before[:2]
    ).all()


def test_plan_serves_columns_of_unlike_unit_alike():
    """One column in units a million times smaller: its neighbours keep their accuracy, here below 0.05 of a spread."""
    unit = np.array([1, 1, 1e6])
    x = table(4000, 3) * unit
    source, errors = td.seeded(7), []
    for _ in range(15):
        release = call(td.baselines.plan, x, bounds=(-10 * unit, 10 * unit), randomness=source)
        errors.append(np.abs(release.point - x.mean(axis=0)) / unit)
    assert (np.mean(errors, axis=0) < 0.05).all()


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": "many"}, "delta"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"bounds": (0, 1e200)}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"radius": 3}, "bounds"),
        ({"centre": 3}, "centre"),
        ({"bounds": None, "radius": -1}, "radius"),
        ({"bounds": None, "radius": 1e-200}, "radius"),
        ({"bounds": None, "radius": 1, "centre": (1, 2, 3)}, "centre"),
        ({"bounds": None, "radius": 1, "centre": 1e200}, "centre"),
        ({"fill": 11}, "fill"),
        ({"fill": (0, math.nan)}, "fill"),
        ({"fill": (1, 2, 3)}, "fill"),
        ({"bounds": [(0, 1), (5, 6)]}, "bounds"),
        ({"bounds": {"a": (0, 1), "b": (0, 1)}}, "bounds"),
        ({"randomness": 7}, "randomness"),
        ({"x": [[1, 2], [3]]}, "x"),
    ],
)
def test_bad_parameters_are_named_with_rule_and_value(mechanism, arguments, word):
    parameters = {"x": [[1.0, 2.0]], **arguments}
    source, untouched = td.seeded(7), td.seeded(7)
    with pytest.raises(td.ParameterError, match=f"^{word}.* must .*; got "):
        call(mechanism, parameters.pop("x"), **{"randomness": source, **parameters})
    assert source.key() == untouched.key()


@pytest.mark.parametrize("arguments", [{"steps": 0}, {"steps": 1.5}, {"steps": 101}, {"deviation": 0}, {"steps": True}])
def test_bad_parameters_of_coinpress(arguments):
    with pytest.raises(td.ParameterError, match=f"^{next(iter(arguments))} must .*; got "):
        call(coinpress, [[1.0, 2.0]], **arguments)


def test_coinpress_that_spreads_instead_of_shrinking_still_returns():
    """Three rows and a hundred steps: each ball is larger than the one before."""
    assert np.isfinite(call(coinpress, table(3, 2), epsilon="0.001", steps=100).point).all()


def test_deviations_scale_coinpress_with_its_columns():
    x = table(3000, 2)
    scale = np.array([1, 1000])
    a = call(coinpress, x, bounds=(-50, 50), randomness=td.seeded(1)).point
    wide = ([-50, -50_000], [50, 50_000])
    b = call(coinpress, x * scale, bounds=wide, deviation=(1, 1000), randomness=td.seeded(1)).point
    assert b / scale == pytest.approx(a, abs=1e-6)


@pytest.mark.parametrize("mechanism", ALL)
def test_the_expected_error_is_what_happens_where_its_assumption_holds(mechanism):
    """Gaussian columns of known deviation: the median of 90 values (standard error 12 percent), within 40 percent."""
    source, errors = td.seeded(4), []
    for i in range(30):
        x = table(1500, 3, seed=i)
        release = call(mechanism, x, randomness=source)
        errors.append(release.point - x.mean(axis=0))
    claimed = release.rehearse(sd=1).shapes[0].typical
    assert np.median(np.abs(errors)) == pytest.approx(claimed, rel=0.4)
    assert call(mechanism, table(60_000, 3)).rehearse(sd=1).shapes[0].typical < claimed / 20
