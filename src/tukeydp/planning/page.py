"""A plan as HTML: in a notebook, and as a page of its own that loads nothing from anywhere."""

from __future__ import annotations

from tukeydp.planning.facts import PlanFacts
from tukeydp.planning.words import ESTIMANDS, HEADER, cells, paragraphs, title, units
from tukeydp.views.escaping import in_html

# Colours follow the reader's scheme; a notebook's own colours shine through where a page has none.
COLOURS = """
:root{color-scheme:light dark;--plan-ink:#1a1a1a;--plan-faint:#6b6b6b;--plan-line:#d8d8d8;--plan-paper:#ffffff}
@media(prefers-color-scheme:dark){:root{--plan-ink:#ececec;--plan-faint:#a3a3a3;--plan-line:#444444;--plan-paper:#161616}}
"""
_TABLE = """
.tukeydp-plan{font:15px/1.45 system-ui,sans-serif;max-width:46rem}
.tukeydp-plan .wide{overflow-x:auto}
.tukeydp-plan table{border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap;font-size:.9rem}
.tukeydp-plan td,.tukeydp-plan th{padding:.2rem .6rem .2rem 0;text-align:left;border-bottom:1px solid #8884}
.tukeydp-plan tr.chosen{font-weight:600}
.tukeydp-plan dt{font-weight:600;margin-top:.6rem}.tukeydp-plan dd{margin:0}
"""


def as_html(plan: PlanFacts) -> str:
    """The table and the words, for a notebook; every text is escaped, names of columns above all."""
    return f'<style>{_TABLE}</style><div class="tukeydp-plan">{_body(plan)}</div>'


def as_page(plan: PlanFacts, picture: str) -> str:
    """A page with the picture, an SVG, in it."""
    body = (
        "body{color:var(--plan-ink);background:var(--plan-paper);margin:1rem auto;padding:0 1rem;max-width:46rem}"
        "svg{width:100%;height:auto;max-width:38rem}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>tukeydp plan</title>'
        f'<style>{COLOURS}{_TABLE}{body}</style></head><body><div class="tukeydp-plan">'
        f"{_body(plan, picture)}</div></body></html>"
    )


def _body(plan: PlanFacts, picture: str = "") -> str:
    said = "".join(f"<dt>{in_html(h)}</dt><dd>{in_html(text)}</dd>" for h, text in paragraphs(plan))
    return (
        f"<p><b>{in_html(title(plan))}</b></p>{picture}"
        f'<div class="wide"><table>{_rows(plan)}</table></div><p><small>{in_html(units(plan))}'
        f"{' *: needs delta.' if plan.question.delta is not None else ''}</small></p><dl>{said}</dl>"
    )


def _rows(plan: PlanFacts) -> str:
    lines = ["<tr>" + "".join(f"<th>{in_html(h)}</th>" for h in HEADER) + "</tr>"]
    for estimand in ESTIMANDS:
        among = [option for option in plan.options if option.estimand == estimand]
        if among:
            lines.append(f'<tr><td colspan="{len(HEADER)}"><i>{estimand}</i></td></tr>')
        for option in among:
            line = cells(plan, option)
            kind = ' class="chosen"' if line[0].startswith(">") else ""
            lines.append(f"<tr{kind}>" + "".join(f"<td>{in_html(cell)}</td>" for cell in line) + "</tr>")
    return "".join(lines)
