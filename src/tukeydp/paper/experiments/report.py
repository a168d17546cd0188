"""One HTML page with every figure, claim and number in it; nothing is loaded from anywhere else."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tukeydp.paper.experiments.experiment import (
    AFTERWARDS,
    FAILS,
    HOLDS,
    OPEN,
    PAPER,
    SIZE,
    Experiment,
    Measured,
    NotMeasured,
    Results,
    Table,
    Verdict,
    mean,
    papers_half_width,
    proportion,
    tally,
)
from tukeydp.paper.experiments.sentences import READINGS, SENTENCES
from tukeydp.results.escaping import in_html

# How the report looks: light or dark as the reader has it, panels that wrap, nothing wider than the window.

# Wide tables scroll inside `.wide`; the page itself never does. A picture fills the window while its address is the
# page's target (`figure:target`), and its link "Close" leads back to its section.
STYLE = """
:root{color-scheme:light dark;--ink:#1d1d1f;--soft:#5b5b61;--line:#dcdce1;--page:#fff;--card:#f6f6f8;--link:#0b57d0;
--yes:#1a7f37;--no:#b3261e;--open:#8a6100}
@media (prefers-color-scheme:dark){:root{--ink:#e9e9ec;--soft:#a9a9b2;--line:#3a3a41;--page:#17171a;--card:#212126;
--link:#8ab4f8;--yes:#5fd07e;--no:#ff8a80;--open:#e6b450}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:72rem;margin:0 auto;
padding:1.5rem 1rem 4rem;overflow-wrap:anywhere}
a{color:var(--link)}h1,h2{line-height:1.2}p,.claims{max-width:52rem}small,.place,figcaption,.numbers{color:var(--soft)}
section{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.5rem}
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem;max-width:min(52rem,calc(100vw - 2.5rem))}
td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}td{white-space:pre}
.text td,.text th{white-space:normal;min-width:9rem}
.number{text-align:right;font-variant-numeric:tabular-nums}
.tally td{font-size:1.1rem}
.yes{color:var(--yes)}.no{color:var(--no)}.open{color:var(--open)}
.contents{padding-left:1.2rem;columns:22rem auto}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin:1rem 0}
figure{margin:0;max-width:32rem}figure img{display:block;width:100%;height:auto;background:#fff;border-radius:6px}
figure a.open{display:block;cursor:zoom-in}figure a.close{display:none}
figure:target{max-width:none;position:fixed;inset:0;z-index:1;overflow:auto;background:var(--page);padding:.5rem}
figure:target a.close{display:inline-block;position:sticky;left:0;top:0;padding:.5rem 1rem;background:var(--card);
border-radius:6px;margin-bottom:.5rem}figure:target img{width:auto;min-width:min(100%,46rem);max-width:none}
.claims{list-style:none;padding:0}.claims>li{background:var(--card);border-left:4px solid currentColor;
border-radius:4px;padding:.6rem .8rem;margin:.5rem 0}.claims>li>span:not(.verdict):not(.whose){color:var(--ink)}
.verdict{font-weight:600}.whose{color:var(--soft);border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;
font-size:.8rem}.numbers{font-size:.85rem;margin:.3rem 0 0;padding-left:1.1rem}
.said{font-size:.8rem;color:var(--soft);margin:.2rem 0 0}
details{margin:.5rem 0;color:var(--ink)}summary{cursor:pointer}
"""


# One HTML page with every figure, claim and number in it; nothing is loaded from anywhere else.

_CLASS = {True: "yes", False: "no", None: "open"}
_SIGN = {True: "✓", False: "✗", None: "?"}
_MOST_LINES = 400  # of an experiment's table of numbers; the rest is in its CSV
_MOST_NUMBERS = 4  # of a claim that stand open on the page; more are folded


@dataclass(frozen=True)
class Section:
    """An experiment with what came out of it; pictures by what they show."""

    experiment: Experiment
    results: Results
    verdicts: tuple[Verdict, ...]
    pictures: Mapping[str, Path]


def claims_text(sections: Sequence[Section], facts: dict[str, object]) -> str:
    """Claims and the paper's sentences as JSON, for other pages to print; null where a range has no end."""
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    claims = [
        {
            "id": f"{section.experiment.name}/{verdict.claim.name}",
            "experiment": section.experiment.name,
            "title": section.experiment.title,
            "claim": verdict.claim.sentence,
            "whose": verdict.claim.whose,
            "chosen_afterwards": verdict.claim.afterwards,
            "verdict": verdict.word,
            "remark": verdict.remark,
            "numbers": [_as_json(number) for number in verdict.measured],
            "words": list(verdict.numbers),
        }
        for section in sections
        for verdict in section.verdicts
    ]
    written = {
        "facts": facts,
        "tally": tally(verdicts),
        "claims": claims,
        "sentences": [s._asdict() for s in SENTENCES],
    }
    return json.dumps(written, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _as_json(number: Measured) -> dict[str, object]:
    ends = ("value", "low", "high", "at_least", "at_most")
    floats = {name: float(getattr(number, name)) for name in ends}
    return {"label": number.label, **{name: v if math.isfinite(v) else None for name, v in floats.items()}}


def report_text(sections: Sequence[Section], facts: dict[str, object]) -> str:
    """The page."""
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    made = ", ".join(f"{in_html(str(k))} {in_html(str(v))}" for k, v in facts.items())
    contents = "".join(
        f'<li><a href="#{in_html(s.experiment.name)}">{in_html(s.experiment.title)}</a> {_marks(s.verdicts)}</li>'
        for s in sections
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>tukeydp: the paper, reproduced</title><style>{STYLE}</style></head><body>"
        f"<h1>Tukey depth mechanisms, reproduced</h1>{_tallies(verdicts)}<p><small>{made}</small></p>"
        "<p>How a claim is decided: it is turned into numbers that have to lie in a stated range. It is <em>borne "
        "out</em> if the confidence intervals of all of them lie inside, <em>not borne out</em> if one lies wholly "
        f"outside, <em>undecided</em> otherwise. The intervals hold together with confidence {1 - SIZE:.0%} for each "
        "claim. Error bars in figures are 95 % (Student); those of the paper's formula, which divides by 100 for its "
        "ten trials, are the thick grey ones. A click on a picture opens it.</p>"
        f"{_in_question(sections)}"
        f'<ul class="contents">{contents}<li><a href="#sentences">The paper, sentence by sentence</a></li></ul>'
        f"{''.join(map(_section, sections))}{_sentences(sections)}</body></html>"
    )


def _in_question(sections: Sequence[Section]) -> str:
    """The paper's claims that are not borne out, then those undecided: where the paper has them, and what was found."""
    rows = ""
    for state in (False, None):
        for section in sections:
            for verdict in section.verdicts:
                if verdict.holds is state and verdict.claim.whose == PAPER:
                    name, remark = section.experiment.name, f" ({verdict.remark})" if verdict.remark else ""
                    where = "<br>".join(map(in_html, _places(f"{name}/{verdict.claim.name}")))
                    rows += (
                        f'<tr><th scope="row"><span class="{_CLASS[state]}">{verdict.word}</span></th>'
                        f'<td><a href="#{_anchor(name, verdict)}">{in_html(verdict.claim.sentence)}</a>'
                        f"<small>{in_html(remark)}</small></td><td>{where}</td><td>{in_html(verdict.telling)}</td></tr>"
                    )
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("verdict", "claim", "in the paper", "found"))
    return (
        '<section><h2 id="question">What the paper says and this run does not bear out</h2><p>Of several numbers the '
        "one farthest beyond its range, or nearest to its end. What is wrong in the paper's text, and what released "
        'code does otherwise, is in docs/errata.md of tukeydp.</p><div class="wide" tabindex="0"><table class="text">'
        f"<tr>{heads}</tr>{rows}</table></div></section>"
    )


def _places(name: str) -> list[str]:
    """Where the paper says what a claim is about, each place once."""
    found = dict.fromkeys(sentence.place for sentence in SENTENCES if name in sentence.claims)
    return [f"section {place}" if place[0].isdigit() else place for place in found]


def _anchor(experiment: str, verdict: Verdict) -> str:
    return in_html(f"{experiment}--{verdict.claim.name}")


def _sentences(sections: Sequence[Section]) -> str:
    """Every claim of the paper in its order, with what became of it here, or why it cannot be tested."""
    known = {f"{s.experiment.name}/{v.claim.name}": (s.experiment.name, v) for s in sections for v in s.verdicts}
    rows = ""
    for sentence in SENTENCES:
        links = [in_html(sentence.reason)] if sentence.reason else []
        for name in sentence.claims:
            if name in known:
                experiment, verdict = known[name]
                link = f'<a href="#{_anchor(experiment, verdict)}">{in_html(name)}</a>'
                links.append(f'<span class="{_CLASS[verdict.holds]}">{verdict.word}</span> {link}')
            else:
                links.append(f"not part of this run {in_html(name)}")
        said = "<br>".join(links)
        rows += (
            f'<tr><th scope="row">{in_html(sentence.place)}</th><td>{in_html(sentence.quote)}</td><td>{said}</td></tr>'
        )
    return (
        '<section id="sentences"><h2>The paper, sentence by sentence</h2><p>Every claim of the paper, from abstract to '
        "appendix, and what became of it here: a claim of this report with its verdict, or the reason why it cannot be "
        f'tested. {in_html(READINGS)}</p><div class="wide" tabindex="0"><table class="text"><tr><th scope="col">where'
        f'</th><th scope="col">what it says</th><th scope="col">here</th></tr>{rows}</table></div></section>'
    )


def _tallies(verdicts: Sequence[Verdict]) -> str:
    """One column for what the paper claims, one for what is claimed here."""
    counts = tally(verdicts)
    kinds = {word: _CLASS[state] for word, state in ((HOLDS, True), (FAILS, False), (OPEN, None))}
    lines = ""
    for word in (HOLDS, FAILS, OPEN, AFTERWARDS):
        cells = "".join(f'<td class="number {kinds.get(word, "")}">{theirs[word]}</td>' for theirs in counts.values())
        lines += f'<tr><th scope="row">{word}</th>{cells}</tr>'
    heads = "".join(f'<th scope="col">{whose}</th>' for whose in ("claims", *counts))
    return f'<table class="tally"><caption>{len(verdicts)} claims</caption><tr>{heads}</tr>{lines}</table>'


def _marks(verdicts: Sequence[Verdict]) -> str:
    return " ".join(f'<span class="{_CLASS[v.holds]}" title="{v.word}">{_SIGN[v.holds]}</span>' for v in verdicts)


def _section(section: Section) -> str:
    experiment = section.experiment
    table = "" if experiment.table is None else _table(experiment.table(section.results))
    notes = "".join(f"<p><small>{in_html(note)}</small></p>" for note in experiment.notes)
    return (
        f'<section id="{in_html(experiment.name)}"><h2>{in_html(experiment.title)}</h2>'
        f'<p class="place">{in_html(experiment.place)}</p>{table}{_pictures(section)}'
        f'<ul class="claims">{"".join(_claim(experiment.name, v) for v in section.verdicts)}</ul>{notes}'
        f"<details><summary>Numbers</summary>{_numbers(section)}</details></section>"
    )


def _pictures(section: Section) -> str:
    """Panels that wrap. A click makes one fill the window, by its address alone: the page has no scripts."""
    name, title = section.experiment.name, section.experiment.title
    figures = ""
    for i, (words, path) in enumerate(section.pictures.items(), 1):
        data = base64.b64encode(path.read_bytes()).decode()
        alt = f"{title}: {words}" if words else title
        shown = f"<figcaption>{in_html(words)}</figcaption>" if words else ""
        figures += (
            f'<figure id="{in_html(name)}-{i}"><a class="close" href="#{in_html(name)}">Close</a>'
            f'<a class="open" href="#{in_html(name)}-{i}"><img alt="{in_html(alt)}" src="data:image/png;base64,{data}">'
            f"</a>{shown}</figure>"
        )
    return f'<div class="panels">{figures}</div>'


def _table(table: Table) -> str:
    heads = "".join(f'<th scope="col">{_with_lines(word)}</th>' for word in table.head)
    rows = "".join(
        f'<tr><th scope="row">{_with_lines(first)}</th>' + "".join(f"<td>{_with_lines(v)}</td>" for v in rest) + "</tr>"
        for first, *rest in table.rows
    )
    return (
        f'<div class="wide" tabindex="0"><table><caption>{in_html(table.caption)}</caption>'
        f"<tr>{heads}</tr>{rows}</table></div>"
    )


def _with_lines(cell: str) -> str:
    return "\n".join(map(in_html, cell.split("\n")))


def _claim(experiment: str, verdict: Verdict) -> str:
    kind = _CLASS[verdict.holds]
    numbers = "".join(f"<li>{in_html(number)}</li>" for number in verdict.numbers)
    listed = f'<ul class="numbers">{numbers}</ul>'
    if len(verdict.numbers) > _MOST_NUMBERS:
        listed = f"<details><summary>{len(verdict.numbers)} numbers</summary>{listed}</details>"
    remark = f" <small>({in_html(verdict.remark)})</small>" if verdict.remark else ""
    places = _places(f"{experiment}/{verdict.claim.name}")
    said = f'<p class="said">Paper: {in_html("; ".join(places))}</p>' if verdict.claim.whose == PAPER and places else ""
    return (
        f'<li class="{kind}" id="{_anchor(experiment, verdict)}"><span class="verdict {kind}">{verdict.word}</span> '
        f'<span class="whose">{verdict.claim.whose}</span> '
        f"<span>{in_html(verdict.claim.sentence)}</span>{remark}{listed}{said}</li>"
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
        cells = "".join(f"<td>{in_html('' if k is None else str(k))}</td>" for k in key)
        lines.append(
            f"<tr>{cells}<td>{len(rows)}</td>" + "".join(f'<td class="number">{n}</td>' for n in numbers) + "</tr>"
        )
    head = "".join(f"<th>{in_html(name)}</th>" for name in (*across, "trials", shown, "95 %", "the paper's 95 %"))
    rest = len(groups) - len(lines)
    more = f"<p>{rest} more lines are in results/{in_html(section.experiment.name)}.csv.</p>" if rest else ""
    return f'<div class="wide" tabindex="0"><table><tr>{head}</tr>{"".join(lines)}</table></div>{more}'
