"""A release as people use it: by name, as text, HTML, frame and JSON. A refusal answers the same calls."""

from __future__ import annotations

import builtins
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import tukeydp as td
from tukeydp.approximate import approximate_boxem
from tukeydp.cli.reports import csv_report
from tukeydp.cli.sections import Account
from tukeydp.mechanisms.clipped_mean import MISSING
from tukeydp.results.interval import Calibration

EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"systolic": rng.normal(130, 15, 400), "nights": rng.exponential(4, 400)})


@pytest.fixture(scope="module")
def release(table):
    bounds = {"systolic": (60, 240), "nights": (0, "60.1")}
    return replace(td.cube(table, epsilon=1, bounds=bounds, randomness=td.seeded(1)), units=("mmHg", None))


@pytest.fixture(scope="module")
def refused(table):
    return td.rem(table[:40], epsilon=1, delta=1e-6, randomness=td.seeded(1))


def test_values_are_found_by_name_and_by_position(release):
    assert release["systolic"] == release[0] == release[-2] == release[np.int64(0)] == release.point[0]
    assert release["nights"] == release[1]
    assert list(release) == release.keys() == ["systolic", "nights"]
    assert dict(release) == dict(release.items()) == {"systolic": release[0], "nights": release[1]}
    assert (len(release), "nights" in release, "Nights" in release) == (2, True, False)
    assert np.array_equal(np.asarray(release), release.point)
    assert pd.Series(dict(release)).to_dict() == release.to_series().to_dict() == dict(release)


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ("sistolic", KeyError, "did you mean 'systolic'?"),
        ("SYSTOLIC", KeyError, "did you mean 'systolic'?"),
        ("zzz", KeyError, "there are 'systolic', 'nights'"),
        (2, IndexError, "2 columns"),
        (-3, IndexError, "2 columns"),
        (1.5, TypeError, "name or position"),
        (slice(1), TypeError, "name or position"),
    ],
)
def test_a_wrong_name_is_told_what_was_meant(release, key, error, words):
    with pytest.raises(error, match=re.escape(words)):
        release[key]


def test_columns_without_names_have_positions():
    unnamed = td.cube([[1, 2], [3, 4]], epsilon=1, bounds=(0, 5), randomness=td.seeded(1))
    assert list(unnamed) == [0, 1]
    assert dict(unnamed) == {0: unnamed.point[0], 1: unnamed.point[1]}
    with pytest.raises(KeyError, match="no names"):
        unnamed["a"]
    assert "column 1" in str(unnamed)
    assert unnamed.to_frame().index.tolist() == [0, 1]


def test_a_name_that_two_columns_have_is_not_guessed(release):
    with pytest.raises(KeyError, match="names 2 columns"):
        replace(release, columns=("a", "a"))["a"]


def test_a_refusal_answers_the_same_calls(refused):
    assert not refused.released
    assert refused["nights"] is refused[0] is None
    assert dict(refused) == {"systolic": None, "nights": None}
    assert np.isnan(np.asarray(refused)).all()
    assert refused.to_series().isna().all()
    assert refused.to_frame()["released"].isna().all()
    assert json.loads(refused.to_json())["point"] is None
    assert "No release" in str(refused)
    assert "No release" in refused._repr_html_()
    assert "has cost the budget" in refused._repr_html_()
    with pytest.raises(KeyError, match="did you mean"):
        refused["night"]


def test_print_shows_names_units_bounds_and_guarantee(release):
    shown = str(release).splitlines()
    assert shown[0] == "Release of 400 rows by cube"
    assert shown[1].split() == ["column", "released", "unit", "bounds", "half", "within", "95", "of", "100", "within"]
    assert re.match(r"systolic +\d+\.?\d* +mmHg +60 to 240 ", shown[2])
    assert re.match(r"nights +-?\d+\.?\d* +0 to 60\.1 ", shown[3])
    assert shown[4].startswith("epsilon = 1 (pure")
    assert "NOT PRIVATE" in shown[4]
    assert len({len(line) for line in shown[1:4]}) == 1
    assert "NO GUARANTEE" in str(td.baselines.empirical_mean([[1, 2]]))


