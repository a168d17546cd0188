"""Reports of a run by groups, one function for each kind of file."""

from __future__ import annotations

from collections.abc import Callable

from tukeydp.cli.group_sections import GroupAccount, group_headline, group_sections
from tukeydp.cli.reports.html_page import footer, page, wide
from tukeydp.cli.reports.markdown import table_text
from tukeydp.privacy import epsilon_stated
from tukeydp.views.escaping import csv_text as csv_lines
from tukeydp.views.escaping import in_html, in_markdown
from tukeydp.views.grouped import shown_groups

_SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result."


def html_text(account: GroupAccount) -> str:
    found = account.found
    parts = [f'<p class="alarm" role="alert">{_SEEDED}</p>'] if found.seeded else []
    parts += [wide(shown_groups(found)), "<dl>"]
    for label, text in group_sections(account):
        alarmed = ' class="alarmed"' if label == "Warning" else ""
        parts.append(f"<dt{alarmed}>{in_html(label)}</dt><dd>{in_html(text)}</dd>")
    counted = "" if found.counts is None else " and the noised numbers of rows"
    parts += ["</dl>", footer(f"the released values{counted}")]
    return page(group_headline(account), "\n".join(parts))


def markdown_text(account: GroupAccount) -> str:
    parts = [f"# {in_markdown(group_headline(account))}", *([f"**{_SEEDED}**"] if account.found.seeded else [])]
    parts.append(table_text(shown_groups(account.found)))
    parts += [f"**{label}**: {in_markdown(text)}" for label, text in group_sections(account)]
    return "\n\n".join(parts) + "\n"


def csv_text(account: GroupAccount) -> str:
    """A line for each group with all digits, what all of them cost, and whether they may be published."""
    found = account.found
    names = list(found.first.columns or [f"column {j}" for j in range(found.first.d)])
    counted = [] if found.counts is None else ["rows (noised)"]
    lines: list[list[object]] = [[found.by, *counted, *names, "epsilon", "mechanism", "private"]]
    same = [epsilon_stated(found.guarantee), found.mechanism, "yes" if found.private else "no"]
    for key, release in found.items():
        count = [] if found.counts is None else [found.counts[key]]
        lines.append([key, *count, *release.values(), *same])
    return csv_lines(lines)


def json_text(account: GroupAccount) -> str:
    return account.found.to_json(verbose=account.verbose, indent=2) + "\n"


GROUP_REPORTS: dict[str, Callable[[GroupAccount], str]] = {
    ".html": html_text,
    ".md": markdown_text,
    ".csv": csv_text,
    ".json": json_text,
}
