"""Records: a table, which group each of its rows is in, and who may be told how many there are.

The relation between neighbours and the groups are fields of it, so that no mechanism of sums has a second version for
them. A request (`Records.total`) is one reading of all records, in memory or in passes over a lazy frame; what it
returns are integers (docs/proofs/out-of-core.md). A person is a record like a row (`mechanisms/per_person.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.data.keys import NO_GROUP, Keys, checked_keys, taken_apart
from tukeydp.data.lazy_tables import LazyTable, is_lazy, lazy_table
from tukeydp.data.relation import Relation, require_columns_without_rows
from tukeydp.data.tables import Table
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.sums import Kernel, in_pieces


@dataclass(frozen=True, eq=False)
class Records:
    """One row for each record, and the number of its group, `NO_GROUP` for none; secret like cells. Keys are public.

    Attributes
    ----------
    groups, keys, by
        None without groups. Of a lazy table the groups are the last column of its batches.
    """

    table: Table | LazyTable
    relation: Relation
    groups: IntArray | None = None
    keys: Keys | None = None
    by: str | None = None

    @property
    def size(self) -> int | None:
        """Records to plan for; None if no number is public."""
        return self.relation.size(self.table)

    @property
    def size_of_group(self) -> int | None:
        """The same for each group: an equal part, since the true numbers are secret."""
        size = self.size
        return size if size is None or self.keys is None else max(1, size // len(self.keys))

    @property
    def count(self) -> int | None:
        """Groups that one charge pays for together; None without groups."""
        return None if self.keys is None else len(self.keys)

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells about its table."""
        return self.relation.public(self.table)

    @property
    def settings(self) -> dict[str, Any]:
        """What a release records of its groups."""
        return {} if self.keys is None else {"groups": len(self.keys)}

    @property
    def public_groups(self) -> dict[str, Any]:
        """What an accountant is told of them."""
        return {} if self.keys is None else {"by": self.by, "keys": self.keys.names}

    @property
    def labels(self) -> list[tuple[object, ...]]:
        """What the keys of each group's draws are labelled with; of all rows without groups."""
        return [()] if self.keys is None else [("group", g) for g in range(len(self.keys))]

    def parts(self) -> list[tuple[tuple[object, ...], FloatArray]]:
        """The cells of each group, and its labels; of all rows without groups."""
        assert isinstance(self.table, Table)
        if self.groups is None:
            return [((), self.table.cells)]
        return [(label, self.table.cells[self.groups == g]) for g, label in enumerate(self.labels)]

    def total(self, *kernels: Kernel) -> list[list[int]]:
        """What each kernel gives, added up over all records: exact, however many there are."""
        if isinstance(self.table, LazyTable):
            return self.table.total(*kernels)
        cells = self.table.cells
        if self.groups is not None:
            cells = np.column_stack([cells, np.where(self.groups == NO_GROUP, np.nan, self.groups)])
        return in_pieces(cells, *kernels)


def records(x: Any, relation: Relation, *, by: Any = None, keys: Any = None) -> Records:
    """Open a table; `by` names one of its columns, or has a key for each row. What raises is the schema, never a cell.

    Of a lazy frame the schema and the number of rows are asked.
    """
    if not is_lazy(x):
        return held_records(x, relation, by=by, keys=keys)
    if by is None:
        return Records(lazy_table(x, secret=relation.secret), relation)
    listed = checked_keys(keys)
    return Records(lazy_table(x, (by,), (listed,), secret=relation.secret), relation, keys=listed, by=by)


def held_records(x: Any, relation: Relation, *, by: Any = None, keys: Any = None) -> Records:
    """Open a table in memory, or one that is brought there."""
    known = None if by is None else checked_keys(keys)
    if known is None:
        return Records(relation.table(x), relation)
    if relation.secret:
        require_columns_without_rows(x)
    table, taken, names = taken_apart(x, {"by": (by, "key")}, fewest=0 if relation.secret else 1)
    return Records(table, relation, known.places(taken["by"]), known, names["by"])
