"""One Parquet file, or a folder of them, as record batches that can be read again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tukeydp.data.arrow_columns import check_type
from tukeydp.data.readers.arrow import guarded
from tukeydp.data.readers.columns import places_in_schema
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import check_kind, name_of, opened
from tukeydp.errors import ParameterError

ENDINGS = (".parquet", ".pq")
_ROWS_AT_A_TIME = 1 << 16  # rows of a batch: what is held several times while it is read
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
                for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=list(self.columns)):
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
