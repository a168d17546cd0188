"""What the commands say, word for word: at most a screen, plain where nobody sees colours.

The texts are in `words/`. Where a change is meant: `python tests/cli/test_words.py --write`, and read the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tukeydp.forecast.example import made_up_patients, write_csv

WORDS = Path(__file__).with_name("words")
MOST_LINES, WIDTH = 30, 100  # a screen
TWO = "--columns systolic,nights --epsilon 1 --seed 3"
BOUNDS = "--bounds systolic=60,240 --bounds nights=0,60"
COMMANDS = {
    "mean": f"mean FILE {TWO} {BOUNDS} --unit systolic=mmHg",
    "mean-verbose": f"mean FILE {TWO} {BOUNDS} --verbose",
    "mean-sd": f"mean FILE {TWO} {BOUNDS} --sd systolic=15 --sd nights=4 --mechanism two-step",
    "mean-without-bounds": f"mean FILE {TWO} --delta 1e-6",
    "mean-refused": "mean FILE --columns systolic,nights --epsilon 0.1 --seed 3 --delta 1e-9",
    "mean-cube": f"mean FILE {TWO} {BOUNDS} --mechanism cube",
    "mean-gaussian": f"mean FILE {TWO} {BOUNDS} --mechanism analytic-gaussian --delta 1e-6",
    "mean-warnings": "mean FILE --columns nights --epsilon 11 --seed 3 --bounds 50,60 --mechanism cube",
    "centre": f"centre FILE {TWO} {BOUNDS}",
    "centre-rem": f"centre FILE {TWO} --mechanism rem --delta 1e-6",
    "centre-refused": "centre FILE --columns systolic --epsilon 0.1 --seed 3 --mechanism rem --delta 1e-9",
    "quantiles": f"quantiles FILE {TWO} {BOUNDS} --sd systolic=15 --sd nights=4 --resolution 1",
    "demo": "demo --seed 3",
}

SLOW = ("mean-sd", "mean-without-bounds")  # forecasts of several seconds


def said(name: str, folder: Path) -> str:
    from typer.testing import CliRunner

    from tukeydp.cli import app

    file = folder / "patients.csv"
    if not file.exists():
        write_csv(made_up_patients(), file)
    arguments = COMMANDS[name].replace("FILE", str(file)).split()
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": str(WIDTH)})
    assert result.exit_code == (3 if "refused" in name else 0), result.output
    return "\n".join(line.rstrip() for line in result.stdout.splitlines()) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("words")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in COMMANDS]
)
def test_words_are_as_stored_and_fit_on_a_screen(name, folder):
    text = said(name, folder)
    assert text == (WORDS / f"{name}.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert max(map(len, lines)) <= WIDTH or name == "demo"  # whose last line is a command to copy
    assert len(lines) - 2 <= MOST_LINES  # without the banner of a rehearsal
    assert "typically" not in text  # a median is called what it is


def test_every_stored_text_is_compared():
    assert {path.stem for path in WORDS.glob("*.txt")} == set(COMMANDS)


def in_terminal(arguments, environment):
    """Standard output of a command that believes to be on a terminal."""
    import pty

    parent, child = pty.openpty()
    program = [sys.executable, "-m", "tukeydp", *arguments]
    # Standard error elsewhere: on a terminal, a first run says there that it compiles.
    process = subprocess.Popen(program, stdout=child, stdin=child, env=environment)
    os.close(child)
    found = b""
    while True:
        try:
            some = os.read(parent, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not some:
            break
        found += some
    os.close(parent)
    assert process.wait() == 0
    return found.decode()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_bold_on_a_terminal_plain_in_a_pipe_and_with_no_color(folder):
    said("mean-cube", folder)  # writes the file
    arguments = COMMANDS["mean-cube"].replace("FILE", str(folder / "patients.csv")).split()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")}
    environment = {**kept, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    bold = in_terminal(arguments, environment)
    plain = in_terminal(arguments, {**environment, "NO_COLOR": "1"})
    program = [sys.executable, "-m", "tukeydp", *arguments]
    piped = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert "\x1b[1mGuarantee\x1b[0m" in bold
    assert "\x1b" not in plain + piped.stdout
    assert [line.rstrip() for line in plain.splitlines()] == [line.rstrip() for line in piped.stdout.splitlines()]


def write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in COMMANDS:
            (WORDS / f"{name}.txt").write_text(said(name, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/cli/test_words.py --write")
    write()
