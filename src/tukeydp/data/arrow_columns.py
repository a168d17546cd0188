"""Columns of Arrow data as floats: which types are numbers, and nulls as NaN without a look at single cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.numbers import ReadColumn, nothing_read, read_column
from tukeydp.errors import ParameterError

TEXT_ADVICE = "must hold numbers; leave it out or turn its text into numbers first"


def check_type(kind: Any, label: str) -> None:
    """The type of a column that a file or an engine declares must be a number, a truth value or nothing."""
    inner = _inner(kind)
    if is_text(inner):
        raise ParameterError(label, TEXT_ADVICE, f"type {kind}")
    if not _is_number(inner):
        raise ParameterError(label, "must hold numbers", f"type {kind}")


def _inner(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_binary(kind: Any) -> bool:
    return str(kind).startswith(("binary", "large_binary", "fixed_size_binary"))


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    return any(fits(kind) for fits in numeric)


def read_arrow_column(column: Any) -> ReadColumn:
    """An array or chunked array of a table in memory. Its type may come from its cells, so that none is refused.

    Text is read cell by cell. A column that is neither text nor numbers is missing in every row.
    """
    kind = _inner(column.type)
    if _is_number(kind):
        return ReadColumn(floats(column))
    if is_text(kind) or _is_binary(kind):
        return read_column(texts(column))
    return nothing_read(column.is_valid().to_numpy(zero_copy_only=False) if len(column) else [])


def texts(column: Any) -> list[str | None]:
    """Of a column of text or bytes. Nothing has made sure that they are UTF-8: each is decoded by itself."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type) and not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    found = (column.cast(pa.large_binary()) if is_text(column.type) else column).to_pylist()
    return [None if text is None else text.decode("utf-8", "replace") for text in found]


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
