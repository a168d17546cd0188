"""Files as people have them, through the command line: read exactly, or refused; never another number.

A seeded release depends on the table alone. So a file is read exactly if its release is that of the plain file with
the true values, in which missing cells are empty.
"""

from __future__ import annotations

import io
import json
import math
import os
import shlex
import sys
import threading

import numpy as np
import pytest

from support import messy
from tukeydp.cli import main
from tukeydp.data.look import MARK, flags
from tukeydp.data.readers.options import ReadOptions

SECRET = "4711.25"
# Without the check, which would stop most of the files that are read as declared wrongly: tests/cli/test_check.py.
ASKED = ("--epsilon=1", "--bounds=-2000,2000", "--seed=1", "--no-check", "--json")


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments, piped=None):
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
        if piped is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert SECRET not in err
        return stopped.value.code or 0, out, err

    return call


@pytest.fixture
def released(run, tmp_path):
    """What is released for these true values; None is a missing cell."""

    def call(columns, values):
        path = tmp_path / "true.csv"
        lines = ["|".join(columns), *("|".join("" if math.isnan(v) else repr(v) for v in row) for row in values)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        code, out, err = run("mean", path, *named(columns), "--separator=|", *ASKED)
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def printed(out):
    """What was printed, but for the declared units, which the true values are written without."""
    return {**json.loads(out), "units": None}


def named(columns):
    return [word for column in columns for word in ("--columns", column)]


def saved(folder, case):
    path = folder / case.name
    path.write_bytes(case.content)
    return path


@pytest.mark.parametrize("case", messy.FILES, ids=lambda case: case.name)
def test_messy_files_are_read_exactly(run, released, tmp_path, case):
    dialect = flags(ReadOptions(**case.options))
    code, out, err = run("mean", saved(tmp_path, case), *named(case.columns), *dialect, *ASKED)
    assert (code, err) == (0, "")
    assert printed(out) == released(case.columns, case.values)


def test_another_number_would_be_noticed(released):
    """The control of the test above."""
    changed = [[1.5, 131], [1234.25, 128.5], [-2, math.nan]]
    filled = [[1.5, 131], [1234.25, 128], [-2, 0]]
    for values in (changed, filled):
        assert released(messy.COLUMNS, values)["point"] != released(messy.COLUMNS, messy.TRUE)["point"]


@pytest.mark.parametrize("command", ["mean", "centre"])
@pytest.mark.parametrize("case", [case for case in messy.REFUSED if case.columns], ids=lambda case: case.name)
def test_others_are_refused_in_a_sentence(run, tmp_path, case, command):
    dialect = flags(ReadOptions(**case.options))
    code, out, err = run(command, saved(tmp_path, case), *named(case.columns), *dialect, *ASKED)
    assert (code, out) == (2, "")
    assert err.replace(f"{tmp_path}/", "") == f"tukeydp: {case.sentence}\n"


# 300 people whose mean is 129.5 or 249,158.25, written in ways that have given other numbers.
PRESSURES = [100.5 + i % 59 for i in range(299)] + [float(SECRET)]
INCOMES = [100_158 + 1000 * (i % 299) for i in range(299)]
WRITTEN = {
    "decimal commas": ([str(v).replace(".", ",") for v in PRESSURES], []),
    "quoted decimal commas": ([f'"{v}"'.replace(".", ",") for v in PRESSURES], ["--decimal=,"]),
    "points for thousands": ([f"{v:,}".replace(",", ".") for v in INCOMES], ["--decimal=,", "--thousands=."]),
    "commas for thousands": ([f'"{v:,}"' for v in INCOMES], ["--thousands=,"]),
    "units": ([f"{v} mmHg" for v in PRESSURES], ["--unit=mmHg"]),
    "codes": ([*map(str, PRESSURES[:-1]), "-999"], ["--missing", "-999"]),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("told", [False, True])
def test_nothing_is_read_as_another_number(run, released, tmp_path, written, told):
    """As declared, all is read; undeclared, every cell is missing, but for codes, which are numbers."""
    cells, dialect = WRITTEN[written]
    true = INCOMES if "thousands" in written else PRESSURES
    if written == "codes":
        true = [*PRESSURES[:-1], math.nan if told else -999.0]
    elif not (told and dialect):
        true = [math.nan] * len(cells)
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "\n".join(cells) + "\n")
    declared = dialect if told else [option for option in dialect if option == "--decimal=,"] * ("points" in written)
    code, out, err = run("mean", path, "--columns=a", *declared, *ASKED)
    assert (code, err) == (0, "")
    assert printed(out) == released(["a"], [[v] for v in true])
    code, out, _ = run("mean", path, "--columns=a", *declared, *ASKED[:-1])
    assert "check yourself (tukeydp look) that the columns hold numbers" in " ".join(out.split())


def test_columns_by_exact_names_and_by_lists(run, tmp_path):
    path = tmp_path / "t.csv"
    content = '"Gewicht, kg",b,"c,d",c,d\n' + "61.5,1,2,3,4\n" * 50
    path.write_text(content)

    def columns(*texts, file=path, piped=None):
        code, out, err = run("mean", file, *named(texts), "--epsilon=1", "--bounds=0,99", "--json", piped=piped)
        return json.loads(out)["columns"] if code == 0 else err

    assert columns("Gewicht, kg") == ["Gewicht, kg"]
    assert columns("Gewicht, kg", "b") == ["Gewicht, kg", "b"]
    assert columns("b", " d ") == ["b", "d"]
    assert columns("d, b", "Gewicht, kg") == ["d", "b", "Gewicht, kg"]
    assert columns("c,d") == ["c,d"]
    assert columns("d,c") == ["d", "c"]
    assert "must name columns of the header" in columns("Gewicht; kg")
    assert "must name at least one column, each once" in columns("b", "b")
    # A pipe is read once: several are names as they stand, a single one is split.
    assert columns("Gewicht, kg", "b", file="-", piped=content.encode()) == ["Gewicht, kg", "b"]
    assert columns("d,b", file="-", piped=content.encode()) == ["d", "b"]


def test_a_named_pipe_is_read_once(run, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("1,2\n" * 40), daemon=True)
    writer.start()
    code, out, err = run("mean", path, "--columns=1,2", "--no-header", *ASKED)
    assert (code, err) == (0, "")
    assert json.loads(out)["n"] == 40
    writer.join(10)


def test_units_and_codes_for_all_columns_and_for_one(run, released, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1 kg,2 kg\n3,4 lb\n-9,-1\n-1,-9\n")
    dialect = ("--unit=kg", "--unit", "b=lb", "--missing", "-9", "--missing", "b=-1")
    code, out, err = run("mean", path, "--columns=a,b", *dialect, *ASKED)
    assert (code, err) == (0, "")
    assert printed(out) == released(["a", "b"], [[1, 2], [3, 4], [math.nan, math.nan], [-1, math.nan]])
    for wrong in ("--unit=c=kg", "--missing=c=-9", "--unit=5"):
        code, out, err = run("mean", path, "--columns=a,b", wrong, *ASKED)
        assert (code, out) == (2, "")
        assert "must be" in err


# The fourth column looks like an id, so `look` leaves it out of its command, and its unit with it.
CLINIC = "Bericht\nGröße;Gewicht, kg;Puls;Fall\n" + "".join(
    f"1,{i + 10};{i + 50},5;{60 + i % 20} bpm;{i} Nr\n" for i in range(40)
)


def test_look_prints_the_command_that_reads_the_file(run, tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_bytes(CLINIC.encode("cp1252"))
    bounds = ("--bounds=Größe=0,3", "--bounds", "Gewicht, kg=0,300", "--bounds=Puls=0,70")
    code, out, err = run("look", path, *bounds)
    assert (code, err) == (0, "")
    *lines, command = out.splitlines()
    assert all(line.startswith(MARK) for line in lines)
    assert "18 outside the bounds" in out
    code, out, err = run(*shlex.split(command)[1:], "--seed=1", "--json")
    assert (code, err) == (0, "")
    true = [[float(f"1.{i + 10}"), i + 50.5, 60.0 + i % 20] for i in range(40)]
    plain = tmp_path / "plain.csv"
    plain.write_text("Größe|Gewicht, kg|Puls\n" + "".join("|".join(map(repr, row)) + "\n" for row in true))
    columns = named(["Größe", "Gewicht, kg", "Puls"])
    expected = run("mean", plain, *columns, "--separator=bar", "--epsilon=1", *bounds, "--seed=1", "--json")[1]
    assert printed(out) == printed(expected)


def test_look_at_standard_input_as_json_and_at_what_is_wrong(run, tmp_path):
    code, out, err = run("look", "-", "--json", piped=CLINIC.encode("utf-16"))
    assert (code, err) == (0, "")
    seen = json.loads(out)
    assert seen["private"] is False
    assert seen["options"]["encoding"] == "utf-16"
    path = tmp_path / "t.csv"
    path.write_text('"a\nb",c\n1,2\n3,4\n')
    marked = run("look", path, "--bounds=0,1")[1].split("\ntukeydp")[0].splitlines()
    assert all(line.startswith(MARK) for line in marked)
    for wrong in ("--bounds=z=0,1", "--separator=ab", "--format=json"):
        code, out, err = run("look", path, wrong)
        assert (code, out) == (2, "")
        assert f"{wrong.split('=')[0][2:]} must" in err
    assert run("look", path, "--bounds=0,1", "--bounds=c=0,2")[0] == 2
    assert run("look", path, "--unit=kg", "--unit=c=lb")[0] == 2
    assert run("look", tmp_path / "none.csv")[0] == 2


def test_contours_take_the_same_options(run, tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 2))
    path = tmp_path / "t.csv"
    path.write_text("Gewicht, kg;b\n" + "".join(f"{a:.3f};{b:.3f}\n" for a, b in rows).replace(".", ","))
    arguments = ("contours", path, "--columns", "Gewicht, kg", "--columns=b", "--out", tmp_path / "p.png")
    assert run(*arguments)[0] == 2
    assert run(*arguments, "--separator=;", "--decimal=,")[0] == 0


@pytest.mark.parametrize("command", [pytest.param("mean", marks=pytest.mark.slow), "centre"])  # four rehearsals
def test_a_value_at_the_edge_of_its_bounds_is_pointed_out(run, tmp_path, command):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{v},50\n" for v in INCOMES))
    arguments = (command, path, "--columns=a,b", "--seed=1")
    out = " ".join(run(*arguments, "--epsilon=1", "--bounds=0,100")[1].split())
    assert "Warning At the edge of its bounds: a. " in out
    assert "epsilon above 10" not in out
    assert "At the edge" not in run(*arguments, "--epsilon=1", "--bounds=a=0,1000000", "--bounds=b=0,100")[1]
    assert "epsilon above 10" in run(*arguments, "--epsilon=11", "--bounds=0,100")[1]
    assert "epsilon above 10" not in run(*arguments, "--epsilon=10", "--bounds=0,100")[1]
