"""A column that is not measured, such as a group's key or a person's id, taken out of a table.

What raises is the schema, never a cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.data.key_columns import arrow_keys, key_cells
from tukeydp.data.tables import Source, Table, is_array, read_table
from tukeydp.errors import INTERRUPTIONS, ParameterError
from tukeydp.parameters import brief


class Apart(NamedTuple):
    """The other columns, the cells that were taken out, as they are, and the name of their column."""

    table: Table
    cells: list[Any]
    name: str


def taken_apart(x: Any, named: Any, parameter: str, what: str, usual: str) -> Apart:
    """`named` is the name of a column of `x`, or has a cell for each row; `what` a cell is, for error messages.

    A list without a name of its own is called `usual`.
    """
    if isinstance(x, Source) and isinstance(named, str):
        _check_once(named, list(x.names), parameter)
        table, cells = x.with_cells(named)
        table, name = read_table(table), named
    elif isinstance(named, str):
        cells, rest = _without_column(x, named, parameter, what)
        table, name = read_table(rest), named
    else:
        table, name = read_table(x), str(getattr(named, "name", None) or usual)
        cells = named.with_cells(named.columns[0])[1] if _is_column(named) else key_cells(named, parameter, what)
    if len(cells) != table.n:
        raise ParameterError(parameter, f"must name a column, or have one {what} for each row", f"{len(cells)} of them")
    return Apart(table, cells, name)


def _is_column(named: Any) -> bool:
    return isinstance(named, Source) and len(named.columns) == 1


def _without_column(x: Any, named: str, parameter: str, what: str) -> tuple[list[Any], Any]:
    """The cells of a column and the table without it."""
    if isinstance(x, np.ndarray) and x.dtype.names is not None:
        _check_once(named, list(x.dtype.names), parameter)
        return key_cells(x[named], parameter, what), x[[name for name in x.dtype.names if name != named]]
    if is_array(x) or isinstance(x, Table):
        raise ParameterError(parameter, f"must be one {what} for each row where columns have no names", brief(named))
    try:
        return _from_frame(x, named, parameter)
    except (ParameterError, MemoryError, *INTERRUPTIONS):
        raise
    except BaseException:  # a lazy query that fails says so with the cells it failed at
        rule = "must be an array or a table with distinct column names that can be held in memory"
        raise ParameterError("x", rule, type(x).__name__) from None


def _from_frame(x: Any, named: str, parameter: str) -> tuple[list[Any], Any]:
    library = type(x).__module__.split(".")[0]
    if library == "pandas":
        names = [str(name) for name in x.columns]
        place = _check_once(named, names, parameter)
        return key_cells(x.iloc[:, place], parameter), x.iloc[:, [j for j in range(len(names)) if j != place]]
    if library == "polars":
        if hasattr(x, "collect"):  # once: without a fixed order, two passes would tear rows apart
            x = x.collect()
        _check_once(named, list(x.columns), parameter)
        return key_cells(x[named], parameter), x.drop(named)
    import pyarrow as pa

    table = x if isinstance(x, pa.Table) else pa.table(x)
    place = _check_once(named, list(table.schema.names), parameter)
    return arrow_keys(table.column(place)), table.remove_column(place)


def _check_once(named: str, names: list[str], parameter: str) -> int:
    if names.count(named) != 1:
        raise ParameterError(parameter, "must name a column that occurs once in x", brief(named))
    return names.index(named)
