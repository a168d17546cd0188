"""One plan for a whole table under one epsilon: which steps it takes, and which share each of them has.

All of it from public numbers: columns, bounds, categories, keys, the number of records or the one declared. A step is
pure DP given what the steps before have released (docs/proofs/groups.md, section 11). A line that the budget does not
suffice for is left out by name, and said so beforehand (`TablePlan.left_out`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tukeydp.data.categories import Categories
from tukeydp.mechanisms.clipped_mean import MISSING, ClippedMean, clipped_plan, radius_weights, strength
from tukeydp.mechanisms.quantile_levels import number_of_levels
from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.trusted.account import PureDP, bounded_range, cost_of, in_steps
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import Weight

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
# What a reader of such a line tolerates: a mean off by so many standard deviations, a share by so much. Shares of
# epsilon are made so that both are off by as much of it.
MEAN_TOLERANCE, SHARE_TOLERANCE = 0.15, 0.04
# Bounds that people give without a look at the data are about so many standard deviations wide.
USUAL_WIDTH = 10.0
# Ranges are looked for where means are then off by at most so many standard deviations: wide bounds do no harm there.
SEARCH_PAYS = 0.1
# Quarter octaves of the radius that records are shortened to, down from one that shortens none, and how steeply their
# weights rise, in octaves, up to the knee.
RADII_BELOW, _KNEE, _STEEPEST = 25, 16, 8.0
# Records times epsilon for each column, from which on columns are scaled by what is found of their spread; with fewer
# the bounds alone do better, unless they too were found.
_SCALED = 150.0
# Of the radii of single columns: two times as much for each half octave down to 1/32 of the bounds.
SCALE_WEIGHTS = radius_weights(2.0, 0.0)
# A quartile is right where its rank's distance from the ends outweighs all other points of a grid of a thousand.
GRID, _LOG_POINTS = 2**10, 8.0
# Windows of magnitudes, in octaves: how many one spans, and from where to where they go.
OCTAVES, LOWEST, HIGHEST = 3, -20, 40
_HELD = 0.45  # share of a column's values that its window has to hold against all others

STATISTICS = ("mean (SD)", "median [IQR]")


@dataclass(frozen=True)
class Layout:
    """What the table has: all public. Cells are measured columns, then weights, then categories.

    Attributes
    ----------
    names, columns
        Of measured columns; without bounds they are those of magnitudes, found first.
    unbounded
        Measured columns whose bounds nobody knows.
    medians
        Measured columns that are shown by median and quartiles.
    known
        Public standard deviations relative to the bounds, whose width is 2; None without.
    """

    names: tuple[str, ...]
    columns: BoundedColumns
    categories: tuple[Categories, ...] = ()
    unbounded: tuple[int, ...] = ()
    medians: tuple[int, ...] = ()
    weight: float | None = None
    known: tuple[float, ...] | None = None

    @property
    def first_category(self) -> int:
        return self.columns.d + (self.weight is not None)

    @property
    def d(self) -> int:
        """Columns of cells."""
        return self.first_category + len(self.categories)

    @property
    def weighed(self) -> Weight | None:
        return None if self.weight is None else (self.columns.d, self.weight)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of each place the number of its categories, 0 for what is measured."""
        return (0,) * self.first_category + tuple(len(one.names) for one in self.categories)

    @property
    def shares(self) -> tuple[int, ...]:
        """Measured columns between 0 and 1."""
        return tuple(j for j in range(self.columns.d) if self.columns.between_0_and_1(j) and j not in self.medians)

    @property
    def means(self) -> tuple[int, ...]:
        """Measured columns that are shown by mean and standard deviation."""
        return tuple(j for j in range(self.columns.d) if j not in (*self.shares, *self.medians))

    @property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """Places and categories that are counted: of two the first, from which the other follows."""
        return tuple(
            (self.first_category + i, level)
            for i, one in enumerate(self.categories)
            for level in range(len(one.names) if len(one.names) != 2 else 1)
        )


@dataclass(frozen=True)
class NormPlan:
    """Means of records that are bounded in all columns at once, around a rough centre: few records, many columns."""

    epsilon: Fraction
    centre: Fraction
    scales: Fraction
    radius: Fraction
    sizes: Fraction
    neighbours: str
    weights: tuple[int, ...]
    mechanism: str = "norm"

    @property
    def parts(self) -> dict[str, PureDP]:
        pure = {"centre": self.centre, "sizes": self.sizes, "sums": self.sums}
        found = {name: PureDP(one, neighbours=self.neighbours) for name, one in pure.items() if one}
        drawn = {"scales": self.scales, "radius": self.radius}
        return found | {name: bounded_range(one, self.neighbours) for name, one in drawn.items() if one}

    @property
    def sums(self) -> Fraction:
        return self.epsilon - self.centre - self.scales - self.radius - self.sizes

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        named = {"centre": self.centre, "scales": self.scales, "radius": self.radius, "sizes": self.sizes}
        return {**{f"epsilon_{name}": one for name, one in named.items() if one}, "epsilon_mean": self.sums}


