"""One record for each person of a lazy frame: the engine groups rows by person and adds up integers.

Cells become integers row by row before anything is added up, so that a person's record is a function of that person's
rows, whatever order and threads the engine has: it adds, counts and compares, and never averages floats or takes a
first row (docs/proofs/persons.md). What comes back, one row for each person, is held in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tukeydp.data.engines.batches import checked_names, group_numbers
from tukeydp.data.keys import Keys
from tukeydp.data.tables import Table, floats
from tukeydp.trusted.parameters import INTERRUPTIONS, FloatArray, IntArray, ParameterError

_RULES = ("mean", "sum", "min", "max")
# Steps from the middle of the bounds to either end. Floats that hold integers: sums of a person's rows are exact, in
# any order, up to 2^29 of them, and engines without whole numbers that may be missing can add them too.
_STEPS = 2.0**24
_COUNT, _LOW, _HIGH = "count", "low", "high"  # names of what the engine returns, beside numbers of columns


def persons_in_engine(
    x: Any, person: str, by: str | None, keys: Keys | None, ends: Any, rules: Any, fewest: int
) -> tuple[Table, IntArray | None]:
    """The table of persons and the number of each one's group; `ends` and `rules` are made from the columns' names."""
    if type(x).__module__.split(".")[0] == "narwhals":
        x = x.to_native()
    engine = type(x).__module__.split(".")[0].removeprefix("_")
    try:
        names, _ = checked_names(x, *(name for name in (by, person) if name is not None))
        measured = names[: -1 - (by is not None)]
        bounds, chosen = ends(measured), rules(measured)
        _require_sums(chosen)
        found = _grouped(x, person, by, keys, measured, bounds, chosen)
    except (ParameterError, *INTERRUPTIONS):
        raise
    except BaseException as error:  # its words may quote a cell
        rule = "must be a frame that can be grouped by person; nothing was spent"
        raise ParameterError("x", rule, f"{type(error).__name__} from {engine}") from None
    if found.num_rows < fewest:
        raise ParameterError("person", "must have an id in at least one row", "none")
    columns = [_values(found, j, *one) for j, one in enumerate(zip(chosen, *bounds, strict=True))]
    groups = None if keys is None else _groups(found, keys)
    return Table(np.column_stack(columns), measured), groups


def _require_sums(rules: Sequence[str]) -> None:
    for rule in rules:
        if rule not in _RULES:
            reason = f"must be {', '.join(_RULES)} on a lazy frame: an engine keeps no order of rows, and adds integers"
            raise ParameterError("per_person", reason, rule)


def _grouped(
    x: Any, person: str, by: str | None, keys: Keys | None, names: Sequence[str], bounds: Any, rules: Sequence[str]
) -> Any:
    """An Arrow table with a row for each person."""
    import narwhals.stable.v2 as nw

    asked = []
    for j, (name, low, high) in enumerate(zip(names, *bounds, strict=True)):
        cell = nw.col(name).cast(nw.Float64)
        there = nw.when(~cell.is_nan()).then(cell)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        steps = ((there.clip(low, high) - middle) / half * _STEPS).round()
        asked.append(steps.alias(f"{j}"))
    kept = [nw.col(person).alias("person"), *asked]
    if by is not None:
        kept.append(nw.col(by).alias("by"))
    frame = nw.from_native(x).select(*kept).filter(~nw.col("person").is_null())
    found = []
    for j, rule in enumerate(rules):
        one = nw.col(f"{j}")
        found.append((one.min() if rule == "min" else one.max() if rule == "max" else one.sum()).alias(f"{j}"))
        found.append(one.count().alias(f"{_COUNT} {j}"))
    if by is not None and keys is not None:
        frame = frame.with_columns(nw.when(nw.col("by").is_in(_listed(frame, keys))).then(nw.col("by")).alias("by"))
        found += [nw.col("by").min().alias(_LOW), nw.col("by").max().alias(_HIGH)]
    return frame.group_by("person").agg(*found).collect().to_arrow()


def _listed(frame: Any, keys: Keys) -> list[Any]:
    """The keys as cells of the column of groups, by its declared type."""
    numeric = frame.collect_schema()["by"].is_numeric()
    return [label for label in keys.labels if isinstance(label, float)] if numeric else list(keys.names)


def _values(found: Any, j: int, rule: str, low: float, high: float) -> FloatArray:
    """In data units, clipped; NaN where a person has no value."""
    total, count = (floats(found.column(name)) for name in (f"{j}", f"{_COUNT} {j}"))
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    with np.errstate(all="ignore"):
        each = total / count if rule == "mean" else total
        value = half * each / _STEPS + (middle * count if rule == "sum" else middle)
        return np.where(count > 0, np.clip(value, low, high), np.nan)


def _groups(found: Any, keys: Keys) -> IntArray:
    """The group that all of a person's rows with a listed key name; -1 for none."""
    first, last = (group_numbers(found.column(name), keys) for name in (_LOW, _HIGH))
    return np.where(first == last, first, -1.0).astype(np.int64)
