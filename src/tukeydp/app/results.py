"""A result as the page shows it and as files to take away, by the library's own exporters. No statistics here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tukeydp.app.choices import Choices
from tukeydp.cli import centre, mean
from tukeydp.cli.reports import GROUP_REPORTS, REPORTS
from tukeydp.cli.sections import Account, GroupAccount, group_headline, group_sections, headline, sections
from tukeydp.results.counts_release import CountsRelease
from tukeydp.results.escaping import in_latex, printable
from tukeydp.results.forest import Mark, Panel, picture, release_panels, summary_panels
from tukeydp.results.grouped_release import GroupedRelease
from tukeydp.results.summary_cells import footnote, title
from tukeydp.results.summary_result import Summary, latex_table
from tukeydp.results.summary_result import table as summary_table
from tukeydp.results.views import Shown, guarantee_sentence, shown, shown_groups
from tukeydp.trusted.parameters import ParameterError

# Files of a release and how they are served. All are downloads: nothing of them runs in the page.
FILES = {
    "report.html": "text/html",
    "table.csv": "text/csv",
    "result.json": "application/json",
    "table.md": "text/markdown",
    "table.tex": "application/x-tex",
    "table.docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "table.xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "table.ard.csv": "text/csv",
    "forest.png": "image/png",
    "repeat.py": "text/x-python",
    "repeat.ipynb": "application/x-ipynb+json",
    "settings.json": "application/json",
}


@dataclass(frozen=True)
class Told:
    """A result in words: what was released, and what is public about it."""

    headline: str
    table: Shown
    said: list[tuple[str, str]]
    panels: list[Panel]
    mechanism: str
    files: dict[str, bytes]


def numbers(result: Any, choices: Choices) -> bytes:
    """The numbers for a spreadsheet, which take no forecast: what a person can use if nothing else gets written."""
    estimand = _estimand(choices)
    if isinstance(result, Summary | CountsRelease):
        return result.to_csv().encode()
    if isinstance(result, GroupedRelease):
        return GROUP_REPORTS[".csv"](GroupAccount(result, estimand)).encode()
    return REPORTS[".csv"](Account(result, estimand)).encode()


def _estimand(choices: Choices) -> str:
    return "centre" if choices.statistic == "centre" else "mean"


def told(result: Any, choices: Choices) -> Told:
    """Intervals and forecasts are made here, from what was released and what is public; that may take seconds."""
    estimand = _estimand(choices)
    if isinstance(result, Summary | CountsRelease):
        return _of_table(result)
    if isinstance(result, GroupedRelease):
        grouped = GroupAccount(result, estimand, choices.statistic == "mean")
        reports = {ending: report(grouped) for ending, report in GROUP_REPORTS.items()}
        titled, table, panels = group_headline(grouped), shown_groups(result), list(_group_panels(result))
        return _told(titled, table, list(group_sections(grouped)), panels, result.mechanism, reports)
    how = centre.how(result) if estimand == "centre" else mean.how_and_why("auto", result, sd="sd" in choices.call()[1])
    account = Account(result, estimand, how)
    reports = {ending: report(account) for ending, report in REPORTS.items()}
    table = shown(result, result.quick_error)
    panels = release_panels(result) if result.released else []
    return _told(headline(account), table, list(sections(account)), panels, result.mechanism, reports)


def _told(
    titled: str, table: Shown, said: list[tuple[str, str]], panels: list[Panel], mechanism: str, reports: dict[str, str]
) -> Told:
    body = [" & ".join(in_latex(cell) for cell in row) + r" \\" for row in table.rows]
    notes = [f"{label}: {text}" for label, text in said]
    reports[".tex"] = latex_table(titled, table.header, body, notes)
    return Told(titled, table, said, panels, mechanism, _named(reports))


def _named(reports: dict[str, str]) -> dict[str, bytes]:
    endings = {name: f".{name.partition('.')[2]}" for name in FILES if not name.startswith(("repeat", "settings"))}
    return {name: reports[ending].encode() for name, ending in endings.items() if ending in reports}


def _of_table(summary: Summary | CountsRelease) -> Told:
    reports = {
        ".html": summary.to_html(), ".csv": summary.to_csv(), ".json": summary.to_json(indent=2) + "\n",
        ".md": summary.to_markdown(), ".tex": summary.to_latex(),
    }  # fmt: skip
    reports |= {".ard.csv": summary.to_ard()} if isinstance(summary, Summary) else {}
    guarantee = "Guarantee", guarantee_sentence(summary.guarantee)
    if isinstance(summary, CountsRelease):
        said = [guarantee, ("Footnote", " ".join(summary.said))]
        return Told(summary.headline, summary.shown(), said, [], summary.mechanism, _named(reports))
    said = [guarantee, ("Footnote", " ".join(footnote(summary))), ("Details", " ".join(summary.details))]
    panels = summary_panels(summary)
    return Told(
        title(summary), summary_table(summary), said, panels, summary.mechanism, _named(reports) | _office(summary)
    )


def _office(summary: Summary) -> dict[str, bytes]:
    """For Word and Excel, and a picture, where their packages are there."""
    found: dict[str, bytes] = {}
    for name, made in (("table.docx", summary.to_docx), ("table.xlsx", summary.to_xlsx)):
        with suppress(ParameterError):
            found[name] = made()
    with suppress(ParameterError):
        found["forest.png"] = picture(summary, ".png")
    return found


def _group_panels(found: GroupedRelease) -> Iterator[Panel]:
    for j, name in enumerate(found.first.columns or ()):
        means = {key: float(one.point[j]) for key, one in found.items()}
        marks = [Mark(printable(key), None if math.isnan(mean) else mean, None) for key, mean in means.items()]
        yield Panel(printable(name), marks)
