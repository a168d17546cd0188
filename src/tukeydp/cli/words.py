"""Words on the terminal: at most a screen by default, plain text where nobody sees colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from tukeydp.cli.sections import Account, Section, headline, sections
from tukeydp.results.escaping import lines_of_text
from tukeydp.results.release import Outcome
from tukeydp.results.views import Shown, blocks, shown

_WIDEST = 100  # characters of a line: longer ones are hard to read
_INDENT = 11  # characters before the lines of a section: its label stands there


def console(*, stderr: bool = False) -> Console:
    """Bold labels on a terminal; plain text into a pipe or a file, and where NO_COLOR is set."""
    plain = Console(stderr=stderr, color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
    plain.width = min(plain.width, _WIDEST)
    return plain


def _plain(text: str) -> Text:
    """No markup, and nothing that a terminal obeys: names and paths are anybody's text."""
    return Text(lines_of_text(text))


def say(text: str = "") -> None:
    console().print(_plain(text))


def say_command(text: str) -> None:
    """On one line, however long, so that it can be copied."""
    console().print(_plain(f"  {text}"), soft_wrap=True)


def say_lines(text: str) -> None:
    """Lines as they are: broken ones would lose what each begins with."""
    console().print(_plain(text), soft_wrap=True)


def complain(message: str) -> None:
    """To standard error, so that standard output is the release and nothing else."""
    console(stderr=True).print(_plain(f"tukeydp: {message}"), soft_wrap=True)


def print_json(outcome: Outcome, *, verbose: bool = False) -> None:
    sys.stdout.write(outcome.to_json(verbose=verbose) + "\n")


def explain(
    outcome: Outcome,
    estimand: str,
    how: str = "",
    beside: Mapping[str, Sequence[float]] | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Print what was released or why nothing was, what it cost, and how far to trust it.

    `how` says which mechanism ran and why; `beside` are further columns for the table of released values. The released
    values come first: a forecast of their accuracy may take seconds.
    """
    account = Account(outcome, estimand, how, verbose)
    if outcome.guarantee is None:
        say("*** NO GUARANTEE: an experimental mode. Do not publish this result. ***\n")
    elif not outcome.private:
        say("*** SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result. ***\n")
    say(f"{headline(account)}\n")
    if outcome.released:
        # Errors in data units stand in the table only where they are a formula: the release must not wait for others.
        print_table(shown(outcome, outcome.quick_error, beside))
        say()
    for section in sections(account):
        print_section(section)


def print_table(table: Shown) -> None:
    """As wide as the terminal, in blocks of columns where it is wider; into a pipe or a file in one piece."""
    out = console()
    for number, block in enumerate(blocks(table, out.width if out.is_terminal else None)):
        printed = _plain("\n".join([*([""] if number else []), *block.header, *block.rows]))
        printed.stylize("bold", 0, sum(len(line) + 1 for line in block.header) + bool(number))
        out.print(printed, soft_wrap=True)


def print_section(section: Section) -> None:
    """The label, and the text beside it with all its lines indented alike."""
    label, text = section
    out = console()
    start = f"{label:{_INDENT - 2}}  "
    lines = wrap(
        text, out.width, initial_indent=start, subsequent_indent=" " * _INDENT, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    printed = _plain("\n".join(lines))
    printed.stylize("bold", 0, len(label))
    out.print(printed, soft_wrap=True)
