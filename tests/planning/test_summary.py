"""td.summary: what is spent, which rows count where, what is shown and what is never shown."""

from __future__ import annotations

import builtins
import csv
import io
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tukeydp as td
from tukeydp import plots
from tukeydp.data.keys import checked_keys, label
from tukeydp.forecast.shapes import SHAPES
from tukeydp.results.forest import picture

BOUNDS = {"pressure": (60, 240), "smoker": (0, 1)}
KEYS = ["A", "B", "empty"]


def table(n=1500):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"pressure": rng.normal(128, 16, n), "smoker": (rng.random(n) < 0.3).astype(float)})
    frame.loc[rng.random(n) < 0.1, "pressure"] = np.nan
    frame["arm"] = rng.choice(["A", "B", "other", None], n, p=[0.4, 0.4, 0.1, 0.1])
    return frame


def grouped(frame, **more):
    given = {"epsilon": 2, "bounds": BOUNDS, "by": "arm", "keys": KEYS, "randomness": td.seeded(5)}
    given["check"] = False  # other arms are left out on purpose, and a lazy frame has no check
    return td.summary(frame, **(given | more))


@pytest.fixture(scope="module")
def by_arm():
    return grouped(table())


class Recorder:
    """An accountant that notes what it is asked for."""

    def __init__(self):
        self.spent = []

    def require(self, guarantee):
        pass

    def spend(self, guarantee, **more):
        self.spent.append((guarantee, more))


@pytest.mark.parametrize(
    ("bounds", "parts"),
    [
        ((60, 240), {"centre", "radii", "missing", "squares", "mean"}),
        (([60, 0], [240, 1]), {"centre", "radii", "missing", "squares", "mean"}),
        ((0, 1), {"missing", "mean"}),
    ],
)
def test_what_is_spent_is_epsilon_exactly_and_once(bounds, parts):
    account = Recorder()
    x = np.random.default_rng(1).normal(120, 15, (2000, 2))
    found = td.summary(x, epsilon="7/10", bounds=bounds, accountant=account, randomness=td.seeded(1))
    spent = {name: value for name, value in found.settings.items() if name.startswith("epsilon_")}
    assert set(spent) == {f"epsilon_{part}" for part in parts}
    assert sum(spent.values()) == found.guarantee.epsilon == Fraction(7, 10)
    assert [guarantee for guarantee, _ in account.spent] == [td.PureDP("7/10")]


def test_few_rows_have_a_wide_interval_and_none_is_refused():
    (line,) = td.summary(np.ones((50, 1)), epsilon=0.1, bounds=(60, 240), randomness=td.seeded(1)).lines
    assert 60 <= line.lower < line.upper <= 240
    without = td.summary(np.ones((50, 1)), epsilon=0.1, bounds=(60, 240), confidence=None, randomness=td.seeded(1))
    assert without.lines[0].lower is None
    assert "interval" not in str(without).splitlines()[2]


def test_lines_are_near_the_truth(by_arm):
    frame = table()
    for line in by_arm.lines:
        rows = frame[frame.arm == line.group][line.column]
        if line.group == "empty":
            assert (line.mean, line.sd, line.lower) == (None, None, None)
            assert line.n < 60
        else:
            # noise of the sums: a scale of 1 row at epsilon 2, five coordinates; 40 rows are off with chance 1e-6
            assert abs(line.n - rows.notna().sum()) < 40
            assert line.lower < rows.mean() < line.upper
    assert [line.column for line in by_arm.lines] == ["pressure"] * 3 + ["smoker"] * 3


def test_the_whole_table_has_intervals_for_both_kinds_of_columns():
    frame = table().drop(columns="arm")
    found = td.summary(frame, epsilon=2, bounds=BOUNDS, randomness=td.seeded(2))
    pressure, smoker = found.lines
    assert pressure.lower < 128 < pressure.upper
    assert pressure.upper - pressure.lower < 10
    assert 8 < pressure.sd < 32
    assert smoker.lower < frame.smoker.mean() < smoker.upper < smoker.lower + 0.1
    assert smoker.sd is None
    assert f"{100 * smoker.mean:.0f} %" in next(line for line in str(found).splitlines() if "smoker" in line)


def test_columns_without_spread_have_an_interval_of_noise_alone():
    (line,) = td.summary(np.full((2000, 1), 100.0), epsilon=2, bounds=(60, 240), randomness=td.seeded(1)).lines
    assert line.lower < 100 < line.upper < line.lower + 10
    assert line.sd < 0.5  # half a percent of the bounds' half width
    assert line.rough


