"""Blocks of frames: each is a function of its own rows, of the names of columns and of declared types, of no more."""

from __future__ import annotations

import gc
import io
import pickle
import sys
import warnings
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tukeydp as td
from tukeydp.data.row_blocks import TYPES, rows_of
from tukeydp.data.tables import read_table

ROWS = {
    "code": [10, 11, 12, 13, 14, 15],
    "share": [0.5, 1.0, 0.1, 1e-7, 3.0, 1e22],
    "sex": ["f", "m", "f", "f", "m", "f"],
    "smoker": [True, False, False, True, True, False],
    "day": [date(2020, 5, day) for day in range(1, 7)],
}
DECLARED = {"code": "number", "share": "number", "sex": "text", "smoker": "bool", "day": "date"}
CHANGED, PLACES = 0, np.array([4, 1, 2])  # the row that is swapped, and the rows of a block without it

# What one person's cell may be. Each is put into each column of the row that is swapped.
HOSTILE = {
    "missing": None,
    "NaN": float("nan"),
    "empty": "",
    "text": "131 mmHg",
    "another text": "x" * 300,
    "a number as text": "0017",
    "half": 0.5,
    "huge": 10**30,
    "beyond floats": 10**400,
    "beyond exact floats": 2**60 + 1,
    "infinite": float("inf"),
    "bool": True,
    "list": [1, 2],
    "dict": {"secret": 1},
    "date": date(1066, 10, 14),
    "time": datetime(2020, 5, 1, 10, 30, 5, 123456),
    "time with a zone": datetime(2020, 5, 1, 10, tzinfo=UTC),
    "time of day": time(10, 30),
    "duration": timedelta(3),
    "decimal": Decimal("1.10"),
    "complex": 1j,
    "bytes": b"\xff\x00",
    "half a surrogate": "\ud800",
    "object": object(),
}


def swapped(column, cell):
    return {**ROWS, column: [cell, *ROWS[column][1:]]}


def observed(block):
    """All that a statistic sees of its block, however it looks: types, bytes, order, size, and what belongs to it."""
    if isinstance(block, pd.DataFrame):
        return (
            type(block), [str(kind) for kind in block.dtypes], pickle.dumps(block), block.attrs, block.columns.names,
            type(block.columns), block.columns.dtype, type(block.index), list(block.index), block.index.name,
            block.flags.allows_duplicate_labels, [type(v) for v in block.to_numpy().ravel()], sys.getsizeof(block),
            [(b.shape, b.dtype, b.values.strides if hasattr(b.values, "strides") else None) for b in block._mgr.blocks],
        )  # fmt: skip
    if isinstance(block, pl.DataFrame):
        return (
            type(block), block.schema, block.write_json(), block.n_chunks("all"), block.estimated_size(),
            [(s.flags, s.null_count(), s.to_arrow().offset) for s in block],
        )  # fmt: skip
    buffers = [
        (chunk.offset, [buffer and (buffer.size, bytes(buffer)) for buffer in chunk.buffers()])
        for column in block.columns
        for chunk in column.chunks
    ]
    fields = [(f.name, f.type, f.nullable, f.metadata) for f in block.schema]
    return type(block), fields, block.schema.metadata, block.to_pylist(), buffers, block.nbytes


def written(rows):
    """A text file of these cells."""
    return pd.DataFrame(rows, dtype=object).to_csv(index=False).encode("utf-8", "replace")


def from_pandas(rows):
    return pd.DataFrame(rows)


def from_pandas_file(rows):
    return pd.read_csv(io.BytesIO(written(rows)))


def from_pandas_file_as_arrow(rows):
    return pd.read_csv(io.BytesIO(written(rows)), dtype_backend="pyarrow")


