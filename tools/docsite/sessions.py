"""Sessions of Python (`>>>`) in docstrings, where nothing marks them as code: shown as such."""

from __future__ import annotations

from collections.abc import Iterator

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor


class _Sessions(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return list(marked(lines))


def marked(lines: list[str]) -> Iterator[str]:
    """The lines with a fence around every session outside of fences; a blank line ends it."""
    fenced = session = False
    for line in [*lines, ""]:
        if session and not line.strip():
            session = False
            yield "```"
        elif line.startswith(">>> ") and not session and not fenced:
            session = True
            yield "```pycon"
        fenced ^= line.startswith("```")
        yield line


class Sessions(Extension):
    """Before fenced blocks are taken out (25)."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(_Sessions(md), "sessions", 28)
