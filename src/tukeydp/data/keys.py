"""Public keys of groups and ids of persons: which a cell holds, and tables without that column. No cell ever raises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tukeydp.data.numbers import BLANKS, IN_MEMORY, PLAIN, TRUTH, NumberRule, is_missing, number
from tukeydp.data.tables import Source, Table, is_array, is_text, read_table, texts
from tukeydp.trusted.parameters import INTERRUPTIONS, FloatArray, IntArray, ParameterError, brief

# Public keys of groups, and which of them a cell holds. Each cell is compared by itself, and none ever raises.

NO_GROUP = -1
_MOST = 10_000  # keys: more groups than that have no rows to speak of, and each draws noise of its own
# Floats that stand for keys that are texts where a column is read as floats: nobody measures 10^308, and a cell that
# holds such a number would be taken for a key, by itself and with no harm to others.
_FIRST_CODE, _CODE_STEP = -1.5 * 2.0**1023, 2.0**990

NUMPY_MISSING = "nan"  # what numpy writes for a missing number where another cell is a text

Label = float | str | None


def label(cell: Any, rule: NumberRule = IN_MEMORY) -> Label:
    """What a cell is compared by: its number where it reads as one, else its text without blanks around; None: missing.

    The same whatever a library has made of the column: words of truth values are truth values, the word that numpy
    writes for a missing number is missing, and so is a date, which libraries write in several ways.

    >>> label(" A "), label("07"), label(7), label(True), label("TRUE"), label(None), label(float("nan"))
    ('A', 7.0, 7.0, 'True', 'True', None, None)
    """
    try:
        if isinstance(cell, bool | np.bool_):
            return str(bool(cell))
        text = as_text(cell)
        if text is not None and text.lower() in TRUTH:
            return text.capitalize()
        value = number(cell, rule)
        if not math.isnan(value):
            return value
        if is_missing(cell) or is_time(cell):
            return None
        text = str(cell).strip(BLANKS) if text is None else text
        return None if text == NUMPY_MISSING else text or None
    except MemoryError:  # of the machine, not of the cell
        raise
    except Exception:  # an object that cannot say what it is
        return None


def as_text(cell: Any) -> str | None:
    """A text without blanks around; None for what is no text."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    return cell.strip(BLANKS) if isinstance(cell, str) else None


def is_time(cell: Any) -> bool:
    return isinstance(cell, date | time | timedelta | np.datetime64 | np.timedelta64)


