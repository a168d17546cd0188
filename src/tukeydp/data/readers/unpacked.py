"""How large a packed file is inside, before it is unpacked as a whole."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

from tukeydp.data.readers.sources import BLOCK, name_of
from tukeydp.errors import ParameterError


def refuse_bombs(content: bytes, most: int, name: str) -> None:
    """Small files that unpack to more than `most` bytes; the reader says what else is wrong with them."""
    error = ParameterError("FILE", f"must unpack to at most {most >> 20} MiB", name_of(name))
    if content.startswith(b"PK\x03\x04"):
        try:
            size = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(content)).infolist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            return
        if size > most:
            raise error
    elif content.startswith(b"\x1f\x8b"):
        size = 0
        try:
            with gzip.open(io.BytesIO(content)) as stream:
                while block := stream.read(BLOCK):
                    size += len(block)
                    if size > most:
                        raise error
        except (OSError, EOFError, zlib.error):
            return
