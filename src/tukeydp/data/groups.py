"""A table whose rows belong to groups: the column with the keys is taken out, and each row's group is its number.

Rows without a listed key belong to no group. What raises is the schema, never a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.data.keys import Keys, checked_keys
from tukeydp.data.tables import Table, is_array, read_table
from tukeydp.errors import ParameterError
from tukeydp.parameters import brief


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
    if isinstance(by, str):
        cells, rest = _without_column(x, by)
        table, name = read_table(rest), by
    else:
        table, name = read_table(x), str(getattr(by, "name", None) or "group")
        cells = _listed(by)
    if len(cells) != table.n:
        raise ParameterError("by", f"must name a column, or have a key for each of the {table.n} rows", len(cells))
    return GroupedTable(table, known.places(cells), known, name)


def require_by(by: Any, keys: Any, *others: Any) -> bool:
    """Whether there are groups; what goes with `by` is refused without it."""
    if by is None and any(value is not None for value in (keys, *others)):
        raise ParameterError("by", "must be given with keys or counts", "none")
    return by is not None


def _listed(by: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if callable(getattr(by, method, None)):
            by = getattr(by, method)()
            break
    if not isinstance(by, list | tuple):
        raise ParameterError("by", "must be the name of a column, or one key for each row", brief(type(by).__name__))
    return list(by)


def _without_column(x: Any, by: str) -> tuple[list[Any], Any]:
    """The cells of a column and the table without it."""
    if isinstance(x, np.ndarray) and x.dtype.names is not None:
        _check_once(by, list(x.dtype.names))
        return x[by].tolist(), x[[name for name in x.dtype.names if name != by]]
    if is_array(x) or isinstance(x, Table):
        raise ParameterError("by", "must be one key for each row where columns have no names", brief(by))
    try:
        return _from_frame(x, by)
    except ParameterError:
        raise
    except Exception:  # a lazy query that fails says so with the cells it failed at
        rule = "must be an array or a table with distinct column names that can be held in memory"
        raise ParameterError("x", rule, type(x).__name__) from None


def _from_frame(x: Any, by: str) -> tuple[list[Any], Any]:
    library = type(x).__module__.split(".")[0]
    if library == "pandas":
        names = [str(name) for name in x.columns]
        place = _check_once(by, names)
        return x.iloc[:, place].tolist(), x.iloc[:, [j for j in range(len(names)) if j != place]]
    if library == "polars":
        if hasattr(x, "collect"):  # once: without a fixed order, two passes would tear rows apart
            x = x.collect()
        _check_once(by, list(x.columns))
        return x[by].to_list(), x.drop(by)
    import pyarrow as pa

    table = x if isinstance(x, pa.Table) else pa.table(x)
    place = _check_once(by, list(table.schema.names))
    return table.column(place).to_pylist(), table.remove_column(place)


def _check_once(by: str, names: list[str]) -> int:
    if names.count(by) != 1:
        raise ParameterError("by", "must name a column that occurs once in x", brief(by))
    return names.index(by)
