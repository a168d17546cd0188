"""One record for each person (docs/proofs/persons.md): rows with the same id become one, by a public rule.

What a person becomes is a function of that person's rows and of nothing else, whatever their order. The number of
persons is public; how many rows there are, of one person or of all, is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from tukeydp.data.keys import NO_GROUP, Keys, as_text, is_time
from tukeydp.data.numbers import BLANKS, IN_MEMORY, PLAIN, TRUTH, NumberRule, is_missing, odd_integer
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief, checked_choice

NOBODY = -1


def person_numbers(ids: Iterable[Any]) -> IntArray:
    """A number for each row's person, by first appearance; `NOBODY` for rows without an id."""
    known: dict[Hashable, int] = {}
    found = (NOBODY if (one := identity(cell)) is None else known.setdefault(one, len(known)) for cell in ids)
    return np.fromiter(found, dtype=np.int64)


def identity(cell: Any) -> Hashable:
    """What ids are compared by: whole numbers to the last digit, others as numbers or texts without blanks around.

    A text that reads as a number is that number: whether a library has made numbers of a column of ids depends on all
    of them, and must not decide whose rows another row is counted with. Words for no value are no id.

    >>> identity(7.0), identity("007"), identity("7.0"), identity(" a "), identity("NA"), identity(""), identity(None)
    (7, 7, 7, 'a', None, None, None)
    """
    try:
        text = as_text(cell)
        if text is not None:
            return None if IN_MEMORY.is_empty(text) else _of_text(text)
        if isinstance(cell, bool | np.bool_):
            return str(bool(cell))
        if isinstance(cell, Integral):
            return int(cell)
        if isinstance(cell, Decimal) and cell.is_finite() and cell == cell.to_integral_value():
            return int(cell)
        if isinstance(cell, Real | Decimal):
            return _of_float(float(cell))
        return None if is_missing(cell) or is_time(cell) else str(cell).strip(BLANKS) or None
    except MemoryError:  # the machine's, not the cell's: no row may go missing for it
        raise
    except Exception:  # an object that cannot say what it is
        return None


_WHOLE = re.compile(r"[+-]?0*([0-9]{1,1000})(?:\.0*)?", re.ASCII)  # longer than any id; Python has a limit of its own


def _of_text(text: str) -> Hashable:
    if text.lower() in TRUTH:
        return text.capitalize()
    if whole := _WHOLE.fullmatch(text):
        return -int(whole[1]) if text[0] == "-" else int(whole[1])
    if (odd := odd_integer(text.lower())) is not None:
        return odd
    value = IN_MEMORY.number(text)
    return _of_float(value) if math.isfinite(value) else text


def _of_float(value: float) -> Hashable:
    return None if math.isnan(value) else int(value) if value.is_integer() else value


@np.errstate(all="ignore")  # no cell may warn
def one_row_each(
    cells: FloatArray, persons: IntArray, count: int, ends: tuple[FloatArray, FloatArray] | None, rules: Sequence[str]
) -> FloatArray:
    """For each person and column what its rule makes of the values that are there; NaN where there are none.

    Values are clipped first, and so is what they become: a sum too is a value between the bounds.
    """
    clipped = cells if ends is None else np.clip(cells, *ends)
    columns = []
    for j, rule in enumerate(rules):
        there = (persons >= 0) & ~np.isnan(clipped[:, j])
        values, owners = clipped[there, j], persons[there]
        # Sums run from the smallest value up, whatever the order of the rows; first and last go by that order.
        order = np.argsort(owners, kind="stable") if rule in IN_ORDER else np.lexsort((values, owners))
        columns.append(_RULES[rule](values[order], owners[order], count))
    table = np.column_stack(columns)
    return table if ends is None else np.clip(table, *ends)  # a mean may be rounded beyond a bound


def group_of_each(groups: IntArray, persons: IntArray, count: int) -> IntArray:
    """The group that all of a person's rows with a listed key name; none for a person whose rows name several."""
    there = (persons >= 0) & (groups >= 0)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, NO_GROUP)
    np.minimum.at(first, persons[there], groups[there])
    np.maximum.at(last, persons[there], groups[there])
    return np.where(first == last, last, NO_GROUP)


def checked_rules(per_person: Any, d: int, columns: Sequence[str] | None) -> list[str]:
    """The rule of each column: one for all, or a dict of column name -> rule; the mean where a dict says nothing."""
    if not isinstance(per_person, Mapping):
        return [checked_choice("per_person", per_person, STATISTICS)] * d
    for name, rule in per_person.items():
        checked_choice("per_person", rule, STATISTICS)
        if columns is None or name not in columns:
            raise ParameterError("per_person", "must name columns of x", brief(name))
    return [per_person.get(name, "mean") for name in columns or ()]


def _means(values: FloatArray, owners: IntArray, count: int) -> FloatArray:
    """`np.bincount` adds the values of each person one after the other: others change nothing, to the last digit."""
    present = np.bincount(owners, minlength=count)
    return np.asarray(np.where(present > 0, np.bincount(owners, values, count) / present, np.nan))


def _medians(values: FloatArray, owners: IntArray, count: int) -> FloatArray:
    """The middle of each person's sorted values, or the middle between two."""
    present = np.bincount(owners, minlength=count)
    start = np.cumsum(present) - present
    some = present > 0
    low, high = (start + (present - 1) // 2)[some], (start + present // 2)[some]
    found = np.full(count, np.nan)
    found[some] = values[low] / 2.0 + values[high] / 2.0
    return found


def _sums(values: FloatArray, owners: IntArray, count: int) -> FloatArray:
    present = np.bincount(owners, minlength=count)
    return np.asarray(np.where(present > 0, np.bincount(owners, values, count), np.nan))


def _at(end: Callable[[IntArray, IntArray], IntArray]) -> Callable[[FloatArray, IntArray, int], FloatArray]:
    """One value of each person, by its place among that person's values."""

    def found(values: FloatArray, owners: IntArray, count: int) -> FloatArray:
        present = np.bincount(owners, minlength=count)
        some, start = present > 0, np.cumsum(present) - present
        chosen = np.full(count, np.nan)
        chosen[some] = values[end(start, present)[some]]
        return chosen

    return found


_FIRST, _LAST = _at(lambda start, present: start), _at(lambda start, present: start + present - 1)
IN_ORDER = ("first", "last")  # of the rows: data that a file or a frame in memory keeps
_RULES = {
    "mean": _means, "median": _medians, "sum": _sums, "min": _FIRST, "max": _LAST, "first": _FIRST, "last": _LAST
}  # fmt: skip
STATISTICS = tuple(_RULES)


class Ids(Keys):
    """Keys that are not known beforehand: every text that is new gets the next number. For columns of files."""

    def __init__(self) -> None:
        super().__init__((), ())
        object.__setattr__(self, "_known", {})

    def as_codes(self, cells: Iterable[Any], rule: NumberRule = PLAIN) -> FloatArray:
        known: dict[Hashable, int] = self._known  # type: ignore[attr-defined]
        found = (
            math.nan if (one := identity(cell)) is None else float(known.setdefault(one, len(known))) for cell in cells
        )
        return np.fromiter(found, dtype=np.float64)
