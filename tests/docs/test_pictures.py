"""Pictures of the documentation: they come from tools/pictures, are small, say nothing of a machine, and have words."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.references import ROOT

PICTURES = ROOT / "docs" / "pictures"
PAGES = [ROOT / "docs" / name for name in ("how-it-works.md", "which-mechanism.md", "guide/cluster.md")]
IMAGE = re.compile(r"!\[(.*?)\]\((?:\.\./)?pictures/([\w-]+\.svg)\)")
SHOWN = {file: alt for page in PAGES for alt, file in IMAGE.findall(page.read_text(encoding="utf-8"))}
FILES = [PICTURES / name for name in sorted(SHOWN)]
DRAWN = [path for path in FILES if not path.stem.startswith("plan-")]  # the planner's have no words of their own
LARGEST = 150_000  # bytes: what a phone loads in a moment
CHEAP = ("grid", "depth", "levels", "subset-means", "radii", "scaling")  # three seconds together


def drawn(folder, *names):
    tool = [sys.executable, str(ROOT / "tools" / "pictures"), "--out", str(folder), *names]
    return subprocess.run(tool, capture_output=True, text=True, check=False)


def test_drawing_again_gives_the_same_bytes(tmp_path):
    done = drawn(tmp_path, *CHEAP)
    assert done.returncode == 0, done.stderr
    for name in CHEAP:
        assert (tmp_path / f"{name}.svg").read_bytes() == (PICTURES / f"{name}.svg").read_bytes(), "run `make pictures`"


def test_a_picture_that_does_not_exist_is_refused(tmp_path):
    assert drawn(tmp_path, "nothing").returncode == 2
    assert not list(tmp_path.iterdir())


def test_every_picture_that_is_drawn_is_shown_and_there(tmp_path):
    names = drawn(tmp_path, "--list").stdout.split()
    assert {f"{name}.svg" for name in names} == set(SHOWN)
    assert all(path.exists() for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_picture_is_small_whole_and_says_nothing_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "dc:date" not in text
    assert not any(str(folder) in text for folder in (ROOT, Path.home(), Path(tempfile.gettempdir())))
    # Nothing is loaded from elsewhere: addresses are names of vocabularies only.
    assert set(re.findall(r'(?:href|src)="(?!#)([^"]*)"', text)) == set()


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_the_words_for_those_who_cannot_see_it_are_those_of_the_picture(path):
    told = re.search(r"<desc>(.*?)</desc>", path.read_text(encoding="utf-8"))
    assert SHOWN[path.name] == unescape(told[1])


def test_letters_can_be_read_on_a_phone():
    """At 360 pixels with margins of 20 the drawings' 420 units are 320 pixels."""
    for path in DRAWN:
        text = path.read_text(encoding="utf-8")
        assert 'viewBox="0 0 420 ' in text
        assert min(map(float, re.findall(r'font-size="([\d.]+)"', text))) * 320 / 420 > 9
