"""Blocks of rows as a statistic gets them: arrays of floats, or frames of the caller's own library, cell by cell."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.numbers import BLANKS, IN_MEMORY, number
from tukeydp.data.tables import Table, floats, is_array, read_table, width_of_rows
from tukeydp.trusted.parameters import INTERRUPTIONS, FloatArray, IntArray, ParameterError, brief
from tukeydp.trusted.rows import checked_bounds

# Cells of frames, each read by itself: what a cell becomes depends on no other, and not on its column's type.
#
# Libraries infer the type of a column from all of its cells, and rewrite these: one missing cell makes 3 a 3.0, one
# word makes it "3", one number makes True a 1. What these have in common is read (docs/proofs/aggregate.md, section 2).

TYPES = ("number", "text", "bool", "date")  # that a caller may declare
Cell = float | bool | str | datetime | None  # None: missing

_DAY, _CLOCK = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), re.compile(r"[0-9]{2}:[0-9]{2}")


def _read(cell: Any) -> float | str | None:
    """One cell by itself: a number, a text, or None where there is nothing that can be read.

    What the cells around it can make of a cell is read as the cell: a single word makes text of all numbers, truth
    values and dates of its column, a single number makes 1 of True. So text that is a number is one, a truth value is 0
    or 1, and a date is its text.

    >>> [_read(cell) for cell in (3, "3.0", " 1e3", True, "true", "n/a", "131 mmHg", [3], date(2020, 5, 1))]
    [3.0, 3.0, 1000.0, 1.0, 1.0, None, '131 mmHg', None, '2020-05-01']
    """
    text = _text(cell)
    if text is not None:
        return _read_written(text)
    if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
        cell = cell.real
    value = number(cell)
    if not math.isnan(value):
        return value
    return cell.isoformat() if isinstance(cell, time) else _date_text(_moment(cell))


def _read_written(text: str) -> float | str | None:
    if IN_MEMORY.is_empty(text):
        return None
    value = IN_MEMORY.number(text)
    return _one_spelling(text.strip(BLANKS).upper()) or text if math.isnan(value) else value


def _one_spelling(text: str) -> str | None:
    """A day or a time of day under ISO 8601, as a date or a time is written above; None if it is neither."""
    if _DAY.match(text):
        return _date_text(_from_iso(text))
    try:
        return time.fromisoformat(text).isoformat() if _CLOCK.match(text) else None
    except ValueError:
        return None


def _read_number(cell: Any) -> Cell:
    value = _read(cell)
    return value if isinstance(value, float) else None


def _read_bool(cell: Any) -> Cell:
    value = _read(cell)
    return bool(value) if value in (0.0, 1.0) else None


def _read_text(cell: Any) -> Cell:
    """Text as it stands; an empty one is missing, which is what text files can say."""
    text = _text(cell)
    return (text or None) if text is not None else _as_text(_read(cell))


def _read_date(cell: Any) -> Cell:
    """The date in UTC, from a date or from ISO 8601 text."""
    text = _text(cell)
    return _moment(cell) if text is None else _from_iso(text)


READERS: dict[str | None, Callable[[Any], Cell]] = {
    None: _read, "number": _read_number, "text": _read_text, "bool": _read_bool, "date": _read_date,
}  # fmt: skip


def _text(cell: Any) -> str | None:
    """A plain text, whatever class the cell is of; None if it is no text.

    A new object: how often the cell's is referred to tells how many rows have it.
    """
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return str.encode(cell, "utf-8", "replace").decode("utf-8") if isinstance(cell, str) else None


def _from_iso(text: str) -> datetime | None:
    try:
        return _moment(datetime.fromisoformat(text.strip(BLANKS)))
    except ValueError:
        return None


def _moment(cell: Any) -> datetime | None:
    """A date or a time of a day, in UTC, to the microsecond."""
    if isinstance(cell, np.datetime64):
        cell = cell.astype("datetime64[us]").item()
    if not isinstance(cell, date):
        return None
    if not isinstance(cell, datetime):
        return datetime(cell.year, cell.month, cell.day)
    try:
        if cell.tzinfo is not None:
            cell = cell.astimezone(UTC)
        # By parts: pandas warns of nanoseconds where it converts. Its "not a time" and far years have no such parts.
        return datetime(cell.year, cell.month, cell.day, cell.hour, cell.minute, cell.second, cell.microsecond)
    except (ValueError, TypeError, OverflowError):
        return None


def _date_text(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.isoformat(sep=" ").removesuffix(" 00:00:00")


def _as_text(value: float | str | None) -> str | None:
    """A number like any other of its value: 3 is "3", whether its column had room for halves or not."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value) if isinstance(value, float) else value