def test_public_standard_deviations_are_shown_as_given(by_arm):
    for found in (
        grouped(table(), sd=[16, 1]),
        td.summary(table().drop(columns="arm"), epsilon=2, bounds=BOUNDS, sd=[16, 1], randomness=td.seeded(1)),
    ):
        line = found.lines[0]
        assert (line.sd, line.sd_public) == (16.0, True)
        assert "(16*)" in str(found)
        assert "given, not released" in " ".join(found.details)
    assert "given, not released" not in " ".join(by_arm.details)
    with pytest.raises(td.ParameterError, match="sd must be > 0"):
        grouped(table(), sd=[1000, 1])


FRAMES = {
    "pandas": lambda f: f,
    "categories": lambda f: f.assign(arm=f.arm.astype("category")),
    "polars": pl.from_pandas,
    "lazy": lambda f: pl.from_pandas(f).lazy(),
    "arrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same_groups(kind, by_arm):
    assert grouped(FRAMES[kind](table())).lines == by_arm.lines


def test_keys_may_come_beside_an_array_or_in_a_structured_one(by_arm):
    frame = table()
    x = frame[["pressure", "smoker"]].to_numpy()
    ends = ([60, 0], [240, 1])
    for by in (frame.arm, frame.arm.tolist(), frame.arm.to_numpy(), pa.array(frame.arm)):
        found = grouped(x, by=by, bounds=ends)
        assert [line.mean for line in found.lines] == [line.mean for line in by_arm.lines]
    fields = np.array(
        [tuple(row) for row in frame.fillna({"arm": ""}).itertuples(index=False)],
        dtype=[("pressure", float), ("smoker", float), ("arm", "U8")],
    )
    assert grouped(fields).lines == by_arm.lines


def test_keys_that_are_numbers_are_compared_as_numbers_others_as_texts():
    keys = checked_keys([1, "b", 2.5, True])
    assert keys.places([1.0, "01", " b ", "B", "2.5", None, float("nan"), True, "True", object(), b"b"]).tolist() == [
        *(0, 0, 1, -1, 2, -1, -1, 3, 3, -1, 1)
    ]
    assert keys.places_of_codes(keys.as_codes(["1", "b", "x", None])).tolist() == [0, 1, -1, -1]

    class Odd:
        def __str__(self):
            raise RuntimeError("a cell")

    assert label(Odd()) is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (None, "keys must be given with by="),
        ([], "keys must be from 1"),
        (["A", "A "], "keys must be different"),
        ([1, "1.0"], "keys must be different"),
        ([None], "keys must be different"),
        ("A", "keys must be a list"),
    ],
)
def test_keys_are_public_and_checked(keys, message):
    with pytest.raises(td.ParameterError, match=message):
        grouped(table(), keys=keys)


def test_misuse_of_by_is_told_from_public_facts():
    with pytest.raises(td.ParameterError, match="by must name a column that occurs once"):
        grouped(table(), by="arms")
    with pytest.raises(td.ParameterError, match="by must name a column, or have one key for each row"):
        grouped(table().drop(columns="arm"), by=["A"])
    with pytest.raises(td.ParameterError, match="by must be given with keys"):
        td.summary(np.ones((9, 1)), epsilon=1, bounds=(0, 1), keys=["A"])
    with pytest.raises(td.ParameterError, match="by must be one key for each row"):
        grouped(np.ones((9, 1)))


def covered(shape, narrowed=False):
    """How often intervals of groups of 150 rows cover the mean; 200 runs."""
    rng = np.random.default_rng(8)
    true = np.clip(shape.draw(np.random.default_rng(1), (400_000, 1)) / 5, -1, 1).mean()
    hits, by = 0, np.repeat(["A", "B"], 150)
    for seed in range(200):
        x = np.clip(shape.draw(rng, (300, 1)) / 5, -1, 1)
        found = td.summary(x, by=by, keys=["A", "B"], epsilon=2, bounds=(-1, 1), randomness=td.seeded(seed)).lines[0]
        low, high = found.lower, found.upper
        if narrowed:  # by sampling alone
            low, high = (found.mean + side * 1.96 * x.std() / np.sqrt(150) for side in (-1, 1))
        hits += low <= true <= high
    return hits / 200


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[2], SHAPES[3]], ids=lambda shape: shape.name)
def test_intervals_of_groups_cover(shape):
    # At a true 0.95 a share below 0.88 has probability 6e-5.
    assert covered(shape) >= 0.88


def test_intervals_without_the_noise_would_not_cover():
    assert covered(SHAPES[0], narrowed=True) < 0.88


