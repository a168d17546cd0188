"""The README, as a reader would follow it: blocks are run in order in one folder, names and links are looked up."""

from __future__ import annotations

import csv
import re
import statistics
from pathlib import Path

import pytest

import tukeydp as td
from support.pages import run_page
from tukeydp.cli import app

pytestmark = pytest.mark.usefixtures("no_false_alarm")

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_blocks_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert {"x", "release"} <= run_page(ROOT / "README.md").keys()


def test_there_are_blocks_of_each_kind():
    assert {language for language, _ in BLOCKS} == {"sh", "console", "python", "text"}


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake (\w+)", " ".join(block for language, block in BLOCKS if language == "sh"))
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_names_in_the_text_exist():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    assert set(re.findall(r"`tukeydp ([a-z0-9]+)", TEXT)) <= known
    for name in re.findall(r"\btd\.([a-zA-Z_]+)", TEXT):
        assert hasattr(td, name), name


def test_links_resolve():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def over_best(methods: tuple[str, ...]) -> list[float]:
    """The error of td.mean over the least of these methods', table by table, bounds ten times the range."""
    errors: dict[str, dict[str, float]] = {}
    with (ROOT / "docs" / "results" / "real-tables.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["bounds over range"] == "10":
                errors.setdefault(line["table"], {})[line["method"]] = float(line["error"])
    return [by["td.mean"] / min(by[method] for method in methods) for by in errors.values()]


def test_the_figures_are_those_that_were_measured():
    pure, others = ("Laplace", "OpenDP"), ("Laplace", "OpenDP", "CoinPress", "Huang-Liang-Yi", "PLAN")
    tables, alone, at_all, worst = re.search(
        r"Over the (\d+) tables .*? is ([\d.]+) of the best .*?, ([\d.]+) of the best at all, and ([\d.]+) times",
        " ".join(TEXT.split()),
    ).groups()
    assert int(tables) == len(over_best(others))
    assert float(alone) == round(statistics.geometric_mean(over_best(pure)), 2)
    assert float(at_all) == round(statistics.geometric_mean(over_best(others)), 2)
    assert float(worst) == round(max(over_best(others)), 1)


def test_the_output_shown_is_what_is_printed():
    """Up to the sentences left out: as stored for a rehearsal, which has a banner besides."""
    shown = next(block for language, block in BLOCKS if language == "text")
    stored = (ROOT / "tests" / "cli" / "words" / "mean-verbose.txt").read_text(encoding="utf-8")
    for line in shown.splitlines():
        assert line.removesuffix(" ...") in stored, line
