"""Persons and groups of lazy frames: what an engine makes of one cell changes nobody else, and no cell raises."""

from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from tukeydp.data.keys import checked_keys
from tukeydp.data.records import records
from tukeydp.data.relation import SWAP
from tukeydp.mechanisms.per_person import persons_table
from tukeydp.trusted.rows import bounded_columns
from tukeydp.trusted.steps import HALF, Window, WindowSums

pd = pytest.importorskip("pandas")

BASE = {"a": [1.0, 3.0, 5.0, 7.0], "g": ["A", "A", "B", "B"], "p": ["u", "u", "v", "w"]}
TABLES = {
    "ids that read as one number": {"p": ["07", "7", "x", "8"]},
    "whole ids": {"p": [7, 7, 2**60, 8]},
    "missing ids": {"p": [1.0, np.nan, np.nan, 2.0]},
    "words for no id": {"p": ["NA", "", "a", "a "]},
    "a cell that is no number": {"a": ["1", "3", "oops", "7"]},
    "no value": {"a": [None] * 4},
    "truth values": {"a": [True, True, False, True]},
    "infinite and missing cells": {"a": [np.inf, np.nan, -np.inf, 2.0]},
    "blanks around keys": {"g": ["A ", "A", "B", " B"]},
    "numbers among texts as keys": {"g": ["1", "01", "2.0", "x"]},
    "whole numbers as keys": {"g": [1, 1, 2, 3]},
    "truth values as keys": {"g": [True, True, False, False]},
    "dates in place of keys": {"g": np.array(["2020-01-01"] * 4, dtype="datetime64[ns]")},
    "no key": {"g": [None] * 4},
}
KEYS = ["A", "B", 1, "2", True]


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame).lazy()


def duckdb(frame):
    pytest.importorskip("pyarrow")
    connection = pytest.importorskip("duckdb").connect()
    connection.register("frame", frame)
    return connection.sql("select * from frame")


def dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


ENGINES = (polars, duckdb, dask)


def persons(x, rule):
    table, groups = persons_table(x, "p", (0, 10), rule, by="g", keys=KEYS)
    return sorted(zip(map(str, np.round(table.cells[:, 0], 4)), map(str, groups), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", ["mean", "sum", "min", "max"])
@pytest.mark.parametrize("changed", TABLES.values(), ids=TABLES)
def test_persons_of_an_engine_are_those_in_memory(engine, rule, changed):
    """Which type a column has follows from all of its cells, and must not decide what the others become."""
    frame = pd.DataFrame(BASE | changed)
    assert persons(engine(frame), rule) == persons(frame, rule)


def sums(x, keys):
    found = records(x, SWAP, by="g", keys=keys)
    columns = bounded_columns(1, (-1, 1))
    (total,) = found.total(WindowSums(columns, Window((-1.0,), (1.0,), (0.0,)), len(keys), records=True))
    return [v / HALF for v in total]


@pytest.mark.parametrize("cells", [[1, True, 1, "z"], [True, 1, 1, "z"], ["A", ["x"], 1, True]])
def test_groups_of_objects_in_dask_are_read_row_by_row(cells):
    """pandas takes 1 and True for one value, the one that it meets first, and cannot hash a list."""
    pytest.importorskip("dask")
    import dask as library

    frame = pd.DataFrame({"a": [1.0] * 4, "g": pd.Series(cells, dtype=object)})
    with library.config.set({"dataframe.convert-string": False}):
        lazy = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)
        assert sums(lazy, [1, True, "A"]) == sums(frame, [1, True, "A"])


@pytest.mark.parametrize("engine", [polars, duckdb])
def test_a_column_without_a_value_is_one_like_any_other(engine):
    frame = pd.DataFrame({"a": pd.Series([None, None], dtype=object), "g": ["A", "B"]})
    assert sums(engine(frame), ["A", "B"]) == sums(frame, ["A", "B"]) == [0, 1, 0, 1]


def test_ids_that_are_decimals_are_ids():
    from decimal import Decimal

    frame = pd.DataFrame({"a": [1.0, 3.0, 5.0], "p": [Decimal(7), Decimal("7.0"), Decimal("7.5")]})
    table, _ = persons_table(frame, "p", (0, 10), "mean")
    assert table.cells[:, 0].tolist() == [2.0, 5.0]


def test_keys_whose_names_read_otherwise_are_the_same_for_persons():
    keys = [b"A", Fraction(1, 3), np.float32(0.1)]
    frame = pd.DataFrame({"a": [1.0] * 3, "g": pd.Series(["A", 1 / 3, float(np.float32(0.1))], dtype=object)})
    known = checked_keys(keys)
    for x in (frame.assign(p=[1, 2, 3]), dask(frame.assign(p=[1, 2, 3]))):
        _, groups = persons_table(x, "p", (0, 10), "mean", by="g", keys=keys)
        assert sorted(known.places(groups)) == [0, 1, 2]


@pytest.mark.parametrize("function", [td.mean, td.summary])
@pytest.mark.parametrize("check", [None, True, False])
def test_whether_a_table_of_secret_size_is_empty_is_not_told(function, check):
    empty = pd.DataFrame({"a": np.empty(0), "g": np.empty(0, dtype=object)})
    found = function(
        empty, by="g", keys=["A", "B"], epsilon=1, bounds=(0, 10), neighbours="add-remove", check=check,
        randomness=td.seeded(1),
    )  # fmt: skip
    assert found.guarantee.epsilon in (1, found.settings.get("epsilon_check"))
    with pytest.raises(td.ParameterError, match="must be an array or a table with neighbours='add-remove'"):
        function([[1.0]], by=["A"], keys=["A"], epsilon=1, bounds=(0, 1), neighbours="add-remove", check=check)


@pytest.mark.parametrize("cell", ["5", "1", "oops", "true", "FALSE", ""])
def test_the_only_cell_of_a_scanned_file_does_not_decide_whether_it_is_read(tmp_path, cell):
    """Engines that scan text files infer a column's type from it."""
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,g,p", *[",A,1"] * 5, f"{cell},A,2"]) + "\n", encoding="utf-8")
    value = {"5": 1, "1": 1, "true": 1}.get(cell, 0)
    library, other = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    for x in (library.sql(f"select a, g from read_csv('{path}')"), other.scan_csv(path).select("a", "g")):
        assert sums(x, ["A"]) == [value, 6]
    for x in (library.read_csv(str(path)), other.scan_csv(path)):
        table, _ = persons_table(x, "p", (0, 1), "mean", by="g", keys=["A"])
        assert np.nansum(table.cells) == value
