"""The engines, each with its workers: started here, asked for a frame of a Parquet file, and stopped again."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tukeydp as td

Opens = Callable[[Path], Any]
# MiB of Java's heap. With its 500 MiB beside the heap and three Python processes the whole stays below 2 GiB.
_HEAP = 640
# Dask lets its workers' allocator hand all memory above 64 KiB back to the system at once, and arrays of a batch are
# larger: three to five times the CPU seconds (docs/guide/larger-than-memory.md).
ALLOCATOR = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**24,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**22,
}


@contextmanager
def engine(name: str, workers: int, memory: int) -> Iterator[Opens]:
    """What opens a file lazily, while the engine runs; chunks keep so many MiB between passes."""
    if name == "chunks":
        yield lambda path: td.chunks(path, memory=memory)
        return
    with {"polars": _polars, "duckdb": _duckdb, "dask": _dask, "spark": _spark}[name](workers) as opens:
        yield opens


def without(name: str) -> str | None:
    """Why an engine is left out, if it is."""
    packages = {"polars": "polars", "duckdb": "duckdb", "dask": "distributed", "spark": "pyspark"}
    try:
        __import__(packages[name])
    except ImportError:
        return f"{packages[name]} is not installed: pip install 'tukeydp[{name}]'"
    if name == "spark" and shutil.which("java") is None:
        return "no Java runtime: apt-get install default-jre-headless"
    return None


@contextmanager
def _polars(workers: int) -> Iterator[Opens]:
    import polars as pl

    yield pl.scan_parquet


@contextmanager
def _duckdb(workers: int) -> Iterator[Opens]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("set memory_limit = '512MB'")
    yield lambda path: connection.sql(f"select * from read_parquet('{path}')")
    connection.close()


@contextmanager
def _dask(workers: int) -> Iterator[Opens]:
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        dask.config.set(ALLOCATOR),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="1GiB"
        ) as cluster,
        Client(cluster),
        dask.config.set(scheduler="dask.distributed"),
    ):
        # A row group is a partition: what a worker holds at a time.
        yield lambda path: dd.read_parquet(path, split_row_groups=True)


def small_partitions(count: int) -> Any:
    import dask.dataframe as dd

    return dd.from_map(_few_rows, range(count), meta=_few_rows(0).iloc[:0])


def _few_rows(number: int) -> Any:
    import pandas as pd

    return pd.DataFrame(np.random.default_rng(number).normal(size=(100, 5)), columns=[f"x{j}" for j in range(5)])


@contextmanager
def _spark(workers: int) -> Iterator[Opens]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    logging.getLogger("py4j").setLevel(logging.ERROR)
    session = (
        SparkSession.builder.master(f"local[{workers}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", f"{_HEAP}m")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield lambda path: session.read.parquet(os.fspath(path))
    session.stop()


def partitions(name: str, frame: Any) -> list[Any]:
    """The cells of each partition in memory, as the engine cuts them; one for those that have none."""
    if name == "polars":
        return [frame.collect().to_numpy()]
    if name == "duckdb":
        return [frame.df().to_numpy()]
    if name == "dask":
        return [part.compute().to_numpy() for part in frame.partitions]
    from pyspark.sql.functions import spark_partition_id

    rows = frame.withColumn("part", spark_partition_id()).toPandas()
    parts, cells = rows.pop("part").to_numpy(), rows.to_numpy()
    return [cells[parts == number] for number in np.unique(parts).tolist()]
