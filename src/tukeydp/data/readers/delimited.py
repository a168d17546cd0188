"""Separated text (CSV, TSV and their kin): the header, then blocks of records for the compiled scan."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np

from tukeydp.data.readers.columns import TextCells, header_of, places_of, positions
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import LOOK, check_kind, name_of, pieces
from tukeydp.trusted.parameters import ParameterError

_FIRST_ROWS = 4096  # room to start with; doubled as needed
_WAITING = 8192  # cells left to Python at a time
_LONGEST_HEADER = 1 << 24  # bytes; an open quote in it would otherwise read the whole file as one name


def read_packed(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> TextCells:
    check_kind(cast(Any, stream).peek(16), "csv.gz", options, path)
    with gzip.open(stream) as unpacked:
        return read_delimited(cast(IO[bytes], unpacked), columns, options, path)


def read_delimited(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> TextCells:
    """The named columns; cells that are not numbers are missing."""
    return _cells(*_past_header(stream, options, path), columns, options)


def names_in_packed(stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    check_kind(cast(Any, stream).peek(16), "csv.gz", options, path)
    with gzip.open(stream) as unpacked:
        return names_in_delimited(cast(IO[bytes], unpacked), options, path)


def names_in_delimited(stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    return _past_header(stream, options, path)[2]


def _past_header(stream: IO[bytes], options: ReadOptions, path: Path | str) -> tuple[TextBlocks, str, list[str]]:
    """The text from its first row on, the separator, and the names of the columns."""
    check_kind(cast(Any, stream).peek(16), "csv", options, path)
    text = TextBlocks(pieces(stream, options), path)
    separator = begin(text, options, path)
    if not options.header:
        return text, separator, positions(len(header_cells(text.record(options.quote), separator, options, path)))
    lines = []
    for _ in range(int(options.header)):
        line = text.record(options.quote)
        lines.append(header_cells(line, separator, options, path))
        text.drop(len(line))
    return text, separator, header_of(lines)


class TextBlocks:
    """The bytes that are at hand, and more when asked."""

    def __init__(self, blocks: Iterator[bytes], path: Path | str) -> None:
        self._blocks, self._path = blocks, path
        self.buffer = bytearray()
        self.final = False

    def more(self) -> None:
        """Add at least as much as there is: what is looked at twice is looked at twice only."""
        enough = 2 * len(self.buffer)
        while not self.final and len(self.buffer) <= enough:
            block = next(self._blocks, None)
            if block is None:
                self.final = True
            else:
                self.buffer += block

    def drop(self, length: int) -> None:
        del self.buffer[:length]

    def record(self, quote: str) -> bytes:
        """The bytes of the next record with its end of line, which may have ends of line between quotes."""
        while True:
            end = _end_of_record(self.buffer, quote.encode())
            if end is not None and (end < len(self.buffer) or self.final):
                return bytes(self.buffer[:end])
            if self.final:
                return bytes(self.buffer)
            if len(self.buffer) > _LONGEST_HEADER:
                raise ParameterError("FILE", f"must have a header line; {LOOK}", name_of(self._path))
            self.more()


def _end_of_record(text: bytearray, quote: bytes) -> int | None:
    start = 0
    while True:
        ends = [at for at in (text.find(b"\n", start), text.find(b"\r", start)) if at >= 0]
        if not ends:
            return None
        end = min(ends)
        end += 2 if text[end : end + 2] == b"\r\n" else 1
        if not quote or text.count(quote, 0, end) % 2 == 0:
            return end
        start = end


def begin(text: TextBlocks, options: ReadOptions, path: Path | str) -> str:
    """Go past title lines and a `sep=` line to the header; the separator to use."""
    text.more()
    declared = None
    line = text.record("")
    mark = line.rstrip(b"\r\n")
    if mark[:4].lower() == b"sep=" and len(mark) == 5:
        declared = mark[4:].decode("latin-1")
        text.drop(len(line))
    for _ in range(options.skip):
        text.drop(len(text.record("")))
    if options.separator is not None:
        return options.separator
    if declared is not None:
        try:
            return cast(str, ReadOptions(separator=declared, quote=options.quote).separator)
        except ParameterError:  # which would quote the file
            rule = "must have a possible separator in its sep= line: pass --separator"
            raise ParameterError("FILE", rule, name_of(path)) from None
    return "\t" if str(path).lower().removesuffix(".gz").endswith((".tsv", ".tab")) else ","


def header_cells(header: bytes, separator: str, options: ReadOptions, path: Path | str) -> list[str]:
    """The cells of a row of the header."""
    if not header.strip():
        raise ParameterError("FILE", f"must have a header line{_skipped(options)}", name_of(path))
    try:
        line = header.decode("utf-8", "strict" if options.header else "replace")
    except UnicodeDecodeError:
        rule = "must be UTF-8 text, and its header is not: pass --encoding, often cp1252 (Windows) or latin-1"
        raise ParameterError("FILE", rule, name_of(path)) from None
    csv.field_size_limit(2**31 - 1)  # a name longer than csv's default limit would raise
    how: Literal[0, 3] = csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE
    lines = csv.reader([line.rstrip("\r\n")], delimiter=separator, quotechar=options.quote or None, quoting=how)
    try:
        return next(lines, [])
    except csv.Error:  # an end of line in an odd place
        raise ParameterError("FILE", f"must have a header line; {LOOK}", name_of(path)) from None


def _skipped(options: ReadOptions) -> str:
    return f" below the {options.skip} lines skipped" if options.skip else ""


def _cells(
    text: TextBlocks, separator: str, names: Sequence[str], columns: Sequence[str], options: ReadOptions
) -> TextCells:
    from tukeydp.data.readers.scanning import UNREADABLE, layout, scan

    places = places_of(names, columns, header=bool(options.header), separator=separator)
    targets = [-1] * len(names)
    for j, place in enumerate(places):
        targets[place] = j
    rules = [options.rule(column) for column in columns]
    form = layout(separator, options.quote, targets, rules)
    cells = np.empty((_FIRST_ROWS, len(columns)))
    unread = np.empty((max(_WAITING, len(columns)), 4), dtype=np.int64)
    row = 0
    while True:
        start, stop = 0, len(text.buffer)
        at_hand = np.frombuffer(text.buffer, dtype=np.uint8)
        while True:
            if row == len(cells):
                cells.resize((2 * row, len(columns)), refcheck=False)
            before = start
            start, row, waiting = scan(at_hand, start, stop, text.final, form, cells.view(np.uint64), row, unread)
            for i, j, a, b in unread[:waiting].tolist():
                # Left open by the scan, so it has the form of a number, or is none, or is a key.
                cell = bytes(text.buffer[a:b])
                if form.keyed[j] and a and text.buffer[a - 1] == form.quote:
                    cell = cell.replace(bytes([form.quote] * 2), bytes([form.quote]))
                value = rules[j].number(cell.decode("utf-8", "replace"))
                cells.view(np.uint64)[i, j] = UNREADABLE if math.isnan(value) else np.float64(value).view(np.uint64)
            if start >= stop or (start == before and row < len(cells)):
                break
        del at_hand  # a buffer that is looked at cannot grow
        text.drop(start)
        if text.final:
            break
        text.more()
    cells.resize((row, len(columns)), refcheck=False)
    unreadable = np.zeros(len(columns), dtype=np.int64)
    for j in range(len(columns)):
        marked = cells[:, j].view(np.uint64) == UNREADABLE
        unreadable[j] = marked.sum()
        cells[marked, j] = np.nan
    return TextCells(cells, unreadable)
