"""Whatever the caller has (array, list, DataFrame) as a float matrix with NaN for missing cells.

Only shape and column names may raise, and a type that nests tables in cells. Nothing that a library made of cells
does, their type among it: text is parsed cell by cell in every container, and what cannot be read is missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.arrays_and_lists import read_array
from tukeydp.data.frames import read_frame
from tukeydp.errors import ParameterError


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
    def with_cells(self, named: str) -> tuple[Table, list[Any]]:
        """All other columns as numbers, and the cells of the named one as they are; it need not be one of `columns`."""


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
