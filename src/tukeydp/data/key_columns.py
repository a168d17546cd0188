"""The cells of a column that holds groups' keys or persons' ids, from any library.

Keys and ids are texts, numbers or truth values. A library may have chosen a column's type from its cells, so that no
type is refused: a column of anything else, such as dates, has no key in any row. Its cells are not asked for: libraries
can hold days that Python cannot, and handing such a cell out raises, or prints, for that table alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.data.arrow_columns import is_text, texts
from tukeydp.errors import ParameterError
from tukeydp.parameters import brief

_RULE = "must hold texts, numbers or truth values"
_KINDS = "biufOSUT"  # numpy's letters for them, and for any Python object: those are Python's own already


def key_cells(column: Any, label: str = "by", what: str = "key") -> list[Any]:
    """One cell for each row, as Python has it; `label` is the parameter, and `what` a cell is, for error messages."""
    library = type(column).__module__.split(".")[0]
    if library == "narwhals":
        return key_cells(column.to_native(), label, what)
    if library == "pandas":
        return _from_pandas(column)
    if library == "polars":
        return _from_polars(column)
    if library == "pyarrow":
        return arrow_keys(column)
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return list(column.tolist()) if column.dtype.kind in _KINDS else _no_keys(column)
    if not isinstance(column, list | tuple):
        rule = f"must be the name of a column, or one {what} for each row"
        raise ParameterError(label, rule, brief(type(column).__name__))
    return list(column)


def _no_keys(column: Any) -> list[Any]:
    return [None] * len(column)


def arrow_keys(column: Any) -> list[Any]:
    """An Arrow array or chunked array."""
    import pyarrow as pa

    if not is_key_type(column.type):
        return _no_keys(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return texts(column) if is_text(column.type) else list(column.to_pylist())


def is_key_type(kind: Any) -> bool:
    """Whether a column of this Arrow type has keys."""
    import pyarrow.types as types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    others = (types.is_binary, types.is_large_binary, types.is_integer, types.is_floating, types.is_decimal)
    return is_text(inner) or any(fits(inner) for fits in (*others, types.is_boolean, types.is_null))


def check_key_type(kind: Any, label: str) -> None:
    """The type that a file declares for a column with keys."""
    if not is_key_type(kind):
        raise ParameterError(label, _RULE, f"type {kind}")


def _from_pandas(column: Any) -> list[Any]:
    import pandas as pd

    dtype = getattr(column, "dtype", None)
    array = getattr(column, "array", column)
    if isinstance(dtype, pd.CategoricalDtype):
        listed = [*_from_pandas(dtype.categories), None]
        return [listed[code] for code in array.codes.tolist()]  # -1, the last, for missing cells
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return arrow_keys(array.__arrow_array__())
    has_keys = isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", "") in _KINDS
    return list(array.tolist()) if has_keys else _no_keys(column)


def _from_polars(column: Any) -> list[Any]:
    import polars as pl

    dtype = getattr(column, "dtype", pl.Unknown())
    known = dtype.is_numeric() or dtype in (
        *(pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Boolean, pl.Null, pl.Object),
    )
    return list(column.to_list()) if known else _no_keys(column)
