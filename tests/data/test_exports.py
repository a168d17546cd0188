"""Files as people have them, read as declared: titles, decimal commas, codes, limits of detection, several headers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tukeydp as td
from support.exports import HOSPITAL_BOUNDS, Export, hospital, redcap, survey
from support.messy import workbook, workbook_of
from tukeydp.data.dictionary import parse_dictionary
from tukeydp.data.look import drafted, look_at_file
from tukeydp.data.readers.columns import header_of
from tukeydp.data.readers.options import ReadOptions
from tukeydp.trusted.parameters import ParameterError

GERMAN: dict[str, Any] = {"decimal": ",", "skip": 3}


@pytest.fixture(scope="module")
def visits() -> Export:
    return hospital()


def written(export: Export, folder: Path, name: str) -> Path:
    for file in (name, *(one for one in export.files if one.startswith("dictionary"))):
        (folder / file).write_bytes(export.files[file])
    return folder / name


def same(read: np.ndarray, true: list[float | None]) -> bool:
    return np.array_equal(read, [math.nan if value is None else value for value in true], equal_nan=True)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("visits.csv", {"separator": ";", "encoding": "cp1252"}),
        ("visits.xlsx", {"sheet": "Daten"}),
    ],
)
def test_the_hospital_s_export_reads_with_its_dictionary(
    visits: Export, tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    file = written(visits, tmp_path, name)
    table = td.read(file, dictionary=tmp_path / "dictionary.csv", **GERMAN, **options)
    assert set(HOSPITAL_BOUNDS) <= set(table.columns)
    cells = table[list(HOSPITAL_BOUNDS)].table()
    assert cells.unreadable is not None
    assert not cells.unreadable.any()
    for j, column in enumerate(HOSPITAL_BOUNDS):
        assert same(cells.cells[:, j], visits.true[column]), column


def test_several_header_rows_make_up_the_names(visits: Export, tmp_path: Path) -> None:
    file = written(visits, tmp_path, "two-headers.xlsx")
    table = td.read(
        file, ["Person Alter [Jahre]", "Labor Hb [g/dl]"], header=2, missing={"Labor Hb [g/dl]": -9}, **GERMAN
    )
    assert same(table.table().cells[:, 1], visits.true["Hb [g/dl]"])
    (tmp_path / "two.csv").write_text("id,Baseline,,Week 12,\n,sys,dia,sys,dia\n1,120,80,118,79\n")
    both = td.read(tmp_path / "two.csv", ["Baseline dia", "Week 12 sys"], header=2)
    assert both.table().cells.tolist() == [[80, 118]]
    assert header_of([["Blood\r\npressure"]]) == ["Blood pressure"]


@pytest.mark.parametrize("header", [-1, 10, "two", None])
def test_the_header_is_a_number_of_rows(tmp_path: Path, header: Any) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match="header must be"):
        td.read(tmp_path / "a.csv", header=header)


def test_the_survey_and_the_redcap_export_read_with_their_dictionaries(tmp_path: Path) -> None:
    asked = survey()
    table = td.read(written(asked, tmp_path, "survey.csv"), dictionary=tmp_path / "dictionary.yaml")
    assert table.columns == ("age", "health", "income", "works", "weight")
    for name, true in asked.true.items():
        assert same(table[name].table().cells[:, 0], true)
    project = redcap()
    table = td.read(written(project, tmp_path, "redcap.csv"), dictionary=tmp_path / "dictionary.csv")
    assert table.columns[:3] == ("age", "weight", "ldl")
    assert table.dictionary is not None
    assert table.dictionary.bounds_of(["age", "ldl"]) == {"age": (18, 99), "ldl": (0.5, 12)}
    assert same(table["ldl"].table().cells[:, 0], project.true["ldl"])


# Limits of detection.


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_limits_are_read_as_declared_and_others_are_missing(tmp_path: Path, kind: str) -> None:
    cells = ["<0,3", "< 0,30", "<0,3 mg/l", "<0,5", ">200", "0,4", "", "<", "x", "<0,3x", "<-"]
    file = tmp_path / f"crp.{kind}"
    if kind == "csv":
        file.write_text("\n".join(["crp;n", *(f"{cell};1" for cell in cells)]) + "\n")
    else:
        file.write_bytes(workbook(("S", [["crp", "n"], *([cell, 1] for cell in cells)])))
    options: dict[str, Any] = {"separator": ";", "decimal": ",", "units": {"crp": "mg/l"}}
    half = td.read(file, ["crp"], detection={"crp": ["<0.3/2", ">200"]}, **options).table()
    assert np.array_equal(
        half.cells[:, 0], [0.15, 0.15, 0.15, *[math.nan] * 1, 200, 0.4, *[math.nan] * 5], equal_nan=True
    )
    assert half.unreadable is not None
    assert half.unreadable.tolist() == [5]  # the empty cell is missing alone
    whole = td.read(file, ["crp"], detection={"crp": "<0,3"}, **options).table()
    assert whole.cells[0, 0] == 0.3
    without = td.read(file, ["crp"], **options).table()
    assert np.isfinite(without.cells[:, 0]).sum() == 1


def test_a_limit_must_be_one_and_its_column_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match="detection must be a limit"):
        td.read(tmp_path / "a.csv", detection={"a": "0.3"})
    with pytest.raises(ParameterError, match="detection must be declared for columns that are read"):
        td.read(tmp_path / "a.csv", detection={"b": "<0.3"})


# Excel.


def test_a_hidden_sheet_is_not_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    content = workbook(("Codes", [["x"], [1]]), ("Data", [["a", "b"], [1, 2]]))
    file.write_bytes(_hidden(content, "Codes"))
    assert td.read(file).table().cells.tolist() == [[1, 2]]
    assert td.read(file, sheet="Codes").table().cells.tolist() == [[1]]
    file.write_bytes(content)
    with pytest.raises(ParameterError, match="workbook has 2 sheets"):
        td.read(file)


def _hidden(content: bytes, name: str) -> bytes:
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        for part in old.namelist():
            text = old.read(part).decode()
            new.writestr(part, text.replace(f'name="{name}"', f'name="{name}" state="hidden"'))
    return packed.getvalue()


def test_a_formula_without_a_result_is_unreadable_and_not_empty(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    file.write_bytes(
        workbook_of(
            '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>'
            '<c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'
            '<row r="2"><c r="A2"><f>1+1</f></c><c r="B2"><v>1</v></c></row>'
            '<row r="3"><c r="A3"><f>1+1</f><v>2</v></c><c r="B3"><v>1</v></c></row>'
        )
    )
    read = td.read(file, ["a"]).table()
    assert np.array_equal(read.cells, [[math.nan], [2]], equal_nan=True)
    assert read.unreadable is not None
    assert read.unreadable.tolist() == [1]


# One person's cell changes nothing but itself, and nothing raises.

STRANGE = [
    "<0,3", "<", "<<0,3", ">1e999", "99", "-9", "1e400", "\ufeff", '"', "';--", "=1+1", "\x00", "a\nb", "ja", "TRUE",
    "\u22125", "0x10", "<0,3/2", "|", "1.234,5", "٣", "﹤0,3", "#REF!", "\ud7ff" * 50,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_cell_changes_no_other(tmp_path: Path, strange: str, kind: str) -> None:
    usual = [["1,5", "m", "<0,3"], ["2", "w", "0,4"], ["99", "m", "-9"]]
    known = tmp_path / "known.csv"
    known.write_text(
        "column;type;lower;upper;categories;missing;detection\na;number;0;9;;99;\n"
        "s;category;;;m | w;;\nc;;0;9;;-9;<0,3/2\n"
    )

    def cells(rows: list[list[str]]) -> tuple[np.ndarray, list[Any]]:
        file = tmp_path / f"t.{kind}"
        if kind == "csv":
            quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in [["a", "s", "c"], *rows]]
            file.write_text("".join(";".join(row) + "\n" for row in quoted), encoding="utf-8")
        else:
            clean = [[cell.replace("\x00", "") for cell in row] for row in rows]  # XML has no NUL
            file.write_bytes(workbook(("S", [["a", "s", "c"], *clean])))
        table = td.read(file, dictionary=known, separator=";", decimal=",")
        read, (texts,) = table.with_cells("s")
        return read.cells, texts

    before, texts_before = cells(usual)
    for i in range(3):
        for j in range(3):
            changed = [list(row) for row in usual]
            changed[i][j] = strange
            after, texts = cells(changed)
            others = [(k, m) for k in range(3) for m in range(2) if (k, (0, 2)[m]) != (i, j)]
            assert all(np.array_equal(before[at], after[at], equal_nan=True) for at in others)
            assert all(texts_before[k] == texts[k] for k in range(3) if (k, 1) != (i, j))


# SPSS, Stata and SAS.


def labelled(folder: Path, kind: str, texts: list[str] | None = None) -> Path:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {
            "größe" if kind == "sav" else "size": [1.5, 99, 48.0, math.nan],
            "sex": [1.0, 2.0, 2.0, 1.0],
            "arm": texts or ["A", "B", "é", ""],
            "seen": pd.to_datetime(["2020-01-01", "2021-05-05", None, "2022-02-02"]),
        }
    )
    labels: dict[str, Any] = {"variable_value_labels": {"sex": {1: "Männer", 2: "Frauen"}}}
    file = folder / f"t.{kind}"
    if kind == "sav":
        pyreadstat.write_sav(frame, str(file), missing_ranges={"größe": [99]}, column_labels={"sex": "Sex"}, **labels)
    elif kind == "dta":
        pyreadstat.write_dta(frame, str(file), column_labels={"sex": "Sex"}, **labels)
    else:
        pyreadstat.write_xport(frame, str(file))
    return file


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_files_of_statistics_packages(tmp_path: Path, kind: str) -> None:
    file = labelled(tmp_path, kind)
    size = "größe" if kind == "sav" else "size"
    table = td.read(file, [size, "sex", "seen"], missing={} if kind == "sav" else {size: 99})
    read, (arms,) = table.with_cells("arm")
    nan = math.nan
    expected = [[1.5, 1, nan], [nan, 2, nan], [48, 2, nan], [nan, 1, nan]]  # SPSS declares 99 as missing itself
    assert np.array_equal(read.cells, expected, equal_nan=True)
    assert read.unreadable is not None
    assert read.unreadable.tolist() == [0, 0, 3]  # a column of dates
    assert arms[:3] == ["A", "B", "é"]
    seen = td.look(file)
    assert [column.kind for column in seen.columns] == ["numbers", "numbers", "text", "dates"]
    if kind != "xpt":
        assert seen.columns[1].categories == (("1", "Männer"), ("2", "Frauen"))
        assert seen.columns[1].label == "Sex"


def test_an_odd_byte_of_one_person_changes_no_other_text(tmp_path: Path) -> None:
    """The library itself fails at it: the control."""
    import pyreadstat

    file = labelled(tmp_path, "sav", ["ä", "B", "é", ""])
    content = file.read_bytes()
    at = content.index("é".encode())
    file.write_bytes(content[:at] + b"\xff\xfe" + content[at + 2 :])
    with pytest.raises(pyreadstat.ReadstatError):
        pyreadstat.read_sav(str(file))
    table = td.read(file, ["sex"])
    read, (arms,) = table.with_cells("arm")
    assert arms[:2] == ["ä", "B"]
    assert read.cells[:, 0].tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("ending", ["sav", "dta", "sas7bdat", "xpt"])
def test_what_is_no_such_file_is_refused_in_one_sentence(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"t.{ending}"
    for content in (b"", b"a,b\n1,2\n", b"$FL2" + b"\0" * 500, b"HEADER RECORD*******LIBRARY", b"<stata_dta><header>"):
        file.write_bytes(content)
        with pytest.raises(ParameterError, match="FILE must be"):
            td.read(file, ["a"])


# `look` tells the owner, column by column, and drafts a dictionary.


def test_look_points_out_codes_and_limits_of_the_column_alone(visits: Export, tmp_path: Path) -> None:
    for name, sheet in (("visits.csv", {}), ("visits.xlsx", {"sheet": "Daten"})):
        seen = look_at_file(written(visits, tmp_path, name), ReadOptions(**sheet))
        said = {column.name: " ".join(column.remarks) for column in seen.columns}
        assert "--missing 'Schmerz (0-10)=99'" in said["Schmerz (0-10)"]
        assert "--missing 'Schmerz (0-10)=-9'" in said["Schmerz (0-10)"]
        assert "--missing 'Hb [g/dl]=-9'" in said["Hb [g/dl]"]
        assert "--detection 'CRP [mg/l]=<0.3'" in said["CRP [mg/l]"]
        assert not any("--missing" in said[name] for name in ("Alter [Jahre]", "Kreatinin [mg/dl]", "BMI [kg/m²]"))
        assert seen.options is not None
        assert (seen.options.skip, seen.options.decimal) == (3, ",")
        assert seen.options.units == {"RR syst. [mmHg]": "mmHg"}


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(60, 121)] * 3 + [99] * 9, []),  # a weight of 99 kg is one
        ([*range(18, 98)] + [99, 99], []),
        ([*range(11)] * 5 + [-9], ["-9"]),
        ([*range(11)] * 5 + [99], ["99"]),
        ([-3.0, 4.0, -20.0, 11.0] * 5 + [-9.0] * 3, []),
        ([1, 2, 3, 4, 5] * 9 + [8, 9, 9], ["8", "9"]),
    ],
)
def test_only_what_is_far_from_all_others_is_pointed_out(values: list[float], codes: list[str]) -> None:
    remarks = td.look(np.array(values, dtype=float)).columns[0].remarks
    assert [one.split()[0] for one in remarks if "--missing" in one] == codes


def test_a_drafted_dictionary_leaves_bounds_and_categories_to_the_owner(visits: Export, tmp_path: Path) -> None:
    text = drafted(look_at_file(written(visits, tmp_path, "visits.csv")))
    lines = {line.split(",")[0]: line for line in text.splitlines()}
    assert lines["Alter [Jahre]"] == "Alter [Jahre],Alter,number,,,Jahre,,,,"
    assert lines["Geschlecht"] == "Geschlecht,,category,,,,,,,"
    assert parse_dictionary(text, ".csv", "draft").columns["Geschlecht"].categories is None  # to be filled in
    filled = text.replace("category,,,,,", "category,,,,m | w,").replace("number,,,", "number,0,100,")
    assert parse_dictionary(filled, ".csv", "draft").columns["Hb [g/dl]"].unit == "g/dl"
    labels = drafted(td.look(labelled(tmp_path, "sav")))
    assert '"1, Männer | 2, Frauen"' in labels


def test_merged_and_hidden_are_said(tmp_path: Path) -> None:
    content = _hidden(workbook(("Codes", [["x"], [1]]), ("Data", [["a", "b"], [1, 2], [3, 4]])), "Codes")
    file = tmp_path / "a.xlsx"
    file.write_bytes(content)
    assert "hidden sheets: 'Codes'" in td.look(file).evidence
    (tmp_path / "two.csv").write_text("title\nid,Baseline,,Week 12,\nno,sys,dia,sys,dia\n1,120,80,118,79\n2,1,2,3,4\n")
    said = td.look(tmp_path / "two.csv").evidence
    assert any("--header-rows 2" in one for one in said)


def test_a_look_with_a_dictionary_tells_what_is_in_no_category_and_which_columns_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,age\n" + "m,1\nw,2\nunknown,3\n,4\n9,5\n" * 5)
    known = parse_dictionary('column,categories,missing\nsex,"m, male | w, female",9\nheight,,\n', ".csv", "d.csv")
    seen = look_at_file(tmp_path / "t.csv", known=known)
    sex = seen.columns[0]
    assert (sex.kind, sex.readable, sex.missing) == ("categories", 15, 10)
    assert sex.remarks == ("5 cells, such as 'unknown' (5), in none of its categories: they count as missing",)
    assert "columns of the dictionary that are not in the file: height" in seen.evidence


def test_words_in_numbers_and_repeated_ids_are_pointed_out(tmp_path: Path) -> None:
    lines = [f"P{i // 2},{'n.d.' if i % 10 == 0 else 13.1},2025-01-{i % 28 + 1:02d},{i // 2}" for i in range(100)]
    (tmp_path / "t.csv").write_text("patient,hb,day,age\n" + "\n".join(lines) + "\n")
    who, hb, day, age = look_at_file(tmp_path / "t.csv").columns
    assert "if 'n.d.' stands for no value, pass --missing hb=n.d." in hb.remarks
    assert "50 different in 100 cells: if they say who a row is about, pass --person patient" in who.remarks
    assert not any("--person" in remark for remark in (*day.remarks, *age.remarks))


def test_declared_codes_are_drafted_and_read_as_nothing_in_workbooks(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["Study"],
        ["", "Baseline"],
        ["id", "Pain, kg"],
        *([i, 99 if i % 5 == 0 else i % 10] for i in range(50)),
    ):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    seen = look_at_file(tmp_path / "t.xlsx", ReadOptions(skip=2, missing={"Pain, kg": ["99"]}))
    assert not any("merged" in line for line in seen.evidence)
    assert not any("not numbers" in remark for remark in seen.columns[1].remarks)
    assert '"Pain, kg",Pain,number,,,kg,,99,,' in drafted(seen)
    book.active.merge_cells("A10:A12")
    book.save(tmp_path / "t.xlsx")
    assert any("1 merged cell below the header" in line for line in look_at_file(tmp_path / "t.xlsx").evidence)
