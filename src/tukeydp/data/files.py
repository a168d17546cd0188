"""Files to tables, one reader for each kind of file. Errors quote nothing from the file.

To add one: a function like `read_csv` in a file of its own, and one line in `READERS` (docs/extending.md).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from tukeydp.data.tables import Table, number
from tukeydp.errors import ParameterError

_DELIMITERS = ",;\t|"


class Reader(Protocol):
    """From a file to the named columns, in that order; a cell that cannot be read is missing.

    May raise `ParameterError` for the schema (a column that is not there) and `OSError`; never for a value in a cell.
    """

    def __call__(self, path: Path, columns: Sequence[str], *, decimal: str = ".") -> Table: ...


def read_file(path: Path, columns: Sequence[str], *, decimal: str = ".") -> Table:
    """The named columns of a file, by the reader that its name's ending has in `READERS`; any other is CSV."""
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError("columns", "must name at least one column, each once", ",".join(columns) or "none")
    reader = READERS.get(path.suffix.lower(), read_csv)
    try:
        table = reader(path, columns, decimal=decimal)
    except OSError as error:
        raise ParameterError("FILE", "must be a readable file", f"{path} ({error.strerror})") from None
    if not table.n:
        raise ParameterError("FILE", "must have at least one row", str(path))
    return table


def read_csv(path: Path, columns: Sequence[str], *, decimal: str = ".") -> Table:
    """The named columns of a CSV file with a header line; cells that are not numbers are missing.

    The delimiter is the one of comma, semicolon, tab and bar that the header holds most of. A blank line is a row
    only where there is a single column: elsewhere a row without values still has its delimiters.
    """
    if decimal not in (".", ","):
        raise ParameterError("decimal", "must be '.' or ','", repr(decimal))
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
        delimiter = max(_DELIMITERS, key=header.count)
        file.seek(0)
        # A cell longer than csv's default limit would raise.
        csv.field_size_limit(2**31 - 1)
        lines = csv.reader(file, delimiter=delimiter)
        names = [name.strip() for name in next(lines, [])]
        places = _places(names, columns)
        cells = list(_cells(lines, places, blank_is_row=len(names) == 1, decimal=decimal))
    return Table(np.array(cells, dtype=np.float64).reshape(len(cells), len(places)), tuple(columns))


# By the ending of a file's name, in small letters.
READERS: dict[str, Reader] = {
    ".csv": read_csv,
}


def _places(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    for column in columns:
        if names.count(column) != 1:
            # The header is not quoted: in a file without one, its first line is somebody's row.
            rule = f"must name columns that occur once in the header, which has {len(names)}"
            raise ParameterError("columns", rule, repr(column))
    return [names.index(column) for column in columns]


def _cells(
    lines: Iterator[list[str]], places: Sequence[int], *, blank_is_row: bool, decimal: str
) -> Iterator[list[float]]:
    for line in lines:
        if line or blank_is_row:
            texts = (line[place] if place < len(line) else "" for place in places)
            yield [number(text.replace(",", ".") if decimal == "," else text) for text in texts]
