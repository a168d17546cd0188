"""An outcome as plain text, for `print`."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

from tukeydp.views.escaping import printable
from tukeydp.views.sentences import beside_the_point
from tukeydp.views.table import Shown, Viewed, counted, shown

_GAP = "  "
_WIDEST = 100  # characters of a line: longer ones are hard to read, and terminals break them anywhere
_READABLE, _NARROWEST = 16, 8  # places that a name should have, and those it has on the narrowest terminal


def text_of(outcome: Viewed) -> str:
    """A table of the columns, and under it what the release promises, or that it promises nothing."""
    what = "Release" if outcome.released else "No release"
    refused = "" if outcome.released else ": its test did not pass"
    return "\n".join(
        [
            f"{what} of {counted(outcome)} by {printable(outcome.mechanism)}{refused}",
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


class Block(NamedTuple):
    """Columns of a table that fit side by side, as lines: those of the header, and those of the rows."""

    header: list[str]
    rows: list[str]


def lines(table: Shown, width: int | None = _WIDEST) -> list[str]:
    """The table as lines of at most `width` places (None: however many it takes), blocks of columns below each other.

    A line is longer only where a single number is: none is ever cut.
    """
    found: list[str] = []
    for block in blocks(table, width):
        found += [*([""] if found else []), *block.header, *block.rows]
    return found


def blocks(table: Shown, width: int | None = _WIDEST) -> list[Block]:
    """Texts on the left and numbers on the right. The columns that name the rows stand in every block."""
    columns = [list(column) for column in zip(table.header, *table.rows, strict=True)]
    widths = [max(map(places, column)) for column in columns]
    if width is None or _together(widths) <= width:
        return [_block(columns, widths, table, range(len(columns)))]
    keys, last = table.keys, len(columns)
    widths = _narrowed(columns, widths, keys, width)
    found, begun = [], keys
    while begun < last:
        end = begun + 1
        while end < last and _together([*widths[:keys], *widths[begun : end + 1]]) <= width:
            end += 1
        found.append(_block(columns, widths, table, [*range(keys), *range(begun, end)]))
        begun = end
    return found


def _narrowed(columns: list[list[str]], widths: list[int], keys: int, width: int) -> list[int]:
    """Widths for a table that is too wide. Names go on in the next line; what stands between blanks in a cell is whole.

    All in one block where that leaves names enough room, else at most half of the line for those that name the rows.
    """
    beside = (width - _together(widths[keys:])) // keys - len(_GAP)
    most = beside if beside >= _READABLE else max(_NARROWEST, width // (keys + 1))
    names = [min(w, most) for w in widths[:keys]]
    room = width - _together(names) - len(_GAP)
    longest = [max((places(word) for cell in column[1:] for word in cell.split(" ")), default=0) for column in columns]
    return [*names, *(min(w, max(room, word)) for w, word in zip(widths[keys:], longest[keys:], strict=True))]


def _together(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _block(columns: list[list[str]], widths: Sequence[int], table: Shown, chosen: Sequence[int]) -> Block:
    rows = []
    for i in range(len(columns[0])):
        cells = [_folded(columns[j][i], widths[j]) for j in chosen]
        for k in range(max(map(len, cells))):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            line = [
                _aligned(part, widths[j], table.header[j] in table.left) for part, j in zip(parts, chosen, strict=True)
            ]
            rows.append((i, _GAP.join(line).rstrip()))
    return Block([line for i, line in rows if i == 0], [line for i, line in rows if i > 0])


def _aligned(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - places(cell))
    return cell + blanks if left else blanks + cell


def _folded(text: str, width: int) -> list[str]:
    """Broken at blanks where there are some, else anywhere."""
    found, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if places(longer) <= width:
            line = longer
            continue
        found += [line] if line else []
        *whole, line = _cut(word, width)
        found += whole
    return [*found, line]


def _cut(word: str, width: int) -> list[str]:
    found = [""]
    for c in word:
        if found[-1] and places(found[-1] + c) > width:
            found.append("")
        found[-1] += c
    return found


def places(text: str) -> int:
    """Places on a terminal: Chinese, Japanese and Korean characters take two, combining ones none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
