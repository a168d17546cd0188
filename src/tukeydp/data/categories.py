"""Public categories of columns, and which of them each record holds. No cell ever raises, and none makes a category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tukeydp.data.keys import Keys, cells_of_column, checked_keys, key_cells
from tukeydp.data.lazy_tables import LazyTable, is_lazy, lazy_table
from tukeydp.data.numbers import read_cells
from tukeydp.data.persons import NOBODY, checked_rules, group_of_each, one_row_each, person_numbers
from tukeydp.data.records import Records
from tukeydp.data.relation import Relation, require_columns_without_rows
from tukeydp.data.tables import Source, Table, width_of_rows
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, brief, rational, show

DECLARED = "declared"  # categories that the caller has given to the frame's column
OTHER = "other / missing"
_MOST_CELLS = 10_000  # of one table: more have no records to speak of, and each draws noise of its own

Name = str | int | None  # of a column; its place in an array without names; None where x is the column


@dataclass(frozen=True)
class Categories:
    """Of one column, all public: `keys` that cells are compared with, or `edges` of intervals; neither for its values.

    `labels` are what categories are called, where that is not what stands in the cells; `ends` what a person's values
    are clipped to before they become one.
    """

    column: Name
    names: tuple[str, ...]
    keys: Keys | None = None
    edges: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None
    ends: tuple[float, float] | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        return self.names if self.labels is None else self.labels

    @property
    def title(self) -> str:
        return "value" if self.column is None else str(self.column)


@dataclass(frozen=True)
class Question:
    """One table: the categories of a column, or all combinations of those of several."""

    columns: tuple[Categories, ...]

    @property
    def title(self) -> str:
        return " x ".join(one.title for one in self.columns)

    @property
    def cells(self) -> int:
        """Without the last one, for what is in no category."""
        return math.prod(len(one.names) for one in self.columns)


# What is asked, from the parameters alone.


def questions(x: Any, column: Any, categories: Any, edges: Any) -> tuple[Question, ...]:
    """A column, a cross-table of several, or a table for each column of dicts. Nothing is read but a declared type."""
    if categories is None and edges is None:
        raise ParameterError("categories", "must be given, or edges: a list, or a dict with column names", "none")
    cross = isinstance(column, tuple | list)
    if column is not None and not cross and not _is_name(column):
        raise ParameterError(
            "column", "must be a column's name, or a tuple of several for a cross-table", brief(column)
        )
    names = list(column) if cross else [column] if column is not None else None
    listed, cut = (_by_column(parameter, given, names) for parameter, given in _given(categories, edges))
    if names is None:
        names = list(dict.fromkeys([*listed, *cut]))
    for name in names:
        if (name in listed) == (name in cut):
            raise ParameterError("categories", "must be given for every column, or edges, and not both", brief(name))
    if len(set(map(str, names))) != len(names) or not all(name is None or _is_name(name) for name in names):
        raise ParameterError("column", "must be names of different columns", brief(names))
    asked = [_categories(x, name, listed[name]) if name in listed else _intervals(name, cut[name]) for name in names]
    found = (Question(tuple(asked)),) if cross else tuple(Question((one,)) for one in asked)
    for one in found:
        if one.cells > _MOST_CELLS:
            raise ParameterError("categories", f"must make at most {_MOST_CELLS} cells", one.cells)
    return found


def _given(categories: Any, edges: Any) -> tuple[tuple[str, Any], ...]:
    return ("categories", categories), ("edges", edges)


def _is_name(name: Any) -> bool:
    return isinstance(name, str | int | np.integer) and not isinstance(name, bool)


def _by_column(parameter: str, given: Any, names: list[Any] | None) -> dict[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if names is not None and len(names) > 1:
            raise ParameterError(parameter, "must be a dict with the names of the columns", brief(given))
        return {None if names is None else names[0]: given}
    if not given:
        raise ParameterError(parameter, "must name a column", "none")
    for name in given:
        if names is not None and name not in names:
            raise ParameterError(parameter, "must be given for the columns that are counted", brief(name))
    return dict(given)


def _categories(x: Any, name: Name, given: Any) -> Categories:
    """A list, or a dict from what stands in the cells to what it is called."""
    listed = _declared(x, name) if isinstance(given, str) and given == DECLARED else given
    labels = tuple(map(str, given.values())) if isinstance(given, Mapping) else None
    if listed is None:
        rule = (
            f"must be a list for each column, or {DECLARED!r} where the frame declares them: none are read off the data"
        )
        raise ParameterError("categories", rule, f"none for {brief(name)}")
    try:
        keys = checked_keys(list(listed) if isinstance(given, Mapping) else listed)
    except ParameterError as error:
        rule = error.rule.replace("the groups' keys", "categories").replace(" groups", " categories")
        raise ParameterError("categories", rule, error.value) from None
    if OTHER in keys.names:
        raise ParameterError("categories", f"must not have the name of the last cell, {OTHER!r}", brief(OTHER))
    return Categories(name, keys.names, keys, labels=labels)


def _declared(x: Any, name: Name) -> list[Any]:
    """What the caller has declared for the frame's column: pandas' categories, polars' Enum; nothing from cells."""
    rule = (
        f"must be listed: {DECLARED!r} takes those of a pandas column of categories, or of a polars Enum, which the "
        "caller has declared without the data"
    )
    library = type(x).__module__.split(".")[0]
    if library not in ("pandas", "polars"):
        raise ParameterError("categories", rule, f"{DECLARED!r} with {type(x).__name__}")
    try:
        kind = x.dtype if name is None else x.collect_schema()[name] if library == "polars" else x[name].dtype
        declared = kind.categories
    except (AttributeError, KeyError, TypeError):
        declared = None
    if declared is None or (library == "polars" and type(kind).__name__ != "Enum"):
        raise ParameterError("categories", rule, "a column that declares none")
    return list(declared)


