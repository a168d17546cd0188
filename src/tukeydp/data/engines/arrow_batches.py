"""Arrow record batches of floats as matrices, null as NaN: what DuckDB, Ibis and Spark hand over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.arrow_columns import floats


def matrices(batches: Iterable[Any]) -> Iterator[FloatArray]:
    for batch in batches:
        yield np.column_stack([floats(column) for column in batch.columns])
