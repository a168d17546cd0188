"""`td.read`: columns of a file by name, for every function; and how many rows a file of one column has."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pandas as pd
import pytest

import tukeydp as td
from support import messy
from tukeydp.data.files import read_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.tables import Table, read_table

RNG = np.random.default_rng(3)
N = 600
FRAME = pd.DataFrame(
    {
        "id": [f"{i // 2:03d}" for i in range(N)],
        "arm": np.where(np.arange(N) % 3 == 0, "A", "B"),
        "age": RNG.normal(50, 10, N).round(1),
        "pulse": RNG.normal(70, 8, N).round(0),
        "weight": RNG.normal(80, 9, N).round(2),
    }
)
MEASURED = ["age", "pulse", "weight"]
ENDS = {"age": (0, 120), "pulse": (30, 220), "weight": (30, 200)}


def _workbook(path, frame):
    rows = [list(frame.columns), *frame.astype(object).values.tolist()]
    path.write_bytes(messy.workbook(("S", rows)))


WRITERS = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.xlsx": lambda path: _workbook(path, FRAME),
    "t.parquet": lambda path: FRAME.to_parquet(path),
    "t.feather": lambda path: FRAME.to_feather(path),
}


@pytest.fixture(scope="module", params=WRITERS)
def path(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("files") / request.param
    WRITERS[request.param](place)
    return place


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    place = tmp_path_factory.mktemp("plain") / "t.csv"
    WRITERS["t.csv"](place)
    return place


CALLS = {
    "mean": lambda x, **k: td.mean(x, epsilon=2, bounds=ENDS, **k),
    "mean, add-remove": lambda x, **k: td.mean(x, epsilon=2, bounds=ENDS, neighbours="add-remove", rows=600, **k),
    "boxem": lambda x, **k: td.boxem(x, epsilon=2, bounds=ENDS, **k),
    "rem": lambda x, **k: td.rem(x, epsilon=2, delta="1e-6", **k),
    "cube": lambda x, **k: td.cube(x, epsilon=2, bounds=ENDS, **k),
    "spread": lambda x, **k: td.spread(x, epsilon=2, bounds=ENDS, **k),
    "quantiles": lambda x, **k: td.quantiles(x, 0.5, epsilon=2, bounds=ENDS, **k),
    "summary": lambda x, **k: td.summary(x, epsilon=8, bounds=ENDS, confidence=None, **k),
    "gaussian": lambda x, **k: td.baselines.gaussian(x, epsilon="0.9", delta="1e-6", bounds=ENDS, **k),
    "regression": lambda x, **k: td.regression(x, "age", epsilon=8, bounds=(-99, 99), blocks=40, **k),
    "aggregate": lambda x, **k: td.aggregate(_floats(x), _median, epsilon=2, blocks=40, bounds=(0, 250), **k),
}
NAMED = {
    "mean by group": lambda x, **k: td.mean(x, by="arm", keys=["A", "B"], epsilon=2, bounds=ENDS, **k),
    "boxem by group": lambda x, **k: td.boxem(x, by="arm", keys=["A", "B"], epsilon=2, bounds=ENDS, **k),
    "summary by group": lambda x, **k: td.summary(x, by="arm", keys=["A", "B"], epsilon=2, bounds=ENDS, **k),
    "mean of persons": lambda x, **k: td.mean(x, person="id", epsilon=2, bounds=ENDS, **k),
    "rem of persons": lambda x, **k: td.rem(x, person="id", epsilon=2, delta="1e-6", **k),
    "summary of persons": lambda x, **k: td.summary(x, person="id", epsilon=8, bounds=ENDS, confidence=None, **k),
}


def _floats(x):
    return x.to_numpy() if isinstance(x, pd.DataFrame) else x


def _median(rows):
    return np.nanmedian(rows, axis=0)


def told(found):
    """Everything but forecasts, which take seconds."""
    if isinstance(found, dict):
        return str({key: told(one) for key, one in found.items()})
    return str(found.to_dict(verbose=False) if hasattr(found, "point") else found.to_dict())


@pytest.mark.parametrize("call", CALLS)
def test_every_function_takes_it_and_releases_what_it_does_of_a_frame(plain, call):
    # A file's check is stricter than that of a frame, which a library has read already.
    unchecked = {} if call == "gaussian" else {"check": False}
    found = CALLS[call](td.read(plain, MEASURED), randomness=td.seeded(7), **unchecked)
    expected = CALLS[call](FRAME[MEASURED], randomness=td.seeded(7), **unchecked)
    left, right = told(found), told(expected)
    assert (left == right) or call == "aggregate"  # which has no names for an array
    assert np.array_equal(getattr(found, "point", 0), getattr(expected, "point", 0))


@pytest.mark.parametrize("call", NAMED)
def test_keys_and_ids_are_found_by_name_in_every_format(path, call):
    """Whether the column is among those that are measured or not."""

    def run(x):
        unchecked = {"check": False} if "group" in call else {}  # Parquet declares its types; persons have no check
        return told(NAMED[call](x, randomness=td.seeded(7), **unchecked))

    column = "arm" if "group" in call else "id"
    expected = run(FRAME[[*MEASURED, column]])
    assert run(td.read(path, MEASURED)) == expected
    assert run(td.read(path, [*MEASURED, column])[[*MEASURED, column]]) == expected


def test_a_column_of_its_own_serves_as_answers_keys_and_ids(plain):
    table = td.read(plain)
    assert table.columns == ("id", "arm", *MEASURED)
    asked = {"epsilon": 8, "bounds": (-99, 99), "blocks": 40, "randomness": td.seeded(7)}
    by_name = td.regression(table[MEASURED], "age", **asked)
    of_its_own = td.regression(table[["pulse", "weight"]], table["age"], **asked | {"randomness": td.seeded(7)})
    assert (by_name.point == of_its_own.point).all()
    asked = {"keys": ["A", "B"], "epsilon": 2, "bounds": ENDS}
    one = td.mean(table[MEASURED], by=table["arm"], randomness=td.seeded(1), **asked)
    other = td.mean(table[MEASURED], by="arm", randomness=td.seeded(1), **asked)
    assert all((one[key].point == other[key].point).all() for key in "AB")


def test_columns_and_declarations(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Bericht\nGrö;kg;n;\n1,5;3 kg;-999;1\n2,5;unbekannt;7,5;2\nx;1.000 kg;-9,5;3\n".encode("cp1252"))
    table = td.read(path, separator=";", decimal=",", thousands=".", encoding="cp1252", skip=1, units={"kg": "kg"},
                    missing={"n": [-999, -9.5], "kg": "unbekannt"})  # fmt: skip
    assert table.columns == ("Grö", "kg", "n")  # not the one without a name
    read = read_table(table)
    np.testing.assert_array_equal(read.cells, [[1.5, 3, np.nan], [2.5, np.nan, 7.5], [np.nan, 1000, np.nan]])
    assert (read.units, read.unreadable.tolist()) == ((None, "kg", None), [1, 0, 0])
    assert read_table(table[["n"]]).columns == ("n",)
    assert read_table(table["kg"]).units == ("kg",)
    assert td.look(table).rows == 3


def test_types_come_from_the_declaration_never_from_cells(tmp_path):
    """The neighbour's text changes its own cell, and nothing else: not the others' cells, names, or what is paid."""
    path = tmp_path / "t.csv"
    told = set()
    for odd in ("131", "131 mmHg", "2020-01-01", '"[1, 2]"', "", "\N{PILE OF POO}", "1" * 400, "inf", "true"):
        path.write_text("a,arm,id\n1,A,1\n2,B,7\n" + f"{odd},{odd},{odd}\n", encoding="utf-8")
        table = td.read(path, ["a"])
        np.testing.assert_array_equal(read_table(table).cells[:2, 0], [1, 2])
        found = td.mean(table, by="arm", keys=["A", "B"], epsilon=1, bounds=(0, 9), randomness=td.seeded(1))
        told.add((repr(table), found["A"].columns, str(found.guarantee)))
        assert table.with_cells("arm")[1][0][:2] == ["A", "B"]
        assert table.with_cells("id")[1][0][:2] == ["1", "7"]
    assert len(told) == 1


def test_nothing_of_a_table_shows_a_cell_or_how_many_there_are(plain):
    table = td.read(plain)
    read_table(table)
    assert repr(table) == "FileTable(columns=('id', 'arm', 'age', 'pulse', 'weight'))"
    assert repr(table["age"]) == str(table["age"]) == "FileTable(columns=('age',))"
    for wrong in (len, iter, list, lambda x: x[0], lambda x: x["nobody"]):
        with pytest.raises((TypeError, td.ParameterError)) as caught:
            wrong(table)
        assert str(N) not in str(caught.value)
    assert read_table(pickle.loads(pickle.dumps(td.read(plain)))).n == N


def test_no_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    table = td.read(path)
    with pytest.raises(td.ParameterError, match="x must have at least one row and one column"):
        td.cube(table, epsilon=1, bounds=(0, 1))
    assert td.cube(table, epsilon=1, bounds=(0, 1), neighbours="add-remove").columns == ("a", "b")


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"columns": "age"}, "columns"), ({"columns": [1]}, "columns"), ({"columns": []}, "columns"),
        ({"columns": ["age", "age"]}, "columns"), ({"columns": ["nobody"]}, "columns"), ({"header": -1}, "header"),
        ({"decimal": ";"}, "decimal"), ({"units": {"nobody": "kg"}}, "units"), ({"missing": [None]}, "missing"),
        ({"format": "json"}, "format"), ({"sheet": 3, "format": "excel"}, "FILE"), ({"skip": -1}, "skip"),
    ],
)  # fmt: skip
def test_mistakes_are_told_when_the_file_is_opened(plain, given, parameter):
    with pytest.raises(td.ParameterError) as caught:
        td.read(plain, **given)
    assert caught.value.parameter == parameter


def test_the_first_row_of_a_file_without_a_header_is_not_taken_for_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("4711,Zoe\n2,Max\n")
    with pytest.raises(td.ParameterError, match="columns must be given") as caught:
        td.read(path)
    assert "4711" not in str(caught.value)
    assert read_table(td.read(path, header=False)).n == 2


# Files of one column, whose last row is empty or not: with and without an end of line.
ENDS_OF_LINE = {"\n": "unix", "\r\n": "windows", "\r": "old mac"}
LAST = ["2", '"2"', "", '""', " ", "x", "1" * 30, "131 mmHg", '"a\nb"']


@pytest.mark.parametrize("end", ENDS_OF_LINE, ids=ENDS_OF_LINE.values())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_n_does_not_tell_whether_the_last_row_of_one_column_is_empty(tmp_path, end, encoding, packed):
    """Without an end of line an empty last row is not there at all: "a 1" is what is left of "a 1 2"."""
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    for ended in (True, False):
        counts = set()
        for last in LAST:
            content = (end.join(["a", "1", "5", last]) + end * ended).encode(encoding)
            path.write_bytes(gzip.compress(content) if packed else content)
            table = read_file(path, ["a"], ReadOptions(encoding=encoding))
            np.testing.assert_array_equal(table.cells[:2, 0], [1, 5])
            counts.add((table.n, len(table.cells)))
        assert counts == {(3, 3) if ended else (2, 2)}


def test_n_tells_nothing_in_files_of_several_columns_either(tmp_path):
    path = tmp_path / "t.csv"
    for last in ("2,B", ",", '"",""', ",B", "2,", "x,y"):
        for end in ("", "\n"):
            path.write_text(f"a,arm\n1,A\n{last}{end}")
            assert read_table(td.read(path, ["a"])).n == 2
            assert td.read(path, ["a"]).with_cells("arm")[0].n == 2


def test_an_empty_cell_of_a_sheet_of_one_column_is_a_row(tmp_path):
    path = tmp_path / "t.xlsx"
    for middle in (2, "", "x"):
        path.write_bytes(messy.workbook(("S", [["a"], [1], [middle], [3]])))
        assert read_table(td.read(path)).n == 3


def test_the_owner_is_told_of_a_last_line_without_an_end(tmp_path):
    path = tmp_path / "t.csv"
    for content, told in (("a\n1\n2", True), ("a\n1\n2\n", False), ("a,b\n1,2", False)):
        path.write_text(content)
        assert any("last line" in line for line in td.look(path).evidence) == told


def test_a_table_in_memory_keeps_its_other_columns_without_the_last():
    table = Table(np.eye(2), ("a", "b"), (None, "kg"), np.array([1, 0])).without_last()
    assert (table.d, table.columns, table.units, table.unreadable.tolist()) == (1, ("a",), (None,), [1])
