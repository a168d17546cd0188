"""Differences between two groups, or two columns, of what was released, with confidence intervals: post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.results.interval import nominal, nominal_header
from tukeydp.results.views import Shown, cell_with, lines, pandas_for, table_html
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, printable


@dataclass(frozen=True, eq=False)
class Difference:
    """The first less the second, number by number.

    Attributes
    ----------
    of
        The two keys, or columns.
    columns
        What the differences are of.
    point
        Differences of released numbers; NaN where one of them was not released.
    interval
        Ends of a nominal confidence interval for each, shape (k, 2); NaN where a number has none.
    confidence, joint
        As the run was asked: with `joint` the level holds for all differences together.
    """

    of: tuple[str, str]
    columns: tuple[str, ...]
    point: FloatArray
    interval: FloatArray
    confidence: float
    joint: bool

    def to_frame(self) -> Any:
        """A pandas DataFrame: difference, lower and upper end, a row for each column."""
        pandas = pandas_for("to_frame")
        told = {"difference": self.point, "lower": self.interval[:, 0], "upper": self.interval[:, 1]}
        return pandas.DataFrame(told, index=pandas.Index(list(self.columns), name="column"))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; None where there is no number."""
        ends = [None if np.isnan(pair).any() else pair.tolist() for pair in self.interval]
        return {
            "of": list(self.of),
            "columns": list(self.columns),
            "point": [None if np.isnan(v) else v for v in self.point.tolist()],
            "interval": ends,
            "confidence": self.confidence,
            "joint": self.joint,
        }

    @property
    def sentence(self) -> str:
        """All differences in one line."""
        told = "; ".join(" ".join(row) for row in self._rows)
        return f"{' minus '.join(map(printable, self.of))}, with a {nominal(self.confidence)}: {told}."

    @property
    def _rows(self) -> list[list[str]]:
        cells = map(cell_with, self.point.tolist(), self.interval.tolist())
        return [[printable(name), cell] for name, cell in zip(self.columns, cells, strict=True)]

    @property
    def _shown(self) -> Shown:
        return Shown(["column", f"difference ({nominal_header(self.confidence)})"], self._rows)

    def __str__(self) -> str:
        together = ", all together" if self.joint else ""
        first, second = map(printable, self.of)
        head = f"{first} minus {second}, in brackets the {nominal(self.confidence)}{together}"
        return "\n".join([head, *lines(self._shown)])

    def _repr_html_(self) -> str:
        return table_html(self._shown)


def between_groups(of: tuple[str, str], columns: Sequence[str], first: Any, second: Any, asked: Any) -> Difference:
    """Of two groups, whose records are not the same: their intervals are put together as those of independent numbers.

    The distances of the ends from the points are added in squares (Zou and Donner 2008, MOVER), or, for a joint level,
    as they are: where all intervals hold, all differences of their ends do.
    """
    (ours, our_ends), (theirs, their_ends) = first, second
    down, up = ours - our_ends[:, 0], our_ends[:, 1] - ours
    their_down, their_up = theirs - their_ends[:, 0], their_ends[:, 1] - theirs
    add = np.add if asked["joint"] else np.hypot
    ends = np.column_stack([ours - theirs - add(down, their_up), ours - theirs + add(up, their_down)])
    return Difference(of, tuple(columns), ours - theirs, ends, asked["confidence"], asked["joint"])


def between_columns(of: tuple[str, str], values: Sequence[float], ends: FloatArray, asked: Any) -> Difference:
    """Of two columns of the same records, which may hang together in any way: distances are added as they are."""
    one, other = ((np.array([v]), pair[np.newaxis]) for v, pair in zip(values, ends, strict=True))
    found = between_groups(of, [f"{of[0]} - {of[1]}"], one, other, {**asked, "joint": True})
    return Difference(of, found.columns, found.point, found.interval, asked["confidence"], asked["joint"])


def with_intervals(settings: Any) -> dict[str, Any]:
    """How a run was asked for intervals, without which there is no difference to speak of."""
    if settings.get("confidence") is None:
        raise ParameterError("confidence", "must be given to the run: a difference is told with its interval", "none")
    return {"confidence": settings["confidence"], "joint": bool(settings.get("joint"))}


def numbers_with_ends(values: Sequence[Any], pairs: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
    point = np.array([np.nan if v is None else float(v) for v in values])
    return point, np.array([(np.nan, np.nan) if pair is None else pair for pair in pairs], dtype=np.float64)


def two_of(names: Sequence[str], first: Any, second: Any, what: str) -> tuple[str, str]:
    """Two different names among these."""
    found = tuple(str(name).strip() for name in (first, second))
    for name in found:
        if name not in names:
            raise ParameterError(what, f"must be among {', '.join(names)}", brief(name))
    if found[0] == found[1]:
        raise ParameterError(what, "must be two different ones", brief(found[0]))
    return found[0], found[1]
