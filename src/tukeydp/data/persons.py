"""One row for each person (docs/proofs/persons.md): rows with the same id are averaged, or their median is taken.

What a person becomes is a function of that person's rows and of nothing else, whatever their order. The number of
persons is public; how many rows there are, of one person or of all, is not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.apart import taken_apart
from tukeydp.data.grid import checked_bounds
from tukeydp.data.keys import Keys
from tukeydp.data.numbers import BLANKS, PLAIN, NumberRule
from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError
from tukeydp.parameters import checked_choice

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
    """What ids are compared by: whole numbers as such, to the last digit; others as texts without blanks around.

    >>> identity(7.0), identity("007"), identity(" a "), identity(float("nan")), identity(""), identity(None)
    (7, '007', 'a', None, None, None)
    """
    try:
        if cell is None or cell is np.ma.masked or type(cell).__name__ in ("NAType", "NaTType"):
            return None
        if isinstance(cell, Integral) and not isinstance(cell, bool | np.bool_):
            return int(cell)
        if isinstance(cell, Real) and not isinstance(cell, bool | np.bool_):
            value = float(cell)
            return None if math.isnan(value) else int(value) if value.is_integer() else value
        text = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
        return text.strip(BLANKS) or None
    except MemoryError:  # the machine's, not the cell's: no row may go missing for it
        raise
    except Exception:  # an object that cannot say what it is
        return None


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
