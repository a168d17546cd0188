"""Public keys of groups, and which of them a cell holds. Each cell is compared by itself, and none ever raises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.numbers import BLANKS, PLAIN, TRUTH, NumberRule, is_missing, number
from tukeydp.errors import ParameterError
from tukeydp.parameters import brief

NO_GROUP = -1
_MOST = 10_000  # keys: more groups than that have no rows to speak of, and each draws noise of its own
# Floats that stand for keys that are texts where a column is read as floats: nobody measures 10^308, and a cell that
# holds such a number would be taken for a key, by itself and with no harm to others.
_FIRST_CODE, _CODE_STEP = -1.5 * 2.0**1023, 2.0**990

NUMPY_MISSING = "nan"  # what numpy writes for a missing number where another cell is a text

Label = float | str | None


def label(cell: Any, rule: NumberRule = PLAIN) -> Label:
    """What a cell is compared by: its number where it reads as one, else its text without blanks around; None: missing.

    The same whatever a library has made of the column: words of truth values are truth values, the word that numpy
    writes for a missing number is missing, and so is a date, which libraries write in several ways.

    >>> label(" A "), label("07"), label(7), label(True), label("TRUE"), label(None), label(float("nan"))
    ('A', 7.0, 7.0, 'True', 'True', None, None)
    """
    try:
        if isinstance(cell, bool | np.bool_):
            return str(bool(cell))
        text = as_text(cell)
        if text is not None and text.lower() in TRUTH:
            return text.capitalize()
        value = number(cell, rule)
        if not math.isnan(value):
            return value
        if is_missing(cell) or is_time(cell):
            return None
        text = str(cell).strip(BLANKS) if text is None else text
        return None if text == NUMPY_MISSING else text or None
    except MemoryError:  # of the machine, not of the cell
        raise
    except Exception:  # an object that cannot say what it is
        return None


def as_text(cell: Any) -> str | None:
    """A text without blanks around; None for what is no text."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    return cell.strip(BLANKS) if isinstance(cell, str) else None


def is_time(cell: Any) -> bool:
    return isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64)


@dataclass(frozen=True)
class Keys:
    """The keys as they are shown, and what cells are compared with. All public."""

    names: tuple[str, ...]
    labels: tuple[float | str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _places(self) -> dict[float | str, int]:
        return {known: k for k, known in enumerate(self.labels)}

    @cached_property
    def _codes(self) -> dict[float | str, float]:
        return dict(zip(self.labels, self.codes(), strict=True))

    def places(self, cells: Iterable[Any]) -> IntArray:
        """The number of each cell's group; `NO_GROUP` for missing cells and for keys that are not listed."""
        found = ((NO_GROUP if (one := label(cell)) is None else self._places.get(one, NO_GROUP)) for cell in cells)
        return np.fromiter(found, dtype=np.int64)

    def codes(self) -> list[float]:
        """A float for each key: the number that it is, or one that nobody measures."""
        return [one if isinstance(one, float) else _FIRST_CODE + k * _CODE_STEP for k, one in enumerate(self.labels)]

    def as_codes(self, cells: Iterable[Any], rule: NumberRule = PLAIN) -> FloatArray:
        """Each cell as the code of its key; NaN for missing cells and for keys that are not listed."""
        codes, plain = self._codes, _without_keys(rule)
        found = (math.nan if (one := label(cell, plain)) is None else codes.get(one, math.nan) for cell in cells)
        return np.fromiter(found, dtype=np.float64)

    def places_of_codes(self, column: FloatArray) -> IntArray:
        """As `places`, of a column that was read by `KeyRule`."""
        found = np.full(len(column), NO_GROUP, dtype=np.int64)
        for k, code in enumerate(self.codes()):
            found[column == code] = k
        return found


@dataclass(frozen=True)
class KeyRule(NumberRule):
    """Reads a cell as a number where it is one, as a key's code where it is a key, else as missing."""

    keys: Keys = Keys((), ())

    def number(self, text: str) -> float:
        return float(self.keys.as_codes([text], self)[0])


@lru_cache(maxsize=16)
def _without_keys(rule: NumberRule) -> NumberRule:
    return NumberRule(rule.decimal, rule.thousands)


def checked_keys(keys: Any, rule: NumberRule = PLAIN) -> Keys:
    """The listed keys; they are public, and must be chosen without the data."""
    if keys is None:
        reason = "must be given with by=: keys read off the data would tell who is there"
        raise ParameterError("keys", reason, "none")
    if isinstance(keys, str | bytes) or not isinstance(keys, Sequence | np.ndarray | set | frozenset | dict):
        raise ParameterError("keys", "must be a list of the groups' keys", brief(keys))
    listed = list(keys)
    labels: list[float | str] = []
    for key in listed:
        one = label(key, rule)
        if one is None or one in labels:
            rule_text = "must be different from each other, not empty, and no dates; numbers are compared as numbers"
            raise ParameterError("keys", rule_text, brief(key))
        labels.append(one)
    if not 1 <= len(labels) <= _MOST:
        raise ParameterError("keys", f"must be from 1 to {_MOST} groups", len(labels))
    return Keys(tuple(str(key).strip(BLANKS) for key in listed), tuple(labels))
