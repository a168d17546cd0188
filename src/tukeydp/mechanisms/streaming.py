"""A mechanism on rows that are streamed: what it takes in place of a table, and what it cannot do with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tukeydp.data.relation import Relation
from tukeydp.data.streams import Chunks, StreamedTable
from tukeydp.data.tables import Table
from tukeydp.depth.choice import require_memory
from tukeydp.depth.notions.base import FiniteNotion, Notion, not_streamed
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.parameters import IntArray, ParameterError
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.sampling.draws import levels_with_weight
from tukeydp.trusted.streams.rows import StreamedRows
from tukeydp.trusted.streams.streamed_levels import memory_for


def refuse_streams(x: Any, **given: Any) -> None:
    """For parameters that need the whole table at once; those that are None were left out."""
    if isinstance(x, Chunks):
        for parameter, value in given.items():
            if value is not None:
                shown = repr(value) if isinstance(value, str) else type(value).__name__
                raise ParameterError(parameter, "must be left out where rows are streamed", shown)


def table_or_stream(x: Any, relation: Relation) -> Table | StreamedTable:
    """The table; of a stream its number of rows, names and columns only."""
    return StreamedTable(x, fewest=0 if relation.secret else 1) if isinstance(x, Chunks) else relation.table(x)


def require_room_for_ranks(
    table: Table | StreamedTable, notion: Notion, grid: Grid, epsilon: Fraction, n: int | None
) -> None:
    """Refuse what cannot be held, judging by public numbers; n is None if it is secret."""
    if not isinstance(table, StreamedTable):
        return require_memory(notion, n, table.d)
    if not isinstance(notion, FiniteNotion):
        raise not_streamed(notion)
    levels = levels_with_weight(whole_grid(grid), epsilon)
    needed = memory_for(levels if n is None else min(levels, n), notion.size(table.d))
    if needed > table.memory:
        rule = f"must be at least {-(-needed // 2**20)} MiB: so many levels may be drawn with so small an epsilon"
        raise ParameterError("memory", rule, f"{table.memory // 2**20} MiB")
    return None


def on_grid(table: Table | StreamedTable, grid: Grid) -> IntArray | StreamedRows:
    return StreamedRows(table, grid) if isinstance(table, StreamedTable) else grid.snap(table.cells)
