"""An outcome as plain text, for `print`."""

from __future__ import annotations

import unicodedata
from textwrap import fill

from tukeydp.views.sentences import beside_the_point
from tukeydp.views.table import Shown, Viewed, counted, shown

_GAP = "  "
_WIDEST = 100  # characters of a line of words: longer ones are hard to read


def text_of(outcome: Viewed) -> str:
    """A table of the columns, and under it what the release promises, or that it promises nothing."""
    what = "Release" if outcome.released else "No release"
    refused = "" if outcome.released else ": its test did not pass"
    return "\n".join(
        [
            f"{what} of {counted(outcome)} by {outcome.mechanism}{refused}",
            *lines(shown(outcome, outcome.quick_error)),
            promise(outcome),
            *(fill(text, _WIDEST) for _, text in beside_the_point(outcome)),
        ]
    )


def promise(outcome: Viewed) -> str:
    if outcome.guarantee is None:
        return "NO GUARANTEE: not private, not for publication"
    seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if outcome.seeded else ""
    return f"{outcome.guarantee}{seeded}"


def lines(table: Shown) -> list[str]:
    """Columns side by side, texts on the left and numbers on the right."""
    columns = list(zip(table.header, *table.rows, strict=True))
    filled = []
    for column in columns:
        width = max(map(_width, column))
        left = column[0] in table.left
        filled.append([cell + _blanks(cell, width) if left else _blanks(cell, width) + cell for cell in column])
    return [_GAP.join(row).rstrip() for row in zip(*filled, strict=True)]


def _blanks(cell: str, width: int) -> str:
    return " " * (width - _width(cell))


def _width(text: str) -> int:
    """Places on a terminal: Chinese, Japanese and Korean characters take two, combining ones none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
