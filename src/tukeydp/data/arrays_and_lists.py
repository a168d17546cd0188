"""Arrays, masked and structured ones too, and lists of rows as floats with NaN for missing cells.

The type of an array may come from its cells: what numpy had to make of one of them decides neither whether the others
are read nor what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.numbers import ReadColumn, read_cells, read_column
from tukeydp.errors import ParameterError

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
