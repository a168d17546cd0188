"""What a text format reads, and named columns in a header.

The header is never quoted: in a file without one, its first line is somebody's row.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tukeydp.data.numbers import BLANKS
from tukeydp.data.readers.sources import LOOK
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief

_IN_LINES = re.compile(r"[ \t]*[\r\n]+[ \t]*")  # spreadsheets break long names into lines


class TextCells(NamedTuple):
    """The cells, NaN for what is missing, and how many in each column hold something that is not a number.

    What formats return in which a cell may fail to read; where a schema rules that out, the cells alone will do. A swap
    of one row may move each number by at most 1: the check before a release rests on it.
    """

    values: FloatArray
    unreadable: IntArray


def header_of(rows: Sequence[Sequence[Any]]) -> list[str]:
    """The names in a header of one or several rows. In rows above the last, a merged cell stands in its first alone.

    >>> header_of([["id", "Baseline", ""], ["", "pulse", "weight\\n(kg)"]])
    ['id', 'Baseline pulse', 'Baseline weight (kg)']
    """
    lines = [[_IN_LINES.sub(" ", str(cell)).strip(BLANKS) for cell in row] for row in rows]
    for above in lines[:-1]:
        for j in range(1, len(above)):
            above[j] = above[j] or above[j - 1]
    width = max((len(line) for line in lines), default=0)
    parts = ((line[j] for line in lines if j < len(line) and line[j]) for j in range(width))
    return [" ".join(dict.fromkeys(names)) for names in parts]


def positions(count: int) -> list[str]:
    """The names of columns without a header."""
    return [str(i) for i in range(1, count + 1)]


def check_distinct(columns: Sequence[str]) -> None:
    if isinstance(columns, str) or not columns or len(set(columns)) != len(columns):
        raise ParameterError("columns", "must name at least one column, each once", brief(columns))


def places_of(
    names: Sequence[str], columns: Sequence[str], *, header: bool = True, separator: str | None = None
) -> list[int]:
    """Where the columns stand."""
    check_distinct(columns)
    for column in columns:
        if names.count(column) != 1:
            raise ParameterError("columns", _rule(names, column, header, separator), repr(column))
    return [names.index(column) for column in columns]


def _rule(names: Sequence[str], column: str, header: bool, separator: str | None) -> str:
    if not header:
        return f"must be numbers from 1 to {len(names)} where there is no header"
    if column in names:
        return "must name columns that occur once in the header"
    found = f"the header has {len(names)} column{'s' * (len(names) != 1)}"
    if separator is not None and len(names) == 1:
        return (
            f"must name columns of the header, and read with separator {separator!r} {found}: pass --separator "
            f"(often ';' or tab); {LOOK}"
        )
    if _plain(column) in map(_plain, names):
        return f"must name columns of the header; {found}, one of them the same but for case or blanks; {LOOK}"
    return f"must name columns of the header; {found}; {LOOK}, and title lines above the header need --skip"


def _plain(name: str) -> str:
    return "".join(name.split()).casefold()


def places_in_schema(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where the columns stand in a schema that the format declares: its names are public and may be quoted."""
    check_distinct(columns)
    for column in columns:
        if names.count(column) != 1:
            close = difflib.get_close_matches(column, names, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close and close[0] != column else ""
            rule = f"must name columns that occur once in the file's schema, which has {len(names)}{hint}"
            raise ParameterError("columns", rule, repr(column))
    return [names.index(column) for column in columns]
