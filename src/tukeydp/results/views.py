"""A release as people use it: by column name, as a table, as text, HTML or a data frame."""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from textwrap import fill
from typing import Any, NamedTuple, Protocol

import numpy as np

from tukeydp.results.accuracy import ExpectedError
from tukeydp.results.accuracy_words import accuracy_sentences, span
from tukeydp.results.escaping import in_html, printable
from tukeydp.results.interval import nominal_header
from tukeydp.trusted.account import ApproxDP, Guarantee, stated
from tukeydp.trusted.parameters import Bounds, FloatArray, show

# Columns of an outcome by name or position, as in a dict.


class ByColumn:
    """What a release and a refusal have of a dict: the columns' names lead to released values.

    Where columns have no names, their positions 0, 1, ... are the keys. A position always works too.
    """

    columns: tuple[str, ...] | None
    d: int

    def values(self) -> list[Any]:
        """The released values, column by column; None for each where nothing was released."""
        raise NotImplementedError

    def keys(self) -> list[str] | list[int]:
        """The columns' names; positions where there are none."""
        return list(range(self.d)) if self.columns is None else list(self.columns)

    def items(self) -> list[tuple[str | int, Any]]:
        """Pairs of name and released value."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __len__(self) -> int:
        return self.d

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str | int) -> Any:
        return self.values()[self._place(key) if isinstance(key, str) else _position(key, self.d)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """The released values, NaN where nothing was released; else numpy would make an array of the names."""
        return np.array(self.values(), dtype=np.float64 if dtype is None else dtype)

    def _place(self, name: str) -> int:
        if self.columns is None:
            raise KeyError(f"the columns have no names; use a position from 0 to {self.d - 1}, not {name!r}")
        found = [j for j, column in enumerate(self.columns) if column == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{name!r} names {len(found)} columns; use a position")
        alike = [column for column in self.columns if column.casefold() == name.casefold()]
        close = alike or get_close_matches(name, self.columns, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(map(repr, self.columns))}"
        raise KeyError(f"no column {name!r}{hint}")


def _position(key: Any, d: int) -> int:
    try:
        place = operator.index(key)
    except TypeError:
        raise TypeError(f"a column is found by its name or position, not by {type(key).__name__}") from None
    if not -d <= place < d:
        raise IndexError(f"there are {d} columns: a position is at most {d - 1}; got {place}")
    return place


# What is public about each column of an outcome, once as numbers and once as cells of a table to show.

# Digits of a value that is shown. Fewer would round what large columns are asked for: 249,158 is six. All that is known
# is in `point`, and in JSON.
_DIGITS = 6
# Sizes that are written without an exponent.
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e15
REFUSED = "none"  # in place of a number that there is not


class Viewed(Protocol):
    """What a view needs of a release or a refusal."""

    @property
    def columns(self) -> tuple[str, ...] | None: ...
    @property
    def units(self) -> tuple[str | None, ...] | None: ...
    @property
    def bounds(self) -> Bounds | None: ...
    @property
    def noise_sd(self) -> tuple[float, ...] | None: ...
    @property
    def guarantee(self) -> Guarantee | None: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def n(self) -> int | None: ...
    @property
    def d(self) -> int: ...
    @property
    def released(self) -> bool: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def caveats(self) -> tuple[str, ...]: ...
    @property
    def forecast(self) -> bool: ...
    @property
    def quick_error(self) -> ExpectedError | None: ...
    def values(self) -> list[float | None]: ...


class Shown(NamedTuple):
    """A table of texts: `left` says which of its columns stand on the left, the others are numbers.

    The first `keys` columns name the rows.
    """

    header: list[str]
    rows: list[list[str]]
    left: tuple[str, ...] = ("column", "unit")
    keys: int = 1


def shown(
    outcome: Viewed, error: ExpectedError | None = None, beside: Mapping[str, Sequence[float]] | None = None
) -> Shown:
    """Column, unit, released value, interval, bounds and errors in the column's own units: those that there are.

    `beside` are further columns of numbers.
    """
    values = [REFUSED if v is None else number(v) for v in outcome.values()]
    cells: dict[str, list[str]] = {"column": names(outcome), "released": values}
    if outcome.units is not None:
        cells["unit"] = [printable(unit or "") for unit in outcome.units]
    intervals = interval(outcome)
    if intervals is not None:
        cells[nominal_header(outcome.settings["confidence"])] = [_between(*ends) for ends in intervals.tolist()]
    cells |= {header: [number(v) for v in more] for header, more in (beside or {}).items()}
    if outcome.bounds is not None:
        cells["bounds"] = [f"{show(a)} to {show(b)}" for a, b in zip(*outcome.bounds, strict=True)]
    if error is not None and error.columns is not None:
        cells["half within"] = [span(column.typical) for column in error.columns]
        cells["95 of 100 within"] = [span(column.within_95) for column in error.columns]
    return Shown(list(cells), [list(row) for row in zip(*cells.values(), strict=True)])


def interval(outcome: Viewed) -> FloatArray | None:
    """Lower and upper ends, where the mechanism gives an interval."""
    found = getattr(outcome, "interval", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _between(low: float, high: float) -> str:
    """A column whose spread is not known has no interval."""
    return REFUSED if math.isnan(low) or math.isnan(high) else f"{number(low)} to {number(high)}"


def counted(outcome: Viewed) -> str:
    """What n counts: rows, or persons where the guarantee is about them; their number may be secret."""
    persons = outcome.guarantee is not None and outcome.guarantee.neighbours.endswith("-person")
    one = "person" if persons else "row"
    if outcome.n is None:
        return f"a secret number of {one}s"
    return f"1 {one}" if outcome.n == 1 else f"{outcome.n} {one}s"


def rows_planned_for(outcome: Viewed) -> int | None:
    """A public number of rows: n itself, or what was declared of a secret one."""
    return outcome.n if outcome.n is not None else outcome.settings.get("rows")


def names(outcome: Viewed) -> list[str]:
    """The columns' names, fit to be printed."""
    return [printable(name) for name in outcome.columns or [f"column {j}" for j in range(outcome.d)]]


