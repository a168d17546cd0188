"""A report as one HTML page: no scripts, nothing loaded, dark or light as the reader's system is, fit for paper."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import tukeydp
from tukeydp.cli.sections import REHEARSED, Account, headline, sections
from tukeydp.release import Outcome
from tukeydp.views.escaping import in_html
from tukeydp.views.html import table_html, warnings
from tukeydp.views.table import Shown, shown

# Colours in pairs for light and dark, with a contrast of at least 4.5 to 1 (WCAG AA). Where a line has no room for a
# row of the table, below 44 em, its cells stand below each other with their headers.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --dim: #59626d; --line: #d5dae0; --page: #fff; --box: #f5f7f9;
  --accent: #1f5f99; --alarm: #a3230f; --alarm-box: #fdeeeb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #a3adb8; --line: #3a424c; --page: #14181d;
  --box: #1d2329; --accent: #7fb6ea; --alarm: #ff9c8a; --alarm-box: #38201c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
.alarm { border: 2px solid var(--alarm); background: var(--alarm-box); color: var(--alarm); padding: .5rem .75rem;
  font-weight: 700; border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.wide { overflow-x: auto; margin: 0 0 1.5rem; }
.wide table { margin: 0; }
td { overflow-wrap: normal; }
thead th { max-width: 12em; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--page); min-width: 6em; }
td[style*=right] { white-space: nowrap; }
thead th { color: var(--dim); font-weight: 600; font-size: .875rem; }
tbody th { font-weight: 600; }
td[data-label="released"] { font-weight: 700; color: var(--accent); }
dl { margin: 0; }
dt { font-weight: 600; margin-top: .9rem; }
dd { margin: 0; }
dt.alarmed { color: var(--alarm); }
details { margin-top: 1.5rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--box);
  padding: .6rem .8rem; }
summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 2rem; color: var(--dim); font-size: .875rem; }
@media (max-width: 44em) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, tbody th, tbody td { display: block; }
  tbody tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .75rem; padding: .25rem 0; }
  tbody th, tbody td { white-space: normal !important; text-align: left !important; border: 0; padding: .15rem .75rem; }
  tbody td { display: flex; justify-content: space-between; gap: 1rem; }
  tbody td::before { content: attr(data-label); color: var(--dim); overflow-wrap: anywhere; }
  tbody td:empty { display: none; }
}
@media print {
  :root { --ink: #000; --dim: #444; --line: #999; --page: #fff; --box: #fff; --accent: #000; --alarm: #a3230f;
    --alarm-box: #fff; }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  tr, dt, dd { break-inside: avoid; }
  dt { break-after: avoid; }
}
"""


def html_report(account: Account) -> str:
    return page(headline(account), "\n".join(_body(account)))


def page(headline: str, body: str) -> str:
    """A whole page around a body that is HTML; the headline is text."""
    title = in_html(headline)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        + body
        + "\n</main>\n</body>\n</html>\n"
    )


def wide(table: Shown) -> str:
    """A table that scrolls by itself where it is wider than the page; the names of its rows stay in sight."""
    return f'<div class="wide" role="group" aria-label="Released values" tabindex="0">{table_html(table)}</div>'


def _body(account: Account) -> Iterator[str]:
    outcome = account.outcome
    yield from (f'<p class="alarm" role="alert">{in_html(text)}</p>' for text in warnings(outcome))
    if outcome.released:
        yield wide(shown(outcome, outcome.quick_error))
    yield "<dl>"
    details = {}
    for label, text in sections(account._replace(verbose=True)):
        if label == REHEARSED:
            details["How the accuracy was forecast"] = text
            continue
        alarmed = ' class="alarmed"' if label == "Warning" else ""
        yield f"<dt{alarmed}>{in_html(label)}</dt><dd>{in_html(text)}</dd>"
    yield "</dl>"
    yield f"<details open><summary>Details</summary><dl>{''.join(_pairs(_facts(outcome) | details))}</dl></details>"
    yield footer(_released(outcome))


def footer(released: str) -> str:
    today = datetime.now(UTC).date().isoformat()
    written = f"Written by tukeydp {in_html(tukeydp.__version__)} on {today}."
    return f"<footer>{written} All but {released} is public beforehand.</footer>"


def _released(outcome: Outcome) -> str:
    """What the run has told of the data, all of it paid for."""
    paid = {
        "the released values": True,
        "what their intervals rest on": "confidence" in outcome.settings,
        "the depth of the point": "epsilon_certificate" in outcome.settings,
        "the noisy counts of the check": "epsilon_check" in outcome.settings,
    }
    told = [name for name, there in paid.items() if there]
    return f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]


def _facts(outcome: Outcome) -> dict[str, str]:
    """What was fixed beforehand."""
    rows = "secret" if outcome.n is None else outcome.n
    facts = {"Mechanism": outcome.mechanism, "Rows and columns": f"{rows} and {outcome.d}"}
    if outcome.notion is not None:
        facts["Notion of depth"] = outcome.notion
    if outcome.noise_sd is not None:
        facts["Standard deviation of the noise, column by column"] = "; ".join(f"{v:.4g}" for v in outcome.noise_sd)
    settings = [f"{name} {value}" for name, value in outcome.to_dict(verbose=False)["settings"].items()]
    return facts | ({"Settings": "; ".join(settings)} if settings else {})


def _pairs(facts: dict[str, str]) -> Iterator[str]:
    return (f"<dt>{in_html(name)}</dt><dd>{in_html(text)}</dd>" for name, text in facts.items())
