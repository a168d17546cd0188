"""Dask: every partition is worked off by one task on its worker; what tasks give is added up as a tree.

A partition that is computed again, because its worker died, gives what it gave before where its rows stand in the same
order: draws are fixed by a secret key and the partition's number. Where they do not, still only one of the two results
can reach the root: each task's result is one array, and each is used by one other task.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.data.engines.batches import Read
from tukeydp.data.keys import NO_GROUP, Keys, key_cells
from tukeydp.data.persons import identity
from tukeydp.data.tables import read_frame
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.sums import Pass

_FAN_IN = 8  # results that one task adds up


def opened(x: Any, names: tuple[str, ...], by: tuple[str, ...] = (), keys: tuple[Keys, ...] = ()) -> Read:
    labels = {str(label): label for label in x.columns}
    return lambda one: _added_up(x[[labels[name] for name in names]], one)


def _added_up(frame: Any, one: Pass) -> IntArray:
    import dask

    work, plus = dask.delayed(_of_partition, pure=False), dask.delayed(_sum, pure=False)
    parts = [work(partition, one, i) for i, partition in enumerate(frame.to_delayed())]
    while len(parts) > 1:
        parts = [plus(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    total: IntArray = parts[0].compute()
    if not len(total):
        raise ValueError("a partition is not like its table")
    return total


def _of_partition(partition: Any, one: Pass, number: int) -> IntArray:
    try:
        return one.of([_cells(partition, one.columns, one.keys)], number)
    except Exception:  # raised here, a worker would log it, with the partition's cells
        return np.empty(0, dtype=np.int64)


def _cells(partition: Any, names: tuple[str, ...], keys: tuple[Keys, ...]) -> FloatArray:
    if tuple(str(label) for label in partition.columns) != names:
        raise ValueError("other columns")
    if keys:
        first = len(names) - len(keys)
        compared = [_numbers(partition.iloc[:, first + j], known) for j, known in enumerate(keys)]
        measured = [_cells(partition.iloc[:, :first], names[:first], ())] if first else []
        return np.column_stack([*measured, *compared])
    return read_frame(partition, "x").cells


def _numbers(groups: Any, keys: Keys) -> FloatArray:
    places = _places(groups, keys)
    return np.where(places < 0, np.nan, places)


def _places(groups: Any, keys: Keys) -> IntArray:
    if groups.dtype == object:  # factorize takes 1 and True for one value, the first that it meets, and lists for none
        return keys.places(key_cells(groups))
    codes, values = groups.factorize()
    return np.append(keys.places(key_cells(values)), NO_GROUP)[codes]  # -1, the last, for missing cells


def read_by_row(x: Any, measured: tuple[str, ...], person: str, by: str | None, keys: Keys | None) -> Any:
    """The frame with floats in place of measured cells, and a text for each row's id and key: objects are read here."""
    import pandas as pd

    labels = {str(label): label for label in x.columns}
    apart = [labels[name] for name in (by, person) if name is not None]
    kinds: dict[str, Any] = dict.fromkeys(measured, float) | {str(label): object for label in apart}
    meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    chosen = x[[*(labels[name] for name in measured), *apart]]
    return chosen.map_partitions(_read, len(measured), keys, meta=meta)


def _read(partition: Any, d: int, keys: Keys | None) -> Any:
    import pandas as pd

    found = {str(name): partition.iloc[:, j] for j, name in enumerate(partition.columns)}
    *by, person = list(found)[d:]
    cells = read_frame(partition.iloc[:, :d], "x").cells
    texts = {name: _names(found[name], keys) for name in by if keys is not None}
    texts[person] = [None if cell is None else str(cell) for cell in map(identity, key_cells(found[person]))]
    columns = {name: cells[:, j] for j, name in enumerate(list(found)[:d])}
    return pd.DataFrame(columns | {name: pd.Series(texts[name], dtype=object).to_numpy() for name in (*by, person)})


def _names(groups: Any, keys: Keys) -> list[str | None]:
    return [None if place < 0 else str(keys.labels[place]) for place in _places(groups, keys).tolist()]


def _sum(parts: list[IntArray]) -> IntArray:
    """Nothing, if one of them is nothing: a partition that could not be read."""
    if not all(map(len, parts)):
        return np.empty(0, dtype=np.int64)
    return np.asarray(np.sum(parts, axis=0))