def _intervals(name: Name, given: Any) -> Categories:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) < 2:
        raise ParameterError("edges", "must be a list of two or more numbers, ascending", brief(given))
    ends = [rational("edges", edge) for edge in given]
    floats = tuple(float(end) for end in ends)
    if any(a >= b for a, b in pairwise(floats)):
        raise ParameterError("edges", "must be a list of two or more numbers, ascending", brief(list(given)))
    pairs = list(zip(map(show, ends[:-1]), map(show, ends[1:]), strict=True))
    names = [f"[{a}, {b})" for a, b in pairs[:-1]] + [f"[{pairs[-1][0]}, {pairs[-1][1]}]"]
    return Categories(name, tuple(names), None, floats)


# The columns that are asked for, of any table.


class Apart(NamedTuple):
    """Columns that are not counted: the name of one, or a cell for each row."""

    by: Any = None
    keys: Keys | None = None
    person: Any = None
    per_person: Any = "mean"


def category_records(x: Any, asked: Sequence[Question], relation: Relation, apart: Apart) -> Records:
    """One record for each row, or person, with the number of its category in every column, or its value.

    What raises is the schema, and under a swap that there is no record; never a cell.
    """
    columns = list({one.column: one for question in asked for one in question.columns}.values())
    for parameter, given in (("by", apart.by), ("person", apart.person)):
        if isinstance(given, str) and given in [one.column for one in columns]:
            raise ParameterError(parameter, "must not be one of the columns that are counted", brief(given))
    if is_lazy(x):
        return _in_passes(x, columns, relation, apart)
    cells, by, person = _taken(x, columns, relation, apart)
    groups = None if apart.keys is None else apart.keys.places(by)
    if person is not None:
        cells, groups = _of_persons(cells, columns, groups, person, apart.per_person, relation)
    if not len(cells) and not relation.secret:
        raise ParameterError("x", "must have at least one row", "none")
    table = Table(cells, tuple(one.title for one in columns))
    return Records(table, relation, groups, apart.keys, _title(apart.by))


def _title(by: Any) -> str | None:
    return None if by is None else by if isinstance(by, str) else str(getattr(by, "name", None) or "group")


def _taken(
    x: Any, columns: Sequence[Categories], relation: Relation, apart: Apart
) -> tuple[FloatArray, list[Any], list[Any] | None]:
    """The columns as numbers, the cells of `by` and those of `person`, all from one reading."""
    named = [given for given in (apart.by, apart.person) if isinstance(given, str)]
    if isinstance(x, Source):
        read, cells = _from_source(x, columns, named)
    else:
        cells = {name: _cells_of(x, name, "by" if name == apart.by else "person", relation) for name in named}
        read = [_numbers(_cells_of(x, one.column, "column", relation), one) for one in columns]
    n = len(read[0])
    found = []
    for parameter, given, what in (("by", apart.by, "key"), ("person", apart.person, "id")):
        one = cells[given] if isinstance(given, str) else None if given is None else _beside(given, parameter, what)
        if one is not None and len(one) != n:
            rule = f"must name a column, or have one {what} for each row"
            raise ParameterError(parameter, rule, "another number of them")
        found.append(one)
    return np.column_stack(read), found[0] or [], found[1]


