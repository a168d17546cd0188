"""docs/guide/summary.md, as a reader would follow it."""

from __future__ import annotations

import re
import shlex

from typer.testing import CliRunner

from support.references import ROOT
from tukeydp.cli import app

TEXT = (ROOT / "docs" / "guide" / "summary.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_blocks_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "summary.md", "exec"), names)
            continue
        for line in block.splitlines():
            result = CliRunner().invoke(app, shlex.split(line.removeprefix("$ tukeydp ")))
            assert result.exit_code == 0, (line, result.output)
    assert "Summary of 2000 rows in 2 groups of arm" in capsys.readouterr().out
    assert (tmp_path / "table.html").stat().st_size > 1000
    assert {language for language, _ in BLOCKS} == {"python", "console"}
