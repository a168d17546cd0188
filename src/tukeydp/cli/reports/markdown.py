"""A report as Markdown, for a repository or a wiki."""

from __future__ import annotations

import re

from tukeydp.cli.sections import Account, headline, sections
from tukeydp.views.html import warnings
from tukeydp.views.table import Shown, shown

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def markdown_report(account: Account) -> str:
    outcome = account.outcome
    parts = [f"# {escaped(headline(account))}", *(f"**{escaped(text)}**" for text in warnings(outcome))]
    if outcome.released:
        parts.append(table_text(shown(outcome, outcome.quick_error)))
    parts += [f"**{label}**: {escaped(text)}" for label, text in sections(account)]
    return "\n\n".join(parts) + "\n"


def table_text(table: Shown) -> str:
    """A table in pipes."""
    rule = [":---" if name in table.left else "---:" for name in table.header]
    lines = [table.header, rule, *([escaped(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Every character that may mean something to a Markdown reader, also to one that passes HTML through.

    >>> escaped("<b>|*")
    '\\\\<b\\\\>\\\\|\\\\*'
    """
    return _SPECIAL.sub(r"\\\1", text)
