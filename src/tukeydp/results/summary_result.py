"""What `td.summary` hands back: lines, one guarantee for all of them, as text, HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from tukeydp.results.escaping import csv_text as csv_lines
from tukeydp.results.escaping import in_html, in_latex, in_markdown, printable
from tukeydp.results.forest import forest_of
from tukeydp.results.summary_cells import SEEDED, Line, Source, Summarised, cells, footnote, header, title
from tukeydp.results.views import Shown
from tukeydp.results.views import lines as lines_of
from tukeydp.trusted.account import PureDP, epsilon_stated
from tukeydp.trusted.parameters import show
from tukeydp.trusted.release import Seal, vouched
from tukeydp.version import __version__

# A summary as text, HTML, Markdown, LaTeX and CSV. Names of columns and keys are anybody's text: all are escaped.

# Colours in pairs for light and dark, with a contrast of at least 4.5 to 1 (WCAG AA). Where a line has no room for all
# cells, below 36 em, the name stands above its numbers.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --dim: #59626d; --line: #d5dae0; --page: #fff; --accent: #1f5f99;
  --alarm: #a3230f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #a3adb8; --line: #3a424c; --page: #14181d;
  --accent: #7fb6ea; --alarm: #ff9c8a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
caption { font-size: 1.25rem; line-height: 1.3; font-weight: 700; text-align: left; padding: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th[scope=row], th[scope=rowgroup], thead th:first-child { text-align: left; }
thead th { color: var(--dim); font-weight: 600; font-size: .875rem; border-bottom: 2px solid var(--ink); }
th[scope=rowgroup] { padding-top: 1rem; }
tbody tr.in th { font-weight: 400; padding-left: 1.4rem; }
td { white-space: nowrap; }
td.mean { font-weight: 700; color: var(--accent); }
.alarm { color: var(--alarm); font-weight: 700; border: 2px solid; border-radius: .4rem; padding: .5rem .75rem; }
footer { margin-top: 1rem; color: var(--dim); font-size: .875rem; }
footer p { margin: 0 0 .5rem; }
@media (max-width: 36em) {
  main { padding: 1rem .75rem 2rem; }
  tr { display: grid; grid-template-columns: 3.6em 1fr 1fr 1.9fr; border-bottom: 1px solid var(--line); }
  table.plain tr { grid-template-columns: 1fr 1fr 1fr; }
  caption, table, thead, tbody { display: block; }
  th, td { border: 0 !important; padding: .2rem .25rem; white-space: normal; }
  thead th:first-child { display: none; }
  th[scope=row], th[scope=rowgroup] { grid-column: 1 / -1; }
  tbody tr.in th { padding-left: .25rem; }
}
@media print {
  :root { --ink: #000; --dim: #333; --line: #999; --page: #fff; --accent: #000; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  tr { break-inside: avoid; }
}
"""


def sections(summary: Summarised) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """Columns with their lines: a line's name is its group's, or empty where there are no groups."""
    for column in dict.fromkeys(line.column for line in summary.lines):
        lines = [line for line in summary.lines if line.column == column]
        yield (
            printable(column),
            [("" if line.group is None else printable(line.group), cells(summary, line)) for line in lines],
        )


def table(summary: Summarised) -> Shown:
    """The summary as a table of texts: column, group where there are groups, and the numbers."""
    grouped = summary.keys is not None
    names = ["column", *([printable(summary.by or "")] if grouped else [])]
    rows = [
        [column, *([name] if grouped else []), *numbers]
        for column, found in sections(summary)
        for name, numbers in found
    ]
    return Shown([*names, *header(summary)], rows, tuple(names), len(names))


def text(summary: Summarised) -> str:
    """Columns side by side, then the footnote."""
    return "\n".join([title(summary), "", *lines_of(table(summary)), "", *footnote(summary)])


def html_page(summary: Summarised) -> str:
    return html_document(title(summary), html_piece(summary))


