"""Dask: every partition is worked off by one task on its worker; what tasks give is added up as a tree.

A partition that is computed again, because its worker died, gives what it gave before where its rows stand in the same
order: draws are fixed by a secret key and the partition's number. Where they do not, still only one of the two results
can reach the root: each task's result is one array, and each is used by one other task.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.data.engines.batches import Pass, Read
from tukeydp.data.keys import Keys, key_cells
from tukeydp.data.tables import read_frame
from tukeydp.trusted.parameters import FloatArray, IntArray

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
        compared = [_places(partition.iloc[:, first + j], known) for j, known in enumerate(keys)]
        measured = [_cells(partition.iloc[:, :first], names[:first], ())] if first else []
        return np.column_stack([*measured, *compared])
    return read_frame(partition, "x").cells


def _places(column: Any, keys: Keys) -> FloatArray:
    codes, values = column.factorize()
    places = keys.places(key_cells(values)).astype(np.float64)
    known = np.append(np.where(places < 0, np.nan, places), np.nan)  # -1, the last, for missing cells
    return np.asarray(known[codes])


def _sum(parts: list[IntArray]) -> IntArray:
    """Nothing, if one of them is nothing: a partition that could not be read."""
    if not all(map(len, parts)):
        return np.empty(0, dtype=np.int64)
    return np.asarray(np.sum(parts, axis=0))
