"""Lazy frames that cannot be read, and options they cannot have: told without a cell, and whether it has cost."""

from __future__ import annotations

from datetime import date

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import tukeydp as td
from tukeydp.data.lazy_tables import LazyTable, is_lazy, lazy_table

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'tukeydp[duckdb]'")

ENGINES = ("polars", "duckdb")
SECRET = 4711.25


def opened(engine, path):
    return pl.scan_parquet(path) if engine == "polars" else duckdb.sql(f"select * from read_parquet('{path}')")


def refused(frame, words, account, **given):
    with pytest.raises(td.ParameterError, match=words) as caught:
        td.mean(frame, **{"epsilon": 1, "bounds": (0, 1), "accountant": account, **given})
    assert "4711" not in str(caught.value)
    assert "4711" not in repr(caught.value.__cause__)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"a": [1.0], "day": [date(2024, 1, 1)]}), "x column 'day' must hold numbers; got type Date"),
        (pl.DataFrame({"a": [SECRET]}).clear(), "x must have at least one row and one column"),
    ],
)
def test_a_schema_that_is_refused_costs_nothing(tmp_path, engine, frame, words):
    frame.write_parquet(tmp_path / "x.parquet")
    account = td.Accountant(1)
    refused(opened(engine, tmp_path / "x.parquet"), words, account)
    assert account.remaining().epsilon == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_bounds_of_a_missing_column_cost_nothing(tmp_path, engine):
    pl.DataFrame({"a": [SECRET]}).write_parquet(tmp_path / "x.parquet")
    account = td.Accountant(1)
    refused(opened(engine, tmp_path / "x.parquet"), "bounds must", account, bounds={"b": (0, 1)})
    assert account.remaining().epsilon == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_ends_early_costs_nothing(tmp_path, engine):
    """Its end says how many rows there are: without it nothing can be counted."""
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": np.full(5000, SECRET)}).write_parquet(path)
    frame = opened(engine, path)
    path.write_bytes(path.read_bytes()[:-200])
    account = td.Accountant(1)
    assert "nothing was spent" in refused(frame, "x must be a frame that can be read", account)
    assert account.remaining().epsilon == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_pages_that_cannot_be_read_have_cost_the_budget_and_the_error_says_so(tmp_path, engine):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": np.random.default_rng(1).random(50_000)}).write_parquet(path, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[100:100_000] = b"\xff" * 99_900
    path.write_bytes(whole)
    account = td.Accountant(1)
    assert "budget is spent" in refused(opened(engine, path), "x must be readable to its end", account)
    assert account.remaining().epsilon == 0


def test_an_aggregate_that_fails_in_the_middle_has_spent():
    account = td.Accountant(1)
    frame = pl.LazyFrame({"a": ["1", "Zoe4711"]}).select(pl.col("a").cast(pl.Float64))
    with pytest.raises(td.ParameterError, match="budget is spent"):
        td.aggregate(frame, "mean", blocks=1, epsilon=1, bounds=(0, 1), accountant=account)
    assert account.remaining().epsilon == 0


def test_files_of_another_schema(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": ["Zoe4711"]}).write_parquet(tmp_path / "2.parquet")
    refused(pl.scan_parquet(tmp_path / "*.parquet"), "x must be", td.Accountant(1))
    refused(duckdb.sql(f"select * from read_parquet('{tmp_path}/*.parquet')"), "x must be", td.Accountant(1))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_query_that_fails_at_a_cell_does_not_quote_it(engine):
    if engine == "polars":
        frame = pl.LazyFrame({"a": ["1", "Zoe4711"]}).select(pl.col("a").cast(pl.Float64))
    else:
        texts = duckdb.sql("select * from (values ('1'), ('Zoe4711')) as t(a)")
        frame = texts.select("cast(a as double) as a")
    refused(frame, "x must be", td.Accountant(1))


def test_names_that_are_there_twice():
    with pytest.raises(td.ParameterError, match="x must have distinct column names"):
        td.cube(duckdb.sql("select 4711 as a, 2 as a"), epsilon=1, bounds=(0, 1))


def test_names_that_sql_does_not_tell_apart_cost_nothing():
    """Asked for by name, column A would be column a once more."""
    account = td.Accountant(1)
    refused(duckdb.sql('select 4711 as a, 2 as "A"'), "names that differ in more than capital letters", account)
    assert account.remaining().epsilon == 1
    assert td.cube(pl.LazyFrame({"a": [1], "A": [2]}), epsilon=1, bounds=(0, 1)).columns == ("a", "A")


def test_names_that_polars_would_take_for_patterns():
    for names in (("^b.$", "c"), ("^a.*$", "ab", "*", "")):
        frame = pl.DataFrame({name: [float(i)] * 9 for i, name in enumerate(names)})
        points = [td.cube(x, epsilon=1, bounds=(0, 9), randomness=td.seeded(1)).point for x in (frame, frame.lazy())]
        assert points[0].tobytes() == points[1].tobytes()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": [1, 2], "keys": [1]}, "by must be the name of a column"),
        ({"by": "b", "keys": [1]}, "x must have the column that groups or persons are in"),
        ({"person": [1, 2]}, "person must be the name of a column of a lazy frame"),
        ({"confidence": 0.95, "blocks": 3}, "blocks must be left out with confidence"),
        ({"bounds": None, "delta": 1e-6}, "bounds must be given"),
        ({"blocks": 3}, "blocks must be an integer from 1 to 2"),
        ({"mechanism": "cube", "partitions": 2}, "partitions must be left out with mechanism='cube'"),
        ({"mechanism": "rem"}, "mechanism must be"),
    ],
)
def test_what_takes_a_table_in_memory_is_refused_and_costs_nothing(given, words):
    account = td.Accountant(1)
    refused(pl.LazyFrame({"a": [SECRET, 2.0]}), words, account, **given)
    assert account.remaining().epsilon == 1


