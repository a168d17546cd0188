"""One HTML page with every figure, claim and number in it; nothing is loaded from anywhere else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tukeydp.experiments.claims import SIZE, Verdict
from tukeydp.experiments.estimates import mean, papers_half_width, proportion
from tukeydp.experiments.experiment import Experiment
from tukeydp.experiments.results import NotMeasured, Results

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1,h2{line-height:1.2}h2{margin-top:3rem;border-top:1px solid #ddd;padding-top:1.5rem}
img{max-width:100%}table{border-collapse:collapse;font-size:.85rem}td,th{padding:.2rem .6rem;text-align:left;
border-bottom:1px solid #e5e5e5;vertical-align:top}td.number{text-align:right;font-variant-numeric:tabular-nums}
.verdict{font-weight:600;white-space:nowrap}.yes{color:#1a7f37}.no{color:#b3261e}.open{color:#8a6d00}
.place{color:#666}details{margin:1rem 0}small{color:#555}
"""
_CLASS = {True: "yes", False: "no", None: "open"}
_MOST_LINES = 400  # of an experiment's table of numbers; the rest is in its CSV
_AFTERWARDS = " <small>(chosen after a first look at results: a description, not a test)</small>"


@dataclass(frozen=True)
class Section:
    """An experiment with what came out of it."""

    experiment: Experiment
    results: Results
    verdicts: tuple[Verdict, ...]
    picture: Path


def write_report(path: Path, sections: Sequence[Section], facts: dict[str, object]) -> None:
    path.write_text(_page(sections, facts), encoding="utf-8")


def _page(sections: Sequence[Section], facts: dict[str, object]) -> str:
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    counts = ", ".join(
        f"{sum(v.holds is state for v in verdicts)} {word}"
        for state, word in ((True, "borne out"), (False, "not borne out"), (None, "undecided"))
    )
    made = ", ".join(f"{escape(str(k))} {escape(str(v))}" for k, v in facts.items())
    contents = "".join(
        f'<li><a href="#{escape(s.experiment.name)}">{escape(s.experiment.title)}</a> {_marks(s.verdicts)}</li>'
        for s in sections
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>tukeydp: the paper, reproduced</title>'
        f"<style>{_STYLE}</style></head><body><h1>Tukey depth mechanisms, reproduced</h1>"
        f"<p>{len(verdicts)} claims: {counts}.</p><p><small>{made}</small></p>"
        "<p>How a claim is decided: it is turned into numbers that have to lie in a stated range. It is <em>borne "
        "out</em> if the confidence intervals of all of them lie inside, <em>not borne out</em> if one lies wholly "
        f"outside, <em>undecided</em> otherwise. The intervals hold together with confidence {1 - SIZE:.0%} for each "
        "claim. Error bars in figures are 95 % (Student); those of the paper's formula, which divides by 100 for its "
        f"ten trials, are the thick grey ones.</p><ul>{contents}</ul>{''.join(map(_section, sections))}</body></html>"
    )


def _marks(verdicts: Sequence[Verdict]) -> str:
    signs = {True: "✓", False: "✗", None: "?"}
    return " ".join(f'<span class="{_CLASS[v.holds]}">{signs[v.holds]}</span>' for v in verdicts)


def _section(section: Section) -> str:
    experiment = section.experiment
    picture = base64.b64encode(section.picture.read_bytes()).decode()
    claims = "".join(
        f"<tr><td>{escape(v.sentence)}{_AFTERWARDS if v.afterwards else ''}</td>"
        f'<td class="verdict {_CLASS[v.holds]}">{v.word}</td>'
        f"<td><small>{'<br>'.join(map(escape, v.numbers))}</small></td></tr>"
        for v in section.verdicts
    )
    notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in experiment.notes)
    return (
        f'<section id="{escape(experiment.name)}"><h2>{escape(experiment.title)}</h2>'
        f'<p class="place">{escape(experiment.place)}</p>'
        f'<img alt="{escape(experiment.title)}" src="data:image/png;base64,{picture}">{notes}'
        f"<table><tr><th>claim</th><th>verdict</th><th>numbers [interval]</th></tr>{claims}</table>"
        f"<details><summary>Numbers</summary>{_numbers(section)}</details></section>"
    )


def _numbers(section: Section) -> str:
    """Mean of the shown column for every setting and method, with the correct interval and the paper's."""
    across, shown = section.experiment.across, section.experiment.shown
    groups: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in section.results:
        groups.setdefault(tuple(row.get(name) for name in across), []).append(row)
    lines = []
    for key, rows in list(groups.items())[:_MOST_LINES]:
        try:
            sample = Results(rows).values(shown)
            low, high = (proportion if shown == "released" else mean)(sample).interval(0.95)
            numbers = [
                f"{sample.mean():.4g}",
                f"{low:.4g} to {high:.4g}" if len(sample) > 1 else "",
                f"± {papers_half_width(sample):.2g}",
            ]
        except NotMeasured:
            numbers = ["left out: not every trial was released", "", ""]
        cells = "".join(f"<td>{escape('' if k is None else str(k))}</td>" for k in key)
        lines.append(
            f"<tr>{cells}<td>{len(rows)}</td>" + "".join(f'<td class="number">{n}</td>' for n in numbers) + "</tr>"
        )
    head = "".join(f"<th>{escape(name)}</th>" for name in (*across, "trials", shown, "95 %", "the paper's 95 %"))
    rest = len(groups) - len(lines)
    more = f"<p>{rest} more lines are in results/{escape(section.experiment.name)}.csv.</p>" if rest else ""
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>{more}"
