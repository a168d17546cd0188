"""Files to tables, and `td.read`. What is declared is read, nothing is guessed; errors quote nothing of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from tukeydp.data.dictionary import Dictionary, read_dictionary
from tukeydp.data.keys import Keys
from tukeydp.data.numbers import PLAIN, NumberRule
from tukeydp.data.readers import labelled
from tukeydp.data.readers.arrow import names_in_arrow, names_in_parquet, read_arrow, read_parquet
from tukeydp.data.readers.columns import TextCells, check_distinct, places_of
from tukeydp.data.readers.delimited import names_in_delimited, names_in_packed, read_delimited, read_packed
from tukeydp.data.readers.excel import names_in_excel, read_excel
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory, name_of, opened
from tukeydp.data.tables import Source, Table
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, checked_choice

# Files to tables. What is declared is read; nothing is guessed, and errors quote nothing from the file.

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
    "spss": FileFormat(labelled.reader("spss"), (".sav", ".zsav"), labelled.names_in("spss")),
    "stata": FileFormat(labelled.reader("stata"), (".dta",), labelled.names_in("stata")),
    "sas": FileFormat(labelled.reader("sas"), (".sas7bdat", ".xpt"), labelled.names_in("sas")),
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


# `td.read`: columns of a file, by name, for every function that takes a table.
#
# What a column is, is declared: numbers where it is measured, keys or ids where `by=` or `person=` names it. No cell
# decides about the type of another, as it does where a library reads the file for itself.


def read(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Any = None,
    units: Any = None,
    detection: Any = None,
    dictionary: Dictionary | str | os.PathLike[str] | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    skip: int = 0,
    header: bool | int = True,
    format: str | None = None,
) -> FileTable:
    """Open a file as a table that every function takes: CSV and its kin, Excel, Parquet or Arrow.

    Use it in place of a library's reader: how a file is written is declared here, and each cell is read by itself. A
    library chooses the type of a whole column from all of its cells, so that one person's cell may change what the
    others' are.

    Parameters
    ----------
    path
        The file: one row per person, a header above.
    columns
        Names of the columns to measure; None for all that have a name. A column that `by=` or `person=` names later
        need not be among them, and is never measured.
    decimal, thousands
        Marks in numbers: "." unless given, and none.
    missing
        What stands for no value: -999, ["-999", "unknown"], or a dict of column name -> such.
    units
        That may stand beside numbers: "mmHg", ["kg", "g"], or a dict of column name -> such.
    detection
        Limits of detection, by column name: {"crp": "<0.3"} reads such cells as 0.3, {"crp": "<0.3/2"} as half of it.
    dictionary
        What is known of columns without the data, or a file of that (docs/guide/files.md): their types, units, codes
        for no value and limits of detection. Columns that are not named are then its numbers and yes/no columns.
        `missing`, `units` and `detection` that name a column go before it.
    sheet
        Of an Excel workbook with several.
    separator, quote, encoding, skip, header, format
        As docs/guide/files.md has them; comma, double quotes, UTF-8, 0 lines above the header, and by the name's
        ending unless given. Without a header columns are called "1", "2", ...; `header=2`: two rows make up the names.

    Returns
    -------
    FileTable
        `table[["age", "pulse"]]` has these columns alone. Cells are read when a function asks for them.

    Privacy
    -------
    What raises is the declaration, the first bytes and the header, never a cell: one that is not a number is missing.
    Column names are public. Printing a table shows no cell, and not how many rows there are.

    Examples
    --------
    >>> import tempfile, pathlib, tukeydp as td
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = path.write_text("age;pulse;arm\\n31,5;72;A\\n48;80 bpm;B\\n77;unknown;A\\n")
    >>> table = td.read(path, ["age", "pulse"], separator=";", decimal=",", units={"pulse": "bpm"})
    >>> table
    FileTable(columns=('age', 'pulse'))
    >>> td.cube(table, epsilon=1, bounds={"age": (0, 120), "pulse": (30, 220)}).columns
    ('age', 'pulse')
    >>> sorted(td.mean(table, by="arm", keys=["A", "B"], epsilon=1, bounds=(0, 220)))
    ['A', 'B']
    """
    if not isinstance(path, str | os.PathLike) or str(path) == "-":
        raise ParameterError("path", "must be the path of a file", brief(path))
    known = dictionary if isinstance(dictionary, Dictionary | None) else read_dictionary(dictionary)
    options = ReadOptions(
        format=format,
        separator=separator,
        quote='"' if quote is None else quote,
        decimal="." if decimal is None else decimal,
        thousands=thousands,
        encoding=encoding,
        skip=skip,
        header=header,
        units=_declared(units),
        missing=_declared(missing, "," if decimal == "," else "."),
        detection=_declared(detection),
        sheet=sheet,
    )
    place = path if isinstance(path, InMemory) else Path(path)
    options = options if known is None else options.in_file(known)
    names = names_in(place, options)
    if known is not None:
        options = options.known_from(known, names)
    listed = _all_of(names, options.header, known) if columns is None else _listed(columns)
    check_distinct(listed)
    places_of(names, listed, header=bool(options.header))
    options.check_columns(names)
    return FileTable(place, tuple(names), tuple(listed), options, known)


def _listed(columns: Any) -> list[str]:
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ParameterError("columns", "must be a list of names", brief(columns))
    listed = list(columns)
    if not all(isinstance(name, str) for name in listed):
        raise ParameterError("columns", "must be a list of names", brief(listed))
    return listed


def _all_of(names: Sequence[str], header: bool | int, known: Dictionary | None) -> list[str]:
    """The columns that have a name, or that the dictionary says are measured.

    They are shown with every release, so that they had better be names.
    """
    if known is not None and (measured := [name for name in known.of_kind("number", "yes/no") if name in names]):
        return measured
    if header and any(not np.isnan(PLAIN.number(name)) for name in names):
        rule = "must be given where names in the first line read as numbers; if it is a row, pass header=False"
        raise ParameterError("columns", rule, "none")
    return [name for name in names if name]


def _declared(given: Any, decimal: str = ".") -> list[str] | dict[str, list[str]]:
    """A text or number, a list of them, or a dict of either, as texts in the file's own writing."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return {name: list(_declared(one, decimal)) for name, one in given.items()}
    listed = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    whole = Real, np.bool_
    return [str(one).replace(".", decimal) if isinstance(one, whole) else one for one in listed]


