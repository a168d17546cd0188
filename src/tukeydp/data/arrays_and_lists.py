"""Arrays, masked and structured ones too, and lists of rows as floats with NaN for missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray
from tukeydp.data.arrow_columns import TEXT_ADVICE
from tukeydp.data.numbers import read_cells, readable
from tukeydp.errors import ParameterError

NUMBERS = "biuf"
CELLWISE = "OSUT"  # objects, bytes, text (fixed and variable width)
_ROWS_AT_A_TIME = 1 << 16  # rows held as Python objects, several times the room of floats

Read = tuple[FloatArray, tuple[str, ...] | None]


def read_array(x: Any, name: str) -> Read:
    if isinstance(x, list | tuple):
        return _from_rows(x, name), None
    try:
        array = x if isinstance(x, np.ndarray) else np.asarray(x)
    except MemoryError:
        raise
    except Exception:
        array = np.empty((), dtype=object)
    if array.dtype.names is not None:
        return _from_fields(array, name)
    return _from_matrix(array, name, x), None


def _from_matrix(array: NDArray[Any], name: str, given: Any) -> FloatArray:
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise _no_table(name, given)
    kind = array.dtype.kind
    if kind not in NUMBERS + CELLWISE:
        raise ParameterError(name, "must hold numbers", f"dtype {array.dtype}")
    if kind in NUMBERS:
        return as_floats(array)
    if isinstance(array, np.ma.MaskedArray):
        mask, array = np.ma.getmaskarray(array), np.ma.getdata(array).astype(object)
        array[mask] = None
    columns = [_objects_in_turn(array[:, j], f"{name} column {j}") for j in range(array.shape[1])]
    return np.column_stack(columns) if columns else np.empty(array.shape)


def as_floats(array: NDArray[Any]) -> FloatArray:
    """A fresh array of floats; masked cells are NaN."""
    with np.errstate(all="ignore"):
        floats = np.array(np.ma.getdata(array), dtype=np.float64)
    if isinstance(array, np.ma.MaskedArray):
        floats[np.ma.getmaskarray(array)] = np.nan
    return floats


def _from_fields(array: NDArray[Any], name: str) -> Read:
    """A structured array: each field is a column, and its type is declared."""
    names = tuple(array.dtype.names or ())
    if array.ndim != 1:
        raise _no_table(name, array)
    columns = []
    for field in names:
        column, label = array[field], f"{name} column {field!r}"
        if column.dtype.kind in "SUT":
            raise ParameterError(label, TEXT_ADVICE, f"dtype {column.dtype}")
        if column.ndim != 1:
            raise ParameterError(label, "must hold one number in each row", f"{column.ndim} dimensions")
        columns.append(_from_matrix(column, label, column))
    return (np.column_stack(columns) if columns else np.empty((len(array), 0))), names


def _no_table(name: str, x: Any) -> ParameterError:
    got = f"{x.ndim} dimensions" if isinstance(x, np.ndarray) else type(x).__name__
    return ParameterError(name, "must be an array of shape (n, d) or (n,), a list of rows or a table", got)


def _from_rows(x: Sequence[Any], name: str) -> FloatArray:
    """A list of numbers, or of rows of one length.

    numpy would look for one type that fits all cells, so that a single text turned True elsewhere into "True".
    """
    rows = x
    if any(issubclass(kind, np.ndarray) for kind in set(map(type, x))):
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in x]
    widths = {len(row) if isinstance(row, list | tuple) else None for row in rows}
    if len(widths) > 1:
        raise ParameterError(name, "must have rows of one length", "rows of several lengths")
    width = widths.pop() if widths else None
    if width is None:
        return read_objects(list(rows), f"{name} column 0")[:, np.newaxis]
    cells = np.empty((len(rows), width))
    for j in range(width):
        column = [row[j] for row in rows]
        if not any(map(readable, column)) and any(isinstance(cell, list | tuple) for cell in column):
            raise _no_table(name, x)
        cells[:, j] = read_objects(column, f"{name} column {j}")
    return cells


def read_objects(cells: list[Any], label: str) -> FloatArray:
    """A column of whatever it holds."""
    # The one look at the *types* of cells: a column in which not a single cell is a number, a text or empty
    # (dates, lists) is not a column of numbers. A stray odd cell is missing like any other unreadable one.
    if cells and not any(readable(cell) for cell in cells):
        raise ParameterError(label, "must hold numbers or text", "a column of other objects")
    return read_cells(cells)


def _objects_in_turn(column: NDArray[Any], label: str) -> FloatArray:
    if column.dtype.kind == "O":
        return read_objects(column.tolist(), label)
    # Texts are made into Python's a block at a time.
    blocks = range(0, len(column), _ROWS_AT_A_TIME)
    read = [read_cells(column[start : start + _ROWS_AT_A_TIME].tolist()) for start in blocks]
    return np.concatenate(read) if read else np.empty(0)
