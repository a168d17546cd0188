"""Files to tables. What is declared is read; nothing is guessed, and errors quote nothing from the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from tukeydp.arrays import FloatArray
from tukeydp.data.readers.arrow import read_arrow, read_parquet
from tukeydp.data.readers.columns import check_distinct
from tukeydp.data.readers.delimited import read_delimited, read_packed
from tukeydp.data.readers.excel import read_excel
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import format_of, name_of, opened
from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError

Reader = Callable[[IO[bytes], Sequence[str], ReadOptions, Path | str], FloatArray]
# A new format: a file in `readers/` and a line here (and its name and endings in `readers/`).
READERS: dict[str, Reader] = {
    "csv": read_delimited,
    "csv.gz": read_packed,
    "excel": read_excel,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


def read_file(path: Path | str, columns: Sequence[str], options: ReadOptions | None = None) -> Table:
    """The named columns of a file, or of standard input (`-`), as a table.

    Privacy: what raises is the declared dialect, the first bytes, the header or schema, and the system; never a cell.
    A cell that does not read as a number is missing.
    """
    options = ReadOptions() if options is None else options
    check_distinct(columns)
    options.check_columns(columns)
    with opened(path) as stream:
        cells = READERS[format_of(path, options)](stream, columns, options, path)
    if not len(cells):
        raise ParameterError("FILE", "must have at least one row below its header", name_of(path))
    options.blank_out(cells, columns)
    return Table(cells, tuple(columns))


def read_csv(path: Path, columns: Sequence[str], *, decimal: str = ".") -> Table:
    """A CSV file whose header tells the separator: the one of comma, semicolon, tab and bar it holds most of."""
    with opened(path) as stream:
        header = stream.readline()
    separator = max(",;\t|", key=lambda mark: header.count(mark.encode()))
    return read_file(path, columns, ReadOptions(format="csv", separator=separator, decimal=decimal))
