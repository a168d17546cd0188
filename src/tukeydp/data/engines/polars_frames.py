"""polars: the streaming engine hands over batches of a query, each row once, and forgets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tukeydp.data.engines.batches import BATCH, Read, as_floats, group_numbers, without_rows
from tukeydp.data.keys import Keys
from tukeydp.data.tables import polars_column
from tukeydp.trusted.parameters import FloatArray, ParameterError
from tukeydp.trusted.sums import Pass


def opened(x: Any, names: tuple[str, ...], by: tuple[str, ...] = (), keys: tuple[Keys, ...] = ()) -> Read:
    if not hasattr(x, "collect_batches"):
        raise ParameterError("x", "needs a polars whose LazyFrame has collect_batches", "another polars")
    Pass((), names).of(_batches(as_floats(without_rows(x), names, by), keys))
    return lambda one: one.of(_batches(as_floats(x, names, by), keys))


def _batches(query: Any, keys: tuple[Keys, ...]) -> Iterator[FloatArray]:
    # In order, so that seeded runs repeat themselves; no law depends on it.
    for frame in query.collect_batches(chunk_size=BATCH, maintain_order=True, lazy=True, engine="streaming"):
        # Null becomes NaN, column by column.
        first = len(frame.columns) - len(keys)
        compared = (
            group_numbers(frame.get_column(name).to_arrow(), known)
            for name, known in zip(frame.columns[first:], keys, strict=True)
        )
        measured = (polars_column(frame.get_column(name)).values for name in frame.columns[:first])
        yield np.column_stack([*measured, *compared])
