"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass
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
        What is replaced by what; `old` stands in the file exactly once.
    tests
        Tests, as pytest names them, of which at least one must fail.
    why
        What guarantee the bug breaks.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str

    def applied(self) -> str:
        """The file's text with the bug in it."""
        text = (PACKAGE / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} has {text.count(self.old)} times {self.old!r}, not once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Harmless:
    """A change that looks like a privacy bug and is none: it changes no output, or no guarantee. Not counted."""

    name: str
    file: str
    old: str
    new: str
    why: str
