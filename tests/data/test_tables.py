"""What becomes of arrays, lists and tables; what may raise and what must not."""

from __future__ import annotations

import datetime
import decimal
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tukeydp as td
from tukeydp.data.tables import read_table

NAN = math.nan


def cells(x):
    return read_table(x).cells


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1, 2, 3], [[1], [2], [3]]),
        ([[1, 2.5], [3, 4]], [[1, 2.5], [3, 4]]),
        ([[1, "2"], [None, "x"]], [[1, 2], [NAN, NAN]]),
        (np.array([[True, False]]), [[1, 0]]),
        # One text, complex number or list must not change how the other cells are read.
        ([[True, 1], [2, "x"]], [[1, 1], [2, NAN]]),
        ([[1, 2], [3, 4j]], [[1, 2], [3, NAN]]),
        ([[1, [2]], (3, 4)], [[1, NAN], [3, 4]]),
        ([np.array([1, 2]), [3, "4"]], [[1, 2], [3, 4]]),
        # How long a row is, is data too: what more than half of the rows have is the table's.
        ([[1, 2], [3], [4, 5]], [[1, 2], [3, NAN], [4, 5]]),
        ([[1, 2], [3, 4, 5], [6, 7]], [[1, 2], [NAN, NAN], [6, 7]]),
        ([[1, 2], "row", [6, 7]], [[1, 2], [NAN, NAN], [6, 7]]),
        ([[1, 2], [3, 4], np.array([5])], [[1, 2], [3, 4], [5, NAN]]),
        ([1, [2, 3], 4], [[1], [NAN], [4]]),
        ([[[1]], [["x"]]], [[NAN], [NAN]]),
        # A complex cell makes numpy write all others of its array like that.
        (np.array([[1, 2], [3, 4j]]), [[1, 2], [3, NAN]]),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [[NAN], [NAN]]),
        (np.array([[True, 1], [2, "x"]]), [[1, 1], [2, NAN]]),
        ([np.float64(1), None, np.array(2.0), "x"], [[1], [NAN], [2], [NAN]]),
        (np.array([["1.5", "nan"], ["", " 7 "]]), [[1.5, NAN], [NAN, 7]]),
        (np.array([[10**400, -(10**400)]], dtype=object), [[math.inf, -math.inf]]),
        (np.array([[decimal.Decimal("0.5"), b"2"]], dtype=object), [[0.5, 2]]),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]), [[1, NAN]]),
        # A stray odd cell is missing, like any other unreadable one.
        (np.array([[1, datetime.date(2020, 1, 1)], [2, 5], [3, None]], dtype=object), [[1, NAN], [2, 5], [3, NAN]]),
        (np.array([[1, np.array([2])], [2, 3]], dtype=object), [[1, NAN], [2, 3]]),
    ],
)  # fmt: skip
def test_arrays_and_lists(x, expected):
    np.testing.assert_array_equal(cells(x), np.array(expected, dtype=float))


COLUMNS = {"a": [1, None, 3], "b": [0.5, NAN, 2.5], "d": [True, False, None]}
EXPECTED = [[1, 0.5, 1], [NAN, NAN, 0], [3, 2.5, NAN]]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(COLUMNS, strict=False),
        pl.LazyFrame(COLUMNS, strict=False),
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
    ],
    ids=["pandas", "pandas nullable", "pandas arrow", "polars", "polars lazy", "arrow", "arrow batch"],
)
def test_tables(table):
    read = read_table(table)
    assert read.columns == ("a", "b", "d")
    np.testing.assert_array_equal(read.cells, np.array(EXPECTED, dtype=float))


def test_series_categories_and_decimals():
    np.testing.assert_array_equal(cells(pd.Series([1.0, NAN])), [[1], [NAN]])
    np.testing.assert_array_equal(cells(pl.Series([1, None])), [[1], [NAN]])
    np.testing.assert_array_equal(cells(pd.DataFrame({"a": pd.Categorical([3, 1, None])})), [[3], [1], [NAN]])
    np.testing.assert_array_equal(
        cells(pd.DataFrame({"a": pd.Categorical([0.5, None]).astype(object)})), [[0.5], [NAN]]
    )
    objects = pd.DataFrame({"a": pd.Series([decimal.Decimal("0.1"), "2", None, "?"], dtype=object)})
    np.testing.assert_array_equal(cells(objects), [[0.1], [2], [NAN], [NAN]])
    dictionary = pa.table({"a": pa.array([5, None, 5]).dictionary_encode()})
    np.testing.assert_array_equal(cells(dictionary), [[5], [NAN], [5]])
    np.testing.assert_array_equal(cells(pl.DataFrame({"a": [decimal.Decimal("1.5"), None]})), [[1.5], [NAN]])


