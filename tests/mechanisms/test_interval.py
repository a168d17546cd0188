"""td.mean with a confidence: budgets that add up, words that name the columns, refusals before anything is spent."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tukeydp as td
from tukeydp.forecast.shapes import SHAPES
from tukeydp.mechanisms import clipped_mean, interval_without_bounds
from tukeydp.results import interval

WIDE = (-50, 50)
FEW = (SHAPES[0], SHAPES[-1])


@pytest.fixture(autouse=True)
def few_shapes(request, monkeypatch):
    """Calibrated on two shapes, to save time, except where the shapes are what is tested."""
    if "all_shapes" not in request.keywords:
        monkeypatch.setattr(interval_without_bounds, "SHAPES", FEW)
    interval_without_bounds.calibrated.cache_clear()
    interval._computed.cache_clear()
    yield
    interval_without_bounds.calibrated.cache_clear()
    interval._computed.cache_clear()


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def run(x, **options):
    given = {"epsilon": 1, "bounds": WIDE, "confidence": 0.95, "randomness": td.seeded(1), **options}
    return td.mean(x, **given)


def test_an_interval_in_the_columns_own_units():
    x = rows(1500, 2) * [1, 20] + [5, 100]
    release = run(x, bounds=([-45, -900], [55, 1100]), epsilon=8)
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
    for name in ("deepest_cells", "joint_rungs", "rung", "noised_counts", "noised_sums"):
        true = getattr(clipped_mean, name)

        def noted(*args, true=true):
            parts.append(args[-1].epsilon)
            return true(*args)

        monkeypatch.setattr(clipped_mean, name, noted)
    return run(x, **options), parts


@pytest.mark.parametrize("epsilon", [1, "2/3", 3])
@pytest.mark.parametrize("mechanism", ["auto", "two-step", "cube"])
@pytest.mark.parametrize("sd", [None, 1])
def test_what_is_spent_is_epsilon_exactly(monkeypatch, epsilon, mechanism, sd):
    release, parts = spent(rows(2000, 2), monkeypatch, epsilon=epsilon, mechanism=mechanism, sd=sd)
    assert sum(parts) == Fraction(epsilon)
    assert release.guarantee == td.PureDP(Fraction(epsilon))
    named = [value for name, value in release.settings.items() if name.startswith("epsilon_")]
    assert sum(named, Fraction(0)) == Fraction(epsilon)
    assert ("epsilon_squares" in release.settings) == (sd is None)


def test_a_public_sd_costs_nothing(monkeypatch):
    free, parts = spent(rows(300, 2), monkeypatch, sd=1, bounds=(-5, 5))
    assert sum(parts) == 1
    assert "epsilon_squares" not in free.settings
    without = run(rows(300, 2), sd=1, bounds=(-5, 5), confidence=None)
    assert without.interval is None
    assert without.interval_note is None
    assert free.spread == pytest.approx([1, 1])


def test_yes_no_columns_need_no_spread(monkeypatch):
    yes = (np.random.default_rng(0).random((800, 3)) < [0.02, 0.3, 0.5]).astype(float)
    release, parts = spent(yes, monkeypatch, bounds=(0, 1))
    assert release.mechanism == "cube"
    assert parts == [clipped_mean.MISSING, 1 - clipped_mean.MISSING]
    assert release.spread == pytest.approx(np.sqrt(release.point * (1 - release.point)))
    low, high = release.interval.T
    assert (low >= 0).all()
    # A rare answer: farther up than down.
    assert high[0] - release.point[0] > release.point[0] - low[0]


def test_only_the_other_columns_of_a_mixed_table_are_measured():
    x = np.column_stack([(np.random.default_rng(0).random(2000) < 0.3).astype(float), rows(2000, 1)])
    release = run(x, bounds=([0, -3], [1, 3]), mechanism="cube")
    assert release.spread[0] == pytest.approx(np.sqrt(release.point[0] * (1 - release.point[0])))
    assert release.spread[1] == pytest.approx(1, rel=0.3)
    assert release.calibration.inputs[0].plan.squared == (1,)


@pytest.mark.parametrize("options", [{"mechanism": "cube"}, {"mechanism": "two-step", "sd": 1}])
def test_words_say_how_far_the_promise_goes(options):
    note = run(rows(1500, 2), **options).interval_note
    assert note.startswith("A nominal 95 % confidence interval for the population's mean")
    for word in ("sampling and privacy together, each by itself", "normal approximation", "Its coverage is empirical"):
        assert word in note
    assert ("takes the given standard deviations for true" in note) == ("sd" in options)
    assert ("below that nothing is promised" in note) == (options["mechanism"] == "two-step")


@pytest.mark.all_shapes
def test_words_without_bounds_say_for_which_columns_it_holds():
    release = td.mean(rows(3000, 1), epsilon=2, delta=1e-6, confidence=0.95, sd=1, randomness=td.seeded(2))
    note = release.interval_note
    assert "for each column by itself, for columns no more skewed or heavy-tailed than these" in note
    for shape in SHAPES:
        assert shape.name in note


def test_jointly_is_wider_and_says_so():
    alone, together = (run(rows(1500, 3), mechanism="cube", joint=joint) for joint in (False, True))
    assert (np.diff(together.interval) > np.diff(alone.interval)).all()
    assert "sampling and privacy together, for all of them together" in together.interval_note


def test_the_level_is_called_nominal_wherever_it_is_read():
    """In 0.1.0 the label was "95 %"."""
    release = run(rows(300, 2), sd=1, bounds=(-5, 5))
    shares = run(rows(300, 1) > 0, bounds=(0, 1))
    table = td.summary(rows(300, 2), epsilon=1, bounds=(-5, 5), sd=1, randomness=td.seeded(1))
    said = "The interval is a nominal 95 % confidence interval; its coverage is empirical."
    assert release.caveats[0] == shares.caveats[0] == said
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
    flat = td.mean(np.full((3000, 1), 7.0), epsilon=9, delta=1e-6, confidence=0.95, randomness=td.seeded(2))
    said = json.loads(json.dumps(flat.to_dict(), allow_nan=False))
    assert said["interval"]["ends"] == [None]
    said = json.loads(json.dumps(run(rows(1500, 2)).to_dict(), allow_nan=False))
    assert np.array(said["interval"]["ends"]).shape == (2, 2)


@pytest.mark.parametrize("mechanism", ["auto", "cube"])
def test_columns_of_equal_values_have_an_interval_too(mechanism):
    """Noise alone: its law is known. Without bounds there is none, since a spread must be released."""
    low, high = run(np.full(2000, 7.0), mechanism=mechanism).interval[0]
    assert low < 7 < high
    free = td.mean(np.full((3000, 1), 7.0), epsilon=9, delta=1e-6, confidence=0.95, randomness=td.seeded(2))
    if free.released:
        assert np.isnan(free.interval).all()
        assert "No interval where the released spread is at its floor" in free.interval_note


def test_a_column_far_narrower_than_its_bounds_has_one_as_wide_as_its_noise():
    release = run(rows(3000, 2) * [1, 1e-3])
    assert np.isfinite(release.interval).all()
    assert (release.interval[:, 0] < 0).all()
    assert (release.interval[:, 1] > 0).all()


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


@pytest.mark.parametrize("way", ["cube", "two-step", "two-step, known sd"])
def test_an_interval_is_made_of_what_was_released_and_nothing_else(way, monkeypatch):
    """Draws that do not look at the data: then all that the interval is computed from is the same for any table."""
    mechanism, _, known = way.partition(", ")
    monkeypatch.setattr(clipped_mean, "deepest_cells", lambda beyond, charge: [700] * len(beyond))
    monkeypatch.setattr(clipped_mean, "rung", lambda beyond, weights, charge: 7)
    monkeypatch.setattr(clipped_mean, "noised_counts", lambda counts, charge: [Fraction(0)] * len(counts))
    monkeypatch.setattr(
        clipped_mean, "noised_sums", lambda sums, total, charge: [[Fraction(3)] * sums.width] * sums.groups
    )
    holes = rows(2000, 2, seed=1)
    holes[::3, 0] = np.nan
    seen = []
    for x in (rows(2000, 2), holes * 9 + 3, np.full((2000, 2), np.nan)):
        release = run(x, mechanism=mechanism, sd=1 if known else None)
        assert release.mechanism == mechanism
        seen.append((release.calibration.inputs, release.point.tolist(), dict(release.settings)))
    assert repr(seen[0]) == repr(seen[1]) == repr(seen[2])


# Before anything is spent: on a table of nothing but missing cells.


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (300, {"bounds": None, "delta": 1e-6}, r"or at least \d+ rows"),
        (600, {"mechanism": "subset"}, "mechanism must be auto, two-step or cube with confidence"),
        (600, {"blocks": 9}, "blocks must be left out with confidence"),
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
    free = {"bounds": None, "delta": 1e-6}
    with pytest.raises(td.ParameterError) as error:
        run(np.full((300, 2), np.nan), **free)
    needed = int(str(error.value).split("at least ")[1].split()[0])
    run(np.full((needed, 2), np.nan), **free)
    with pytest.raises(td.ParameterError):
        run(np.full((needed - 1, 2), np.nan), **free)
    budget = str(error.value).split("epsilon of at least ")[1].split(":")[0]
    run(np.full((300, 2), np.nan), epsilon=budget, **free)
    run(np.full((300, 2), np.nan))  # with bounds


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


def arms(n, shift=3.0, seed=0):
    rng = np.random.default_rng(seed)
    arm = np.where(np.arange(n) % 2, "A", "B")
    return pd.DataFrame({"a": rng.normal(50, 10, n) + shift * (arm == "A"), "b": rng.lognormal(1, 0.7, n), "arm": arm})


IN_ARMS = {"epsilon": 1, "bounds": {"a": (0, 100), "b": (0, 60)}, "by": "arm", "keys": ["A", "B"], "check": False}


def test_a_difference_between_groups_is_post_processing_of_both_intervals():
    found = td.mean(arms(1200), confidence=0.9, randomness=td.seeded(1), **IN_ARMS)
    one = found.difference("A", "B")
    first, second = found["A"], found["B"]
    assert (one.point == first.point - second.point).all()
    down = np.hypot(first.point - first.interval[:, 0], second.interval[:, 1] - second.point)
    up = np.hypot(first.interval[:, 1] - first.point, second.point - second.interval[:, 0])
    np.testing.assert_allclose(one.interval, np.column_stack([one.point - down, one.point + up]))
    other = found.difference("B", "A")
    np.testing.assert_allclose(other.interval, -one.interval[:, ::-1])
    assert list(one.to_frame().columns) == ["difference", "lower", "upper"]
    assert "A minus B, in brackets the nominal 90 % confidence interval" in str(one)
    json.dumps(one.to_dict())


def test_joint_differences_hold_wherever_all_intervals_do():
    found = td.mean(arms(1200), confidence=0.9, joint=True, randomness=td.seeded(1), **IN_ARMS)
    first, second = found["A"].interval, found["B"].interval
    ends = np.column_stack([first[:, 0] - second[:, 1], first[:, 1] - second[:, 0]])
    np.testing.assert_allclose(found.difference("A", "B").interval, ends)
    alone = td.mean(arms(1200), confidence=0.9, randomness=td.seeded(1), **IN_ARMS).difference("A", "B").interval
    assert (np.diff(alone) < np.diff(ends)).all()  # the control: they differ


def test_differences_between_groups_are_where_they_say():
    """60 runs, two columns: of 120 intervals at 0.95 fewer than 105 cover in one of 10^4 such tests."""
    truth, inside = np.array([3.0, 0.0]), 0
    for seed in range(60):
        found = td.mean(arms(800, seed=seed), confidence=0.95, randomness=td.seeded(seed), **IN_ARMS)
        ends = found.difference("A", "B").interval
        inside += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
    assert inside >= 105


def test_a_difference_of_columns_allows_for_any_dependence():
    one = td.mean(arms(1200)[["a", "b"]], epsilon=1, bounds=(0, 100), confidence=0.9, randomness=td.seeded(1))
    found, ends = one.difference("a", "b"), one.interval
    np.testing.assert_allclose(found.interval[0], [ends[0, 0] - ends[1, 1], ends[0, 1] - ends[1, 0]])
    assert found.columns == ("a - b",)


def test_quantiles_have_differences_too_and_mistakes_are_named():
    found = td.quantiles(arms(3000), [0.25, 0.5], confidence=0.9, randomness=td.seeded(1), **IN_ARMS)
    one = found.difference("A", "B")
    assert one.columns == ("a 0.25", "b 0.25", "a 0.5", "b 0.5")
    assert one.point[0] == found["A"][0.25][0] - found["B"][0.25][0]
    with pytest.raises(td.ParameterError, match="groups must be among A, B; got 'C'"):
        found.difference("A", "C")
    with pytest.raises(td.ParameterError, match="groups must be two different ones"):
        found.difference("A", "A")
    with pytest.raises(td.ParameterError, match="confidence must be given to the run"):
        td.mean(arms(300), **IN_ARMS).difference("A", "B")
