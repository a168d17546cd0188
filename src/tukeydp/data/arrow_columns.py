"""Columns of Arrow data as floats: which types are numbers, and nulls as NaN without a look at single cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError

TEXT_ADVICE = "must hold numbers; leave it out or turn its text into numbers first"


def check_type(kind: Any, label: str) -> None:
    """The declared type of a column must be a number, a truth value or nothing."""
    import pyarrow.types as types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    if any(is_text(inner) for is_text in (types.is_string, types.is_large_string, _is_view)):
        raise ParameterError(label, TEXT_ADVICE, f"type {kind}")
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not any(is_numeric(inner) for is_numeric in numeric):
        raise ParameterError(label, "must hold numbers", f"type {kind}")


def _is_view(kind: Any) -> bool:
    return str(kind) == "string_view"


def floats(column: Any) -> FloatArray:
    """An array or chunked array of numbers as floats, null as NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    as_floats = pc.cast(column, pa.float64(), safe=False)
    values = as_floats.to_numpy(zero_copy_only=False) if isinstance(as_floats, pa.Array) else as_floats.to_numpy()
    return np.asarray(values, dtype=np.float64)