def from_nullable_pandas(rows):
    frame = pd.read_csv(io.BytesIO(written(rows)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "invalid value encountered in cast")  # pandas 2.2, at 1e22
        return frame.convert_dtypes()


def with_all_that_pandas_carries(rows):
    frame = pd.read_csv(io.BytesIO(written(rows)))
    for column in ("code", "sex", "day"):
        frame[column] = frame[column].astype("category")
    frame.attrs["all rows"] = frame.sum(numeric_only=True).to_dict()
    frame.columns.name = str(frame["share"].dtype)
    return frame.set_flags(allows_duplicate_labels=False).set_index(np.argsort(frame["sex"].astype(str)) + 100)


def from_polars(rows):
    """Where polars finds one type for a column; the cells that it cannot make it of are missing."""
    kinds = {c: pl.Series(c, cells, strict=False, dtype=_supertype(cells)) for c, cells in rows.items()}
    return pl.DataFrame(kinds)


def _supertype(cells):
    kinds = {type(cell) for cell in cells if cell is not None}
    for kind, found in (({int}, pl.Int64), ({int, float, bool}, pl.Float64), ({date}, pl.Date)):
        if kinds <= kind and not any(isinstance(cell, int) and abs(cell) > 2**63 for cell in cells):
            return pl.Boolean if kinds == {bool} else found
    return pl.Object if kinds - {int, float, bool, date, str} else pl.String


def from_polars_file(rows):
    return pl.read_csv(written(rows), try_parse_dates=True)


def with_all_that_polars_carries(rows):
    frame = pl.read_csv(written(rows)).with_columns(pl.col("sex", "day").cast(pl.String).cast(pl.Categorical))
    frame = pl.concat([frame[:2], frame[2:]], rechunk=False)
    return frame.with_columns(frame[c].set_sorted() for c in ("code", "share"))


def from_arrow_file(rows):
    return pyarrow.csv.read_csv(io.BytesIO(written(rows)))


def with_all_that_arrow_carries(rows):
    table = pyarrow.csv.read_csv(io.BytesIO(written(rows)))
    for j in range(table.num_columns):
        kept = {"type of all": str(table.schema.field(j).type)}
        column = table.column(j).cast(pa.string()).dictionary_encode()
        table = table.set_column(j, pa.field(table.schema.names[j], column.type, metadata=kept), column)
    table = table.replace_schema_metadata({"pandas": str(table.column("share").to_pylist())})
    return pa.concat_tables([table.slice(0, 1), table.slice(1)])


LIBRARIES = [
    from_pandas, from_pandas_file, from_pandas_file_as_arrow, from_nullable_pandas, with_all_that_pandas_carries,
    from_polars, from_polars_file, with_all_that_polars_carries, from_arrow_file, with_all_that_arrow_carries,
]  # fmt: skip


def frames_with(library, cell):
    """The table with another first person, all of whose cells are this one; column by column where that is no table."""
    for columns in [list(ROWS), *([column] for column in ROWS)]:
        try:
            yield library(ROWS | {column: swapped(column, cell)[column] for column in columns})
        except Exception:  # the library itself makes no frame of such cells
            continue
        if len(columns) > 1:
            return


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__)
def test_no_cell_of_another_row_changes_a_block(library):
    def blocks(frame):
        return [observed(rows_of(frame, None, types).take(PLACES)) for types in (None, DECLARED)]

    plain, tried = blocks(library(ROWS)), set()
    for what, cell in HOSTILE.items():
        for frame in frames_with(library, cell):
            tried.add(what)
            assert blocks(frame) == plain, what
    assert len(tried) >= len(HOSTILE) - 2


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__)
def test_blocks_cut_out_of_the_whole_table_would_be_told_apart(library):
    """The control: rows taken by the library itself carry what it inferred from all cells."""

    def cut(rows):
        frame = library(rows)
        if isinstance(frame, pd.DataFrame):
            return frame.iloc[PLACES].reset_index(drop=True)
        return frame[PLACES.tolist()] if isinstance(frame, pl.DataFrame) else frame.take(PLACES)

    plain = observed(cut(ROWS))
    assert any(observed(cut(swapped(column, "131 mmHg"))) != plain for column in ROWS)
    assert library is from_polars or any(observed(cut(swapped(column, 0.5))) != plain for column in ROWS)


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(width=64), st.text(max_size=5), st.dates(),
    st.datetimes(), st.times(), st.decimals(allow_nan=True), st.complex_numbers(), st.binary(max_size=4),
    st.sampled_from(["1", "007", "1e3", " 2 ", "True", "false", "NA", "inf", "2020-05-01", "10:30", "-1.#IND"]),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, min_size=3, max_size=5), CELLS, CELLS, st.sampled_from([None, *TYPES]))
