"""docs/extending.md runs: its files are put where they say, its lines registered, and all of it is used."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.fit import FALSE_ALARM, g_test
from tukeydp.cli import app, main
from tukeydp.paper.experiments import catalogue, experiment
from tukeydp.trusted import points

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCK = re.compile(r"```(?:python|text)\n# ((?:src|tests)/[\w/]+\.py)(?:, in (the imports|\w+))?\n(.*?)```", re.DOTALL)
# The command that runs any mechanism of the registry by its name, over any notion by its name.
COMMAND = next(
    command.callback.__name__
    for command in app.registered_commands
    if {"mechanism", "depth"} <= inspect.signature(command.callback).parameters.keys()
)

pytestmark = pytest.mark.usefixtures("no_false_alarm")
ROWS = np.random.default_rng(3).normal(size=(300, 3))


def blocks():
    """(path, where in it or "", code) of each block of the page."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def dotted(path):
    return ".".join(Path(path).with_suffix("").parts[1:]).removesuffix(".__init__")


def load(path, code, folder, monkeypatch):
    """The code as the module that its path names, for the time of one test."""
    name = dotted(path)
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    parent, _, child = name.rpartition(".")
    if parent.startswith("tukeydp"):
        monkeypatch.setattr(importlib.import_module(parent), child, module, raising=False)
    return module


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Everything on the page, in its order: modules by their path, and all they define."""
    monkeypatch.setattr(experiment, "_REGISTERED", dict(experiment._REGISTERED))
    modules, names = {}, {}
    for path, where, code in blocks():
        if not where:
            modules[path] = load(path, code, tmp_path, monkeypatch)
            names |= {name: value for name, value in vars(modules[path]).items() if not name.startswith("__")}
            continue
        target = importlib.import_module(dotted(path))
        if where == "the imports":
            (line,) = ast.parse(code).body
            for alias in line.names:
                monkeypatch.setattr(
                    target,
                    alias.name,
                    getattr(sys.modules[line.module], alias.name),
                    raising=alias.name in vars(target),
                )
        elif where == "_MODULES":
            found = [
                e
                for name in ast.literal_eval(f"({code})")
                for e in experiment.registered_in(f"{dotted(path).rpartition('.')[0]}.{name}")
            ]
            assert found
            monkeypatch.setattr(catalogue, "EXPERIMENTS", (*catalogue.EXPERIMENTS, *found))
        else:
            for name, value in eval(f"{{{code}}}", {**names, **vars(target)}).items():
                assert name not in vars(target)[where]
                monkeypatch.setitem(vars(target)[where], name, value)
    return modules


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, ROWS, delimiter=",", header="a,b,c", comments="")
    return path


def test_the_page_has_five_files_their_lines_and_a_test():
    files = [path for path, where, _ in blocks() if not where]
    assert [path for path in files if path.startswith("src")] == [
        "src/tukeydp/depth/notions/diagonals.py",
        "src/tukeydp/mechanisms/columnwise.py",
        "src/tukeydp/baselines/laplace.py",
        "src/tukeydp/paper/experiments/epsilons.py",
        "src/tukeydp/data/readers/json_lines.py",
    ]
    assert sum(path.startswith("tests") for path in files) == 1
    assert len(re.findall("```(?:python|text)", PAGE.read_text(encoding="utf-8"))) == len(blocks())


def test_a_line_that_names_nothing_is_noticed():
    """The control: what the page registers is looked up, not taken on trust."""
    with pytest.raises(NameError):
        eval('{"diagonals": Diagnols,}', {})


def test_a_notion_works_wherever_there_is_a_depth(added):
    diagonals = added["src/tukeydp/depth/notions/diagonals.py"].Diagonals()
    directions = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
    rows = np.random.default_rng(5).integers(-4, 5, size=(40, 3))
    expected = [oracle.depth(rows.tolist(), y, directions) for y in rows.tolist()]
    assert td.tukey_depth(rows, rows, depth=diagonals).tolist() == expected

    release = td.boxem(ROWS, epsilon=1, bounds=(-10, 10), depth=diagonals, randomness=td.seeded(1))
    assert release.directions.tolist() == [list(v) for v in directions]
    assert release.notion == "Diagonals()"
    assert np.abs(release.point).max() < 1
    assert td.rem(ROWS, epsilon=1, delta=1e-6, depth=diagonals, randomness=td.seeded(1)).released
    level = td.level_set(ROWS, 40, diagonals)
    assert (
        td.tukey_depth(level.vertices * 0.999 + 0.001 * level.vertices.mean(axis=0), ROWS, depth=diagonals) >= 40
    ).all()
    assert td.level_volumes(ROWS[:30], diagonals)[1] > 0
    assert level.contains(td.baselines.tukey_median(ROWS, depth=diagonals).point[np.newaxis]).all()


def test_the_law_over_a_new_notion_is_the_exponential_mechanism(added):
    """600 draws on nine points; false alarms at most 1e-6, and depth along the axes alone is rejected."""
    diagonals = added["src/tukeydp/depth/notions/diagonals.py"].Diagonals()
    rows = [(0, 0), (1, 2), (2, 1), (1, 1), (0, 2), (2, 0), (2, 0), (0, 2), (1, 1), (2, 0)]
    points = [(a, b) for a in range(3) for b in range(3)]
    bits = td.seeded(11)
    drawn = [
        tuple(
            td.boxem(rows, epsilon=2, bounds=(0, 2), resolution=1, depth=diagonals, randomness=bits).point.astype(int)
        )
        for _ in range(600)
    ]
    counts = np.array([drawn.count(point) for point in points])

    def law(directions):
        weights = np.exp([oracle.depth(rows, point, directions) for point in points])
        return weights / weights.sum()

    axes = [(1, 0), (0, 1)]
    assert g_test(counts, law([*axes, (1, 1), (1, -1)])) > FALSE_ALARM
    assert g_test(counts, law(axes)) < FALSE_ALARM


def test_a_notion_by_its_name_on_the_command_line(added, run, file, tmp_path):
    code, out, err = run(
        COMMAND,
        file,
        "--columns",
        "a,b",
        "--epsilon",
        1,
        "--bounds=-9,9",
        "--depth",
        "diagonals",
        "--mechanism",
        "boxem",
        "--json",
        "--verbose",
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["directions"] == [[1, 0], [0, 1], [1, 1], [1, -1]]
    code, _, _ = run("contours", file, "--columns", "a,b", "--depth", "diagonals", "--out", tmp_path / "regions.png")
    assert code == 0


def test_a_mechanism_and_the_test_that_comes_with_it(added, run, file):
    tests = added["tests/mechanisms/test_columnwise.py"]
    found = [value for name, value in vars(tests).items() if name.startswith("test_")]
    assert found
    for test in found:
        test()
    code, out, err = run(
        COMMAND,
        file,
        "--columns",
        "a,b",
        "--epsilon",
        2,
        "--bounds=-9,9",
        "--mechanism",
        "columnwise",
        "--resolution",
        "0.1",
        "--json",
    )
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert (result["mechanism"], result["private"]) == ("columnwise", True)
    assert np.abs(result["point"]).max() < 1


def test_its_test_catches_the_bug_it_is_for(added, monkeypatch):
    """The control: with the whole of epsilon in every column the page's own test fails."""
    sampler = points.point_sampler
    monkeypatch.setattr(
        points, "point_sampler", lambda depth, within, epsilon: sampler(depth, within=within, epsilon=2 * epsilon)
    )
    with pytest.raises(AssertionError):
        added["tests/mechanisms/test_columnwise.py"].test_each_column_has_its_share_of_epsilon()


