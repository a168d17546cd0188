"""One record for each person of a lazy frame: the engine groups rows by person and adds up integers.

Cells become integers row by row before anything is added up, so that a person's record is a function of that person's
rows, whatever order and threads the engine has: it adds, counts and compares, and never averages floats or takes a
first row (docs/proofs/persons.md). The type of a column may come from all of its cells, so that the engine reads none:
ids, keys and text are what rows are grouped by, and are read here, one by one, as in memory. What comes back, one row
for each person and each of that person's keys and texts, is held in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tukeydp.data.engines import dask_frames
from tukeydp.data.engines.batches import checked_names, require_no_patterns, require_told_apart, text_columns
from tukeydp.data.keys import Keys, arrow_keys
from tukeydp.data.persons import NOBODY, group_of_each, person_numbers
from tukeydp.data.tables import Table, floats, read_arrow_column
from tukeydp.trusted.parameters import INTERRUPTIONS, FloatArray, IntArray, ParameterError

_RULES = ("mean", "sum", "min", "max")
# Steps from the middle of the bounds to either end. Floats that hold integers: sums of a person's rows are exact, in
# any order, up to 2^29 of them, and engines without whole numbers that may be missing can add them too.
_STEPS = 2.0**24
_ROWS, _COUNT = "rows", "count"  # names of what the engine returns, beside numbers of columns


def persons_in_engine(
    x: Any, person: str, by: str | None, keys: Keys | None, ends: Any, rules: Any, fewest: int
) -> tuple[Table, IntArray | None]:
    """The table of persons and the number of each one's group; `ends` and `rules` are made from the columns' names."""
    if type(x).__module__.split(".")[0] == "narwhals":
        x = x.to_native()
    engine = type(x).__module__.split(".")[0].removeprefix("_")
    try:
        names, _ = checked_names(x, *(name for name in (by, person) if name is not None))
        require_no_patterns(names)
        if engine not in ("polars", "dask", "dask_expr"):
            require_told_apart(names)
        measured = names[: -1 - (by is not None)]
        bounds, chosen = ends(measured), rules(measured)
        _require_sums(chosen)
        if engine.startswith("dask"):
            x = dask_frames.read_by_row(x, measured, person, by, keys)
        asked = [_Asked(*one) for one in zip(measured, chosen, *bounds, strict=True)]
        found = _grouped(x, person, by, asked)
    except (ParameterError, *INTERRUPTIONS):
        raise
    except BaseException as error:  # its words may quote a cell
        rule = "must be a frame that can be grouped by person; nothing was spent"
        raise ParameterError("x", rule, f"{type(error).__name__} from {engine}") from None
    # One person may have written an id in several ways, and have several keys.
    persons = person_numbers(arrow_keys(found.column("person")))
    count = int(persons.max(initial=NOBODY)) + 1
    if count < fewest:
        raise ParameterError("person", "must have an id in at least one row", "none")
    columns = [_values(found, j, one, persons, count) for j, one in enumerate(asked)]
    groups = None if keys is None else group_of_each(keys.places(arrow_keys(found.column("by"))), persons, count)
    return Table(np.column_stack(columns), measured), groups


class _Asked(NamedTuple):
    """A measured column."""

    name: str
    rule: str
    low: float
    high: float

    @property
    def middle(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> float:
        return self.high / 2 - self.low / 2


def _require_sums(rules: Sequence[str]) -> None:
    for rule in rules:
        if rule not in _RULES:
            reason = f"must be {', '.join(_RULES)} on a lazy frame: an engine keeps no order of rows, and adds integers"
            raise ParameterError("per_person", reason, rule)


def _grouped(x: Any, person: str, by: str | None, asked: Sequence[_Asked]) -> Any:
    """An Arrow table with a row for each person, key and texts; numbers are added up."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(x)
    texts = text_columns(frame.collect_schema())
    kept = [nw.col(person).alias("person"), *([] if by is None else [nw.col(by).alias("by")])]
    grouped = ["person", *([] if by is None else ["by"])]
    found = [nw.len().alias(_ROWS)]
    for j, (name, rule, low, high) in enumerate(asked):
        one, label = nw.col(name), f"{j}"
        if name in texts:
            kept.append(one.alias(label))
            grouped.append(label)
            continue
        cell = one.cast(nw.Float64)
        there = nw.when(~cell.is_nan()).then(cell)
        steps = (there.clip(low, high) - asked[j].middle) / asked[j].half * _STEPS
        # Not `round`: which of two neighbours a number in the middle between them becomes, every engine says itself.
        kept.append(((steps + 0.5).floor() if hasattr(steps, "floor") else steps.round()).alias(label))
        one = nw.col(label)
        found.append((one.min() if rule == "min" else one.max() if rule == "max" else one.sum()).alias(label))
        found.append(one.count().alias(f"{_COUNT} {j}"))
    frame = frame.select(*kept).filter(~nw.col("person").is_null())
    return frame.group_by(*grouped).agg(*found).collect().to_arrow()


def _values(found: Any, j: int, asked: _Asked, persons: IntArray, count: int) -> FloatArray:
    """In data units, clipped; NaN where a person has no value."""
    added = asked.rule in ("mean", "sum")
    if f"{_COUNT} {j}" in found.column_names:
        steps, values = (floats(found.column(name)) for name in (f"{j}", f"{_COUNT} {j}"))
    else:
        cells, rows = read_arrow_column(found.column(f"{j}")).values, floats(found.column(_ROWS))
        steps = np.floor((np.clip(cells, asked.low, asked.high) - asked.middle) / asked.half * _STEPS + 0.5)
        steps, values = steps * rows if added else steps, np.where(np.isnan(cells), 0.0, rows)
    there = (persons >= 0) & (values > 0)
    owners, steps, values = persons[there], steps[there], values[there]
    number = np.bincount(owners, values, count)
    if added:
        total = np.bincount(owners, steps, count)
    else:
        total = np.full(count, np.inf if asked.rule == "min" else -np.inf)
        (np.minimum if asked.rule == "min" else np.maximum).at(total, owners, steps)
    with np.errstate(all="ignore"):
        each = total / number if asked.rule == "mean" else total
        value = asked.half * each / _STEPS + (asked.middle * number if asked.rule == "sum" else asked.middle)
        return np.where(number > 0, np.clip(value, asked.low, asked.high), np.nan)
