"""What the examples show of seeded rehearsals and plans is what is printed. (That all blocks run: test_snippets.py.)"""

from __future__ import annotations

import re
import shlex

import pytest
from typer.testing import CliRunner

from support.references import ROOT
from tukeydp.cli import app

EXAMPLES = ROOT / "docs" / "examples"
# A block and what is shown below it.
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
RANDOM = ("td.mean(", "td.summary(", "td.boxem(", "td.regression(")


def repeats(code):
    """Whether a block prints the same in every run: no release, or seeded ones only."""
    return "print(" in code and ("td.seeded(" in code or not any(name in code for name in RANDOM))


def differing(text, capsys):
    """Blocks that print something else than what is shown; `...` stands for lines left out."""
    shown = dict(SHOWN.findall(text))
    names: dict[str, object] = {}
    wrong = []
    for code in BLOCK.findall(text):
        exec(compile(code, "page", "exec"), names)
        printed = capsys.readouterr().out
        if code in shown and repeats(code):
            pattern = ".*".join(re.escape(part) for part in re.split(r"(?:^|\n)\.\.\.(?=\n)", shown[code]))
            if not re.fullmatch(pattern + r"(?s:.*)" * ("..." in shown[code]), printed, flags=re.DOTALL):
                wrong.append((shown[code], printed))
    return wrong


@pytest.mark.slow
def test_what_the_survey_shows_is_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (EXAMPLES / "survey.md").read_text(encoding="utf-8")
    assert sum(repeats(code) for code, _ in SHOWN.findall(text)) == 5
    assert differing(text, capsys) == []


def test_what_the_hospital_shows_of_look_and_plan_is_what_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (EXAMPLES / "hospital.md").read_text(encoding="utf-8")
    exec(compile(BLOCK.findall(text)[0], "hospital.md", "exec"), {})
    for command in ("look", "plan"):
        block = rf"^\$ tukeydp ({command} [^\n]*)\n```\n\n```text\n(.*?)^```$"
        line, shown = re.search(block, text, flags=re.MULTILINE | re.DOTALL).groups()
        result = CliRunner().invoke(app, shlex.split(line))
        assert result.exit_code == 0
        lines = [line.removesuffix(" ...") for line in shown.splitlines() if line != "..."]
        assert [line for line in lines if line not in result.output] == []
        assert len(lines) > 4


@pytest.mark.parametrize("shown", ["2\n", "1\n2\n", "...\n2\n3\n"])
def test_another_number_would_be_noticed(shown, capsys):
    page = "```python\nprint(1)\nprint(3)\n```\n\n```text\n{}```\n"
    assert differing(page.format(shown), capsys)
    assert not differing(page.format("1\n3\n"), capsys)
    assert not differing(page.format("...\n3\n"), capsys)
