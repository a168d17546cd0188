"""Files: read exactly, or refused in a sentence that quotes no cell."""

from __future__ import annotations

import io
import math
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tukeydp as td
from support import messy
from tukeydp.data.files import READERS, read_file
from tukeydp.data.look import look_at_file
from tukeydp.data.readers import excel as formulas
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import BLOCK

NAN = math.nan


def by_name(case):
    return case.name


def place(folder, case):
    path = folder / case.name
    path.write_bytes(case.content)
    return path


@pytest.mark.parametrize("case", messy.FILES, ids=by_name)
def test_messy_files_are_read_exactly(case, tmp_path):
    table = read_file(place(tmp_path, case), case.columns, ReadOptions(**case.options))
    assert table.columns == tuple(case.columns)
    np.testing.assert_array_equal(table.cells, case.values)


@pytest.mark.parametrize("case", messy.REFUSED, ids=by_name)
def test_others_are_refused_in_a_sentence(case, tmp_path):
    with pytest.raises(td.ParameterError) as caught:
        read_file(place(tmp_path, case), case.columns, ReadOptions(**case.options))
    assert str(caught.value).replace(f"{tmp_path}/", "") == case.sentence


@pytest.mark.parametrize("case", messy.FILES, ids=by_name)
def test_standard_input_reads_the_same(case, monkeypatch):
    """Which has no name: its format and separator are declared."""
    kinds = {"xlsx": "excel", "parquet": "parquet", "feather": "arrow", "gz": "csv.gz"}
    named = {"format": kinds.get(case.name.rsplit(".")[-1])}
    if case.name.endswith(".tsv"):
        named["separator"] = "\t"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.content)))
    table = read_file("-", case.columns, ReadOptions(**{**named, **case.options}))
    np.testing.assert_array_equal(table.cells, case.values)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"separator": "ab"}, "separator must be one character, say ',' ';' '|' or tab; not a letter, digit, quote, "
         "sign or point; got 'ab'."),
        ({"separator": '"'}, "separator must be one character"),
        ({"separator": "5"}, "separator must be one character"),
        ({"quote": "x"}, "quote must be a double quote, an apostrophe or none; got 'x'."),
        ({"decimal": ";"}, "decimal must be . or ,; got ';'."),
        ({"thousands": "_"}, "thousands must be comma, point, space, apostrophe or none; got '_'."),
        ({"thousands": "."}, "thousands must not be the decimal mark or the quote; got '.'."),
        ({"thousands": "'", "quote": "'"}, "thousands must not be the decimal mark or the quote"),
        ({"encoding": "klingon"}, "encoding must be a text encoding, say utf-8, utf-16 or cp1252; got 'klingon'."),
        ({"encoding": "hex"}, "encoding must be"),
        ({"encoding": "unicode_escape"}, "encoding must be"),
        ({"skip": -1}, "skip must be an integer >= 0; got -1."),
        ({"units": "kg"}, "units must be a list of texts, or a dict with column names; got 'kg'."),
        ({"units": ["10^9/L"]}, "units must be texts without blanks around them that do not begin like a number; got "
         "'10^9/L'."),
        ({"units": [" kg"]}, "units must be texts without blanks"),
        ({"missing": [-999]}, "missing must be texts; got [-999]."),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(td.ParameterError) as caught:
        ReadOptions(**options)
    assert str(caught.value).startswith(sentence)


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, "no\0name.csv"):
        with pytest.raises(td.ParameterError, match="FILE must be a readable file"):
            read_file(path, ["a"])


def test_a_format_is_one_that_is_known(tmp_path):
    for job in (lambda o: read_file(tmp_path / "t.csv", ["a"], o), lambda o: look_at_file(tmp_path / "t.csv", o)):
        with pytest.raises(
            td.ParameterError,
            match=r"format must be csv, csv.gz, excel, parquet, arrow, spss, stata or sas; got 'json'",
        ):
            job(ReadOptions(format="json"))


def test_no_ending_has_two_formats():
    endings = [ending for known in READERS.values() for ending in known.endings]
    assert len(set(endings)) == len(endings)


def test_text_in_a_schema_is_refused_by_name(tmp_path):
    table = pa.table({"a": [1, 2], "name": ["secret-4711", "y"], "day": pa.array([0, 1], pa.date32())})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    np.testing.assert_array_equal(read_file(tmp_path / "t.parquet", ["a"]).cells, [[1], [2]])
    for column in ("name", "day"):
        with pytest.raises(td.ParameterError, match=f"column '{column}' must hold numbers") as caught:
            read_file(tmp_path / "t.parquet", [column])
        assert "4711" not in str(caught.value)