def number(value: float) -> str:
    """Six digits, without an exponent where the size is common.

    >>> number(249158.04), number(36.78261), number(1e-7), number(0.0)
    ('249158', '36.7826', '1e-07', '0')
    """
    rounded = float(f"{value:.{_DIGITS}g}")
    if _SMALLEST_PLAIN <= abs(rounded) < _LARGEST_PLAIN:
        return np.format_float_positional(rounded, trim="-")
    return f"{rounded:g}"


# Guarantee and what was released besides the point, as sentences.

_LARGEST_SHOWN = 20  # an epsilon above which e^epsilon as a number helps nobody
_WHATEVER = {
    "swap": "Whatever one person's row contains",
    "add-remove": "Whatever one person's row contains, and whether it is there at all",
    "swap-person": "Whatever all rows of one person contain",
    "add-remove-person": "Whatever all rows of one person contain, and whether they are there at all",
}
_SIZE = {
    "swap": "The number of rows is not secret.",
    "add-remove": "The number of rows stays secret.",
    "swap-person": "The number of persons is not secret.",
    "add-remove-person": "The numbers of persons and of rows stay secret.",
}


def guarantee_sentence(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return f"{stated(None)}."
    delta = f", up to events of probability delta = {show(guarantee.delta)}" if isinstance(guarantee, ApproxDP) else ""
    epsilon = float(guarantee.epsilon)
    factor = f" = {math.exp(epsilon):.3g}" if epsilon < _LARGEST_SHOWN else ""
    return (
        f"{guarantee}. {_WHATEVER[guarantee.neighbours]}, no result becomes more likely by a factor above "
        f"e^epsilon{factor}{delta}. {_SIZE[guarantee.neighbours]}"
    )


def beside_the_point(outcome: Viewed) -> list[tuple[str, str]]:
    """What was released, or follows from the release, besides the point: how sure an interval is, and how deep."""
    said = []
    if (note := getattr(outcome, "interval_note", None)) is not None:
        said.append(("Interval", note))
    if (certificate := getattr(outcome, "certificate", None)) is not None:
        said.append(("Depth", certificate.note))
    return said


# An outcome as a pandas Series or DataFrame.


def series_of(outcome: Viewed) -> Any:
    """The released values by column; NaN where nothing was released."""
    pandas = pandas_for("to_series")
    return pandas.Series(outcome.values(), index=_index(pandas, outcome), name="released", dtype="float64")


def frame_of(outcome: Viewed, error: ExpectedError | None) -> Any:
    """One row for each column: see `Outcome.to_frame`."""
    pandas = pandas_for("to_frame")
    return pandas.DataFrame(facts(outcome, error), index=_index(pandas, outcome))


def facts(outcome: Viewed, error: ExpectedError | None) -> dict[str, list[Any]]:
    """Numbers, without rounding, under the names they have in a data frame and in CSV; what is not known is absent."""
    found: dict[str, list[Any]] = {"released": [float("nan") if v is None else v for v in outcome.values()]}
    if outcome.units is not None:
        found["unit"] = list(outcome.units)
    intervals = interval(outcome)
    if intervals is not None:
        found["interval_lower"], found["interval_upper"] = intervals.T.tolist()
    if outcome.bounds is not None:
        found["lower"], found["upper"] = ([float(v) for v in ends] for ends in outcome.bounds)
    if outcome.noise_sd is not None:
        found["noise_sd"] = list(outcome.noise_sd)
    if error is not None and error.columns is not None:
        found["half_within"] = [column.typical[1] for column in error.columns]
        found["within_95"] = [column.within_95[1] for column in error.columns]
    return found


def _index(pandas: Any, outcome: Viewed) -> Any:
    names = range(outcome.d) if outcome.columns is None else list(outcome.columns)
    return pandas.Index(names, name="column")


def pandas_for(method: str) -> Any:
    """The library, or an error that says how to do without."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            f"{method}() needs pandas: pip install pandas. Without it: to_dict(), items(), point"
        ) from None
    return pandas


# An outcome as a piece of HTML, for notebooks; reports use the same table. Every text is escaped.

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


# An outcome as plain text, for `print`.

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


# Releases by group as one table: plain text, HTML, a data frame. A row for each group, a column for each column.

_MOST_DECIMALS = 10
_GROUPED_STYLE = 'style="text-align:left;max-width:60em;margin:.3em 0"'
_WIDEST_GROUPED = 100  # characters of a line of words: longer ones are hard to read
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
    def n(self) -> int | None: ...
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
    labels = _labels(found)
    for key, label, values, pairs in lines_of_groups(found):
        counted = [] if found.counts is None else [str(found.counts[key])]
        cells = (cell_with(value, pair) for value, pair in zip(values, pairs, strict=True))
        rows.append([printable(key), *label, *counted, *cells])
    return Shown([by, *labels, *([] if found.counts is None else ["rows, noised"]), *titles], rows, (by, *labels))


def _pairs(release: Viewed) -> list[list[float] | None]:
    """The ends of each column's interval; None where there is none."""
    ends = interval(release)
    return [None] * release.d if ends is None else ends.tolist()


def lines_of_groups(found: Groups) -> Iterator[tuple[str, list[str], list[Any], list[list[float] | None]]]:
    """Key, quantile where there are several, the values of each column, and their intervals: a line of a table."""
    for key, release in found.releases.items():
        if isinstance(shares := getattr(release, "shares", None), tuple):
            for q, pairs in zip(shares, release.pairs(), strict=True):  # type: ignore[attr-defined]
                yield key, [show(q)], list(release[q]), pairs  # type: ignore[index]
        else:
            yield key, [], list(release.values()), _pairs(release)


def _labels(found: Groups) -> list[str]:
    return ["quantile"] if hasattr(next(iter(found.releases.values())), "shares") else []


def text_of_groups(found: Groups) -> str:
    seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if found.seeded else ""
    return "\n".join(
        [
            headline(found),
            *lines(shown_groups(found)),
            f"{stated(found.guarantee)}{seeded}",
            *(fill(text, _WIDEST_GROUPED) for text in (TOGETHER, sizes_sentence(found), *_note_of(found))),
        ]
    )


def _note_of(found: Groups) -> list[str]:
    """How sure the intervals are; the same of all groups."""
    note = getattr(next(iter(found.releases.values())), "interval_note", None)
    return [] if note is None else [f"In brackets: {note[0].lower()}{note[1:]}"]


def html_of_groups(found: Groups) -> str:
    """For notebooks. Every text is escaped."""
    parts = [f"<p {_GROUPED_STYLE}><b>{in_html(headline(found))}</b></p>"]
    if found.seeded:
        parts.append(f"<p {_GROUPED_STYLE}><b>SEEDED REHEARSAL: NOT PRIVATE. Do not publish this result.</b></p>")
    parts.append(groups_table_html(found))
    said = f"{guarantee_sentence(found.guarantee)} {TOGETHER} {sizes_sentence(found)}"
    parts.append(f"<p {_GROUPED_STYLE}><b>Guarantee</b>&ensp;{in_html(said)}</p>")
    notes = "".join(f"<li>{in_html(caveat)}</li>" for caveat in found.caveats)
    if notes:
        head = "<summary>What to know before using it</summary>"
        parts.append(f"<details {_GROUPED_STYLE}>{head}<ul>{notes}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def groups_table_html(found: Groups) -> str:
    return table_html(shown_groups(found))


def headline(found: Groups) -> str:
    count = len(found.releases)
    what = persons_or_rows(found)
    rows = f"a secret number of {what}" if found.n is None else f"{found.n} {what if found.n != 1 else what[:-1]}"
    groups = f"{count} group{'s' if count > 1 else ''} by {printable(found.by)}"
    return f"Release of {rows} in {groups}, by {printable(found.mechanism)}"


def persons_or_rows(found: Groups) -> str:
    """What one record is: the guarantee says so."""
    return "persons" if found.guarantee is not None and found.guarantee.neighbours.endswith("-person") else "rows"


def sizes_sentence(found: Groups) -> str:
    return SECRET_SIZES if found.counts is None else NOISED_SIZES


def frame_of_groups(found: Groups) -> Any:
    pandas = pandas_for("to_frame")
    one = next(iter(found.releases.values()))
    told = list(lines_of_groups(found))
    if labels := _labels(found):
        pairs = [(key, float(q)) for key, release in found.releases.items() for q in release.shares]  # type: ignore[attr-defined]
        index = pandas.MultiIndex.from_tuples(pairs, names=[found.by, *labels])
    else:
        index = pandas.Index(list(found.releases), name=found.by)
    columns = range(one.d) if one.columns is None else list(one.columns)
    frame = pandas.DataFrame([values for _, _, values, _ in told], index=index, columns=columns)
    for j, name in enumerate(columns):
        ends = [pairs[j] for *_, pairs in told]
        for end, what in enumerate(("lower", "upper")):
            if all(pair is not None for pair in ends):
                frame[f"{name} ({what})"] = [float(pair[end]) for pair in ends if pair is not None]
    if found.counts is not None:
        frame.insert(0, "rows" if "rows" not in frame.columns else "rows (noised)", list(found.counts.values()))
    return frame


def _cell(value: float | None) -> str:
    return REFUSED if value is None or math.isnan(value) else number(value)


def cell_with(value: float | None, ends: list[float] | None) -> str:
    """A value with its interval, if it has one: two digits of the half-width."""
    if value is None or math.isnan(value) or ends is None or not ends[0] < ends[1]:
        return _cell(value)
    decimals = max(0, min(_MOST_DECIMALS, 1 - math.floor(math.log10((ends[1] - ends[0]) / 2.0))))
    return f"{value:.{decimals}f} ({ends[0]:.{decimals}f} to {ends[1]:.{decimals}f})"
