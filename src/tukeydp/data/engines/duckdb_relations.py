"""DuckDB: a relation's result is read as Arrow batches while the query runs, each row once."""

from __future__ import annotations

from typing import Any

from tukeydp.data.engines.batches import BATCH, Read, as_floats, matrices, require_told_apart, without_rows
from tukeydp.data.keys import Keys
from tukeydp.extras import missing
from tukeydp.trusted.sums import Pass


def opened(x: Any, names: tuple[str, ...], by: tuple[str, ...] = (), keys: tuple[Keys, ...] = ()) -> Read:
    try:
        import pyarrow  # noqa: F401 what DuckDB hands batches over with
    except ImportError:
        raise missing("x", "pyarrow to read a DuckDB relation", "duckdb") from None
    require_told_apart(names)
    Pass((), names).of(matrices(reader(as_floats(without_rows(x), names, by)), keys))
    # A new relation for each pass: one that has been executed keeps its result.
    return lambda one: one.of(matrices(reader(as_floats(x, names, by)), keys))


def reader(relation: Any) -> Any:
    # The older name warns where the newer one is there.
    newer = hasattr(relation, "to_arrow_reader")
    return relation.to_arrow_reader(BATCH) if newer else relation.fetch_record_batch(BATCH)
