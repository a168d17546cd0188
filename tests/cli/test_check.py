"""The check before a release, bounds from a file, and what the shell offers, through the command line."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tukeydp as td
from support import messages, messy
from tukeydp.cli import main
from tukeydp.cli.reading import Reading
from tukeydp.data.dictionary import read_dictionary
from tukeydp.data.files import READERS, read_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.mechanisms.readable_check import CHECK, WARNING

GOOD = [100.5 + i % 59 for i in range(400)]
WAYS = {
    "decimal commas": (lambda v: str(v).replace(".", ","), "--decimal=,"),
    "units": (lambda v: f"{v} mmHg", "--unit=mmHg"),
    "thousands": (lambda v: f"{1000 * v:,.0f}", "--thousands=,"),
}


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tukeydp", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


def saved(folder, cells, name="t.csv"):
    path = folder / name
    path.write_text("a;b\n" + "".join(f"{cell};{i % 7}\n" for i, cell in enumerate(cells)))
    return path


ASKED = ("--separator=;", "--epsilon=1", "--bounds=0,200000", "--seed=1", "--json")


@pytest.mark.parametrize("command", ["mean", "centre"])
@pytest.mark.parametrize("way", WAYS)
def test_a_misread_file_stops_the_run_and_a_declared_one_does_not(run, tmp_path, command, way):
    write, option = WAYS[way]
    path = saved(tmp_path, map(write, GOOD))
    code, out, err = run(command, path, "--columns=b,a", *ASKED)
    assert (code, err) == (3, "")
    stopped = json.loads(out)
    assert (stopped["mechanism"], stopped["released"], stopped["point"]) == (CHECK, False, None)
    assert stopped["guarantee"]["epsilon_exact"] == "1/20"
    more = ["--mechanism=cube"] if command == "mean" else []  # fast
    code, out, err = run(command, path, "--columns=b,a", *ASKED, option, *more)
    assert (code, err) == (0, "")
    release = json.loads(out)
    assert release["guarantee"]["epsilon_exact"] == "1"
    assert release["settings"]["epsilon_check"] == "0.05"
    told = release["settings"]
    assert told["unreadable_cells"] <= told["unreadable_cells_most"] == 95
    assert told["fewest_values"] >= told["fewest_values_least"] == 105


def test_missing_cells_and_words_for_no_value_do_not_stop_a_run(run, tmp_path):
    cells = [str(i) if i % 2 else ("", "NA", "unbekannt")[i % 3] for i in range(400)]
    path = saved(tmp_path, cells)
    asked = ("mean", path, "--columns=a", *ASKED, "--mechanism=cube")
    assert run(*asked, "--missing=UNBEKANNT")[0] == 0
    path = saved(tmp_path, ["unbekannt"] * 400)
    assert run(*asked)[0] == 3
    assert run(*asked, "--no-check")[0] == 0


def test_without_the_check_all_of_epsilon_goes_to_the_release(run, tmp_path):
    path = saved(tmp_path, GOOD)
    asked = ("mean", path, "--columns=a", *ASKED, "--mechanism=cube", "--fill=5")
    settings = json.loads(run(*asked, "--no-check")[1])["settings"]
    assert settings == {"epsilon_mean": "1"}
    assert json.loads(run(*asked)[1])["settings"]["epsilon_mean"] == "0.95"


def test_excel_is_checked_and_parquet_is_not(run, tmp_path):
    rows = [["a"], *([f"{v} mmHg"] for v in GOOD)]
    (tmp_path / "t.xlsx").write_bytes(messy.workbook(("S", rows)))
    pd.DataFrame({"a": GOOD}).to_parquet(tmp_path / "t.parquet")
    asked = ("--columns=a", *ASKED[1:], "--mechanism=cube")
    assert run("mean", tmp_path / "t.xlsx", *asked)[0] == 3
    code, out, _ = run("mean", tmp_path / "t.parquet", *asked)
    assert code == 0
    assert "epsilon_check" not in json.loads(out)["settings"]


def test_wrong_parameters_are_told_before_anything_is_spent(run, tmp_path):
    path = saved(tmp_path, ["x"] * 400)
    for wrong in ("--bounds=a=5,5", "--bounds=0,1", "--blocks=5000", "--sd=-1"):
        code, out, err = run("mean", path, "--columns=a", *ASKED, wrong)
        assert (code, out) == (2, "")
        assert "must" in err


@pytest.mark.parametrize("name", ["b.csv", "b.json", "b.toml"])
def test_bounds_from_a_file_are_those_of_the_command_line(run, name):
    with messages.workplace():
        asked = ("mean", "t.csv", "--columns=pulse,age", "--epsilon=1", "--mechanism=cube", "--seed=1", "--json")
        low = "30" if name == "b.csv" else "30.5"
        by_hand = run(*asked, "--bounds=age=0,120", f"--bounds=pulse={low},220")
        assert by_hand[0] == 0
        assert run(*asked, "--bounds-file", name) == by_hand
        # What is said on the command line goes before the file, by name or for what the file lacks.
        other = run(*asked, "--bounds=age=0,99", f"--bounds=pulse={low},220")
        assert run(*asked, "--bounds-file", name, "--bounds=age=0,99") == other
        assert other != by_hand


def test_names_with_commas_and_signs_in_a_bounds_file(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text('column,lower,upper\n"Gewicht, kg",0,1e2\n"a=b",-1,+2\n')
    reading = Reading(dictionary=path)
    assert reading.known.bounds_of(["Gewicht, kg", "a=b"]) == {"Gewicht, kg": (0, 100), "a=b": (-1, 2)}
    assert reading.bounds(["0,5"], ["a=b", "c"]) == ["a=b=-1,2", "0,5"]


@given(st.binary(max_size=60), st.sampled_from([".csv", ".json", ".toml", ".yaml", ""]))
@settings(max_examples=150)
def test_any_bounds_file_is_read_or_refused(tmp_path_factory, content, ending):
    path = tmp_path_factory.mktemp("bounds") / f"b{ending}"
    for start in (b"", b"column,lower,upper\n", b'{"a": ', b"a = "):
        path.write_bytes(start + content)
        with contextlib.suppress(td.ParameterError):
            read_dictionary(path)


def completed(shell, typed):
    words = typed.split(" ")
    environment = {
        **os.environ,
        "_TUKEYDP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    return subprocess.run([sys.executable, "-m", "tukeydp"], env=environment, capture_output=True, text=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_options_and_names(shell):
    environment = {**os.environ, "_TUKEYDP_COMPLETE": f"source_{shell}"}
    script = subprocess.run([sys.executable, "-m", "tukeydp"], env=environment, capture_output=True, text=True)
    assert script.returncode == 0
    assert "tukeydp" in script.stdout
    assert f"complete_{shell}" in script.stdout
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=script.stdout, text=True).returncode == 0
    assert "--bounds-file" in completed(shell, "tukeydp mean t.csv --bounds-")
    assert "coinpress" in completed(shell, "tukeydp mean t.csv --mechanism co")


def test_bash_offers_what_the_script_asks_for(tmp_path):
    """The script in a real bash, with a `tukeydp` on its path; and nothing is offered from a file."""
    command = tmp_path / "tukeydp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tukeydp "$@"\n')
    command.chmod(0o755)
    (tmp_path / "t.csv").write_text("secret4711,b\n1,2\n")
    asked = {"tukeydp ce": "centre", "tukeydp mean t.csv --format pa": "parquet", "tukeydp mean t.csv --columns s": ""}
    lines = ['eval "$(_TUKEYDP_COMPLETE=source_bash tukeydp)"']
    for typed in asked:
        words = typed.split()
        lines.append(f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMPREPLY=()")
        lines.append('_tukeydp_completion tukeydp; echo "[${COMPREPLY[*]}]"')
    source = str(Path(td.__file__).parent.parent)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": source}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [f"[{offered}]" for offered in asked.values()]
    assert set(READERS) > {"parquet"}


def on_a_terminal(environment, *arguments):
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tukeydp", *arguments], stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # the other end is closed
        pass
    process.wait()
    os.close(ours)
    return shown.decode()


def test_no_color_means_no_colour():
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | {"TERM": "xterm-256color"}
    coloured = re.compile(r"\x1b\[(?:\d+;)*3[0-7]")  # escape codes of foreground colours
    assert coloured.search(on_a_terminal(plain, "mean"))
    assert not coloured.search(on_a_terminal({**plain, "NO_COLOR": "1"}, "mean"))


@pytest.mark.parametrize("ending", ["html", "md", "csv", "json"])
def test_a_stop_is_reported_to_files_too(run, tmp_path, ending):
    path, target = saved(tmp_path, ["one"] * 400), tmp_path / f"report.{ending}"
    code, out, err = run("mean", path, "--columns=a", *ASKED[:-1], "--out", target)
    assert (code, err) == (3, "")
    assert f"Wrote {target}." in " ".join(out.split()) or str(target) in "".join(out.split())
    report = target.read_text(encoding="utf-8")
    assert "0.05" in report
    if ending in ("html", "md"):
        assert "No release: the check of readable rows stopped the run" in report
        assert "the rest is not spent" in report
        assert "test before the draw" not in report
    else:
        assert CHECK in report


def test_a_stop_says_which_bounds_were_given(run, tmp_path):
    path = saved(tmp_path, ["one"] * 400)
    assert json.loads(run("mean", path, "--columns=a", *ASKED)[1])["bounds"] == {"lower": [0.0], "upper": [200000.0]}


# Numbers out of nothing: what went through with exit code 0 and a number.


def with_formulas(rows, results=False):
    """A workbook whose second column holds formulas, as programs write them: with their results, or without."""
    result = "<v>7</v>" if results else "<v></v>"
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("n", "a"))
    body = "".join(f"<row><c><v>{i}</v></c><c><f>A1*2</f>{result}</c></row>" for i in range(rows))
    return messy.workbook_of(f"<row>{header}</row>{body}")


@pytest.mark.parametrize("command", ["mean", "centre", "summary", "quantiles"])
def test_formulas_without_results_give_no_number(run, tmp_path, command):
    """25, 58, 73 and 64 in four runs, exit code 0: the cells counted as empty, and empty as readable."""
    path = tmp_path / "t.xlsx"
    asked = [command, path, "--columns=a", "--epsilon=1", "--bounds=0,100", "--seed=1", "--json"]
    asked += ["--confidence=none"] if command == "summary" else []  # fast
    path.write_bytes(with_formulas(600))
    code, out, err = run(*asked)
    assert (code, err) == (3, "")
    told = json.loads(out)
    assert (told["mechanism"], told["point"]) == (CHECK, None)
    assert told["settings"]["unreadable_cells"] > 500
    assert "formulas without results" in told["caveats"][0]
    path.write_bytes(with_formulas(600, results=True))
    assert run(*asked)[0] == 0
    assert run(*asked, "--no-check")[0] == 0


def test_formulas_are_told_to_the_owner(run, tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(with_formulas(30))
    assert "30 not numbers, such as '(a formula without a result)' (30)" in run("look", path)[1]


@pytest.mark.parametrize("command", ["mean", "summary", "quantiles"])
def test_a_column_without_values_gives_no_number(run, tmp_path, command):
    path = saved(tmp_path, [""] * 400)
    more = ["--confidence=none"] if command == "summary" else []
    code, out, _ = run(command, path, "--columns=b,a", *ASKED, *more)
    assert code == 3
    assert "cannot be told from none" in json.loads(out)["caveats"][0]


def test_short_lines_stop_a_run(run, tmp_path):
    """A file of fixed widths: most lines have fewer cells than the header, and 910 of 1000 rows were lost."""
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join("12;7\n" if i % 11 == 0 else "12  7\n" for i in range(1000)))
    code, out, _ = run("mean", path, "--columns=b", *ASKED)
    assert code == 3
    assert json.loads(out)["settings"]["unreadable_cells"] > 850
    assert "909 lines too short to hold it" in run("look", path, "--separator=;")[1]


def test_a_third_of_the_cells_lost_stops_nearly_every_run(tmp_path):
    """26 of 30 runs went on. Stopped with probability 0.958: fewer than 88 of 100 with probability 1e-3."""
    path = saved(tmp_path, [f"{1000 + i:,}" if i % 3 == 0 else str(i % 1000) for i in range(500)])
    written = {"lost": ReadOptions(separator=";"), "read": ReadOptions(separator=";", thousands=",")}
    stops = {}
    for name, options in written.items():
        table = read_file(path, ["a"], options)
        runs = (td.cube(table, epsilon=1, bounds=(0, 2000), fill=0, randomness=td.seeded(i)) for i in range(100))
        stops[name] = sum(not outcome.released for outcome in runs)
    assert stops["lost"] >= 88
    assert stops["read"] <= 6  # in at most 1.5 % of runs: more than 6 of 100 with probability 1e-3


def test_a_share_of_unreadable_cells_can_be_allowed(run, tmp_path):
    path = saved(tmp_path, ["x" if i % 3 == 0 else str(i % 100) for i in range(1000)])
    asked = ("mean", path, "--columns=a", *ASKED, "--mechanism=cube")
    assert run(*asked)[0] == 3
    code, out, _ = run(*asked, "--allow-unreadable=0.5")
    assert code == 0
    told = json.loads(out)
    assert told["settings"]["unreadable_cells_most"] == 500
    warned = [note for note in told["caveats"] if note.startswith(WARNING)]
    assert len(warned) == 1
    assert "cells of one column do not read as numbers" in warned[0]
    shown = run("mean", path, "--columns=a", *ASKED[:-1], "--mechanism=cube", "--allow-unreadable=0.5")[1]
    assert re.search(r"^Warning +About \d+ of 1000 cells of one column do not read", shown, re.MULTILINE)
    for target in ("r.html", "r.md"):
        run(
            "mean",
            path,
            "--columns=a",
            *ASKED,
            "--mechanism=cube",
            "--allow-unreadable=0.5",
            "--out",
            tmp_path / target,
        )
        assert "cells of one column do not read as numbers" in (tmp_path / target).read_text()


def test_what_is_allowed_is_checked_before_the_file_is_read(run, tmp_path):
    path = tmp_path / "none.csv"
    for wrong, word in (
        (("--allow-unreadable=2",), "share from 0 to 1"),
        (("--allow-unreadable=0.1", "--no-check"), "left out with --no-check"),
        (("--allow-unreadable=0.1", "--person=p"), "left out with --person"),
        (("--allow-unlisted=0.1",), "by must be given"),
    ):
        code, out, err = run("mean", path, "--columns=a", *ASKED, *wrong)
        assert (code, out) == (2, "")
        assert word in err


def grouped(folder, keys, n=1000):
    path = folder / "g.csv"
    path.write_text("a,clinic\n" + "".join(f"{i % 50},{keys[i % len(keys)]}\n" for i in range(n)))
    return path


@pytest.mark.parametrize("command", ["mean", "centre", "summary"])
def test_a_misspelt_key_stops_the_run(run, tmp_path, command):
    """It spent everything and printed dashes, exit code 0."""
    path = grouped(tmp_path, ["North", "South"])
    asked = (command, path, "--columns=a", "--by=clinic", "--epsilon=1", "--bounds=0,50", "--seed=1", "--json")
    code, out, err = run(*asked, "--keys=Nort,South")
    assert (code, err) == (3, "")
    told = json.loads(out)
    assert told["mechanism"] == CHECK
    assert "rows are in none of the listed groups" in told["caveats"][0]
    assert told["settings"]["rows_unlisted"] > told["settings"]["rows_unlisted_most"] == 200
    assert told["guarantee"]["epsilon_exact"] == "1/20"
    assert run(*asked, "--keys=North,South")[0] == 0
    assert run(*asked, "--keys=South", "--allow-unlisted=0.6")[0] == 0


@pytest.mark.parametrize("command", ["mean", "centre", "summary"])
def test_a_misspelt_key_stops_the_run_on_a_file_that_declares_its_types_too(run, tmp_path, command):
    """No cell of it can be unreadable, but a key can be misspelt in any file: dashes, exit code 0."""
    path = tmp_path / "t.parquet"
    pd.DataFrame({"arm": ["A", "B"] * 400, "a": [float(i % 90) for i in range(800)]}).to_parquet(path)
    asked = [command, path, "--columns=a", "--by=arm", "--epsilon=1", "--bounds=0,100", "--seed=1", "--json"]
    asked += ["--confidence=none"] if command == "summary" else []
    code, out, _ = run(*asked, "--keys=A,C")
    assert code == 3
    assert "in none of the listed groups" in json.loads(out)["caveats"][0]
    assert run(*asked, "--keys=A,B")[0] == 0
    assert run(*asked, "--keys=A,C", "--no-check")[0] == 0
    table = td.read(path, ["a"])
    given = {"by": "arm", "epsilon": 1, "bounds": (0, 100), "randomness": td.seeded(1)}
    assert td.mean(table, keys=["A", "C"], **given).mechanism == CHECK
    assert td.mean(table, epsilon=1, bounds=(0, 100)).settings.get("epsilon_check") is None


def test_stops_by_groups_are_told_on_the_terminal(run, tmp_path):
    path = grouped(tmp_path, ["North", "South"])
    code, out, _ = run("mean", path, "--columns=a", "--by=clinic", "--keys=Nort", "--epsilon=1", "--bounds=0,50")
    assert code == 3
    told = " ".join(out.split())
    assert "No release. Stopped before the release. About" in told
    assert "--allow-unlisted SHARE" in told


def test_where_the_number_of_rows_is_secret_cells_are_checked_too(run, tmp_path):
    asked = ("--columns=a", *ASKED, "--neighbours=add-remove", "--rows=400", "--mechanism=cube")
    for cells in (["x"] * 400, [""] * 400, ["x" if i % 2 else "1" for i in range(400)]):
        code, out, _ = run("mean", saved(tmp_path, cells), *asked)
        assert code == 3
        told = json.loads(out)
        assert (told["n"], told["guarantee"]["epsilon_exact"], told["guarantee"]["relation"]) == (
            None,
            "1/20",
            "add-remove",
        )
        assert "400" not in told["caveats"][0].replace("400 rows", "")
    code, out, _ = run("mean", saved(tmp_path, GOOD), *asked)
    assert code == 0
    assert json.loads(out)["guarantee"]["epsilon_exact"] == "1"
