"""A summary as a Word document and as an Excel workbook. Released and public numbers alone."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from tukeydp.extras import missing
from tukeydp.results.escaping import printable
from tukeydp.results.summary_cells import (
    SEEDED,
    Line,
    Row,
    Summarised,
    ard,
    decimals,
    details,
    footnote,
    heads,
    rows,
    standardised,
    title,
)

_PAGE, _WIDE, _FIRST = 6.5, 9.0, 2.5  # inches between margins, upright and across; names of rows
_LAST = {"smd": 1.1, "p": 0.6}
_FEW = 4  # columns that an upright page has room for


def require_office(ending: str) -> None:
    """Before anything is spent."""
    try:
        if ending == ".docx":
            import docx  # noqa: F401
        else:
            import openpyxl  # noqa: F401
    except ImportError:
        raise missing("out", "python-docx" if ending == ".docx" else "openpyxl", "office", ending) from None


def docx_of(summary: Summarised) -> bytes:
    """A table in the style of journals: lines above, below the header and below, numbers centred below their groups."""
    require_office(".docx")
    from docx import Document
    from docx.enum.section import WD_ORIENT
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Inches, Pt, RGBColor

    document = Document()
    for name, size in (("Normal", 10), ("Caption", 11)):
        document.styles[name].font.name, document.styles[name].font.size = "Calibri", Pt(size)
    if summary.seeded:
        document.add_paragraph().add_run(SEEDED).bold = True
    caption = document.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = True
    caption.add_run("Table 1. ").bold = True
    caption.add_run(title(summary))
    for run in caption.runs:
        run.font.color.rgb = RGBColor(0, 0, 0)
    named, found = heads(summary), list(rows(summary))
    table = document.add_table(rows=1, cols=1 + len(named))
    for place, name in enumerate(["", *named]):
        cell = table.rows[0].cells[place].paragraphs[0]
        cell.add_run(name.replace(" (N = ", "\n(N = ")).bold = True
        cell.alignment = WD_ALIGN_PARAGRAPH.LEFT if place == 0 else WD_ALIGN_PARAGRAPH.CENTER
    for row in found:
        cells = table.add_row().cells
        first = cells[0].paragraphs[0]
        first.add_run(row.label)
        first.paragraph_format.left_indent = Pt(12 if row.inner else 0)
        first.paragraph_format.keep_with_next = row.kind == "heading"
        for cell, shown in zip(cells[1:], row.cells, strict=True):
            cell.paragraphs[0].add_run(shown)
            cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.CENTER
    table.autofit = False
    wide, section = len(named) > _FEW, document.sections[0]
    section.left_margin = section.right_margin = Inches(1)
    if wide:
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
    last = [] if summary.compare is None else [_LAST[summary.compare]]
    arms = len(named) - len(last)
    widths = [_FIRST, *[((_WIDE if wide else _PAGE) - _FIRST - sum(last)) / arms] * arms, *last]
    for place, column in enumerate(table.columns):
        column.width = Inches(widths[place])
    for line in table.rows:
        for place, cell in enumerate(line.cells):
            cell.width = Inches(widths[place])
            kept = cell.paragraphs[0].paragraph_format
            kept.space_before, kept.space_after = Pt(1), Pt(1)
            for run in cell.paragraphs[0].runs:
                run.font.size = Pt(9)
    _ruled(table)
    for size, notes in ((9, [n for n in footnote(summary) if n != SEEDED]), (8, details(summary))):
        for text in [" ".join(notes)] if size == 9 else notes:
            paragraph = document.add_paragraph()
            paragraph.paragraph_format.space_before, paragraph.paragraph_format.space_after = Pt(4), Pt(0)
            paragraph.add_run(text).font.size = Pt(size)
    out = io.BytesIO()
    document.core_properties.author, document.core_properties.title = "", title(summary)
    document.save(out)
    return out.getvalue()


def _ruled(table: Any) -> None:
    """Lines above and below the header and below the table; the header is repeated on every page."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    def edge(cell: Any, side: str, size: int) -> None:
        properties = cell._tc.get_or_add_tcPr()
        borders = properties.find(qn("w:tcBorders"))
        if borders is None:
            borders = OxmlElement("w:tcBorders")
            properties.append(borders)
        line = OxmlElement(f"w:{side}")
        for name, value in (("val", "single"), ("sz", str(size)), ("color", "000000")):
            line.set(qn(f"w:{name}"), value)
        borders.append(line)

    first, last = table.rows[0], table.rows[-1]
    for cell in first.cells:
        edge(cell, "top", 8)
        edge(cell, "bottom", 4)
    for cell in last.cells:
        edge(cell, "bottom", 8)
    repeated = OxmlElement("w:tblHeader")
    repeated.set(qn("w:val"), "true")
    first._tr.get_or_add_trPr().append(repeated)


