"""Whatever the caller has (array, list, DataFrame) as a float matrix with NaN for missing cells.

Only the declared schema may raise: shape, column names, column types. A value in a cell never does: text is
parsed cell by cell, and what cannot be read is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError

_NUMBERS = "biuf"
_CELLWISE = "OSUT"  # objects, bytes, text (fixed and variable width)


@dataclass(frozen=True)
class Table:
    """n rows, d columns; NaN marks a missing cell. The names are public, the cells are not."""

    cells: FloatArray
    columns: tuple[str, ...] | None = None

    @property
    def n(self) -> int:
        return self.cells.shape[0]

    @property
    def d(self) -> int:
        return self.cells.shape[1]

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells about its table: the shape and the names, no cell."""
        return {"n": self.n, "d": self.d, "columns": self.columns}


def finite_rows(cells: FloatArray) -> FloatArray:
    """The rows without a missing or infinite cell."""
    return cells[np.isfinite(cells).all(axis=1)]


def read_table(x: Any, name: str = "x") -> Table:
    """Return `x` as a `Table`; `x` itself is never modified.

    >>> read_table([[1, "2.5"], [None, "n/a"]]).cells
    array([[1. , 2.5],
           [nan, nan]])
    """
    if isinstance(x, Table):
        return x
    table = _from_array(x, name) if _is_array(x) else _from_frame(x, name)
    if table.n < 1 or table.d < 1:
        raise ParameterError(name, "must have at least one row and one column", f"shape {table.cells.shape}")
    return table


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | list | tuple | Real | str | bytes | None) or not (
        hasattr(x, "columns") or hasattr(x, "dtype") or hasattr(x, "type") or hasattr(x, "__dataframe__")
    )


def _from_array(x: Any, name: str) -> Table:
    if isinstance(x, list | tuple):
        array = _from_rows(x, name)
    elif isinstance(x, np.ndarray):
        array = x
    else:
        try:
            array = np.asarray(x)
        except Exception:
            array = np.empty((), dtype=object)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ParameterError(name, "must be an array of shape (n, d) or (n,), a list of rows or a table", _kind(x))
    kind = array.dtype.kind
    if kind not in _NUMBERS + _CELLWISE:
        raise ParameterError(name, "must hold numbers", f"dtype {array.dtype}")
    if isinstance(array, np.ma.MaskedArray):
        mask, array = np.ma.getmaskarray(array), np.ma.getdata(array).astype(object)
        array[mask] = None
    elif kind in _NUMBERS:
        with np.errstate(all="ignore"):
            return Table(np.asarray(array, dtype=np.float64).copy())
    columns = [_read_objects(array[:, j].tolist(), f"{name} column {j}") for j in range(array.shape[1])]
    return Table(np.column_stack(columns) if columns else np.empty(array.shape))


def _kind(x: Any) -> str:
    return f"{x.ndim} dimensions" if isinstance(x, np.ndarray) else type(x).__name__


def _from_rows(x: Sequence[Any], name: str) -> NDArray[Any]:
    """A list of numbers, or of rows of one length, as an array of the very cells.

    numpy would look for one type that fits all cells, so that a single text turned True elsewhere into "True".
    """
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in x]
    widths = {len(row) if isinstance(row, list | tuple) else None for row in rows}
    if len(widths) > 1:
        raise ParameterError(name, "must have rows of one length", "rows of several lengths")
    width = widths.pop() if widths else None
    cells = np.empty(len(rows) if width is None else (len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        if width is None:
            cells[i] = row
        else:
            for j, cell in enumerate(row):
                cells[i, j] = cell
    return cells


def _from_frame(x: Any, name: str) -> Table:
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(x, eager_only=True, allow_series=True)
        if isinstance(frame, nw.Series):
            series, columns = [frame], None
        else:
            columns = tuple(str(c) for c in frame.columns)
            series = [frame[c] for c in frame.columns]
    except Exception:
        rule = "must be an array or an in-memory table with distinct column names"
        raise ParameterError(name, rule, type(x).__name__) from None
    labels = columns if columns is not None else (str(series[0].name),)
    read = [_read_series(s, f"{name} column {label!r}", nw) for s, label in zip(series, labels, strict=True)]
    return Table(np.column_stack(read) if read else np.empty((0, 0)), columns)


def _read_series(series: Any, label: str, nw: Any) -> FloatArray:
    dtype = series.dtype
    if dtype.is_numeric() and not dtype.is_decimal():
        try:
            values = series.to_numpy()
        except Exception:  # a type that numpy has not
            values = np.empty(0, dtype=object)
        # Where there are nulls, cell by cell: the backends disagree on what a null becomes in an array.
        if values.dtype.kind in _NUMBERS and not series.null_count():
            with np.errstate(all="ignore"):
                return np.asarray(values, dtype=np.float64).copy()
        return _read_cells(_cells(series))
    if isinstance(dtype, nw.Unknown) and _is_null(series):
        return np.full(len(series), math.nan)
    if isinstance(dtype, nw.Object):
        return _read_objects(_cells(series), label)
    if not isinstance(dtype, (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Decimal)):
        raise ParameterError(label, "must hold numbers", f"type {dtype}")
    return _read_cells(_cells(series))


def _is_null(series: Any) -> bool:
    """Whether the column's declared type is "null": nothing but missing cells."""
    native = series.to_native()
    return str(getattr(native, "dtype", getattr(native, "type", ""))).lower() == "null"


def _cells(series: Any) -> list[Any]:
    """The cells as Python objects; one that cannot even be turned into an object (broken text) is missing."""
    try:
        return list(series.to_list())
    except Exception:
        return [_cell(series, i) for i in range(len(series))]


def _cell(series: Any, i: int) -> Any:
    try:
        return series[i]
    except Exception:
        return None


def _read_objects(cells: list[Any], label: str) -> FloatArray:
    # The one look at the *types* of cells: a column in which not a single cell is a number, a text or empty
    # (dates, lists) is not a column of numbers. A stray odd cell is missing like any other unreadable one.
    if cells and not any(_readable(cell) for cell in cells):
        raise ParameterError(label, "must hold numbers or text", "a column of other objects")
    return _read_cells(cells)


def _read_cells(cells: list[Any]) -> FloatArray:
    return np.array([number(cell) for cell in cells], dtype=np.float64)


def _readable(cell: Any) -> bool:
    return (
        cell is None
        or cell is np.ma.masked
        or isinstance(cell, Real | Decimal | str | bytes | np.bool_)
        or type(cell).__name__ == "NAType"
    )


def number(cell: Any) -> float:
    """One cell as a float; NaN when it cannot be read.

    >>> number(" 1e3 "), number("many"), number(10**400)
    (1000.0, nan, inf)
    """
    if not isinstance(cell, Real | Decimal | str | bytes | np.bool_):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf  # type: ignore[operator]
    except Exception:
        return math.nan
