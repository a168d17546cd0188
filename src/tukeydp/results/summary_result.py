"""What `td.summary` hands back: a table, one guarantee for all of it, and the formats that it is written in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from tukeydp.results.escaping import csv_text as csv_lines
from tukeydp.results.escaping import in_html, in_latex, in_markdown
from tukeydp.results.forest import forest_of
from tukeydp.results.office import docx_of, xlsx_of
from tukeydp.results.summary_cells import (
    SEEDED,
    Line,
    Row,
    Source,
    Summarised,
    ard,
    details,
    footnote,
    heads,
    overall,
    rows,
    title,
)
from tukeydp.results.views import Shown
from tukeydp.results.views import lines as lines_of
from tukeydp.trusted.account import PureDP, epsilon_stated
from tukeydp.trusted.parameters import show
from tukeydp.trusted.release import Seal, vouched
from tukeydp.version import __version__

# A summary as text, HTML, Markdown, LaTeX and CSV. Names of columns and keys are anybody's text: all are escaped.

# Colours in pairs for light and dark, with a contrast of at least 4.5 to 1 (WCAG AA). Where a row has no room for all
# cells, below 36 em, they stand below its name, each with its group's.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --dim: #59626d; --line: #d5dae0; --page: #fff; --alarm: #a3230f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #a3adb8; --line: #3a424c; --page: #14181d;
  --alarm: #ff9c8a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: break-word; }
caption { font-size: 1.25rem; line-height: 1.3; font-weight: 700; text-align: left; padding: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  border-bottom: 2px solid var(--ink); }
th, td { padding: .3rem .6rem; text-align: right; vertical-align: top; }
th[scope=row], thead th:first-child { text-align: left; font-weight: 400; }
thead th { font-weight: 600; border-top: 2px solid var(--ink); border-bottom: 1px solid var(--ink); }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); }
tr.in th { padding-left: 1.6rem; }
tr.dim > * { color: var(--dim); font-size: .875rem; }
.alarm { color: var(--alarm); font-weight: 700; border: 2px solid; border-radius: .4rem; padding: .5rem .75rem; }
footer { margin-top: 1rem; color: var(--dim); font-size: .875rem; }
footer p { margin: 0 0 .5rem; }
summary { cursor: pointer; }
@media (max-width: 36em) {
  main { padding: 1rem .75rem 2rem; }
  thead { display: none; }
  caption, table, tbody, tr { display: block; }
  th, td { display: block; padding: .1rem .25rem; text-align: left; }
  th[scope=row] { font-weight: 600; padding-top: .5rem; }
  tr.in th { padding-left: .25rem; }
  td:empty { display: none; }
  td::before { content: attr(data-label) ": "; color: var(--dim); }
}
@media print {
  :root { --ink: #000; --dim: #333; --line: #999; --page: #fff; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  tr { break-inside: avoid; }
}
"""


_GAP = "\u00b7 "  # before the name of a row that belongs to the one above


def table(summary: Summarised) -> Shown:
    """The summary as a table of texts: a row's name, then a cell for each group and for all."""
    found = [[f"{_GAP if row.inner else ''}{row.label}", *row.cells] for row in rows(summary)]
    return Shown([_CORNER, *heads(summary)], found, (_CORNER,), 1)


_CORNER = "column"


def text(summary: Summarised) -> str:
    """Groups side by side, then the footnote, then details."""
    return "\n".join([title(summary), "", *lines_of(table(summary)), "", *footnote(summary), "", *details(summary)])


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
    more = "".join(f"<p>{in_html(note)}</p>" for note in details(summary))
    named = ["", *heads(summary)]
    top = "".join(f'<th scope="col">{in_html(name).replace(" (N = ", "<br>(N = ")}</th>' for name in named)
    body, start = [], True
    for row in rows(summary):
        if not row.inner:
            body.append("</tbody><tbody>" if not start else "<tbody>")
            start = False
        body.append(_html_row(row, named))
    caption = f"<caption>{in_html(title(summary))}</caption>"
    shown = f"<table>{caption}<thead><tr>{top}</tr></thead>{''.join(body)}</tbody></table>"
    return (
        f"<div>{alarm}{shown}<footer>{notes}<details><summary>How it was made</summary>{more}</details></footer></div>"
    )


def _html_row(row: Row, named: list[str]) -> str:
    kinds = [*(["in"] if row.inner else []), *(["dim"] if row.kind in ("interval", "missing") else [])]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    pairs = zip(named[1:], row.cells, strict=True)
    cells = "".join(f'<td data-label="{in_html(name)}">{in_html(cell)}</td>' for name, cell in pairs)
    return f'<tr{kind}><th scope="row">{in_html(row.label)}</th>{cells}</tr>'