@example([1, 2, 3], 4, None, None)
@example([True, False, True], False, 5, None)
@example([1, 2, 3], 4, 1j, None)
def test_whatever_else_a_pandas_column_holds_a_block_stays_the_same(cells, one, other, declared):
    types = None if declared is None else {"a": declared}
    here, there = (pd.DataFrame({"a": [*cells, cell]}) for cell in (one, other))
    places = np.arange(len(cells))
    assert observed(rows_of(here, None, types).take(places)) == observed(rows_of(there, None, types).take(places))


WORDS = st.sampled_from([
    "1", "-0", "-0.0", "2.5", "1e3", "007", " 4", "4 ", "+5", "true", "False", "TRUE", "", "NA", "NaN", "null",
    "None", "#N/A", "-1.#IND", "inf", "-Infinity", "2020-05-01", "2020-05-01 10:00", "2020-05-01T10:00:00.5",
    "2020-05-01T10:00:00Z", "10:30", "10:30:05", "f", "131 mmHg", "1,5", "9007199254740993", "123456789012345678901",
    "1e400", "0.30000000000000004", ".5", "5.", "0x10", "0xffffffffffffffff", "1_000", "-", "?", "T", "\t7",
])  # fmt: skip
FILE_READERS = {
    "pandas": lambda file: pd.read_csv(io.BytesIO(file), float_precision="round_trip"),
    "pandas with Arrow": lambda file: pd.read_csv(io.BytesIO(file), engine="pyarrow", dtype_backend="pyarrow"),
    "polars": pl.read_csv,
    "polars with dates": lambda file: pl.read_csv(file, try_parse_dates=True),
    "Arrow": lambda file: pyarrow.csv.read_csv(io.BytesIO(file)),
}


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), WORDS, WORDS)
@example(["1"], "2", "f")
@example(["0x10"], "1", "f")
@example(["true"], "false", "2")
@example(["1_000", "123456789012345678901"], "7", "f")
def test_whatever_else_a_file_holds_a_block_stays_the_same(cells, one, other):
    for reader, read in FILE_READERS.items():
        blocks = []
        for last in (one, other):
            file = "".join(f'{i},"{cell}"\n' if cell else f"{i},\n" for i, cell in enumerate([*cells, last]))
            try:
                frame = read(f"id,a\n{file}".encode())
            except Exception:  # a number that this reader cannot hold
                break
            blocks.append(observed(rows_of(frame).take(np.arange(len(cells)))))
        assert len(blocks) < 2 or blocks[0] == blocks[1], reader


ODD_NAN = np.array([0x7FF00000000007A2, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)  # R's NA, and -NaN


def bits(block):
    return np.ascontiguousarray(block).view(np.uint64).tolist()


@pytest.mark.parametrize("other", ["131 mmHg", None, 0.5, 7])
def test_zeros_and_missing_numbers_have_the_same_bits_whatever_type_the_column_has(other):
    """A file's "-0" is 0 among whole numbers, -0.0 among others; bits of NaN are lost among objects."""
    file = pd.read_csv(io.StringIO(f"a\n-0\n{'' if other is None else other}\n"))
    assert bits(rows_of(file).take(np.array([0]))["a"]) == [0]
    frame = pd.DataFrame({"a": [*ODD_NAN, -0.0, other]})
    assert bits(rows_of(frame).take(np.arange(3))["a"]) == bits(np.array([np.nan, np.nan, 0.0]))
    array = np.array([*ODD_NAN, -0.0, other], dtype=object if isinstance(other, str) else float)
    assert bits(rows_of(array).take(np.arange(3))) == bits(np.array([np.nan, np.nan, 0.0]))


def test_a_cell_that_its_own_library_cannot_read_is_missing_by_itself():
    # pandas 3 raises at the first; pandas 2.2 makes another year of it.
    far = pd.Series(np.array([2**63 - 1, 0], dtype="M8[ns]")).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    assert rows_of(pd.DataFrame({"a": far})).take(np.array([1]))["a"].tolist() == ["1970-01-01"]
    broken = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes()), pa.py_buffer(b"\xffa")
    )
    with pytest.raises(UnicodeDecodeError):  # the control
        broken.to_pylist()
    assert rows_of(pa.table({"a": broken})).take(np.array([1, 0]))["a"].to_pylist() == ["a", None]
    texts = pd.Series(broken.cast(pa.large_string()), dtype=pd.StringDtype("pyarrow"))
    with pytest.raises((UnicodeDecodeError, pa.ArrowException)):
        texts.tolist()
    block = rows_of(pd.DataFrame({"a": texts})).take(np.array([1, 0]))["a"]
    assert (block[0], block.isna().tolist()) == ("a", [False, True])


