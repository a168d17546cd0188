"""Files to tables. What is declared is read; nothing is guessed, and errors quote nothing from the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from tukeydp.arrays import FloatArray
from tukeydp.data.readers.arrow import names_in_arrow, names_in_parquet, read_arrow, read_parquet
from tukeydp.data.readers.columns import TextCells, check_distinct
from tukeydp.data.readers.delimited import names_in_delimited, names_in_packed, read_delimited, read_packed
from tukeydp.data.readers.excel import names_in_excel, read_excel
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import name_of, opened
from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError
from tukeydp.parameters import checked_choice

Reader = Callable[[IO[bytes], Sequence[str], ReadOptions, Path | str], FloatArray | TextCells]


class FileFormat(NamedTuple):
    """How a format is read, what the names of such files end in, and the names of the columns if a header has them."""

    read: Reader
    endings: tuple[str, ...]
    names: Callable[[IO[bytes], ReadOptions, Path | str], list[str]] | None = None


# A new format: a file in `readers/` and a line here. What ends in nothing that is known is CSV.
READERS: dict[str, FileFormat] = {
    "csv": FileFormat(read_delimited, (".csv", ".tsv", ".tab", ".txt"), names_in_delimited),
    "csv.gz": FileFormat(read_packed, (".gz",), names_in_packed),
    "excel": FileFormat(read_excel, (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), names_in_excel),
    "parquet": FileFormat(read_parquet, (".parquet", ".pq"), names_in_parquet),
    "arrow": FileFormat(read_arrow, (".arrow", ".feather", ".ipc", ".arrows"), names_in_arrow),
}


def format_of(path: Path | str, options: ReadOptions) -> str:
    """The declared format, or what the file's name ends in."""
    if options.format is not None:
        return checked_choice("format", options.format, READERS)
    name = str(path).lower()
    return next((form for form, known in READERS.items() if name.endswith(known.endings)), "csv")


def has_column(path: Path | str, name: str, options: ReadOptions) -> bool:
    """Whether the header has this name. What else is wrong with the file is said when it is read."""
    try:
        return name in names_in(path, options)
    except ParameterError:
        return False


def names_in(path: Path | str, options: ReadOptions) -> list[str]:
    """The names in the header, in order; none for a format that has no header."""
    names = READERS[format_of(path, options)].names
    with opened(path) as stream:
        return [] if names is None else names(stream, options, path)


def read_file(path: Path | str, columns: Sequence[str], options: ReadOptions | None = None, fewest: int = 1) -> Table:
    """The named columns of a file, or of standard input (`-`), as a table of at least `fewest` rows.

    Privacy: what raises is the declared dialect, the first bytes, the header or schema, and the system; never a cell.
    A cell that does not read as a number is missing.
    """
    options = ReadOptions() if options is None else options
    form = format_of(path, options)
    check_distinct(columns)
    options.check_columns(columns)
    with opened(path) as stream:
        read = READERS[form].read(stream, columns, options, path)
    cells, unreadable = read if isinstance(read, TextCells) else (read, None)
    if len(cells) < fewest:
        raise ParameterError("FILE", "must have at least one row below its header", name_of(path))
    options.blank_out(cells, columns)
    units = tuple(options.unit(column) for column in columns)
    return Table(cells, tuple(columns), units if any(units) else None, unreadable)
