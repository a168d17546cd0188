"""What scikit-learn hands over as a table: only its schema may raise, never a cell.

scikit-learn's own validation is not used on cells: it stops at a NaN, and quotes the text that it could not convert.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from tukeydp.data.tables import Table, read_table, width_of_rows
from tukeydp.trusted.parameters import ParameterError

_RESHAPE = "must have rows and columns. Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"


def table_of(x: Any) -> Table:
    """`x` as a table of two dimensions. It may have no rows: whether it has may be secret."""
    require_schema(x, size_is_secret=True)
    return read_table(x, "X", fewest=0)


def require_schema(x: Any, *, size_is_secret: bool = False) -> tuple[int, int]:
    """How many rows and columns there are; what is no dense table of real numbers is refused, by type and shape."""
    if hasattr(x, "tocsr"):
        raise ParameterError("X", "must be dense, not sparse: X.toarray() makes it so", type(x).__name__)
    shape = shape_of(x)
    if shape is None:
        raise ParameterError("X", "must be an array, a list of rows or a table that is in memory", type(x).__name__)
    if len(shape) != 2:
        raise ParameterError("X", _RESHAPE, f"{len(shape)} dimension{'s' * (len(shape) != 1)}")
    if shape[1] == 0:
        rows = "" if size_is_secret else shape[0]
        rule = f"must have columns: 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required"
        raise ParameterError("X", rule, "none")
    if getattr(getattr(x, "dtype", None), "kind", "") == "c":
        raise ParameterError("X", "must hold real numbers. Complex data not supported", f"dtype {x.dtype}")
    return shape[0], shape[1]


def shape_of(x: Any) -> tuple[int, ...] | None:
    """Of an array, a frame or a list of rows; None for what is neither."""
    if isinstance(x, list | tuple):
        width = width_of_rows(x, "X")
        return (len(x),) if width is None else (len(x), width)
    shape = getattr(x, "shape", None)
    if shape is None and hasattr(x, "__array__"):
        with contextlib.suppress(Exception):  # it might quote what it holds
            shape = np.asarray(x).shape
    return None if shape is None else tuple(shape)
