"""What is released, by which call: one job for each process; and that a seed gives what it gives in memory."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq

import tukeydp as td
from out_of_core.engines import engine, partitions, small_partitions
from out_of_core.made_up import bounds_of, write
from out_of_core.measured import cpu_seconds, highest_memory_mib
from tukeydp.data.lazy_tables import LazyTable, lazy_table
from tukeydp.trusted.streams.rows import StreamedRows
from tukeydp.trusted.sums import Pass

CENTRE = "td.boxem"
MEANS: dict[str, Callable[..., Any]] = {
    "td.mean": td.mean,
    "td.mean, subset": lambda x, **given: td.mean(x, mechanism="subset", **given),
    "td.cube": td.cube,
}
CALLS = {CENTRE: td.boxem, **MEANS}
LITTLE = 16  # MiB between passes for the comparison: so little that nothing is held whole


@dataclass(frozen=True)
class Job:
    """A call on an engine with so many workers; `td.boxem` is on chunks of the file."""

    engine: str
    workers: int
    call: str
    shape: str
    memory: int  # MiB that td.boxem keeps between passes
    partitions: int = 0  # of a few rows each, made up where they are: what Dask takes for its tasks alone

    def release(self, x: Any) -> Any:
        given: dict[str, Any] = {"epsilon": 1, "randomness": td.seeded(1), **bounds_of(self.shape)}
        if self.call == CENTRE and self.shape == "integers":
            given["resolution"] = 1
        return CALLS[self.call](x, **given)


def run(job: Job, path: Path) -> dict[str, Any]:
    """The child's work: a small call, which compiles and lets workers import, and the one that is measured."""
    with tempfile.TemporaryDirectory() as folder, engine(job.engine, job.workers, job.memory) as opens:
        small = Path(folder) / "small.parquet"
        write(small, 4000 * job.workers, len(pq.read_schema(path).names), job.shape, group=1000)
        job.release(opens(small))
        frame = small_partitions(job.partitions) if job.partitions else opens(path)
        with counted_passes() as passes:
            return _timed(lambda: job.release(frame), passes)


@contextmanager
def counted_passes() -> Iterator[list[str]]:
    """As many words as there were passes over the rows."""
    passes: list[str] = []

    def noted(kind: type, name: str) -> Any:
        plain = getattr(kind, name)

        def noting(self: Any, *given: Any) -> Any:
            passes.append(name)
            return plain(self, *given)

        return mock.patch.object(kind, name, noting)

    with noted(LazyTable, "total"), noted(StreamedRows, "blocks"):
        yield passes


def _timed(call: Callable[[], Any], passes: list[str]) -> dict[str, Any]:
    since, began = time.perf_counter(), cpu_seconds(os.getpid())
    release = call()
    clock, cpu = time.perf_counter() - since, cpu_seconds(os.getpid()) - began
    return {
        "mechanism": release.mechanism,
        "rows": release.n,
        "columns": release.d,
        "passes": len(passes),
        "clock_seconds": round(clock, 2),
        "cpu_seconds": round(cpu, 2),
        "rows_per_second": round(release.n / clock),
        "memory_mib": round(highest_memory_mib()),
    }


def compare(job: Job, path: Path) -> dict[str, Any]:
    """Equal seeds, by the engine and from memory: raises unless the points are equal bit by bit.

    `td.cube` and `td.boxem` beside the table in memory. Means of drawn blocks have another dealing there, so beside the
    same passes over rows that lie in memory, cut as the engine's partitions are.
    """
    with engine(job.engine, job.workers, LITTLE) as opens:
        frame = opens(path)
        found, expected = job.release(frame), _from_memory(job, frame, path)
    if found.point.tobytes() != expected.point.tobytes():
        raise SystemExit(f"{job.engine}, {job.call}: another point than from memory")
    return {"rows": found.n, "mechanism": found.mechanism}


def _from_memory(job: Job, frame: Any, path: Path) -> Any:
    if job.call in (CENTRE, "td.cube"):
        return job.release(pq.read_table(path))
    parts = partitions(job.engine, frame)

    def read(one: Pass) -> Any:
        # One place where the engine hands over batches to one process, one for each partition where it has workers.
        whole = job.engine in ("polars", "duckdb")
        return one.of(parts) if whole else sum(one.of([part], i) for i, part in enumerate(parts))

    with mock.patch("tukeydp.mechanisms.cube.lazy_table", lambda x: replace(lazy_table(x), read=read)):
        return job.release(frame)
