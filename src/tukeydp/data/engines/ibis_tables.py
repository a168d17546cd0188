"""Ibis: an expression's result is read as Arrow batches from whatever backend it belongs to, each row once."""

from __future__ import annotations

from typing import Any

from tukeydp.data.engines.arrow_batches import matrices
from tukeydp.data.engines.batches import BATCH, Read
from tukeydp.data.engines.schema import as_floats


def opened(x: Any, names: tuple[str, ...]) -> Read:
    return lambda one: one.of(matrices(as_floats(x, names).to_pyarrow_batches(chunk_size=BATCH)))
