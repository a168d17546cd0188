"""Runs the code on a page as its reader would: blocks in order, in one folder, in one session of Python."""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from tukeydp.cli import app

RELEASED, REFUSED = 0, 3
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>[^\n]+?) -->\n+)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.M | re.S)
EXIT_CODE = re.compile(r"#.*\bexit code (\d)")
RUN = ("python", "console")


@dataclass(frozen=True)
class Block:
    """A fenced block. `why`: what the comment before it gives as the reason not to run it."""

    language: str
    code: str
    why: str | None


def blocks(text: str) -> list[Block]:
    return [Block(found["language"], found["code"], found["why"]) for found in BLOCK.finditer(text)]


def commands(code: str) -> list[str]:
    return [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]


def run_command(line: str) -> None:
    """A `tukeydp` command; a comment may say that another exit code than 0 is expected."""
    program, *arguments = shlex.split(line, comments=True)
    assert program == "tukeydp", line
    result = CliRunner().invoke(app, arguments)
    # Without bounds a refusal is an answer; how often, is the business of other tests.
    expected = (RELEASED, REFUSED) if "--delta" in arguments else (RELEASED,)
    if stated := EXIT_CODE.search(line):
        expected = (int(stated[1]),)
    assert result.exit_code in expected, (line, result.output)


def run_python(code: str, names: dict[str, object], page: str) -> None:
    exec(compile(code, page, "exec"), names)


def run_session(code: str, names: dict[str, object], page: str) -> None:
    """Lines with `>>>`: what they print is what is written below them."""
    said: list[str] = []
    names.setdefault("__name__", "__main__")
    session = doctest.DocTestParser().get_doctest(code, names, page, page, 0)
    outcome = doctest.DocTestRunner().run(session, out=said.append, clear_globs=False)
    names.update(session.globs)
    assert outcome.attempted, page
    assert not outcome.failed, "".join(said)


def run_page(path: Path) -> dict[str, object]:
    """Every block of `python` and `console` that no comment takes out, in the present folder; the names it made."""
    names: dict[str, object] = {}
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language not in RUN or block.why:
            continue
        if block.language == "console":
            assert commands(block.code), block.code
            for line in commands(block.code):
                run_command(line)
        elif ">>> " in block.code:
            run_session(block.code, names, path.name)
        else:
            run_python(block.code, names, path.name)
    return names
