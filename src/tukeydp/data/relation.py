"""Which tables are neighbours, and what a run may know of the number of rows: all of it, or nothing.

Under "swap" n is public. Under "add-remove" it is as secret as the cells: plans are made from `rows`, a rough number
that the caller knows without the data, or do without, and no text, field or error says n (docs/proofs/add-remove.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tukeydp.data.lazy_tables import LazyTable
from tukeydp.data.streams import StreamedTable
from tukeydp.data.tables import Table, read_table
from tukeydp.trusted.parameters import ParameterError, brief, checked_choice, checked_integer

MOST_ROWS_DECLARED = 2**40  # a public number, so large that nobody has a table like it; floats of plans hold it exactly


@dataclass(frozen=True)
class Relation:
    """`rows` is public: how many there are, roughly. None where nobody has said."""

    neighbours: str = "swap"
    rows: int | None = None

    @property
    def secret(self) -> bool:
        """Whether the number of rows is secret."""
        return self.neighbours == "add-remove"

    @property
    def settings(self) -> dict[str, Any]:
        """What a release records."""
        return {} if self.rows is None else {"rows": self.rows}

    def table(self, x: Any) -> Table:
        """An empty table is one like any other where the number of rows is secret."""
        if self.secret:
            require_columns_without_rows(x)
        return read_table(x, fewest=0 if self.secret else 1)

    def size(self, table: Table | LazyTable | StreamedTable) -> int | None:
        """The number of rows to plan for; None if none is public."""
        return self.rows if self.secret else table.n

    def public(self, table: Table | LazyTable | StreamedTable) -> dict[str, Any]:
        """What a release tells about its table."""
        return {**table.public, "n": None} if self.secret else table.public

    def require_rows(self, why: str) -> int:
        """The public number of rows, for what cannot be planned without."""
        if self.rows is None:
            rule = f"must be given with neighbours='add-remove' {why}: about how many there are, known without the data"
            raise ParameterError("rows", rule, "none")
        return self.rows


SWAP = Relation()


def require_columns_without_rows(x: Any, name: str = "x") -> None:
    """Where the number of rows is secret: a list without rows has no columns either, which would tell that it is empty.

    Refused by its type, however many rows it has. Arrays and tables have their columns also without a row.
    """
    if isinstance(x, list | tuple):
        rule = (
            "must be an array or a table with neighbours='add-remove': they have columns also without a row, as in "
            f"numpy.reshape({name}, (-1, d)) of d columns"
        )
        raise ParameterError(name, rule, type(x).__name__)


def checked_relation(neighbours: Any, rows: Any) -> Relation:
    """From the parameters `neighbours` and `rows`, before the table is touched."""
    name = checked_choice("neighbours", neighbours, ("swap", "add-remove"))
    if rows is None:
        return Relation(name)
    if name == "swap":
        raise ParameterError("rows", "must be left out with neighbours='swap': their number is public", brief(rows))
    return Relation(name, checked_integer("rows", rows, least=1, most=MOST_ROWS_DECLARED))