@dataclass(frozen=True, eq=False, repr=False)
class FileTable(Source):
    """Columns of a file, read when they are asked for. Its names are public, its cells and their number are not."""

    path: Path | str
    names: tuple[str, ...]  # all columns of the file
    columns: tuple[str, ...]  # those that are measured
    options: ReadOptions
    dictionary: Dictionary | None = None

    def __repr__(self) -> str:
        return f"FileTable(columns={self.columns!r})"

    def __getitem__(self, columns: str | Sequence[str]) -> FileTable:
        """The same file with these columns alone."""
        listed = [columns] if isinstance(columns, str) else _listed(columns)
        check_distinct(listed)
        places_of(self.names, listed, header=bool(self.options.header))
        return replace(self, columns=tuple(listed))

    __iter__ = None  # its columns are no rows

    @cached_property
    def _numbers(self) -> Table:
        return read_file(self.path, self.columns, self.options.only(self.columns), fewest=0)

    def table(self) -> Table:
        return self._numbers

    def with_cells(self, *named: str) -> tuple[Table, list[list[Any]]]:
        others = tuple(name for name in self.columns if name not in named)
        found = {name: _Distinct() for name in named}
        listed = [*others, *found]
        options = replace(self.options.only(listed), keys=dict(found))
        both = read_file(self.path, listed, options, fewest=0)
        cells = [found[name].cells(both.cells[:, listed.index(name)]) for name in named]
        for _ in found:
            both = both.without_last()
        return both, cells


class _Distinct(Keys):
    """Keys of which none is known beforehand: each cell gets the number of the first that is the same."""

    def __init__(self) -> None:
        super().__init__((), ())
        object.__setattr__(self, "_known", {})

    def as_codes(self, cells: Iterable[Any], rule: NumberRule = PLAIN) -> FloatArray:
        known: dict[tuple[type, Any], int] = self._known  # type: ignore[attr-defined]
        return np.array([float(known.setdefault((type(cell), cell), len(known))) for cell in cells], dtype=np.float64)

    def cells(self, codes: FloatArray) -> list[Any]:
        """What stood in the rows; None where a line had no such cell."""
        listed = [cell for _, cell in self._known]  # type: ignore[attr-defined]
        return [None if np.isnan(code) else listed[int(code)] for code in codes.tolist()]
