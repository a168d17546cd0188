"""What a library has made of a column is data: no type of it raises, and none changes how the others' cells are read.

A column is built with each library's own inference from a list of cells, of which the last is swapped.
"""

from __future__ import annotations

import datetime
import io
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import tukeydp as td
from tukeydp.data.numbers import IN_MEMORY, PLAIN, number
from tukeydp.data.tables import read_table

NAN = float("nan")
BASES = {"whole": [131, 2, 7], "floats": [1.5, -2.25, 1e300], "truth values": [True, False, True]}
HOSTILE = {
    "text": "131 mmHg", "a number as text": " 5 ", "empty text": "", "bytes": b"\xff4711", "none": None, "nan": NAN,
    "a list": [4711], "a tuple": (1, 2), "nested": [[1], {"a": [2]}], "a dict": {"secret": 4711}, "a truth value": True,
    "a day": datetime.date(2020, 1, 1), "a moment": datetime.datetime(2020, 1, 1, 5), "NaT": pd.NaT, "pandas.NA": pd.NA,
    "a duration": datetime.timedelta(1), "numpy's day": np.datetime64("2020-01-01"), "huge": 10**400, "large": 2**70,
    "a decimal": Decimal("4711.5"), "no decimal": Decimal("sNaN"), "complex": 4711j, "an object": object(),
    "a period": pd.Period("2020"), "a category": pd.Categorical(["x"]), "an array": np.array([1, 2]),
}  # fmt: skip


def written(cells):
    return "a\n" + "".join(f"{'' if cell is None else cell}\n" for cell in cells)


CONTAINERS = {
    "list": list,
    "rows": lambda cells: [[cell] for cell in cells],
    "numpy": lambda cells: np.array(cells),
    "numpy, objects": lambda cells: _objects(cells),
    "numpy, a field": lambda cells: np.array([(str(cell),) for cell in cells], dtype=[("a", "U40")]),
    "pandas": lambda cells: pd.DataFrame({"a": cells}),
    "pandas, series": lambda cells: pd.Series(cells),
    "pandas, nullable": lambda cells: pd.DataFrame({"a": cells}).convert_dtypes(),
    "pandas, Arrow": lambda cells: pd.DataFrame({"a": cells}).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda cells: pd.DataFrame({"a": cells}).astype("category"),
    "pandas, a file": lambda cells: pd.read_csv(io.StringIO(written(cells))),
    "pandas, a file of categories": lambda cells: pd.read_csv(io.StringIO(written(cells)), dtype="category"),
    "polars": lambda cells: pl.DataFrame({"a": cells}, strict=False),
    "polars, objects": lambda cells: pl.DataFrame({"a": pl.Series(cells, dtype=pl.Object)}),
    "polars, lazy": lambda cells: pl.LazyFrame({"a": cells}, strict=False),
    "polars, a file": lambda cells: pl.read_csv(io.StringIO(written(cells))),
    "polars, text": lambda cells: pl.DataFrame({"a": list(map(str, cells))}),
    "polars, categories": lambda cells: pl.DataFrame({"a": pl.Series(list(map(str, cells)), dtype=pl.Categorical)}),
    "Arrow": lambda cells: pa.table({"a": pa.array(cells)}),
    "Arrow, text": lambda cells: pa.table({"a": pa.array(map(str, cells))}),
    "Arrow, large text": lambda cells: pa.table({"a": pa.array(map(str, cells), pa.large_string())}),
    "Arrow, bytes": lambda cells: pa.table({"a": pa.array([str(cell).encode() for cell in cells])}),
    "Arrow, a dictionary": lambda cells: pa.table({"a": pa.array(list(map(str, cells))).dictionary_encode()}),
    "Arrow, a file": lambda cells: pyarrow.csv.read_csv(io.BytesIO(written(cells).encode())),
}
if hasattr(pa, "string_view"):  # from Arrow 16 on
    CONTAINERS["Arrow, views"] = lambda cells: pa.table({"a": pa.array(map(str, cells), pa.string_view())})


def _objects(cells):
    made = np.empty(len(cells), dtype=object)
    made[:] = [None] * len(cells)
    for i, cell in enumerate(cells):
        made[i] = cell
    return made