def _from_source(
    x: Source, columns: Sequence[Categories], named: list[str]
) -> tuple[list[FloatArray], dict[str, list[Any]]]:
    """Of a file: what is compared as it stands, what is measured as its declaration says; one reading."""
    for one in columns:
        if one.column not in x.names:
            raise ParameterError("column", "must name a column of x", brief(one.column))
    for name in named:
        if name not in x.names:
            raise ParameterError("by", "must name a column of x, and so must person", brief(name))
    texts = [*(str(one.column) for one in columns if one.keys is not None), *named]
    texts = list(dict.fromkeys(texts))
    measured = [str(one.column) for one in columns if one.keys is None]
    part = x[measured or texts[:1]]  # type: ignore[index]
    table, found = part.with_cells(*texts) if texts else (part.table(), [])
    cells = dict(zip(texts, found, strict=True))
    read = [
        table.cells[:, measured.index(str(one.column))] if one.keys is None else _numbers(cells[str(one.column)], one)
        for one in columns
    ]
    return read, cells


def _cells_of(x: Any, name: Name, parameter: str, relation: Relation) -> list[Any]:
    """A column's cells as they are."""
    if name is None:
        return _beside(x, "x", "value")
    if isinstance(name, str):
        return cells_of_column(x, name, parameter)
    place = int(name)
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.names is None:
        if not 0 <= place < x.shape[1]:
            raise ParameterError(parameter, f"must be from 0 to {x.shape[1] - 1}", place)
        return key_cells(x[:, place], parameter, "value")
    if isinstance(x, list | tuple):
        if relation.secret:
            require_columns_without_rows(x)
        width = width_of_rows(x) or 1
        if not 0 <= place < width:
            raise ParameterError(parameter, f"must be from 0 to {width - 1}", place)
        rows = (list(row) if isinstance(row, list | tuple | np.ndarray) else [] for row in x)
        return [row[place] if place < len(row) <= width else None for row in rows]
    raise ParameterError(parameter, "must be a name where columns have names", place)


def _beside(given: Any, parameter: str, what: str) -> list[Any]:
    """A column by itself."""
    if isinstance(given, Source) and len(given.columns) == 1:
        return given.with_cells(given.columns[0])[1][0]
    return key_cells(given, parameter, what)


def _numbers(cells: list[Any], one: Categories) -> FloatArray:
    """Of a column's categories, NaN for none of them; or its values."""
    if one.keys is None:
        return read_cells(cells)
    places = one.keys.places(cells)
    return np.where(places < 0, np.nan, places)


# Persons: one record for each (docs/proofs/persons.md).


def _of_persons(
    cells: FloatArray,
    columns: Sequence[Categories],
    groups: IntArray | None,
    ids: list[Any],
    per_person: Any,
    relation: Relation,
) -> tuple[FloatArray, IntArray | None]:
    """A person's category is that of their rows if these agree, and else none; a value is made by the public rule."""
    numbers = person_numbers(ids)
    count = int(numbers.max(initial=NOBODY)) + 1
    if not count and not relation.secret:
        raise ParameterError("person", "must have an id in at least one row", "none")
    measured = tuple(one.title for one in columns if one.keys is None)
    rules = dict(zip(measured, checked_rules(per_person, len(measured), measured), strict=True))
    found = []
    for j, one in enumerate(columns):
        if one.keys is None:
            ends = None if one.ends is None else (np.array(one.ends[:1]), np.array(one.ends[1:]))
            found.append(one_row_each(cells[:, j : j + 1], numbers, count, ends, [rules[one.title]])[:, 0])
        else:
            places = np.where(np.isnan(cells[:, j]), -1.0, cells[:, j]).astype(np.int64)
            agreed = group_of_each(places, numbers, count)
            found.append(np.where(agreed < 0, np.nan, agreed))
    return np.column_stack(found), None if groups is None else group_of_each(groups, numbers, count)


# Lazy frames: the columns that are compared come last, as numbers of their categories, those of groups at the very end.


def _in_passes(x: Any, columns: Sequence[Categories], relation: Relation, apart: Apart) -> Records:
    if apart.person is not None:
        raise ParameterError("person", "must be left out with a lazy frame: collect it first", brief(apart.person))
    names = [one.column for one in columns]
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("column", "must be the name of a column of a lazy frame", brief(names[0]))
    compared = [(one.column, one.keys) for one in columns if one.keys is not None]
    compared += [] if apart.keys is None else [(apart.by, apart.keys)]
    last, known = tuple(name for name, _ in compared), tuple(keys for _, keys in compared)
    table: LazyTable = lazy_table(x, last, known, secret=relation.secret, only=tuple(map(str, names)))
    return Records(table, relation, None, apart.keys, apart.by)


def places_of(columns: Sequence[Categories], lazy: bool) -> dict[Name, int]:
    """Where each column stands among the cells of records."""
    order = sorted(columns, key=lambda one: one.keys is not None) if lazy else columns
    return {one.column: j for j, one in enumerate(order)}
