"""When text is a number: the one rule, for cells of files and for text among Python objects.

A number has ASCII digits, at most one decimal mark (exactly the declared one), and may have a sign, an exponent and
blanks around it. Marks of thousands and units are read only where they are declared. Everything else, the words "nan"
and "inf" included, is not a number, and such a cell is missing: a value nobody measured must not pull on a mean. The
words "true" and "false" are 1 and 0, as truth values are: whether a library has made truth values of a column of such
words depends on all of its cells, and must not decide what one of them is. Text in tables that libraries have read
(`IN_MEMORY`) is also what they would have made of it among numbers, infinities included.
`readers/scanning.py` is the same rule, compiled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.parameters import FloatArray

# Blanks around a number: ASCII's, and the no-break and narrow spaces that spreadsheets and typesetters put there.
BLANKS = " \t\n\r\f\v\u00a0\u2009\u202f"
# What stands for a declared mark of thousands: programs write the same mark as several characters.
THOUSANDS = {",": ",", ".": ".", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}
# What programs write where there is no value: R, pandas, SQL, spreadsheets, SAS and Stata. In small letters.
NO_VALUE = ("na", "n/a", "n.a.", "nan", "<na>", "#n/a", "null", "\\n", "none", "nil", ".", "-", "--", "?")
TRUTH = {"true": 1.0, "false": 0.0}  # in any letters, as R, Python and SQL write them
MINUS = "\u2212"  # the typographic minus; left out, only the negative numbers of a column would be missing


def may_lead(unit: str) -> bool:
    """Whether a unit can stand before a number: not one like "m2", whose end could be the number's beginning."""
    return unit[-1] not in "0123456789+-.,'" + MINUS


@dataclass(frozen=True)
class NumberRule:
    """How numbers are written: decimal mark, mark of thousands, units that may stand before or after a number.

    `absent` are further words for no value, besides `NO_VALUE`. `limits` are limits of detection: the mark, the limit,
    and the value that a cell of both stands for.
    """

    decimal: str = "."
    thousands: str | None = None
    units: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    limits: tuple[tuple[str, float, float], ...] = ()

    @cached_property
    def longest_first(self) -> list[str]:
        # The longest first: "mmHg" must not be taken for a stray "mmH" and grams.
        return sorted(self.units, key=lambda unit: -len(unit.encode()))

    @cached_property
    def no_value(self) -> list[bytes]:
        """Words for no value, in small ASCII letters."""
        return [word.encode().lower() for word in (*NO_VALUE, *self.absent)]

    def is_empty(self, text: str) -> bool:
        """Whether a cell holds nothing, or a word for no value: missing, but not unreadable.

        >>> PLAIN.is_empty("  "), PLAIN.is_empty("NaN"), PLAIN.is_empty("131 mmHg")
        (True, True, False)
        """
        stripped = text.strip(BLANKS).encode("utf-8", "replace").lower()
        return not stripped or stripped in self.no_value

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands is not None:
            # Groups of three after a first that does not start with 0: "0,125" is a decimal comma, not 125.
            whole = f"[1-9][0-9]{{0,2}}(?:[{re.escape(THOUSANDS[self.thousands])}][0-9]{{3}})+|{whole}"
        return re.compile(
            f"([+{MINUS}-]?)(?:({whole})(?:{point}([0-9]*))?|{point}([0-9]+))(?:[eE]([+-]?[0-9]+))?", re.ASCII
        )

    @cached_property
    def _without_limits(self) -> NumberRule:
        return NumberRule(self.decimal, self.thousands)

    def without_unit(self, text: str) -> str:
        text = text.strip(BLANKS)
        for unit in self.longest_first:
            if text.endswith(unit):
                return text[: -len(unit)].rstrip(BLANKS)
            if may_lead(unit) and text.startswith(unit):
                return text[len(unit) :].lstrip(BLANKS)
        return text

    def number(self, text: str) -> float:
        """The number that the text is, rounded to the nearest float; NaN if it is none.

        >>> german = NumberRule(decimal=",", thousands=".", units=("kg",))
        >>> german.number(" 1.234,5 kg"), german.number("12.34"), german.number("1_000")
        (1234.5, nan, nan)
        >>> german.number("TRUE")
        1.0
        >>> NumberRule(limits=(("<", 0.3, 0.15),)).number("< 0.30")
        0.15
        """
        bare = self.without_unit(text)
        found = self._pattern.fullmatch(bare)
        if found is None and self.limits and bare[:1] in ("<", ">"):
            stated = self._without_limits.number(bare[1:])
            return next((value for mark, limit, value in self.limits if (mark, limit) == (bare[0], stated)), math.nan)
        if found is None:
            return TRUTH.get(bare.lower(), math.nan) if bare.isascii() else math.nan
        sign, whole, after, only, exponent = found.groups()
        digits = "".join(c for c in whole or "" if c in "0123456789")
        minus = "-" if sign in ("-", MINUS) else ""
        return float(f"{minus}{digits or '0'}.{after or only or '0'}e{exponent or '0'}")


PLAIN = NumberRule()

_INFINITE = {f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "infinity")}
_HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,16}")


