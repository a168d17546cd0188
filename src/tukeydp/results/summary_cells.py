"""The lines of a summary, and its table as texts: groups side by side, digits by the noise, a footnote for a paper.

Released and public numbers alone. Names of columns, categories and keys are anybody's text: all are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from tukeydp.results.escaping import printable
from tukeydp.results.interval import nominal_header
from tukeydp.trusted.account import PureDP, stated
from tukeydp.trusted.parameters import FloatArray, show
from tukeydp.version import __version__

# Why a cell is a dash, in the words of the details.
SHARE = "columns between 0 and 1 need no standard deviation: for yes/no answers it follows from the share"
NO_SPREAD = "a standard deviation was left out, and named beforehand: its noise would be as large as itself"
TOO_FEW = "the number of values cannot be told from none, so no mean is shown (an empty column, or a misspelt key?)"

DASH = "\u2013"
SEEDED = "SEEDED REHEARSAL: NOT PRIVATE. Do not publish this table."
_MOST_DECIMALS = 10
_ROUGH = 3.0  # standard deviations whose likely values are so many times apart are rough
_FAR, _FAR_SHARE = 1.0, 0.15  # half widths of 95 % intervals, in standard deviations or as a share, that are rough
_COMPARED = {
    "smd": "SMD: standardised difference of the first two groups, from the released numbers, with a nominal 95 % "
    "interval for noise and sampling.",
    "p": "p: of the first two groups, from the released numbers, noise and sampling together.",
}
_MOST_NAMED = 12  # keys or columns that details name; more are counted
_YES = {"yes", "true", "ja", "oui", "si", "1"}
_NO = {"no", "false", "nein", "non", "0"}
_HOW = {
    "two-step": "means clipped where the data are, with cube noise",
    "cube": "means clipped at the bounds, with cube noise",
    "norm": "records bounded in all columns at once, around a rough centre, with Laplace noise; SDs are those of "
    "bell-shaped columns, or of skewed ones near a bound, with such distances from it",
    "counts": "counts with cube noise",
}
# The last column: what it compares, of the first two groups.
COMPARISONS = {"smd": "SMD (95 %)", "p": "p"}


@dataclass(frozen=True)
class Line:
    """One column, or one of its categories, of one group or of all rows.

    Attributes
    ----------
    group
        The group's key; None where there are no groups.
    share
        Whether the mean is a share: of a category, or of a column between 0 and 1.
    n
        Noised number of values; with weights the sum of theirs.
    mean, sd, lower, upper
        None where nothing can be said; `reasons` says why.
    sd_public
        Whether the standard deviation was given, not released.
    level, count
        The category, and the noised number of values in it.
    missing
        Noised number of missing values; None where they do not stand out from the noise.
    quartiles
        Of columns that are shown by median [IQR].
    half
        Half the width of the interval, also where none is shown: how many digits there are.
    sd_range
        Where the standard deviation likely lies, given what was released of it: rough ones are named in the details.
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
    level: str | None = None
    count: int | None = None
    missing: int | None = None
    quartiles: tuple[float, float, float] | None = None
    half: float | None = None
    sd_range: tuple[float, float] | None = None

    @property
    def far(self) -> bool:
        """Whether the mean, or share, may be off by as much as a reader would call another value."""
        if self.half is None or self.mean is None:
            return False
        return self.half > (_FAR_SHARE if self.share else _FAR * (self.sd or math.inf))

    @property
    def rough(self) -> bool:
        """Whether likely standard deviations are far apart."""
        return self.sd_range is not None and self.sd_range[1] > _ROUGH * self.sd_range[0]

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {} if self.group is None else {"group": self.group}
        found |= {"column": self.column, "level": self.level, "n": self.n, "count": self.count, "mean": self.mean}
        found |= {"sd": self.sd, "sd_public": self.sd_public, "lower": self.lower, "upper": self.upper}
        quartiles = self.quartiles or (None, None, None)
        return found | dict(zip(("q1", "median", "q3"), quartiles, strict=True)) | {"missing": self.missing}


