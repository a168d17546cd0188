"""td.aggregate: whatever a statistic does, nothing but the release leaves the call, and the caller's data survive."""

from __future__ import annotations

import logging
import os
import random
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tukeydp as td
from tukeydp.data.row_blocks import rows_of
from tukeydp.mechanisms import block_release
from tukeydp.mechanisms.aggregate import BlockStatistic
from tukeydp.trusted.blocks import dealt_rows
from tukeydp.trusted.release import rehearsed

X = np.random.default_rng(3).normal(size=(600, 2))
BOUNDED = {"blocks": 150, "epsilon": 2, "bounds": (-10, 10)}


def medians(block):
    return np.median(block, axis=0)


def run(statistic, x=X, **options):
    return td.aggregate(x, statistic, **{**BOUNDED, "randomness": td.seeded(1), **options})


def unlucky(block):
    """Whether something is to go wrong on this block: never on made-up rows, which are small."""
    return abs(block[0, 0]) > 100


# Row 5 of `FAR` is one that things go wrong with.
FAR = X.copy()
FAR[5, 0] = 1e6


def raises(block):
    if unlucky(block):
        raise RuntimeError(f"secret {block[0, 0]}")
    return medians(block)


def leaves(block):
    if unlucky(block):
        sys.exit(f"secret {block[0, 0]}")
    return medians(block)


def loops_forever_into_itself(block):
    def deeper():
        return deeper()

    return deeper() if unlucky(block) else medians(block)


