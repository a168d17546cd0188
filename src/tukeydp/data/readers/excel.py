"""Excel workbooks, by calamine, and their cells with a formula and no result."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast
from xml.etree import ElementTree

import numpy as np

from tukeydp.data.keys import KeyRule
from tukeydp.data.numbers import BLANKS, NumberRule, read_cells, unreadable_cells
from tukeydp.data.readers.columns import TextCells, header_of, places_of, positions
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import LOOK, check_kind, name_of
from tukeydp.extras import missing
from tukeydp.trusted.parameters import ParameterError

# Cells of an .xlsx workbook that hold a formula and no result.
#
# Spreadsheets keep the result of a formula beside it; programs that write workbooks often do not, and calamine, which
# reads results only, then finds nothing there. Such a cell is not empty: it is unreadable, like any other text.
#
# Each cell is judged by its own element. Tags are taken apart by one expression that knows comments and CDATA, so no
# text in a cell can pass for a tag; nothing in a sheet raises.

NO_RESULT = "(a formula without a result)"  # what such a cell reads as: no number
_BLOCK = 1 << 20  # bytes of a sheet at a time
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TARGET = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
# A tag, or what stands in its place. Every part of it begins with a byte of its own, so that it is matched in one go.
_TAG = re.compile(
    rb"<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>"
    rb"|<(/?)(?:[\w.-]+:)?([\w.-]+)((?:\"[^\"]*\"|'[^']*'|[^<>\"'])*)>",
    re.DOTALL,
)
_PLACE = re.compile(rb"\sr\s*=\s*[\"']\s*([A-Za-z]{0,3})([0-9]{0,7})\s*[\"']")
_TEXT = re.compile(rb"\st\s*=\s*[\"']str[\"']")

Places = dict[int, list[int]]


def formulas_without_results(content: bytes, sheet: str) -> Places:
    """For each row, from 0, the columns, from 0, of such cells; none for workbooks of other formats."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            part = _part(archive, sheet)
            if part is None or not _has_formulas(archive.open(part)):
                return {}
            return _places(archive.open(part))
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, OSError, NotImplementedError):
        return {}  # not .xlsx, or so broken that the reader of its results refuses it


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The name of the sheet's file in the archive."""
    if "xl/workbook.xml" not in archive.namelist():
        return None
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    links = [element.get(_LINK) for element in book.iter(f"{_MAIN}sheet") if element.get("name") == sheet]
    targets = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels")).iter(_TARGET)
    found = [element.get("Target", "") for element in targets if element.get("Id") in links[:1]]
    return posixpath.normpath(posixpath.join("/xl", found[0])).lstrip("/") if found else None


def _has_formulas(stream: IO[bytes]) -> bool:
    """Whether there may be any: most workbooks have none, and need not be taken apart."""
    end = b""
    while block := stream.read(_BLOCK):
        if b"<f" in (text := end + block) or b":f" in text:
            return True
        end = block[-1:]
    return False


def _tags(stream: IO[bytes]) -> Iterator[tuple[bytes, re.Match[bytes]]]:
    """Each tag with the text before it."""
    text = b""
    while block := stream.read(max(_BLOCK, len(text))):  # as much again: no text is looked at often
        text += block
        end = 0
        while (at := text.find(b"<", end)) >= 0 and (tag := _TAG.match(text, at)) is not None:
            yield text[end:at], tag
            end = tag.end()
        text = text[end:]


def _places(stream: IO[bytes]) -> Places:
    found: Places = {}
    row, column = -1, -1
    formula = result = of_text = inside = False
    for before, tag in _tags(stream):
        closing, name, attributes = tag.groups()
        if name == b"row" and not closing:
            place = _PLACE.search(attributes)
            row, column = int(place[2]) - 1 if place is not None and place[2] else row + 1, -1
        elif name == b"c" and not closing:
            place = _PLACE.search(attributes)
            column = _column(place[1]) if place is not None and place[1] else column + 1
            formula, result, of_text = False, False, _TEXT.search(attributes) is not None
        elif name == b"c" and formula and not (result or of_text):  # a formula may result in a text without letters
            found.setdefault(row, []).append(column)
        elif name == b"f":
            formula = True
        elif name == b"v":
            result = result or (bool(closing) and (inside or bool(before.strip())))
            inside = False
        elif name is None:
            inside = True  # CDATA: something stands there
    return found