def markdown(summary: Summarised) -> str:
    named = heads(summary)
    shown = [["", *map(in_markdown, named)], [":---", *["---:"] * len(named)]]
    for row in rows(summary):
        label = f"{'&nbsp;&nbsp;' if row.inner else ''}{in_markdown(row.label)}"
        shown.append([label, *map(in_markdown, row.cells)])
    lines = "\n".join(f"| {' | '.join(row)} |" for row in shown)
    alarm = [f"**{SEEDED}**"] if summary.seeded else []
    notes = [in_markdown(note) for note in [*footnote(summary), *details(summary)] if note != SEEDED]
    return "\n\n".join([f"# {in_markdown(title(summary))}", *alarm, lines, *notes]) + "\n"


def latex(summary: Summarised) -> str:
    body = [
        ("\\quad " if row.inner else "") + " & ".join([in_latex(row.label), *map(in_latex, row.cells)]) + r" \\"
        for row in rows(summary)
    ]
    return latex_table(title(summary), ["", *heads(summary)], body, [*footnote(summary), *details(summary)])


def latex_table(caption: str, heads: Sequence[str], body: Sequence[str], notes: Sequence[str]) -> str:
    """A `table` for the package booktabs around lines of LaTeX; the other texts are escaped here.

    Numbers of records stand below the names of groups, as a page is narrow.
    """
    split = [head.partition(" (N = ") for head in heads]
    below = [f"(N = {number}" if mark else "" for _, mark, number in split]
    named = [name for name, _, _ in split]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering\small\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{in_latex(caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            *(" & ".join(map(in_latex, line)) + r" \\" for line in (named, below) if any(line)),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\smallskip{{\raggedright\footnotesize {' '.join(map(in_latex, notes))}\par}}",
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
    if not found:
        return csv_lines([[*same], [*same.values()]])
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
        What else belongs to the details.
    mechanism
        How the means were made: "two-step", "cube" or "norm"; "counts" where there are none.
    left_out
        Lines that were asked for and not released, and what it would take: decided from public numbers.
    labels, key_labels, compare
        How it is shown: names of columns and of groups, and what the last column compares.
    weighted
        Whether records have weights.
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
    left_out: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    key_labels: Mapping[str, str] = field(default_factory=dict)
    compare: str | None = None
    weighted: bool = False
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

    @cached_property
    def overall(self) -> tuple[Line, ...]:
        """The same of all groups together, made from their lines."""
        return overall(self.lines, self.confidence)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Records of each group, or the sum of their weights: with noise, unless the number is public."""
        return tuple(max(0, round(self.source.size(g))) for g in range(1 if self.keys is None else len(self.keys)))

    @property
    def measured(self) -> tuple[str, ...]:
        """Columns that have bounds, in the order of these."""
        return self.source.measured

    @property
    def interval_note(self) -> str | None:
        """How sure the intervals are, for which columns, and how that is known."""
        return self.source.interval_note()

    @property
    def footnote(self) -> str:
        """Two sentences to print below the table: what its values are, what they cost, how they were made."""
        return " ".join(footnote(self))

    @property
    def details(self) -> tuple[str, ...]:
        """What else there is to know."""
        return tuple(details(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything public about the summary, ready for JSON."""
        lower, upper = self.bounds
        return {
            "mechanism": self.mechanism,
            "sizes": list(self.sizes),
            "lines": [line.to_dict() for line in self.lines],
            "overall": None if self.keys is None else [line.to_dict() for line in self.overall],
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "columns": list(self.columns),
            "bounds": {"lower": [float(v) for v in lower], "upper": [float(v) for v in upper]},
            "by": self.by,
            "keys": None if self.keys is None else list(self.keys),
            "confidence": self.confidence,
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "left_out": list(self.left_out),
            "footnote": footnote(self),
            "details": details(self),
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

    def to_docx(self) -> bytes:
        """A Word document with a real table; needs pip install "tukeydp[office]"."""
        return docx_of(self)

    def to_xlsx(self) -> bytes:
        """An Excel workbook of real numbers: the table, every statistic by itself, and notes; needs the same."""
        return xlsx_of(self)

    def to_ard(self) -> str:
        """Analysis results data as CSV, one line for each statistic, in the columns that cards and gtsummary have."""
        found = ard(self)
        return csv_lines([list(found[0]), *(list(line.values()) for line in found)]) if found else ""

    def plot(self, *, dark: bool = False) -> Any:
        """A forest plot, a matplotlib `Figure`: the mean with its interval, column by column in its own units."""
        return forest_of(self, dark=dark)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html_piece(self)
