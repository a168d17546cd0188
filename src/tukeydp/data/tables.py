"""Whatever the caller has (array, list, DataFrame, Arrow table) as a float matrix with NaN for missing cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.numbers import ReadColumn, nothing_read, read_cells, read_column
from tukeydp.trusted.parameters import INTERRUPTIONS, FloatArray, IntArray, ParameterError

# Columns of Arrow data as floats: which types are numbers, and nulls as NaN without a look at single cells.

TEXT_ADVICE = "must hold numbers; leave it out or turn its text into numbers first"


def check_type(kind: Any, label: str) -> None:
    """The type of a column that a file or an engine declares must be a number, a truth value or nothing."""
    inner = _inner(kind)
    if is_text(inner):
        raise ParameterError(label, TEXT_ADVICE, f"type {kind}")
    if not _is_number(inner):
        raise ParameterError(label, "must hold numbers", f"type {kind}")


def _inner(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_binary(kind: Any) -> bool:
    return str(kind).startswith(("binary", "large_binary", "fixed_size_binary"))


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    return any(fits(kind) for fits in numeric)


def read_arrow_column(column: Any) -> ReadColumn:
    """An array or chunked array of a table in memory. Its type may come from its cells, so that none is refused.

    Text is read cell by cell. A column that is neither text nor numbers is missing in every row.
    """
    kind = _inner(column.type)
    if _is_number(kind):
        return ReadColumn(floats(column))
    if is_text(kind) or _is_binary(kind):
        return read_column(texts(column))
    return nothing_read(column.is_valid().to_numpy(zero_copy_only=False) if len(column) else [])


def texts(column: Any) -> list[str | None]:
    """Of a column of text or bytes. Nothing has made sure that they are UTF-8: each is decoded by itself."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type) and not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    found = (column.cast(pa.large_binary()) if is_text(column.type) else column).to_pylist()
    return [None if text is None else text.decode("utf-8", "replace") for text in found]


