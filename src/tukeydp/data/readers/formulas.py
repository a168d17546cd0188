"""Cells of an .xlsx workbook that hold a formula and no result.

Spreadsheets keep the result of a formula beside it; programs that write workbooks often do not, and calamine, which
reads results only, then finds nothing there. Such a cell is not empty: it is unreadable, like any other text.

Each cell is judged by its own element. Tags are taken apart by one expression that knows comments and CDATA, so no text
in a cell can pass for a tag; nothing in a sheet raises.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

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