def test_a_block_shares_no_memory_and_no_object_with_the_table():
    text = "a text that is no constant of this file"[:-1]
    frame = pd.DataFrame({"a": np.arange(6.0), "t": pd.Series([text] * 6, dtype=object)})
    rows = rows_of(frame)
    block = rows.take(np.arange(6))
    block["a"] = block["a"] * 0
    block.loc[:, "t"] = "changed"
    assert rows.take(np.arange(6)).equals(pd.DataFrame({"a": np.arange(6.0), "t": [text] * 6}))
    assert frame["a"].tolist() == list(range(6))
    table = pa.table({"a": [1.0] * 1000})
    block = rows_of(table).take(np.array([1]))
    assert sum(b.size for c in block.columns for k in c.chunks for b in k.buffers() if b) <= 64
    assert not np.shares_memory(block["a"].to_numpy(), table["a"].chunk(0).to_numpy())


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")
def test_texts_of_a_block_are_objects_of_its_own():
    """Where pandas keeps texts as objects: the number of references to one tells how often the table has it."""
    texts = ["".join(["fem", "ale"])] * 50
    frame = pd.DataFrame({"sex": pd.Series(texts, dtype=object)})
    with pd.option_context("future.infer_string", False):
        block = rows_of(frame).take(np.array([0, 1]))
        assert block["sex"].dtype == object
        cells = block["sex"].tolist()
    assert cells == ["female", "female"]
    assert all(cell is not texts[0] for cell in cells)
    assert cells[0] is not cells[1]
    del block
    gc.collect()
    assert sys.getrefcount(cells[0]) < 10


LAYOUTS = [np.ascontiguousarray, np.asfortranarray, lambda cells: np.repeat(cells, 2, axis=0)[::2]]


@pytest.mark.parametrize("layout", LAYOUTS, ids=["rows", "columns", "strides"])
def test_arrays_are_floats_row_by_row_whatever_the_table_is(layout):
    numbers = layout(np.arange(12).reshape(6, 2))
    for given_as in (numbers, numbers.astype(np.int8), numbers.astype(object), numbers.tolist(), read_table(numbers)):
        block = rows_of(given_as).take(np.array([5, 0]))
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        assert block.flags.owndata
        assert block.tolist() == [[10, 11], [0, 1]]
    structured = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    assert rows_of(structured).take(np.array([1])).tolist() == [[3, 4.5]]
    for column in (pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1], [2]])):
        block = rows_of(column).take(np.array([1]))
        assert (block.dtype, block.tolist()) == (np.float64, [2])


SCHEMAS = {
    "pandas": ({"number": "float64", "bool": "bool", "date": "datetime64[us]"}, from_pandas),
    "polars": ({"number": "Float64", "bool": "Boolean", "text": "String", "date": "Datetime"}, from_polars),
    "arrow": ({"number": "double", "bool": "bool", "text": "string", "date": "timestamp[us]"}, from_arrow_file),
}


def types_of(block):
    if isinstance(block, pa.Table):
        return {f.name: str(f.type) for f in block.schema}
    items = block.dtypes.items() if isinstance(block, pd.DataFrame) else block.schema.items()
    return {name: str(kind).partition("(")[0] for name, kind in items}