def test_a_budget_for_two_pays_for_two(added):
    """And a column's charge for one draw: a mechanism that draws again with it stops."""
    columnwise = added["src/tukeydp/mechanisms/columnwise.py"].columnwise
    account = td.Accountant(epsilon=2)
    released = [columnwise(ROWS, epsilon=1, bounds=(-9, 9), accountant=account) for _ in range(2)]
    assert [one.private for one in released] == [True, True]
    for _ in range(2):
        with pytest.raises(td.BudgetExceeded):
            columnwise(ROWS, epsilon=1, bounds=(-9, 9), accountant=account)
    assert account.remaining().epsilon == 0


def test_a_missing_cell_costs_its_own_column_only(added):
    columnwise = added["src/tukeydp/mechanisms/columnwise.py"].columnwise
    holed = ROWS.copy()
    holed[:, 0] = np.nan
    points = [columnwise(x, epsilon=1, bounds=(-9, 9), randomness=td.seeded(4)).point for x in (ROWS, holed)]
    assert points[0][1:].tolist() == points[1][1:].tolist()


def test_a_baseline_under_its_address_and_on_the_command_line(added, run, file):
    release = td.baselines.laplace(ROWS, epsilon=1, bounds=(-9, 9), randomness=td.seeded(2))
    assert (
        np.abs(release.point - ROWS.mean(axis=0)).max() < 2
    )  # noise of deviation sqrt(2) 54/300 = 0.25 in each column
    assert isinstance(release.guarantee, td.PureDP)
    code, out, err = run(
        "mean", file, "--columns", "a", "--epsilon", 1, "--bounds=-9,9", "--mechanism", "laplace", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["mechanism"] == "laplace"
    code, _, err = run("mean", file, "--columns", "a", "--epsilon", 1, "--mechanism", "laplace")
    assert code == 2
    assert "bounds must be given" in err


def test_an_experiment_runs_judges_and_reports(added, run, tmp_path):
    code, out, _ = run("reproduce", "epsilons", "--quick", "--jobs", 1, "--seed", 5, "--out", tmp_path / "report")
    assert code == 0
    assert "borne out" in out
    assert "not borne out" not in out
    assert (tmp_path / "report" / "report.html").exists()
    assert len((tmp_path / "report" / "results" / "epsilons.csv").read_text().splitlines()) == 1 + 3 * 20


def test_a_reader_by_the_ending_of_the_name(added, run, tmp_path):
    lines = [json.dumps({"a": a, "b": b}) for a, b in ROWS[:, :2].tolist()]
    lines[3:8] = ["", "[1, 2]", '{"a": "12"}', '{"a": {"b": 4711}}', '{"a": 1' + "[" * 5000]
    path = tmp_path / "rows.JSONL"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ("--columns", "b,a", "--epsilon", 1, "--bounds=-9,9", "--mechanism", "boxem", "--json")
    code, out, err = run(COMMAND, path, *arguments)
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert (result["n"], result["columns"]) == (300, ["b", "a"])
    assert np.abs(result["point"]).max() < 1
    for wrong in (tmp_path / "none.jsonl", tmp_path):
        code, out, err = run(COMMAND, wrong, *arguments)
        assert (code, out) == (2, "")
        assert "FILE must be a readable file" in err
    path.write_text("")
    assert run(COMMAND, path, *arguments)[0] == 2
