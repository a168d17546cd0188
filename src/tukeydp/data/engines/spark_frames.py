"""Spark: every partition is worked off by one task of one stage, and its result comes straight to the driver.

Spark takes exactly one result for each partition of a job's last stage, however often a task is tried or speculated. No
shuffle follows the draws: one that is read in part from a first and in part from a second try of the same
partition would lose rows and count others twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tukeydp.data.engines.batches import Read, as_floats, matrices, require_told_apart
from tukeydp.data.keys import Keys
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.sums import Pass


def opened(x: Any, names: tuple[str, ...], by: tuple[str, ...] = (), keys: tuple[Keys, ...] = ()) -> Read:
    require_told_apart(names)
    frame = as_floats(x, names, by)
    if tuple(frame.columns) != names:  # asks for the plan's analysis, which a name with a dot may fail
        raise ValueError("other columns")
    return lambda one: _collected(frame, one)


def _collected(frame: Any, one: Pass) -> IntArray:
    total = one.of([])
    for row in frame.mapInArrow(_Partition(one), "part binary").collect():
        total += np.frombuffer(bytes(row[0]), dtype=np.int64)
    return total


class _Partition:
    """What a task does: all batches of its partition, one array of integers."""

    def __init__(self, one: Pass) -> None:
        self.one = one

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:  # without its number two partitions would have the same draws
            raise RuntimeError("not in a task of Spark")
        found = self.one.of(matrices(batches, self.one.keys), context.partitionId())
        yield pa.RecordBatch.from_pydict({"part": pa.array([found.tobytes()], pa.binary())})
