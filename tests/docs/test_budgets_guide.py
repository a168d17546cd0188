"""docs/guide/budgets.md, as a reader would follow it."""

from __future__ import annotations

import re
import shlex

from typer.testing import CliRunner

from support.references import ROOT
from tukeydp.cli import app

TEXT = (ROOT / "docs" / "guide" / "budgets.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_blocks_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "budgets.md", "exec"), names)
            continue
        for line in block.splitlines():
            result = CliRunner().invoke(app, shlex.split(line.removeprefix("$ tukeydp ")))
            assert result.exit_code == 0, (line, result.output)
    said = capsys.readouterr().out
    assert "epsilon must be at most 0.1, what the accountant has left; got 0.2." in said
    assert {language for language, _ in BLOCKS} == {"python", "console"}
