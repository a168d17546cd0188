"""A summary's cells and lines as they are shown, and its footnote: released and public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tukeydp.mechanisms.grouped_estimates import (
    FEWEST,
    MISSING_AT_RANDOM,
    Estimate,
    IntervalKinds,
    estimates,
    group_interval_note,
)
from tukeydp.mechanisms.grouped_sums import GroupPlan, GroupSums
from tukeydp.results.escaping import printable
from tukeydp.results.interval import nominal_header
from tukeydp.results.release import Release
from tukeydp.trusted.account import PureDP, stated
from tukeydp.trusted.parameters import show
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.version import __version__

# The lines of a summary, one for each column and group: what was released, in the columns' own units.
#
# Post-processing of released and public numbers; what takes seconds is computed when the lines are first asked for.

# Why a cell is a dash, in the words of the footnote.
FLOOR = (
    "the released spread is at its floor (hardly any spread, or bounds that are far too wide), so there is no interval"
)
SHARE = "columns between 0 and 1 need no standard deviation: for yes/no answers it follows from the share"
NO_SPREAD = "the spread of so few values cannot be told from the noise"
TOO_FEW = "the number of values cannot be told from none, so no mean is shown (an empty column, or a misspelt key?)"
FEW = f"fewer than {FEWEST} values, by the noised count, or no more is known than the bounds: no interval"
NOT_ASKED = "no standard deviation was asked for"


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
class WholeTable:
    """A release of columns that are not shares, with its interval, and noised numbers of values."""

    release: Release
    counts: tuple[int, ...]
    columns: BoundedColumns
    names: tuple[str, ...]
    known: tuple[float | None, ...] | None
    least: float = 0.0  # a number of values below cannot be told from none

    def interval_note(self) -> str | None:
        return self.release.interval_note

    def lines(self) -> tuple[Line, ...]:
        return tuple(self._line(j) for j in range(self.columns.d))

    def _line(self, j: int) -> Line:
        if self.counts[j] < self.least:
            return Line(None, self.names[j], False, self.counts[j], None, None, None, None, False, (TOO_FEW,))
        details, mean = self.release.interval_details, float(self.release.point[j])
        sd, lower, upper, reason = None if self.known is None else self.known[j], None, None, ""
        if details is not None:
            low, high = details.ends[j].tolist()
            if np.isnan(low):
                reason = FLOOR
            else:
                lower, upper, sd = low, high, float(details.spread[j])
        elif sd is None:
            reason = NOT_ASKED
        reasons = (reason,) if reason else ()
        public = self.known is not None
        return Line(None, self.names[j], False, self.counts[j], mean, sd, lower, upper, public, reasons)


@dataclass(frozen=True, eq=False)
class Groups:
    """Noised sums of every group, or of all rows under the one key None."""

    sums: GroupSums
    plan: GroupPlan
    columns: BoundedColumns
    names: tuple[str, ...]
    keys: tuple[str | None, ...]
    known: tuple[float | None, ...] | None
    confidence: float | None
    n: int

    def interval_note(self) -> str | None:
        if self.confidence is None:
            return None
        shares = [self.columns.between_0_and_1(j) for j in range(self.plan.d)]
        kinds = IntervalKinds(self.keys != (None,), any(shares), not all(shares), self.known is not None)
        return group_interval_note(self.confidence, kinds)

    def lines(self) -> tuple[Line, ...]:
        """All groups of the first column, then of the second: groups are to be compared."""
        known = None
        if self.known is not None:
            halves = (self.columns.widths / 2.0).tolist()
            known = tuple(None if sd is None else sd / half for sd, half in zip(self.known, halves, strict=True))
        found = estimates(self.sums, self.plan, known, self.confidence)
        return tuple(
            self._line(key, j, row[j]) for j in range(self.plan.d) for key, row in zip(self.keys, found, strict=True)
        )

    def _line(self, key: str | None, j: int, found: Estimate) -> Line:
        half, share = float(self.columns.widths[j]) / 2.0, self.columns.between_0_and_1(j)
        mean = None if found.mean is None else self._in_units(j, found.mean)
        lower, upper = (None, None) if found.ends is None else [self._in_units(j, end) for end in found.ends]
        sd = None if found.spread is None else found.spread * half
        count = max(0, min(self.n, round(found.count)))
        public = self.known is not None and sd is not None
        return Line(key, self.names[j], share, count, mean, sd, lower, upper, public, self._reasons(found, j))

    def _in_units(self, j: int, relative: float) -> float:
        lower = float(self.columns.lower[j])
        return lower + (1.0 + relative) / 2.0 * float(self.columns.widths[j])

    def _reasons(self, found: Estimate, j: int) -> tuple[str, ...]:
        if found.mean is None:
            return (TOO_FEW,)
        reasons = []
        if found.spread is None:
            reasons.append(SHARE if self.columns.between_0_and_1(j) else NO_SPREAD)
        if found.ends is None and self.confidence is not None:
            reasons.append(FEW)
        return tuple(reasons)


@dataclass(frozen=True, eq=False)
class Whole:
    """Columns of several kinds, in the table's order."""

    parts: tuple[Source, ...]
    names: tuple[str, ...]

    def interval_note(self) -> str | None:
        notes = [note for part in self.parts if (note := part.interval_note()) is not None]
        if len(notes) == 2:
            notes[1] = notes[1].removesuffix(MISSING_AT_RANDOM).rstrip()  # the first says so too
        return " ".join(notes) or None

    def lines(self) -> tuple[Line, ...]:
        found = {line.column: line for part in self.parts for line in part.lines()}
        return tuple(found[name] for name in self.names)


