"""Guesses at how a text file is written, with the evidence. NOT private: for `look` alone, never for a release."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tukeydp.data.numbers import BLANKS, NumberRule, number
from tukeydp.data.readers.columns import header_of, positions
from tukeydp.data.readers.options import ReadOptions

_SEPARATORS = ";\t|,"  # the comma last: where two cut as well, commas are decimal marks
_SAMPLE_LINES = 500  # lines that decide the separator
_SAMPLE_CELLS = 5000  # cells of a column that decide its marks
# Simple rules first: among those that read equally many cells the first is taken.
_MARKS = [(".", None), (",", None), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'")]
_WITH_TAIL = re.compile(r"\s*[+-]?[0-9][0-9.,' \u00a0\u202f]*?\s*([^0-9\s.,'+-][^\s]*)\s*")


@dataclass(frozen=True)
class Dialect:
    """What to declare, why, and the rows as texts; `question` is what only the file's owner can say."""

    options: ReadOptions
    evidence: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    question: str | None = None


def guess_encoding(content: bytes) -> tuple[str | None, str]:
    """None where the default reads it."""
    if content.startswith(b"\xef\xbb\xbf"):
        return None, "UTF-8 (it begins with its mark)"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", "UTF-16 (it begins with its mark)"
    nulls = [content[i:4096:2].count(0) for i in (0, 1)]
    if max(nulls) > len(content[:4096]) / 8:
        return ("utf-16-le" if nulls[1] > nulls[0] else "utf-16-be"), "UTF-16 (every other byte is zero)"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", "not UTF-8; cp1252 (Windows) is the commonest other, check a name with an accent"
    return None, "UTF-8"


def guess_dialect(content: bytes, given: ReadOptions, most_rows: int, *, marks_stated: bool) -> Dialect:
    """What is not declared in `given` is guessed; `marks_stated` says that its marks of numbers are."""
    encoding, why = guess_encoding(content) if given.encoding is None else (given.encoding, "as declared")
    text = content.decode(encoding or "utf-8-sig", "replace").removeprefix("\ufeff")
    evidence = [f"encoding {encoding or 'utf-8'}: {why}"]
    first, _, rest = text.partition("\n")
    stated = first.rstrip("\r")
    if stated[:4].lower() == "sep=" and len(stated) == 5:
        evidence.append(f"separator {stated[4]!r}: the first line says sep=")
        separator, text = stated[4], rest
    elif given.separator is not None:
        separator = given.separator
    else:
        separator, why = _separator(text.splitlines()[given.skip : given.skip + _SAMPLE_LINES], given.quote)
        evidence.append(f"separator {separator!r}: {why}")
    rows = _split(text, separator, given.quote, most_rows)
    given = replace(given, separator=separator, encoding=encoding)
    return guess_rows(rows, given, evidence, marks_stated=marks_stated)


def guess_rows(
    rows: Sequence[tuple[Any, ...]], given: ReadOptions, evidence: Sequence[str], *, marks_stated: bool
) -> Dialect:
    """Header, marks and units of rows, whose cells are texts, or numbers in a workbook."""
    said = list(evidence)
    skip = given.skip or _titles([_without_end(row) for row in rows])
    if skip:
        said.append(f"skip {skip}: so many lines stand above the header")
    above, rows = rows[:skip], rows[skip:]
    header, why = guess_header(rows[0], given) if rows else (given.header, "")
    if why:
        said.append(why)
    names = tuple(header_of(rows[: int(header)]) if header else positions(len(rows[0]))) if rows else ()
    body = rows[int(header) :]
    if header == 1 and len(body) > 1 and _is_second(rows[0], rows[1], rows[2]):
        said.append("header: the row below it has names too: if both make up the names, pass --header-rows 2")
    if header == 1 and len(set(names)) < len(names) and above and sum(cell not in ("", None) for cell in above[-1]) > 1:
        said.append(
            f"header: names occur twice; with those above them, --skip {skip - 1} --header-rows 2, they may not"
        )
    widths = Counter(len(row) for row in body)
    if names and widths and widths.most_common(1)[0][0] == len(names) + 1:
        said.append("rows have one cell more than the header: name the first column too, or they are missing")
    # A line of a single empty cell is no row where there are several columns.
    body = [row for row in body if len(names) == 1 or any(cell != "" for cell in row)]
    texts = [tuple(cell if isinstance(cell, str) else "" for cell in row) for row in body]
    decimal, thousands, why, question = _marks(names, texts, given, stated=marks_stated)
    said.append(f"decimal mark {decimal!r}, thousands mark {thousands or 'none'}: {why}")
    units = given.units or _units(names, texts, decimal, thousands, said)
    options = replace(given, decimal=decimal, thousands=thousands, skip=skip, header=header, units=units)
    return Dialect(options, tuple(said), names, tuple(body), question)