def test_records_across_blocks(tmp_path):
    """Cells, quotes and ends of line fall on the ends of blocks; a cell is longer than one."""
    rows = [f'{i},"note {"x" * (i % 7)}\r\n",{i / 8}\r\n' for i in range(BLOCK // 8)]
    rows[5] = f'5,"{"z" * (2 * BLOCK)}",0.625\r\n'
    (tmp_path / "t.csv").write_text("a,n,b\r\n" + "".join(rows), newline="")
    expected = np.arange(len(rows))
    read = read_file(tmp_path / "t.csv", ["b", "a"]).cells
    np.testing.assert_array_equal(read, np.column_stack([expected / 8, expected]))


def test_no_cell_changes_how_another_row_is_read(tmp_path):
    """One row swapped for an odd one, without an open quote: n and all other rows stay."""
    path = tmp_path / "t.csv"
    for odd in (b"x", b"1,2,3,4,5", b"", b"1", b'"1,""",2', b'2"3,4', b"\xff\xfe\x00,1", b'"9"9,1', b"1e999,-1e999"):
        path.write_bytes(b"a,b,id\n1,2,1\n" + (odd or b",") + b"\n3,4,1\n")
        cells = read_file(path, ["a", "b"]).cells
        assert len(cells) == 3
        np.testing.assert_array_equal(cells[[0, 2]], [[1, 2], [3, 4]])


finite = st.floats(allow_nan=True, allow_infinity=False)
notes = st.text(st.characters(codec="utf-8"), max_size=8)


@given(st.lists(st.tuples(finite, notes, finite), min_size=1, max_size=8), st.sampled_from([",", ";", "\t", "|"]),
       st.sampled_from([".", ","]), st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))  # fmt: skip
def test_what_pandas_writes_is_read_back(tmp_path_factory, rows, separator, decimal, encoding):
    path = tmp_path_factory.mktemp("pandas") / "t.csv"
    frame = pd.DataFrame(rows, columns=["x", "note", "y"])
    frame.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    # pandas does not quote its own decimal commas.
    if separator != decimal:
        options = ReadOptions(separator=separator, decimal=decimal, encoding=encoding)
        np.testing.assert_array_equal(read_file(path, ["x", "y"], options).cells, frame[["x", "y"]].to_numpy())


numbers = st.one_of(finite, st.integers(-(10**6), 10**6), st.booleans(), st.none())


@given(st.lists(st.tuples(numbers, st.text(st.characters(codec="ascii", min_codepoint=32), max_size=5)), min_size=1))
@settings(max_examples=30)
def test_workbooks_are_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("excel") / "t.xlsx"
    rows = [(None if isinstance(v, float) and math.isnan(v) else v, t) for v, t in rows]
    path.write_bytes(messy.workbook(("S", [["x", "t"], *map(list, rows), [7, "end"]])))
    kept = [NAN if v is None else float(v) for v, t in rows if v is not None or t] + [7]
    np.testing.assert_array_equal(read_file(path, ["x"]).cells[:, 0], kept)


SECRET = b"secret4711"
STARTS = [
    b"",
    b"a,b\n",
    b"\xff\xfe",
    b"\x1f\x8b\x08",
    b"PK\x03\x04",
    b"PAR1",
    b"ARROW1\0\0",
    b"\xff\xff\xff\xff",
    b"sep=;\n",
]


def read_or_refuse(path, options):
    for job in (lambda: read_file(path, ["a"], options), lambda: look_at_file(path, options)):
        refusal = None
        try:
            job()
        except td.ParameterError as error:
            refusal = error
        assert "secret4711" not in str(refusal)
        assert refusal is None or refusal.__suppress_context__ or refusal.__context__ is None


@given(st.sampled_from(STARTS), st.binary(max_size=200), st.sampled_from([None, *READERS]),
       st.sampled_from([None, "utf-8", "utf-16", "cp1252", "utf-7", "shift_jis"]))  # fmt: skip
@example(b"", b'"', None, None)
@example(b"", b"\n\n\n", "csv", None)
@settings(max_examples=200)
def test_bytes_are_read_or_refused(tmp_path_factory, start, more, form, encoding):
    path = tmp_path_factory.mktemp("fuzz") / "t.csv"
    path.write_bytes(start + SECRET + more + SECRET)
    read_or_refuse(path, ReadOptions(format=form, encoding=encoding))


CONTAINERS = ("packed.csv.gz", "book.xlsx", "table.parquet", "table.feather")
CHANGES = st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255))