def _column(letters: bytes) -> int:
    """From 0.

    >>> _column(b"A"), _column(b"AB")
    (0, 27)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number - 1


# Excel workbooks, by calamine. Cells are numbers, texts (read by the rule of numbers) or missing, like dates.
#
# A formula whose result was never stored reads as a text: unreadable, not empty (`formulas.py`).

_ROWS_AT_A_TIME = 8192  # rows held as Python objects, which take ten times the room of floats


def read_excel(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> TextCells:
    rows, first, names = _past_header(stream, options, path)
    places = places_of(names, columns, header=bool(options.header))
    rules = [options.rule(column) for column in columns]
    blocks, pending = [], [] if options.header else [first]
    for row in rows:
        # A row without any cell is no row, like a blank line: but where there is one column, it is somebody's.
        if len(names) == 1 or any(cell != "" for cell in row):
            pending.append(row)
        if len(pending) >= _ROWS_AT_A_TIME:
            blocks.append(_block(pending, places, rules))
            pending = []
    blocks.append(_block(pending, places, rules))
    return TextCells(np.concatenate([b.values for b in blocks]), np.sum([b.unreadable for b in blocks], axis=0))


def names_in_excel(stream: IO[bytes], options: ReadOptions, path: Path | str) -> list[str]:
    return _past_header(stream, options, path)[2]


def _past_header(
    stream: IO[bytes], options: ReadOptions, path: Path | str
) -> tuple[Iterator[list[Any]], list[Any], list[str]]:
    """The rows below the first that is not skipped, that row itself, and the names of the columns."""
    check_kind(cast(Any, stream).peek(16), "excel", options, path)
    rows = sheet_rows(stream.read(), options, path)
    for _ in range(options.skip):
        next(rows, None)
    lines = list(islice(rows, int(options.header) or 1))
    if len(lines) < (int(options.header) or 1):
        raise ParameterError("FILE", "must have a header in the first row that is not skipped", name_of(path))
    return rows, lines[0], header_of(lines) if options.header else positions(len(lines[0]))


def _block(rows: list[list[Any]], places: Sequence[int], rules: Sequence[NumberRule]) -> TextCells:
    cells, unreadable = np.empty((len(rows), len(places))), np.zeros(len(places), dtype=np.int64)
    for j, (place, rule) in enumerate(zip(places, rules, strict=True)):
        column = [row[place] if place < len(row) else None for row in rows]
        if isinstance(rule, KeyRule):
            cells[:, j] = rule.keys.as_codes(column, rule)
            continue
        cells[:, j] = read_cells(column, rule)
        unreadable[j] = unreadable_cells(column, cells[:, j], rule).sum()
    return TextCells(cells, unreadable)


@contextmanager
def _guarded(path: Path | str) -> Iterator[None]:
    """Every failure of the library, a panic of its compiled part too, becomes one sentence."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException:
        raise ParameterError("FILE", "must be an Excel workbook that can be read", name_of(path)) from None


def sheet_rows(content: bytes, options: ReadOptions, path: Path | str) -> Iterator[list[Any]]:
    """The rows of the one sheet, or of the named one."""
    sheet = _sheet(content, options, path)
    unread = formulas_without_results(content, sheet.name)
    first = 0 if sheet.start is None else sheet.start[1]
    width = 0 if sheet.start is None else sheet.end[1] - first + 1
    at = 0
    with _guarded(path):
        iterator = sheet.iter_rows()
        while (row := next(iterator, None)) is not None:
            yield _with_formulas(row, unread, at, first)
            at += 1
    # Rows below the last result, which the library leaves out.
    for i in range(at, max(unread, default=-1) + 1 if width else 0):
        yield _with_formulas([""] * width, unread, i, first)


def _with_formulas(row: list[Any], unread: Places, at: int, first: int) -> list[Any]:
    """The row, with a text where there is a formula without a result."""
    for column in unread.get(at, ()):
        if 0 <= column - first < len(row) and not str(row[column - first]).strip(BLANKS):
            row[column - first] = NO_RESULT
    return row


def sheet_names(content: bytes, path: Path | str) -> list[str]:
    """Those that are not hidden."""
    return _shown(_workbook(content, path))


def about_sheets(content: bytes, chosen: str | None, path: Path | str) -> tuple[list[str], list[str], list[int]]:
    """The sheets that are shown, those that are hidden, and in the chosen or first one the last row of merged cells."""
    workbook = _workbook(content, path)
    shown = _shown(workbook)
    hidden = [name for name in workbook.sheet_names if name not in shown]
    with _guarded(path):
        sheet = workbook.get_sheet_by_name(chosen or shown[0]) if chosen in (None, *workbook.sheet_names) else None
    return shown, hidden, [end[0] for _, end in getattr(sheet, "merged_cell_ranges", None) or ()]


def _shown(workbook: Any) -> list[str]:
    """The sheets that are not hidden; all where none is shown."""
    from python_calamine import SheetVisibleEnum

    about = {one.name: one.visible == SheetVisibleEnum.Visible for one in workbook.sheets_metadata}
    names = list(workbook.sheet_names)
    return [name for name in names if about.get(name, True)] or names


def _workbook(content: bytes, path: Path | str) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise missing("FILE", "python-calamine", "files", name_of(path)) from None
    with _guarded(path):
        return CalamineWorkbook.from_filelike(io.BytesIO(content))


def _sheet(content: bytes, options: ReadOptions, path: Path | str) -> Any:
    workbook = _workbook(content, path)
    names, shown = list(workbook.sheet_names), _shown(workbook)
    if options.sheet is None and len(shown) != 1:
        rule = f"must be named, since the workbook has {len(shown)} sheets: pass --sheet; {LOOK}"
        raise ParameterError("sheet", rule, "none")
    if options.sheet is not None and options.sheet not in names:
        raise ParameterError("sheet", f"must be one of the workbook's {len(names)} sheets; {LOOK}", repr(options.sheet))
    with _guarded(path):
        return workbook.get_sheet_by_name(options.sheet if options.sheet is not None else shown[0])
