"""Made-up Parquet of any number of rows, written a row group at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

GROUP = 2**19  # rows of a row group: 20 MiB of five columns, and a partition of Dask's
SHAPES = ("normal", "exponential", "integers")


def write(path: Path, rows: int, d: int, shape: str, group: int = GROUP) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(d)])
    # Random digits do not compress: trying would only take time.
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=shape == "integers") as file:
        for number in range(-(-rows // group)):
            cells = _cells(shape, number, min(group, rows - number * group), d)
            file.write_table(pa.Table.from_arrays([pa.array(cells[:, j]) for j in range(d)], schema=schema))


def _cells(shape: str, number: int, rows: int, d: int) -> Any:
    rng = np.random.default_rng([number, d])
    if shape == "integers":
        return rng.integers(0, 100, (rows, d)).astype(float)
    return getattr(rng, shape)(size=(rows, d))


def bounds_of(shape: str) -> dict[str, Any]:
    """As wide as 100 standard deviations, or as the whole numbers are."""
    return {"bounds": (0, 100)} if shape == "integers" else {"bounds": (-50, 50)}
