"""A report as Markdown, for a repository or a wiki."""

from __future__ import annotations

from tukeydp.cli.sections import Account, headline, sections
from tukeydp.views.escaping import in_markdown
from tukeydp.views.html import warnings
from tukeydp.views.table import Shown, shown


def markdown_report(account: Account) -> str:
    outcome = account.outcome
    parts = [f"# {in_markdown(headline(account))}", *(f"**{in_markdown(text)}**" for text in warnings(outcome))]
    if outcome.released:
        parts.append(table_text(shown(outcome, outcome.quick_error)))
    parts += [f"**{label}**: {in_markdown(text)}" for label, text in sections(account)]
    return "\n\n".join(parts) + "\n"


def table_text(table: Shown) -> str:
    """A table in pipes."""
    rule = [":---" if name in table.left else "---:" for name in table.header]
    header, *rows = ([in_markdown(cell) for cell in line] for line in (table.header, *table.rows))
    lines = [header, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
