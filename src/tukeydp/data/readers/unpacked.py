"""How large a packed file is inside, before it is unpacked as a whole."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib

from tukeydp.data.readers.sources import BLOCK, name_of
from tukeydp.trusted.parameters import ParameterError

_CELL = 32  # bytes that the readers hold for a cell, filled or not: a far corner alone makes a sheet of billions
_REFERENCE = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_LONGEST = 24  # bytes of a reference with its marks: one may be cut by the end of a block


def refuse_bombs(content: bytes, most: int, name: str) -> None:
    """Small files that unpack to more than `most` bytes; the reader says what else is wrong with them."""
    if content.startswith(b"PK\x03\x04"):
        size = _in_archive(content, most)
    elif content.startswith(b"\x1f\x8b"):
        size = _in_gzip(content, most)
    elif content.startswith(b"PAR1"):
        size = _in_parquet(content)
    else:
        return
    if size > most:
        raise ParameterError("FILE", f"must unpack to at most {most >> 20} MiB", name_of(name))


def _in_gzip(content: bytes, most: int) -> int:
    size = 0
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            while size <= most and (block := stream.read(BLOCK)):
                size += len(block)
    except (OSError, EOFError, zlib.error):
        pass
    return size


def _in_archive(content: bytes, most: int) -> int:
    """All parts, or the cells of the largest sheet of an Excel workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size <= most:
                sheets = (part for part in archive.namelist() if "worksheets/" in part and part.endswith(".xml"))
                size = max([size, *(_CELL * _area(archive, part) for part in sheets)])
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError):
        return 0
    return size


def _area(archive: zipfile.ZipFile, part: str) -> int:
    """Cells between the first and the farthest that a sheet names."""
    columns: set[bytes] = set()
    rows, end = 0, b""
    with archive.open(part) as stream:
        while block := stream.read(BLOCK):
            found = _REFERENCE.findall(end + block)
            columns.update(letters for letters, _ in found)
            rows = max([rows, *(int(number) for _, number in found)])
            end = block[-_LONGEST:]
    return rows * max((_place(letters) for letters in columns), default=0)


def _place(letters: bytes) -> int:
    """The number of a column: A is 1, AA is 27."""
    place = 0
    for letter in letters:
        place = 26 * place + letter - ord("A") + 1
    return place


def _in_parquet(content: bytes) -> int:
    """Equal values take hardly any room in the file."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        return 0
    try:
        about = ParquetFile(io.BytesIO(content)).metadata
    except Exception:  # whatever a broken file raises: its reader will say so
        return 0
    return _CELL * int(about.num_rows) * int(about.num_columns)