def _without_end(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row without the empty cells at its end: sheets fill titles up to the table's width."""
    filled = max((i for i, cell in enumerate(row) if cell not in ("", None)), default=-1)
    return row[: filled + 1]


def _is_second(first: tuple[Any, ...], second: tuple[Any, ...], third: tuple[Any, ...]) -> bool:
    """Whether the row below a header with gaps has names as well: no number in it, and some in the next."""

    def numbers(row: tuple[Any, ...]) -> int:
        return sum(not all(math.isnan(number(cell, NumberRule(mark))) for mark in ".,") for cell in row)

    gaps = any(cell in ("", None) for cell in first)
    return gaps and all(isinstance(cell, str) and cell for cell in second) and numbers(second) == 0 < numbers(third)


def guess_header(first: Sequence[Any], given: ReadOptions) -> tuple[bool | int, str]:
    """Whether the first row is a header, and why; nothing to say where it plainly is one."""
    rules = [NumberRule(*marks) for marks in _MARKS]  # which marks are used is not known yet
    filled = [cell for cell in first if cell not in ("", None)]
    numbers = sum(any(not math.isnan(number(cell, rule)) for rule in rules) for cell in filled)
    if not given.header:
        return False, "header: none, as declared; columns are called 1, 2, ..."
    if filled and numbers == len(filled):
        return False, (
            "header: NONE it seems, the first row is all numbers, so it is taken as a row and columns are called 1, 2, "
            "...: pass --no-header. If these are names (years, say), leave --no-header out"
        )
    if numbers:
        return given.header, (
            f"header: UNSURE, {numbers} of the {len(filled)} names are numbers; if the first row is no header, pass "
            "--no-header"
        )
    return given.header, ""


def _separator(lines: Sequence[str], quote: str) -> tuple[str, str]:
    """The one that cuts most lines into one number of cells, larger than one."""
    best, found = 0.0, (",", "no line holds another")
    for mark in _SEPARATORS:
        counts = Counter(len(row) for row in _split("\n".join(lines), mark, quote, _SAMPLE_LINES) if row)
        width, often = max(((w, c) for w, c in counts.items() if w > 1), key=lambda e: e[1], default=(0, 0))
        share = often / max(counts.total(), 1)
        if share > best:
            best = share
            found = mark, f"{often} of the first {counts.total()} lines have {width} cells"
    return found


def _split(text: str, separator: str, quote: str, most: int) -> list[tuple[str, ...]]:
    csv.field_size_limit(2**31 - 1)
    how: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    lines = csv.reader(text.splitlines(keepends=True), delimiter=separator, quotechar=quote or None, quoting=how)
    rows: list[tuple[str, ...]] = []
    try:
        for row in lines:
            rows.append(tuple(cell.strip(BLANKS) for cell in row))
            if len(rows) >= most:
                break
    except csv.Error:
        pass
    return rows


def _titles(rows: Sequence[tuple[str, ...]]) -> int:
    """How many lines stand above the first that has as many cells as most have."""
    counts = Counter(len(row) for row in rows if len(row) > 1)
    usual = max(counts, key=lambda width: counts[width], default=0)
    first = next((i for i, row in enumerate(rows) if len(row) >= usual - 1 and len(row) > 1), 0)
    return first if first <= 50 else 0


def _column(rows: Sequence[tuple[str, ...]], j: int) -> list[str]:
    return [row[j] for row in rows[:_SAMPLE_CELLS] if j < len(row) and row[j]]


def _marks(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], given: ReadOptions, *, stated: bool
) -> tuple[str, str | None, str, str | None]:
    """Decimal mark, mark of thousands, why, and a question where another pair reads as many cells as other numbers."""
    if stated:
        return given.decimal, given.thousands, "as declared", None
    cells = [cell for j in range(len(names)) for cell in _column(rows, j) if any(m in cell for m in ".,' \u00a0\u202f")]
    cells = [_WITH_TAIL.sub(lambda m: m[0].replace(m[1], ""), c) if _WITH_TAIL.fullmatch(c) else c for c in cells]
    counts = {
        marks: sum(not math.isnan(rule.number(cell)) for cell in cells)
        for marks, rule in ((m, NumberRule(*m)) for m in _MARKS)
    }
    if not cells or not max(counts.values()):
        return ".", None, "no number has a mark", None
    decimal, thousands = max(_MARKS, key=lambda marks: counts[marks])
    why = f"reads {counts[decimal, thousands]} of {len(cells)} cells with marks"
    for marks in _MARKS:
        cell = None if counts[marks] < counts[decimal, thousands] else _differing(cells, (decimal, thousands), marks)
        if cell is not None:
            why += f"; UNSURE: decimal {marks[0]!r} with thousands {marks[1] or 'none'} reads as many"
            return decimal, thousands, why, which_marks(cell, (decimal, thousands), marks)
    return decimal, thousands, why, None


