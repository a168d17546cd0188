"""Ibis: an expression's result is read as Arrow batches from whatever backend it belongs to, each row once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tukeydp.data.engines import duckdb_relations
from tukeydp.data.engines.batches import BATCH, Read, as_floats, matrices, require_told_apart, without_rows
from tukeydp.data.keys import Keys
from tukeydp.trusted.sums import Pass


def opened(x: Any, names: tuple[str, ...], by: tuple[str, ...] = (), keys: tuple[Keys, ...] = ()) -> Read:
    require_told_apart(names)
    Pass((), names).of(matrices(_batches(as_floats(without_rows(x), names, by)), keys))
    return lambda one: one.of(matrices(_batches(as_floats(x, names, by)), keys))


def _batches(table: Any) -> Iterable[Any]:
    backend = table.get_backend()
    if backend.name == "duckdb":
        # Ibis 12 asks DuckDB 2 for batches by a name that is gone; the connection takes the query as well.
        return duckdb_relations.reader(backend.con.sql(backend.compile(table)))
    found: Iterable[Any] = table.to_pyarrow_batches(chunk_size=BATCH)
    return found