@dataclass(frozen=True)
class LeftOut:
    """A line that is not released, and what would do."""

    column: str
    statistic: str
    needs: str


@dataclass(frozen=True)
class TablePlan:
    """Attributes
    ----------
    means
        The steps for means and standard deviations; None where no column has them.
    counts
        Of epsilon, for sizes of groups, categories, shares and missing values. With `means` that count by themselves,
        and nothing else to count, it is 0.
    magnitudes
        Of epsilon, for the bounds of columns where none are known.
    medians
        Of epsilon, for each column that is shown by quartiles.
    """

    epsilon: Fraction
    layout: Layout
    neighbours: str
    groups: int | None
    means: ClippedMean | NormPlan | None
    counts: Fraction
    missing: Fraction
    magnitudes: Fraction
    medians: Mapping[int, Fraction]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def parts(self) -> dict[str, PureDP]:
        if self.alone:
            assert self.means is not None
            return {"summary": self.means.guarantee}
        pure = {"counts": self.counts, "missing": self.missing}
        found = {name: PureDP(one, neighbours=self.neighbours) for name, one in pure.items() if one}
        if self.magnitudes:
            found["magnitudes"] = bounded_range(self.magnitudes, self.neighbours)
        if self.means is not None:
            found["means"] = self.means.guarantee
        levels = number_of_levels(len(QUARTILES))
        quartiles = {j: in_steps((one / levels,) * levels, self.neighbours) for j, one in self.medians.items()}
        return found | {f"median {j}": one for j, one in quartiles.items()}

    @property
    def alone(self) -> bool:
        """Whether the steps of means are all there is: they count records and missing values themselves."""
        return isinstance(self.means, ClippedMean) and not self.counts

    @property
    def records(self) -> bool:
        """Whether sizes are among what is counted; else they are public, or come with the means."""
        secret = self.groups is not None or self.neighbours == "add-remove" or self.layout.weight is not None
        return secret and not isinstance(self.means, ClippedMean)

    @property
    def shares(self) -> tuple[int, ...]:
        """Columns between 0 and 1 that are summed with the counts, and not with the means."""
        return () if isinstance(self.means, ClippedMean) else self.layout.shares

    @property
    def mechanism(self) -> str:
        return "counts" if self.means is None else self.means.mechanism

    @property
    def settings(self) -> dict[str, Any]:
        """What a release tells of the steps."""
        named = {"magnitudes": self.magnitudes, "counts": self.counts}
        found: dict[str, Any] = {f"epsilon_{name}": one for name, one in named.items() if one}
        if self.missing:
            categories = "_categories" if isinstance(self.means, ClippedMean) else ""
            found[f"epsilon_missing{categories}"] = self.missing
        found |= {f"epsilon_median_{self.layout.names[j]}": one for j, one in self.medians.items()}
        return found | dict({} if self.means is None else self.means.settings)


def table_plan(layout: Layout, epsilon: Fraction, size: int | None, neighbours: str, groups: int | None) -> TablePlan:
    """The steps for so many records; None if nobody knows how many."""
    rows = math.inf if size is None else float(size)
    per_group = rows / max(1, groups or 1)
    ease = strength(neighbours) / 2.0  # half the noise where a record comes or goes
    left_out: list[LeftOut] = []
    magnitudes = _for_magnitudes(layout, rows, ease, epsilon)
    medians, late = _for_medians(layout, per_group, ease, epsilon - magnitudes)
    left_out += late
    rest = epsilon - magnitudes - sum(medians.values(), Fraction(0))
    shown: dict[str, Any] = {"epsilon": epsilon, "layout": layout, "neighbours": neighbours, "groups": groups}
    shown |= {"magnitudes": magnitudes, "medians": medians, "left_out": tuple(left_out)}
    counted = len(layout.levels) + len(layout.shares)
    searched = _searched(layout, rest, size, neighbours, groups, per_group)
    if searched is not None and not layout.levels:
        return TablePlan(means=searched, counts=Fraction(0), missing=Fraction(0), **shown)
    missing = MISSING * epsilon
    rest -= missing
    # Values of columns that lack many are counted too: room for one of them, at least.
    many = max(1, counted + (groups is not None or neighbours == "add-remove" or layout.weight is not None))
    if not layout.means:
        return TablePlan(means=None, counts=rest, missing=missing, **shown)
    need_of_means = _norm_error(len(layout.means), per_group, ease) / MEAN_TOLERANCE
    need_of_counts = ease * median_of_noise(max(1, many)) / per_group / SHARE_TOLERANCE
    share = need_of_counts / (need_of_means + need_of_counts) if per_group < math.inf else many / (many + 3.0)
    first = _first_steps(layout, rows, ease, epsilon)
    if searched is not None:
        counts = _rounded(share, rest / 2)
        own = _searched(layout, rest - counts, size, neighbours, groups, per_group)
        if own is not None:
            return TablePlan(means=own, counts=counts, missing=missing, **shown)
    counts = _rounded(share, rest - sum(first))
    weights = _radius_weights(float(first[2]), min(rows, 1e9))
    means = NormPlan(rest - counts, first[0], first[1], first[2], first[3], neighbours, weights)
    return TablePlan(means=means, counts=counts, missing=missing, **shown)