MISTAKES = {
    "raises": raises,
    "exits": leaves,
    "recurses": loops_forever_into_itself,
    "inf": lambda block: np.array([np.inf, 0.0]) if unlucky(block) else medians(block),
    "nan": lambda block: np.array([np.nan, 0.0]) if unlucky(block) else medians(block),
    "too long": lambda block: np.zeros(7) if unlucky(block) else medians(block),
    "a matrix": lambda block: np.zeros((1, 2)) if unlucky(block) else medians(block),
    "a text": lambda block: "ab" if unlucky(block) else medians(block),
    "complex": lambda block: medians(block) + 1j if unlucky(block) else medians(block),
    "nothing": lambda block: None if unlucky(block) else medians(block),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_goes_wrong_on_a_block_makes_it_a_missing_one(mistake):
    known = BlockStatistic(MISTAKES[mistake], 2, None)
    order = np.array([5, *(i for i in range(600) if i != 5)])
    table = known.table(rows_of(FAR), dealt_rows(order, 150))
    assert np.isnan(table[0]).all()
    assert np.isfinite(table[1:]).all()
    assert run(MISTAKES[mistake], FAR).released


def loud(block):
    print("secret on stdout")  # noqa: T201 what is tested
    print("secret on stderr", file=sys.stderr)  # noqa: T201
    os.write(1, b"secret on descriptor 1\n")
    os.write(2, b"secret on descriptor 2\n")
    sys.__stdout__.write("secret past the redirection\n")
    warnings.warn("secret", stacklevel=1)
    logging.getLogger("of a statistic").error("secret")
    np.divide(block, 0.0)
    return medians(block)


def test_prints_warnings_and_log_records_go_nowhere(capfd, caplog):
    with np.errstate(all="raise"):
        assert run(loud).released
    sys.stdout.write("after\n")
    logging.getLogger("of the caller").error("heard")
    said = capfd.readouterr()
    assert "secret" not in said.out + said.err + caplog.text
    assert "after" in said.out
    assert "heard" in caplog.text  # the silence ends with the call


def test_an_interruption_by_the_user_passes():
    def interrupted(block):
        if unlucky(block):
            raise KeyboardInterrupt
        return medians(block)

    with pytest.raises(KeyboardInterrupt):
        run(interrupted, np.full((10, 2), 1e6), blocks=5)
    sys.stdout.write("the streams are back")  # would raise on a closed file


def overwriting(block):
    value = medians(block)
    block[:] = 0.0
    return value


def test_a_statistic_that_modifies_its_input_modifies_a_copy():
    before = X.copy()
    assert np.array_equal(run(overwriting).point, run(medians).point)
    assert np.array_equal(X, before)
    whole = X.copy()
    assert np.array_equal(run(overwriting, whole, blocks=1).point, run(medians, blocks=1).point)
    assert np.array_equal(whole, X)


def test_frames_and_their_cells_survive_too():
    frame = pd.DataFrame({"a": X[:, 0], "tags": [[1.0] for _ in X]})
    reached = []

    def overwriting_cells(block):
        value = float(block["a"].median())
        reached.extend(tags for tags in block["tags"] if isinstance(tags, list))
        block["a"] = 0.0
        return value

    run(overwriting_cells, frame)
    assert reached == []  # a list is no cell: it is missing
    assert np.array_equal(frame["a"], X[:, 0])


SEEN: list[float] = []


def keeps_state(block):
    """What no single process prevents: a list outside that remembers earlier blocks."""
    SEEN.append(float(block[0, 0]))
    return np.array([max(SEEN), 0.0])


def test_state_between_blocks_is_a_documented_limit():
    """One row changes every later row of the block table: docs/proofs/aggregate.md, section 5, says so."""
    known, order = BlockStatistic(keeps_state, 2, None), np.arange(600)
    SEEN.clear()
    plain = known.table(rows_of(X), dealt_rows(order, 150))
    swapped = X.copy()
    swapped[0, 0] = 50.0
    SEEN.clear()
    assert (known.table(rows_of(swapped), dealt_rows(order, 150))[:, 0] != plain[:, 0]).sum() > 100


class Counting:
    """State in the statistic itself: each block gets a copy."""

    def __init__(self):
        self.calls = 0

    def __call__(self, block):
        self.calls += 1
        return float(self.calls)


def test_state_inside_a_callable_object_starts_afresh_with_each_block():
    counting = Counting()
    table = BlockStatistic(counting, 1, None).table(rows_of(X), dealt_rows(np.arange(600), 150))
    assert (table == 1.0).all()
    assert counting.calls == 0


def test_global_generators_start_afresh_with_each_block_and_are_put_back():
    def drawing(block):
        return [np.random.random(), random.random()]  # noqa: NPY002 what is tested

    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    known = BlockStatistic(drawing, 2, None)
    once, again = (known.table(rows_of(X), dealt_rows(np.arange(600), 150)) for _ in range(2))
    assert np.array_equal(once, again)
    assert len(np.unique(once[:, 0])) == 150
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002


@pytest.mark.parametrize("generator", [np.random, random])
def test_how_much_a_block_draws_changes_no_other_row_of_the_block_table(generator):
    """A swapped row that makes its block draw more must not shift what all later blocks draw."""

    def drawing(block):
        drawn = [generator.random() for _ in range(3 if unlucky(block) else 1)]
        return drawn[-1]

    known, order = BlockStatistic(drawing, 1, None), np.array([5, *(i for i in range(600) if i != 5)])
    tables = [known.table(rows_of(x), dealt_rows(order, 150)) for x in (X, FAR)]
    assert (tables[0] != tables[1]).ravel().tolist() == [True] + [False] * 149


class Account:
    """Remembers what was spent."""

    def __init__(self):
        self.spent = []

    def require(self, guarantee):
        pass

    def spend(self, guarantee, *, mechanism, seeded, parameters):
        self.spent.append((mechanism, guarantee, parameters))


def test_a_coding_mistake_is_found_on_made_up_rows_before_anything_is_spent():
    account = Account()
    with pytest.raises(td.ParameterError, match="statistic must return finite numbers") as caught:
        run(lambda block: block.medain(), accountant=account)
    assert isinstance(caught.value.__cause__, AttributeError)
    assert account.spent == []
    with pytest.raises(td.ParameterError, match="depth"):
        run(medians, accountant=account, depth="exact")
    assert account.spent == []
    run(medians, accountant=account)
    ((mechanism, guarantee, _),) = account.spent
    assert (mechanism, guarantee) == ("aggregate", td.PureDP(2))


@pytest.mark.parametrize("frame", [False, True])
def test_a_statistic_that_fails_at_one_missing_cell_is_warned_of(frame):
    """Noise came out where a few cells of each block were missing; whether any are is not looked at."""
    x = np.random.default_rng(1).normal(size=(200, 2))
    holes = np.where(np.arange(200)[:, np.newaxis] % 5, x, np.nan)
    made = (lambda cells: pd.DataFrame(cells, columns=["a", "b"])) if frame else np.array
    for statistic, warned in ((_plain_mean, True), (_mean_of_values, False)):
        told = set()
        for rows in (made(x), made(holes)):
            found = td.aggregate(rows, statistic, blocks=20, epsilon=1, bounds=(-9, 9), randomness=td.seeded(1))
            told.add(found.notes)
            assert (
                any("has no value for made-up rows of which one is missing" in note for note in found.notes) == warned
            )
        assert len(told) == 1


def _plain_mean(rows):
    return float(np.mean(np.asarray(rows)))


def _mean_of_values(rows):
    return float(np.nanmean(np.asarray(rows)))


def test_rows_of_the_data_are_not_touched_before_the_budget_is_spent():
    touched = []

    def watching(block):
        touched.append(bool((np.abs(block) > 100).any()))
        return medians(block)

    class Empty(Account):
        def spend(self, *_, **__):
            assert not any(touched)
            raise td.BudgetExceeded("epsilon", "must be less", "2")

    with pytest.raises(td.BudgetExceeded):
        run(watching, FAR, accountant=Empty())
    assert touched
    assert not any(touched)


def test_with_bounds_it_is_pure_and_without_it_has_a_delta():
    assert run(medians).guarantee == td.PureDP(2)
    release = run(medians, bounds=None, delta=1e-3, epsilon=4)
    assert release.guarantee == td.ApproxDP(4, "1e-3")
    assert release.released
    assert np.abs(release.point).max() < 1
    assert (release.mechanism, release.settings["drawn_by"], release.n) == ("aggregate", "rem", 600)
    assert release.expected_error is None
    assert any("No expected_error" in note for note in release.caveats)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": None, "delta": 1e-6, "partitions": 2}, "partitions"),
        ({"blocks": 0}, "blocks"),
        ({"blocks": 601}, "blocks"),
        ({"columns": ["one"]}, "columns"),
        ({"columns": ["same", "same"]}, "columns"),
        ({"attribute": "coef_"}, "attribute"),
        ({"target": 0}, "target"),
        ({"bounds": (1, -1)}, "bounds"),
        ({"clip": (1, -1)}, "bounds"),
        ({"randomness": 3}, "randomness"),
    ],
)
def test_wrong_parameters_are_named(options, named):
    with pytest.raises(td.ParameterError) as caught:
        run(medians, **options)
    assert caught.value.parameter == named


