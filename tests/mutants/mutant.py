"""What a mutant is."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tukeydp"


@dataclass(frozen=True)
class Mutant:
    """One line of the package changed into a privacy bug.

    Attributes
    ----------
    name
        A few words.
    file
        Below src/tukeydp.
    old, new
        What is replaced by what; `old` stands in the file, or in the function, exactly once.
    tests
        Tests, as pytest names them, of which at least one must fail.
    why
        What guarantee the bug breaks.
    function
        The function that `old` stands in, "Class.method" for a method; empty: the file has it once.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str
    function: str = ""

    def applied(self) -> str:
        """The file's text with the bug in it."""
        text = (PACKAGE / self.file).read_text(encoding="utf-8")
        start, end = (0, len(text)) if not self.function else span_of(text, self.function)
        part = text[start:end]
        if part.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} has {part.count(self.old)} times {self.old!r}, not once")
        return text[:start] + part.replace(self.old, self.new) + text[end:]


def span_of(text: str, function: str) -> tuple[int, int]:
    """Where a function of a file begins and ends."""
    body: list[ast.stmt] = ast.parse(text).body
    for name in function.split("."):
        found = next(node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name)
        body = found.body
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    return starts[found.lineno - 1], starts[found.end_lineno or found.lineno]


@dataclass(frozen=True)
class Harmless:
    """A change that looks like a privacy bug and is none: it changes no output, or no guarantee. Not counted."""

    name: str
    file: str
    old: str
    new: str
    why: str
