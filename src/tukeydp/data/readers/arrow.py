"""Parquet and Arrow (Feather) files, by pyarrow: column by column into the table, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.arrow_columns import check_type, floats
from tukeydp.data.key_columns import arrow_keys, check_key_type
from tukeydp.data.readers.columns import places_in_schema
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import KIND_NAMES, InMemory, check_kind, name_of
from tukeydp.errors import ParameterError
from tukeydp.extras import missing

_ROWS_AT_A_TIME = 1 << 16  # what is held twice


@contextmanager
def guarded(wanted: str, path: Path | str) -> Iterator[None]:
    """pyarrow's messages may quote cells: every failure becomes one sentence."""
    try:
        yield
    except (ParameterError, MemoryError):
        raise
    except ImportError:
        raise missing("FILE", "pyarrow", "files", name_of(path)) from None
    except Exception:
        rule = f"must be {KIND_NAMES[wanted]} that can be read; it is damaged or cut off"
        raise ParameterError("FILE", rule, name_of(path)) from None


Batches = Callable[[list[str]], Iterable[Any]]  # the named columns, a batch of rows at a time


def read_parquet(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> FloatArray:
    with guarded("parquet", path):
        return _read(*_parquet(stream, options, path), columns, options)


def names_in_parquet(stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    with guarded("parquet", path):
        return list(_parquet(stream, options, path)[0].names)


def _parquet(stream: IO[bytes], options: ReadOptions, path: Path | str) -> tuple[Any, Batches]:
    check_kind(cast(Any, stream).peek(16), "parquet", options, path)
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(seekable(stream, path))
    return file.schema_arrow, lambda names: file.iter_batches(_ROWS_AT_A_TIME, columns=names)


def read_arrow(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> FloatArray:
    with guarded("arrow", path):
        return _read(*_arrow(stream, options, path), columns, options)


def names_in_arrow(stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    with guarded("arrow", path):
        return list(_arrow(stream, options, path)[0].names)


def _arrow(stream: IO[bytes], options: ReadOptions, path: Path | str) -> tuple[Any, Batches]:
    start = cast(Any, stream).peek(16)
    check_kind(start, "arrow", options, path)
    import pyarrow.ipc

    source = seekable(stream, path)
    if not start.startswith(b"ARROW1"):
        reader = pyarrow.ipc.open_stream(source)
        return reader.schema, lambda names: (batch.select(names) for batch in reader)
    file = pyarrow.ipc.open_file(source)
    batches = (file.get_batch(i) for i in range(file.num_record_batches))
    return file.schema, lambda names: (batch.select(names) for batch in batches)


def seekable(stream: IO[bytes], path: Path | str) -> Any:
    """What pyarrow can jump about in: the file itself, mapped into memory, or all of what is there already."""
    import pyarrow as pa

    if isinstance(path, InMemory):  # whose name is no path
        return pa.BufferReader(path.content)
    return pa.BufferReader(stream.read()) if str(path) == "-" else pa.memory_map(str(path))


def _read(schema: Any, batches: Batches, columns: Sequence[str], options: ReadOptions) -> FloatArray:
    for place in places_in_schema(schema.names, columns):
        field = schema.field(place)
        check = check_key_type if field.name in options.keys else check_type
        check(field.type, f"FILE column {field.name!r}")
    read = []
    for batch in batches(list(columns)):
        block = np.empty((batch.num_rows, len(columns)))
        for j, column in enumerate(columns):
            found = batch.column(batch.schema.get_field_index(column))
            if column in options.keys:
                block[:, j] = options.keys[column].as_codes(arrow_keys(found))
            else:
                block[:, j] = floats(found)
        read.append(block)
    return np.concatenate(read) if read else np.empty((0, len(columns)))
