"""td.mean with a confidence: budgets that add up, words that name the columns, refusals before anything is spent."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from tukeydp.mechanisms.interval_plan import OCTAVES, interval_plan

import tukeydp as td
from tukeydp.forecast.shapes import SHAPES
from tukeydp.mechanisms import mean_interval, mean_plans, planned
from tukeydp.results import interval
from tukeydp.trusted.rows import bounded_columns

WIDE = (-50, 50)
FEW = (SHAPES[0], SHAPES[-1])


@pytest.fixture(autouse=True)
def few_shapes(request, monkeypatch):
    """Calibrated on two shapes, to save time, except where the shapes are what is tested."""
    if "all_shapes" not in request.keywords:
        monkeypatch.setattr(mean_interval, "SHAPES", FEW)
    mean_interval.calibrated.cache_clear()
    interval._computed.cache_clear()
    yield
    mean_interval.calibrated.cache_clear()
    interval._computed.cache_clear()


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def run(x, **options):
    given = {"epsilon": 1, "bounds": WIDE, "confidence": 0.95, "randomness": td.seeded(1), **options}
    return td.mean(x, **given)


def test_an_interval_in_the_columns_own_units():
    x = rows(1500, 2) * [1, 20] + [5, 100]
    release = run(x, bounds=([-45, -900], [55, 1100]))
    assert release.interval.shape == (2, 2)
    assert (release.interval[:, 0] < release.point).all()
    assert (release.point < release.interval[:, 1]).all()
    assert (release.interval[:, 0] < [5, 100]).all()
    assert (release.interval[:, 1] > [5, 100]).all()
    assert release.spread / [1, 20] == pytest.approx([1, 1], rel=0.3)
    details = release.interval_details
    half = np.diff(release.interval)[:, 0] / 2
    assert details.sampling + details.privacy == pytest.approx(half)
    assert details.sampling == pytest.approx(1.96 * release.spread / np.sqrt(1500), rel=1e-3)


def spent(x, monkeypatch, **options):
    """A release, and every epsilon that was handed to a step which looks at the data."""
    parts = []

    def noting(module, name, place):
        true = getattr(module, name)

        def noted(*args, **keywords):
            parts.append(args[place].epsilon)
            return true(*args, **keywords)

        monkeypatch.setattr(module, name, noted)

    noting(planned, "spread_octaves", 1)
    noting(mean_plans, "subset_point", 1)
    noting(mean_plans, "rough_mean", 1)
    noting(mean_plans, "clipped_mean", 2)
    noting(planned, "two_step_result", 3)
    return run(x, **options), parts


@pytest.mark.parametrize("epsilon", [1, "2/3", 3])
@pytest.mark.parametrize("mechanism", ["auto", "subset", "two-step", "cube"])
@pytest.mark.parametrize("sd", [None, 1])
def test_what_is_spent_is_epsilon_exactly(monkeypatch, epsilon, mechanism, sd):
    release, parts = spent(rows(2000, 2), monkeypatch, epsilon=epsilon, mechanism=mechanism, sd=sd)
    assert sum(parts) == Fraction(epsilon)
    assert release.guarantee == td.PureDP(Fraction(epsilon))
    named = [value for name, value in release.settings.items() if name.startswith("epsilon_")]
    assert sum(named, Fraction(0)) in (0, Fraction(epsilon))
    assert ("epsilon_spread" in release.settings) == (sd is None)


def test_a_public_sd_costs_nothing(monkeypatch):
    free, parts = spent(rows(300, 2), monkeypatch, sd=1, bounds=(-5, 5))
    assert sum(parts) == 1
    without = run(rows(300, 2), sd=1, bounds=(-5, 5), confidence=None)
    assert free.point.tolist() == without.point.tolist()
    assert without.interval is None
    assert without.interval_note is None
    assert free.spread.tolist() == [1, 1]


def test_yes_no_columns_need_no_spread(monkeypatch):
    yes = (np.random.default_rng(0).random((800, 3)) < [0.02, 0.3, 0.5]).astype(float)
    release, parts = spent(yes, monkeypatch, bounds=(0, 1))
    assert release.mechanism == "cube"
    assert parts == [Fraction(1, 10), Fraction(9, 10)]
    assert release.spread == pytest.approx(np.sqrt(release.point * (1 - release.point)))
    assert "largest sampling error" in release.interval_note
    low, high = release.interval.T
    assert (low >= 0).all()
    # A rare answer: farther up than down.
    assert high[0] - release.point[0] > release.point[0] - low[0]


def test_only_the_other_columns_of_a_mixed_table_are_measured():
    x = np.column_stack([(np.random.default_rng(0).random(2000) < 0.3).astype(float), rows(2000, 1)])
    release = run(x, bounds=([0, -3], [1, 3]), mechanism="cube")
    assert release.spread[0] == pytest.approx(np.sqrt(release.point[0] * (1 - release.point[0])))
    assert release.spread[1] == pytest.approx(1, rel=0.3)
    assert set(release.settings) >= {"epsilon_spread"}
    plan = interval_plan(2000, bounded_columns(2, ([0, -3], [1, 3])), Fraction(1), confidence=0.95, mechanism="cube")
    assert plan.spending.measured == (1,)


@pytest.mark.parametrize("options", [{"mechanism": "cube"}, {"mechanism": "two-step", "sd": 1}])
@pytest.mark.all_shapes
def test_words_say_for_which_columns_it_holds(options):
    note = run(rows(1500, 2), **options).interval_note
    assert note.startswith("A nominal 95 % confidence interval for the population's mean")
    assert "for each column by itself, for columns no more skewed or heavy-tailed than these" in note
    assert "84 of 100 nominal 95 % intervals held the mean of log-normal(1.0) columns, 69 of 100" in note
    for shape in SHAPES:
        assert shape.name in note
    for word in ("population's mean", "sampling and privacy together", "no proof", "the sample alone would have"):
        assert word in note
    assert ("takes the given standard deviations for true" in note) == ("sd" in options)


def test_jointly_is_wider_and_says_so():
    alone, together = (run(rows(1500, 3), mechanism="cube", joint=joint) for joint in (False, True))
    assert (np.diff(together.interval) > np.diff(alone.interval)).all()
    assert "sampling and privacy together, for all columns together" in together.interval_note


def test_the_level_is_called_nominal_wherever_it_is_read():
    """In 0.1.0 the label was "95 %"; 84 of 100 held the mean of log-normal(1.0) columns."""
    release = run(rows(300, 2), sd=1, bounds=(-5, 5))
    shares = run(rows(300, 1) > 0, bounds=(0, 1))
    table = td.summary(rows(300, 2), epsilon=1, bounds=(-5, 5), sd=1, randomness=td.seeded(1))
    assert "nominal 95 % confidence interval" in release.caveats[0]
    assert "84 of 100" in release.caveats[0]
    assert shares.caveats[0] == "The interval is a nominal 95 % confidence interval."
    assert json.loads(release.to_json())["caveats"][0] == release.caveats[0]
    for text in (
        str(release),
        release._repr_html_(),
        str(shares),
        str(table),
        table.to_markdown(),
        table._repr_html_(),
    ):
        flat = " ".join(text.split())
        assert "nominal 95 % CI" in flat
        assert "nominal 95 % confidence interval" in flat
        assert "95 %" not in flat.replace("nominal 95 %", "")
    assert "nominal_confidence" in table.to_csv().splitlines()[0]
    assert run(rows(300, 2), sd=1, bounds=(-5, 5), confidence=None).caveats == release.caveats[1:]


def test_more_confidence_is_wider():
    widths = [np.diff(run(rows(1500, 2), mechanism="cube", confidence=level).interval) for level in (0.5, "0.9", 0.99)]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()


def test_the_interval_is_not_computed_before_it_is_asked_for_and_does_not_change():
    release = run(rows(1500, 2))
    first, second = release.interval, release.interval
    assert first.tolist() == second.tolist()
    first[:] = 0  # a copy
    assert release.interval.tolist() == second.tolist()
    again = run(rows(1500, 2))
    assert again.interval.tolist() == second.tolist()


@pytest.mark.slow  # every kind of release with its rehearsal
def test_everything_is_ready_for_json():
    said = json.loads(json.dumps(run(rows(3000, 2) * 1e-3).to_dict(), allow_nan=False))
    assert said["interval"]["ends"] == [None, None]
    said = json.loads(json.dumps(run(rows(1500, 2)).to_dict(), allow_nan=False))
    assert np.array(said["interval"]["ends"]).shape == (2, 2)


@pytest.mark.parametrize("mechanism", ["auto", "cube"])
def test_no_interval_for_a_column_of_equal_values(mechanism):
    release = run(np.full(2000, 7.0), mechanism=mechanism)
    assert np.isnan(release.interval).all()
    assert "No interval where the released spread is at its floor" in release.interval_note
    assert release.spread[0] <= 100 * 2.0 ** (1 - OCTAVES)


def test_nor_for_one_far_below_the_bounds_width_among_others():
    release = run(rows(3000, 2) * [1, 1e-3])
    assert np.isfinite(release.interval[0]).all()
    assert np.isnan(release.interval[1]).all()


@pytest.mark.parametrize("options", [{}, {"mechanism": "cube"}, {"mechanism": "cube", "sd": 1}])
@pytest.mark.parametrize("what", ["missing", "infinite", "text"])
def test_no_cell_raises_or_warns(options, what):
    n = 1500
    x = {
        "missing": np.full((n, 2), np.nan),
        "infinite": np.where(np.arange(n)[:, np.newaxis] % 2, np.inf, -np.inf) * np.ones((n, 2)),
        "text": [["many", "7"]] * n,
    }[what]
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        release = run(x, check=False, **options)
        assert release.interval.shape == (2, 2)
    low, high = release.interval.T
    assert (np.isnan(low) | ((low >= -50) & (high <= 50) & (low <= high))).all()


def test_all_that_is_said_but_what_is_released_follows_from_public_numbers():
    said = []
    for x in (rows(1500, 2), rows(1500, 2) * 9 + 3, np.full((1500, 2), np.nan)):
        everything = run(x).to_dict()
        said.append({k: v for k, v in everything.items() if k not in ("point", "interval", "expected_error")})
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("way", ["subset", "cube", "two-step", "two-step, known sd"])
def test_an_interval_is_made_of_what_was_released_and_nothing_else(way, monkeypatch):
    """Draws that do not look at the data: then all that the interval is computed from is the same for any table."""
    mechanism, _, known = way.partition(", ")
    honest = planned.two_step_result
    blank = np.zeros((2000, 2))
    monkeypatch.setattr(planned, "spread_octaves", lambda relative, *_: np.full(relative.shape[1], -5.0))
    monkeypatch.setattr(mean_plans.SubsetMean, "draw", lambda *_: [Fraction(1, 8)] * 2)
    monkeypatch.setattr(mean_plans.CubeMean, "draw", lambda *_: [Fraction(1, 8)] * 2)
    monkeypatch.setattr(planned, "two_step_result", lambda relative, *rest: honest(blank, *rest))
    holes = rows(2000, 2, seed=1)
    holes[::3, 0] = np.nan
    seen = []
    for x in (rows(2000, 2), holes * 9 + 3, np.full((2000, 2), np.nan)):
        release = run(x, mechanism=mechanism, sd=1 if known else None)
        plan, columns, found = release.calibration.inputs
        assert release.mechanism == mechanism
        assert len(found.point) == 2
        seen.append((plan, columns, found, release.point.tolist(), dict(release.settings)))
    assert seen[0] == seen[1] == seen[2]


# Before anything is spent: on a table of nothing but missing cells.


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (300, {}, r"sd= .* or at least \d+ rows or an epsilon of at least 1\.\d+: the spread of 2 columns"),
        (20, {}, "confidence must be left out, or come with sd="),
        (300, {"bounds": None, "delta": 1e-6}, r"or at least \d+ rows"),
        (600, {"mechanism": "two-step", "epsilon": "0.8"}, "mechanism must be auto, subset or cube with confidence"),
        (300, {"confidence": 1}, "confidence must be from 0.5 to 0.99; got 1"),
        (300, {"confidence": 95}, "confidence must be from 0.5 to 0.99; got 95"),
        (300, {"confidence": "sure"}, "confidence must be a finite number"),
        (300, {"joint": 1}, "joint must be True or False; got 1"),
        (300, {"confidence": None, "joint": True}, "joint must be left out without confidence; got True"),
        (300, {"bounds": None, "delta": 1e-6, "sd": 0}, "sd must be > 0; got 0"),
        (300, {"bounds": None, "delta": 1e-6, "partitions": 2}, "partitions must be left out without bounds"),
    ],
)
def test_refused_from_public_numbers(n, options, message):
    with pytest.raises(td.ParameterError, match=message):
        run(np.full((n, 2), np.nan), **options)


def test_what_is_said_to_help_helps():
    with pytest.raises(td.ParameterError) as error:
        run(np.full((300, 2), np.nan))
    needed = int(str(error.value).split("at least ")[1].split()[0])
    run(np.full((needed, 2), np.nan))
    with pytest.raises(td.ParameterError):
        run(np.full((needed - 1, 2), np.nan))
    budget = str(error.value).split("epsilon of at least ")[1].split(":")[0]
    run(np.full((300, 2), np.nan), epsilon=budget)


# Without bounds.


@pytest.mark.parametrize("sd", [None, [1, 20]])
def test_an_interval_without_bounds(sd):
    x = rows(3000, 2) * [1, 20] + [5, 1000]
    release = td.mean(x, epsilon=2, delta=1e-6, confidence=0.95, sd=sd, randomness=td.seeded(2))
    assert release.mechanism == "rem"
    assert release.guarantee == td.ApproxDP(2, 1e-6)
    assert release.spread / [1, 20] == pytest.approx([1, 1], rel=0.3)
    assert (release.interval[:, 0] < [5, 1000]).all()
    assert (release.interval[:, 1] > [5, 1000]).all()
    assert (np.diff(release.interval)[:, 0] < 9 * np.array([1, 20]) / np.sqrt(3000)).all()
    if sd is None:
        assert release.settings["epsilon_mean"] + release.settings["epsilon_spread"] == 2
        assert release.settings["epsilon_draw"] + release.settings["epsilon_test"] == release.settings["epsilon_mean"]


def test_a_refusal_has_spent_everything_and_has_no_interval():
    refused = td.mean(np.full((3000, 2), np.nan), epsilon=1, delta=1e-6, confidence=0.95, randomness=td.seeded(2))
    assert not refused.released
    assert refused.guarantee == td.ApproxDP(1, 1e-6)
    assert refused.to_dict()["interval"] is None