@given(
    st.sampled_from([c for c in messy.FILES if c.name in CONTAINERS]), st.lists(CHANGES, max_size=4), st.floats(0.5, 1)
)
@settings(max_examples=200)
def test_damaged_containers_are_read_or_refused(tmp_path_factory, case, changes, share):
    content = bytearray(case.content)
    for where, byte in changes:
        content[int(where * len(content))] = byte
    path = tmp_path_factory.mktemp("fuzz") / case.name
    path.write_bytes(content[: math.ceil(share * len(content))])
    read_or_refuse(path, ReadOptions())


HEADER = '<row r="2"><c r="B2" t="inlineStr"><is><t>a</t></is></c><c r="C2" t="inlineStr"><is><t>b</t></is></c></row>'


@pytest.mark.parametrize(
    ("rows", "expected", "unreadable"),
    [
        ('<row r="3"><c r="B3"><f>1+1</f></c><c r="C3"><v>5</v></c></row>', [[NAN, 5]], [1, 0]),
        ('<row r="3"><c r="B3"><f>1+1</f><v/></c><c r="C3"><f>A1</f><v> </v></c></row>', [[NAN, NAN]], [1, 1]),
        ('<row r="3"><c r="B3"><f>1+1</f><v>2</v></c><c r="C3"><v>5</v></c></row>', [[2, 5]], [0, 0]),
        # A text without letters is a result, of IF(A1="","",A1) say.
        ('<row r="3"><c r="B3" t="str"><f>A1</f><v></v></c><c r="C3"><v>5</v></c></row>', [[NAN, 5]], [0, 0]),
        # Rows below the last result count, with gaps between them and without places.
        ('<row r="3"><c r="B3"><v>1</v></c></row><row r="7"><c r="C7"><f>A1</f></c></row><row><c r="B8"><f/></c></row>',
         [[1, NAN], [NAN, NAN], [NAN, NAN]], [1, 1]),
        # No text in a cell passes for a tag, or hides those below. calamine 0.2 reads the x, and not what CDATA holds.
        ('<row r="3"><c r="B3" t="inlineStr"><is><t>x<![CDATA[<c r="C3"><f>1</f></c>]]></t></is></c></row>'
         '<row r="4"><c r="C4"><f>A1</f></c></row>', [[NAN, NAN], [NAN, NAN]], [1, 1]),
        ('<row r="3"><!-- <c r="C3"><f>1</f></c> --><c r="B3"><v>4</v></c></row><row r="4"><c r="B4"><f/></c></row>',
         [[4, NAN], [NAN, NAN]], [1, 0]),
    ],
)  # fmt: skip
def test_a_formula_without_a_result_is_unreadable_and_not_empty(tmp_path, rows, expected, unreadable):
    path = tmp_path / "t.xlsx"
    path.write_bytes(messy.workbook_of(HEADER + rows))
    table = read_file(path, ["a", "b"], ReadOptions(skip=1))
    np.testing.assert_array_equal(table.cells, expected)
    assert table.unreadable.tolist() == unreadable


def test_formulas_are_found_across_the_blocks_that_a_sheet_is_read_in(monkeypatch):
    rows = "".join(f'<row r="{i}"><c r="A{i}"><v>1</v></c><c r="B{i}"><f>A{i}</f></c></row>' for i in range(1, 200))
    content = messy.workbook_of(rows)
    whole = formulas.formulas_without_results(content, "S")
    assert whole == {i: [1] for i in range(199)}
    for block in (1, 7, 64):
        monkeypatch.setattr(formulas, "_BLOCK", block)
        assert formulas.formulas_without_results(content, "S") == whole
    assert formulas.formulas_without_results(content, "another") == {}
    assert formulas.formulas_without_results(b"not a workbook", "S") == {}


def test_a_short_line_is_unreadable_in_what_it_lacks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n1,2\n1\n\n1,,3\n")
    table = read_file(path, ["c", "b", "a"])
    assert table.n == 4
    assert table.unreadable.tolist() == [2, 1, 0]
    path.write_text("a\n1\n\n2\n")
    assert read_file(path, ["a"]).unreadable.tolist() == [0]