def test_names_cannot_move_the_cursor_or_break_the_table(release):
    shown = str(replace(release, columns=("a\n\x1b[2Jb\u202e", "血圧"), units=("\x07", "℃")))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\\n\\x1b[2Jb\\u202e" in shown
    assert len(shown.splitlines()) == 5
    # Wide characters take two places, so that the line has one character less for each.
    first, second = (line for line in shown.splitlines()[2:4])
    assert len(first) == len(second) + 2


def test_a_frame_has_a_row_for_each_column(release, table):
    frame = release.to_frame()
    assert frame.index.name == "column"
    assert list(frame.columns) == ["released", "unit", "lower", "upper", "noise_sd", "half_within", "within_95"]
    assert frame.loc["nights", "upper"] == 60.1
    assert frame["released"].tolist() == release.to_series().tolist() == release.point.tolist()
    assert release.to_series().name == "released"
    depth = td.boxem(table, epsilon=1, bounds=(0, 300), randomness=td.seeded(1))
    assert list(depth.to_frame().columns) == ["released", "lower", "upper"]


@pytest.fixture(scope="module")
def shares():
    """Yes/no columns: an interval by the law of the noise, without made-up runs."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"smokes": rng.random(400) < 0.3, "works": rng.random(400) < 0.8}).astype(float)
    return td.mean(
        table, epsilon=1, bounds=(0, 1), mechanism="cube", confidence=0.9, check=False, randomness=td.seeded(1)
    )


def test_an_interval_is_shown_with_its_confidence_and_its_note(shares):
    low, high = shares.interval[0]
    assert low < shares["smokes"] < high
    frame = shares.to_frame()
    assert frame.loc["smokes", ["interval_lower", "interval_upper"]].tolist() == [low, high]
    cell = f"{low:.6g} to {high:.6g}"
    for text in (str(shares), shares._repr_html_()):
        assert "nominal 90 % CI" in text
        assert cell in text
        assert "together, each by itself" in " ".join(text.split())
    told = json.loads(shares.to_json())
    assert told["interval"]["ends"][0] == [low, high]
    assert told["settings"]["confidence"] == 0.9


def test_what_an_interval_comes_with_is_recorded_too(shares):
    assert shares.bounds == ((0, 0), (1, 1))
    assert shares.noise_sd is None  # as wide as the range that is found
    assert shares.guarantee.zcdp.rho == (MISSING**2 + (1 - MISSING) ** 2) / 2


def test_a_column_without_an_interval_says_none(shares):
    details = shares.interval_details
    ends = details.ends.copy()
    ends[1] = math.nan
    lost = replace(shares, calibration=Calibration(lambda: replace(details, ends=ends), ()))
    assert str(lost).splitlines()[3].split()[:3] == ["works", f"{lost['works']:.6g}", "none"]
    assert np.isnan(lost.to_frame().loc["works", "interval_lower"])
    assert json.loads(lost.to_json())["interval"]["ends"][1] is None
    line = csv_report(Account(lost, "mean")).splitlines()[2].split(",")
    assert line[2:4] == ["", ""]


def test_a_depth_certificate_is_shown(table):
    options = {"bounds": (0, 300), "certify": "0.2", "randomness": td.seeded(1)}
    release = td.boxem(table, epsilon=1, **options)
    assert release.bounds == ((0, 0), (300, 300))
    for text in (str(release), release._repr_html_()):
        assert release.certificate.note in " ".join(text.split())
    assert json.loads(release.to_json())["certificate"]["rows"] == release.certificate.rows


def test_without_pandas_the_error_says_how_to_get_it(release, monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    for call in (release.to_frame, release.to_series):
        with pytest.raises(ImportError, match="pip install pandas"):
            call()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    tags = Tags()
    tags.feed(html)
    return tags


def test_html_is_a_table_with_guarantee_and_accuracy(release):
    html = release._repr_html_()
    tags = parsed(html)
    assert [tag for tag, _ in tags.tags].count("tr") == 3
    text = " ".join(tags.texts)
    for word in ("Release", "400 rows", "systolic", "mmHg", "60 to 240", "epsilon = 1", "Accuracy", "NOT PRIVATE"):
        assert word in text
    assert "color:" not in html  # dark or light is the notebook's choice


def test_everything_in_html_is_escaped(release):
    html = replace(release, columns=(EVIL, "b' onclick='x"), units=("<i>", '"'), notes=(EVIL,))._repr_html_()
    tags = parsed(html)
    assert {"script", "i"}.isdisjoint(tag for tag, _ in tags.tags)
    assert all(set(attributes) <= {"style", "scope", "data-label"} for _, attributes in tags.tags)
    assert EVIL in tags.texts


def test_a_slow_forecast_is_shown_once_it_was_asked_for(table):
    slow = td.boxem(table[:60], epsilon=1, bounds=(0, 300), depth=td.AxisAligned(), randomness=td.seeded(1))
    assert slow.quick_error is None
    assert "release.expected_error" in slow._repr_html_()
    assert "standard deviations" in " ".join(slow.expected_error.units.split())
    assert "release.expected_error" not in slow._repr_html_()
    assert "expected_error" not in slow.to_dict(verbose=False)  # what is written does not depend on what was asked


def test_short_json_leaves_out_what_is_long_or_slow(table, release):
    depth = td.boxem(table, epsilon=1, bounds=(0, 300), depth=td.Random(50, seed=1))
    short = json.loads(depth.to_json())
    assert {"directions", "expected_error"}.isdisjoint(short)
    assert len(depth.to_json()) < 2000
    whole = replace(depth, rehearsal=None).to_dict()
    assert len(whole["directions"]) == 52
    assert set(whole) - set(short) == {"directions", "expected_error"}
    assert json.loads(release.to_json())["expected_error"]["columns"][0]["typical"]
    assert json.loads(release.to_json(verbose=True)) == json.loads(json.dumps(release.to_dict()))


def test_json_has_no_nan():
    empty = td.baselines.empirical_mean([[math.nan, 1.0]])
    assert json.loads(empty.to_json(), parse_constant=pytest.fail)["point"] == [None, None]


CALLS = {
    "mean": lambda x, b: td.mean(x, epsilon=1, bounds=b),
    "subset": lambda x, b: td.mean(x, epsilon=1, bounds=b, mechanism="subset"),
    "two-step": lambda x, b: td.mean(x, epsilon=1, bounds=b, mechanism="two-step"),
    "cube": lambda x, b: td.cube(x, epsilon=1, bounds=b),
    "spread": lambda x, b: td.spread(x, epsilon=1, bounds=b),
    "boxem": lambda x, b: td.boxem(x, epsilon=1, bounds=b),
    "coarse boxem": lambda x, b: td.boxem(x, epsilon=1, bounds=b, resolution=7),
    "unproven boxem": lambda x, b: td.boxem(x, epsilon=1, bounds=b, unproven="mcmc"),
    "algorithm 3": lambda x, b: approximate_boxem(x[:30], epsilon=8, delta="1e-3", bounds=b),
    "paper-recipe": lambda x, b: td.baselines.paper_recipe(x[:20], epsilon=4, bounds=b),
    **{
        name: lambda x, b, name=name: getattr(td.baselines, name)(x, epsilon=1, delta=1e-6, bounds=b)
        for name in ("gaussian", "analytic_gaussian", "coinpress", "huang_liang_yi", "plan")
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_every_mechanism_records_its_bounds_exactly(table, name):
    third = Fraction(1, 3)
    outcome = CALLS[name](table, ([third, "-0.1"], [240, 60]))
    assert outcome.bounds == ((third, Fraction(-1, 10)), (240, 60))
    assert outcome.to_dict(verbose=False)["bounds"] == {"lower": [1 / 3, -0.1], "upper": [240, 60]}
    assert CALLS[name](table, outcome.bounds).bounds == outcome.bounds  # as every mechanism takes them


def test_without_bounds_none_are_recorded(table, refused):
    assert refused.bounds is None
    ball = td.baselines.gaussian(table, epsilon=1, delta=1e-6, centre=[100, 5], radius=200)
    assert ball.bounds is None
    assert ball.settings == {"centre": [100, 5], "radius": 200}


NOISED = ("cube", "gaussian", "analytic_gaussian", "coinpress")


@pytest.mark.parametrize("name", CALLS)
def test_the_size_of_the_noise_is_recorded_where_it_is_public(table, name):
    noise = CALLS[name](table, (0, 240)).noise_sd
    if name in NOISED:
        assert len(noise) == 2
        assert min(noise) > 0
    elif name != "mean":
        assert noise is None


@pytest.mark.parametrize("mechanism", [td.cube, td.baselines.gaussian, td.baselines.analytic_gaussian])
def test_the_recorded_noise_is_that_of_the_releases(mechanism):
    """False alarm 1e-6 for each column: the deviation of 400 draws is known to 4.7 % (cube noise, whose fourth moment
    is 4.5 squared variances; Gaussian noise 3.5 %), and five of those are allowed. Twice the noise must fail."""
    middle = np.full((50, 2), [5.0, 50.0])
    budget = {"epsilon": 1} if mechanism is td.cube else {"epsilon": 1, "delta": 1e-6}
    options = {"bounds": ([0, 0], [10, 100]), **budget}
    draws = [mechanism(middle, randomness=td.seeded(seed), **options) for seed in range(400)]
    recorded = np.array(draws[0].noise_sd)
    found = np.sqrt(np.mean([(draw.point - [5, 50]) ** 2 for draw in draws], axis=0))
    assert (np.abs(found / recorded - 1) < 0.24).all()
    assert not (np.abs(found / (2 * recorded) - 1) < 0.24).any()