def built(container, cells):
    """None where the library itself cannot make a column of these cells, or makes another of all of them: its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return CONTAINERS[container](cells)
        except BaseException:  # polars panics
            return None


def emptied(x):
    """Whether polars has made records or lists of the column, and nothing of the cells that are none."""
    kinds = x.collect_schema().dtypes() if isinstance(x, pl.DataFrame | pl.LazyFrame) else []
    return any(kind.is_nested() for kind in kinds)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("base", BASES)
def test_no_cell_raises_warns_or_changes_another(container, base, capfd):
    alone = read_table(built(container, [*BASES[base], BASES[base][0]])).cells[:3]
    np.testing.assert_array_equal(alone[:, 0], np.array(BASES[base], dtype=float))
    tried = 0
    for name, odd in HOSTILE.items():
        x = built(container, [*BASES[base], odd])
        if x is None or (container != "rows" and np.ndim(_shape(x)) and len(_shape(x)) > 2):
            continue
        capfd.readouterr()  # what the library says while it makes the column is its own
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = read_table(x)
        assert capfd.readouterr() == ("", ""), name
        np.testing.assert_array_equal(table.cells[:3], np.full((3, 1), NAN) if emptied(x) else alone, err_msg=name)
        assert (table.unreadable is None) == container.startswith("numpy"), name
        if table.unreadable is not None:
            assert 0 <= table.unreadable[0] <= (4 if emptied(x) else 1), name
        tried += 1
    assert tried >= 2


def _shape(x):
    return getattr(x, "shape", ())


def test_unreadable_cells_are_counted_wherever_there_are_texts():
    column = [
        1,
        "131 mmHg",
        "",
        "NA",
        None,
        NAN,
        "7",
        datetime.date(2020, 1, 1),
        [1],
        Decimal("NaN"),
        pd.NaT,
        b"",
        b"x",
    ]
    frame = pd.DataFrame({"a": pd.Series(column, dtype=object), "b": 1.0})
    for x in (column, frame["a"], pl.Series(column, dtype=pl.Object)):
        assert read_table(x).unreadable.tolist() == [4]
    assert read_table(frame).unreadable.tolist() == [4, 0]
    texts = ["1", "131 mmHg", "", "NA", "131 mmHg"]
    for x in (
        pd.DataFrame({"a": texts}), pd.DataFrame({"a": texts}, dtype="string[python]"), pl.DataFrame({"a": texts}),
        pd.DataFrame({"a": texts}, dtype="category"), pa.table({"a": pa.array(texts).dictionary_encode()}), texts,
        [[text] for text in texts], pl.DataFrame({"a": texts}).lazy(),
    ):  # fmt: skip
        assert read_table(x).unreadable.tolist() == [2]
    assert read_table([[1, 2], [3], [4, 5], [6, 7, 8], [9, 9]]).unreadable.tolist() == [1, 2]
    assert read_table(pd.DataFrame({"a": pd.to_datetime(["2020-01-01", None])})).unreadable.tolist() == [1]
    assert read_table(pl.DataFrame({"a": [datetime.time(5), None]})).unreadable.tolist() == [1]
    assert read_table(pa.table({"a": pa.array([0, None], pa.date32())})).unreadable.tolist() == [1]


@pytest.mark.parametrize("x", [np.zeros((3, 1)), np.array(["x", "1"]), np.array([["x"], [None]], dtype=object)])
def test_arrays_are_not_looked_at_whatever_their_type(x):
    assert read_table(x).unreadable is None


def test_one_text_in_a_file_that_pandas_reads():
    """The README's own lines of 0.1.0: with pandas 3 the column is text, and raised; its neighbour was released."""
    rows = [f"{120 + i % 20}" for i in range(400)]
    shown = set()
    for last in ("131", "131 mmHg", "", "2020-01-01", "true"):
        x = pd.read_csv(io.StringIO("systolic\n" + "\n".join([*rows, last or '""']) + "\n"))
        found = td.mean(x, epsilon=1, bounds={"systolic": (60, 240)}, check=False, randomness=td.seeded(7))
        assert found.n == 401
        shown.add(str(found.to_dict(verbose=False) | {"point": None}))
    assert len(shown) == 1


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
def test_a_header_alone_and_one_row(neighbours):
    """Without rows pandas has no numbers to infer. Their number is secret under add-remove: nothing may raise there."""
    empty, texts, one = (pd.read_csv(io.StringIO(text)) for text in ("a\n", "a\nx\n", "a\n1\n"))
    asked = {"epsilon": 1, "bounds": (0, 1), "neighbours": neighbours, "randomness": td.seeded(1), "check": False}
    if neighbours == "swap":
        errors = set()
        for x in (
            empty,
            empty.astype(float),
            empty.astype("string"),
            pl.DataFrame(empty),
            pa.table({"a": pa.nulls(0)}),
        ):
            with pytest.raises(td.ParameterError) as caught:
                td.cube(x, **asked)
            errors.add(str(caught.value))
        assert errors == {"x must have at least one row and one column; got shape (0, 1)."}
    else:
        assert {
            str(td.cube(x, **asked).to_dict(verbose=False) | {"point": 0}) for x in (empty, texts, one)
        }.__len__() == 1
    assert td.cube(texts, **asked).columns == ("a",)