def read_each(values: Sequence[Any], read: Callable[[Any], Cell]) -> NDArray[Any]:
    """Each cell by itself; one whose own class fails is missing."""
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        try:
            cells[i] = read(value)
        except MemoryError:  # of the machine, not of the cell
            raise
        except Exception:
            cells[i] = None
    return cells


def plain_floats(values: Any) -> FloatArray:
    """New floats with one zero and one NaN, the signs and bits that they have with whole numbers and with objects."""
    with np.errstate(all="ignore"):
        values = np.array(values, dtype=np.float64, order="C") + 0.0
    values[np.isnan(values)] = np.nan
    return np.asarray(values)


@dataclass(frozen=True)
class Typed:
    """A block's column: its type and its cells, floats with NaN for numbers, otherwise values and None."""

    kind: str
    cells: Any


def typed(cells: NDArray[Any], declared: str | None) -> Typed:
    """The cells of one block under the declared type; or as numbers, if all of *these* cells are, otherwise as text."""
    if cells.dtype == np.float64:
        return Typed("number", plain_floats(cells))
    values = cells.tolist()
    kind = declared or ("text" if any(isinstance(v, str) for v in values) else "number")
    if kind == "number":
        return Typed(kind, plain_floats([math.nan if v is None else v for v in values]))
    if kind == "text":
        return Typed(kind, [_as_text(v) for v in values])
    return Typed(kind, values)


# Frames of pandas, polars and Arrow: their cells, column by column, and new frames from some of them.
#
# A new frame has what is handed over and nothing else: one fixed type for each kind of column, a fresh index, one
# chunk, no categories, metadata, attributes, flags or subclass.


class Library(Protocol):
    """How a library's frames are read, and built anew."""

    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        """Labels of the columns, and how many rows there are."""
        ...

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        """The cells of a column, each read by itself; floats where the type leaves no doubt about any of them."""
        ...

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any: ...

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]: ...


def library_of(x: Any, name: str) -> type[Library]:
    """By class, so that a subclass of a library's frame is one; what was never imported, nobody has a frame of."""
    frames: dict[str, tuple[str, type[Library]]]
    frames = {"pandas": ("DataFrame", _Pandas), "polars": ("DataFrame", _Polars), "pyarrow": ("Table", _Arrow)}
    for module, (kind, library) in frames.items():
        if module in sys.modules and isinstance(x, getattr(sys.modules[module], kind)):
            return library
    raise no_frame(x, name)


def no_frame(x: Any, name: str) -> ParameterError:
    rule = "must be an array, or a frame of pandas, polars or Arrow with distinct column names, held in memory"
    return ParameterError(name, rule, type(x).__name__)


def _refused(label: str, kind: Any) -> ParameterError:
    """By the type's first word: the rest may list what cells hold."""
    word = str(kind).partition("(")[0].partition("<")[0].partition("[")[0]
    rule = "must hold a number, a text, a truth value or a date in each cell: leave it out, or make numbers of it"
    return ParameterError(label, rule, f"type {word}")


def _numbers(values: Any, read: Callable[[Any], Cell]) -> NDArray[Any]:
    """A column of numbers, as `read_each` would read it."""
    values = plain_floats(values)
    return values if read in (READERS[None], READERS["number"]) else read_each(values.tolist(), read)


