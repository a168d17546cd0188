"""Small files as people have them, each with its true values or the sentence that refuses it."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass, field
from math import nan
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd

TRUE = [[1.5, 131], [1234.25, 128], [-2, nan]]
COLUMNS = ["a", "b c"]


@dataclass(frozen=True)
class Messy:
    name: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)
    columns: list[str] = field(default_factory=lambda: COLUMNS)
    values: list[list[float]] = field(default_factory=lambda: TRUE)


def workbook_of(rows: str) -> bytes:
    """A minimal .xlsx whose sheet holds these rows, in its own words."""
    packed, plain = io.BytesIO(), workbook(("S", [[1]]))
    with zipfile.ZipFile(io.BytesIO(plain)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name.endswith("sheet1.xml"):
                head, _, tail = text.partition("<sheetData>")
                text = f"{head}<sheetData>{rows}</sheetData>{tail.partition('</sheetData>')[2]}"
            new.writestr(name, text)
    return packed.getvalue()


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    """A minimal .xlsx: numbers, truth values and texts."""

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        return f"<c><v>{value!r}</v></c>"

    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbered = list(enumerate(sheets, start=1))
    files = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{kinds}.worksheet+xml"/>'
            for i, _ in numbered
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships {relations}><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets>'
        + "".join(f'<sheet name="{escape(name)}" sheetId="{i}" r:id="r{i}"/>' for i, (name, _) in numbered)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships {relations}>"
        + "".join(
            f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i, _ in numbered
        )
        + "</Relationships>",
    }
    for i, (_, rows) in numbered:
        lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        files[f"xl/worksheets/sheet{i}.xml"] = f"<worksheet {main}><sheetData>{lines}</sheetData></worksheet>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return packed.getvalue()


def written(method: str) -> bytes:
    """The true table as pandas writes it."""
    out = io.BytesIO()
    getattr(pd.DataFrame(TRUE, columns=COLUMNS), method)(out)
    return out.getvalue()


PLAIN = "a,b c\n1.5,131\n1234.25,128\n-2,\n"
GERMAN = 'a;"b c"\r\n1,5;131\r\n1.234,25;128\r\n-2;k.A.\r\n'
GERMAN_OPTIONS = {"separator": ";", "decimal": ",", "thousands": "."}
SHEET = [["a", "b c"], [1.5, 131], ["1234.25", 128], [-2, "n/a"]]

FILES = [
    Messy("plain.csv", PLAIN.encode()),
    Messy("no-last-newline.csv", PLAIN.rstrip("\n").encode()),
    Messy("windows.csv", PLAIN.replace("\n", "\r\n").encode()),
    Messy("old-mac.csv", PLAIN.replace("\n", "\r").encode()),
    Messy("mark.csv", PLAIN.encode("utf-8-sig")),
    Messy("blank-lines.csv", PLAIN.replace("\n", "\n\n").encode()),
    Messy("tabs.tsv", PLAIN.replace(",", "\t").encode()),
    Messy("tabs.txt", PLAIN.replace(",", "\t").encode(), {"separator": "tab"}),
    Messy("bars.txt", PLAIN.replace(",", "|").encode(), {"separator": "|"}),
    Messy("order.csv", b"b c,z,a\n131,x,1.5\n128,y,1234.25\n,,-2\n"),
    Messy("german.csv", GERMAN.encode(), GERMAN_OPTIONS),
    Messy("sep-line.csv", ("sep=;\r\n" + GERMAN).encode(), {"decimal": ",", "thousands": "point"}),
    Messy("cp1252.csv", GERMAN.replace("a", "Größe").encode("cp1252"), {**GERMAN_OPTIONS, "encoding": "cp1252"},
          ["Größe", "b c"]),
    Messy("utf-16.csv", GERMAN.encode("utf-16"), {**GERMAN_OPTIONS, "encoding": "utf-16"}),
    Messy("utf-16-be.csv", GERMAN.encode("utf-16-be"), {**GERMAN_OPTIONS, "encoding": "utf-16-be"}),
    Messy("odd-bytes.csv", PLAIN.replace("-2,", "-2,\udcff\udcfe").encode("utf-8", "surrogateescape")),
    Messy("titles.csv", ('Report, "2024\nby us\n' + PLAIN).encode(), {"skip": 2}),
    Messy("quoted.csv", b'"a","b c"\n"1.5","131"\n"1,234.25"," 128 "\n"-2","say ""no"""\n', {"thousands": ","}),
    Messy("apostrophes.csv", b"'a','b c'\n'1.5','131'\n'1234.25','128'\n'-2','a,b'\n", {"quote": "'"}),
    Messy("quote-none.csv", b'a,b c\n1.5,131\n1234.25,128\n-2,"\n', {"quote": "none"}),
    Messy("comma-in-name.csv", b'"Gewicht, kg",b\n1.5,131\n1234.25,128\n-2,\n', {}, ["Gewicht, kg", "b"]),
    Messy("lines-in-cells.csv", b'a,note,b c\n1.5,"two\nlines",131\n1234.25,"x, ""y""",128\n-2,,\n'),
    Messy("units.csv", b"a,b c\n1.5 mmHg,131mmHg\n1234.25,128  mmHg\n-2 mmHg,12 kPa\n", {"units": ["mmHg"]}),
    Messy("one-unit.csv", b"a,b c\n1.5,131 kg/m2\n1234.25,128\n-2 kg/m2,\n", {"units": {"b c": "kg/m2"}},
          values=[[1.5, 131], [1234.25, 128], [nan, nan]]),
    Messy("currency.csv", "a,b c\n€ 1.5,131€\n€1234.25,128\n-2 €,$5\n".encode(), {"units": ["€"]}),
    Messy("swiss.csv", "a,b c\n1.5,131\n1'234.25,128\n\u22122,1'28\n".encode(), {"thousands": "'", "quote": '"'}),
    Messy("french.csv", "a;b c\n1,5;131\n1\u202f234,25;128\n-2;1\u202f2\n".encode(),
          {"separator": ";", "decimal": ",", "thousands": "space"}),
    Messy("codes.csv", b"a,b c\n1.5,131\n1234.25,128\n-2,-999.0\n", {"missing": ["-999"]}),
    Messy("column-codes.csv", b"a,b c\n1.5,131\n1234.25,128\n-2,-2\n", {"missing": {"b c": ["-2"]}}),
    Messy("no-header.csv", b"1.5,x,131\n1234.25,y,128\n-2,z,\n", {"header": False}, ["1", "3"]),
    Messy("ragged.csv", b"a,b c\n1.5,131,\n1234.25,128,,  ,\n-2\n"),
    # What a point or a comma is, is declared; a cell that does not fit is missing, never another number.
    Messy("point-for-thousands.csv", b"a,b c\n149.534,5\n", {"decimal": ","}, values=[[nan, 5]]),
    Messy("comma-for-thousands.csv", b'a,b c\n"149,534",5\n', values=[[nan, 5]]),
    Messy("decimal-comma.csv", b"a,b c\n129,5,1\n130,5,2\n", values=[[nan, nan], [nan, nan]]),
    Messy("zero-group.csv", b'a,b c\n"0,125","1,25"\n', {"thousands": ","}, values=[[nan, nan]]),
    Messy("words.csv", "a,b c\nnan,inf\n1_000,Infinity\n\uff11\uff12,0x10\n5%,$5\n".encode(), values=[[nan, nan]] * 4),
    Messy("packed.csv.gz", gzip.compress(PLAIN.encode())),
    Messy("packed", gzip.compress(PLAIN.encode()), {"format": "csv.gz"}),
    Messy("book.xlsx", workbook(("Sheet1", SHEET))),
    Messy("sheets.xlsx", workbook(("Info", [["x"]]), ("Data", SHEET)), {"sheet": "Data"}),
    Messy("titled.xlsx", workbook(("Sheet1", [["Report"], *SHEET])), {"skip": 1}),
    Messy("german.xlsx", workbook(("S", [["a", "b c"], ["1,5", 131], ["1.234,25", 128], [-2, "?"]])),
          {"decimal": ",", "thousands": "."}),
    Messy("table.parquet", written("to_parquet")),
    Messy("table.feather", written("to_feather")),
]  # fmt: skip