@dataclass(frozen=True)
class LibraryRule(NumberRule):
    """Text in a table in memory, of which libraries make a number where all other cells of its column are numbers.

    One word in a column and it stays text; then the cells of all others must be the same numbers, missing ones or
    unreadable ones as before. Readers of text files know infinities and whole numbers in other writings (`odd_integer`)
    and numpy writes complex numbers as texts.
    """

    def number(self, text: str) -> float:
        """The number that a library makes of the text, or else the rule's.

        >>> [IN_MEMORY.number(text) for text in ("-Infinity", "0x1F", "1_000", "(3+0j)", "1,5")]
        [-inf, 31.0, 1000.0, 3.0, nan]
        """
        value = super().number(text)
        if not math.isnan(value):
            return value
        word = text.strip(BLANKS).lower()
        whole = odd_integer(word)
        return _INFINITE.get(word, _written_complex(word)) if whole is None else number(whole)


# The words that readers take for nothing, besides those of every rule: spellings of spreadsheets and of Windows.
IN_MEMORY = LibraryRule(absent=("#n/a n/a", "#na", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"))


def odd_integer(word: str) -> int | None:
    """What Arrow takes for a whole number (hexadecimal, in 64 bits), and pandas beside a huge one (1_000); or None."""
    try:
        if _HEXADECIMAL.fullmatch(word):
            return int(np.array([int(word, 16)], dtype=np.uint64).view(np.int64)[0])
        return int(word)
    except ValueError:
        return None


def _written_complex(word: str) -> float:
    try:
        return number(complex(word)) if word.endswith("j)") else math.nan
    except ValueError:
        return math.nan


def number(cell: Any, rule: NumberRule = PLAIN) -> float:
    """One cell as a float; NaN when it cannot be read.

    >>> number(" 1e3 "), number("many"), number(10**400), number("inf")
    (1000.0, nan, inf, nan)
    """
    if isinstance(cell, str):
        return rule.number(cell)
    if isinstance(cell, bytes):
        return rule.number(cell.decode("utf-8", "replace"))
    if isinstance(cell, complex | np.complexfloating):
        # One such cell makes numpy and pandas write all others of its column like that.
        return float(cell.real) if cell.imag == 0 else math.nan
    if not isinstance(cell, Real | Decimal | np.bool_):
        return math.nan
    try:
        return float(cell)
    except MemoryError:  # of the machine, not of the cell: a missing cell would be a wrong table
        raise
    except OverflowError:
        return _beyond_floats(cell)
    except Exception:
        return math.nan


def _beyond_floats(cell: Any) -> float:
    """An infinity; NaN where a number's own class cannot tell which."""
    try:
        return math.inf if cell > 0 else -math.inf
    except Exception:
        return math.nan


# Cells of these types only: numpy turns them into floats as `number` would, twenty times faster.
_DIRECT = {int, float, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}


def read_cells(cells: Iterable[Any], rule: NumberRule = IN_MEMORY) -> FloatArray:
    """Each cell by itself as a float."""
    listed = cells if isinstance(cells, list) else list(cells)
    if set(map(type, listed)) <= _DIRECT:
        try:
            with np.errstate(all="ignore"):
                return np.array(listed, dtype=object).astype(np.float64)
        except (OverflowError, ValueError, TypeError):  # an integer beyond all floats
            pass
    return np.fromiter((number(cell, rule) for cell in listed), dtype=np.float64, count=len(listed))


class ReadColumn(NamedTuple):
    """A column as floats, NaN for what is missing, and which cells hold something that is not a number.

    None where the column's type rules that out. Both are secret.
    """

    values: FloatArray
    unreadable: NDArray[np.bool_] | None = None

    @property
    def how_many(self) -> int:
        """How many cells are unreadable; one row moves it by at most 1."""
        return 0 if self.unreadable is None else int(self.unreadable.sum())


def read_column(cells: list[Any], rule: NumberRule = IN_MEMORY) -> ReadColumn:
    """Each cell by itself, whatever it holds."""
    values = read_cells(cells, rule)
    return ReadColumn(values, unreadable_cells(cells, values, rule))


def nothing_read(there: Any) -> ReadColumn:
    """A column of a type that is neither numbers nor text, such as dates: `there` tells where it has a value."""
    unreadable = np.asarray(there, dtype=np.bool_)
    return ReadColumn(np.full(len(unreadable), np.nan), unreadable)


def unreadable_cells(cells: Sequence[Any], values: FloatArray, rule: NumberRule = IN_MEMORY) -> NDArray[np.bool_]:
    """Which of the cells hold something that is not a number, where `values` are the cells as `read_cells` reads them.

    >>> cells = [1, "", "n/a", float("nan"), "131 mmHg"]
    >>> unreadable_cells(cells, read_cells(cells)).tolist()
    [False, False, False, False, True]
    """
    found = np.isnan(values)
    for i in np.flatnonzero(found).tolist():
        found[i] = not _is_nothing(cells[i], rule)
    return found


_NOTHING = {"NAType", "NaTType"}  # pandas' missing number and missing time, by name: pandas need not be there


def _is_nothing(cell: Any, rule: NumberRule) -> bool:
    """Whether a cell that is no number stands for no value."""
    if isinstance(cell, str | bytes):
        return rule.is_empty(cell if isinstance(cell, str) else cell.decode("utf-8", "replace"))
    return is_missing(cell)


def is_missing(cell: Any) -> bool:
    """Whether a cell that is no text and no number but NaN holds no value."""
    if cell is None or cell is np.ma.masked or type(cell).__name__ in _NOTHING:
        return True
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return bool(np.isnat(cell))
    return isinstance(cell, Real | Decimal)