def _rounded(share: float, of: Fraction) -> Fraction:
    """A share of it in thousandths."""
    return Fraction(round(1000 * share), 1000) * of


def _searched(
    layout: Layout, epsilon: Fraction, size: int | None, neighbours: str, groups: int | None, per_group: float
) -> ClippedMean | None:
    """Means clipped where the records are, if they are precise enough; None where the bounds themselves serve better.

    Also where no number of records is known, and where no column is measured.
    """
    if layout.weight is not None or layout.medians or layout.unbounded or (not layout.means and layout.categories):
        return None
    widths = None if layout.known is None else [2.0 / one for one in layout.known]
    options: dict[str, Any] = {"neighbours": neighbours, "groups": groups, "widths": widths}
    plan = clipped_plan(size, layout.columns, epsilon, interval=True, spread=True, **options)
    if size is None or not layout.means:
        return plan
    ease, d = strength(neighbours) / 2.0, layout.columns.d
    noise = ease * (d + 2) / float(plan.for_sums) / per_group
    searching = max([1.0, *(w for j, w in enumerate(widths or ()) if j in layout.means)]) > 0 and bool(plan.found)
    wide = USUAL_WIDTH / 2 if widths is None else max(widths[j] for j in layout.means) / 2
    own = noise * (USUAL_WIDTH / 2 if searching else wide)
    if own <= SEARCH_PAYS:
        return plan
    norm = _norm_error(len(layout.means), per_group, ease) / float(epsilon) / 0.4
    return plan if own < norm or float(size) * float(epsilon) < _FEWEST else None


_FEWEST = 60.0  # records times epsilon: below, a rough centre is no better than the middle of the bounds


def usual_radius(d: int) -> float:
    """So many standard deviations that the sizes of d columns seldom add up to more."""
    return 0.8 * d + math.sqrt(d)


def _norm_error(d: int, per_group: float, ease: float) -> float:
    """Median error of a mean in standard deviations, at epsilon 1: Laplace noise as wide as the radius.

    Columns' spreads differ, and those that have less than the others are off by more of it.
    """
    return 1.2 * 2.0 * ease * math.log(2.0) * usual_radius(d) / per_group


def _first_steps(layout: Layout, rows: float, ease: float, epsilon: Fraction) -> tuple[Fraction, ...]:
    """For centre, scales, radius and sizes: what each needs, and no more than a part of epsilon."""
    d, each = len(layout.means), float(epsilon)
    wanted = (
        (ease * (d + 3) / (0.12 * rows), 0.03, 0.12),
        (ease * 12.0 * (d + 3) / rows, 0.03, 0.15),
        (25.0 / rows, 0.01, 0.05),
        (1.4 * ease * usual_radius(d) / (0.8 * 0.17 * rows), 0.05, 0.12),
    )
    found = [
        Fraction(math.ceil(1000 * min(most, max(least, one / each))), 1000) * epsilon for one, least, most in wanted
    ]
    if layout.known is not None:
        found[3] = Fraction(0)
    if layout.known is not None or (not layout.unbounded and rows * each < _SCALED * d):
        found[1] = Fraction(0)
    return tuple(found)


def _radius_weights(radius: float, rows: float) -> tuple[int, ...]:
    """Small radii weigh more, as noise is as wide as they are; the steeper the more records are held against them.

    Below a sixteenth of the widest they hardly do: the smallest, which leaves all records out, must not win.
    """
    steep = min(_STEEPEST, radius * rows / 3.0)
    octaves = [steep * min(k, _KNEE) / 4 + steep / 4 * max(0, k - _KNEE) / 4 for k in range(RADII_BELOW)]
    return tuple(round(1024 * 2.0**one) for one in octaves)