def floats(column: Any) -> FloatArray:
    """An array or chunked array of numbers as floats, null as NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    as_floats = pc.cast(column, pa.float64(), safe=False)
    values = as_floats.to_numpy(zero_copy_only=False) if isinstance(as_floats, pa.Array) else as_floats.to_numpy()
    return np.asarray(values, dtype=np.float64)


# Arrays, masked and structured ones too, and lists of rows as floats with NaN for missing cells.
#
# The type of an array may come from its cells: what numpy had to make of one of them decides neither whether the others
# are read nor what they are.

NUMBERS = "biuf"
CELLWISE = "OSUTc"  # objects, bytes, text (fixed and variable width), complex numbers
_TIMES = "Mm"  # dates and durations: no numbers, so that every cell is missing
_ROWS_AT_A_TIME = 1 << 16  # rows held as Python objects, several times the room of floats
_NO_CELL = object()  # where a row of a list has no cell of its own: unreadable, like any other object


class Read(NamedTuple):
    """Cells, the names of the columns if they have any, and how many cells of each column are unreadable.

    None for those of arrays, whatever their type: it must not decide whether something is paid for a look at them.
    """

    cells: FloatArray
    names: tuple[str, ...] | None = None
    unreadable: IntArray | None = None


def read_array(x: Any, name: str) -> Read:
    if isinstance(x, list | tuple):
        return _from_rows(x, name)
    try:
        array = x if isinstance(x, np.ndarray) else np.asarray(x)
    except MemoryError:
        raise
    except Exception:
        array = np.empty((), dtype=object)
    if array.dtype.names is not None:
        return _from_fields(array, name)
    return Read(_from_matrix(array, name, x))


def _from_matrix(array: NDArray[Any], name: str, given: Any) -> FloatArray:
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise _no_table(name, given)
    kind = array.dtype.kind
    if kind not in NUMBERS + CELLWISE + _TIMES:
        raise ParameterError(name, "must hold numbers", f"dtype {array.dtype}")
    if kind in NUMBERS:
        return as_floats(array)
    if kind in _TIMES:
        return np.full(array.shape, np.nan)
    if isinstance(array, np.ma.MaskedArray):
        mask, array = np.ma.getmaskarray(array), np.ma.getdata(array).astype(object)
        array[mask] = None
    columns = [_in_turn(array[:, j]) for j in range(array.shape[1])]
    return np.column_stack(columns) if columns else np.empty(array.shape)


def as_floats(array: NDArray[Any]) -> FloatArray:
    """A fresh array of floats; masked cells are NaN."""
    with np.errstate(all="ignore"):
        floats = np.array(np.ma.getdata(array), dtype=np.float64)
    if isinstance(array, np.ma.MaskedArray):
        floats[np.ma.getmaskarray(array)] = np.nan
    return floats


def _from_fields(array: NDArray[Any], name: str) -> Read:
    """A structured array: each field is a column."""
    names = tuple(array.dtype.names or ())
    if array.ndim != 1:
        raise _no_table(name, array)
    columns = []
    for field in names:
        column, label = array[field], f"{name} column {field!r}"
        if column.ndim != 1:
            raise ParameterError(label, "must hold one number in each row", f"{column.ndim} dimensions")
        columns.append(_from_matrix(column, label, column))
    return Read(np.column_stack(columns) if columns else np.empty((len(array), 0)), names)


def _no_table(name: str, x: Any) -> ParameterError:
    got = f"{x.ndim} dimensions" if isinstance(x, np.ndarray) else type(x).__name__
    return ParameterError(name, "must be an array of shape (n, d) or (n,), a list of rows or a table", got)


def width_of_rows(x: Sequence[Any], name: str = "x") -> int | None:
    """The number of columns of a list of rows; None for a list of single cells.

    How long a row is, is somebody's data, so that no row alone may decide it: it is the length of more than half of the
    rows. A list without one is refused: there is nothing else to go by.
    """
    lengths = Counter(
        len(row) if isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim) else None for row in x
    )
    if not lengths:
        return None
    width, often = lengths.most_common(1)[0]
    if 2 * often <= len(x):
        raise ParameterError(name, "must have rows of one length, or more than half of them", "rows of several lengths")
    return width


def _from_rows(x: Sequence[Any], name: str) -> Read:
    """A list of numbers, or of rows. As in files, a row that is too short lacks its last cells, and one that is too
    long is missing as a whole; both count as unreadable.

    numpy would look for one type that fits all cells, so that a single text turned True elsewhere into "True".
    """
    width = width_of_rows(x, name)
    rows = x
    if any(issubclass(kind, np.ndarray) for kind in set(map(type, x))):
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in x]
    if width is None:
        return _of_columns([read_column(list(rows))], len(rows))
    if any(not isinstance(row, list | tuple) or len(row) != width for row in rows):
        rows = [_fitted(row, width) for row in rows]
    return _of_columns([read_column([row[j] for row in rows]) for j in range(width)], len(rows))


def _fitted(row: Any, width: int) -> Sequence[Any]:
    if not isinstance(row, list | tuple) or len(row) > width:
        return [_NO_CELL] * width
    return [*row, *[_NO_CELL] * (width - len(row))]


def _of_columns(columns: Sequence[ReadColumn], n: int) -> Read:
    cells = np.column_stack([column.values for column in columns]) if columns else np.empty((n, 0))
    return Read(cells, None, np.array([column.how_many for column in columns], dtype=np.int64))


def _in_turn(column: NDArray[Any]) -> FloatArray:
    """Cells are made into Python's a block at a time."""
    if column.dtype.kind == "O":
        return read_cells(column.tolist())
    blocks = range(0, len(column), _ROWS_AT_A_TIME)
    read = [read_cells(column[start : start + _ROWS_AT_A_TIME].tolist()) for start in blocks]
    return np.concatenate(read) if read else np.empty(0)


# Data frames (pandas, polars, Arrow and others) as floats.
#
# The types of their columns are data: a library that reads a file chooses them from all cells, so that one text makes a
# column of text, and one dict, to polars, a column of records. So no type decides whether a frame is read. Numbers are
# read in whole columns, text and Python objects cell by cell by one rule (`IN_MEMORY` of `data/numbers.py`): as files
# are, and what libraries take for a number among numbers is one among texts. A column that is neither, such as one of
# dates or of lists, is missing in every row.

