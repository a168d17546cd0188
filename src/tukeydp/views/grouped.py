"""Releases by group as one table: plain text, HTML, a data frame. A row for each group, a column for each column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import fill
from typing import Any, Protocol

from tukeydp.privacy import Guarantee, stated
from tukeydp.views.escaping import in_html, printable
from tukeydp.views.frames import pandas_for
from tukeydp.views.sentences import guarantee_sentence
from tukeydp.views.table import REFUSED, Shown, Viewed, names, number
from tukeydp.views.text import lines

_STYLE = 'style="text-align:left;max-width:60em;margin:.3em 0"'
_WIDEST = 100  # characters of a line of words: longer ones are hard to read
TOGETHER = "That is for all groups together, also where a row goes from one group to another."
SECRET_SIZES = "How many rows a group has is secret; an empty group is released like any other."
NOISED_SIZES = "How many rows a group has is secret but for the noised number."


class Groups(Protocol):
    """What a view needs of releases by group."""

    @property
    def releases(self) -> Mapping[str, Viewed]: ...
    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def n(self) -> int: ...
    @property
    def by(self) -> str: ...
    @property
    def counts(self) -> Mapping[str, int] | None: ...
    @property
    def caveats(self) -> tuple[str, ...]: ...


def shown_groups(found: Groups) -> Shown:
    """Key, noised number of rows if there is one, and each column's released value."""
    by = printable(found.by)
    one = next(iter(found.releases.values()))
    units = one.units or (None,) * one.d
    titles = [
        name if unit is None else f"{name} ({printable(unit)})" for name, unit in zip(names(one), units, strict=True)
    ]
    rows = []
    for key, release in found.releases.items():
        counted = [] if found.counts is None else [str(found.counts[key])]
        rows.append([printable(key), *counted, *(_cell(value) for value in release.values())])
    return Shown([by, *([] if found.counts is None else ["rows, noised"]), *titles], rows, (by,))


def text_of_groups(found: Groups) -> str:
    seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if found.seeded else ""
    return "\n".join(
        [
            headline(found),
            *lines(shown_groups(found)),
            f"{stated(found.guarantee)}{seeded}",
            *(fill(text, _WIDEST) for text in (TOGETHER, sizes_sentence(found))),
        ]
    )


def html_of_groups(found: Groups) -> str:
    """For notebooks. Every text is escaped."""
    parts = [f"<p {_STYLE}><b>{in_html(headline(found))}</b></p>"]
    if found.seeded:
        parts.append(f"<p {_STYLE}><b>SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result.</b></p>")
    parts.append(groups_table_html(found))
    said = f"{guarantee_sentence(found.guarantee)} {TOGETHER} {sizes_sentence(found)}"
    parts.append(f"<p {_STYLE}><b>Guarantee</b>&ensp;{in_html(said)}</p>")
    notes = "".join(f"<li>{in_html(caveat)}</li>" for caveat in found.caveats)
    if notes:
        parts.append(f"<details {_STYLE}><summary>What to know before using it</summary><ul>{notes}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def groups_table_html(found: Groups) -> str:
    from tukeydp.views.html import table_html

    return table_html(shown_groups(found))


def headline(found: Groups) -> str:
    count = len(found.releases)
    rows = f"{found.n} rows" if found.n != 1 else "1 row"
    groups = f"{count} group{'s' if count > 1 else ''} by {printable(found.by)}"
    return f"Release of {rows} in {groups}, by {printable(found.mechanism)}"


def sizes_sentence(found: Groups) -> str:
    return SECRET_SIZES if found.counts is None else NOISED_SIZES


def frame_of_groups(found: Groups) -> Any:
    pandas = pandas_for("to_frame")
    one = next(iter(found.releases.values()))
    index = pandas.Index(list(found.releases), name=found.by)
    columns = range(one.d) if one.columns is None else list(one.columns)
    frame = pandas.DataFrame([release.values() for release in found.releases.values()], index=index, columns=columns)
    if found.counts is not None:
        frame.insert(0, "rows" if "rows" not in frame.columns else "rows (noised)", list(found.counts.values()))
    return frame


def _cell(value: float | None) -> str:
    return REFUSED if value is None or math.isnan(value) else number(value)
