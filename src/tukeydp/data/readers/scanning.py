"""Separated text to floats, compiled: records, quoted cells, and the rule of `data/numbers.py` for each cell.

Missing cells are told apart: those that hold nothing, or a word for no value, and those that hold something else or
are not there (`UNREADABLE`).

No content stops or misleads the scan. A quote opens a quoted cell only where a cell begins; a cell with text after its
closing quote is missing; a record with more cells than the header is missing as a whole, since nobody can tell which of
its cells belongs where; a shorter one lacks its last cells, which count as unreadable: a file of other columns than
declared, such as one of fixed widths, has short records.

In a file of one column a row is what ends with an end of line. An empty last row without one could not be told from no
row, and n would tell whether somebody's cell is empty: so what follows the last end of line is no row there, whatever
it holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import IntArray
from tukeydp.compiled_code import compiled
from tukeydp.data.keys import KeyRule
from tukeydp.data.numbers import NumberRule, may_lead
from tukeydp.data.readers.number_kernel import READ, UNDECIDED, number_in, trimmed

Bytes = NDArray[np.uint8]
# The bits of a NaN that no number has and no arithmetic makes: the mark of an unreadable cell, until they are counted.
UNREADABLE = np.uint64(0x7FF8_0000_0000_0BAD)
_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9


class Layout(NamedTuple):
    """How records are cut into cells, and how their numbers are written."""

    separator: int
    quote: int  # -1: none
    targets: IntArray  # for each column of the file its place in the table, -1 for those not read
    one_column: bool  # of the file: there a blank line is a row
    decimal: int
    mark: int  # of thousands; -1: none
    any_units: bool
    units: Bytes  # in UTF-8, a row each
    unit_lengths: IntArray
    unit_leads: NDArray[np.bool_]
    unit_starts: IntArray  # the units of table column j are rows unit_starts[j] to unit_starts[j + 1]
    words: Bytes  # for no value, in small letters, a row each
    word_lengths: IntArray
    word_starts: IntArray  # as unit_starts
    keyed: int  # the table column whose cells are keys, all left to others; -1: none


def layout(separator: str, quote: str, targets: Sequence[int], rules: Sequence[NumberRule]) -> Layout:
    """The rules of the table's columns, which share their marks."""
    units = [rule.longest_first for rule in rules]
    flat = [unit for some in units for unit in some]
    table, lengths = _padded([unit.encode() for unit in flat])
    words, word_lengths = _padded([word for rule in rules for word in rule.no_value])
    return Layout(
        separator=ord(separator),
        quote=ord(quote) if quote else -1,
        targets=np.array(targets, dtype=np.int64),
        one_column=len(targets) == 1,
        decimal=ord(rules[0].decimal),
        mark=ord(rules[0].thousands) if rules[0].thousands else -1,
        any_units=bool(flat),
        units=table,
        unit_lengths=lengths,
        unit_leads=np.array([may_lead(unit) for unit in flat], dtype=np.bool_),
        unit_starts=np.cumsum([0, *map(len, units)], dtype=np.int64),
        words=words,
        word_lengths=word_lengths,
        word_starts=np.cumsum([0, *(len(rule.no_value) for rule in rules)], dtype=np.int64),
        keyed=next((j for j, rule in enumerate(rules) if isinstance(rule, KeyRule)), -1),
    )


def _padded(texts: Sequence[bytes]) -> tuple[Bytes, IntArray]:
    rows = np.zeros((len(texts), max(map(len, texts), default=1)), dtype=np.uint8)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return rows, np.array([len(text) for text in texts], dtype=np.int64)


@compiled
def _is_at(text, start, stop, word, length):  # type: ignore[no-untyped-def]
    if start < 0 or start + length > stop:
        return False
    same = True
    for i in range(length):
        same = same and text[start + i] == word[i]
    return same


@compiled
def _without_unit(text, a, b, column, form):  # type: ignore[no-untyped-def]
    a, b = trimmed(text, a, b)
    for u in range(form.unit_starts[column], form.unit_starts[column + 1]):
        length = form.unit_lengths[u]
        if b - length >= a and _is_at(text, b - length, b, form.units[u], length):
            return trimmed(text, a, b - length)
        if form.unit_leads[u] and _is_at(text, a, b, form.units[u], length):
            return trimmed(text, a + length, b)
    return a, b


@cache
def _ends_of_cells(separator: int) -> re.Pattern[bytes]:
    return re.compile(b"[" + re.escape(bytes([separator, _NEWLINE, _RETURN])) + b"]")


def _cell_ends(text, p, stop, separator, quote):  # type: ignore[no-untyped-def]
    """`_end_of_cell` by a search for what ends a cell."""
    if p < stop and text[p] == quote:
        return _end_of_cell.py_func(text, p, stop, separator, quote)
    found = _ends_of_cells(separator).search(text, p, stop)
    end = stop if found is None else found.start()
    return end, p, end, True


@compiled(plain=_cell_ends)
def _end_of_cell(text, p, stop, separator, quote):  # type: ignore[no-untyped-def]
    """Where the cell that begins at p ends, the span of its content, and whether the content is all there is."""
    clean = True
    if p < stop and text[p] == quote:
        start = p + 1
        p = start
        while p < stop:
            if text[p] == quote:
                if p + 1 < stop and text[p + 1] == quote:
                    clean = False  # a quote inside: no number
                    p += 1
                else:
                    break
            p += 1
        end = p
        p = min(p + 1, stop)
        while p < stop and text[p] != separator and text[p] != _NEWLINE and text[p] != _RETURN:
            clean = clean and (text[p] == _SPACE or text[p] == _TAB)
            p += 1
        return p, start, min(end, stop), clean
    start = p
    while p < stop and text[p] != separator and text[p] != _NEWLINE and text[p] != _RETURN:
        p += 1
    return p, start, p, clean


