"""Parquet and Arrow (Feather) files, one or a folder of them, by pyarrow: a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from tukeydp.data.keys import arrow_keys, check_key_type
from tukeydp.data.readers.columns import places_in_schema
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import KIND_NAMES, InMemory, check_kind, name_of, opened
from tukeydp.data.tables import check_type, floats
from tukeydp.extras import missing
from tukeydp.trusted.parameters import FloatArray, ParameterError

# Parquet and Arrow (Feather) files, by pyarrow: column by column into the table, a batch of rows at a time.

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


# One Parquet file, or a folder of them, as record batches that can be read again and again.

ENDINGS = (".parquet", ".pq")
_PART_ROWS = 1 << 16  # rows of a batch: what is held several times while it is read
_BUFFER = 1 << 20  # bytes of a column read at a time: without it, whole row groups are held


class ParquetParts:
    """The files below a folder, in the order of their names, or a single file.

    Each is opened when its turn comes, with the columns of the first in the order that was asked for.
    """

    def __init__(self, path: Path, columns: Sequence[str] | None) -> None:
        self._path = path
        self._files = _files_at(path)
        with self._opened(self._files[0]) as file:
            names = list(columns) if columns is not None else list(file.schema_arrow.names)
            self._check(file.schema_arrow, names)
        self.columns = tuple(names)

    @property
    def rows(self) -> int:
        """How many there are, from what the files say of themselves."""
        total = 0
        for path in self._files:
            with guarded("parquet", path), self._opened(path) as file:
                total += file.metadata.num_rows
        return total

    def __call__(self) -> Iterator[Any]:
        """Batches, and before those of a file one without rows: a table that has none is a table, and may be secret."""
        for path in self._files:
            with guarded("parquet", path), self._opened(path) as file:
                self._check(file.schema_arrow, self.columns)
                yield file.schema_arrow.empty_table().select(list(self.columns))
                for batch in file.iter_batches(_PART_ROWS, columns=list(self.columns)):
                    yield batch.select(list(self.columns))

    def _opened(self, path: Path) -> Any:
        with opened(path) as stream:
            check_kind(stream.peek(16), "parquet", ReadOptions(format="parquet"), path)  # type: ignore[attr-defined]
        with guarded("parquet", path):
            import pyarrow.parquet

            # Not mapped into memory: pages of the file that was read would count as memory of this process.
            return pyarrow.parquet.ParquetFile(path, pre_buffer=False, memory_map=False, buffer_size=_BUFFER)

    def _check(self, schema: Any, names: Sequence[str]) -> None:
        for place in places_in_schema(schema.names, names):
            field = schema.field(place)
            check_type(field.type, f"FILE column {field.name!r}")


def _files_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file() and not _unlisted(p, path))
    if not found:
        raise ParameterError("FILE", "must be a Parquet file, or a folder with some in it", name_of(path))
    return found


def _unlisted(file: Path, folder: Path) -> bool:
    """What engines leave out of a folder: copies of rows that a writer has not moved to their place would count twice.

    Spark, Hive and pyarrow hide names that begin with a point or an underscore, such as `_temporary`.
    """
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
