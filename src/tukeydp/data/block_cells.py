"""Cells of frames, each read by itself: what a cell becomes depends on no other, and not on its column's type.

Libraries infer the type of a column from all of its cells, and rewrite these: one missing cell makes 3 a 3.0, one word
makes it "3", one number makes True a 1. What these have in common is read (docs/proofs/aggregate.md, section 2).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray
from tukeydp.data.numbers import BLANKS, NumberRule, number

TYPES = ("number", "text", "bool", "date")  # that a caller may declare
Cell = float | bool | str | datetime | None  # None: missing

# Words that readers of text files take for a number where the rest of a column allows it; "true" is one by the rule.
_WORDS = {f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "infinity")}
# What readers take for nothing, besides what the rule of numbers does: spellings of spreadsheets and of Windows.
_RULE = NumberRule(absent=("#n/a n/a", "#na", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"))
_HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,16}")
_DAY, _CLOCK = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), re.compile(r"[0-9]{2}:[0-9]{2}")


def _read(cell: Any) -> float | str | None:
    """One cell by itself: a number, a text, or None where there is nothing that can be read.

    What the cells around it can make of a cell is read as the cell: a single word makes text of all numbers, truth
    values and dates of its column, a single number makes 1 of True. So text that is a number is one, a truth value is 0
    or 1, and a date is its text.

    >>> [_read(cell) for cell in (3, "3.0", " 1e3", True, "true", "n/a", "131 mmHg", [3], date(2020, 5, 1))]
    [3.0, 3.0, 1000.0, 1.0, 1.0, None, '131 mmHg', None, '2020-05-01']
    """
    text = _text(cell)
    if text is not None:
        return _read_written(text)
    if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
        cell = cell.real
    value = number(cell)
    if not math.isnan(value):
        return value
    return cell.isoformat() if isinstance(cell, time) else _date_text(_moment(cell))


def _read_written(text: str) -> float | str | None:
    if _RULE.is_empty(text):
        return None
    word = text.strip(BLANKS).lower()
    value = _WORDS[word] if word in _WORDS else _RULE.number(text)
    if math.isnan(value):
        value = _odd_integer(word)
    return _one_spelling(word.upper()) or text if math.isnan(value) else value


def _odd_integer(word: str) -> float:
    """What Arrow takes for a whole number (hexadecimal, in 64 bits), and pandas beside a huge one (1_000); or NaN."""
    try:
        if _HEXADECIMAL.fullmatch(word):
            return float(np.array([int(word, 16)], dtype=np.uint64).view(np.int64)[0])
        return float(int(word))
    except (ValueError, OverflowError):
        return math.nan


def _one_spelling(text: str) -> str | None:
    """A day or a time of day under ISO 8601, as a date or a time is written above; None if it is neither."""
    if _DAY.match(text):
        return _date_text(_from_iso(text))
    try:
        return time.fromisoformat(text).isoformat() if _CLOCK.match(text) else None
    except ValueError:
        return None


def _read_number(cell: Any) -> Cell:
    value = _read(cell)
    return value if isinstance(value, float) else None


def _read_bool(cell: Any) -> Cell:
    value = _read(cell)
    return bool(value) if value in (0.0, 1.0) else None


def _read_text(cell: Any) -> Cell:
    """Text as it stands; an empty one is missing, which is what text files can say."""
    text = _text(cell)
    return (text or None) if text is not None else _as_text(_read(cell))


def _read_date(cell: Any) -> Cell:
    """The date in UTC, from a date or from ISO 8601 text."""
    text = _text(cell)
    return _moment(cell) if text is None else _from_iso(text)


READERS: dict[str | None, Callable[[Any], Cell]] = {
    None: _read, "number": _read_number, "text": _read_text, "bool": _read_bool, "date": _read_date,
}  # fmt: skip


def _text(cell: Any) -> str | None:
    """A plain text, whatever class the cell is of; None if it is no text.

    A new object: how often the cell's is referred to tells how many rows have it.
    """
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return str.encode(cell, "utf-8", "replace").decode("utf-8") if isinstance(cell, str) else None


def _from_iso(text: str) -> datetime | None:
    try:
        return _moment(datetime.fromisoformat(text.strip(BLANKS)))
    except ValueError:
        return None


def _moment(cell: Any) -> datetime | None:
    """A date or a time of a day, in UTC, to the microsecond."""
    if isinstance(cell, np.datetime64):
        cell = cell.astype("datetime64[us]").item()
    if not isinstance(cell, date):
        return None
    if not isinstance(cell, datetime):
        return datetime(cell.year, cell.month, cell.day)
    try:
        if cell.tzinfo is not None:
            cell = cell.astimezone(UTC)
        # By parts: pandas warns of nanoseconds where it converts. Its "not a time" and far years have no such parts.
        return datetime(cell.year, cell.month, cell.day, cell.hour, cell.minute, cell.second, cell.microsecond)
    except (ValueError, TypeError, OverflowError):
        return None


def _date_text(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.isoformat(sep=" ").removesuffix(" 00:00:00")


def _as_text(value: float | str | None) -> str | None:
    """A number like any other of its value: 3 is "3", whether its column had room for halves or not."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value) if isinstance(value, float) else value


def read_each(values: Sequence[Any], read: Callable[[Any], Cell]) -> NDArray[Any]:
    """Each cell by itself; one whose own class fails is missing."""
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        try:
            cells[i] = read(value)
        except MemoryError:  # of the machine, not of the cell
            raise
        except Exception:
            cells[i] = None
    return cells


def plain_floats(values: Any) -> FloatArray:
    """New floats with one zero and one NaN, the signs and bits that they have with whole numbers and with objects."""
    with np.errstate(all="ignore"):
        values = np.array(values, dtype=np.float64, order="C") + 0.0
    values[np.isnan(values)] = np.nan
    return np.asarray(values)


@dataclass(frozen=True)
class Typed:
    """A block's column: its type and its cells, floats with NaN for numbers, otherwise values and None."""

    kind: str
    cells: Any


def typed(cells: NDArray[Any], declared: str | None) -> Typed:
    """The cells of one block under the declared type; or as numbers, if all of *these* cells are, otherwise as text."""
    if cells.dtype == np.float64:
        return Typed("number", plain_floats(cells))
    values = cells.tolist()
    kind = declared or ("text" if any(isinstance(v, str) for v in values) else "number")
    if kind == "number":
        return Typed(kind, plain_floats([math.nan if v is None else v for v in values]))
    if kind == "text":
        return Typed(kind, [_as_text(v) for v in values])
    return Typed(kind, values)
