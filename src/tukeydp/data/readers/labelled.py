"""SPSS, Stata and SAS files by pyreadstat: numbers, texts, and the labels that the file declares.

The library decodes a whole file or none of it, and one person's odd byte would stop it. So it is told Latin-1, in which
every byte is a character, and each text is decoded here by itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np

from tukeydp.data.keys import KeyRule
from tukeydp.data.numbers import NumberRule, nothing_read, read_column
from tukeydp.data.readers.columns import TextCells, places_in_schema
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import KIND_NAMES, check_kind, name_of
from tukeydp.extras import missing
from tukeydp.trusted.parameters import ParameterError

_RAW = "LATIN1"
# Formats of dates and times, which the files hold as numbers: SPSS and SAS by words, Stata by %t.
_DATES = re.compile(r"%-?t|.*(?:DATE|TIME|8601|MMDDYY|DDMMYY|YYMMDD|MONYY|MOYR|QYR|WKYR|JULIAN)", re.IGNORECASE)


class Schema(NamedTuple):
    """What a file says of its columns: names, labels, labels of values, and which are dates."""

    names: list[str]
    labels: dict[str, str]
    values: dict[str, dict[str, str]]
    dates: set[str]
    raw: dict[str, str]  # the names as the library is asked for them
    encoding: str


@contextmanager
def _guarded(form: str, path: Path | str) -> Iterator[None]:
    """The library's messages may quote cells: every failure becomes one sentence."""
    try:
        yield
    except (ParameterError, MemoryError):
        raise
    except ImportError:
        raise missing("FILE", "pyreadstat", "spss", name_of(path)) from None
    except Exception:
        raise ParameterError("FILE", f"must be {KIND_NAMES[form]} that can be read", name_of(path)) from None


def _reading(form: str, content: bytes) -> Callable[..., Any]:
    import pyreadstat

    name = {"spss": "read_sav", "stata": "read_dta", "sas": "read_sas7bdat"}[form]
    if form == "sas" and content.startswith(b"HEADER RECORD"):
        name = "read_xport"
    return partial(getattr(pyreadstat, name), output_format="dict", disable_datetime_conversion=True)


def schema_of(content: bytes, form: str, options: ReadOptions, path: Path | str) -> Schema:
    with _guarded(form, path):
        read = _reading(form, content)
        about = read(io.BytesIO(content), metadataonly=True, encoding=_RAW)[1]
        encoding = options.encoding or _stated(read, content)
    named = {raw: _decoded(raw, encoding) for raw in about.column_names}
    labels = {named[raw]: _decoded(text, encoding) for raw, text in about.column_names_to_labels.items() if text}
    values = {
        named[raw]: {_code(code): _decoded(str(text), encoding) for code, text in told.items()}
        for raw, told in about.variable_value_labels.items()
    }
    dates = {named[raw] for raw, kind in about.original_variable_types.items() if kind and _DATES.match(kind)}
    names = [named[raw] for raw in about.column_names]
    return Schema(names, labels, values, dates, {name: raw for raw, name in named.items()}, encoding)


def _stated(read: Callable[..., Any], content: bytes) -> str:
    """The encoding that the file states; UTF-8 where it states none, or one that nobody knows."""
    try:
        stated = read(io.BytesIO(content), metadataonly=True)[1].file_encoding or "utf-8"
        "".encode(stated)
    except Exception:  # its labels are in another one
        return "utf-8"
    return str(stated)


def _decoded(text: str, encoding: str) -> str:
    """One text by itself: in the file's encoding, or as the bytes stand."""
    try:
        return text.encode("latin-1").decode(encoding)
    except (UnicodeError, LookupError):
        return text


def _code(code: Any) -> str:
    return f"{code:.15g}" if isinstance(code, float) else str(code)


def columns_of(content: bytes, form: str, names: Sequence[str], schema: Schema, path: Path | str) -> dict[str, Any]:
    """Cells of the named columns, each as it stands; those that the file declares missing are None."""
    with _guarded(form, path):
        wanted = [schema.raw[name] for name in names]
        found: Mapping[str, list[Any]] = _reading(form, content)(io.BytesIO(content), usecols=wanted, encoding=_RAW)[0]
        return {
            name: [_decoded(cell, schema.encoding) if isinstance(cell, str) else cell for cell in found[raw]]
            for name, raw in zip(names, wanted, strict=True)
        }


def _read(form: str, stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> TextCells:
    content, schema = _opened(form, stream, options, path)
    places_in_schema(schema.names, columns)
    found = columns_of(content, form, columns, schema, path)
    read = [_column(found[name], options.rule(name), name in schema.dates) for name in columns]
    return TextCells(np.column_stack([values for values, _ in read]), np.array([odd for _, odd in read]))


def _column(cells: list[Any], rule: NumberRule, is_date: bool) -> tuple[Any, int]:
    if isinstance(rule, KeyRule):
        return rule.keys.as_codes(cells, rule), 0
    read = nothing_read([cell is not None for cell in cells]) if is_date else read_column(cells, rule)
    return read.values, read.how_many


def _names(form: str, stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    return _opened(form, stream, options, path)[1].names


def _opened(form: str, stream: IO[bytes], options: ReadOptions, path: Path | str) -> tuple[bytes, Schema]:
    check_kind(cast(Any, stream).peek(16), form, options, path)
    content = stream.read()
    return content, schema_of(content, form, options, path)


def reader(form: str) -> Callable[..., TextCells]:
    return partial(_read, form)


def names_in(form: str) -> Callable[..., list[str]]:
    return partial(_names, form)