@pytest.mark.parametrize("library", SCHEMAS)
def test_made_up_rows_have_the_types_that_blocks_have(library):
    kinds, opened = SCHEMAS[library]
    kinds = {**kinds, "text": str(pd.Series(["a"]).dtype)} if library == "pandas" else kinds
    rows = rows_of(opened(ROWS), None, DECLARED)
    declared = {c: kinds[kind] for c, kind in DECLARED.items()}
    assert types_of(rows.take(PLACES)) == declared
    assert all(types_of(block) == declared for block in rows.made_up(5))
    guessed = rows_of(opened(ROWS))
    assert types_of(guessed.take(PLACES)) == {c: kinds["text" if c in ("sex", "day") else "number"] for c in ROWS}
    for guess in guessed.guesses:
        assert all(set(types_of(block).values()) == {kinds[guess]} for block in guessed.made_up(5, guess))


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__)
def test_made_up_rows_and_what_is_refused_depend_on_no_cell(library):
    """One text in a column of numbers must not decide whether the statistic is tried on text, and so fails."""
    plain = [observed(block) for block in rows_of(library(ROWS)).made_up(4)]
    for column in ROWS:
        rows = rows_of(library(swapped(column, "131 mmHg")))
        assert [observed(block) for block in rows.made_up(4)] == plain


def test_declared_types_are_read_cell_by_cell():
    frame = pd.DataFrame({"a": [1, True, "007", "yes", 0.0, None, [1], date(2020, 5, 1), "2020-05-01T10:00:00+02:00"]})

    def column(kind):
        block = rows_of(frame, None, {"a": kind}).take(np.arange(9))["a"]
        return [None if missing else v for v, missing in zip(block.tolist(), block.isna(), strict=True)]

    assert column("number") == [1, 1, 7, None, 0, None, None, None, None]
    assert column("bool") == [True, True, None, None, False, None, None, None, None]
    late = "2020-05-01T10:00:00+02:00"
    assert column("text") == ["1", "1", "007", "yes", "0", None, None, "2020-05-01", late]
    assert column("date") == [None] * 7 + [datetime(2020, 5, 1), datetime(2020, 5, 1, 8)]


NESTED = {
    "list": pa.list_(pa.int64()),
    "struct": pa.struct([("secret name", pa.string())]),
    "map": pa.map_(pa.string(), pa.int64()),
    "duration": pa.duration("s"),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("library", ["arrow", "polars", "pandas"])
def test_nested_types_are_refused_by_name_and_without_what_they_list(kind, library):
    table = pa.table({"a": [1.0], "tags": pa.array([None], NESTED[kind])})
    if library == "pandas":
        table = table.to_pandas(types_mapper=pd.ArrowDtype)
    elif library == "polars":
        table = pl.from_arrow(table)
    with pytest.raises(td.ParameterError, match="x column 'tags' must hold a number, a text") as refused:
        rows_of(table)
    assert "secret" not in str(refused.value)


def test_types_are_checked_by_name():
    frame = pd.DataFrame({"a": [1.0]})
    for wrong in ({"b": "text"}, {"a": "category"}, {"a": str}, "text", ["a"]):
        with pytest.raises(td.ParameterError) as refused:
            rows_of(frame, None, wrong)
        assert refused.value.parameter == "types"
    with pytest.raises(td.ParameterError, match="types must be left out for arrays"):
        rows_of(np.ones((2, 2)), None, {"a": "text"})
    with pytest.raises(td.ParameterError, match="distinct column names"):
        rows_of(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_labels_of_columns_need_not_be_texts():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    rows = rows_of(frame, None, {0: "text"})
    assert list(rows.take(np.array([1])).columns) == [0, 1]
    features, target = rows.without(rows.take(np.array([1])), "0")
    assert (list(features.columns), target.tolist()) == ([1], ["3"])
    nested = pd.DataFrame(
        [[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")], names=["secret", ""])
    )
    block = rows_of(nested).take(np.array([0]))
    assert block["a"]["y"].tolist() == [2.0]
    assert list(block.columns.names) == [None, None]


def test_subclasses_become_plain_frames():
    class Remembering(pd.DataFrame):
        _metadata = ("everything",)

    frame = Remembering({"a": [1.0, 2.0]})
    frame.everything = frame
    block = rows_of(frame).take(np.array([0]))
    assert type(block) is pd.DataFrame
    assert not hasattr(block, "everything")
