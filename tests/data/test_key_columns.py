"""Columns with groups' keys: the declared type may be refused, a cell never is, whatever the library makes of it."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tukeydp as td
from tukeydp.data.files import read_file
from tukeydp.data.keys import arrow_keys, checked_keys, grouped_table, key_cells, label
from tukeydp.data.persons import person_numbers
from tukeydp.data.readers.options import ReadOptions

TEXTS = ["A", " b ", None, "", "\u00e9\U0001f600"]
FAR = 2**60  # days, seconds or milliseconds: far beyond the year 9999, which is the last that Python has
NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 3], dtype=np.int32)), pa.py_buffer(b"A\xff\xfe")]
)


def arrow_times(unit, *values):
    return pa.array(values, type=pa.int64()).view(pa.timestamp(unit))


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype="string[python]"),
        pd.Series(TEXTS, dtype="string[pyarrow]"),
        pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
        pd.Series(TEXTS, dtype="category"),
        pd.Index(TEXTS, dtype=object),
        pd.Categorical(TEXTS),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pl.Series(TEXTS, dtype=pl.Enum([text for text in TEXTS if text is not None])),
        pa.array(TEXTS),
        pa.array(TEXTS).cast(pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_texts_are_the_same_from_every_library(column):
    assert [label(cell) for cell in key_cells(column)] == [label(cell) for cell in TEXTS]


@pytest.mark.parametrize(
    "column",
    [
        *(np.array([1.0, 2.5]), np.array([1, 2]), np.array([True, False]), pd.Series([1, None], dtype="Int64")),
        *(pd.Series([1, 2], dtype=pd.ArrowDtype(pa.int8())), pl.Series([1, None]), pl.Series([True, None])),
        *(pa.array([1, 2]), pa.array([True, None]), pa.nulls(2), pa.array([1.5, None])),
    ],
    ids=str,
)
def test_numbers_and_truth_values_are_keys(column):
    assert len(key_cells(column)) == 2


def test_a_row_belongs_to_its_group_whatever_the_others_do():
    """Also where it is the only one of its group: how many there are is secret."""
    cells = ["A"] * 9 + ["b", None, "A", "other", "b"]
    x = np.zeros((len(cells), 1))
    groups = grouped_table(x, cells, ["A", "b", "empty"]).groups.tolist()
    assert groups == [0] * 9 + [1, -1, 0, -1, 1]
    for i, cell in enumerate(cells):
        assert grouped_table(x[:1], [cell], ["A", "b", "empty"]).groups.tolist() == [groups[i]]
        swapped = [*cells[:i], "empty", *cells[i + 1 :]]
        expected = [*groups[:i], 2, *groups[i + 1 :]]
        assert grouped_table(x, swapped, ["A", "b", "empty"]).groups.tolist() == expected


DATES = {
    "numpy": lambda far: np.array([0, far], dtype="datetime64[s]"),
    "pandas": lambda far: pd.Series(np.array([0, far], dtype="datetime64[s]")),
    "pandas, Arrow's": lambda far: pd.Series(
        pd.array(arrow_times("s", 0, far), dtype=pd.ArrowDtype(pa.timestamp("s")))
    ),
    "pandas, categories": lambda far: pd.Series(np.array([0, far], dtype="datetime64[s]")).astype("category"),
    "polars": lambda far: pl.Series([0, far]).cast(pl.Datetime("ms")),
    "Arrow": lambda far: arrow_times("s", 0, far),
    "Arrow's days": lambda far: pa.array([0, min(far, 2**30)], type=pa.int32()).view(pa.date32()),
    "lists": lambda far: pa.array([[datetime.date(1, 1, 1)], []]),
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_are_no_keys_whether_python_has_them_or_not(kind, capfd):
    """A day beyond the year 9999 made one table raise, and polars print, where its neighbour was released."""
    for far in (1, FAR if "pandas" not in kind and kind != "numpy" else 2**40):
        column = DATES[kind](far)
        assert key_cells(column) == [None, None]
        found = td.summary(np.ones((2, 1)), by=column, keys=["A"], epsilon=1, bounds=(0, 1), randomness=td.seeded(1))
        assert found.n == 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("far", [1, FAR])
def test_dates_in_tables_and_files(far, tmp_path):
    table = pa.table({"a": [1.0, 2.0], "day": arrow_times("us", 0, far)})
    assert grouped_table(table, "day", ["A"]).groups.tolist() == [-1, -1]
    with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    # The type that a file declares is there before its cells.
    with pytest.raises(td.ParameterError, match="must hold texts, numbers or truth values"):
        read_file(tmp_path / "t.arrow", ["a", "day"], ReadOptions(keys={"day": checked_keys(["A"])}))


# What libraries make of one column of keys, by what else stands in it.
SAME = {
    "whole numbers, one missing": (pd.Series([1, 2, 3]), pd.Series([1, 2, None])),
    "whole numbers, one a text": (pd.Series([1, 2, 3]), pd.Series(["1", "2", "x"])),
    "floats, one a text": (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, "x"])),
    "truth values, one missing": (pd.Series([True, False, True]), pd.Series([True, False, None])),
    "truth values, one a text": (pd.Series([True, False, True]), pd.Series(["TRUE", "False", "x"])),
    "numpy's truth values": (np.array([True, False, True]), np.array([True, False, "x"])),
    "a missing number, one a text": (np.array([np.nan, 2.0, 3.0]), np.array([np.nan, 2.0, "x"])),
    "numbers with zeros before, one a text": (pl.Series([7, 7, 3]), pl.Series(["007", "7", "x"])),
    "days, one a text": (
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])),
        pd.Series([pd.Timestamp("2020-01-01"), datetime.datetime(2020, 1, 2), "x"], dtype=object),
    ),
    "categories": (pd.Series([1, 2, 3]).astype("category"), pd.Series(["1", "2", "x"]).astype("category")),
    "Arrow": (pa.array([1, 2, 3]), pa.array(["1", "2.0", "x"]).dictionary_encode()),
    "hexadecimal, as Arrow reads files": (pa.array([7, 31, 31]), pa.array(["0x7", "0x1F", "x"])),
    "one number in two writings": (pa.array([31, 31, 3]), pa.array(["0x1F", "31", "x"])),
    "infinities": (pd.Series([np.inf, -np.inf, 3.0]), pd.Series(["Infinity", "-inf", "x"])),
}


@pytest.mark.parametrize("case", SAME)
def test_what_a_library_makes_of_a_column_changes_nobody_else_s_key_or_id(case):
    """The last cell is swapped; the others' groups, and whose rows are one person's, stay."""
    keys = checked_keys([1, 2, 31, "inf", True, False, "x", 7, "2020-01-01 00:00:00", "2020-01-02 00:00:00"])
    one, other = (key_cells(column) for column in SAME[case])
    assert keys.places(one)[:2].tolist() == keys.places(other)[:2].tolist()
    assert person_numbers(one)[:2].tolist() == person_numbers(other)[:2].tolist()


def test_a_text_that_is_not_utf_8_is_a_key_that_nobody_listed():
    with pytest.raises(UnicodeDecodeError):
        NOT_UTF8.to_pylist()
    for column in (NOT_UTF8, pa.chunked_array([NOT_UTF8]), NOT_UTF8.dictionary_encode()):
        assert arrow_keys(column) == ["A", "\ufffd\ufffd"]
    frame = pd.Series(pd.array(NOT_UTF8, dtype=pd.ArrowDtype(pa.string())))
    assert key_cells(frame)[0] == "A"


def test_a_key_is_not_missing_because_memory_was_short():
    class Short:
        def __str__(self):
            raise MemoryError

    with pytest.raises(MemoryError):
        checked_keys(["A"]).places([Short()])
