"""An outcome as a piece of HTML, for notebooks; reports use the same table. Every text is escaped."""

from __future__ import annotations

from tukeydp.accuracy import ExpectedError
from tukeydp.views.accuracy_words import accuracy_sentences
from tukeydp.views.escaping import in_html
from tukeydp.views.sentences import beside_the_point, guarantee_sentence
from tukeydp.views.table import Shown, Viewed, counted, rows_planned_for, shown

# Colours are the notebook's own, dark or light. Widths in characters: lines stay readable.
_STYLE = 'style="text-align:left;max-width:60em;margin:.3em 0"'
_LATER = "release.expected_error forecasts it from public inputs, in some seconds; then it is shown here."


def html_of(outcome: Viewed, error: ExpectedError | None) -> str:
    """A small table with guarantee and accuracy; `error` is a forecast that costs nothing, or None."""
    what = "Release" if outcome.released else "No release"
    parts = [f"<p {_STYLE}><b>{what}</b> of {counted(outcome)} by {in_html(outcome.mechanism)}</p>"]
    parts += [f"<p {_STYLE}><b>{in_html(text)}</b></p>" for text in warnings(outcome)]
    parts.append(table_html(shown(outcome, error)))
    for label, text in _sentences(outcome, error):
        parts.append(f"<p {_STYLE}><b>{label}</b>&ensp;{in_html(text)}</p>")
    notes = "".join(f"<li>{in_html(caveat)}</li>" for caveat in outcome.caveats)
    if notes:
        parts.append(f"<details {_STYLE}><summary>What to know before using it</summary><ul>{notes}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def warnings(outcome: Viewed) -> list[str]:
    if outcome.guarantee is None:
        return ["NO GUARANTEE: not private. Do not publish this result."]
    return ["SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result."] if outcome.seeded else []


def table_html(table: Shown) -> str:
    """Cells know their header, so that a page may stack them where it is narrow."""
    head = "".join(f'<th scope="col" {_side(name, table)}>{in_html(name)}</th>' for name in table.header)
    body = "".join(f"<tr>{_cells(row, table)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: list[str], table: Shown) -> str:
    first, *rest = (
        f'{_side(name, table)} data-label="{in_html(name)}">{in_html(cell)}'
        for name, cell in zip(table.header, row, strict=True)
    )
    return f'<th scope="row" {first}</th>' + "".join(f"<td {cell}</td>" for cell in rest)


def _side(name: str, table: Shown) -> str:
    return f'style="text-align:{"left" if name in table.left else "right"};padding:.25em .6em"'


def _sentences(outcome: Viewed, error: ExpectedError | None) -> list[tuple[str, str]]:
    said = [] if outcome.guarantee is None else [("Guarantee", guarantee_sentence(outcome.guarantee))]
    said += beside_the_point(outcome)
    if not outcome.released:
        return [*said, ("Spent", "A refusal is an answer and has cost the budget. Trying again costs it again.")]
    if error is not None:
        return [*said, ("Accuracy to expect", " ".join(accuracy_sentences(rows_planned_for(outcome), error)))]
    return [*said, ("Accuracy to expect", _LATER)] if outcome.forecast else said