def _for_medians(
    layout: Layout, per_group: float, ease: float, epsilon: Fraction
) -> tuple[dict[int, Fraction], list[LeftOut]]:
    """What three quartiles need in every group: a rank weighs a quarter of it, the nearest end is a quarter away."""
    needed = 16.0 * _LOG_POINTS * ease / per_group
    only = not layout.means and not layout.shares and not layout.categories
    room = float(epsilon) * (0.9 if only else 0.35)
    found, left_out = dict[int, Fraction](), list[LeftOut]()
    many = len(layout.medians)
    for j in layout.medians:
        if needed * (len(found) + 1) <= room:
            found[j] = Fraction(math.ceil(1000 * min(room / many, max(2 * needed, room / 10))), 1000)
            continue
        rows = math.ceil(per_group * needed * many / room / 10.0) * 10
        said = f"{rows} records in each group, epsilon {_up(float(epsilon) * needed * many / room)}, or its mean"
        left_out.append(LeftOut(layout.names[j], STATISTICS[1], said))
    if only and found:
        each = epsilon * Fraction(19, 20) / len(found)
        found = dict.fromkeys(found, each)
    return found, left_out


def _up(value: float) -> str:
    return f"{math.ceil(10 * value) / 10:g}"


def windows() -> tuple[tuple[float, float, bool], ...]:
    """Of magnitudes: sizes from one power of two to another, of positive values, or of both signs."""
    ends = range(LOWEST, HIGHEST + 1)
    return tuple((2.0 ** (k - OCTAVES), 2.0**k, sign) for k in ends for sign in (True, False))


def window_weights() -> tuple[int, ...]:
    """Positive values rather than both signs, and small magnitudes a little rather than large, where both hold them."""
    return tuple(4 if sign else 1 for _, _, sign in windows())


def _for_magnitudes(layout: Layout, rows: float, ease: float, epsilon: Fraction) -> Fraction:
    if not layout.unbounded:
        return Fraction(0)
    needed = 2.0 * ease * (math.log(len(windows())) * len(layout.unbounded) + 3.0) / (_HELD * rows)
    return Fraction(math.ceil(1000 * max(needed, 0.02 * float(epsilon))), 1000)


def affords_magnitudes(layout: Layout, rows: float, neighbours: str, epsilon: Fraction) -> bool:
    return _for_magnitudes(layout, rows, strength(neighbours) / 2.0, epsilon) <= epsilon * Fraction(2, 5)


# What to expect, before anything is spent.


@dataclass(frozen=True)
class Forecast:
    """Of a line: by how much it is typically off. `error` is in standard deviations, or a share."""

    column: str
    statistic: str
    error: float | None
    needs: str | None = None


def forecast(plan: TablePlan, size: int | None) -> list[Forecast]:
    """Median errors of every line in a group of equal size; what would do where that is more than readers tolerate."""
    layout, ease = plan.layout, strength(plan.neighbours) / 2.0
    per_group = math.inf if size is None else size / max(1, plan.groups or 1)
    found = []
    widths = None if layout.known is None else [2.0 / one for one in layout.known]
    for j in layout.means:
        if isinstance(plan.means, ClippedMean):
            found_range = USUAL_WIDTH if j in plan.means.found or widths is None else widths[j]
            error = ease * (layout.columns.d + 2) / float(plan.means.for_sums) / per_group * found_range / 2
        else:
            assert plan.means is not None
            error = _norm_error(len(layout.means), per_group, ease) / float(plan.means.sums)
        found.append(_told(layout.names[j], STATISTICS[0], error, MEAN_TOLERANCE, size, plan))
    counted = len(layout.levels) + len(layout.shares) + plan.records
    if plan.counts:
        error = ease * median_of_noise(max(1, counted)) / float(plan.counts) / per_group
    else:
        error = ease * (layout.columns.d + 2) / float(plan.epsilon) / per_group
    for name in [*(layout.names[j] for j in layout.shares), *(one.title for one in layout.categories)]:
        found.append(_told(name, "n (%)", error, SHARE_TOLERANCE, size, plan))
    for j in plan.medians:
        found.append(Forecast(layout.names[j], STATISTICS[1], None))
    return found + [Forecast(one.column, one.statistic, None, one.needs) for one in plan.left_out]


def _told(name: str, statistic: str, error: float, tolerance: float, size: int | None, plan: TablePlan) -> Forecast:
    if error <= 3 * tolerance or size is None:
        return Forecast(name, statistic, error)
    more = error / (2 * tolerance)
    rows = math.ceil(size * more / 10) * 10
    narrower = ", or narrower bounds" if statistic == STATISTICS[0] else ", or fewer columns and categories"
    needs = f"about {rows} records, or epsilon {_up(float(plan.epsilon) * more)}{narrower}"
    return Forecast(name, statistic, error, needs)