def test_a_column_without_one_readable_cell_is_a_column_of_missing_cells():
    day = datetime.date(2020, 1, 1)
    lists = pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    for x in (
        *([[day], [day]], np.array([[day], [{}]], dtype=object)),
        *(
            pd.DataFrame({"a": column})
            for column in ([[1], [2]], [{}, {}], [day], pd.to_datetime(["2020-01-01"]), lists)
        ),
        *(pl.DataFrame({"a": column}) for column in ([["secret-4711"]], [{"b": 1}], [day])),
        pl.LazyFrame({"a": [{"b": 1}]}),
        *(pa.table({"a": column}) for column in ([day], [[1], []], [{"b": 1}])),
    ):
        assert np.isnan(read_table(x).cells).all()


def test_text_is_read_by_one_rule_in_every_container():
    texts = [
        "1",
        " 2.50 ",
        "1e3",
        "-.5",
        "\u22127",
        "1,5",
        "1_000",
        "inf",
        "nan",
        "0x1",
        "5%",
        "",
        "TRUE",
        "false",
        "+4",
    ]
    expected = np.array([IN_MEMORY.number(text) for text in texts])
    np.testing.assert_array_equal([number(text.encode(), IN_MEMORY) for text in texts], expected)
    of_files = np.array([PLAIN.number(text) for text in texts])  # what only libraries take for a number is none there
    np.testing.assert_array_equal(of_files[np.isin(texts, ["1_000", "inf", "0x1"])], NAN)
    np.testing.assert_array_equal(*(one[~np.isin(texts, ["1_000", "inf", "0x1"])] for one in (of_files, expected)))
    for name in CONTAINERS:
        if name not in ("pandas, a file", "pandas, a file of categories", "polars, a file", "Arrow, a file"):
            np.testing.assert_array_equal(read_table(built(name, texts)).cells[:, 0], expected, err_msg=name)


# Writings that some reader takes for numbers, or for nothing, where the rest of the column allows it.
WRITINGS = {
    "infinities": ["inf", "-Infinity", "+inf"],
    "hexadecimal": ["0x1F", "0xffffffffffffffff"],
    "underscores": ["1_000", "20"],
    "nothing": ["#NA", "1.#IND", "-nan", "N/A", "NULL", ""],
    "truth values": ["TRUE", "false"],
    "signs and points": ["+5", " 6", "1.", ".5", "1e400"],
    "days": ["2020-01-01", "2021-02-03"],
}
READERS = {
    "pandas": lambda text: pd.read_csv(io.StringIO(text)),
    "pandas, nullable": lambda text: pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable"),
    "pandas by Arrow": lambda text: pd.read_csv(io.StringIO(text), engine="pyarrow"),
    "pandas, Arrow's types": lambda text: pd.read_csv(io.StringIO(text), engine="pyarrow", dtype_backend="pyarrow"),
    "polars": lambda text: pl.read_csv(io.StringIO(text), infer_schema_length=None),
    "Arrow": lambda text: pyarrow.csv.read_csv(io.BytesIO(text.encode())),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("cells", WRITINGS.values(), ids=WRITINGS)
def test_one_word_in_a_file_changes_nobody_else_s_number_and_counts_once(reader, cells):
    """A column of "inf" was one of infinities, clipped to the bounds; with one word more it was missing as a whole."""
    read = {}
    for last in ("131 mmHg", "7", "7.5", "0", "1"):
        text = "a,b\n" + "".join(f"{cell},1\n" for cell in [*cells, last])
        table = read_table(READERS[reader](text))
        read[last] = table.cells[:-1, 0], table.unreadable[0] - (last == "131 mmHg")
    for values, unreadable in read.values():
        np.testing.assert_array_equal(values, read["131 mmHg"][0])
        assert unreadable == read["131 mmHg"][1]


def test_one_word_among_infinities_is_one_row_to_a_release():
    found = set()
    for last in ("131 mmHg", "131"):
        x = pd.read_csv(io.StringIO("a\n" + "inf\n" * 400 + last + "\n"))
        found.add(round(float(td.cube(x, epsilon=10, bounds=(0, 200), randomness=td.seeded(3)).point[0])))
    assert found == {200}


def test_lengths_of_rows_without_a_majority_are_refused():
    for x in ([[1, 2], [3]], [1, [2]], [[1], [2, 3], [4, 5], [6, 7, 8]]):
        with pytest.raises(td.ParameterError, match="x must have rows of one length, or more than half of them"):
            read_table(x)


@pytest.mark.parametrize("first", [[1.0], [1.0, 2.0, 3.0], 5.0, "row", []])
def test_one_row_does_not_decide_about_the_columns(first):
    """The first row above all, which is what libraries look at."""
    rows = [first, *np.random.default_rng(1).normal(size=(60, 2)).tolist()]
    assert read_table(rows).d == 2
    found = td.aggregate(rows, lambda block: np.nanmedian(block, axis=0), blocks=10, epsilon=1, bounds=(-9, 9))
    assert found.d == 2
