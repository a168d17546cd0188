"""A table whose rows belong to groups: the column with the keys is taken out, and each row's group is its number.

Rows without a listed key belong to no group. What raises is the schema, never a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tukeydp.arrays import IntArray
from tukeydp.data.apart import taken_apart
from tukeydp.data.keys import Keys, checked_keys
from tukeydp.data.tables import Table
from tukeydp.errors import ParameterError


@dataclass(frozen=True, eq=False)
class GroupedTable:
    """Rows, and the number of each row's group, -1 for none: these are secret like cells. Keys are public."""

    table: Table
    groups: IntArray
    keys: Keys
    by: str


def grouped_table(x: Any, by: Any, keys: Any) -> GroupedTable:
    """`by` is the name of a column of `x`, or one key for each row."""
    known = checked_keys(keys)
    table, cells, name = taken_apart(x, by, "by", "key", "group")
    return GroupedTable(table, known.places(cells), known, name)


def require_by(by: Any, keys: Any, *others: Any) -> bool:
    """Whether there are groups; what goes with `by` is refused without it."""
    if by is None and any(value is not None for value in (keys, *others)):
        raise ParameterError("by", "must be given with keys or counts", "none")
    return by is not None
