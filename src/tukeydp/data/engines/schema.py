"""The schema of a lazy frame and its number of rows, through narwhals: public, and checked before anything is spent."""

from __future__ import annotations

from typing import Any

from tukeydp.data.arrow_columns import TEXT_ADVICE
from tukeydp.errors import ParameterError


def checked_names(x: Any) -> tuple[tuple[str, ...], int]:
    """The names of the columns, all of them numbers or truth values, and the number of rows by one query."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x)
    schema = frame.collect_schema()
    names = tuple(map(str, schema))  # Dask's labels may be numbers
    if len(set(names)) != len(frame.columns):
        raise ParameterError("x", "must have distinct column names", f"{len(frame.columns)} columns")
    if not names:
        raise ParameterError("x", "must have at least one row and one column", "no column")
    for name, kind in schema.items():
        if isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object):
            raise ParameterError(f"x column {name!r}", TEXT_ADVICE, _kind(kind))
        if not kind.is_numeric() and not isinstance(kind, nw.Boolean):
            raise ParameterError(f"x column {name!r}", "must hold numbers", _kind(kind))
    return names, int(frame.select(nw.len()).collect().item())


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


def as_floats(x: Any) -> Any:
    """The frame with its columns cast to floats by the engine, cell by cell; still lazy, and of the same kind.

    Not by name: polars would take the name `^a.*$` for a pattern.
    """
    import narwhals.stable.v2 as nw

    return nw.from_native(x).select(nw.all().cast(nw.Float64)).to_native()