@pytest.mark.parametrize(
    "x",
    [
        [],
        [[]],
        np.empty((0, 3)),
        np.empty((3, 0)),
        np.zeros((2, 2, 2)),
        5,
        None,
        "text",
        [[1, 2], [3]],
        [[1, 2], "row"],
        iter([1, 2]),
        np.zeros(3, dtype="V4"),
        pd.DataFrame({"a": []}),
        pd.DataFrame(),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        {"a": [1, 2]},
        object(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_broken_schema_is_a_parameter_error(x):
    with pytest.raises(td.ParameterError, match="x"):
        td.boxem(x, epsilon=1, bounds=(0, 1))


BASES = [True, np.float32(0.3), 7, 2**60 + 1, 0.25, "1\0", " 2 ", b"3", decimal.Decimal("0.1"), None, NAN]
ODD = ["?", b"\xff", 1j, np.ma.masked, datetime.date(2020, 1, 1), np.timedelta64(1, "s"), {}, object(), 10**400, NAN]


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_no_cell_changes_how_another_row_is_read(base):
    """One row swapped for an odd one: the others stay as they were, and nothing raises or warns."""
    alone = cells([base] * 3 + [1.5])
    for odd in ODD:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(cells([base] * 3 + [odd])[:3], alone[:3])
            np.testing.assert_array_equal(cells([[base, base]] * 3 + [[odd, 1]])[:3, 0], alone[:3, 0])
            objects = np.array([base] * 3 + [None], dtype=object)
            objects[3] = odd
            np.testing.assert_array_equal(cells(objects)[:3], alone[:3])


def test_broken_text_and_wide_integers_in_tables():
    broken = pa.table({"a": pa.array([b"1", b"\xffsecret-4711"]).view(pa.string())})
    np.testing.assert_array_equal(cells(broken), [[1], [NAN]])
    with pytest.raises(UnicodeDecodeError):
        broken.column(0).to_pylist()
    widest = getattr(pl, "Int128", pl.Int64)  # the first versions have none
    for values in ([1, 2], [1, None]):
        expected = [[1], [2 if values[1] else NAN]]
        np.testing.assert_array_equal(cells(pl.DataFrame({"a": pl.Series(values, dtype=widest)})), expected)


def test_labels_that_are_not_text():
    read = read_table(pd.DataFrame(np.eye(2)))
    assert read.columns == ("0", "1")
    np.testing.assert_array_equal(read.cells, np.eye(2))
    pairs = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert read_table(pairs).d == 2


def test_structured_and_masked_arrays():
    rows = np.array([(1.5, 2), (3.5, 4)], dtype=[("a", "f4"), ("b", "i2")])
    read = read_table(rows)
    assert read.columns == ("a", "b")
    np.testing.assert_array_equal(read.cells, [[1.5, 2], [3.5, 4]])
    masked = np.ma.array(rows, mask=[(False, True), (False, False)])
    np.testing.assert_array_equal(cells(masked), [[1.5, NAN], [3.5, 4]])
    np.testing.assert_array_equal(cells(np.ma.masked_invalid([[1.0, NAN]])), [[1, NAN]])


def test_a_lazy_query_that_fails_quotes_nothing():
    query = pl.LazyFrame({"a": ["secret-4711"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(td.ParameterError, match="x must be") as caught:
        cells(query)
    assert "4711" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_lazy_table_keeps_its_rows_together():
    """Its order may change from one computation to the next."""
    query = pl.LazyFrame({"k": list(range(500)) * 2, "v": list(range(500)) * 2}).group_by("k").agg(pl.col("v").first())
    for _ in range(5):
        read = cells(query)
        np.testing.assert_array_equal(read[:, 0], read[:, 1])


def test_text_among_objects_is_read_as_libraries_read_it_among_numbers():
    texts = np.array(["1_000", "inf", "\uff11", " 5 ", "1e3"], dtype=object)
    np.testing.assert_array_equal(cells(texts)[:, 0], [1000, np.inf, 1, 5, 1000])


def test_a_column_of_nulls_is_missing():
    for table in (pl.DataFrame({"a": [None, None]}), pa.table({"a": pa.array([None, None])})):
        np.testing.assert_array_equal(cells(table), [[NAN], [NAN]])


def test_masked_rows_in_a_list_keep_their_mask():
    np.testing.assert_array_equal(cells([np.ma.array([1.0, 2.0], mask=[0, 1]), [3, 4]]), [[1, NAN], [3, 4]])


SECRETS = ["4711.25", "secret-4711"]


@pytest.mark.parametrize(
    "x",
    [
        np.full((5, 2), np.nan),
        np.full((5, 2), np.inf),
        np.array([[1e308, -1e308]] * 6),
        np.array([[5e-324, 1.0]] * 6),
        np.array([["secret-4711", "4711.25"]] * 6),
        np.array([["secret-4711", None]] * 6, dtype=object),
        np.zeros((7, 2)),
        np.array([[4711.25, 4711.25]]),
        np.column_stack([np.arange(9.0), np.arange(9.0)]),
        np.array([[np.longdouble("1e4000"), 1]]),
        np.full((4, 3), 2**63, dtype=np.uint64),
    ],
)
def test_values_neither_raise_nor_print_nor_warn_and_are_never_modified(x, capfd, caplog):
    before = x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = td.boxem(x, epsilon=1, bounds=(-10, 10))
    assert ((release.point >= -10) & (release.point <= 10)).all()
    out, err = capfd.readouterr()
    assert out == err == caplog.text == ""
    assert x.dtype == before.dtype
    assert all(a is b or a == b or (a != a and b != b) for a, b in zip(x.ravel(), before.ravel(), strict=True))


def test_errors_never_quote_cells():
    ragged = [["secret-4711", 1], ["4711.25"]]
    twice = pd.DataFrame([["secret-4711", "4711.25"]], columns=["a", "a"])
    for x in (ragged, twice, np.array([[["secret-4711"]]])):
        with pytest.raises(td.ParameterError) as caught:
            td.boxem(x, epsilon=1, bounds=(0, 1))
        assert not any(secret in str(caught.value) for secret in SECRETS)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_tables_are_not_modified_either():
    frame = pd.DataFrame(COLUMNS)
    before = frame.copy(deep=True)
    td.boxem(frame, epsilon=1, bounds=(0, 5))
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("column", [[pd.NaT, pd.NaT], [pd.NaT, 1.0], [2.0, 1.0]])
def test_a_missing_time_among_objects_is_an_empty_cell(column):
    """Else one row would decide between an error and a release."""
    expected = [[NAN if cell is pd.NaT else cell] for cell in column]
    for x in (np.array([[cell] for cell in column], dtype=object), pd.DataFrame({"a": column}, dtype=object)):
        np.testing.assert_array_equal(cells(x), expected)


def test_a_column_of_arrow_nulls_is_a_column_of_missing_cells():
    nulls = pd.Series([None, None], dtype=pd.ArrowDtype(pa.null()))
    np.testing.assert_array_equal(cells(pd.DataFrame({"a": nulls, "b": [1.0, 2.0]})), [[NAN, 1], [NAN, 2]])
    np.testing.assert_array_equal(cells(pa.table({"a": pa.nulls(2)})), [[NAN], [NAN]])


class Unhelpful(decimal.Decimal):
    """A number that is too large for a float, and does not say on which side."""

    def __float__(self):
        raise OverflowError("secret")

    def __gt__(self, other):
        raise RuntimeError("secret")


def test_what_a_number_of_another_class_raises_stays_inside():
    np.testing.assert_array_equal(cells([[Unhelpful(1), 1.0], [2.0, 3.0]]), [[NAN, 1], [2, 3]])


@pytest.mark.parametrize("by", [None, "group"])
def test_a_panic_of_polars_is_told_without_its_words(by, monkeypatch):
    """It is no Exception, and its words quote cells."""

    def panicked(*_, **__):
        raise pl.exceptions.PanicException("no number: 4711")

    table = pl.DataFrame({"a": [1.0, 2.0], "group": ["x", "y"]})
    monkeypatch.setattr(pl.DataFrame, "get_column", panicked)
    monkeypatch.setattr(pl.DataFrame, "get_columns", panicked)
    monkeypatch.setattr(pl.DataFrame, "__getitem__", panicked)
    keys = None if by is None else ["x", "y"]
    with pytest.raises(td.ParameterError) as caught:
        td.mean(table if by else table.select("a"), epsilon=1, bounds=(0, 3), by=by, keys=keys)
    assert "4711" not in str(caught.value)