class _Pandas:
    """pandas infers every type from cells: none is refused, but for Arrow's nested ones."""

    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.columns), len(x)

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        import pandas as pd

        series = x.iloc[:, j]
        if isinstance(series.dtype, pd.ArrowDtype):
            return _arrow_cells(series.array.__arrow_array__(), read, label)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
            return _numbers(series.to_numpy(), read)
        return read_each(_values(series.tolist, len(series), series.iloc.__getitem__), read)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import pandas as pd

        frame = pd.DataFrame({j: _Pandas._values(column) for j, column in enumerate(columns)})
        frame.columns = pd.Index(list(labels))
        return frame

    @staticmethod
    def _values(column: Typed) -> Any:
        import pandas as pd

        if column.kind == "bool":
            return (
                pd.array(column.cells, dtype="boolean") if None in column.cells else np.array(column.cells, dtype=bool)
            )
        if column.kind == "text":
            return pd.Series(column.cells, dtype=pd.Series(["text"]).dtype)  # what this version calls text
        return np.array(column.cells, dtype="datetime64[us]") if column.kind == "date" else column.cells

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop(columns=[label]), block[label]


class _Polars:
    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.columns), x.height

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        import polars as pl

        series = x.to_series(j)
        kind = series.dtype
        if kind.is_integer() or kind.is_float():
            return _numbers(series.cast(pl.Float64).to_numpy(), read)
        if kind in (pl.Date, pl.Datetime):
            return read_each(_moments(series.dt.epoch("us").to_list()), read)
        single = (pl.String, pl.Binary, pl.Boolean, pl.Categorical, pl.Enum, pl.Null, pl.Object, pl.Decimal, pl.Time)
        if kind not in single:
            raise _refused(label, kind)
        return read_each(series.to_list(), read)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import polars as pl

        kinds = {"number": pl.Float64(), "bool": pl.Boolean(), "text": pl.String(), "date": pl.Datetime("us")}
        return pl.DataFrame(
            [
                pl.Series(label, column.cells, dtype=kinds[column.kind], nan_to_null=True)
                for label, column in zip(labels, columns, strict=True)
            ]
        )

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop(label), block[label]


