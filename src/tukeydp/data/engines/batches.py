"""One pass over the rows of a lazy frame: its schema, what a batch gives, and how batches add up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tukeydp.data.keys import Keys, arrow_keys
from tukeydp.data.tables import read_arrow_column
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError
from tukeydp.trusted.sums import Pass

# The schema of a lazy frame and its number of rows, through narwhals: public, and checked before anything is spent.


def checked_names(x: Any, *apart: str, fewest: int = 1) -> tuple[tuple[str, ...], int]:
    """The names of the columns, all of them numbers or truth values, and the number of rows by one query.

    Those that are apart, of groups and persons, may hold anything that keys and ids can be, and come last. At
    least `fewest` others are needed.
    """
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x)
    schema = frame.collect_schema()
    names = tuple(map(str, schema))  # Dask's labels may be numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # older versions of polars warn that asking for names takes long
        count = len(frame.columns)
    if len(set(names)) != count:
        raise ParameterError("x", "must have distinct column names", f"{count} columns")
    if not names:
        raise ParameterError("x", "must have at least one row and one column", "no column")
    for name in apart:
        if name not in names:
            raise ParameterError("x", "must have the column that groups or persons are in", repr(name))
    for name, kind in schema.items():
        if str(name) in apart:
            continue
        # Text is read cell by cell: an engine that scans text files infers it from cells. So it does a column's type
        # from the only cell with a value: without one the type is unknown, and so are some that are no numbers.
        if not kind.is_numeric() and not isinstance(kind, nw.Boolean | nw.String | nw.Object | nw.Unknown):
            raise ParameterError(f"x column {name!r}", "must hold numbers", _kind(kind))
    others = tuple(name for name in names if name not in apart)
    if len(others) < fewest:
        raise ParameterError("x", "must have at least one row and one column", "no column that is measured")
    return (*others, *apart), int(frame.select(nw.len()).collect().item())


def _kind(kind: Any) -> str:
    """A type without what it lists: an enumeration would name every value of the column."""
    return f"type {str(kind).partition('(')[0]}"


def require_told_apart(names: tuple[str, ...]) -> None:
    """SQL does not tell capital letters apart: of columns `a` and `A` it would read the first one twice."""
    if len({name.casefold() for name in names}) != len(names):
        rule = "must have column names that differ in more than capital letters, which SQL does not tell apart"
        raise ParameterError("x", rule, f"{len(names)} columns")


def without_rows(x: Any) -> Any:
    """The frame's first no rows: reading them shows that the engine can be read, and costs nothing."""
    import narwhals.stable.v2 as nw

    return nw.from_native(x).head(0).to_native()


def only_columns(x: Any, names: tuple[str, ...]) -> Any:
    """The frame with these columns alone, still lazy."""
    import narwhals.stable.v2 as nw

    require_no_patterns(names)
    frame = nw.from_native(x)
    known = list(frame.collect_schema())
    for name in names:
        if known.count(name) != 1:
            raise ParameterError("column", "must name a column of x, and so must by", repr(name))
    return frame.select(*(nw.col(name) for name in names)).to_native()


def require_no_patterns(names: tuple[str, ...]) -> None:
    if any(name.startswith("^") for name in names):
        raise ParameterError(
            "x", "must have no column whose name begins with ^, a pattern to polars, with by or text", "one"
        )


def as_floats(x: Any, names: tuple[str, ...] = (), by: tuple[str, ...] = ()) -> Any:
    """The frame with its columns cast to floats by the engine, cell by cell; still lazy, and of the same kind.

    Text stays as it is, to be read cell by cell, and so do columns that are compared, which come last. Not by name
    where there is neither: polars would take the name `^a.*$` for a pattern.
    """
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x)
    schema = frame.collect_schema()
    texts = text_columns(schema) - set(by)
    if not by and not texts:
        return frame.select(nw.all().cast(nw.Float64)).to_native()
    require_no_patterns(names)
    measured = (name for name in names if name not in by)
    columns = [nw.col(name) if name in texts else nw.col(name).cast(nw.Float64) for name in measured]
    return frame.select(*columns, *map(nw.col, by)).to_native()


def text_columns(schema: Any) -> set[str]:
    """Columns that are read here, cell by cell: text, those without a value, which have no type to cast, and truth
    values: DuckDB hands a cast on to its reader of text files, to which "true" is no number."""
    import narwhals.stable.v2 as nw

    apart = nw.String | nw.Object | nw.Unknown | nw.Boolean
    return {str(name) for name, kind in schema.items() if isinstance(kind, apart)}


# Arrow record batches of floats as matrices, null as NaN: what DuckDB, Ibis and Spark hand over.


def matrices(batches: Iterable[Any], keys: tuple[Keys, ...] = ()) -> Iterator[FloatArray]:
    for batch in batches:
        first = len(batch.columns) - len(keys)
        compared = map(group_numbers, batch.columns[first:], keys)
        yield np.column_stack([*(read_arrow_column(column).values for column in batch.columns[:first]), *compared])


def group_numbers(column: Any, keys: Keys) -> FloatArray:
    """The number of each row's group, NaN for none: every value of an Arrow column is compared once, by itself."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    places = keys.places(arrow_keys(coded.dictionary)).astype(np.float64)
    known = np.append(np.where(places < 0, np.nan, places), np.nan)
    indices = coded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
    return np.asarray(known[indices])


# One pass over rows: what a batch gives, and how batches add up.

# Rows that an engine is asked to hand over at once. Speed and memory only.
BATCH = 2**18


# Reads all rows of a frame once, by a pass, and returns what its parts add up to.
Read = Callable[[Pass], IntArray]