Marks = tuple[str, str | None]


def _differing(cells: Sequence[str], some: Marks, other: Marks) -> str | None:
    """A cell that two pairs of marks read as different numbers."""
    one, two = NumberRule(*some), NumberRule(*other)
    return next((cell for cell in cells if abs(one.number(cell) - two.number(cell)) > 0), None)


def which_marks(cell: str, some: Marks, other: Marks) -> str:
    """The question that only the file's owner can answer."""
    one, two = (f"{_declared(marks)} ({NumberRule(*marks).number(cell):.10g})" for marks in (some, other))
    return f"{cell!r} may be two numbers: {one} or {two}? Look again with the one that is right"


def _declared(marks: Marks) -> str:
    decimal, thousands = marks
    return f"--decimal {decimal}" if thousands is None else f"--thousands {thousands} --decimal {decimal}"


_UNIT_BEHIND = re.compile(
    r"(.+?)\s*,\s*([kmcu\u00b5]?[glm]|mmHg|cmH2O|%|bpm|ml|[kmnu\u00b5]?mol(?:/l)?|[mnu\u00b5k]?g/d?l)"
)
_PER = re.compile(r"10?[\^\d]*/[A-Za-z]")  # no text that can stand behind a number, but a unit
_UNIT_IN_NAME = re.compile(r"(.+?)\s*[\[(]([^\[\]()]{1,15})[\])]")


def unit_in(name: str) -> tuple[str | None, str | None]:
    """What a column is called and its unit, where its name has both: `weight [kg]`, and not `pain (0-10)`."""
    found = _UNIT_IN_NAME.fullmatch(name) or _UNIT_BEHIND.fullmatch(name)
    return (found[1], found[2]) if found and (ReadOptions().is_unit(found[2]) or _PER.match(found[2])) else (None, None)


def _units(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], decimal: str, thousands: str | None, evidence: list[str]
) -> dict[str, str]:
    """The text that follows most numbers of a column in which most cells are a number and a text."""
    rule, units = NumberRule(decimal, thousands), {}
    for j, name in enumerate(names):
        cells = _column(rows, j)
        tails = Counter(m[1] for m in map(_WITH_TAIL.fullmatch, cells) if m)
        tail, often = tails.most_common(1)[0] if tails else ("", 0)
        if (unit := unit_in(name)[1]) and tails[unit]:
            units[name] = unit
            evidence.append(f"unit {unit!r} in column {name!r}: in its name, and behind {tails[unit]} cells")
            continue
        with_unit = NumberRule(rule.decimal, rule.thousands, (tail,)) if tail else rule
        if tail and often > len(cells) / 2 and sum(not math.isnan(with_unit.number(c)) for c in cells) > len(cells) / 2:
            units[name] = tail
            evidence.append(f"unit {tail!r} in column {name!r}: behind {often} of {len(cells)} cells")
    return units
