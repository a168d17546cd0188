"""Tables that are read a chunk at a time, as often as needed, and what a mechanism takes in place of a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tukeydp.data.readers.arrow import ParquetParts
from tukeydp.data.readers.columns import places_in_schema
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table, read_table
from tukeydp.trusted.parameters import SPENT, FloatArray, IntArray, ParameterError, brief, checked_integer
from tukeydp.trusted.rows import Grid

# MiB of projections kept at a time unless told: with what reading takes, a call stays below 2 GiB.
MEMORY = 512
_MOST_MEMORY = 2**30  # MiB: a public number beyond any machine
_ROWS_AT_A_TIME = 1 << 16  # rows mapped to the grid at a time, however long a chunk is


@dataclass(frozen=True, eq=False)
class Chunks:
    """A source of chunks, as `td.chunks` makes it."""

    read: Callable[[], Iterable[Any]]
    memory: int
    options: ReadOptions | None = None
    known_rows: Callable[[], int] | None = None

    @property
    def has_schema(self) -> bool:
        """Whether files declare the types of their columns, which then are numbers."""
        return self.known_rows is not None


def chunks(source: Any, *, columns: Sequence[str] | None = None, memory: int = MEMORY) -> Chunks:
    """A table in chunks, for `td.boxem` on more rows than memory holds.

    Parameters
    ----------
    source
        A Parquet file or a folder of them (a path); or a function without parameters that returns an iterator of chunks
        and is called once for each pass; or anything else that can be iterated again and again, such as a list or a
        `pyarrow.dataset.Dataset`. A chunk is an array (rows, columns) or a pandas, polars or Arrow table, with the same
        columns in every chunk, read like any table in memory. Chunks may be empty.
    columns
        Which columns of tables to read, in this order; all of them unless given.
    memory
        MiB for projections that are kept between passes, at least 1. Less of it means more passes, not another release.

    Returns
    -------
    Chunks
        Nothing has been read yet, except the schema of the first file.

    Notes
    -----
    The rows must be the same in every pass. That is checked, by their number and a checksum, before anything is used.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(5000, 2))
    >>> parts = td.chunks(lambda: np.array_split(x, 7))
    >>> streamed = td.boxem(parts, epsilon=1, bounds=(-10, 10), randomness=td.seeded(7))
    >>> whole = td.boxem(x, epsilon=1, bounds=(-10, 10), randomness=td.seeded(7))
    >>> bool((streamed.point == whole.point).all())
    True
    """
    memory = checked_integer("memory", memory, least=1, most=_MOST_MEMORY)
    if columns is not None and (isinstance(columns, str) or not all(isinstance(name, str) for name in columns)):
        raise ParameterError("columns", "must be a list of names", brief(columns))
    if isinstance(source, str | os.PathLike):
        parts = ParquetParts(Path(source), columns)
        return Chunks(parts, memory, known_rows=lambda: parts.rows)
    return Chunks(_selecting(_reader(source), columns), memory)


def with_options(source: Chunks, options: ReadOptions) -> Chunks:
    """The same source, its cells read as its owner declares."""
    return replace(source, options=options)


def _reader(source: Any) -> Callable[[], Iterable[Any]]:
    if hasattr(source, "to_batches"):
        schema = getattr(source, "projected_schema", None) or source.schema
        # One without rows first: a table that has none is a table, and that there are none may be secret.
        return lambda: chain([schema.empty_table()], source.to_batches())
    if callable(source):
        return _anew(source)
    if isinstance(source, Iterable) and not isinstance(source, np.ndarray | bytes) and not hasattr(source, "columns"):
        if iter(source) is source:
            raise _readable_once(source)
        return lambda: source
    rule = "must be a path to Parquet, a function that returns an iterator of chunks, or a list of them"
    raise ParameterError("source", rule, type(source).__name__)


def _anew(make: Callable[[], Any]) -> Callable[[], Iterable[Any]]:
    """What `make` returns, unless it is the iterator of the pass before: that would be a table without rows."""
    before: Any = None

    def made() -> Iterable[Any]:
        nonlocal before
        chunks = make()
        if isinstance(chunks, np.ndarray) or hasattr(chunks, "columns"):  # its rows or columns are no chunks
            raise ParameterError("source", "must return an iterator or a list of chunks", type(chunks).__name__)
        if isinstance(chunks, Iterator) and chunks is before:
            raise _readable_once(chunks)
        before = chunks
        return chunks

    return made


def _readable_once(source: Any) -> ParameterError:
    rule = "must be readable more than once: give a function that returns a new iterator each time"
    return ParameterError("source", rule, type(source).__name__)


def _selecting(read: Callable[[], Iterable[Any]], columns: Sequence[str] | None) -> Callable[[], Iterable[Any]]:
    if columns is None:
        return read
    names = list(columns)

    def selected() -> Iterator[Any]:
        for chunk in read():
            if not hasattr(chunk, "columns"):
                raise ParameterError("columns", "must be left out where chunks are arrays", brief(names))
            places_in_schema([str(name) for name in getattr(chunk, "column_names", chunk.columns)], names)
            yield chunk.select(names) if hasattr(chunk, "select") else chunk[names]

    return selected


class StreamedTable:
    """A table that is read in chunks: as public as `Table` is, with passes over its cells in place of the cells."""

    unreadable = None

    def __init__(self, source: Chunks, fewest: int = 1) -> None:
        self._source, self.memory = source, source.memory * 2**20
        first = next(self._tables(None), None)
        if first is None or first.d < 1:
            raise ParameterError("x", "must have at least one chunk, with at least one column", "none")
        self.d, self.columns, self._at_least = first.d, first.columns, first.n
        options, names = source.options, first.columns or ()
        units = tuple(options.unit(name) for name in names) if options else ()
        self.units = units if any(units) else None
        if fewest and self.n < fewest:
            raise ParameterError("x", "must have at least one row and one column", f"shape {(self.n, self.d)}")

    @cached_property
    def n(self) -> int:
        known = self._source.known_rows
        rows = known() if known else sum(len(cells) for cells in self.passes())
        if rows < self._at_least:  # used up by the look at its schema: not a table without rows
            raise _changed()
        return rows

    @property
    def public(self) -> dict[str, Any]:
        return {"n": self.n, "d": self.d, "columns": self.columns, "units": self.units}

    def passes(self) -> Iterator[FloatArray]:
        """All cells, once more, from the first chunk to the last."""
        for table in self._tables((self.d, self.columns)):
            yield table.cells

    def _tables(self, schema: tuple[int, tuple[str, ...] | None] | None) -> Iterator[Table]:
        try:
            for chunk in self._source.read():
                _check_table(chunk)
                table = read_table(chunk, "x", fewest=0)
                schema = schema or (table.d, table.columns)
                if (table.d, table.columns) != schema:
                    raise ParameterError("x", "must have the same columns in every chunk", "a chunk with others")
                if self._source.options is not None:
                    self._source.options.blank_out(table.cells, table.columns or ())
                yield table
        except (ParameterError, MemoryError):
            raise
        except Exception as error:  # its words may quote cells
            rule = "must be a source of chunks that can be read to its end"
            raise ParameterError("x", rule, type(error).__name__) from None


def _check_table(chunk: Any) -> None:
    """A row of an array, or a column of a table, is no chunk: its cells would count as so many rows of one cell.

    By the kind of the container alone. A library may have chosen the types of a chunk from its cells, so that none is
    refused; how many columns a list has is said by its rows, which are data.
    """
    if isinstance(chunk, list | tuple):
        raise ParameterError("x", "must have chunks that are arrays or tables", "a chunk that is a list")
    shape = getattr(chunk, "shape", None)
    if not (hasattr(chunk, "columns") if shape is None else len(shape) == 2):
        rule = "must have chunks with rows and columns; those of one column have the shape (rows, 1)"
        raise ParameterError("x", rule, type(chunk).__name__)


class StreamedRows:
    """The rows of a streamed table on a grid, without those that have a missing cell: a block at a time, any number of
    times. Not private: all of this is the data."""

    def __init__(
        self, table: StreamedTable, grid: Grid, columns: slice = slice(None), memory: int | None = None
    ) -> None:
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
    return _paid(_changed())


def _changed() -> ParameterError:
    return ParameterError("x", "must give the same rows in every pass", "a source that changed while it was read")


def _paid(error: ParameterError) -> ParameterError:
    """The same, and that the run has spent its budget: nobody shall find that out from the accountant alone."""
    return ParameterError(error.parameter, f"{error.rule}; {SPENT}", error.value)
