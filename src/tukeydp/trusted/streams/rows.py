"""Rows that are read again and again: cells become integers here, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tukeydp.trusted.parameters import SPENT, FloatArray, IntArray, ParameterError
from tukeydp.trusted.rows import Grid

_ROWS_AT_A_TIME = 1 << 16  # rows mapped to the grid at a time, however long a chunk is


class Passes(Protocol):
    """A table that can be read again and again."""

    memory: int

    @property
    def n(self) -> int: ...

    def passes(self) -> Iterator[FloatArray]: ...


class StreamedRows:
    """The rows of a streamed table on a grid, without those that have a missing cell: a block at a time, any number of
    times. Not private: all of this is the data."""

    def __init__(self, table: Passes, grid: Grid, columns: slice = slice(None), memory: int | None = None) -> None:
        self._table, self._grid, self._columns = table, grid, columns
        self.memory = table.memory if memory is None else memory

    @property
    def d(self) -> int:
        return len(self._grid.cells[self._columns])

    def of(self, columns: slice, parts: int) -> StreamedRows:
        """Some columns of the same rows, with one of so many equal parts of the memory."""
        return StreamedRows(self._table, self._grid, columns, self.memory // parts)

    def blocks(self) -> Iterator[IntArray]:
        """One pass, paid for. At its end the number of rows is compared with the public one."""
        read = 0
        try:
            for cells in self._table.passes():
                read += len(cells)
                for start in range(0, len(cells), _ROWS_AT_A_TIME):
                    yield self._grid.snap(cells[start : start + _ROWS_AT_A_TIME])[:, self._columns]
        except ParameterError as error:
            raise _paid(error) from None
        if read != self._table.n:
            raise changed()


def changed() -> ParameterError:
    """A source that does not give the same rows again, found in a pass; which rows they are is nobody's business."""
    return _paid(used_up())


def used_up() -> ParameterError:
    return ParameterError("x", "must give the same rows in every pass", "a source that changed while it was read")


def _paid(error: ParameterError) -> ParameterError:
    """The same, and that the run has spent its budget: nobody shall find that out from the accountant alone."""
    return ParameterError(error.parameter, f"{error.rule}; {SPENT}", error.value)