@pytest.mark.parametrize("mechanism", [td.mean, td.summary, td.cube, td.spread])
@pytest.mark.parametrize("rows", [0, 90])
def test_a_lazy_frame_may_have_a_secret_number_of_rows(mechanism, rows):
    frame = pl.LazyFrame({"a": np.ones(rows)})
    given = {"epsilon": 1, "bounds": (0, 2), "neighbours": "add-remove", "randomness": td.seeded(1)}
    assert mechanism(frame, **given, rows=10).n is None


@pytest.mark.parametrize(
    ("statistic", "given", "words"),
    [
        ("median", {}, "statistic must be 'mean' for a lazy frame"),
        (np.mean, {}, "statistic must be 'mean' for a lazy frame"),
        ("mean", {"bounds": None, "delta": 1e-6}, "clip must be given for a lazy frame without bounds"),
        ("mean", {"columns": ["a", "b"]}, "columns must be 1 different names"),
        ("mean", {"target": "a"}, "target must be left out for a lazy frame"),
        ("mean", {"blocks": 3}, "blocks must be an integer from 1 to 2"),
    ],
)
def test_aggregates_of_lazy_frames_are_means(statistic, given, words):
    account = td.Accountant(1)
    with pytest.raises(td.ParameterError, match=words):
        td.aggregate(
            pl.LazyFrame({"a": [SECRET, 2.0]}), statistic, accountant=account,
            **{"blocks": 2, "epsilon": 1, "bounds": (0, 1), **given},
        )  # fmt: skip
    assert account.remaining().epsilon == 1


def test_more_sums_than_fit_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr("tukeydp.mechanisms.passes.MOST_SUMS", 2**6)
    frame = pl.LazyFrame({"a": np.zeros(1000)})
    for given in ({"blocks": 33}, {"mechanism": "two-step"}, {"mechanism": "subset"}):
        with pytest.raises(td.ParameterError, match=r"for a lazy frame|of a lazy frame"):
            td.mean(frame, epsilon=1, bounds=(0, 1), **given)
    assert td.mean(frame, epsilon=1, bounds=(0, 100)).mechanism == "cube"
    with pytest.raises(td.ParameterError, match="epsilon must be larger for the spread of a lazy frame"):
        td.spread(frame, epsilon=1, bounds=(0, 1))


def test_what_is_lazy():
    assert is_lazy(pl.LazyFrame({"a": [1]}))
    assert is_lazy(nw.from_native(pl.LazyFrame({"a": [1]})))
    assert not any(
        is_lazy(x) for x in (pl.DataFrame({"a": [1]}), np.zeros(3), [1], None, nw.from_native(pl.DataFrame()))
    )
    wrapped = td.cube(nw.from_native(pl.LazyFrame({"a": [1.0]})), epsilon=1, bounds=(0, 1))
    assert wrapped.columns == ("a",)


def test_an_engines_interruption_is_passed_on():
    def interrupted(one):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LazyTable(1, ("a",), "test", interrupted).total()


def test_a_panic_of_an_engine_is_told_without_its_words():
    """It is no Exception, and its words may quote a cell."""

    def panicked(one):
        raise pl.exceptions.PanicException(f"no number: {SECRET}")

    with pytest.raises(td.ParameterError, match="PanicException from test") as caught:
        LazyTable(1, ("a",), "test", panicked).total()
    assert "4711" not in str(caught.value)


def test_an_older_polars_is_told(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(td.ParameterError, match="x needs a polars whose LazyFrame has collect_batches"):
        lazy_table(pl.LazyFrame({"a": [1.0]}))