def reasons_of(lines: Sequence[Line]) -> list[str]:
    """Each reason once, in order of appearance."""
    return list(dict.fromkeys(reason for line in lines for reason in line.reasons))


# A summary's cells as they are shown, and its footnote. Every word follows from released and public numbers.

DASH = "\u2013"
SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this table."
_MOST_DECIMALS = 10
_MOST_NAMED = 12  # keys or columns that a footnote names; more are counted
_HOW = {
    "subset": "depth of subset means",
    "two-step": "a mean clipped where the data are, with cube noise",
    "cube": "a mean clipped at the bounds, with cube noise",
    "grouped sums": "sums clipped at the bounds, with cube noise",
}


class Summarised(Protocol):
    """What words need of a summary."""

    @property
    def guarantee(self) -> PureDP | None: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def n(self) -> int: ...
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
    what = "number of values (n), mean and standard deviation (sd)"
    if summary.confidence is not None:
        what = "number of values (n), mean, standard deviation (sd) and nominal confidence interval (CI)"
    if summary.keys is None:
        return f"Released with noise: {what} of {columns}, from {_rows(summary)}, a number that is public."
    named = ", ".join(map(printable, summary.keys)) if len(summary.keys) <= _MOST_NAMED else f"{len(summary.keys)} keys"
    group = f"group of {printable(summary.by or '')} ({named})"
    return (
        f"Released with noise: {what} of {columns} in each {group}, from {summary.n} rows in all, a number that is "
        "public. Rows with another key, or none, belong to no group; the groups' sizes are secret but for n."
    )


def _promise(summary: Summarised) -> str:
    return f"All of it together: {stated(summary.guarantee)}."


def _how(summary: Summarised) -> str:
    how = _HOW.get(summary.mechanism, summary.mechanism)
    if summary.keys is not None:
        check = summary.settings.get("epsilon_check")
        own = None if check is None or summary.guarantee is None else summary.guarantee.epsilon - check
        epsilon = "the full epsilon" if own is None else f"epsilon {show(own)}"
        return (
            f"By {how}, in every group at {epsilon}: a row is in one group only. The accuracy is that of noise at the "
            "bounds: narrower bounds, chosen without the data, make it better."
        )
    said = []
    if "epsilon_means" in summary.settings:
        means, counts = (show(summary.settings[name]) for name in ("epsilon_means", "epsilon_counts"))
        said.append(f"means and spreads by {how} (epsilon {means}), their numbers of values by cube noise ({counts})")
    if "epsilon_shares" in summary.settings:
        said.append(f"columns between 0 and 1 by noised sums (epsilon {show(summary.settings['epsilon_shares'])})")
    told = "; ".join(said)
    return f"{told[0].upper()}{told[1:]}."


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
    persons = summary.guarantee is not None and summary.guarantee.neighbours == "swap-person"
    return _counted(summary.n, "person" if persons else "row")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
