"""Frames of pandas, polars and Arrow: their cells, column by column, and new frames from some of them.

A new frame has what is handed over and nothing else: one fixed type for each kind of column, a fresh index, one chunk,
no categories, metadata, attributes, flags or subclass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.arrow_columns import floats
from tukeydp.data.block_cells import READERS, Cell, Typed, plain_floats, read_each
from tukeydp.errors import ParameterError


class Library(Protocol):
    """How a library's frames are read, and built anew."""

    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        """Labels of the columns, and how many rows there are."""
        ...

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        """The cells of a column, each read by itself; floats where the type leaves no doubt about any of them."""
        ...

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any: ...

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]: ...


def library_of(x: Any, name: str) -> type[Library]:
    """By class, so that a subclass of a library's frame is one; what was never imported, nobody has a frame of."""
    frames: dict[str, tuple[str, type[Library]]]
    frames = {"pandas": ("DataFrame", _Pandas), "polars": ("DataFrame", _Polars), "pyarrow": ("Table", _Arrow)}
    for module, (kind, library) in frames.items():
        if module in sys.modules and isinstance(x, getattr(sys.modules[module], kind)):
            return library
    raise no_frame(x, name)


def no_frame(x: Any, name: str) -> ParameterError:
    rule = "must be an array, or a frame of pandas, polars or Arrow with distinct column names, held in memory"
    return ParameterError(name, rule, type(x).__name__)


def _refused(label: str, kind: Any) -> ParameterError:
    """By the type's first word: the rest may list what cells hold."""
    word = str(kind).partition("(")[0].partition("<")[0].partition("[")[0]
    rule = "must hold a number, a text, a truth value or a date in each cell: leave it out, or make numbers of it"
    return ParameterError(label, rule, f"type {word}")


def _numbers(values: Any, read: Callable[[Any], Cell]) -> NDArray[Any]:
    """A column of numbers, as `read_each` would read it."""
    values = plain_floats(values)
    return values if read in (READERS[None], READERS["number"]) else read_each(values.tolist(), read)


class _Pandas:
    """pandas infers every type from cells: none is refused, but for Arrow's nested ones."""

    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.columns), len(x)

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        import pandas as pd

        series = x.iloc[:, j]
        if isinstance(series.dtype, pd.ArrowDtype):
            return _arrow_cells(series.array.__arrow_array__(), read, label)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
            return _numbers(series.to_numpy(), read)
        return read_each(_values(series.tolist, len(series), series.iloc.__getitem__), read)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import pandas as pd

        frame = pd.DataFrame({j: _Pandas._values(column) for j, column in enumerate(columns)})
        frame.columns = pd.Index(list(labels))
        return frame

    @staticmethod
    def _values(column: Typed) -> Any:
        import pandas as pd

        if column.kind == "bool":
            return (
                pd.array(column.cells, dtype="boolean") if None in column.cells else np.array(column.cells, dtype=bool)
            )
        if column.kind == "text":
            return pd.Series(column.cells, dtype=pd.Series(["text"]).dtype)  # what this version calls text
        return np.array(column.cells, dtype="datetime64[us]") if column.kind == "date" else column.cells

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop(columns=[label]), block[label]


class _Polars:
    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.columns), x.height

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        import polars as pl

        series = x.to_series(j)
        kind = series.dtype
        if kind.is_integer() or kind.is_float():
            return _numbers(series.cast(pl.Float64).to_numpy(), read)
        if kind in (pl.Date, pl.Datetime):
            return read_each(_moments(series.dt.epoch("us").to_list()), read)
        single = (pl.String, pl.Binary, pl.Boolean, pl.Categorical, pl.Enum, pl.Null, pl.Object, pl.Decimal, pl.Time)
        if kind not in single:
            raise _refused(label, kind)
        return read_each(series.to_list(), read)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import polars as pl

        kinds = {"number": pl.Float64(), "bool": pl.Boolean(), "text": pl.String(), "date": pl.Datetime("us")}
        return pl.DataFrame(
            [
                pl.Series(label, column.cells, dtype=kinds[column.kind], nan_to_null=True)
                for label, column in zip(labels, columns, strict=True)
            ]
        )

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop(label), block[label]


class _Arrow:
    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.schema.names), x.num_rows

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        return _arrow_cells(x.column(j), read, label)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import pyarrow as pa

        kinds = {"number": pa.float64(), "bool": pa.bool_(), "text": pa.string(), "date": pa.timestamp("us")}
        # from_pandas: NaN is null.
        arrays = [pa.array(column.cells, type=kinds[column.kind], from_pandas=True) for column in columns]
        return pa.Table.from_arrays(arrays, names=list(labels))

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop_columns([label]), block.column(label)


def _arrow_cells(column: Any, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_integer(kind) or types.is_floating(kind):
        return _numbers(floats(column), read)
    if types.is_timestamp(kind) or types.is_date(kind):
        whole = column if kind is column.type else column.cast(kind)
        zone = kind.tz if types.is_timestamp(kind) else None
        since = whole.cast(pa.timestamp("us", tz=zone), safe=False).cast(pa.int64())
        return read_each(_moments(since.to_pylist()), read)
    single = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_boolean)
    others = (types.is_decimal, types.is_time, types.is_null, lambda kind: str(kind) in ("string_view", "binary_view"))
    if not any(is_one(kind) for is_one in (*single, *others)):
        raise _refused(label, kind)
    return read_each(_values(column.to_pylist, len(column), lambda i: column[i].as_py()), read)


def _values(listed: Callable[[], list[Any]], n: int, one: Callable[[int], Any]) -> list[Any]:
    """The column's cells; if its library fails at one (no UTF-8, no time in that zone), that cell alone is missing."""
    try:
        return listed()
    except MemoryError:
        raise
    except Exception:
        return [_value(one, i) for i in range(n)]


def _value(one: Callable[[int], Any], i: int) -> Any:
    try:
        return one(i)
    except MemoryError:
        raise
    except Exception:
        return None


def _moments(since: Sequence[int | None]) -> list[datetime | None]:
    """Times from microseconds since 1970, None where there is none or where it lies beyond the years of Python."""
    return [None if us is None else _moment_at(us) for us in since]


def _moment_at(microseconds: int) -> datetime | None:
    try:
        return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
