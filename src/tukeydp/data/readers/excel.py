"""Excel workbooks, by calamine. Cells are numbers, texts (read by the rule of numbers) or missing, like dates.

A formula whose result was never stored reads as a text: unreadable, not empty (`formulas.py`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from tukeydp.data.keys import KeyRule
from tukeydp.data.numbers import BLANKS, NumberRule, read_cells, unreadable_cells
from tukeydp.data.readers.columns import TextCells, places_of, positions
from tukeydp.data.readers.formulas import NO_RESULT, Places, formulas_without_results
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import LOOK, check_kind, name_of
from tukeydp.errors import ParameterError
from tukeydp.extras import missing

_ROWS_AT_A_TIME = 8192  # rows held as Python objects, which take ten times the room of floats


def read_excel(stream: IO[bytes], columns: Sequence[str], options: ReadOptions, path: Path | str) -> TextCells:
    rows, first, names = _past_header(stream, options, path)
    places = places_of(names, columns, header=options.header)
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
    first = next(rows, None)
    if first is None:
        raise ParameterError("FILE", "must have a header in the first row that is not skipped", name_of(path))
    return rows, first, [str(cell).strip(BLANKS) for cell in first] if options.header else positions(len(first))


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
    return list(_workbook(content, path).sheet_names)


def _workbook(content: bytes, path: Path | str) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise missing("FILE", "python-calamine", "files", name_of(path)) from None
    with _guarded(path):
        return CalamineWorkbook.from_filelike(io.BytesIO(content))


def _sheet(content: bytes, options: ReadOptions, path: Path | str) -> Any:
    workbook = _workbook(content, path)
    names = list(workbook.sheet_names)
    if options.sheet is None and len(names) != 1:
        rule = f"must be named, since the workbook has {len(names)} sheets: pass --sheet; {LOOK}"
        raise ParameterError("sheet", rule, "none")
    if options.sheet is not None and options.sheet not in names:
        raise ParameterError("sheet", f"must be one of the workbook's {len(names)} sheets; {LOOK}", repr(options.sheet))
    with _guarded(path):
        return workbook.get_sheet_by_name(options.sheet if options.sheet is not None else names[0])