@dataclass(frozen=True)
class Keys:
    """The keys as they are shown, and what cells are compared with. All public."""

    names: tuple[str, ...]
    labels: tuple[float | str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _places(self) -> dict[float | str, int]:
        return {known: k for k, known in enumerate(self.labels)}

    @cached_property
    def _codes(self) -> dict[float | str, float]:
        return dict(zip(self.labels, self.codes(), strict=True))

    def places(self, cells: Iterable[Any]) -> IntArray:
        """The number of each cell's group; `NO_GROUP` for missing cells and for keys that are not listed."""
        found = ((NO_GROUP if (one := label(cell)) is None else self._places.get(one, NO_GROUP)) for cell in cells)
        return np.fromiter(found, dtype=np.int64)

    def codes(self) -> list[float]:
        """A float for each key: the number that it is, or one that nobody measures."""
        return [one if isinstance(one, float) else _FIRST_CODE + k * _CODE_STEP for k, one in enumerate(self.labels)]

    def as_codes(self, cells: Iterable[Any], rule: NumberRule = PLAIN) -> FloatArray:
        """Each cell as the code of its key; NaN for missing cells and for keys that are not listed."""
        codes, plain = self._codes, _without_keys(rule)
        found = (math.nan if (one := label(cell, plain)) is None else codes.get(one, math.nan) for cell in cells)
        return np.fromiter(found, dtype=np.float64)

    def places_of_codes(self, column: FloatArray) -> IntArray:
        """As `places`, of a column that was read by `KeyRule`."""
        found = np.full(len(column), NO_GROUP, dtype=np.int64)
        for k, code in enumerate(self.codes()):
            found[column == code] = k
        return found


@dataclass(frozen=True)
class KeyRule(NumberRule):
    """Reads a cell as a number where it is one, as a key's code where it is a key, else as missing."""

    keys: Keys = Keys((), ())

    def number(self, text: str) -> float:
        return float(self.keys.as_codes([text], self)[0])


@lru_cache(maxsize=16)
def _without_keys(rule: NumberRule) -> NumberRule:
    return NumberRule(rule.decimal, rule.thousands)


def checked_keys(keys: Any, rule: NumberRule = IN_MEMORY) -> Keys:
    """The listed keys; they are public, and must be chosen without the data."""
    if keys is None:
        reason = "must be given with by=: keys read off the data would tell who is there"
        raise ParameterError("keys", reason, "none")
    if isinstance(keys, str | bytes) or not isinstance(keys, Sequence | np.ndarray | set | frozenset | dict):
        raise ParameterError("keys", "must be a list of the groups' keys", brief(keys))
    listed = list(keys)
    labels: list[float | str] = []
    for key in listed:
        one = label(key, rule)
        if one is None or one in labels:
            rule_text = "must be different from each other, not empty, and no dates; numbers are compared as numbers"
            raise ParameterError("keys", rule_text, brief(key))
        labels.append(one)
    if not 1 <= len(labels) <= _MOST:
        raise ParameterError("keys", f"must be from 1 to {_MOST} groups", len(labels))
    names = (text if (text := as_text(key)) is not None else str(key) for key in listed)
    return Keys(tuple(name.strip(BLANKS) for name in names), tuple(labels))


# The cells of a column that holds groups' keys or persons' ids, from any library.
#
# Keys and ids are texts, numbers or truth values. A library may have chosen a column's type from its cells, so that no
# type is refused: a column of anything else, such as dates, has no key in any row. Its cells are not asked for:
# libraries can hold days that Python cannot, and handing such a cell out raises, or prints, for that table alone.

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


# A column that is not measured, such as a group's key or a person's id, taken out of a table.
#
# What raises is the schema, never a cell.


# What to take out: by parameter (`by`, `person`) the name of a column or a cell for each row, and what a cell is.
Wanted = Mapping[str, tuple[Any, str]]


def taken_apart(x: Any, wanted: Wanted, fewest: int = 1) -> tuple[Table, dict[str, list[Any]], dict[str, str]]:
    """The table without the columns that are wanted; their cells as they are, and their names, by parameter.

    A list of cells without a name of its own is called by what it has: "group" or "person".
    """
    rest, cells, names = set_apart(x, wanted)
    table = read_table(rest, fewest=fewest)
    require_one_each(wanted, cells, table.n)
    return table, cells, names


def set_apart(x: Any, wanted: Wanted) -> tuple[Any, dict[str, list[Any]], dict[str, str]]:
    """The same, with the rest of the table as it was given."""
    named = {parameter: given for parameter, (given, _) in wanted.items() if isinstance(given, str)}
    cells: dict[str, list[Any]] = {}
    rest = x
    if isinstance(x, Source) and named:
        for parameter, name in named.items():
            _check_once(name, list(x.names), parameter)
        rest, found = x.with_cells(*named.values())
        cells = dict(zip(named, found, strict=True))
    else:
        for parameter, name in named.items():
            cells[parameter], rest = _without_column(rest, name, parameter, wanted[parameter][1])
    names = dict(named)
    for parameter, (given, what) in wanted.items():
        if parameter not in named:
            usual = "group" if parameter == "by" else parameter
            names[parameter] = str(getattr(given, "name", None) or usual)
            read = _is_column(given)
            cells[parameter] = given.with_cells(given.columns[0])[1][0] if read else key_cells(given, parameter, what)
    return rest, cells, names


def require_one_each(wanted: Wanted, cells: Mapping[str, list[Any]], n: int) -> None:
    """A cell for each of n rows."""
    for parameter, (_, what) in wanted.items():
        if len(cells[parameter]) != n:
            rule = f"must name a column, or have one {what} for each row"
            raise ParameterError(parameter, rule, "another number of them")


def _is_column(named: Any) -> bool:
    return isinstance(named, Source) and len(named.columns) == 1


def _without_column(x: Any, named: str, parameter: str, what: str) -> tuple[list[Any], Any]:
    """The cells of a column and the table without it."""
    if isinstance(x, np.ndarray) and x.dtype.names is not None:
        _check_once(named, list(x.dtype.names), parameter)
        return key_cells(x[named], parameter, what), x[[name for name in x.dtype.names if name != named]]
    if is_array(x) or isinstance(x, Table):
        raise ParameterError(parameter, f"must be one {what} for each row where columns have no names", brief(named))
    try:
        return _from_frame(x, named, parameter)
    except (ParameterError, MemoryError, *INTERRUPTIONS):
        raise
    except BaseException:  # a lazy query that fails says so with the cells it failed at
        rule = "must be an array or a table with distinct column names that can be held in memory"
        raise ParameterError("x", rule, type(x).__name__) from None


def cells_of_column(x: Any, named: str, parameter: str, what: str = "value") -> list[Any]:
    """The cells of a named column of a table in memory, as they are."""
    return _without_column(x, named, parameter, what)[0]


def _from_frame(x: Any, named: str, parameter: str) -> tuple[list[Any], Any]:
    library = type(x).__module__.split(".")[0]
    if library == "pandas":
        names = [str(name) for name in x.columns]
        place = _check_once(named, names, parameter)
        return key_cells(x.iloc[:, place], parameter), x.iloc[:, [j for j in range(len(names)) if j != place]]
    if library == "polars":
        if hasattr(x, "collect"):  # once: without a fixed order, two passes would tear rows apart
            x = x.collect()
        _check_once(named, list(x.columns), parameter)
        return key_cells(x[named], parameter), x.drop(named)
    import pyarrow as pa

    table = x if isinstance(x, pa.Table) else pa.table(x)
    place = _check_once(named, list(table.schema.names), parameter)
    return arrow_keys(table.column(place)), table.remove_column(place)


def _check_once(named: str, names: list[str], parameter: str) -> int:
    if names.count(named) != 1:
        raise ParameterError(parameter, "must name a column that occurs once in x", brief(named))
    return names.index(named)


# A table whose rows belong to groups: the column with the keys is taken out, and each row's group is its number.
#
# Rows without a listed key belong to no group. What raises is the schema, never a cell.


@dataclass(frozen=True, eq=False)
class GroupedTable:
    """Rows, and the number of each row's group, -1 for none: these are secret like cells. Keys are public."""

    table: Table
    groups: IntArray
    keys: Keys
    by: str


def grouped_table(x: Any, by: Any, keys: Any) -> GroupedTable:
    """`by` is the name of a column of `x`, or one key for each row."""
    known = checked_keys(keys)
    table, cells, names = taken_apart(x, {"by": (by, "key")})
    return GroupedTable(table, known.places(cells["by"]), known, names["by"])


def require_by(by: Any, keys: Any, *others: Any) -> bool:
    """Whether there are groups; what goes with `by` is refused without it."""
    if by is None and any(value is not None for value in (keys, *others)):
        raise ParameterError("by", "must be given with keys or counts", "none")
    return by is not None