class Source(Protocol):
    """Where lines come from: released and public numbers, no cell."""

    def lines(self) -> tuple[Line, ...]: ...

    def size(self, g: int) -> float: ...

    @property
    def measured(self) -> tuple[str, ...]: ...

    def interval_note(self) -> str | None: ...


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
    def measured(self) -> tuple[str, ...]: ...
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
    def left_out(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def key_labels(self) -> Mapping[str, str]: ...
    @property
    def compare(self) -> str | None: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def sizes(self) -> tuple[int, ...]: ...
    @property
    def lines(self) -> tuple[Line, ...]: ...
    @property
    def overall(self) -> tuple[Line, ...]: ...
    @property
    def interval_note(self) -> str | None: ...


def overall(lines: Sequence[Line], confidence: float | None) -> tuple[Line, ...]:
    """Of all groups together, line by line: weighted by their noised sizes. None has a median."""
    found = []
    for column, level in dict.fromkeys((line.column, line.level) for line in lines):
        every = [line for line in lines if (line.column, line.level) == (column, level)]
        some = [line for line in every if line.mean is not None]
        first, total = every[0], sum(line.n for line in some)
        missing = [line.missing for line in every if line.missing is not None]
        together = replace(first, group=None, n=total, missing=sum(missing) if missing else None, quartiles=None)
        together = replace(together, mean=None, sd=None, lower=None, upper=None, half=None, count=None)
        if not some or not total:
            found.append(together)
            continue
        mean = sum(line.n * (line.mean or 0.0) for line in some) / total
        half = math.sqrt(sum((line.n * (line.half or 0.0)) ** 2 for line in some)) / total
        sds = [line.sd for line in some if line.sd is not None]
        apart = sum(line.n * ((line.mean or 0.0) - mean) ** 2 for line in some) / total
        between = 0.0 if first.sd_public else max(0.0, apart - half**2 / 4.0)  # noise sets groups apart, too
        ends = (mean - half, mean + half) if confidence is not None and half else (None, None)
        if first.share and ends[0] is not None and ends[1] is not None:
            ends = (max(0.0, ends[0]), min(1.0, ends[1]))
        counts = [line.count for line in some if line.count is not None]
        found.append(
            replace(
                together, mean=mean, half=half, lower=ends[0], upper=ends[1], sd_public=first.sd_public,
                sd=math.sqrt(sum(sd**2 for sd in sds) / len(sds) + between) if sds else None,
                count=sum(counts) if counts else None, reasons=some[0].reasons,
            )
        )  # fmt: skip
    return tuple(found)


class Row(NamedTuple):
    """A row of the table. `lines` are what its cells show, one for each group and the last for all; none in a heading.

    `kind` is "mean", "median", "share", "level", "interval", "missing" or "heading"; `inner` rows belong to the one
    above.
    """

    label: str
    kind: str
    inner: bool
    lines: tuple[Line, ...]
    cells: tuple[str, ...]


def rows(summary: Summarised) -> Iterator[Row]:
    """What the table shows, from top to bottom, after the header."""
    for column in summary.columns:
        levels = dict.fromkeys(line.level for line in summary.lines if line.column == column)
        by_level = {level: _side_by_side(summary, column, level) for level in levels}
        name = printable(summary.labels.get(column, column))
        if None in by_level:
            yield from _number_rows(summary, name, by_level[None])
        elif by_level:
            yield from _category_rows(summary, name, {level or "": lines for level, lines in by_level.items()})


def _side_by_side(summary: Summarised, column: str, level: str | None) -> tuple[Line, ...]:
    lines = [line for line in summary.lines if (line.column, line.level) == (column, level)]
    together = [line for line in summary.overall if (line.column, line.level) == (column, level)]
    return tuple(lines if summary.keys is None else [*lines, *together])


def _number_rows(summary: Summarised, name: str, lines: tuple[Line, ...]) -> Iterator[Row]:
    first = lines[0]
    kind = "median" if any(line.quartiles for line in lines) else "share" if first.share else "mean"
    shown = {"median": "median [IQR]", "share": "%", "mean": "mean (SD)"}[kind]
    yield _row(summary, f"{name}, {shown}", kind, False, lines)
    if summary.confidence is not None and kind != "median":
        yield _row(summary, nominal_header(summary.confidence), "interval", True, lines)
    yield from _missing_row(summary, lines)


def _category_rows(summary: Summarised, name: str, levels: dict[str, tuple[Line, ...]]) -> Iterator[Row]:
    yes = [level for level in levels if level.casefold() in _YES]
    if len(levels) == 2 and len(yes) == 1 and all(level.casefold() in _YES | _NO for level in levels):
        yield _row(summary, f"{name}, n (%)", "level", False, levels[yes[0]])
        yield from _missing_row(summary, levels[yes[0]])
        return
    many = next(iter(levels.values()))
    yield Row(f"{name}, n (%)", "heading", False, (), ("",) * (len(many) + (summary.compare is not None)))
    for level, lines in levels.items():
        yield _row(summary, printable(level), "level", True, lines)
    yield from _missing_row(summary, many)


def _missing_row(summary: Summarised, lines: tuple[Line, ...]) -> Iterator[Row]:
    if any(line.missing is not None for line in lines):
        yield _row(summary, "missing, n", "missing", True, lines)


def _row(summary: Summarised, label: str, kind: str, inner: bool, lines: tuple[Line, ...]) -> Row:
    cells = [cell(kind, line) for line in lines]
    if summary.compare is not None:
        cells.append(compared(summary.compare, lines) if kind in ("mean", "share", "level") else "")
    return Row(label, kind, inner, lines, tuple(cells))


def cell(kind: str, line: Line) -> str:
    """The text of a cell: as many digits as the interval carries."""
    if kind == "missing":
        return DASH if line.missing is None else str(line.missing)
    if kind == "median":
        if line.quartiles is None:
            return DASH
        low, middle, high = (number(value, line.half) for value in line.quartiles)
        return f"{middle} [{low}, {high}]"
    if line.mean is None:
        return DASH
    if kind == "interval":
        if line.lower is None or line.upper is None:
            return DASH
        return f"{_scaled(line, line.lower)} to {_scaled(line, line.upper)}{' %' if line.share else ''}"
    if kind == "level":
        return f"{line.count} ({_scaled(line, line.mean)} %)"
    if kind == "share":
        return f"{_scaled(line, line.mean)} %"
    sd = DASH if line.sd is None else f"{number(line.sd, None)}*" if line.sd_public else _deviation(line, line.sd)
    return f"{number(line.mean, line.half)} ({sd})"


def _deviation(line: Line, sd: float) -> str:
    """No more digits than its own range and the mean have."""
    halves = [] if line.sd_range is None else [(line.sd_range[1] - line.sd_range[0]) / 2.0]
    halves += [] if line.half is None else [line.half]
    found = number(sd, max(halves, default=None))
    # A number of one digit rather than none: a spread is not 0 because its digits are few.
    return found if float(found) else f"{float(f'{sd:.1g}'):g}"


def _scaled(line: Line, value: float) -> str:
    factor = 100.0 if line.share else 1.0
    return number(factor * value, None if line.half is None else factor * line.half)


def number(value: float, half: float | None) -> str:
    """As many decimals as leave the half-width one digit, or two if the first is a 1; three digits where there is none.

    >>> number(120.1234, 1.26), number(120.1234, 4.1), number(23456.7, 310.0), number(0.012345, None)
    ('120.1', '120', '23457', '0.0123')
    """
    if half is None or not 1e-9 < half < 1e12:
        return f"{value:.3g}" if abs(value) < 1000 or abs(value) >= 1e15 else f"{value:.0f}"
    return f"{value:.{decimals(half)}f}"


def decimals(half: float) -> int:
    return max(0, min(_MOST_DECIMALS, -math.floor(math.log10(half / 2.0))))


class Difference(NamedTuple):
    """The size of a standardised difference, and the ends of its nominal 95 % interval."""

    size: float
    low: float
    high: float


# Draws of what two means or shares and their deviation may be, from a public seed; their noise falls off as slowly as
# Laplace's, whose 95 % interval is three scales wide on either side.
_DRAWS, _SCALES, _TENTH = 4000, math.log(20.0), 1.2815515655446004


def standardised(lines: Sequence[Line]) -> Difference | None:
    """Of the first two groups, by simulation from the released numbers; None where one of them has none."""
    first, second = lines[0], lines[1] if len(lines) > 2 else lines[0]
    if len(lines) < 3 or first.mean is None or second.mean is None or not first.half or not second.half:
        return None
    noise, z = _noise()
    means = [one.mean + one.half / _SCALES * e for one, e in zip((first, second), noise, strict=True)]  # type: ignore[operator]
    if first.share:
        variances = [np.clip(one, 0.005, 0.995) * (1.0 - np.clip(one, 0.005, 0.995)) for one in means]
        own = [max(1e-4, one * (1.0 - one)) for one in (first.mean, second.mean)]
        sd, shown = np.sqrt(sum(variances) / 2.0), math.sqrt(sum(own) / 2.0)
    else:
        if not first.sd or not second.sd:
            return None
        shown = math.sqrt((first.sd**2 + second.sd**2) / 2.0)
        low, high = first.sd_range or (1.0, 1.0)
        sd = shown * np.exp(z * math.log(high / low) / (2.0 * _TENTH))
    low, high = np.quantile((means[0] - means[1]) / sd, [0.025, 0.975]).tolist()
    size = abs(first.mean - second.mean) / shown
    ends = (0.0, max(-low, high)) if low <= 0.0 <= high else sorted((abs(low), abs(high)))
    return Difference(size, min(size, ends[0]), max(size, ends[1]))


@cache
def _noise() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(33)
    noise, z = rng.laplace(size=(2, _DRAWS)), rng.normal(size=_DRAWS)
    return np.concatenate([noise, -noise], axis=1), np.concatenate([z, z])  # alike for a share and what it leaves


def compared(how: str, lines: Sequence[Line]) -> str:
    """Of the first two groups, from what was released: the standardised difference, or the p-value of a z-test."""
    if how == "smd":
        found = standardised(lines)
        if found is None:
            return DASH
        size, low, high = (number(one, max(0.05, (found.high - found.low) / 2.0)) for one in found)
        return f"{size} ({low} to {high})"
    first, second = lines[0], lines[1] if len(lines) > 2 else lines[0]
    if len(lines) < 3 or first.mean is None or second.mean is None:
        return DASH
    difference = first.mean - second.mean
    if not first.half or not second.half:
        return DASH
    z = abs(difference) / (math.hypot(first.half, second.half) / 1.96)
    p = math.erfc(z / math.sqrt(2.0))
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def heads(summary: Summarised) -> list[str]:
    """Above the cells: a group with its number of records, all of them, what is compared."""
    many = [f"(N = {size})" for size in summary.sizes]
    if summary.keys is None:
        found = [f"All {many[0]}"]
    else:
        names = [printable(summary.key_labels.get(key, key)) for key in summary.keys]
        found = [
            f"{name} {size}" for name, size in zip([*names, "All"], [*many, f"(N = {sum(summary.sizes)})"], strict=True)
        ]
    return [*found, *([] if summary.compare is None else [COMPARISONS[summary.compare]])]


def title(summary: Summarised) -> str:
    among = (
        "" if summary.keys is None else f" in {_counted(len(summary.keys), 'group')} of {printable(summary.by or '')}"
    )
    return f"Summary of {_rows(summary)}{among}, released with differential privacy"


def footnote(summary: Summarised) -> list[str]:
    """Two sentences for a paper; before them, that a rehearsal must not be published."""
    kinds = list(dict.fromkeys(row.kind for row in rows(summary)))
    told = {"mean": "mean (SD)", "median": "median [IQR]", "level": "n (%)", "share": "%"}
    values = [told[kind] for kind in told if kind in kinds]
    weighted = "weighted " if summary.weighted else ""
    listed = " or ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)
    sizes = "" if summary.keys is None and summary.n is not None and not summary.weighted else "; N is approximate"
    within = ", and the SD is that within groups" if "mean" in kinds and summary.keys is not None else ""
    ranges = "ranges found with noise" if "epsilon_magnitudes" in summary.settings else "ranges fixed without the data"
    return [
        *([SEEDED] if summary.seeded else []),
        f"Values are {weighted}{listed}, with noise added to every number to protect privacy: "
        f"{stated(summary.guarantee)}; tukeydp {__version__}{sizes}.",
        f"Numbers were clipped to {ranges}, missing values were left out{within}.",
    ]


def details(summary: Summarised) -> list[str]:
    """What else there is to know: how it was made, what intervals hold for, why a cell is a dash, what is left out."""
    said = [_released(summary), f"By {_HOW.get(summary.mechanism, summary.mechanism)}.{_bounds(summary)}"]
    if summary.interval_note is not None:
        said.append(summary.interval_note)
    if any(line.sd_public for line in summary.lines):
        said.append("*: standard deviations that were given, not released.")
    reasons = list(dict.fromkeys(reason for line in summary.lines for reason in line.reasons))
    if reasons:
        said.append(f"{DASH}: {'; '.join(reasons)}.")
    rough = {line.column: line.sd_range for line in summary.lines if line.rough and line.sd_range}
    if rough:
        named = {printable(summary.labels.get(name, name)): ends for name, ends in rough.items()}
        likely = (f"{name} {number(low, None)} to {number(high, None)}" for name, (low, high) in named.items())
        said.append(f"Rough SDs, with a likely range: {'; '.join(likely)}.")
    shown = (line for row in rows(summary) if row.kind != "missing" for line in row.lines)
    far = [line for line in shown if line.far and line in summary.lines] if summary.confidence is None else []
    if far:
        told = [f"{_name(summary, line)} {_within(line)}" for line in far[:_MOST_NAMED]]
        told += [f"{len(far) - _MOST_NAMED} more"] if len(far) > _MOST_NAMED else []
        said.append(f"Rough values, with what they may be (nominal 95 %): {'; '.join(told)}.")
    if any(row.kind == "median" for row in rows(summary)) and summary.keys is not None:
        said.append("Medians of all groups together were not released.")
    if summary.compare is not None and summary.keys is not None:
        said.append(_COMPARED[summary.compare])
    said += [f"Left out for want of budget: {one}." for one in map(printable, summary.left_out)]
    return said + list(summary.notes)


def _name(summary: Summarised, line: Line) -> str:
    """Of a line: its column, category and group."""
    group = "" if line.group is None else f" in {printable(summary.key_labels.get(line.group, line.group))}"
    level = "" if line.level is None else f" {printable(line.level)}"
    return f"{printable(summary.labels.get(line.column, line.column))}{level}{group}"


def _within(line: Line) -> str:
    assert line.mean is not None
    assert line.half is not None
    low, high = line.mean - line.half, line.mean + line.half
    if line.share:
        low, high = max(0.0, low), min(1.0, high)
    return f"{_scaled(line, low)} to {_scaled(line, high)}{' %' if line.share else ''}"


def _released(summary: Summarised) -> str:
    public = "" if summary.n is None else ", a number that is public"
    columns = _counted(len(summary.columns), "column")
    if summary.keys is None:
        return f"Released with noise: {columns} of {_rows(summary)}{public}."
    named = ", ".join(map(printable, summary.keys)) if len(summary.keys) <= _MOST_NAMED else f"{len(summary.keys)} keys"
    return (
        f"Released with noise: {columns} in each group of {printable(summary.by or '')} ({named}), from "
        f"{_rows(summary)} in all{public}. Rows with another key, or none, belong to no group; the groups' sizes are "
        "secret but for N. Missing values are counted where they stand out from the noise."
    )


def _bounds(summary: Summarised) -> str:
    ends = list(zip(summary.measured, *summary.bounds, strict=True))
    if not ends:
        return ""
    told = "; ".join(f"{printable(name)} {show(a)} to {show(b)}" for name, a, b in ends[:_MOST_NAMED])
    told += f"; {len(ends) - _MOST_NAMED} more" if len(ends) > _MOST_NAMED else ""
    found = "" if "epsilon_magnitudes" not in summary.settings else " Ranges that were not given were found with noise."
    return f" Bounds: {told}.{found}"


def _rows(summary: Summarised) -> str:
    persons = summary.guarantee is not None and summary.guarantee.neighbours.endswith("-person")
    what = "person" if persons else "row"
    return f"a secret number of {what}s" if summary.n is None else _counted(summary.n, what)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# One row for each statistic: the analysis results data (ARD) that cards and gtsummary read.

_STATISTICS = {
    "n": "n", "N": "N", "p": "%", "mean": "Mean", "sd": "SD", "median": "Median", "p25": "Q1", "p75": "Q3",
    "conf.low": "CI Lower Bound", "conf.high": "CI Upper Bound", "N_miss": "N Missing",
    "smd": "Standardized Mean Difference", "smd.conf.low": "CI Lower Bound", "smd.conf.high": "CI Upper Bound",
}  # fmt: skip


def ard(summary: Summarised) -> list[dict[str, Any]]:
    """Groups first, then all of them; `context` is "continuous" or "categorical"."""
    found = []
    lines = summary.lines if summary.keys is None else [*summary.lines, *summary.overall]
    for line in lines:
        low, middle, high = line.quartiles or (None, None, None)
        stats: dict[str, Any] = {"N": line.n}
        if line.level is None:
            stats |= {"mean": line.mean, "sd": line.sd, "median": middle, "p25": low, "p75": high}
        else:
            stats |= {"n": line.count, "p": line.mean}
        stats |= {"conf.low": line.lower, "conf.high": line.upper, "N_miss": line.missing}
        found += _told(summary.by if line.group is not None else None, line, stats)
    if summary.compare == "smd" and summary.keys is not None:
        for line in summary.overall:
            between = standardised(_side_by_side(summary, line.column, line.level))
            if between is not None:
                stats = dict(zip(("smd", "smd.conf.low", "smd.conf.high"), between, strict=True))
                found += _told(summary.by, line, stats)
    return found


def _told(by: str | None, line: Line, stats: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "group1": by, "group1_level": line.group, "variable": line.column, "variable_level": line.level,
            "context": "continuous" if line.level is None else "categorical",
            "stat_name": name, "stat_label": _STATISTICS[name], "stat": value,
        }
        for name, value in stats.items() if value is not None
    ]  # fmt: skip
