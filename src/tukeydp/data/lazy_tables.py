"""Tables that stay where they are: lazy frames of several engines, read in passes.

Invariant (docs/proofs/out-of-core.md): a pass adds up arrays of integers, one for each batch of rows, and every row is
in exactly one batch of it. What a batch gives is computed where the batch is, by our own code, from its rows and from
secret draws that are made there and used there. Integers add up to the same in any order, so neither the engine's
order nor its threads can reach a result; and a draw is never a column, so that no engine can draw it twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from tukeydp.data.engines import dask_frames, duckdb_relations, ibis_tables, polars_frames, spark_frames
from tukeydp.data.engines.batches import Read, checked_names, only_columns
from tukeydp.data.files import read
from tukeydp.data.keys import Keys
from tukeydp.extras import missing
from tukeydp.trusted.parameters import INTERRUPTIONS, SPENT, ParameterError, brief
from tukeydp.trusted.sums import Kernel, Pass

# Floats that plans are made of hold such numbers exactly; the limbs of sums stay far below 64 bits.
MOST_ROWS = 2**40

# Package and class that a lazy frame is known by -> what opens it. A new engine is one file and one line here.
_ENGINES: dict[tuple[str, str], Callable[[Any, tuple[str, ...], tuple[str, ...], tuple[Keys, ...]], Read]] = {
    ("polars", "LazyFrame"): polars_frames.opened,
    ("duckdb", "DuckDBPyRelation"): duckdb_relations.opened,
    ("_duckdb", "DuckDBPyRelation"): duckdb_relations.opened,  # where the class says it is from, by version
    ("dask", "DataFrame"): dask_frames.opened,
    ("dask_expr", "DataFrame"): dask_frames.opened,
    ("pyspark", "DataFrame"): spark_frames.opened,
    ("ibis", "Table"): ibis_tables.opened,
}


def _kind(x: Any) -> tuple[str, str]:
    """The first of its classes that is known here, or its own: a join of Ibis is a table, too."""
    kinds = [(kind.__module__.split(".")[0], kind.__name__) for kind in type(x).__mro__]
    return next((kind for kind in kinds if kind in _ENGINES), kinds[0])


_FOLDERS = ("*", "?", "[")  # marks of a pattern that several files may match


def from_path(x: Any, columns: Iterable[str] | None) -> Any:
    """A file by its path, files by a pattern or a folder, or an Arrow dataset, as a table that mechanisms take.

    Parquet files and datasets are read in passes, by polars or DuckDB; other files are read by `td.read`. Of their
    columns those that `columns` names are used, all where it is None. Anything else is returned as it is.
    """
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(x).__mro__}
    if "pyarrow._dataset.Dataset" in kinds:
        return _selected(_scanned(x), columns)
    if not isinstance(x, str | os.PathLike) or str(x) == "-":
        return x
    name = str(x)
    if name.lower().endswith((".parquet", ".pq")) or Path(name).is_dir():
        return _selected(_scanned(name), columns)
    if any(mark in name for mark in _FOLDERS):
        rule = "must be one file, or a pattern of Parquet files (folder/*.parquet)"
        raise ParameterError("x", rule, repr(name))
    return read(name, None if columns is None else list(columns))


def _scanned(files: Any) -> Any:
    """A lazy frame of Parquet files, or of a dataset, whose schema can be read; by polars, or else by DuckDB."""
    path = isinstance(files, str)
    if path and Path(files).is_dir():
        files = str(Path(files) / "*.parquet")
    by_polars = find_spec("polars") is not None
    if not by_polars and find_spec("duckdb") is None:
        raise missing("x", "polars or DuckDB to read Parquet files in passes", "duckdb")
    try:
        if by_polars:
            import polars

            frame = polars.scan_parquet(files) if path else polars.scan_pyarrow_dataset(files)
            frame.collect_schema()
            return frame
        import duckdb

        return duckdb.read_parquet(files) if path else duckdb.from_arrow(files)
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # its words may quote the file
        raise ParameterError("x", "must be Parquet files that can be read", type(error).__name__) from None


def _selected(frame: Any, columns: Iterable[str] | None) -> Any:
    if columns is None:
        return frame
    import narwhals.stable.v2 as nw

    lazy, wanted = nw.from_native(frame), list(columns)
    lacking = [name for name in wanted if name not in lazy.collect_schema().names()]
    if lacking:
        raise ParameterError("x", "must have the columns that are named", repr(lacking[0]))
    return lazy.select(*wanted).to_native()


def is_lazy(x: Any) -> bool:
    """Whether `x` is a lazy frame of an engine that is known here; nothing is computed."""
    return _kind(x) in _ENGINES or _kind(x) == ("narwhals", "LazyFrame")


def features_of(x: Any, y: Any, *apart: Any) -> list[str]:
    """The columns of a lazy frame but for the answers and those that are `apart`."""
    import narwhals.stable.v2 as nw

    names = [str(name) for name in nw.from_native(x).collect_schema() if name not in apart]
    if not isinstance(y, str) or y not in names or len(names) < 2:
        raise ParameterError("y", "must be the name of one of several columns of a lazy frame", brief(y))
    return [name for name in names if name != y]


@dataclass(frozen=True)
class LazyTable:
    """n rows, d columns, read in passes. Shape and names are public, as those of a table in memory.

    The columns `by` are not measured: each is compared with its keys, those of groups last. `secret`: nobody is told n.
    """

    n: int
    columns: tuple[str, ...]
    engine: str
    read: Read
    by: tuple[str, ...] = ()
    keys: tuple[Keys, ...] = ()
    secret: bool = False

    @property
    def d(self) -> int:
        return len(self.columns)

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells about its table."""
        return {"n": self.n, "d": self.d, "columns": self.columns}

    def total(self, *kernels: Kernel) -> list[list[int]]:
        """What each kernel gives, added up over all rows in one pass: exact, whatever the number of rows."""
        one = Pass(kernels, (*self.columns, *self.by), self.keys)
        try:
            rows, found = one.whole(self.read(one))
        except INTERRUPTIONS:
            raise
        except BaseException as error:  # an engine's message may quote the cells that it failed at
            _failed(self.engine, error)
        # Where n is public, so is whether a pass has as many rows; where it is secret, nobody looks.
        if rows != self.n and not self.secret:
            rule = f"must give the same rows in every pass; {SPENT}"
            raise ParameterError("x", rule, f"another number of rows from {self.engine}")
        return found


