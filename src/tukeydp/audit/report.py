"""What an audit found, as an object for JSON, lines of text, and one HTML page."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from typing import Any

from tukeydp.audit.catalogue import NOT_COVERED
from tukeydp.audit.check import Effort
from tukeydp.audit.running import Outcome
from tukeydp.results.escaping import in_html
from tukeydp.version import __version__

# Of the JSON object. Grows by one when a field changes its meaning or goes; new fields do not change it.
SCHEMA = 1
HEADER = ("check", "datasets", "pairs", "draws", "bound", "worst", "")
MEANING = (
    "Datasets are those looked at, pairs those of them that differ in one row, draws random ones (none: everything was "
    "enumerated). A check passes if the worst value is at most the bound and nothing else failed. A lower bound of 0 "
    "says nothing, of a sound mechanism or of any other: no power."
)
# Colours in pairs for light and dark, with a contrast of at least 4.5 to 1 (WCAG AA).
_STYLE = """
:root{color-scheme:light dark;--ink:#1c2127;--dim:#59626d;--line:#d5dae0;--page:#fff;--good:#1a6b35;--bad:#a3230f}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#a3adb8;--line:#3a424c;--page:#14181d;--good:#7fd39a;--bad:#ff9c8a}}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
table{border-collapse:collapse;width:100%;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.45rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;text-align:right}
th:first-child,tbody th{text-align:left}
tbody th{font-weight:600}small{display:block;color:var(--dim);font-weight:400;text-align:left}
thead th{color:var(--dim);font-size:.875rem}
td,thead th{white-space:nowrap;overflow-wrap:normal}
.passed{color:var(--good);font-weight:700}.failed{color:var(--bad);font-weight:700}
.powerless{color:var(--dim);font-weight:700}
footer{color:var(--dim);font-size:.875rem}
@media(max-width:44em){thead{display:none}table,tbody,tbody th{display:block}
tr{display:flex;flex-wrap:wrap;border:1px solid var(--line);border-radius:.4rem;margin-bottom:.75rem;padding:.25rem 0}
tbody th,tbody td{border:0;padding:.15rem .75rem;box-sizing:border-box;min-width:0}
tbody th{flex:1 0 100%}tbody td{flex:1 0 30%;text-align:left}
tbody td::before{content:attr(data-label);display:block;color:var(--dim);font-size:.875rem}}
"""


def number(value: float) -> str:
    """Six digits and no more: 1.0000000000000002 is rounding, not a loss."""
    return f"{value:.6g}"


def cells(outcome: Outcome) -> tuple[str, ...]:
    result = outcome.result
    counts = (f"{count:,}" for count in (result.datasets, result.pairs, result.draws))
    return (outcome.check.name, *counts, number(result.bound), number(result.worst), result.verdict)


def summary(outcomes: Sequence[Outcome]) -> str:
    failed = [outcome.check.name for outcome in outcomes if outcome.result.failed]
    if failed:
        return f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}."
    datasets, pairs = (sum(getattr(o.result, name) for o in outcomes) for name in ("datasets", "pairs"))
    told = f"on {datasets:,} datasets and {pairs:,} pairs of neighbours."
    powerless = [outcome.check.name for outcome in outcomes if outcome.result.powerless]
    if powerless:
        passed = len(outcomes) - len(powerless)
        return f"{passed} of {len(outcomes)} checks passed, {told} No power, so nothing said: {', '.join(powerless)}."
    return f"All {len(outcomes)} checks passed, {told}"


def environment() -> str:
    return f"tukeydp {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def as_object(outcomes: Sequence[Outcome], effort: Effort) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "passed": not any(outcome.result.failed for outcome in outcomes),
        "version": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "quick": effort.quick,
        "seed": effort.seed,
        "checks": [_entry(outcome) for outcome in outcomes],
        "not_covered": NOT_COVERED,
    }


def _entry(outcome: Outcome) -> dict[str, Any]:
    check, result = outcome.check, outcome.result
    return {
        "name": check.name,
        "claim": check.claim,
        "measure": check.measure,
        "datasets": result.datasets,
        "pairs": result.pairs,
        "draws": result.draws,
        "bound": result.bound,
        "worst": result.worst if math.isfinite(result.worst) else None,  # JSON has no infinity
        "passed": result.passed,
        "verdict": result.verdict,
        "failures": list(result.failures),
        "cpu_seconds": round(outcome.cpu_seconds, 1),
    }


def as_page(outcomes: Sequence[Outcome], effort: Effort) -> str:
    """No scripts, nothing loaded; light or dark as the reader's system is, and fit for a phone."""
    title = f"Audit of {environment()}"
    kind = "quick" if effort.quick else "full"
    body = "".join(_row(outcome) for outcome in outcomes)
    head = "".join(f"<th>{in_html(name)}</th>" for name in HEADER)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{in_html(title)}</title><style>{_STYLE}</style></head><body><main><h1>{in_html(title)}</h1>"
        f"<p><b>{in_html(summary(outcomes))}</b> A {kind} run with seed {effort.seed}.</p><p>{in_html(MEANING)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><footer>{in_html(NOT_COVERED)}</footer>"
        "</main></body></html>\n"
    )


def _row(outcome: Outcome) -> str:
    name, *numbers, verdict = cells(outcome)
    check = outcome.check
    said = f"{in_html(check.claim)} <i>Worst: {in_html(check.measure)}.</i>"
    said += "".join(f' <b class="failed">{in_html(text)}.</b>' for text in outcome.result.failures)
    shown = "".join(
        f'<td data-label="{in_html(label)}">{in_html(value)}</td>'
        for label, value in zip(HEADER[1:], numbers, strict=False)
    )
    kind = "failed" if outcome.result.failed else "passed" if outcome.result.passed else "powerless"
    shown += f'<td class="{kind}" data-label="result">{in_html(verdict)}</td>'
    return f"<tr><th>{in_html(name)}<small>{said}</small></th>{shown}</tr>"
