"""One row for each person (docs/proofs/persons.md): rows with the same id are averaged, or their median is taken.

What a person becomes is a function of that person's rows and of nothing else, whatever their order. The number of
persons is public; how many rows there are, of one person or of all, is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from tukeydp.data.keys import Keys, as_text, is_time, taken_apart
from tukeydp.data.numbers import BLANKS, IN_MEMORY, PLAIN, TRUTH, NumberRule, is_missing, odd_integer
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, checked_choice
from tukeydp.trusted.rows import checked_bounds

NOBODY = -1
STATISTICS = ("mean", "median")


def persons_table(x: Any, person: Any, bounds: Any, statistic: str) -> Table:
    """The table of persons; `person` is the name of a column, or has an id for each row. Cells are clipped first."""
    checked_choice("per_person", statistic, STATISTICS)
    rows, ids, _ = taken_apart(x, person, "person", "id", "person")
    ends = None
    if bounds is not None:
        lower, upper = checked_bounds(rows.d, bounds, rows.columns)
        ends = (np.array([float(v) for v in lower]), np.array([float(v) for v in upper]))
    numbers = person_numbers(ids)
    count = int(numbers.max(initial=NOBODY)) + 1
    if not count:
        raise ParameterError("person", "must have an id in at least one row", "none")
    return Table(one_row_each(rows.cells, numbers, count, ends, statistic), rows.columns, rows.units)


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
        if isinstance(cell, Real):
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
    cells: FloatArray, persons: IntArray, count: int, ends: tuple[FloatArray, FloatArray] | None, statistic: str
) -> FloatArray:
    """For each person and column the mean or the median of the values that are there; NaN where there are none."""
    clipped = cells if ends is None else np.clip(cells, *ends)
    found = _means if statistic == "mean" else _medians
    columns = []
    for j in range(cells.shape[1]):
        there = (persons >= 0) & ~np.isnan(clipped[:, j])
        values, owners = clipped[there, j], persons[there]
        order = np.lexsort((values, owners))  # sums run from the smallest value up, whatever the order of the rows
        columns.append(found(values[order], owners[order], count))
    table = np.column_stack(columns)
    return table if ends is None else np.clip(table, *ends)  # a mean may be rounded beyond a bound


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
