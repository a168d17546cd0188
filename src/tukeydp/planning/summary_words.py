"""A summary's cells as they are shown, and its footnote. Every word follows from released and public numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from tukeydp.interval import nominal_header
from tukeydp.parameters import show
from tukeydp.planning.summary_lines import Line, reasons_of
from tukeydp.privacy import PureDP, stated
from tukeydp.version import __version__
from tukeydp.views.escaping import printable

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