class _Arrow:
    @staticmethod
    def schema(x: Any) -> tuple[list[Any], int]:
        return list(x.schema.names), x.num_rows

    @staticmethod
    def column(x: Any, j: int, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
        return _arrow_cells(x.column(j), read, label)

    @staticmethod
    def frame(labels: Sequence[Any], columns: Sequence[Typed]) -> Any:
        import pyarrow as pa

        kinds = {"number": pa.float64(), "bool": pa.bool_(), "text": pa.string(), "date": pa.timestamp("us")}
        # from_pandas: NaN is null.
        arrays = [pa.array(column.cells, type=kinds[column.kind], from_pandas=True) for column in columns]
        return pa.Table.from_arrays(arrays, names=list(labels))

    @staticmethod
    def without(block: Any, label: Any) -> tuple[Any, Any]:
        return block.drop_columns([label]), block.column(label)


def _arrow_cells(column: Any, read: Callable[[Any], Cell], label: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_integer(kind) or types.is_floating(kind):
        return _numbers(floats(column), read)
    if types.is_timestamp(kind) or types.is_date(kind):
        whole = column if kind is column.type else column.cast(kind)
        zone = kind.tz if types.is_timestamp(kind) else None
        since = whole.cast(pa.timestamp("us", tz=zone), safe=False).cast(pa.int64())
        return read_each(_moments(since.to_pylist()), read)
    single = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_boolean)
    others = (types.is_decimal, types.is_time, types.is_null, lambda kind: str(kind) in ("string_view", "binary_view"))
    if not any(is_one(kind) for is_one in (*single, *others)):
        raise _refused(label, kind)
    return read_each(_values(column.to_pylist, len(column), lambda i: column[i].as_py()), read)


def _values(listed: Callable[[], list[Any]], n: int, one: Callable[[int], Any]) -> list[Any]:
    """The column's cells; if its library fails at one (no UTF-8, no time in that zone), that cell alone is missing."""
    try:
        return listed()
    except MemoryError:
        raise
    except Exception:
        return [_value(one, i) for i in range(n)]


def _value(one: Callable[[int], Any], i: int) -> Any:
    try:
        return one(i)
    except MemoryError:
        raise
    except Exception:
        return None


def _moments(since: Sequence[int | None]) -> list[datetime | None]:
    """Times from microseconds since 1970, None where there is none or where it lies beyond the years of Python."""
    return [None if us is None else _moment_at(us) for us in since]


def _moment_at(microseconds: int) -> datetime | None:
    try:
        return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


# Blocks of rows as a statistic gets them: arrays of floats, or frames of the caller's own library.
#
# Invariant (docs/proofs/aggregate.md, section 2): a block is a function of the names of the columns, of the types that
# the caller declares, and of the block's own rows. The types that a frame has are no part of it. Libraries infer them
# from all cells: one missing cell makes whole numbers floats, one text makes a column of numbers text. So every cell is
# read by itself, and each block is built anew from the cells of its rows: no index, dictionary, metadata, buffer or
# object comes from the table. Made-up rows of the same columns, nobody's data, serve to try a statistic out.

_SEED = 14  # of made-up rows: public, any number serves


class Rows(Protocol):
    """Rows that can be handed out in blocks. `n` and `names` are public."""

    @property
    def n(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def guesses(self) -> tuple[str, ...]:
        """What made-up rows may take columns without a declared type for, the likeliest first."""
        ...

    def take(self, places: IntArray) -> Any:
        """These rows in this order, as a copy of their own."""
        ...

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        """The block without its target column, and that column."""
        ...

    def made_up(self, rows: int, guess: str = "number", *, missing: bool = False) -> Iterator[Any]:
        """Blocks of made-up rows of the same columns: numbers of several kinds, as a statistic may want them.

        `missing`: the first row has no value.
        """
        ...


def rows_of(x: Any, clip: Any = None, types: Mapping[str, str] | None = None, name: str = "x", fewest: int = 1) -> Rows:
    """The rows of an array, a list or a frame, at least `fewest`."""
    if gives_floats(x):
        if types is not None:
            raise ParameterError("types", "must be left out for arrays, whose cells are numbers", brief(types))
        table = read_table(x, name, fewest)
        flat = not isinstance(x, Table) and (_is_series(x) or _is_flat(x))
        ends = None if clip is None else checked_bounds(table.d, clip, table.columns)
        return ArrayRows(table.cells, table.columns, flat, None if ends is None else _floats(ends))
    if clip is not None:
        rule = "must be left out for frames: clip inside the statistic, which sees its own block only"
        raise ParameterError("clip", rule, "one")
    return FrameRows.of(x, types, name, fewest)


def gives_floats(x: Any) -> bool:
    """Whether a statistic gets an array of floats, and no frame: by the kind of the container, which is public."""
    return isinstance(x, Table) or is_array(x) or _is_series(x)


def _is_flat(x: Any) -> bool:
    """One column given as such; numpy is not asked about lists, of which a cell may be a list itself."""
    if isinstance(x, list | tuple):
        return width_of_rows(x) is None
    return np.ndim(x) == 1 and getattr(getattr(x, "dtype", None), "names", None) is None  # fields are columns


def _is_series(x: Any) -> bool:
    # Of the type: asking a lazy frame for its columns warns.
    return not is_array(x) and not hasattr(type(x), "columns") and not hasattr(type(x), "column_names")


def _floats(ends: Any) -> tuple[FloatArray, FloatArray]:
    lower, upper = (np.array([float(v) for v in side]) for side in ends)
    return lower, upper


@dataclass(frozen=True)
class ArrayRows:
    """Rows of floats, NaN where a cell is missing; `flat` for one column given as such."""

    cells: FloatArray
    names: tuple[str, ...] | None
    flat: bool
    ends: tuple[FloatArray, FloatArray] | None
    guesses = ("number",)

    @property
    def n(self) -> int:
        return len(self.cells)

    def take(self, places: IntArray) -> FloatArray:
        return self._shaped(self.cells[places])

    def _shaped(self, block: FloatArray) -> FloatArray:
        if self.ends is not None:
            block = np.clip(block, *self.ends)  # cell by cell
        # Row by row in memory, whatever the table's layout: sums are rounded in the order of memory.
        return plain_floats(block[:, 0] if self.flat else block)

    def without(self, block: FloatArray, target: Any) -> tuple[FloatArray, FloatArray]:
        j = target if self.names is None or target not in self.names else self.names.index(target)
        return np.delete(block, j, axis=1), block[:, j].copy()

    def made_up(self, rows: int, guess: str = "number", *, missing: bool = False) -> Iterator[FloatArray]:
        for numbers in _made_up_numbers(rows, self.cells.shape[1], missing):
            yield self._shaped(numbers)


@dataclass(frozen=True)
class FrameRows:
    """Rows of a frame: its cells, column by column, and what builds a frame of the caller's library from some of them.

    `columns` are floats (NaN: missing) or objects (`Cell`); `declared` has None for a column without a declared type,
    whose type each block decides by its own cells.
    """

    library: type[Library]
    labels: tuple[Any, ...]
    declared: tuple[str | None, ...]
    columns: tuple[NDArray[Any], ...]
    n: int

    @classmethod
    def of(cls, x: Any, types: Mapping[str, str] | None, name: str, fewest: int = 1) -> FrameRows:
        library = library_of(x, name)
        try:
            labels, n = library.schema(x)
            named = [str(label) for label in labels]
            if len(set(named)) != len(named):
                raise no_frame(x, name)
            if n < fewest or not named:
                raise ParameterError(name, "must have at least one row and one column", f"shape {(n, len(named))}")
            declared = _declared(types, named)
            columns = [
                library.column(x, j, READERS[kind], f"{name} column {named[j]!r}") for j, kind in enumerate(declared)
            ]
        except (ParameterError, MemoryError, *INTERRUPTIONS):
            raise
        except BaseException:  # a message might quote cells
            raise no_frame(x, name) from None
        return cls(library, tuple(labels), declared, tuple(columns), n)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.labels)

    @property
    def guesses(self) -> tuple[str, ...]:
        return ("number", "text") if None in self.declared else ("number",)

    def take(self, places: IntArray) -> Any:
        return self._built([column[places] for column in self.columns])

    def _built(self, cells: Sequence[NDArray[Any]]) -> Any:
        columns = [typed(block, kind) for block, kind in zip(cells, self.declared, strict=True)]
        return self.library.frame(self.labels, columns)

    def without(self, block: Any, target: Any) -> tuple[Any, Any]:
        return self.library.without(block, self.labels[self.names.index(target)])

    def made_up(self, rows: int, guess: str = "number", *, missing: bool = False) -> Iterator[Any]:
        for numbers in _made_up_numbers(rows, len(self.labels), missing):
            columns = [_made_up_column(kind or guess, numbers[:, j]) for j, kind in enumerate(self.declared)]
            yield self._built(columns)


def _declared(types: Any, names: Sequence[str]) -> tuple[str | None, ...]:
    if types is None:
        return (None,) * len(names)
    if not isinstance(types, Mapping) or not all(isinstance(kind, str) and kind in TYPES for kind in types.values()):
        raise ParameterError("types", f"must be a dict of column names to one of {', '.join(TYPES)}", brief(types))
    unknown = [label for label in types if str(label) not in names]
    if unknown:
        raise ParameterError("types", "must name columns of the frame", brief(unknown[0]))
    kinds = {str(label): kind for label, kind in types.items()}
    return tuple(kinds.get(label) for label in names)


def _made_up_column(kind: str, numbers: FloatArray) -> NDArray[Any]:
    """Numbers, or for any other type two or more values made from them."""
    if kind == "number":
        return numbers.copy()
    made: dict[str, Callable[[float], Cell]] = {
        "bool": lambda v: v > 0.5,
        "text": lambda v: "a" if v > 0.5 else "b",
        "date": lambda v: datetime(2000, 1, 1) + timedelta(days=round(100 * v)),
    }
    return read_each(numbers.tolist(), lambda v: None if math.isnan(v) else made[kind](v))


def _made_up_numbers(rows: int, columns: int, missing: bool = False) -> Iterator[FloatArray]:
    """Bell-shaped ones, shares from 0 to 1, and as many zeros as ones (labels of two classes)."""
    rng = np.random.default_rng(_SEED)
    labels = np.tile((np.arange(rows) % 2).astype(np.float64)[:, np.newaxis], (1, columns))
    for numbers in (rng.normal(size=(rows, columns)), rng.random((rows, columns)), rng.permuted(labels, axis=0)):
        if missing:
            numbers[0] = np.nan
        yield numbers
