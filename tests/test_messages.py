"""Every message a user can see is as the snapshots say, and every place that raises one is among them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import tukeydp
from support import messages
from tukeydp.trusted.parameters import ParameterError

SOURCE = Path(tukeydp.__file__).parent
# Places that no snapshot reaches, by file and rule, and why.
UNREACHED = {
    'data/keys.py: "x", rule, type(x)': "a data frame that fails when it is read: tests/planning/test_summary.py",
    "data/engines/polars_frames.py: needs a polars whose LazyFrame": "older: tests/engines/test_bad_frames.py",
    "data/engines/batches.py: must have distinct column names": "DuckDB relations: tests/engines/test_bad_frames.py",
    "data/look.py: must be {_LOOKED_AT} to be looked at": "formats added by others: tests/docs/test_extending.py",
}


def sites() -> dict[tuple[str, int, int], str]:
    """Where a ParameterError is made in data/ and cli/: file, first and last line, and the source."""
    found = {}
    for room in ("data", "cli"):
        for path in sorted((SOURCE / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "ParameterError":
                    source = ast.get_source_segment(text, node) or ""
                    found[str(path.relative_to(SOURCE)), node.lineno, node.end_lineno or node.lineno] = source
    return found


@pytest.fixture(scope="module")
def said():
    """All messages, and the lines that made errors on the way."""
    made: set[tuple[str, int]] = set()
    plain = ParameterError.__init__

    def noted(self, parameter, rule, value):
        frame = sys._getframe(1)
        made.add((frame.f_code.co_filename, frame.f_lineno))
        plain(self, parameter, rule, value)

    with pytest.MonkeyPatch.context() as patch, messages.workplace():
        patch.setattr(ParameterError, "__init__", noted)
        return messages.texts(), made


@pytest.mark.parametrize("group", ["commands", "look", "mistakes", "plans", "python", "reader", "releases", "stops"])
def test_messages_are_as_the_snapshots_say(said, group):
    """After a change that is meant: `python tests/support/messages.py`, and read the difference."""
    assert said[0][group] == (messages.FOLDER / f"{group}.txt").read_text(encoding="utf-8")


def test_there_are_no_other_snapshots(said):
    assert {path.stem for path in messages.FOLDER.glob("*.txt")} == set(said[0])


def test_every_place_that_raises_is_reached(said):
    made = said[1]
    unreached = [
        f"{file}: {source}"
        for (file, first, last), source in sites().items()
        if not any(name.endswith(f"tukeydp/{file}") and first <= line <= last for name, line in made)
    ]
    listed = {place: [u for u in unreached if _fits(place, u)] for place in UNREACHED}
    assert {place: len(found) for place, found in listed.items()} == dict.fromkeys(UNREACHED, 1)
    assert [u for u in unreached if not any(_fits(place, u) for place in UNREACHED)] == []


def _fits(place: str, site: str) -> bool:
    file, _, words = place.partition(": ")
    return site.startswith(f"{file}: ") and words.replace("'", '"') in site.replace("'", '"')


def test_no_message_quotes_a_cell_or_shows_a_traceback(said):
    text = "\n".join(said[0][group] for group in ("commands", "mistakes", "python", "reader", "stops"))
    assert "Traceback" not in text
    assert not re.search(r"\bn[0-9]+\b|Zoe4711", text)  # the cells of the column of notes, and of frames of text


def test_every_common_mistake_is_told_with_its_correction(said):
    """docs/guide/files.md lists them; the corrections of each line are in what its command says."""
    rows = messages.mistakes()
    assert len(rows) >= 10
    shown = {command: " ".join(said[0]["mistakes"].split("$ tukeydp ")[i].split()) for i, (_, command, _) in
             enumerate(rows, start=1)}  # fmt: skip
    for mistake, command, corrections in rows:
        assert corrections, mistake
        assert [word for word in corrections if word not in shown[command]] == [], mistake
