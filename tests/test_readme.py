"""The README, as a reader would follow it: blocks are run in order in one folder, names and links are looked up."""

from __future__ import annotations

import re
from pathlib import Path

import tukeydp as td
from support.pages import run_page
from tukeydp.cli import app

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
    known = {command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    assert set(re.findall(r"`tukeydp ([a-z]+)", TEXT)) <= known
    for name in re.findall(r"\btd\.([a-zA-Z_]+)", TEXT):
        assert hasattr(td, name), name


def test_links_resolve():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_output_shown_is_what_is_printed():
    """Up to the sentences left out: as stored for a rehearsal, which has a banner besides."""
    shown = next(block for language, block in BLOCKS if language == "text")
    stored = (ROOT / "tests" / "cli" / "words" / "mean-verbose.txt").read_text(encoding="utf-8")
    for line in shown.splitlines():
        assert line.removesuffix(" ...") in stored, line
