"""Data frames (pandas, polars, Arrow and others) as floats.

Their schema is public: a column of text is refused by name.
Nulls become NaN in whole columns; only columns of Python objects are read cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.arrays_and_lists import NUMBERS, Read, as_floats, read_objects
from tukeydp.data.arrow_columns import TEXT_ADVICE, check_type, floats
from tukeydp.data.numbers import read_cells
from tukeydp.errors import INTERRUPTIONS, ParameterError

Column = Callable[[str], FloatArray]  # what to call an error -> the column


def read_frame(x: Any, name: str, refused: dict[str, str] | None = None) -> Read:
    """The frame's cells and the names of its columns; a series has no names.

    Where `refused` is given, columns that are not numbers are noted there instead of raising.
    """
    library = type(x).__module__.split(".")[0]
    readers = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
    try:
        labels, rows, columns, series = readers.get(library, _other)(x, name)
        if len(set(labels)) != len(labels):
            raise _not_in_memory(x, name)
        cells = np.empty((rows, len(labels)))
        for j, (label, column) in enumerate(zip(labels, columns, strict=True)):
            try:
                cells[:, j] = column(f"{name} column {label!r}")
            except ParameterError as error:
                if refused is None:
                    raise
                refused[label], cells[:, j] = str(error.value), np.nan
    except (ParameterError, *INTERRUPTIONS):
        raise
    except BaseException:  # a lazy query that fails says so with the cells it failed at
        raise _not_in_memory(x, name) from None
    return cells, None if series else tuple(labels)


def _not_in_memory(x: Any, name: str) -> ParameterError:
    rule = "must be an array or a table with distinct column names that can be held in memory"
    return ParameterError(name, rule, type(x).__name__)


Opened = tuple[list[str], int, Sequence[Column], bool]  # labels, rows, columns, whether it was a single series


def _pandas(x: Any, name: str) -> Opened:
    import pandas as pd

    if isinstance(x, pd.Series):
        return [str(x.name)], len(x), [lambda label: _pandas_column(x, label)], True
    if not isinstance(x, pd.DataFrame):
        raise _not_in_memory(x, name)
    # By position: labels may be integers, tuples or anything else.
    columns = [lambda label, j=j: _pandas_column(x.iloc[:, j], label) for j in range(x.shape[1])]
    return [str(label) for label in x.columns], len(x), columns, False


def _pandas_column(series: Any, label: str) -> FloatArray:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _pandas_column(series.cat.categories.to_series(), label)
        codes = series.cat.codes.to_numpy()
        return np.where(codes < 0, np.nan, np.append(categories, np.nan)[codes])
    if dtype == np.dtype(object):
        return read_objects(series.tolist(), label)
    if isinstance(dtype, pd.StringDtype):
        raise ParameterError(label, f"{TEXT_ADVICE}, say with pandas.to_numeric(errors='coerce')", f"type {dtype}")
    if isinstance(dtype, pd.ArrowDtype):
        check_type(dtype.pyarrow_dtype, label)
        return floats(series.array.__arrow_array__())
    kind = getattr(dtype, "kind", "")
    if kind not in NUMBERS or (not pd.api.types.is_any_real_numeric_dtype(dtype) and kind != "b"):
        raise ParameterError(label, "must hold numbers", f"type {dtype}")
    if isinstance(dtype, np.dtype):
        return as_floats(series.to_numpy())
    with np.errstate(all="ignore"):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def _polars(x: Any, name: str) -> Opened:
    import polars as pl

    if isinstance(x, pl.Series):
        return [x.name], len(x), [lambda label: _polars_column(x, label)], True
    if isinstance(x, pl.LazyFrame):
        # The schema first: nothing is computed for a table that is refused. Then all columns at once as floats, twice
        # the table's room at the most. One by one, a query without a fixed order would tear rows apart.
        schema = x.collect_schema()
        for label, dtype in schema.items():
            _check_polars(dtype, f"{name} column {label!r}")
        x = x.select(pl.all().cast(pl.Float64, strict=False)).collect()
    columns = [lambda label, c=c: _polars_column(x[c], label) for c in x.columns]
    return list(x.columns), x.height, columns, False


def _kind(dtype: Any) -> str:
    """A type without what it lists: an enumeration would name every value of the column."""
    return f"type {str(dtype).partition('(')[0]}"


def _check_polars(dtype: Any, label: str) -> None:
    import polars as pl

    if dtype in (pl.String, pl.Categorical, pl.Enum):
        raise ParameterError(label, f"{TEXT_ADVICE}, say with .cast(pl.Float64, strict=False)", _kind(dtype))
    if not dtype.is_numeric() and dtype not in (pl.Boolean, pl.Null):
        raise ParameterError(label, "must hold numbers", _kind(dtype))


def _polars_column(series: Any, label: str) -> FloatArray:
    import polars as pl

    if series.dtype == pl.Object:
        return read_objects(series.to_list(), label)
    _check_polars(series.dtype, label)
    return np.asarray(series.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)


def _arrow(x: Any, name: str) -> Opened:
    import pyarrow as pa

    if isinstance(x, pa.Array | pa.ChunkedArray):
        return ["0"], len(x), [lambda label: _arrow_column(x, label)], True
    if not isinstance(x, pa.Table | pa.RecordBatch):
        x = pa.table(x)
    columns = [lambda label, j=j: _arrow_column(x.column(j), label) for j in range(x.num_columns)]
    return list(x.schema.names), x.num_rows, columns, False


def _arrow_column(column: Any, label: str) -> FloatArray:
    check_type(column.type, label)
    return floats(column)


def _other(x: Any, name: str) -> Opened:
    """Any other table: what speaks Arrow's interface, or what narwhals knows."""
    if hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__"):
        import pyarrow as pa

        return _arrow(pa.table(x), name)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x, eager_only=True, allow_series=True)
    if isinstance(frame, nw.Series):
        return [str(frame.name)], len(frame), [lambda label: _narwhals_column(frame, label)], True
    columns = [lambda label, s=s: _narwhals_column(s, label) for s in frame.iter_columns()]
    return [str(c) for c in frame.columns], len(frame), columns, False


def _narwhals_column(series: Any, label: str) -> FloatArray:
    import narwhals.stable.v2 as nw

    if isinstance(series.dtype, nw.String | nw.Categorical | nw.Enum):
        raise ParameterError(label, TEXT_ADVICE, _kind(series.dtype))
    if not series.dtype.is_numeric() and not isinstance(series.dtype, nw.Boolean | nw.Object):
        raise ParameterError(label, "must hold numbers", _kind(series.dtype))
    return read_cells(list(series.to_list()))
