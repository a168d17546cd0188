"""Data frames (pandas, polars, Arrow and others) as floats.

The types of their columns are data: a library that reads a file chooses them from all cells, so that one text makes a
column of text, and one dict, to polars, a column of records. So no type decides whether a frame is read. Numbers are
read in whole columns, text and Python objects cell by cell by the rule of files (`data/numbers.py`); a column that is
neither, such as one of dates or of lists, is missing in every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tukeydp.data.arrays_and_lists import NUMBERS, Read, as_floats
from tukeydp.data.arrow_columns import TEXT_ADVICE, check_type, read_arrow_column
from tukeydp.data.numbers import ReadColumn, nothing_read, read_column
from tukeydp.errors import INTERRUPTIONS, ParameterError

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
        return [x.name], len(x), [lambda: _polars_column(x)], True
    if isinstance(x, pl.LazyFrame):
        # All columns at once, numbers as floats: twice the table's room at the most. One by one, a query without a
        # fixed order would tear rows apart.
        x = x.with_columns(pl.selectors.numeric().cast(pl.Float64, strict=False)).collect()
    columns = [lambda c=c: _polars_column(x[c]) for c in x.columns]
    return list(x.columns), x.height, columns, False


def _polars_column(series: Any) -> ReadColumn:
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


def _kind(dtype: Any) -> str:
    """A type without what it lists: an enumeration would name every value of the column."""
    return f"type {str(dtype).partition('(')[0]}"


def require_declared_numbers(x: Any, name: str) -> None:
    """For tables whose columns must be declared as numbers, such as chunks: their types alone are looked at."""
    import narwhals.stable.v2 as nw

    if type(x).__module__.split(".")[0] == "pyarrow":
        for label, kind in zip(x.schema.names, x.schema.types, strict=True):
            check_type(kind, f"{name} column {label!r}")
        return
    for label, kind in nw.from_native(x, eager_only=True).schema.items():
        if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
            raise ParameterError(f"{name} column {label!r}", TEXT_ADVICE, _kind(kind))
        if not kind.is_numeric() and not isinstance(kind, nw.Boolean | nw.Unknown | nw.Object):
            raise ParameterError(f"{name} column {label!r}", "must hold numbers", _kind(kind))