@dataclass(frozen=True)
class Refused:
    name: str
    content: bytes
    sentence: str
    options: dict[str, Any] = field(default_factory=dict)
    columns: list[str] = field(default_factory=lambda: COLUMNS)


LOOK = "`tukeydp look FILE` tells what to pass"
_FILE = "FILE must be text (CSV) but begins like "
REFUSED = [
    Refused("book.csv", workbook(("S", SHEET)),
            _FILE + "an Excel workbook (or another zip archive): pass --format excel; got book.csv."),
    Refused("old.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", _FILE + "an old Excel workbook: pass --format excel; got old.csv."),
    Refused("packed.csv", gzip.compress(PLAIN.encode()),
            _FILE + "gzip: pass --format csv.gz if there is CSV in it; got packed.csv."),
    Refused("table.csv", written("to_parquet"), _FILE + "Parquet: pass --format parquet; got table.csv."),
    Refused("feather.csv", written("to_feather"), _FILE + "Arrow (Feather): pass --format arrow; got feather.csv."),
    Refused("wide.csv", PLAIN.encode("utf-16"), _FILE + "UTF-16 text: pass --encoding utf-16; got wide.csv."),
    Refused("bare.csv", PLAIN.encode("utf-16-le"),
            _FILE + "UTF-16 text, or no text at all: pass --encoding utf-16-le if it is; got bare.csv."),
    Refused("latin.csv", "Größe,b\n1,2\n".encode("cp1252"), "FILE must be UTF-8 text, and its header is not: pass "
            "--encoding, often cp1252 (Windows) or latin-1; got latin.csv.", columns=["Größe"]),
    Refused("semicolons.csv", GERMAN.encode(), "columns must name columns of the header, and read with separator ',' "
            f"the header has 1 column: pass --separator (often ';' or tab); {LOOK}; got 'a'."),
    Refused("case.csv", b"A,B  C\n1,2\n", "columns must name columns of the header; the header has 2 columns, one of "
            f"them the same but for case or blanks; {LOOK}; got 'a'."),
    Refused("titles.csv", ("x,y,z\n" + PLAIN).encode(), "columns must name columns of the header; the header has 3 "
            f"columns; {LOOK}, and title lines above the header need --skip; got 'a'."),
    Refused("twice.csv", b"a,a,b c\n1,2,3\n", "columns must name columns that occur once in the header; got 'a'."),
    Refused("position.csv", b"1,2\n", "columns must be numbers from 1 to 2 where there is no header; got '3'.",
            {"header": False}, ["3"]),
    Refused("sep.csv", b"sep=7\na,b c\n1,2\n",
            "FILE must have a possible separator in its sep= line: pass --separator; got sep.csv."),
    Refused("empty.csv", b"", "FILE must have a header line; got empty.csv."),
    Refused("skipped.csv", PLAIN.encode(), "FILE must have a header line below the 9 lines skipped; got skipped.csv.",
            {"skip": 9}),
    Refused("no-rows.csv", b"a,b c\n", "FILE must have at least one row below its header; got no-rows.csv."),
    Refused("cut.csv.gz", gzip.compress(PLAIN.encode() * 99)[:-20],
            "FILE must be whole; its gzip data is damaged or cut off; got cut.csv.gz."),
    Refused("text.parquet", PLAIN.encode(), "FILE must be Parquet but begins like none of the kinds known by their "
            "first bytes: pass --format csv if text; got text.parquet."),
    Refused("cut.parquet", written("to_parquet")[:-30],
            "FILE must be Parquet that can be read; it is damaged or cut off; got cut.parquet."),
    Refused("close.parquet", written("to_parquet"), "columns must name columns that occur once in the file's schema, "
            "which has 2 (did you mean 'b c'?); got 'bc'.", {}, ["bc"]),
    Refused("sheets.xlsx", workbook(("Info", SHEET), ("Data", SHEET)), "sheet must be named, since the workbook has 2 "
            f"sheets: pass --sheet; {LOOK}; got none."),
    Refused("sheet.xlsx", workbook(("Data", SHEET)),
            f"sheet must be one of the workbook's 1 sheets; {LOOK}; got 'data'.", {"sheet": "data"}),
    Refused("zip.xlsx", b"PK\x03\x04 and no more", "FILE must be an Excel workbook that can be read; got zip.xlsx."),
    Refused("database.csv", b"SQLite format 3\0", _FILE + "an SQLite database: export the table as CSV or Parquet; got "
            "database.csv."),
    Refused("unit.csv", PLAIN.encode(), "units must be declared for columns that are read; got 'z'.",
            {"units": {"z": "kg"}}),
    Refused("none.csv", PLAIN.encode(), "columns must name at least one column, each once; got [].", {}, []),
    Refused("repeated.csv", PLAIN.encode(), "columns must name at least one column, each once; got ['a', 'a'].", {},
            ["a", "a"]),
]  # fmt: skip
