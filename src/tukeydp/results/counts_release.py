"""What `td.counts` hands back: numbers and shares of categories with intervals, and one guarantee for all of them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from textwrap import wrap
from typing import Any

from tukeydp.results.count_intervals import count_interval, margin, share_of_known, share_of_noised
from tukeydp.results.escaping import csv_text, in_html, in_latex, in_markdown, printable
from tukeydp.results.release import SEEDED_CAVEAT, UNPROVEN_CAVEAT
from tukeydp.results.summary_result import html_document, latex_table
from tukeydp.results.views import Shown, guarantee_sentence, lines, pandas_for, table_html, warnings
from tukeydp.trusted.account import PureDP, epsilon_stated, stated
from tukeydp.trusted.parameters import show
from tukeydp.trusted.release import Seal, vouched
from tukeydp.version import __version__

_WIDEST = 100  # characters of a line of words
_USUAL = 0.95  # confidence at which noise is told where no interval is asked for

Key = str | tuple[str, ...]


@dataclass(frozen=True)
class CountTable:
    """Categories of a column, or combinations of several, and the noised numbers of every group, `other` last.

    Without `rest` there is one category, and everybody else is the rest of a public number.
    """

    titles: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    noised: tuple[tuple[int, ...], ...]
    scale: Fraction
    rest: bool
    other: str

    @property
    def title(self) -> str:
        return " x ".join(self.titles)

    @property
    def cells(self) -> list[tuple[str, ...]]:
        return [*itertools.product(*self.categories), (self.other,)]

    def numbers(self, group: int, n: int | None) -> list[int]:
        """Noised, of all cells of a group."""
        found = list(self.noised[group])
        if self.rest:
            return found
        assert n is not None
        return [*found, n - found[0]]


@dataclass(frozen=True)
class CountLine:
    """One cell. `count` is the noised number, moved to what is possible; intervals are None unless asked for."""

    table: str
    group: str | None
    category: tuple[str, ...]
    noised: int
    count: int
    share: float
    interval: tuple[int, int] | None
    share_interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        share_low, share_high = self.share_interval or (None, None)
        return {
            "column": self.table,
            "group": self.group,
            "category": ", ".join(self.category),
            "count": self.count,
            "count_lower": low,
            "count_upper": high,
            "share": None if math.isnan(self.share) else self.share,
            "share_lower": share_low,
            "share_upper": share_high,
            "noised": self.noised,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsRelease(Mapping[Key, int]):
    """A dict from categories to released numbers. Everything in it is public beforehand, or released.

    A key is a category; a tuple of two in a cross-table; with groups the group comes first, and where several columns
    were counted the column before that: `found["f"]`, `found["A", "f"]`, `found["sex", "A", "f"]`. The last cell of
    every table and group is "other / missing".

    Attributes
    ----------
    guarantee
        What all of it has cost together.
    n
        Records of the whole table, a public number, or None where it is secret.
    by, groups
        The name of the column with the groups' keys, and the keys; None without groups.
    tables
        The noised numbers as they were drawn, and the scale of their noise.
    """

    tables: tuple[CountTable, ...]
    guarantee: PureDP | None = None
    seeded: bool
    n: int | None
    by: str | None = None
    groups: tuple[str, ...] | None = None
    confidence: float | None = None
    joint: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    mechanism: str = "counts"
    notes: tuple[str, ...] = ()
    seal: Seal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vouched(self)

    @property
    def released(self) -> bool:
        return True

    @property
    def private(self) -> bool:
        """False for seeded randomness, where the release is a rehearsal, and for one that nobody has paid for."""
        return not self.seeded and self.guarantee is not None

    @property
    def lines(self) -> tuple[CountLine, ...]:
        """One for each cell, by table, group and category; intervals are found when first asked for."""
        return tuple(self._lines.values())

    @cached_property
    def _lines(self) -> dict[Key, CountLine]:
        found: dict[Key, CountLine] = {}
        for table in self.tables:
            for g, group in enumerate(self.groups or (None,)):
                for line in self._of_group(table, g, group):
                    found[self._key(line)] = line
        return found

    def _key(self, line: CountLine) -> Key:
        table = () if len(self.tables) == 1 else (line.table,)
        parts = (*table, *(() if line.group is None else (line.group,)), *line.category)
        return parts[0] if len(parts) == 1 else parts

    def _of_group(self, table: CountTable, g: int, group: str | None) -> Iterator[CountLine]:
        noised = table.numbers(g, self.n)
        clamped = [max(0, number) if self.n is None else min(max(0, number), self.n) for number in noised]
        whole = self.n if self.n is not None and group is None else sum(clamped)
        for i, category in enumerate(table.cells):
            interval = share_interval = None
            if (level := self._level) is not None:
                interval = count_interval(noised[i], self.n, table.scale, level)
                share_interval = (
                    share_of_known(noised[i], self.n, table.scale, level)
                    if self.n is not None and group is None
                    else share_of_noised(noised, i, table.scale, level)
                )
            share = clamped[i] / whole if whole else math.nan
            yield CountLine(table.title, group, category, noised[i], clamped[i], share, interval, share_interval)

    @property
    def _level(self) -> float | None:
        """Of each interval by itself: all together have the confidence that was asked for (Bonferroni)."""
        if self.confidence is None or not self.joint:
            return self.confidence
        cells = len(self.groups or (None,)) * sum(len(table.cells) for table in self.tables)
        return 1.0 - (1.0 - self.confidence) / cells

    def __getitem__(self, key: Any) -> int:
        return self.counts[self._found(key)]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def _found(self, key: Any) -> Key:
        parts = tuple(str(part).strip() for part in key) if isinstance(key, tuple) else str(key).strip()
        if parts not in self.counts:
            some = ", ".join(repr(one) for one in itertools.islice(self.counts, 5))
            raise KeyError(f"no cell {key!r}; there are {some}{', ...' * (len(self.counts) > 5)}")
        return parts

    @cached_property
    def counts(self) -> dict[Key, int]:
        """Released numbers, moved to 0 where they are below, and to n where it is public and they are above."""
        return {key: line.count for key, line in self._plain._lines.items()}

    @property
    def shares(self) -> dict[Key, float]:
        """Of all records, or of all of the group, "other / missing" among them; NaN where none were found."""
        return {key: line.share for key, line in self._plain._lines.items()}

    @property
    def intervals(self) -> dict[Key, tuple[int, int]] | None:
        """Where the table's own numbers are: noise alone, by its exact law. None unless a confidence was asked for."""
        if self.confidence is None:
            return None
        return {key: line.interval for key, line in self._lines.items() if line.interval is not None}

    @property
    def share_intervals(self) -> dict[Key, tuple[float, float]] | None:
        """Where the population's shares are: noise and sampling together, by the normal approximation."""
        if self.confidence is None:
            return None
        return {key: line.share_interval for key, line in self._lines.items() if line.share_interval is not None}

    @cached_property
    def _plain(self) -> CountsRelease:
        """The same without intervals, which take time."""
        if self.confidence is None:
            return self
        return CountsRelease(tables=self.tables, seeded=self.seeded, n=self.n, by=self.by, groups=self.groups)

    # How it is shown. Names of columns, categories and keys are anybody's text: all are escaped.

    @property
    def headline(self) -> str:
        what = ", ".join(printable(table.title) for table in self.tables)
        return f"Counts of {what}: {self._records}, released with differential privacy"

    @property
    def _records(self) -> str:
        one = "person" if self._about_persons else "row"
        return f"a secret number of {one}s" if self.n is None else f"{self.n} {one}{'s' * (self.n != 1)}"

    @property
    def _other(self) -> str:
        return self.tables[0].other

    @property
    def _about_persons(self) -> bool:
        return self.guarantee is not None and self.guarantee.neighbours.endswith("-person")

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to know before using the numbers."""
        unproven = (UNPROVEN_CAVEAT,) if self.guarantee is None else ()
        return (*self._said(), *self.notes, *unproven, *((SEEDED_CAVEAT,) if self.seeded else ()))

    @property
    def said(self) -> tuple[str, ...]:
        """What the numbers, shares and intervals are, in sentences for a footnote."""
        return tuple(self._said())

    def _said(self) -> Iterator[str]:
        level = self._level or _USUAL
        away = margin(max(table.scale for table in self.tables), level)
        inside = " of its group" if self.groups else ""
        yield (
            f"Every number has noise, which is at most {away} with a chance of {100 * level:.4g} %. Whoever is in none "
            f"of the listed categories counts in the last cell{inside}, {self._other!r}."
        )
        if len(self.tables) > 1:
            each = show(self.settings["epsilon_of_table"]) if "epsilon_of_table" in self.settings else "a part"
            yield f"Epsilon is divided equally among {len(self.tables)} tables: {each} for each."
        noised = f"of the released numbers of {'a group' if self.groups else 'a table'} together"
        of = noised if self.groups or self.n is None else f"of {self.n}"
        yield f"Shares are {of}, {self._other!r} among them. Numbers below 0 are shown as 0."
        if self.confidence is not None:
            together = "all of them together" if self.joint else "each by itself"
            yield (
                f"Intervals have a confidence of {100 * self.confidence:g} %, {together}. Those of numbers are for the "
                "table that was counted, and allow for the noise by its exact law; those of shares are for the "
                "population, noise and sampling together, by the normal approximation."
            )
        if self._about_persons:
            yield (
                "Every person counts once, in the category that their rows name if they agree, and else in "
                f"{self._other!r}. Rows without an id are left out; how many rows anybody has is secret."
            )

    def shown(self) -> Shown:
        """The table as texts: column where there are several, group, categories, and the numbers."""
        several, grouped = len(self.tables) > 1, self.groups is not None
        width = max(len(table.titles) for table in self.tables)
        first = ["column"] if several else []
        if grouped:
            first.append(printable(self.by or "group"))
        first += ["category"] if several else [printable(title) for title in self.tables[0].titles]
        level = "" if self.confidence is None else f"{100 * self.confidence:g} % CI"
        heads = ["count", *([level] if level else []), "share", *([f"{level} of share"] if level else [])]
        rows = []
        for line in self.lines:
            row = [printable(line.table)] if several else []
            row += [printable(line.group or "")] if grouped else []
            row += [*map(printable, line.category), *[""] * (width - len(line.category))]
            rows.append([*row, *_numbers(line)])
        return Shown([*first, *heads], rows, tuple(first), len(first))

    def to_dict(self, *, verbose: bool = True) -> dict[str, Any]:
        """Everything public about the release, ready for JSON."""
        return {
            "mechanism": self.mechanism,
            "released": True,
            "lines": [line.to_dict() for line in self.lines],
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "private": self.private,
            "n": self.n,
            "by": self.by,
            "keys": None if self.groups is None else list(self.groups),
            "categories": {table.title: [list(names) for names in table.categories] for table in self.tables},
            "noise_scale": {table.title: show(table.scale) for table in self.tables},
            "confidence": self.confidence,
            "joint": self.joint,
            "settings": {name: show(v) if isinstance(v, Fraction) else v for name, v in self.settings.items()},
            "caveats": list(self.caveats),
            "version": __version__,
        }

    def to_json(self, *, verbose: bool = False, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self) -> Any:
        """A pandas DataFrame: one row for each cell."""
        return pandas_for("to_frame").DataFrame([line.to_dict() for line in self.lines])

    def to_csv(self) -> str:
        """One line for each cell with all digits, what it cost, and whether it may be published."""
        same = {
            "epsilon": epsilon_stated(self.guarantee),
            "rows": self.n,
            "confidence": self.confidence,
            "private": "yes" if self.private else "no",
        }
        found = [line.to_dict() for line in self.lines]
        return csv_text([[*found[0], *same], *([*line.values(), *same.values()] for line in found)])

    def to_markdown(self) -> str:
        table = self.shown()
        rule = [":---" if name in table.left else "---:" for name in table.header]
        rows = [list(map(in_markdown, table.header)), rule, *(list(map(in_markdown, row)) for row in table.rows)]
        alarm = [f"**{in_markdown(text)}**" for text in warnings(self)]  # type: ignore[arg-type]
        notes = [in_markdown(text) for text in self._sentences()]
        pipes = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return "\n\n".join([f"# {in_markdown(self.headline)}", *alarm, pipes, *notes]) + "\n"

    def to_latex(self) -> str:
        """A `table` for the package booktabs."""
        table = self.shown()
        body = [" & ".join(map(in_latex, row)) + r" \\" for row in table.rows]
        notes = [*warnings(self), *self._sentences()]  # type: ignore[arg-type]
        return latex_table(self.headline, table.header, body, notes)

    def to_html(self) -> str:
        """A page of its own: no scripts, nothing loaded, dark or light."""
        return html_document(self.headline, self._repr_html_())

    def _sentences(self) -> list[str]:
        return [guarantee_sentence(self.guarantee), *self._said(), *self.notes]

    def __str__(self) -> str:
        seeded = "; SEEDED REHEARSAL: NOT PRIVATE, not for publication" if self.seeded else ""
        notes = [line for text in self._said() for line in wrap(text, _WIDEST)]
        return "\n".join([self.headline, *lines(self.shown()), f"{stated(self.guarantee)}{seeded}", *notes])

    def _repr_html_(self) -> str:
        alarm = "".join(
            f'<p class="alarm" role="alert"><b>{in_html(text)}</b></p>'
            for text in warnings(self)  # type: ignore[arg-type]
        )
        said = "".join(f"<p>{in_html(text)}</p>" for text in self._sentences())
        table = table_html(self.shown())
        return f"<div><p><b>{in_html(self.headline)}</b></p>{alarm}{table}<footer>{said}</footer></div>"

    def __repr__(self) -> str:
        return f"CountsRelease({len(self)} cells, guarantee={self.guarantee}, private={self.private})"


def _numbers(line: CountLine) -> list[str]:
    found = [str(line.count)]
    if line.interval is not None:
        found.append(f"{line.interval[0]} to {line.interval[1]}")
    found.append("" if math.isnan(line.share) else f"{line.share:.3f}")
    if line.share_interval is not None:
        found.append(f"{line.share_interval[0]:.3f} to {line.share_interval[1]:.3f}")
    return found
