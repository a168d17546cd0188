"""`look`: for the owner alone, and saying so; what it suggests reads the file."""

from __future__ import annotations

import itertools
import json
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tukeydp as td
from support import messy
from tukeydp.data.files import read_file
from tukeydp.data.look import MARK, flags, look, look_at_file
from tukeydp.data.readers.options import ReadOptions

RNG = np.random.default_rng(0)
ROWS = [(f"{1.5 + i / 100:.2f}".replace(".", ","), f"{1 + i % 9}.{100 + i},5", f"{50 + i % 40} bpm", "Jörg", i % 2)
        for i in range(60)]  # fmt: skip
CLINIC = "Bericht\n" + "Größe;Gewicht, kg;Puls;Name;Frau\n" + "".join(";".join(map(str, row)) + "\n" for row in ROWS)


@pytest.fixture
def clinic(tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_bytes(CLINIC.encode("cp1252"))
    return path


def test_a_clinic_s_file_is_understood(clinic):
    seen = look_at_file(clinic)
    assert seen.options == ReadOptions(
        separator=";", decimal=",", thousands=".", encoding="cp1252", skip=1, units={"Puls": "bpm"}
    )
    kinds = {column.name: column.kind for column in seen.columns}
    assert kinds == {"Größe": "numbers", "Gewicht, kg": "numbers", "Puls": "numbers", "Name": "text", "Frau": "numbers"}
    assert seen.rows == 60
    assert [column.readable for column in seen.columns] == [60, 60, 60, 0, 60]
    assert "2 different values only" in seen.columns[4].remarks
    cells = read_file(clinic, ["Gewicht, kg", "Puls"], seen.options).cells
    np.testing.assert_array_equal(cells, [[float(b.replace(".", "").replace(",", ".")), int(c.split()[0])]
                                          for _, b, c, _, _ in ROWS])  # fmt: skip


def test_the_command_is_whole_and_can_be_pasted(clinic):
    words = shlex.split(look_at_file(clinic, bounds={"Puls": (30, 220)}).command)
    assert words[:3] == ["tukeydp", "mean", str(clinic)]
    for pair in (("--columns", "Gewicht, kg"), ("--epsilon", "1"), ("--bounds", "Puls=30,220"), ("--separator", ";"),
                 ("--bounds", "Größe=LOWER,UPPER"), ("--decimal", ","), ("--thousands", "."), ("--encoding", "cp1252"),
                 ("--skip", "1"), ("--unit", "Puls=bpm")):  # fmt: skip
        assert pair in list(itertools.pairwise(words))


def test_every_line_says_that_it_is_not_private(clinic):
    seen = look_at_file(clinic)
    lines = str(seen).splitlines()
    assert lines.pop() == seen.command
    assert all(line.startswith(MARK) for line in lines)
    rows = seen._repr_html_().split("<tr>")[2:]
    assert len(rows) == 5
    assert all(MARK in row for row in rows)
    assert seen.to_dict()["private"] is False
    json.dumps(seen.to_dict())


@pytest.mark.parametrize("case", [c for c in messy.FILES if c.options.get("missing", ()) == ()], ids=lambda c: c.name)
def test_messy_files_are_looked_at(case, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.content)
    assert str(look_at_file(path, ReadOptions(**case.options)))
    assert str(look_at_file(path))


def test_codes_skewness_outside_and_unsure_marks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{50 + i % 10};{i % 7 + 1}.534\n" for i in range(50)) + "-999;1.000\n" * 3)
    seen = look_at_file(path, bounds=(0, 55))
    assert any("--missing a=-999" in remark for remark in seen.columns[0].remarks)
    assert seen.columns[0].outside == 4 * 5 + 3
    assert any("UNSURE" in line for line in seen.evidence)
    skewed = look(np.exp(2 * RNG.normal(size=(500, 1))))
    assert skewed.columns[0].skewness > 2
    assert any("skewed" in remark for remark in skewed.columns[0].remarks)


def test_data_frames_with_text_are_looked_at():
    texts = pd.DataFrame({"a": [1, 2], "t": pd.array(["x", "y"], dtype="string")})
    for frame in (texts, pl.LazyFrame({"a": [1, 2], "t": ["x", "y"]})):
        seen = td.look(frame, bounds={"a": (0, 1)})
        assert seen.columns[0].outside == 1
        assert (seen.columns[1].kind, seen.columns[1].remarks) == ("text", ("2 not numbers",))
    nested = td.look(pl.DataFrame({"a": [1, 2], "t": [["secret-4711"], []]}))
    assert nested.columns[1].kind == "text"
    with pytest.raises(td.ParameterError, match="bounds must be given for columns of the table"):
        td.look(pd.DataFrame({"a": [1]}), bounds={"z": (0, 1)})


def test_flags_name_what_differs_from_the_defaults():
    assert flags(ReadOptions()) == []
    assert flags(ReadOptions(separator="\t", header=False, quote="", missing=["-9"])) == [
        "--separator", "tab", "--quote", "none", "--no-header", "--missing", "-9",
    ]  # fmt: skip


def test_marks_of_thousands_that_were_read_as_decimal_ones(tmp_path):
    """1.808 beside 987 may be 1808, also where another column has real decimals. Three decimals are in every cell."""
    path = tmp_path / "t.csv"
    path.write_text("age;income;weight\n50.4;987;1.250\n61.0;1.808;2.125\n48.5;12.500;1.500\n")
    age, income, weight = look_at_file(path).columns
    assert "'.' is always before three digits: if it marks thousands, pass --thousands . --decimal ," in income.remarks
    assert not any("three digits" in remark for column in (age, weight) for remark in column.remarks)


def test_no_command_where_marks_may_mean_two_things(tmp_path):
    """`--decimal ,` was taken, and the command that was printed read 1,234 as 1.234."""
    path = tmp_path / "t.csv"
    path.write_text("age;income\n50;1,234\n51;987\n52;12,500\n")
    seen = look_at_file(path)
    assert seen.command is None
    assert "'1,234' may be two numbers: --decimal , (1.234) or --thousands , --decimal . (1234)?" in str(seen)
    assert str(seen).splitlines()[-1].startswith(MARK)
    assert seen.to_dict()["question"] == seen.question
    assert "may be two numbers" in seen._repr_html_()
    for options, flag in ((ReadOptions(decimal=","), "--decimal ,"), (ReadOptions(thousands=","), "--thousands ,")):
        sure = look_at_file(path, options)
        assert sure.question is None
        assert flag in sure.command
    assert look_at_file(path, marks_stated=True).question is None  # --decimal . in so many words
    # A mark that every column but one uses for decimals.
    path.write_text("age;income;weight\n50.4;987;1.250\n61.0;1.808;2.125\n48.5;12.500;1.500\n")
    doubtful = look_at_file(path)
    assert doubtful.command is None
    assert "--thousands . --decimal ,; if it does not, --decimal .: look again" in doubtful.question
    # Other marks that read every cell as the same number are no doubt.
    path.write_text("age;pulse\n50;70 bpm\n51;71 bpm\n")
    assert look_at_file(path).question is None


def test_the_owner_is_told_what_unreadable_cells_look_like(tmp_path):
    path = tmp_path / "t.csv"
    cells = ["1,234", "5,678", "131 mmHg", "NA", "", "987", "12", "13", "14", "15"]
    path.write_text("a;b\n" + "".join(f"{cell};1\n" for cell in cells) + "3\n")
    column, other = look_at_file(path, ReadOptions(separator=";"), marks_stated=True).columns
    assert column.remarks[0] == "3 not numbers, such as '1,234' (2), '131 mmHg' (1)"
    assert other.remarks[0] == "1 lines too short to hold it"