def xlsx_of(summary: Summarised) -> bytes:
    """Three sheets: the table, two numbers for each group; every statistic by itself; notes."""
    require_office(".xlsx")
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Border, Font, Side
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.properties import PageSetupProperties

    book = Workbook()
    sheet = book.active
    sheet.title = "Table 1"
    bold, thin, thick = Font(bold=True), Side(style="thin"), Side(style="medium")
    sheet.append([_safe(title(summary))])
    sheet["A1"].font = bold
    named = heads(summary)
    arms = len(named) - (summary.compare is not None)
    sheet.append(["", *(_safe(cell) for name in named[:arms] for cell in (name, "")), *named[arms:]])
    top = sheet.max_row
    ends = ["SMD", "from", "to"] if summary.compare == "smd" else [""] * (summary.compare is not None)
    sheet.append(["", *["mean, n or median", "SD, % or IQR"] * arms, *ends])
    if len(ends) > 1:
        sheet.merge_cells(start_row=top, end_row=top, start_column=2 + 2 * arms, end_column=1 + 2 * arms + len(ends))
    for place in range(1, arms + 1):
        sheet.merge_cells(start_row=top, end_row=top, start_column=2 * place, end_column=2 * place + 1)
    for row in rows(summary):
        sheet.append([_safe(row.label)])
        at = sheet.max_row
        sheet.cell(at, 1).alignment = Alignment(horizontal="left", indent=1 if row.inner else 0)
        for place, line in enumerate(row.lines):
            for k, (value, form) in enumerate(_numbers(row, line)):
                cell = sheet.cell(at, 2 + 2 * place + k)
                cell.value, cell.number_format, cell.alignment = value, form, Alignment(horizontal="right")
        for k, value in enumerate(_between(summary, row, row.cells[arms:])):
            cell = sheet.cell(at, 2 + 2 * arms + k)
            cell.value, cell.number_format, cell.alignment = value, "0.00", Alignment(horizontal="right")
    last = sheet.max_row
    columns = 1 + 2 * arms + len(ends)
    for column in range(1, columns + 1):
        sheet.cell(top, column).border = Border(top=thick)
        sheet.cell(top, column).font = bold
        sheet.cell(top, column).alignment = Alignment(horizontal="center")
        sheet.cell(top + 1, column).border = Border(bottom=thin)
        sheet.cell(top + 1, column).font = Font(italic=True, size=9)
        sheet.cell(top + 1, column).alignment = Alignment(horizontal="right")
        sheet.cell(last, column).border = Border(bottom=thick)
        sheet.column_dimensions[get_column_letter(column)].width = 34 if column == 1 else 17
    for note in footnote(summary):
        sheet.append([_safe(note)])
    sheet.freeze_panes = sheet.cell(top + 2, 2)
    long = book.create_sheet("Statistics")
    found = ard(summary)
    long.append(list(found[0]) if found else [])
    for one in found:
        long.append([_safe(value) if isinstance(value, str) else value for value in one.values()])
    for letter in "ABCDEFGH":
        long.column_dimensions[letter].width = 18
    for other in (sheet, long):  # as wide as a page
        other.page_setup.orientation, other.page_setup.fitToHeight = "landscape", 0
        other.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    notes = book.create_sheet("Notes")
    for note in [*footnote(summary), *details(summary)]:
        notes.append([_safe(note)])
        notes.cell(notes.max_row, 1).alignment = Alignment(wrap_text=True, vertical="top")
    notes.column_dimensions["A"].width = 110
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _numbers(row: Row, line: Line) -> list[tuple[Any, str]]:
    """The two numbers of a cell and how many digits each shows."""
    places = 0 if line.half is None else decimals(line.half)
    plain = "0" + ("." + "0" * places if places else "")
    percent_places = 0 if line.half is None else decimals(100 * line.half)
    percent = "0" + ("." + "0" * percent_places if percent_places else "") + "%"
    if row.kind == "missing":
        return [(line.missing, "0")]
    if row.kind == "median" and line.quartiles is not None:
        low, middle, high = line.quartiles
        return [(middle, plain), (f"[{low:.{places}f}, {high:.{places}f}]", "@")]
    if row.kind == "interval":
        return [(line.lower, percent if line.share else plain), (line.upper, percent if line.share else plain)]
    if row.kind == "level":
        return [(line.count, "0"), (line.mean, percent)]
    if row.kind == "share":
        return [(None, plain), (line.mean, percent)]
    return [(line.mean, plain), (line.sd, plain)]


def _between(summary: Summarised, row: Row, texts: Sequence[str]) -> Sequence[Any]:
    """What compares the first two groups: numbers, where there are some."""
    found = standardised(row.lines) if summary.compare == "smd" and any(texts) else None
    return found or [_number_of(text) for text in texts]


def _number_of(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _safe(text: str) -> str:
    """Never a formula, whatever a column is called."""
    shown = printable(text)
    return f"'{shown}" if shown[:1] in "=+-@" else shown
