"""The cells of a column that holds groups' keys or persons' ids, from any library.

What is refused is the declared type, which is public: keys and ids are texts, numbers or truth values. Dates are not,
because libraries can hold days that Python cannot: handing such a cell out raises, or prints, for that table alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.errors import ParameterError
from tukeydp.parameters import brief

_RULE = "must hold texts, numbers or truth values"
_KINDS = "biufOSU"  # numpy's letters for them, and for any Python object: those are Python's own already


def key_cells(column: Any, label: str = "by", what: str = "key") -> list[Any]:
    """One cell for each row, as Python has it; `label` is the parameter, and `what` a cell is, for error messages."""
    library = type(column).__module__.split(".")[0]
    if library == "narwhals":
        return key_cells(column.to_native(), label, what)
    if library == "pandas":
        return _from_pandas(column, label)
    if library == "polars":
        return _from_polars(column, label)
    if library == "pyarrow":
        return arrow_keys(column, label)
    if isinstance(column, np.ndarray) and column.ndim == 1:
        _require(column.dtype.kind in _KINDS, label, column.dtype)
        return list(column.tolist())
    if not isinstance(column, list | tuple):
        rule = f"must be the name of a column, or one {what} for each row"
        raise ParameterError(label, rule, brief(type(column).__name__))
    return list(column)


def arrow_keys(column: Any, label: str) -> list[Any]:
    """An Arrow array or chunked array. Nothing has made sure that its texts are UTF-8: each is decoded by itself."""
    import pyarrow as pa

    check_key_type(column.type, label)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _is_text(column.type):
        return list(column.to_pylist())
    if not pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
    found = column.cast(pa.large_binary()).to_pylist()
    return [None if text is None else text.decode("utf-8", "replace") for text in found]


def check_key_type(kind: Any, label: str) -> None:
    """The declared type of an Arrow column with keys."""
    import pyarrow.types as types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    others = (types.is_binary, types.is_large_binary, types.is_integer, types.is_floating, types.is_decimal)
    _require(_is_text(inner) or any(fits(inner) for fits in (*others, types.is_boolean, types.is_null)), label, kind)


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _from_pandas(column: Any, label: str) -> list[Any]:
    import pandas as pd

    dtype = getattr(column, "dtype", None)
    array = getattr(column, "array", column)
    if isinstance(dtype, pd.CategoricalDtype):
        listed = [*_from_pandas(dtype.categories, label), None]
        return [listed[code] for code in array.codes.tolist()]  # -1, the last, for missing cells
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return arrow_keys(array.__arrow_array__(), label)
    _require(isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", "") in _KINDS, label, dtype)
    return list(array.tolist())


def _from_polars(column: Any, label: str) -> list[Any]:
    import polars as pl

    dtype = getattr(column, "dtype", pl.Unknown())
    known = dtype.is_numeric() or dtype in (
        *(pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Boolean, pl.Null, pl.Object),
    )
    _require(known, label, str(dtype).partition("(")[0])  # an enumeration would list every value of the column
    return list(column.to_list())


def _require(holds: bool, label: str, kind: Any) -> None:
    if not holds:
        raise ParameterError(label, _RULE, f"type {kind}")