def test_cells_are_clipped_only_if_asked():
    def largest(block):
        return float(np.abs(block).max())

    wide = {"blocks": 10, "bounds": (0, 2e6), "epsilon": 50}
    assert run(largest, np.full((60, 1), 1e6), **wide).point[0] > 9e5
    assert run(largest, np.full((60, 1), 1e6), clip=(-3, 3), **wide).point[0] < 1000


FRAME = pd.DataFrame({"a": X[:, 0], "group": pd.Categorical(["u", "v", "w"] * 200)})


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_frames_arrive_as_frames_of_the_callers_kind(library):
    frame = {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "arrow": pa.Table.from_pandas(FRAME)}[library]
    kinds = set()

    def statistic(block):
        kinds.add(type(block))
        values = np.asarray(block["a"])
        return {"middle": np.median(values), "u": float(np.mean([str(v) == "u" for v in block["group"]]))}

    release = run(statistic, frame)
    assert kinds == {type(frame)}
    assert release.columns == ("middle", "u")
    assert np.abs(release.point - [np.median(X[:, 0]), 1 / 3]).max() < 1


def test_a_block_of_a_frame_knows_nothing_of_the_others():
    """Neither places of rows nor the list of all categories nor attributes."""
    frame = FRAME.set_index(np.arange(1000, 1600))
    frame.attrs["all rows"] = frame["a"]
    block = rows_of(frame).take(np.array([300, 3]))
    assert list(block.index) == [0, 1]
    assert block.attrs == {}
    assert not isinstance(block["group"].dtype, pd.CategoricalDtype)
    assert list(block["group"]) == ["u", "u"]
    numbers = pd.DataFrame({"code": pd.Categorical([3, 1, 2])})
    assert list(rows_of(numbers).take(np.array([0, 1]))["code"]) == [3, 1]


CODES = pd.DataFrame({"code": np.arange(400) % 90 + 10})


def written_length(block):
    return block["code"].astype(str).str.len().mean()


def types(block):
    return len(str(block.dtypes))


def metadata(block):
    field = block.schema.field(0)
    return len(str((block.schema.metadata, field.metadata))) + len(block["code"].chunk(0).buffers())


def dictionary(block):
    return len(block["code"].chunk(0).dictionary) if pa.types.is_dictionary(block.schema.field(0).type) else 0


def as_arrow(frame):
    """The cells as text under a dictionary, and something about all of them in the metadata of table and field."""
    written = [str(cell) for cell in frame["code"].astype(object)]
    codes = pa.array(written).dictionary_encode()
    field = pa.field("code", codes.type, metadata={"longest": "x" * max(map(len, written))})
    return pa.Table.from_arrays([codes], schema=pa.schema([field], metadata={"values": str(codes.dictionary)}))