Column = Callable[[], ReadColumn]


def read_frame(x: Any, name: str) -> Read:
    """The frame's cells, the names of its columns, and how many cells are unreadable; a series has no names."""
    library = type(x).__module__.split(".")[0]
    readers = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
    try:
        labels, rows, columns, series = readers.get(library, _other)(x, name)
        if len(set(labels)) != len(labels):
            raise _not_in_memory(x, name)
        cells, unreadable = np.empty((rows, len(labels))), np.zeros(len(labels), dtype=np.int64)
        for j, column in enumerate(columns):
            read = column()
            cells[:, j], unreadable[j] = read.values, read.how_many
    except (ParameterError, *INTERRUPTIONS):
        raise
    except BaseException:  # a lazy query that fails says so with the cells it failed at
        raise _not_in_memory(x, name) from None
    return Read(cells, None if series else tuple(labels), unreadable)


def _not_in_memory(x: Any, name: str) -> ParameterError:
    rule = "must be an array or a table with distinct column names that can be held in memory"
    return ParameterError(name, rule, type(x).__name__)


Opened = tuple[list[str], int, Sequence[Column], bool]  # labels, rows, columns, whether it was a single series


def _pandas(x: Any, name: str) -> Opened:
    import pandas as pd

    if isinstance(x, pd.Series):
        return [str(x.name)], len(x), [lambda: _pandas_column(x)], True
    if not isinstance(x, pd.DataFrame):
        raise _not_in_memory(x, name)
    # By position: labels may be integers, tuples or anything else.
    columns = [lambda j=j: _pandas_column(x.iloc[:, j]) for j in range(x.shape[1])]
    return [str(label) for label in x.columns], len(x), columns, False


def _pandas_column(series: Any) -> ReadColumn:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_categories(_pandas_column(series.cat.categories.to_series()), series.cat.codes.to_numpy())
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return read_arrow_column(series.array.__arrow_array__())
    kind = getattr(dtype, "kind", "")
    if kind in "Mm":
        return nothing_read(series.notna().to_numpy())
    if kind not in NUMBERS or (not pd.api.types.is_any_real_numeric_dtype(dtype) and kind != "b"):
        return read_column(series.astype(object).tolist())
    if isinstance(dtype, np.dtype):
        return ReadColumn(as_floats(series.to_numpy()))
    with np.errstate(all="ignore"):
        return ReadColumn(np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64))


def _of_categories(read: ReadColumn, codes: Any) -> ReadColumn:
    """Each row's category, read once; -1, the last, for missing cells."""
    unreadable = np.zeros(len(read.values), dtype=np.bool_) if read.unreadable is None else read.unreadable
    return ReadColumn(np.append(read.values, np.nan)[codes], np.append(unreadable, False)[codes])


def _polars(x: Any, name: str) -> Opened:
    import polars as pl

    if isinstance(x, pl.Series):
        return [x.name], len(x), [lambda: polars_column(x)], True
    if isinstance(x, pl.LazyFrame):
        # All columns at once, numbers as floats: twice the table's room at the most. One by one, a query without a
        # fixed order would tear rows apart.
        x = x.with_columns(pl.selectors.numeric().cast(pl.Float64, strict=False)).collect()
    columns = [lambda c=c: polars_column(x[c]) for c in x.columns]
    return list(x.columns), x.height, columns, False


def polars_column(series: Any) -> ReadColumn:
    import polars as pl

    dtype = series.dtype
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return ReadColumn(np.asarray(series.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64))
    if dtype in (pl.Categorical, pl.Enum):
        return read_column(series.cast(pl.String).to_list())
    if dtype in (pl.String, pl.Binary, pl.Object):
        return read_column(series.to_list())
    return nothing_read(series.is_not_null().to_numpy())


def _arrow(x: Any, name: str) -> Opened:
    import pyarrow as pa

    if isinstance(x, pa.Array | pa.ChunkedArray):
        return ["0"], len(x), [lambda: read_arrow_column(x)], True
    if not isinstance(x, pa.Table | pa.RecordBatch):
        x = pa.table(x)
    columns = [lambda j=j: read_arrow_column(x.column(j)) for j in range(x.num_columns)]
    return list(x.schema.names), x.num_rows, columns, False


