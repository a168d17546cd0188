"""Files to tables. Errors quote nothing from the file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tukeydp.data.tables import Table, number
from tukeydp.errors import ParameterError

_DELIMITERS = ",;\t|"


def read_csv(path: Path, columns: Sequence[str], *, decimal: str = ".") -> Table:
    """The named columns of a CSV file with a header line; cells that are not numbers are missing.

    The delimiter is the one of comma, semicolon, tab and bar that the header holds most of. A blank line is a row
    only where there is a single column: elsewhere a row without values still has its delimiters.
    """
    if decimal not in (".", ","):
        raise ParameterError("decimal", "must be '.' or ','", repr(decimal))
    try:
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
    except OSError as error:
        raise ParameterError("FILE", "must be a readable file", f"{path} ({error.strerror})") from None
    if not cells:
        raise ParameterError("FILE", "must have at least one row below its header", str(path))
    return Table(np.array(cells, dtype=np.float64).reshape(len(cells), len(places)), tuple(columns))


def _places(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    for column in columns:
        if names.count(column) != 1:
            # The header is not quoted: in a file without one, its first line is somebody's row.
            rule = f"must name columns that occur once in the header, which has {len(names)}"
            raise ParameterError("columns", rule, repr(column))
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError("columns", "must name at least one column, each once", ",".join(columns) or "none")
    return [names.index(column) for column in columns]


def _cells(
    lines: Iterator[list[str]], places: Sequence[int], *, blank_is_row: bool, decimal: str
) -> Iterator[list[float]]:
    for line in lines:
        if line or blank_is_row:
            texts = (line[place] if place < len(line) else "" for place in places)
            yield [number(text.replace(",", ".") if decimal == "," else text) for text in texts]