OPENED = {
    "pandas": (pd.DataFrame, written_length),
    "types of pandas": (pd.DataFrame, types),
    "types of polars": (lambda frame: pl.read_csv(frame.to_csv(index=False).encode()), types),
    "metadata": (as_arrow, metadata),
    "dictionaries": (as_arrow, dictionary),
}


@pytest.mark.parametrize("cell", [None, "131 mmHg", 10**17])
@pytest.mark.parametrize("library", OPENED)
def test_one_row_changes_one_row_of_the_block_table_whatever_a_frame_infers_from_it(library, cell):
    """With the first of these, one missing cell told 200 releases at epsilon = 0.5 from 200 others."""
    opened, statistic = OPENED[library]
    other = pd.DataFrame({"code": [cell, *CODES["code"].tolist()[1:]]})
    known, order = BlockStatistic(statistic, 1, None), np.random.default_rng(2).permutation(400)
    tables = [known.table(rows_of(opened(frame)), dealt_rows(order, 40)) for frame in (CODES, other)]
    assert np.isfinite(tables[0]).all()
    assert (tables[0] != tables[1]).sum() <= 1


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_no_cell_decides_whether_a_statistic_is_refused_on_made_up_rows(library):
    """Types are inferred from cells: made-up rows of these types would fail, with nothing spent, for one row's sake."""

    def middle(block):
        return np.median(np.asarray(block["code"], dtype=float))

    def opened(first):
        return library(pd.DataFrame({"code": [first, *CODES["code"].tolist()[1:]]}, dtype=type(first)))

    options = {"blocks": 40, "bounds": (0, 200), "epsilon": 20}
    points = [run(middle, opened(first), **options).point[0] for first in (10, "131 mmHg")]
    assert np.abs(np.array(points) - 54).max() < 10


def test_columns_of_text_bool_and_dates_are_tried_on_what_is_declared():
    frame = pd.DataFrame({
        "ward": ["01", "02"] * 300, "smoker": [True, False, True] * 200, "age": X[:, 0],
        "day": pd.date_range("2020-01-01", periods=600),
    })  # fmt: skip
    options = {"blocks": 60, "epsilon": 50, "bounds": (-10, 3000)}
    types = {"ward": "text", "smoker": "bool", "day": "date"}

    def all_of_them(block):
        return [block["ward"].str.len().mean(), block[block["smoker"]]["age"].mean(), block["day"].dt.year.median()]

    with pytest.raises(td.ParameterError, match="types= says which columns are text, bool or date"):
        run(all_of_them, frame, **options)
    release = run(all_of_them, frame, types=types, **options)
    assert np.abs(release.point - [2, 0, 2020]).max() < 3
    assert run(lambda block: block["ward"].str.len().mean(), frame, **options).d == 1  # text, if numbers fail


def test_usual_statistics_of_frames_work_as_they_are():
    linear = pytest.importorskip("sklearn.linear_model")
    api = pytest.importorskip("statsmodels.api")
    frame = pd.DataFrame({
        "age": X[:, 0], "visits": np.arange(600) % 7, "sex": ["f", "m", "f"] * 200, "ill": np.arange(600) % 2 == 0,
    })  # fmt: skip
    options = {"blocks": 30, "epsilon": 50, "bounds": (-10, 10)}
    assert abs(run(lambda block: (block["sex"] == "f").mean(), frame, **options).point[0] - 2 / 3) < 0.3
    assert abs(run(lambda block: block["visits"].mean(), frame, **options).point[0] - 3) < 1
    assert run(lambda block: block.groupby("sex")["age"].mean().std(ddof=0), frame, **options).released
    assert run(lambda block: api.OLS(block["ill"], block[["age", "visits"]]).fit().params, frame, **options).released
    fitted = linear.LogisticRegression()
    numbers = frame.drop(columns="sex")
    for kind in (pd.DataFrame, pl.DataFrame):
        release = run(fitted, kind(numbers), target="ill", attribute=("intercept_", "coef_"), **options)
        assert release.columns == ("intercept", "age", "visits")


def test_fields_of_a_structured_array_are_columns():
    rows = np.array([(a, b) for a, b in X], dtype=[("a", "f8"), ("b", "f8")])
    assert run(medians, rows).d == 2


def test_names_of_a_series_are_looked_up_by_name():
    def counts(block):
        return pd.Series({"a": 0, "b": 1} if block[0, 0] > 0 else {"b": 1, "a": 0})

    table = BlockStatistic(counts, 2, None, ("a", "b")).table(rows_of(X), dealt_rows(np.arange(600), 150))
    assert (table == [0, 1]).all()


