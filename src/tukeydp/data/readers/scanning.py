"""Separated text to floats, compiled: records, quoted cells, and the rule of `data/numbers.py` for each cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.data.keys import KeyRule
from tukeydp.data.numbers import NumberRule, may_lead
from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.parameters import IntArray

# Decimal digits to the nearest float in integer arithmetic, by the method of Eisel and Lemire (Lemire 2021, "Number
# parsing at a gigabyte per second"). What it cannot decide is left to Python's `float`.

# Powers of ten whose product with a 19-digit integer may be a float at all.
LEAST, MOST = -342, 308


def _table() -> NDArray[np.uint64]:
    """The upper 128 bits of 5^q for each power q, as two words; rounded up for negative q, cut off for others."""
    words = np.empty((MOST - LEAST + 1, 2), dtype=np.uint64)
    for q in range(LEAST, MOST + 1):
        if q < 0:
            five = 5**-q
            bits = (five - 1).bit_length()
            value = 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // five + 1
        else:
            value = 5**q << 128
        value >>= max(0, value.bit_length() - 128)
        words[q - LEAST] = value >> 64, value & (2**64 - 1)
    return words


_POWERS = _table()
_ONE = np.uint64(1)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


@compiled(inline="always")
def _product(a, b):  # type: ignore[no-untyped-def]
    """The upper and the lower word of a product of two words."""
    low = (a & _LOW) * (b & _LOW)
    first = (a >> _HALF) * (b & _LOW) + (low >> _HALF)
    second = (a & _LOW) * (b >> _HALF) + (first & _LOW)
    return (a >> _HALF) * (b >> _HALF) + (first >> _HALF) + (second >> _HALF), (second << _HALF) | (low & _LOW)


@compiled
def _leading_zeros(word):  # type: ignore[no-untyped-def]
    count = 0
    step = 32
    while step:
        if not word >> np.uint64(64 - step):
            word <<= np.uint64(step)
            count += step
        step >>= 1
    return count


@compiled
def nearest_float(digits, power):  # type: ignore[no-untyped-def]
    """The bits of the float nearest to digits * 10^power, for a positive word `digits`; and whether that is decided."""
    if power < LEAST or power > MOST:
        return np.uint64(0), False
    zeros = _leading_zeros(digits)
    word = digits << np.uint64(zeros)
    high, low = _product(word, _POWERS[power - LEAST, 0])
    # 55 bits are wanted, one of them for rounding; where the 9 below are all ones, a carry may still come.
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more = _product(word, _POWERS[power - LEAST, 1])[0]
        low += more
        if low < more:
            high += _ONE
    if low == ~np.uint64(0) and (power < -27 or power > 55):
        return np.uint64(0), False
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + 1023  # 217706 / 2^16 = log2(10)
    if exponent <= 0 or exponent >= 2046:  # subnormal, or near the end of the floats
        return np.uint64(0), False
    # Exactly half way, which only these powers can be: to even.
    halfway = low <= _ONE and -4 <= power <= 23 and mantissa & np.uint64(3) == _ONE
    if halfway and (mantissa << shift) == high:
        mantissa &= ~_ONE
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >> np.uint64(53):
        mantissa = _ONE << np.uint64(52)
        exponent += 1
    return (mantissa & ~(_ONE << np.uint64(52))) | (np.uint64(exponent) << np.uint64(52)), True


# The rule of `data/numbers.py`, compiled: bytes of a cell to the bits of a float.

MISSING, READ, UNDECIDED = 0, 1, 2
_MOST_DIGITS = 19  # that fit into a word whatever they are
_ZERO, _NINE, _BLANK = 48, 57, 32
# `TRUTH` of data/numbers.py, and the bits of 1.0
_TRUE, _FALSE = np.frombuffer(b"true", np.uint8), np.frombuffer(b"false", np.uint8)
_ONE_WORD = np.uint64(0x3FF0000000000000)  # the bits of 1.0


@compiled
def _blank_at(text, a, b):  # type: ignore[no-untyped-def]
    """How many bytes the blank that begins at a has; 0 if there is none."""
    c = text[a]
    if c == _BLANK or 9 <= c <= 13:
        return 1
    if c == 0xC2 and a + 1 < b and text[a + 1] == 0xA0:
        return 2
    if c == 0xE2 and a + 2 < b and text[a + 1] == 0x80 and (text[a + 2] == 0x89 or text[a + 2] == 0xAF):
        return 3
    return 0


@compiled
def trimmed(text, a, b):  # type: ignore[no-untyped-def]
    """The span without the blanks around it."""
    while a < b:
        step = _blank_at(text, a, b)
        if step == 0:
            break
        a += step
    while a < b:
        last = text[b - 1]
        if _ZERO <= last <= _NINE:
            break
        step = 0
        for size in range(1, 4):
            if b - size >= a and _blank_at(text, b - size, b) == size:
                step = size
                break
        if step == 0:
            break
        b -= step
    return a, b


@compiled
def _mark_at(text, p, b, mark):  # type: ignore[no-untyped-def]
    """How many bytes the mark of thousands at p has; 0 if there is none. As `THOUSANDS` of data/numbers.py has them."""
    if text[p] == mark:
        return 1
    if mark == _BLANK:
        length = _blank_at(text, p, b)
        return length if length > 1 else 0
    if mark == 39 and p + 2 < b and text[p] == 0xE2 and text[p + 1] == 0x80 and text[p + 2] == 0x99:
        return 3
    return 0


@compiled
def _is_word(text, a, b, word):  # type: ignore[no-untyped-def]
    """Whether the bytes a to b are the word, which is written in small letters, in any letters."""
    same = b - a == len(word)
    for i in range(len(word) if same else 0):
        c = text[a + i]
        same = same and (c + 32 if 65 <= c <= 90 else c) == word[i]
    return same


def _number_in(text, a, b, decimal, mark):  # type: ignore[no-untyped-def]
    # Of bytes, whose entries are integers of any size: numpy's would be eight bits wide.
    return number_in.py_func(text if isinstance(text, bytes) else text.tobytes(), a, b, decimal, mark)


@compiled(plain=_number_in)
def number_in(text, a, b, decimal, mark):  # type: ignore[no-untyped-def]
    """Whether the bytes a to b are a number, and the bits of the float nearest to it."""
    nothing = np.uint64(0)
    a, b = trimmed(text, a, b)
    p, negative = a, False
    if p < b and (text[p] == 43 or text[p] == 45):  # + -
        negative = text[p] == 45
        p += 1
    elif p + 2 < b and text[p] == 0xE2 and text[p + 1] == 0x88 and text[p + 2] == 0x92:  # the typographic minus
        negative = True
        p += 3
    digits, significant, seen, power, group, marked = np.uint64(0), 0, 0, 0, 0, False
    first, fraction = p, False
    while p < b:
        c = text[p]
        if _ZERO <= c <= _NINE:
            if significant or c != _ZERO:
                significant += 1
                if significant > _MOST_DIGITS:
                    return UNDECIDED, nothing
                digits = digits * np.uint64(10) + np.uint64(c - _ZERO)
            seen += 1
            group += 1
            power -= fraction
            p += 1
        elif c == decimal and not fraction:
            if marked and group != 3:
                return MISSING, nothing
            fraction = True
            p += 1
        else:
            step = 0 if fraction else _mark_at(text, p, b, mark)
            if step == 0:
                break
            if group != 3 if marked else (group < 1 or group > 3 or text[first] == _ZERO):
                return MISSING, nothing
            marked, group = True, 0
            p += step
    if seen == 0:
        if _is_word(text, a, b, _TRUE):
            return READ, _ONE_WORD
        return (READ if _is_word(text, a, b, _FALSE) else MISSING), nothing
    if marked and not fraction and group != 3:
        return MISSING, nothing
    if p < b and (text[p] == 101 or text[p] == 69):  # e E
        p += 1
        down = p < b and text[p] == 45
        if p < b and (text[p] == 43 or text[p] == 45):
            p += 1
        exponent, start = 0, p
        while p < b and _ZERO <= text[p] <= _NINE:
            exponent = min(exponent * 10 + text[p] - _ZERO, 100_000)  # beyond all floats, short of an overflow
            p += 1
        if p == start:
            return MISSING, nothing
        power += -exponent if down else exponent
    if p < b:
        return MISSING, nothing
    sign = np.uint64(negative) << np.uint64(63)
    if significant == 0:
        return READ, sign
    bits, decided = nearest_float(digits, power)
    return (READ if decided else UNDECIDED), bits | sign


# Separated text to floats, compiled: records, quoted cells, and the rule of `data/numbers.py` for each cell.
#
# Missing cells are told apart: those that hold nothing, or a word for no value, and those that hold something else or
# are not there (`UNREADABLE`).
#
# No content stops or misleads the scan. A quote opens a quoted cell only where a cell begins; a cell with text after
# its closing quote is missing; a record with more cells than the header is missing as a whole, since nobody can tell
# which of its cells belongs where; a shorter one lacks its last cells, which count as unreadable: a file of other
# columns than declared, such as one of fixed widths, has short records.
#
# In a file of one column a row is what ends with an end of line. An empty last row without one could not be told from
# no row, and n would tell whether somebody's cell is empty: so what follows the last end of line is no row there,
# whatever it holds.

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
    keyed: NDArray[np.bool_]  # for each table column whether its cells are keys or ids, all left to others
    limited: NDArray[np.bool_]  # and whether it has limits of detection: what is no number is left to others


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
        keyed=np.array([isinstance(rule, KeyRule) for rule in rules]),
        limited=np.array([bool(rule.limits) for rule in rules]),
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


# What a cell's content is: followed by something else, all there is, or with quotes that are written twice.
DIRTY, CLEAN, QUOTED = 0, 1, 2


def _cell_ends(text, p, stop, separator, quote):  # type: ignore[no-untyped-def]
    """`_end_of_cell` by a search for what ends a cell."""
    if p < stop and text[p] == quote:
        return _end_of_cell.py_func(text, p, stop, separator, quote)
    found = _ends_of_cells(separator).search(text, p, stop)
    end = stop if found is None else found.start()
    return end, p, end, CLEAN


@compiled(plain=_cell_ends)
def _end_of_cell(text, p, stop, separator, quote):  # type: ignore[no-untyped-def]
    """Where the cell that begins at p ends, the span of its content, and whether that is `CLEAN`.

    Quotes within quotes are written twice; what follows the closing quote makes a cell `DIRTY`.
    """
    clean = CLEAN
    if p < stop and text[p] == quote:
        start = p + 1
        p = start
        while p < stop:
            if text[p] == quote:
                if p + 1 < stop and text[p + 1] == quote:
                    clean = QUOTED  # a quote inside: no number
                    p += 1
                else:
                    break
            p += 1
        end = p
        p = min(p + 1, stop)
        while p < stop and text[p] != separator and text[p] != _NEWLINE and text[p] != _RETURN:
            if text[p] != _SPACE and text[p] != _TAB:
                clean = DIRTY
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
    if not line or b"\r" in line or form.any_units or form.keyed.any() or (form.quote >= 0 and form.quote in line):
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
                crowded = crowded or a < b or clean != CLEAN
            elif targets[field] >= 0 and clean != CLEAN and not (clean == QUOTED and form.keyed[targets[field]]):
                bits[row, targets[field]] = UNREADABLE
            elif targets[field] >= 0:
                column = targets[field]
                left, right = _without_unit(text, a, b, column, form) if any_units else (a, b)
                state, value = number_in(text, left, right, decimal, mark)
                if form.keyed[column] or (
                    state == MISSING and form.limited[column] and not _is_empty(text, a, b, column, form)
                ):
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