def test_every_format_holds_the_numbers_and_the_footnote(by_arm):
    line = by_arm.lines[0]
    shown = str(by_arm).splitlines()[3].split()[3]
    for text in (by_arm.to_html(), by_arm.to_markdown(), by_arm.to_latex(), by_arm._repr_html_()):
        assert shown in text
        assert "epsilon = 2 (pure differential privacy, one row swapped)" in text
        assert "NOT PRIVATE" in text
        assert td.__version__ in text
    rows = list(csv.DictReader(io.StringIO(by_arm.to_csv())))
    assert float(rows[0]["mean"]) == line.mean
    assert {row["private"] for row in rows} == {"no"}
    frame = by_arm.to_frame()
    assert frame["mean"][0] == line.mean
    assert json.loads(by_arm.to_json())["lines"][0]["mean"] == line.mean
    assert json.loads(by_arm.to_json())["guarantee"]["epsilon_exact"] == "2"


def test_names_are_anybodys_text():
    name, key = "<b>=1|_%\n", "-2+3\x1b[31m</td>"
    found = td.summary(
        pd.DataFrame({name: np.linspace(0, 9, 300), "g": [key] * 300}),
        epsilon=5, bounds=(0, 10), by="g", keys=[key], randomness=td.seeded(1),
    )  # fmt: skip
    assert "<b>" not in found.to_html()
    assert "</td>&" not in found.to_html()
    assert "\x1b" not in str(found) + found.to_html() + found.to_markdown() + found.to_latex()
    assert r"\<b\>=1\|" in found.to_markdown()
    assert r"\_\%" in found.to_latex()
    assert "'-2+3" in found.to_csv()
    picture(found, ".png")


def test_the_page_loads_nothing(by_arm):
    page = by_arm.to_html()
    assert "default-src 'none'" in page
    for sign in ("<script", "http://", "https://", "url(", "@import"):
        assert sign not in page


def test_the_forest_plot_has_a_panel_for_each_column_and_a_bar_for_each_interval(by_arm):
    figure = by_arm.plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["pressure", "smoker (%)"]
    bars = [line.get_xdata() for line in figure.axes[0].get_lines() if line.get_linestyle() == "-"]
    assert [tuple(bar) for bar in bars] == [(line.lower, line.upper) for line in by_arm.lines[:2]]
    assert b"prefers-color-scheme:dark" in picture(by_arm, ".svg")
    assert picture(by_arm, ".png").startswith(b"\x89PNG")
    release = td.mean(table()[["smoker"]], epsilon=1, bounds=(0, 1), confidence=0.95, randomness=td.seeded(1))
    assert len(plots.forest(release, dark=True).axes) == 1
    with pytest.raises(td.ParameterError, match="release must be"):
        plots.forest(3)


def test_without_matplotlib_the_install_line_is_named(by_arm, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(td.ParameterError, match=r'pip install "tukeydp\[plots\]"'):
        by_arm.plot()


def test_the_callers_table_survives():
    frame = table()
    before = frame.copy()
    grouped(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_table_that_fails_when_it_is_read_tells_nothing_of_its_cells():
    query = pl.LazyFrame({"arm": ["Zoe4711", "A"], "age": [1.0, 2.0]}).with_columns(pl.col("arm").cast(pl.Int64))
    with pytest.raises(td.ParameterError) as error:
        td.summary(query, epsilon=1, bounds=(0, 9), by="arm", keys=["A"])
    assert "Zoe4711" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_no_mean_beside_a_number_of_values_that_cannot_be_told_from_none(confidence):
    """n = 0 stood beside a mean of 90.68 (90.49 to 90.87)."""
    cells = np.column_stack([np.full(2000, np.nan), np.random.default_rng(1).normal(120, 15, 2000)])
    given = {"epsilon": 1, "bounds": (60, 240), "confidence": confidence, "randomness": td.seeded(1)}
    empty, full = td.summary(cells, **given).lines
    assert (empty.mean, empty.sd, empty.lower, empty.upper) == (None, None, None, None)
    assert "cannot be told from none" in empty.reasons[0]
    assert empty.n < 150
    assert abs(full.mean - 120) < 5
    assert full.n > 1850


def test_means_of_few_rows_are_shown_where_no_number_of_values_could_be_told_from_none():
    """Which follows from public numbers: 90 rows at epsilon 1, noised by 28."""
    cells = np.random.default_rng(1).normal(120, 15, (90, 1))
    (line,) = td.summary(cells, epsilon=1, bounds=(60, 240), confidence=None, randomness=td.seeded(1)).lines
    assert line.mean is not None
