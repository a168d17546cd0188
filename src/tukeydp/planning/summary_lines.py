"""The lines of a summary, one for each column and group: what was released, in the columns' own units.

Post-processing of released and public numbers; what takes seconds is computed when the lines are first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tukeydp.data.bounded import BoundedColumns
from tukeydp.mechanisms.grouped_estimates import (
    FEWEST,
    MISSING_AT_RANDOM,
    Estimate,
    IntervalKinds,
    estimates,
    group_interval_note,
)
from tukeydp.mechanisms.grouped_sums import GroupPlan, GroupSums
from tukeydp.release import Release

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