@compiled
def _is_empty(text, a, b, column, form):  # type: ignore[no-untyped-def]
    """`NumberRule.is_empty`, compiled."""
    a, b = trimmed(text, a, b)
    if a == b:
        return True
    for w in range(form.word_starts[column], form.word_starts[column + 1]):
        if form.word_lengths[w] == b - a:
            same = True
            for i in range(b - a):
                c = text[a + i]
                small = c + 32 if 65 <= c <= 90 else c
                same = same and small == form.words[w, i]
            if same:
                return True
    return False


_SIMPLE = 19  # bytes of a cell, and so digits, at most: `float` reads them as the kernel does


@cache
def _simple_numbers(decimal: int) -> re.Pattern[bytes]:
    return re.compile(rb"[+-]?[0-9]+(?:" + re.escape(bytes([decimal])) + rb"[0-9]*)?")


def _simple_row(line: bytes, form: Layout) -> list[float] | None:
    """The numbers of a record of simple cells; None if it is another."""
    line = line.removesuffix(b"\r")
    if not line or b"\r" in line or form.any_units or form.keyed >= 0 or (form.quote >= 0 and form.quote in line):
        return None
    cells = line.split(bytes([form.separator]))
    if len(cells) != len(form.targets):
        return None
    simple, decimal = _simple_numbers(form.decimal), bytes([form.decimal])
    values = [math.nan] * len(cells)
    for cell, target in zip(cells, form.targets.tolist(), strict=True):
        if target >= 0 and cell:
            if len(cell) > _SIMPLE or not simple.fullmatch(cell):
                return None
            values[target] = float(cell.replace(decimal, b"."))
    return values


def _scanned(text, start, stop, final, form, bits, row, unread):  # type: ignore[no-untyped-def]
    """`scan`, simple records at once and others as the kernel does."""
    data, floats, waiting = text[:stop].tobytes(), bits.view(np.float64), 0
    while start < stop and row < len(bits) and waiting + bits.shape[1] <= len(unread):
        end = data.find(b"\n", start)
        values = None if end < 0 else _simple_row(data[start:end], form)
        if values is not None:
            floats[row] = values[: bits.shape[1]]
            start, row = end + 1, row + 1
            continue
        before = start, row
        rest = unread[waiting:]
        start, row, more = scan.py_func(data, start, stop, final, form, bits[: row + 1], row, rest)
        waiting += more
        if (start, row) == before:
            break
    return start, row, waiting


@compiled(plain=_scanned)
def scan(text, start, stop, final, form, bits, row, unread):  # type: ignore[no-untyped-def]
    """Read whole records from start to stop into `bits` from `row` on.

    Returns where it stopped, the next row, and how many cells stand in `unread` (row, column, span) for others to read.
    A record that may go on after stop is left, unless this is the final piece of the file.
    """
    # Scalars in hand: passing the record to each cell costs more than reading the cell.
    separator, quote, decimal, mark, any_units = form.separator, form.quote, form.decimal, form.mark, form.any_units
    targets, width, missing = form.targets, len(form.targets), np.uint64(0x7FF8000000000000)
    position, waiting = start, 0
    while position < stop and row < len(bits) and waiting + bits.shape[1] <= len(unread):
        p, field, crowded, before = position, 0, False, waiting
        bits[row, :] = missing
        while True:
            opening = p
            p, a, b, clean = _end_of_cell(text, p, stop, separator, quote)
            if p >= stop and not final:
                return position, row, before
            if field >= width:
                a, b = trimmed(text, a, b)
                crowded = crowded or a < b or not clean
            elif targets[field] >= 0 and not clean:
                bits[row, targets[field]] = UNREADABLE
            elif targets[field] >= 0:
                column = targets[field]
                left, right = _without_unit(text, a, b, column, form) if any_units else (a, b)
                state, value = number_in(text, left, right, decimal, mark)
                if column == form.keyed:
                    state = UNDECIDED
                if state == READ:
                    bits[row, column] = value
                elif state == UNDECIDED:
                    unread[waiting, 0], unread[waiting, 1] = row, column
                    unread[waiting, 2], unread[waiting, 3] = a, b
                    waiting += 1
                elif not _is_empty(text, a, b, column, form):
                    bits[row, column] = UNREADABLE
            field += 1
            if p >= stop or text[p] != separator:
                break
            p += 1
        for lacking in range(field, width):
            if targets[lacking] >= 0:
                bits[row, targets[lacking]] = UNREADABLE
        blank, ended = field == 1 and p == opening, p < stop
        if p < stop and text[p] == _RETURN:
            if p + 1 >= stop and not final:
                return position, row, before
            p += 1 + (p + 1 < stop and text[p + 1] == _NEWLINE)
        elif p < stop:
            p += 1
        position = p
        if crowded:
            bits[row, :] = UNREADABLE
            waiting = before
        if form.one_column and not ended:
            waiting = before
        elif form.one_column or not blank:
            row += 1
    return position, row, waiting


def numbers_in(texts: Sequence[bytes], rule: NumberRule) -> list[tuple[int, float]]:
    """What the compiled rule makes of single cells, with their state; for tests against `NumberRule.number`."""
    form = layout(",", '"', [0], [rule])
    read = []
    for text in texts:
        cell = np.frombuffer(bytearray(text), dtype=np.uint8)
        span: Any = _without_unit(cell, 0, len(cell), 0, form)
        state, bits = number_in(cell, *span, form.decimal, form.mark)
        read.append((int(state), float(np.uint64(bits).view(np.float64))))
    return read