def _other(x: Any, name: str) -> Opened:
    """Any other table: what speaks Arrow's interface, or what narwhals knows."""
    if hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__"):
        import pyarrow as pa

        return _arrow(pa.table(x), name)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x, eager_only=True, allow_series=True)
    if isinstance(frame, nw.Series):
        return [str(frame.name)], len(frame), [lambda: _narwhals_column(frame)], True
    columns = [lambda s=s: _narwhals_column(s) for s in frame.iter_columns()]
    return [str(c) for c in frame.columns], len(frame), columns, False


def _narwhals_column(series: Any) -> ReadColumn:
    if series.dtype.is_temporal() or series.dtype.is_nested():
        return nothing_read((~series.is_null()).to_numpy())
    return read_column(list(series.to_list()))


# Whatever the caller has (array, list, DataFrame) as a float matrix with NaN for missing cells.
#
# Only shape and column names may raise, and a type that nests tables in cells. Nothing that a library made of cells
# does, their type among it: text is parsed cell by cell in every container, and what cannot be read is missing.


@dataclass(frozen=True)
class Table:
    """n rows, d columns; NaN marks a missing cell. Names and declared units are public, the cells are not.

    `unreadable` counts, in each column of a text file, a frame or a list, the cells that hold something which is not a
    number: secret like the cells. None for arrays, and for files that declare a type for each column. What it is
    filled for is public: the kind of the container decides, never the type of a column.
    """

    cells: FloatArray
    columns: tuple[str, ...] | None = None
    units: tuple[str | None, ...] | None = None
    unreadable: IntArray | None = None

    @property
    def n(self) -> int:
        return self.cells.shape[0]

    @property
    def d(self) -> int:
        return self.cells.shape[1]

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells about its table: the shape, the names and units, no cell."""
        return {"n": self.n, "d": self.d, "columns": self.columns, "units": self.units}

    def without_last(self) -> Table:
        """Without its last column."""
        first = slice(None, -1)
        names = None if self.columns is None else self.columns[first]
        units = None if self.units is None else self.units[first]
        return Table(self.cells[:, first], names, units, None if self.unreadable is None else self.unreadable[first])


class Source(ABC):
    """Rows that stay where they are and are asked for by the names of columns. Names are public.

    Every request is one reading of all rows: what it returns fits together.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]  # all that can be asked for

    @abstractmethod
    def table(self) -> Table:
        """All columns as numbers."""

    @abstractmethod
    def with_cells(self, *named: str) -> tuple[Table, list[list[Any]]]:
        """All other columns as numbers, and the cells of the named ones as they are; these need not be of `columns`."""


def finite_rows(cells: FloatArray) -> FloatArray:
    """The rows without a missing or infinite cell."""
    return cells[np.isfinite(cells).all(axis=1)]


def read_table(x: Any, name: str = "x", fewest: int = 1) -> Table:
    """Return `x` as a `Table` of at least `fewest` rows; `x` itself is never modified.

    >>> read_table([[1, "2.5"], [None, "n/a"]]).cells
    array([[1. , 2.5],
           [nan, nan]])
    """
    if isinstance(x, Table):
        return x
    table = x.table() if isinstance(x, Source) else _in_memory(x, name)
    if table.d < 1 and not fewest:  # whoever allows an empty table may keep the number of rows secret
        raise ParameterError(name, "must have at least one column", "none")
    if table.n < fewest or table.d < 1:
        raise ParameterError(name, "must have at least one row and one column", f"shape {table.cells.shape}")
    return table


def _in_memory(x: Any, name: str) -> Table:
    cells, names, unreadable = read_array(x, name) if is_array(x) else read_frame(x, name)
    return Table(cells, names, unreadable=unreadable)


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | list | tuple | Real | str | bytes | Source | None) or not any(
        # A lazy table is known before its columns are asked for, which would make it work and warn.
        hasattr(x, sign)
        for sign in ("collect_schema", "__arrow_c_stream__", "columns", "dtype", "type", "__dataframe__")
    )