def test_an_estimator_is_cloned_and_read():
    linear = pytest.importorskip("sklearn.linear_model")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": 3 + X @ [1, -2]})
    estimator = linear.LinearRegression()
    release = run(estimator, frame, target="y", attribute=("intercept_", "coef_"), blocks=60, epsilon=8)
    assert release.columns == ("intercept", "a", "b")
    assert np.abs(release.point - [3, 1, -2]).max() < 0.5
    assert not hasattr(estimator, "coef_")
    with pytest.raises(td.ParameterError, match="attribute"):
        run(estimator, frame, target="y")
    with pytest.raises(td.ParameterError, match="target"):
        run(estimator, frame, target="z", attribute="coef_")


def logistic(block, steps=12):
    """Newton's method, a little ridge; nothing but NumPy."""
    features, label = np.column_stack([np.ones(len(block)), block[:, :-1]]), block[:, -1]
    found = np.zeros(features.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-features @ found))
        curvature = features.T @ (features * (p * (1 - p))[:, np.newaxis]) + 0.1 * np.eye(len(found))
        found += np.linalg.solve(curvature, features.T @ (label - p) - 0.1 * found)
    return found


def test_logistic_regression_without_scikit_learn():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8000, 2))
    label = rng.random(8000) < 1 / (1 + np.exp(-(0.5 + x @ [1.0, -1.0])))
    release = td.aggregate(
        np.column_stack([x, label]), logistic, blocks=160, epsilon=1, bounds=(-10, 10), partitions=2,
        columns=["constant", "a", "b"], randomness=td.seeded(2),
    )  # fmt: skip
    assert np.abs(release.point - [0.5, 1.0, -1.0]).max() < 0.25
    assert release["a"] == release.point[1]


def test_a_column_given_as_such_arrives_as_such():
    shapes = set()

    def statistic(block):
        shapes.add(block.ndim)
        return np.median(block)

    run(statistic, X[:, 0])
    run(statistic, pd.Series(X[:, 0]))
    run(statistic, X[:, 0].tolist())
    assert shapes == {1}
    assert run(np.median, X[:, 0]).d == 1


def test_a_cell_that_is_a_list_is_missing_like_any_other_that_is_no_number():
    rows = X.tolist()
    rows[0][0] = [4711.0]
    assert run(np.nanmedian, rows).d == run(np.nanmedian, X.tolist()).d == 1


@pytest.fixture
def drawn(monkeypatch):
    """What boxem and rem are asked for."""
    asked = []
    for name in ("boxem", "rem"):
        real = getattr(block_release, name)

        def spying(table, real=real, **options):
            asked.append((table.cells, options))
            return real(table, **options)

        monkeypatch.setattr(block_release, name, spying)
    return asked


def first_cell(block):
    return block[0, 0]


def test_each_dealing_gets_its_share_of_epsilon_and_is_dealt_afresh(drawn):
    release = run(first_cell, partitions=3)
    ((table, options),) = drawn
    assert options["epsilon"] == Fraction(2, 3)
    assert release.guarantee == td.PureDP(2)
    parts = [frozenset(part) for part in np.split(table[:, 0], 3)]
    assert len(table) == 450
    assert len(set(parts)) == 3  # which rows come first in their block
    run(first_cell, partitions=3)
    run(first_cell, partitions=3, randomness=None)
    assert np.array_equal(drawn[1][0], table)
    assert not np.array_equal(drawn[2][0], table)


def test_several_dealings_of_a_regression_pay_for_delta(drawn):
    x = np.random.default_rng(1).normal(size=(1400, 2))
    td.regression(x[:, :1], x[:, 1], epsilon=1, delta=1e-6, partitions=2, randomness=td.seeded(1))
    ((table, options),) = drawn
    assert options["epsilon"] == Fraction(1, 2)
    assert 1e-6 * 0.999 < float(options["delta"]) * (1 + np.exp(0.5)) <= 1e-6 * (1 + 1e-12)
    halves = np.split(table, 2)
    assert not np.array_equal(np.sort(halves[0], axis=0), np.sort(halves[1], axis=0))


def test_a_block_table_of_another_length_is_never_drawn_from():
    known = block_release.BlockRelease(td.PureDP(1), 5, 1, 1, None, (0, 1), None, None)
    with pytest.raises(AssertionError):
        known.releases(np.zeros((6, 1)), 6, td.seeded(1), rehearsed({"draw": td.PureDP(1)}, bytes(32)), "aggregate", ())