def html_document(heading: str, piece: str) -> str:
    """A page of its own around a piece of HTML; the heading is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{in_html(heading)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{piece}\n</main>\n</body>\n</html>\n"
    )


def html_piece(summary: Summarised) -> str:
    """Table and footnote, for a notebook or a page."""
    alarm = f'<p class="alarm" role="alert">{SEEDED}</p>' if summary.seeded else ""
    notes = "".join(f"<p>{in_html(note)}</p>" for note in footnote(summary) if note != SEEDED)
    kind = "" if summary.confidence is not None else ' class="plain"'
    heads = "".join(f'<th scope="col">{in_html(name)}</th>' for name in ["column", *header(summary)])
    body = "".join(f"<tbody>{''.join(_html_rows(*section, summary))}</tbody>" for section in sections(summary))
    caption = f"<caption>{in_html(title(summary))}</caption>"
    table = f"<table{kind}>{caption}<thead><tr>{heads}</tr></thead>{body}</table>"
    return f"<div>{alarm}{table}<footer>{notes}</footer></div>"


def _html_rows(column: str, lines: list[tuple[str, list[str]]], summary: Summarised) -> Iterator[str]:
    if summary.keys is not None:
        span = 1 + len(header(summary))
        yield f'<tr><th scope="rowgroup" colspan="{span}">{in_html(column)}</th></tr>'
    for name, numbers in lines:
        within = ' class="in"' if summary.keys is not None else ""
        classes = ["", ' class="mean"', "", ""]
        shown = "".join(f"<td{kind}>{in_html(cell)}</td>" for kind, cell in zip(classes, numbers, strict=False))
        yield f'<tr{within}><th scope="row">{in_html(name if summary.keys is not None else column)}</th>{shown}</tr>'


def markdown(summary: Summarised) -> str:
    grouped = summary.keys is not None
    first = ["column", *([in_markdown(summary.by or "")] if grouped else [])]
    heads = header(summary)
    rows = [[*first, *heads], [":---"] * len(first) + ["---:"] * len(heads)]
    for column, lines in sections(summary):
        for name, numbers in lines:
            rows.append([in_markdown(column), *([in_markdown(name)] if grouped else []), *map(in_markdown, numbers)])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    alarm = [f"**{SEEDED}**"] if summary.seeded else []
    notes = [in_markdown(note) for note in footnote(summary) if note != SEEDED]
    return "\n\n".join([f"# {in_markdown(title(summary))}", *alarm, table, *notes]) + "\n"


def latex(summary: Summarised) -> str:
    heads = header(summary)
    body = []
    for column, lines in sections(summary):
        if summary.keys is None:
            body += [" & ".join([in_latex(column), *map(in_latex, numbers)]) + r" \\" for _, numbers in lines]
        else:
            body.append(rf"\multicolumn{{{1 + len(heads)}}}{{l}}{{{in_latex(column)}}} \\")
            body += [
                r"\quad " + " & ".join([in_latex(name), *map(in_latex, numbers)]) + r" \\" for name, numbers in lines
            ]
    return latex_table(title(summary), ["", *heads], body, footnote(summary))


def latex_table(caption: str, heads: Sequence[str], body: Sequence[str], notes: Sequence[str]) -> str:
    """A `table` for the package booktabs around lines of LaTeX; the other texts are escaped here."""
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{in_latex(caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            " & ".join(map(in_latex, heads)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\smallskip{{\footnotesize {' '.join(map(in_latex, notes))}\par}}",
            r"\end{table}",
            "",
        ]
    )


def csv_text(summary: Summarised) -> str:
    same = {
        "epsilon": epsilon_stated(summary.guarantee),
        "delta": "0",
        "mechanism": summary.mechanism,
        "rows": "" if summary.n is None else summary.n,
        "nominal_confidence": "" if summary.confidence is None else summary.confidence,
        "private": "no" if summary.seeded else "yes",
    }
    found = [line.to_dict() | {"sd_public": "yes" if line.sd_public else "no"} for line in summary.lines]
    return csv_lines([[*found[0], *same], *([*line.values(), *same.values()] for line in found)])


# What `td.summary` hands back: lines, one guarantee for all of them, and the ways to show them.


@dataclass(frozen=True, eq=False, kw_only=True)
class Summary:
    """A private "Table 1". Everything in it is public beforehand, or released.

    Attributes
    ----------
    guarantee
        What all of it has cost together.
    n
        Rows of the table, a public number, or None where it is secret; the lines have noised numbers of values.
    columns, bounds, by, keys, confidence, settings
        What was fixed beforehand.
    notes
        What else belongs into the footnote.
    mechanism
        How the means were made: "two-step" or "cube".
    """

    guarantee: PureDP | None = None
    seeded: bool
    n: int | None
    columns: tuple[str, ...]
    bounds: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    by: str | None
    keys: tuple[str, ...] | None
    confidence: float | None
    mechanism: str
    settings: Mapping[str, Any]
    source: Source = field(repr=False)
    notes: tuple[str, ...] = ()
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vouched(self)

    @property
    def private(self) -> bool:
        """False for seeded randomness, where the table is a rehearsal, and for one that nobody has paid for."""
        return not self.seeded and self.guarantee is not None

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One for each column (and group). Intervals are calibrated when first asked for, which may take seconds."""
        return self.source.lines()

    @property
    def interval_note(self) -> str | None:
        """How sure the intervals are, for which columns, and how that is known."""
        return self.source.interval_note()

    @property
    def footnote(self) -> str:
        """What was released, what it cost, how it was made and what the intervals hold for; ready to print."""
        return " ".join(footnote(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the summary, ready for JSON."""
        lower, upper = self.bounds
        return {
            "mechanism": self.mechanism,
            "lines": [line.to_dict() for line in self.lines],
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "columns": list(self.columns),
            "bounds": {"lower": [float(v) for v in lower], "upper": [float(v) for v in upper]},
            "by": self.by,
            "keys": None if self.keys is None else list(self.keys),
            "confidence": self.confidence,
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "footnote": footnote(self),
            "version": __version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame with all digits: one row for each line."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install pandas. Without it: lines, to_dict()") from None
        return pandas.DataFrame([line.to_dict() for line in self.lines])

    def to_html(self) -> str:
        """A page of its own: no scripts, nothing loaded, dark or light, fit for paper and for a phone."""
        return html_page(self)

    def to_markdown(self) -> str:
        return markdown(self)

    def to_latex(self) -> str:
        """A `table` for the package booktabs."""
        return latex(self)

    def to_csv(self) -> str:
        """One line for each column (and group) with all digits, what it cost, and whether it may be published."""
        return csv_text(self)

    def plot(self, *, dark: bool = False) -> Any:
        """A forest plot, a matplotlib `Figure`: the mean with its interval, column by column in its own units."""
        return forest_of(self, dark=dark)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html_piece(self)
