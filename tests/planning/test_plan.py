"""Plans: what they recommend, predict and solve for; from public numbers only."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.forecast.options import chance_of_refusal, keeps, meets, recommended_mean
from tukeydp.forecast.plan_words import meaning
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.mechanisms.mean_ways import mean_plan
from tukeydp.trusted.rows import bounded_columns

PATIENTS = {"systolic": (60, 240), "pulse": (30, 200)}
GAUSSIAN, LOG_NORMAL = SHAPES[0], SHAPES[3]


def named(plan, mechanism, estimand="mean"):
    (option,) = (o for o in plan.options if (o.mechanism, o.estimand) == (mechanism, estimand))
    return option


@pytest.mark.parametrize("n", [40, 300, 2000, 20_000])
@pytest.mark.parametrize("d", [1, 10])
@pytest.mark.parametrize(("bounds", "sd"), [((0, 1), None), ((0, 100), None), ((0, 100), 20), ((0, 100), 0.5)])
def test_the_recommended_mechanism_is_the_one_that_auto_takes(n, d, bounds, sd):
    """The plan of `td.mean` itself, made on the way to its release; nothing is drawn."""
    for epsilon in (Fraction(1, 5), Fraction(1), Fraction(4)):
        taken = mean_plan(n, bounded_columns(d, bounds), epsilon, sd=sd).mechanism
        plan = td.plan(n=n, d=d, epsilon=epsilon, bounds=bounds, sd=sd)
        assert plan.recommended.mechanism == taken
        assert named(plan, taken) == plan.recommended
        assert plan.recommended.possible


@pytest.mark.parametrize(("n", "options"), [(300, {}), (300, {"sd": [15, 12]}), (100, {"epsilon": "0.3"})])
def test_a_release_ran_what_the_plan_recommended(n, options):
    options = {"epsilon": 1, **options}
    release = td.mean(np.zeros((n, 2)), bounds=([60, 30], [240, 200]), randomness=td.seeded(1), **options)
    assert td.plan(n=n, columns=PATIENTS, **options).recommended.mechanism == release.mechanism
    without = td.mean(np.zeros((n, 2)), epsilon=1, delta=1e-6, randomness=td.seeded(1))
    assert td.plan(n=n, d=2, epsilon=1, delta=1e-6).recommended.mechanism == without.mechanism == "rem"


CELLS = [
    (300, 2, "1", "subset", GAUSSIAN),
    (300, 3, "4", "subset", LOG_NORMAL),
    (200, 3, "1", "cube", LOG_NORMAL),
    (300, 1, "1", "boxem", GAUSSIAN),
    (1000, 2, "1", "boxem", LOG_NORMAL),
    pytest.param(1000, 1, "0.5", "subset", GAUSSIAN, marks=pytest.mark.slow),
    pytest.param(4000, 3, "1", "two-step", LOG_NORMAL, marks=pytest.mark.slow),
]


def simulated(n, d, epsilon, mechanism, shape):
    """Median and 95 % quantile of 60 values and more, from fresh tables."""
    found = []
    for i in range(math.ceil((600 if mechanism == "cube" else 60) / d)):
        x = np.clip(made_up(shape, n, d, 900 + i), -50, 50)
        options = {"epsilon": epsilon, "bounds": (-50, 50), "randomness": td.seeded(i)}
        if mechanism == "boxem":
            found.append(td.boxem(x, **options).point - np.median(x, axis=0))
        else:
            found.append(td.mean(x, mechanism=mechanism, **options).point - x.mean(axis=0))
    return [float(np.quantile(np.abs(found), share)) for share in (0.5, 0.95)]


@pytest.mark.parametrize(("n", "d", "epsilon", "mechanism", "shape"), CELLS)
def test_predictions_hold_for_simulated_releases(n, d, epsilon, mechanism, shape):
    """Fixed seeds; medians of so many values are good to 15 percent, 95 % quantiles to 25: that much is allowed."""
    estimand = "centre" if mechanism == "boxem" else "mean"
    values = simulated(n, d, epsilon, mechanism, shape)

    def holds(plan):
        option = named(plan, mechanism, estimand)
        ranges = zip((option.typical, option.within_95), values, (1.15, 1.25), strict=True)
        return all(low / slack <= value <= high * slack for (low, high), value, slack in ranges)

    assert holds(td.plan(n=n, d=d, epsilon=epsilon, bounds=(0, 100)))
    # Control: a plan for 30 times the rows promises too much, whatever the mechanism and the shape ...
    if shape is GAUSSIAN or mechanism != "boxem":
        assert not holds(td.plan(n=30 * n, d=d, epsilon=epsilon, bounds=(0, 100)))
    # ... and one for a table over the cliff, or of a tenth of the rows, too little.
    few = named(td.plan(n=max(2, n // 10), d=d, epsilon=epsilon, bounds=(0, 100)), mechanism, estimand)
    assert not few.possible or few.within_95[1] > 2 * values[1]


def test_cube_noise_is_predicted_as_its_own_forecast_says():
    release = td.cube(np.zeros((500, 2)), epsilon=1, bounds=([0, 0], [100, 1]), randomness=td.seeded(1))
    plan = td.plan(n=500, d=2, epsilon=1, bounds=([0, 0], [100, 1]))
    for column, own in zip(named(plan, "cube").columns, release.expected_error.columns, strict=True):
        assert column.typical_in_units == own.typical
        assert column.within_95_in_units == own.within_95


def test_gaussian_noise_is_predicted_as_its_own_forecast_says():
    options = {"epsilon": 1, "delta": 1e-6, "bounds": ([0, 0], [100, 5])}
    release = td.baselines.analytic_gaussian(np.zeros((500, 2)), randomness=td.seeded(1), **options)
    plan = td.plan(n=500, d=2, **options)
    for column, own in zip(named(plan, "analytic-gaussian").columns, release.expected_error.columns, strict=True):
        assert column.typical_in_units == pytest.approx(own.typical, rel=0.02)
        assert column.within_95_in_units == pytest.approx(own.within_95, rel=0.02)


QUESTIONS = [
    {"d": 2, "bounds": (0, 100)},
    {"d": 5, "bounds": (0, 1)},
    {"d": 1, "bounds": (0, 100), "sd": 10},
    {"d": 3, "delta": 1e-6},
    {"d": 10, "delta": 1e-6},
    {"d": 2, "bounds": (0, 100), "missing": 0.2},
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_epsilon_found_keeps_the_error_and_a_little_less_does_not(question):
    epsilons = []
    for error in (0.3, 0.15, 0.07):
        plan = td.plan(n=2000, error=error, **question)
        assert plan.solved == "epsilon"
        assert meets(plan.question, plan.recommended)
        forward = td.plan(n=2000, epsilon=plan.epsilon, **question)
        assert forward.recommended == plan.recommended
        assert forward.recommended.within_95[1] <= error
        assert not keeps(plan.question, 2000, plan.epsilon * Fraction(9, 10))
        epsilons.append(plan.epsilon)
    assert epsilons == sorted(epsilons)
    assert epsilons[0] < epsilons[-1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_rows_found_keep_the_error_and_a_few_less_do_not(question):
    rows = []
    for error in (0.3, 0.15, 0.07):
        plan = td.plan(epsilon=1, error=error, **question)
        assert plan.solved == "rows"
        forward = td.plan(n=plan.n, epsilon=1, **question)
        assert forward.recommended == plan.recommended
        assert forward.recommended.within_95[1] <= error
        assert not keeps(plan.question, plan.n * 9 // 10, Fraction(1))
        rows.append(plan.n)
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_larger_epsilon_than_the_one_found_keeps_the_error_too(question):
    plan = td.plan(n=2000, error=0.15, **question)
    for factor in (1, 2, 3, 5):
        if plan.epsilon * factor <= 10:
            # Three digits' worth of slack: predictions are rounded to two.
            within = recommended_mean(plan.question, 2000, plan.epsilon * factor).within_95
            assert within[1] <= 0.15 * 1.05, factor


def test_an_error_in_units_is_kept_in_units():
    plan = td.plan(n=300, columns=PATIENTS, sd={"systolic": 15, "pulse": 12}, error={"systolic": 2})
    systolic = plan.recommended.columns[0]
    assert systolic.column == "systolic"
    assert systolic.within_95_in_units[1] <= 2
    # The same wish in standard deviations, of every column: at least as strict.
    assert td.plan(n=300, columns=PATIENTS, sd=[15, 12], error=2 / 15).epsilon >= plan.epsilon
    assert td.plan(n=300, columns=PATIENTS, sd=[15, 12], error={"systolic": 20}).epsilon < plan.epsilon


def test_what_epsilon_means():
    for epsilon, percent in ((1, 73), (Fraction(1, 10), 52), (2, 88), (5, 99), (40, 100)):
        assert f"at most {percent}" in meaning(Fraction(epsilon)), epsilon


def test_refusals_are_predicted_where_rem_refuses():
    """Ten runs on each side of the limit of two bell-shaped columns."""
    for n, refuses in ((150, True), (300, False)):
        bell, skewed = chance_of_refusal(n, 2, 1.0, 1e-6)
        assert (bell > 0.9) if refuses else (skewed < 0.02)
        runs = [td.rem(made_up(GAUSSIAN, n, 2, i), epsilon=1, delta=1e-6, randomness=td.seeded(i)) for i in range(10)]
        assert all(run.released != refuses for run in runs)
    option = named(td.plan(n=150, d=2, epsilon=1, delta=1e-6), "rem", "centre")
    assert (option.possible, option.why_not) == (False, "too few rows: it would refuse")


def test_depth_over_the_cliff_is_no_option():
    plan = td.plan(n=100, d=5, epsilon=1, bounds=(0, 1000), sd=1)
    assert not named(plan, "boxem", "centre").possible
    assert not named(plan, "subset").possible
    assert plan.recommended.mechanism == "cube"
    assert "too few for depth" in plan.recommendation
    assert "Expect little" in plan.recommendation
    near = td.plan(n=150, d=5, epsilon=1, bounds=(0, 30), sd=1)
    assert named(near, "boxem", "centre").widest == pytest.approx(41, rel=0.05)


def simulated_quartiles(n, d, epsilon, shape):
    """Half within, 95 of 100 within, and the share of releases far off: the mechanism itself, bounds 100 sd wide."""
    sizes = []
    for i in range(20):
        x = made_up(shape, n, d, 900 + i)
        found = td.quantiles(x, epsilon=epsilon, bounds=(-50, 50), randomness=td.seeded(i))
        sizes.append(np.abs(found.values_by_share - np.quantile(x, [0.25, 0.5, 0.75], axis=0)))
    table = np.array(sizes)
    return *np.quantile(table, [0.5, 0.95]), (table > 3).any(axis=(1, 2)).mean()


@pytest.mark.parametrize(("n", "d", "epsilon"), [(300, 1, 1), (900, 2, 1), (2000, 1, Fraction(1, 4))])
def test_quartiles_are_predicted_as_they_come_out(n, d, epsilon):
    option = named(td.plan(n=n, d=d, epsilon=epsilon, bounds=(-50, 50), sd=1), "quantiles", "quartiles")
    assert option.possible
    for shape in (GAUSSIAN, LOG_NORMAL):
        half, most, far = simulated_quartiles(n, d, epsilon, shape)
        # A median of 60 values is good to a quarter, and a level that cuts ties has 7/8 of its weight.
        assert option.typical[0] / 1.4 < half < 1.6 * option.typical[1]
        assert option.within_95[0] / 1.6 < most < 1.6 * option.within_95[1]
        assert far == 0
    assert not option.typical[0] / 1.4 < 10 * half < 1.4 * option.typical[1]  # the control


def test_quartiles_over_the_cliff_are_no_option():
    """100 rows between bounds 100 standard deviations wide: lost more often than not, and 5 % are too often."""
    assert simulated_quartiles(100, 1, 1, GAUSSIAN)[2] > 0.2
    option = named(td.plan(n=100, d=1, epsilon=1, bounds=(0, 100)), "quantiles", "quartiles")
    assert (option.possible, option.why_not) == (False, "too few rows")
    near = named(td.plan(n=200, d=1, epsilon=1, bounds=(0, 100)), "quantiles", "quartiles")
    assert near.widest == pytest.approx(1700, rel=0.05)
    assert near.far < 0.01
    text = str(td.plan(n=200, d=1, epsilon=1, bounds=(0, 100)))
    assert "quartiles\n  quantiles" in text
    assert "quantiles where many values are equal" in " ".join(text.split())
    # Without bounds, and in groups, there are none.
    for options in ({"delta": 1e-6}, {"bounds": (0, 100), "by": 2}):
        assert all(o.estimand != "quartiles" for o in td.plan(n=2000, d=1, epsilon=1, **options).options)


def test_missing_cells_cost_centres_more_than_means():
    whole, gaps = (td.plan(n=600, d=5, epsilon=1, bounds=(0, 100), missing=share) for share in (None, 0.2))
    ratios = [
        named(gaps, *name).typical[0] / named(whole, *name).typical[0]
        for name in (("subset", "mean"), ("boxem", "centre"))
    ]
    assert 1 < ratios[0] < 1.4 < ratios[1]


def test_a_plan_is_a_frozen_value_that_json_can_hold():
    plan = td.plan(n=300, columns=PATIENTS, epsilon="0.5", delta=1e-6, sd={"systolic": 15})
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.n = 5
    read = json.loads(plan.to_json())
    assert read == json.loads(json.dumps(plan.to_dict()))
    assert (read["n"], read["epsilon"], read["columns"]) == (300, "0.5", ["systolic", "pulse"])
    assert read["recommended"] in [option["mechanism"] for option in read["options"]]
    assert read["sd"] == [15, None]
    assert {option["estimand"] for option in read["options"]} == {"mean", "centre", "quartiles"}


@pytest.mark.parametrize("d", [1, 10])
@pytest.mark.parametrize("options", [{"epsilon": 1}, {"error": 0.2}, {"by": 3}])
def test_the_text_fits_a_screen(d, options):
    columns = {f"column{j}": (0, 100) for j in range(d)}
    text = str(td.plan(n=20_000, columns=columns, delta=1e-6, sd=5, **options))
    assert max(map(len, text.splitlines())) <= 79
    assert len(text.splitlines()) <= 48
    for word in ("Recommended", "For the mean", "Sampling", "Assumed", "50 %"):
        assert word in text


WRONG = [
    ({"d": 2, "bounds": (0, 1)}, "n must be given: how many rows"),
    ({"n": 300, "bounds": (0, 1)}, "d must be given, or columns"),
    (
        {"n": 300, "d": 2},
        "bounds must be given, or .auto. to have them found .*, or delta in their place",
    ),
    ({"n": 300, "d": 2, "bounds": (0, 1), "epsilon": 1, "error": 0.1}, "two are given and the third is found"),
    ({"d": 2, "bounds": (0, 1), "error": 0.1}, "n or epsilon must be given with error"),
    ({"n": 0, "d": 2, "bounds": (0, 1)}, "n must be an integer"),
    ({"n": 300, "d": 2, "columns": ["a", "b"], "bounds": (0, 1)}, "d must be left out"),
    ({"n": 300, "columns": 2, "bounds": (0, 1)}, "a number of columns is d="),
    ({"n": 300, "columns": PATIENTS, "bounds": (0, 1)}, "bounds must be left out"),
    ({"n": 300, "columns": PATIENTS, "error": {"systolic": 2}}, "needs its standard deviation"),
    ({"n": 300, "columns": PATIENTS, "sd": {"pulze": 2}}, "must name one of the columns systolic, pulse"),
    ({"n": 300, "columns": PATIENTS, "sd": 1000}, "at most upper - lower"),
    ({"n": 300, "columns": PATIENTS, "error": 0}, "error must be > 0"),
    ({"n": 300, "columns": PATIENTS, "error": [1, 2]}, "must be a number, or {name: error in its units}"),
    ({"n": 300, "columns": PATIENTS, "missing": 20}, "missing must be a share"),
    ({"n": 300, "columns": PATIENTS, "by": 1}, "by must be an integer from 2"),
    ({"n": 3, "columns": PATIENTS, "by": 4}, "at least the number of groups"),
    ({"n": 300, "columns": PATIENTS, "delta": 2}, "delta must be < 1"),
    ({"n": 300, "columns": PATIENTS, "epsilon": -1}, "epsilon must be > 0"),
    ({"n": 20, "columns": PATIENTS, "error": 0.001}, "20 rows do not keep it even with epsilon = 10"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_misuse_is_answered_with_a_sentence(options, message):
    with pytest.raises(td.ParameterError, match=message):
        td.plan(**options)


class TestBoundsThatAreFound:
    def test_what_finding_them_takes_is_left_out_of_epsilon(self):
        known = td.plan(n=2000, columns={"a": (0, 100), "b": (0, 100)}, epsilon=1)
        found = td.plan(n=2000, columns=["a", "b"], bounds="auto", epsilon=1)
        some = td.plan(n=2000, columns={"a": (0, 100), "b": None}, epsilon=1)
        assert found.epsilon == found.recommended.epsilon == 1
        cubes = [next(o for o in plan.options if o.mechanism == "cube") for plan in (known, some, found)]
        # 30 standard deviations are assumed of bounds that were found, 100 of others.
        assert cubes[2].typical < cubes[0].typical
        assert found.question.left(2000, found.epsilon) < some.question.left(2000, some.epsilon) < 1
        assert "of epsilon finds bounds, then some 30 sd wide" in str(found).replace("\n             ", " ")
        assert found.to_dict()["bounds"] == "auto"

    def test_few_rows_are_said_to_be_few(self):
        said = str(td.plan(n=200, d=4, bounds="auto", epsilon=1)).replace("\n             ", " ")
        assert "which takes about 276 rows: with fewer some may be found far from the data" in said

    def test_rows_for_a_wish_count_it_in(self):
        without = td.plan(d=2, bounds=(0, 100), epsilon=1, error=0.05)
        found = td.plan(d=2, bounds="auto", epsilon=1, error=0.05)
        assert found.n >= without.n
