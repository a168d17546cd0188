"""Whatever the caller has (array, list, DataFrame) as a float matrix with NaN for missing cells.

Only the declared schema may raise: shape, column names, column types. A value in a cell never does: text is
parsed cell by cell, and what cannot be read is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.errors import ParameterError
from tukeydp.grid import FloatArray

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
    if isinstance(x, np.ma.MaskedArray):
        mask, x = np.ma.getmaskarray(x), np.ma.getdata(x).astype(object)
        x[mask] = None
    array = x if isinstance(x, np.ndarray) else _from_nested(x, name)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ParameterError(name, "must have shape (n, d) or (n,)", f"{array.ndim} dimensions")
    kind = array.dtype.kind
    if kind in _NUMBERS:
        with np.errstate(all="ignore"):
            return Table(array.astype(np.float64))
    if kind not in _CELLWISE:
        raise ParameterError(name, "must hold numbers", f"dtype {array.dtype}")
    columns = [_read_cells(array[:, j].tolist(), f"{name} column {j}") for j in range(array.shape[1])]
    return Table(np.column_stack(columns) if columns else np.empty(array.shape))


def _from_nested(x: Any, name: str) -> NDArray[Any]:
    """A list of numbers or of rows as an array, cell by cell unless it is all numbers.

    numpy would look for one type that fits all cells, so that a single text turned True elsewhere into "True".
    """
    with suppress(ValueError, TypeError, OverflowError):
        array = np.asarray(x)
        if array.dtype.kind in _NUMBERS:
            return array
    if not isinstance(x, list | tuple):
        raise ParameterError(name, "must be an array, a list of rows or a table", type(x).__name__)
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
        # Via lists where there are nulls: the backends disagree on what a null becomes in an array.
        values = series.to_list() if series.null_count() else series.to_numpy()
        if isinstance(values, np.ndarray) and values.dtype.kind in _NUMBERS:
            with np.errstate(all="ignore"):
                return values.astype(np.float64)
        return _read_cells(series.to_list(), label)
    readable = nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Decimal, nw.Object, nw.Unknown
    if not isinstance(dtype, readable):
        raise ParameterError(label, "must hold numbers", f"type {dtype}")
    return _read_cells(series.to_list(), label)


def _read_cells(cells: Iterable[Any], label: str) -> FloatArray:
    cells = list(cells)
    # The one look at the *types* of cells: a column in which not a single cell is a number, a text or empty
    # (dates, lists) is not a column of numbers. A stray odd cell is missing like any other unreadable one.
    if cells and not any(_readable(cell) for cell in cells):
        raise ParameterError(label, "must hold numbers or text", "a column of other objects")
    return np.array([number(cell) for cell in cells], dtype=np.float64)


def _readable(cell: Any) -> bool:
    return cell is None or isinstance(cell, Real | Decimal | str | bytes | np.bool_) or type(cell).__name__ == "NAType"


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
