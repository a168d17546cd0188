"""A summary's cells and lines as they are shown, and its footnote: released and public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tukeydp.mechanisms.clipped_interval import Level, clipped_interval, deviations, interval_note, shown_deviation
from tukeydp.mechanisms.clipped_mean import Transcript
from tukeydp.results.escaping import printable
from tukeydp.results.interval import Interval, nominal_header
from tukeydp.trusted.account import PureDP, stated
from tukeydp.trusted.parameters import show
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.version import __version__

# The lines of a summary, one for each column and group: what was released, in the columns' own units.
#
# Post-processing of released and public numbers; what takes seconds is computed when the lines are first asked for.

# Why a cell is a dash, in the words of the footnote.
SHARE = "columns between 0 and 1 need no standard deviation: for yes/no answers it follows from the share"
NO_SPREAD = "the spread of so few values cannot be told from the noise"
TOO_FEW = "the number of values cannot be told from none, so no mean is shown (an empty column, or a misspelt key?)"


@dataclass(frozen=True)
class Line:
    """One column, of one group or of all rows.

    Attributes
    ----------
    group
        The group's key; None where there are no groups.
    share
        Whether the column lies between 0 and 1: its mean is a share.
    n
        Noised number of values.
    mean, sd, lower, upper
        None where nothing can be said; `reasons` says why.
    sd_public
        Whether the standard deviation was given, not released.
    """

    group: str | None
    column: str
    share: bool
    n: int
    mean: float | None
    sd: float | None
    lower: float | None
    upper: float | None
    sd_public: bool = False
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {} if self.group is None else {"group": self.group}
        return found | {
            "column": self.column,
            "n": self.n,
            "mean": self.mean,
            "sd": self.sd,
            "sd_public": self.sd_public,
            "lower": self.lower,
            "upper": self.upper,
        }


class Source(Protocol):
    """Where lines come from: released and public numbers, no cell."""

    def lines(self) -> tuple[Line, ...]: ...

    def interval_note(self) -> str | None: ...


@dataclass(frozen=True, eq=False)
class Means:
    """Clipped means of every group, or of all records under the one key None."""

    found: Transcript
    columns: BoundedColumns
    names: tuple[str, ...]
    keys: tuple[str | None, ...]
    known: tuple[float, ...] | None
    level: Level | None

    def interval_note(self) -> str | None:
        if self.level is None:
            return None
        return interval_note(self.found, deviations(self.found, self.known), self.level, self.known is not None)

    def lines(self) -> tuple[Line, ...]:
        """All groups of the first column, then of the second: groups are to be compared."""
        spreads = deviations(self.found, self.known)
        level = self.level
        intervals = [
            None if level is None else clipped_interval(self.found, self.columns, g, self.known, level)
            for g in range(len(self.keys))
        ]
        means = [self.columns.in_units(row) for row in self.found.means()]
        return tuple(
            self._line(g, j, float(means[g][j]), spreads[j], intervals[g])
            for j in range(self.columns.d)
            for g in range(len(self.keys))
        )

    def _line(self, g: int, j: int, mean: float, spread: float | None, interval: Interval | None) -> Line:
        share, key, name = self.columns.between_0_and_1(j), self.keys[g], self.names[j]
        count = round(self.found.values(g, j))
        if not self.found.told(g, j):
            count = max(0, round(self.found.numbers(g, j)))
            return Line(key, name, share, count, None, None, None, None, False, (TOO_FEW,))
        public = self.known is not None
        shown = spread if public or spread is None else shown_deviation(self.found, j)
        sd = None if shown is None else shown * float(self.columns.widths[j]) / 2.0
        lower, upper = (None, None) if interval is None else interval.ends[j].tolist()
        reasons = (SHARE,) if spread is None else (NO_SPREAD,) if shown is None else ()
        return Line(key, name, share, count, mean, sd, lower, upper, public and shown is not None, reasons)


def reasons_of(lines: Sequence[Line]) -> list[str]:
    """Each reason once, in order of appearance."""
    return list(dict.fromkeys(reason for line in lines for reason in line.reasons))


# A summary's cells as they are shown, and its footnote. Every word follows from released and public numbers.

DASH = "\u2013"
SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this table."
_MOST_DECIMALS = 10
_MOST_NAMED = 12  # keys or columns that a footnote names; more are counted
_HOW = {
    "two-step": "means clipped where the data are, with cube noise",
    "cube": "means clipped at the bounds, with cube noise",
}


class Summarised(Protocol):
    """What words need of a summary."""

    @property
    def guarantee(self) -> PureDP | None: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def n(self) -> int | None: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def bounds(self) -> tuple[Sequence[Fraction], Sequence[Fraction]]: ...
    @property
    def by(self) -> str | None: ...
    @property
    def keys(self) -> tuple[str, ...] | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def lines(self) -> tuple[Line, ...]: ...
    @property
    def interval_note(self) -> str | None: ...


def title(summary: Summarised) -> str:
    among = (
        "" if summary.keys is None else f" in {_counted(len(summary.keys), 'group')} of {printable(summary.by or '')}"
    )
    return f"Summary of {_rows(summary)}{among}, released with differential privacy"


def header(summary: Summarised) -> list[str]:
    """Of the numbers; names of columns and groups come before."""
    interval = [] if summary.confidence is None else [nominal_header(summary.confidence)]
    return ["n", "mean", "sd", *interval]


def cells(summary: Summarised, line: Line) -> list[str]:
    """The numbers of one line. Shares are in percent; digits follow from the width of the interval."""
    sd = DASH
    if line.sd is not None:
        sd = f"{number(line.sd, None)}*" if line.sd_public else _shown(line, line.sd)
    mean = DASH if line.mean is None else _shown(line, line.mean)
    interval = []
    if summary.confidence is not None:
        interval = [DASH]
        if line.lower is not None and line.upper is not None:
            low, high = _shown(line, line.lower), _shown(line, line.upper)
            interval = [f"{low.removesuffix(' %')} to {high}"]
    return [str(line.n), mean, sd, *interval]


def _shown(line: Line, value: float) -> str:
    factor = 100.0 if line.share else 1.0
    half = None
    if line.lower is not None and line.upper is not None and line.upper > line.lower:
        half = factor * (line.upper - line.lower) / 2.0
    return number(factor * value, half) + (" %" if line.share else "")


def number(value: float, half: float | None) -> str:
    """As many decimals as give the half-width two digits; four digits where there is none.

    >>> number(120.1234, 1.26), number(23456.7, 310.0), number(0.012345, None), number(1.5e21, None)
    ('120.1', '23457', '0.01235', '1.5e+21')
    """
    if half is None or not 1e-9 < half < 1e12:
        return f"{value:.4g}" if abs(value) < 1000 or abs(value) >= 1e15 else f"{value:.0f}"
    decimals = max(0, min(_MOST_DECIMALS, 1 - math.floor(math.log10(half))))
    return f"{value:.{decimals}f}"


def footnote(summary: Summarised) -> list[str]:
    """Sentences to print below the table."""
    said = [SEEDED] if summary.seeded else []
    said += [_released(summary), f"{_promise(summary)} {_how(summary)}", _estimand(summary)]
    if summary.interval_note is not None:
        said.append(summary.interval_note)
    if any(line.sd_public for line in summary.lines):
        said.append("*: standard deviations that were given, not released.")
    reasons = reasons_of(summary.lines)
    if reasons:
        said.append(f"{DASH}: {'; '.join(reasons)}.")
    said += summary.notes
    said.append(f"Made with tukeydp {__version__}.")
    return said


def _released(summary: Summarised) -> str:
    columns = _counted(len(summary.columns), "column")
    interval = "" if summary.confidence is None else " and nominal confidence interval (CI)"
    what = f"number of values (n), mean, standard deviation (sd){interval}"
    public = "" if summary.n is None else ", a number that is public"
    if summary.keys is None:
        return f"Released with noise: {what} of {columns}, from {_rows(summary)}{public}."
    named = ", ".join(map(printable, summary.keys)) if len(summary.keys) <= _MOST_NAMED else f"{len(summary.keys)} keys"
    group = f"group of {printable(summary.by or '')} ({named})"
    return (
        f"Released with noise: {what} of {columns} in each {group}, from {_rows(summary)} in all{public}. Rows with "
        "another key, or none, belong to no group; the groups' sizes are secret but for n, and the standard deviation "
        "is that within groups, of all of them together."
    )


def _promise(summary: Summarised) -> str:
    return f"All of it together: {stated(summary.guarantee)}."


def _how(summary: Summarised) -> str:
    return f"By {_HOW.get(summary.mechanism, summary.mechanism)}."


def _estimand(summary: Summarised) -> str:
    ends = list(zip(summary.columns, *summary.bounds, strict=True))
    told = "; ".join(f"{printable(name)} {show(a)} to {show(b)}" for name, a, b in ends[:_MOST_NAMED])
    told += f"; {len(ends) - _MOST_NAMED} more" if len(ends) > _MOST_NAMED else ""
    shares = " Columns between 0 and 1 are shown in percent." if any(line.share for line in summary.lines) else ""
    return (
        "The mean is the arithmetic mean, values moved between the bounds and missing cells left out. "
        f"Bounds: {told}.{shares}"
    )


def _rows(summary: Summarised) -> str:
    persons = summary.guarantee is not None and summary.guarantee.neighbours.endswith("-person")
    what = "person" if persons else "row"
    return f"a secret number of {what}s" if summary.n is None else _counted(summary.n, what)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