def _failed(engine: str, error: BaseException) -> NoReturn:
    rule = f"must be readable to its end; {SPENT}"
    raise ParameterError("x", rule, f"{type(error).__name__} from {engine}") from None


def lazy_table(
    x: Any, by: Any = (), keys: tuple[Keys, ...] = (), *, secret: bool = False, only: tuple[str, ...] | None = None
) -> LazyTable:
    """`x` with its schema checked and its rows counted; no cell is used here. `only`: of these columns, and `by`.

    The schema and the number of rows may raise, and both are public; so may a query that its engine fails to count.
    """
    if _kind(x)[0] == "narwhals":
        x = x.to_native()
    engine = _kind(x)[0].removeprefix("_")
    for name in by:
        if not isinstance(name, str):
            raise ParameterError("by", "must be the name of a column of a lazy frame", type(name).__name__)
    try:
        if only is not None:
            x = only_columns(x, tuple(dict.fromkeys([*only, *by])))
        names, n = checked_names(x, *by, fewest=1 if only is None else 0)
        read = _ENGINES[_kind(x)](x, names, by, keys)
    except (ParameterError, *INTERRUPTIONS):
        raise
    except BaseException as error:  # its words may quote a cell
        rule = "must be a frame that can be read; nothing was spent"
        raise ParameterError("x", rule, f"{type(error).__name__} from {engine}") from None
    if n < 1 and not secret:
        raise ParameterError("x", "must have at least one row and one column", f"shape {(n, len(names))}")
    if n >= MOST_ROWS:
        raise ParameterError("x", f"must have fewer than {MOST_ROWS} rows", n)
    return LazyTable(n, names[: len(names) - len(by)], engine, read, by, keys, secret)
