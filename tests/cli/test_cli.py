"""The command line as a person types it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

import tukeydp as td
from tukeydp.cli import main
from tukeydp.mechanisms.registry import MECHANISMS, Mechanism

SECRET = "4711.25"

pytestmark = pytest.mark.usefixtures("no_false_alarm")


def flat(text):
    """Without the line breaks of a terminal."""
    return " ".join(text.replace("│", " ").split())


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
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{i},{a:.3f},{b:.1f},name{i}" for i, (a, b) in enumerate(rng.normal((5, 100), (1, 10), size=(400, 2)))]
    lines[7] = f"7,{SECRET},n/a,name7"
    lines[9] = "9,"
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["id,a,b c,name", *lines]) + "\n")
    return path


def test_mean_prints_release_guarantee_way_and_what_is_estimated(run, table):
    code, out, err = run("mean", table, "--columns", "a,b c", "--epsilon", 1, "--bounds=0,200")
    assert (code, err) == (0, "")
    for word in ("Mean of 400 rows", "b c", "epsilon = 1", "arithmetic mean", "How Depth", "(subset)", "come closest"):
        assert word in flat(out)
    assert "bounds are at most 100 standard deviations wide" in flat(out)
    assert "give --sd if you know better" in flat(out)
    assert "symmetric" not in out
    assert SECRET not in out


def test_centre_prints_release_guarantee_accuracy_and_what_is_estimated(run, table):
    code, out, err = run("centre", table, "--columns", "a,b c", "--epsilon", 1, "--bounds=0,200")
    assert (code, err) == (0, "")
    for word in ("Centre of 400 rows", "b c", "epsilon = 1", "Accuracy", "symmetric", "tukeydp mean"):
        assert word in flat(out)
    assert SECRET not in out


@pytest.mark.parametrize(
    ("more", "mechanism", "words"),
    [
        (["--mechanism=subset"], "subset", ["subset means (subset), as asked for", "at most 100 standard deviations"]),
        (["--mechanism=two-step"], "two-step", ["(two-step), as asked for", "at most 100"]),
        (["--mechanism=cube"], "cube", ["(cube), as asked for"]),
        (["--sd", "a=1", "--sd", "b c=10"], None, ["the standard deviations given", "right within a factor of 2"]),
        (["--blocks=100"], "subset", ["because blocks or partitions are given"]),
        (["--blocks=100", "--partitions=3"], "subset", ["because blocks or partitions are given"]),
    ],
)
def test_the_ways_to_a_mean(run, table, more, mechanism, words):
    arguments = ("mean", table, "--columns", "a,b c", "--epsilon=1", "--bounds=0,200", "--seed=1", *more)
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert mechanism in (None, result["mechanism"])
    if "--blocks=100" in more:
        assert result["settings"]["blocks"] == 100
    if "--partitions=3" in more:
        assert result["settings"]["partitions"] == 3
    assert result["point"] == pytest.approx([5, 100], abs=15)
    out = flat(run(*arguments)[1])
    for word in words:
        assert word in out
    chosen_by = ("Assumed: bounds are at most", "Assumed: the standard deviations given")
    assert any(words in out for words in chosen_by) == (mechanism != "cube")


def test_an_interval_stands_in_the_table_with_its_words(run, table):
    arguments = ("mean", table, "--columns", "a,b c", "--epsilon=1", "--bounds=0,200", "--seed=1")
    given = (*arguments, "--mechanism=two-step", "--sd", "a=1", "--sd", "b c=10", "--confidence=0.9")
    code, out, err = run(*given)
    assert (code, err) == (0, "")
    for word in (
        "nominal 90 % CI",
        " to ",
        "Interval A nominal 90 % confidence interval for the population's mean",
        "Its coverage is empirical",
    ):
        assert word in flat(out)
    result = json.loads(run(*given, "--json")[1])
    (low, high), _ = result["interval"]["ends"]
    assert low < result["point"][0] < high
    assert result["settings"]["confidence"] == 0.9
    code, out, err = run(*arguments, "--confidence=0.95")
    assert (code, err) == (0, "")
    assert "nominal 95 % CI" in flat(out)
    assert run(*arguments, "--mechanism=plan", "--delta=1e-6", "--confidence=0.95")[0] == 2


def test_a_depth_certificate_in_words_and_numbers(run, table):
    arguments = ("centre", table, "--columns", "a,b c", "--epsilon=2", "--bounds=0,200", "--seed=1", "--certify=0.2")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    rows = json.loads(run(*arguments, "--json")[1])["certificate"]["rows"]
    assert rows > 50
    assert f"Depth With 95 % confidence at least {rows} rows lie on every side" in flat(out)
    assert "epsilon = 2" in flat(out)
    assert (
        run("centre", table, "--columns", "a", "--epsilon=1", "--mechanism=rem", "--delta=1e-6", "--certify=1/2")[0]
        == 2
    )


def test_mean_without_bounds(run, table):
    arguments = ("mean", table, "--columns", "a,b c", "--epsilon=2", "--delta=1e-4", "--seed=1")
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["guarantee"]["delta_exact"] == "1/10000"
    assert result["point"] == pytest.approx([5, 100], abs=10)
    out = flat(run(*arguments)[1])
    for word in ("Mean of 400 rows", "because no bounds are given", f"{result['settings']['blocks']} blocks"):
        assert word in out
    code, out, err = run("mean", table, "--columns", "a,b c", "--epsilon=0.1", "--delta=1e-9", "--seed=1")
    assert (code, err) == (3, "")
    for word in ("a mean may be released", "The budget is spent", "tukeydp mean never refuses"):
        assert word in flat(out)


def test_json_is_one_object_and_nothing_else(run, table):
    code, out, err = run(
        "centre", table, "--columns", "b c,a", "--epsilon", "0.5", "--bounds", "b c=50,150", "--bounds", "a=0,10",
        "--resolution", "a=0.001", "--resolution", "0.1", "--directions", 10, "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["columns"] == ["b c", "a"]
    assert result["guarantee"]["epsilon"] == 0.5
    assert result["n"] == 400
    assert result["grid"]["step"] == [0.1, 0.001]
    assert result["point"][0] == pytest.approx(100, abs=5)
    assert result["point"][1] == pytest.approx(5, abs=0.5)


@pytest.mark.parametrize("command", ["mean", "centre"])
def test_seeded_runs_repeat_and_say_so(run, table, command):
    arguments = (command, table, "--columns", "a", "--epsilon", 1, "--bounds=0,10", "--seed", 3)
    first, second = run(*arguments), run(*arguments)
    assert first == second
    assert "NOT PRIVATE" in first[1]
    assert json.loads(run(*arguments, "--json")[1])["private"] is False


def test_other_delimiters_decimals_and_depths(run, tmp_path):
    path = tmp_path / "german.csv"
    path.write_text("\ufeffa;b\n" + "".join(f"{1 + i % 3},5;2,0\n" for i in range(300)), encoding="utf-8")
    code, out, _ = run(
        "centre", path, "--columns", "a,b", "--epsilon", 5, "--bounds=0,10", "--decimal", ",", "--separator", ";",
        "--depth", "axis-aligned", "--resolution", "0.5", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["point"] == [2.5, 2.0]


@pytest.mark.parametrize("mechanism", ["gaussian", "analytic-gaussian", "coinpress", "huang-liang-yi", "plan"])
def test_the_other_mechanisms(run, table, mechanism):
    arguments = ["mean", table, "--columns", "a,b c", "--epsilon=1", "--bounds=0,200", "--mechanism", mechanism]
    known = ["--sd", "a=1", "--sd", "b c=10"] if mechanism == "coinpress" else []
    code, out, err = run(*arguments, *known, "--delta=1e-6", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["mechanism"] == mechanism
    assert result["guarantee"]["delta_exact"] == "1/1000000"
    for word in ("epsilon = 1", "delta = 1e-06", "Accuracy", "floating-point"):
        assert word in run(*arguments, *known, "--delta=1e-6", "--verbose")[1]
    for wrong, word in (([], "delta"), (["--delta=1e-6", "--blocks=9"], "blocks"), (["--delta=2"], "delta")):
        code, out, err = run(*arguments, *known, *wrong)
        assert (code, out) == (2, "")
        assert f"{word} must" in err
    code, out, err = run(*arguments, "--delta=1e-6", *([] if known else ["--sd=1"]))
    assert (code, out) == (2, "")
    assert "sd must" in err


def test_spread_depth(run, table):
    arguments = (
        "centre",
        table,
        "--columns",
        "a,b c",
        "--epsilon=1",
        "--bounds=0,200",
        "--depth=spread",
        "--json",
        "--verbose",
    )
    code, out, _ = run(*arguments, "--directions", 4)
    assert code == 0
    assert len(json.loads(out)["directions"]) == 6
    assert json.loads(out)["notion"].startswith("Spread")
    code, out, _ = run(*arguments, "--directions", 5, "--no-axes")
    assert len(json.loads(out)["directions"]) == 5


def test_rem_without_bounds(run, tmp_path):
    path = tmp_path / "many.csv"
    rows = np.random.default_rng(0).normal(loc=[50, 7], scale=[10, 0.1], size=(600, 2))
    path.write_text("a,b\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in rows))
    arguments = ["centre", path, "--columns", "a,b", "--epsilon=1", "--delta=1e-6", "--mechanism=rem"]
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["released"]
    assert result["guarantee"]["delta_exact"] == "1/1000000"
    assert abs(result["point"][1] - 7) < 0.1
    code, out, _ = run(*arguments)
    for word in ("epsilon = 1, delta = 1e-06", "covered range", "Accuracy"):
        assert word in out
    for wrong, word in ((["--bounds=0,1"], "bounds"), (["--test=best"], "test"), (["--threshold=0"], "threshold")):
        code, out, err = run(*arguments, *wrong)
        assert (code, out) == (2, "")
        assert f"{word} must" in err


def test_a_refusal_exits_with_3_and_says_what_it_means(run, table):
    arguments = ["centre", table, "--columns", "a,b c", "--epsilon=0.1", "--delta=1e-9", "--mechanism=rem"]
    code, out, err = run(*arguments)
    assert (code, err) == (3, "")
    for word in ("No release", "The budget is spent", "What would help", "boxem never refuses", "epsilon = 0.1"):
        assert word in out
    code, out, _ = run(*arguments, "--json")
    assert code == 3
    result = json.loads(out)
    assert (result["released"], result["point"]) == (False, None)
    assert result["guarantee"]["epsilon"] == 0.1


def test_exact_depth(run, table):
    arguments = ("--columns", "a,b c", "--epsilon=1", "--bounds=0,200", "--depth=exact", "--json")
    code, out, _ = run("centre", table, *arguments)
    assert code == 0
    assert json.loads(out)["notion"] == "Exact()"


def test_contours_write_a_picture(run, table, tmp_path):
    out = tmp_path / "contours.png"
    code, said, err = run("contours", table, "--columns", "a,b c", "--out", out)
    assert (code, err) == (0, "")
    assert "not private" in said
    assert out.read_bytes().startswith(b"\x89PNG")
    assert len(out.read_bytes()) > 20_000
    for arguments in (("--columns", "a", "--out", out), ("--columns", "a,b c", "--out", tmp_path / "x.gif")):
        code, _, err = run("contours", table, *arguments)
        assert code == 2
        assert "must" in err


def test_blank_lines_are_rows_only_in_a_single_column(run, tmp_path):
    arguments = ("--columns", "a", "--epsilon", 1, "--bounds=0,10", "--json")
    for text, n in (("a\n1\n\n3\n", 3), ("a,b\n1,2\n\n3,4\n,\n", 3)):
        (tmp_path / "x.csv").write_text(text)
        assert json.loads(run("mean", tmp_path / "x.csv", *arguments)[1])["n"] == n


WRONG_FOR_ALL = [
    ({"--epsilon": "0"}, "epsilon"),
    ({"--epsilon": "nan"}, "epsilon"),
    ({"--epsilon": "one"}, "epsilon"),
    ({"--bounds": "5"}, "bounds"),
    ({"--bounds": "1,0"}, "bounds"),
    ({"--bounds": "zzz=0,1"}, "bounds"),
    ({"--bounds": "a=0,1"}, "bounds"),
    ({"--bounds": None}, "bounds"),
    ({"--columns": "nope"}, "columns"),
    ({"--columns": "a,a"}, "columns"),
    ({"--columns": ""}, "columns"),
    ({"--mechanism": "magic"}, "mechanism"),
    ({"--delta": "1e-6"}, "delta"),
    ({"--decimal": ";"}, "decimal"),
    ({"--what": "3"}, "options"),
    ({"--epsilom": "3"}, "did you mean --epsilon?"),
    ({"second.csv": None, "FILE": "first.csv second.csv"}, "arguments"),
    ({"FILE": "missing.csv"}, "FILE"),
]
WRONG_FOR_ONE = [
    ("mean", {"--sd": "0"}, "sd"),
    ("mean", {"--sd": "-3"}, "sd"),
    ("mean", {"--sd": "a=1"}, "sd"),
    ("mean", {"--sd": "5000"}, "sd"),
    ("mean", {"--blocks": "1000000000"}, "blocks"),
    ("mean", {"--blocks": "0"}, "blocks"),
    ("mean", {"--partitions": "0"}, "partitions"),
    ("mean", {"--mechanism": "cube", "--blocks": "3"}, "it is for auto and subset"),
    ("mean", {"--mechanism": "cube", "--sd": "3"}, "sd"),
    ("mean", {"--mechanism": "subste"}, "did you mean subset?"),
    ("mean", {"--mechanism": "boxem"}, "tukeydp centre --mechanism boxem"),
    ("mean", {"--mechanism": "subset", "--bounds": None, "--delta": "1e-6"}, "bounds"),
    ("mean", {"--bounds": None, "--delta": "1e-6", "--sd": "3"}, "sd"),
    ("mean", {"--bounds": None, "--delta": "1e-6", "--partitions": "3"}, "partitions"),
    ("mean", {"--bounds": None, "--delta": "2"}, "delta"),
    ("mean", {"--depth": "exact"}, "it belongs to `tukeydp centre`"),
    ("mean", {"--directions": "3"}, "it belongs to `tukeydp centre`"),
    ("mean", {"--resolution": "1"}, "it belongs to `tukeydp centre`"),
    ("mean", {"--test": "paper"}, "it belongs to `tukeydp centre`"),
    ("mean", {"--unproven": "mcmc"}, "it belongs to `tukeydp centre`"),
    ("mean", {"--deviation": "1"}, "did you mean --sd?"),
    ("centre", {"--sd": "1"}, "it belongs to `tukeydp mean`"),
    ("centre", {"--blocks": "9"}, "it belongs to `tukeydp mean`"),
    ("centre", {"--mechanism": "cube"}, "tukeydp mean --mechanism cube"),
    ("centre", {"--mechanism": "rex"}, "did you mean rem?"),
    ("centre", {"--test": "paper"}, "it is for rem"),
    ("centre", {"--depth": "fast"}, "depth"),
    ("centre", {"--directions": "-3"}, "directions"),
    ("centre", {"--directions": "1000000000000"}, "directions"),
    ("centre", {"--resolution": "1e-30"}, "resolution"),
    ("centre", {"--resolution": "a=0.1"}, "resolution"),
]


@pytest.mark.parametrize(
    ("command", "change", "word"),
    [(command, *wrong) for command in ("mean", "centre") for wrong in WRONG_FOR_ALL] + WRONG_FOR_ONE,
)
def test_bad_parameters_exit_with_2_and_a_sentence(run, table, command, change, word):
    options = {"--columns": "a,b c", "--epsilon": "1", "--bounds": "0,200", **change}
    files = options.pop("FILE", str(table)).split(" ")
    code, out, err = run(command, *files, *(f"{k}={v}" for k, v in options.items() if v is not None))
    assert (code, out) == (2, "")
    assert word in err
    assert "must" in err
    assert "Traceback" not in err


def test_an_option_of_the_other_command_is_named_wherever_it_stands(run, table):
    rest = ("--columns", "a", "--epsilon=1", "--bounds=0,10")
    for arguments in (("--depth", "exact", table, *rest), (table, *rest, "--no-axes"), (table, "--depth=exact", *rest)):
        code, out, err = run("mean", *arguments)
        assert (code, out) == (2, "")
        assert "belongs to `tukeydp centre`" in err


def test_help_follows_from_the_registry(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    for command in ("mean", "centre"):
        code, out, _ = run(command, "--help")
        assert code == 0
        for name, mechanism in MECHANISMS.items():
            assert (f"{name}: {mechanism.about}" in flat(out)) == (mechanism.estimand == command)


def test_missing_options_exit_with_2(run, table):
    for command in ("mean", "centre"):
        assert run(command, table)[0] == 2
        assert run(command)[0] == 2
    assert run("average", table)[0] == 2


def test_empty_files_and_odd_bytes(run, tmp_path):
    path = tmp_path / "x.csv"
    arguments = ("mean", path, "--columns", "a", "--epsilon", 1, "--bounds=0,1", "--json")
    for content in (b"", b"a\n"):
        path.write_bytes(content)
        assert run(*arguments)[0] == 2
    path.write_bytes(b"a,b\n\xff\xfe,1\n\x00,2\n" + b'"' + b"9" * 200_000 + b'",3\n1,4')
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert json.loads(out)["n"] == 4


def test_a_file_without_header_is_not_quoted(run, tmp_path):
    (tmp_path / "x.csv").write_text(f"{SECRET},alice\n1,bob\n")
    code, out, err = run("mean", tmp_path / "x.csv", "--columns", "a", "--epsilon", 1, "--bounds=0,1")
    assert (code, out) == (2, "")
    assert SECRET not in err
    assert "alice" not in err


def test_an_unexpected_error_exits_with_1_and_quotes_nothing(run, table, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError(SECRET)

    monkeypatch.setitem(MECHANISMS, "auto", Mechanism(broken, "mean", "broken", ("bounds",)))
    code, out, err = run("mean", table, "--columns", "a", "--epsilon", 1, "--bounds=0,1")
    assert (code, out) == (1, "")
    assert "RuntimeError" in err
    assert SECRET not in err


def test_demo(run):
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    for word in ("epsilon = 1", "systolic", "Mean of 500 rows", "made up", "the table's own mean", "centre, released"):
        assert word in flat(out)
    result = json.loads(run("demo", "--json")[1])
    assert (result["n"], result["d"]) == (500, 4)


def test_demo_saves_a_table_that_the_command_it_shows_can_read(run, tmp_path):
    file = tmp_path / "patients.csv"
    code, out, err = run("demo", "--save", file)
    assert (code, err) == (0, "")
    shown = shlex.split(" ".join(out.split("example:")[1].split()))
    assert shown[0] == "tukeydp"
    assert run(*shown[1:])[0] == 0
    assert run("demo", "--save", tmp_path / "no" / "such.csv")[0] == 2


def test_module_and_version():
    done = subprocess.run([sys.executable, "-m", "tukeydp", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"tukeydp {td.__version__}\n")


def test_import_stays_light():
    """numba, the solver, DataFrames and plotting load when first needed."""
    heavy = ("numba", "scipy", "highspy", "narwhals", "pandas", "matplotlib", "typer", "rich", "sklearn")
    code = f"import sys, tukeydp; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
