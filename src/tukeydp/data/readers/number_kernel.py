"""The rule of `data/numbers.py`, compiled: bytes of a cell to the bits of a float."""

from __future__ import annotations

import numpy as np

from tukeydp.compiled_code import compiled
from tukeydp.data.readers.powers_of_ten import nearest_float

MISSING, READ, UNDECIDED = 0, 1, 2
_MOST_DIGITS = 19  # that fit into a word whatever they are
_ZERO, _NINE, _SPACE = 48, 57, 32
# `TRUTH` of data/numbers.py, and the bits of 1.0
_TRUE, _FALSE, _ONE = np.frombuffer(b"true", np.uint8), np.frombuffer(b"false", np.uint8), np.uint64(0x3FF0000000000000)


@compiled
def _blank_at(text, a, b):  # type: ignore[no-untyped-def]
    """How many bytes the blank that begins at a has; 0 if there is none."""
    c = text[a]
    if c == _SPACE or 9 <= c <= 13:
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
    if mark == _SPACE:
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
            return READ, _ONE
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
