"""Bytes of a file or of standard input, told apart by their first bytes, unpacked, and turned into UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from tukeydp.data.readers.options import ReadOptions
from tukeydp.trusted.parameters import ParameterError

BLOCK = 1 << 22  # bytes read at a time: large enough for speed, small beside a table where memory matters
_PLAIN = {"utf-8", "utf-8-sig", "ascii"}
LOOK = "`tukeydp look FILE` tells what to pass"

# What a file that is not text begins with, what it is, and what to do with it.
_KINDS = [
    (b"PK\x03\x04", "an Excel workbook (or another zip archive)", "excel", "pass --format excel"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "excel", "pass --format excel"),
    (b"\x1f\x8b", "gzip", "csv.gz", "pass --format csv.gz if there is CSV in it"),
    (b"PAR1", "Parquet", "parquet", "pass --format parquet"),
    (b"ARROW1", "Arrow (Feather)", "arrow", "pass --format arrow"),
    (b"\xff\xff\xff\xff", "an Arrow stream", "arrow", "pass --format arrow"),
    (b"FEA1", "Feather version 1", "", "write it again as version 2, Parquet or CSV"),
    (b"(\xb5/\xfd", "zstd", "", "unpack it"),
    (b"BZh", "bzip2", "", "unpack it"),
    (b"\xfd7zXZ\x00", "xz", "", "unpack it"),
    (b"SQLite format 3\x00", "an SQLite database", "", "export the table as CSV or Parquet"),
    (b"%PDF-", "PDF", "", "export the table as CSV"),
    (b"$FL2", "an SPSS file", "spss", "pass --format spss"),
    (b"$FL3", "an SPSS file", "spss", "pass --format spss"),
    (b"<stata_dta>", "a Stata file", "stata", "pass --format stata"),
    (b"r\x02", "a Stata file", "stata", "pass --format stata"),
    (b"s\x02", "a Stata file", "stata", "pass --format stata"),
    (b"HEADER RECORD***", "a SAS file", "sas", "pass --format sas"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "a SAS file", "sas", "pass --format sas"),
    (b"\xff\xfe", "UTF-16 text", "text", "pass --encoding utf-16"),
    (b"\xfe\xff", "UTF-16 text", "text", "pass --encoding utf-16"),
]
KIND_NAMES = {
    "csv": "text (CSV)", "csv.gz": "gzip", "excel": "an Excel workbook", "parquet": "Parquet",
    "arrow": "Arrow (Feather)", "spss": "an SPSS file", "stata": "a Stata file", "sas": "a SAS file",
}  # fmt: skip


class InMemory(str):
    """A file that is held in memory: its name, with its bytes. Nothing of it is ever on a disk."""

    content: bytes

    def __new__(cls, name: str, content: bytes) -> InMemory:
        file = super().__new__(cls, name)
        file.content = content
        return file

    def __getnewargs__(self) -> tuple[str, bytes]:  # type: ignore[override]
        """For pickles: it is read in another process."""
        return str(self), self.content


def name_of(path: Path | str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in str(path))
    return "standard input" if str(path) == "-" else shown


@contextmanager
def opened(path: Path | str) -> Iterator[IO[bytes]]:
    """The file, which can be peeked at but not always be rewound; failures of the system become parameter errors."""
    try:
        standard = str(path) == "-"
        standing = nullcontext(getattr(sys.stdin, "buffer", sys.stdin))
        if isinstance(path, InMemory):
            standard, standing = True, nullcontext(io.BytesIO(path.content))
        stream: Any
        with standing if standard else Path(path).open("rb") as stream:
            yield stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ParameterError("FILE", "must be whole; its gzip data is damaged or cut off", name_of(path)) from None
    except OSError as error:
        what = f"{name_of(path)} ({error.strerror or type(error).__name__})"
        raise ParameterError("FILE", "must be a readable file", what) from None
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError("FILE", "must be a readable file", name_of(path)) from None  # a NUL in its name


def kind_of(start: bytes) -> tuple[str, str, str] | None:
    """What a file begins like if it is not plain text: in words, as a format, and what to do."""
    found = next(((kind, form, advice) for magic, kind, form, advice in _KINDS if start.startswith(magic)), None)
    if found is None and b"\0" in start[:4]:
        return "UTF-16 text, or no text at all", "text", "pass --encoding utf-16-le if it is"
    return found


def check_kind(start: bytes, wanted: str, options: ReadOptions, path: Path | str) -> None:
    """The first bytes, which are the format's and nobody's, must fit what was declared."""
    found = kind_of(start)
    if wanted == "csv":
        fits = found is None or (found[1] == "text" and options.encoding is not None)
    else:
        fits = found is not None and found[1] == wanted
    if not fits:
        what, _, advice = found or ("none of the kinds known by their first bytes", "", "pass --format csv if text")
        rule = f"must be {KIND_NAMES[wanted]} but begins like {what}: {advice}"
        raise ParameterError("FILE", rule, name_of(path))


def pieces(stream: IO[bytes], options: ReadOptions) -> Iterator[bytes]:
    """The text in UTF-8, a block at a time, without its byte order mark; no byte stops it."""
    encoding = None if options.encoding is None else codecs.lookup(options.encoding).name
    if encoding is None or encoding in _PLAIN:
        first = stream.read(BLOCK)
        yield first.removeprefix(codecs.BOM_UTF8)
        while block := stream.read(BLOCK):
            yield block
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    beginning = True
    while True:
        block = stream.read(BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError:  # some decoders raise whatever they are told
            rule = "must be the file's own; it cannot decode the file (UTF-16 without its mark: utf-16-le, utf-16-be)"
            raise ParameterError("encoding", rule, options.encoding) from None
        if text and beginning:
            text, beginning = text.removeprefix("\ufeff"), False
        yield text.encode("utf-8", "replace")
        if not block:
            return
