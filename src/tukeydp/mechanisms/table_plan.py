"""One plan for a whole table under one epsilon: which steps it takes, and which share each of them has.

All of it from public numbers: columns, bounds, categories, keys, the number of records or the one declared. A step is
pure DP given what the steps before have released (docs/proofs/groups.md, section 11). A line that the budget does not
suffice for is left out by name, and said so beforehand (`TablePlan.left_out`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tukeydp.data.categories import Categories
from tukeydp.mechanisms.clipped_mean import MISSING, ClippedMean, clipped_plan, is_scale, strength
from tukeydp.mechanisms.found_bounds import windows
from tukeydp.mechanisms.table_spread import USUAL_WIDTH
from tukeydp.results.noise_quantiles import median_of_noise, mixed_quantile, quantile_of_noise
from tukeydp.trusted.account import PureDP, bounded_range, cost_of, in_steps
from tukeydp.trusted.parameters import IntArray
from tukeydp.trusted.ranks import number_of_levels
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import Weight

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
# What a reader of such a line tolerates: a mean off by so many standard deviations, a share by so much. Shares of
# epsilon are made so that both are off by as much of it.
MEAN_TOLERANCE, SHARE_TOLERANCE = 0.15, 0.035
# So many times as far off a line is rough: its 95 % interval is about a standard deviation, or 0.15, on either side.
_ROUGH = 1.5
# Ranges are looked for where means are then off by at most so many standard deviations: wide bounds do no harm there.
SEARCH_PAYS, _SEARCH_PAYS_UNBOUNDED = 0.1, 0.2
# Quarter octaves of the radius that records are shortened to, down from one that shortens none, and how steeply their
# weights rise, in octaves, up to the knee: where nothing is known of the columns' spreads.
RADII_BELOW, _KNEE, _STEEPEST = 25, 16, 8.0
# Where they are known: quarter octaves up from the usual radius, and how much a smaller one weighs for the noise that
# it saves. With weights an eighth as steep the tables of benchmarks/table1.py had 1.3 times the error; with radii down
# to half the usual one, intervals of real columns covered 85 times in 100.
SCALED_RADII, _LEAST_RADIUS, _STEEP, _STEEPEST_SCALED = 8, 0.88, 14.0, 40.0
# Means of records with weights have at most so many times the noise: the radius is that of weighted records.
MOST_LIGHTER = 2.0
# A look whose answer only makes the next one better takes a radius unseen.
UNSEEN_RADIUS = 1.2
# Between bounds that were found a column may lie anywhere and be narrow: a window of it is drawn, all columns at once.
# So many cells, widths in half octaves down from all of them, beginnings in a width; and the logarithm of what all
# windows weigh against those that fit a column.
CELLS, _WIDTHS, _BEGINNINGS, _LOG_FITTING = 2**10, 12, 5, 4.0
# A deviation whose noise is typically larger than itself is left out.
_SPREAD_TOLERANCE = 1.0
# Between bounds that were found columns' spreads are known better than between given ones: less noise by so much.
_FOUND_EASIER = 0.8
_FORECAST_LEVEL = 0.95
USUAL_OF_SCALES = 4.0  # standard deviations between the ends of an answer's scale
# By so much of themselves deviations are off where columns are no bells (benchmarks/table1.py).
_MISFIT = 0.12
# Missing values are counted where they stand out from the noise: two fifths of a column are to do so, for at most so
# much of epsilon; they are left out where not even so many do. Else a column that is mostly missing would have a mean.
_MISSING_TOLD, _MISSING_MOST, _MISSING_NEVER = 0.4, Fraction(1, 25), 0.6
NOTICED = 0.96  # of noise alone: it would be as many in one table of 25
# A quartile is right where its rank's distance from the ends outweighs all other points of a grid of a thousand.
GRID, _LOG_POINTS = 2**10, 8.0
# Share of a column's values that its window of magnitudes has to hold against all others.
_HELD = 0.45

STATISTICS = ("mean (SD)", "median [IQR]")
MISSING_N = "missing n"


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
    def lighter(self) -> float:
        """So many times as light as the heaviest records are: weights are taken to be 1 in the mean, or half of it."""
        return 1.0 if self.weight is None else max(2.0, self.weight)

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


class Look(NamedTuple):
    """A look before the sums, at all groups together.

    `kind`: "middle", sums between the bounds; "window", a window of each column; "centre", sums of records that are
    bounded in all columns at once; "sizes", of their distances from the centre. `reach` is for the radius; nothing
    where it is taken unseen, or not needed.
    """

    kind: str
    reach: Fraction
    epsilon: Fraction


@dataclass(frozen=True)
class NormPlan:
    """Means of records that are bounded in all columns at once, around a rough centre: few records, many columns."""

    epsilon: Fraction
    looks: tuple[Look, ...]
    radius: Fraction
    neighbours: str
    rows: float
    per_group: float
    mechanism: str = "norm"

    @property
    def parts(self) -> dict[str, PureDP]:
        found = {"sums": PureDP(self.sums, neighbours=self.neighbours)}
        found["radius"] = bounded_range(self.radius, self.neighbours)
        for i, look in enumerate(self.looks):
            price = bounded_range if look.kind == "window" else PureDP
            found[f"look {i}"] = price(look.epsilon, neighbours=self.neighbours)
            if look.reach:
                found[f"reach {i}"] = bounded_range(look.reach, self.neighbours)
        return found

    @property
    def sums(self) -> Fraction:
        return self.epsilon - self.radius - sum((look.reach + look.epsilon for look in self.looks), Fraction(0))

    @property
    def sizes(self) -> Fraction:
        """Of epsilon, for the last look at distances; 0 where standard deviations are public."""
        return next((look.epsilon for look in reversed(self.looks) if look.kind == "sizes"), Fraction(0))

    def reach_weights(self, reach: Fraction) -> tuple[int, ...]:
        return _radius_weights(float(reach), min(self.rows, _MANY))

    def radius_weights(self, d: int, lighter: float) -> tuple[int, ...]:
        """Of radii for d columns whose spreads are known, from the largest: noise in a group against records beyond.

        `lighter`: so many times as much noise have means of records with weights.
        """
        noise = lighter * _noise_of_mean(usual_radius(d), min(self.per_group, _MANY), strength(self.neighbours) / 2.0)
        steep = _STEEP * (noise / float(self.sums)) ** 1.25 * float(self.radius) * min(self.rows, _MANY)
        return tuple(round(1024 * math.exp(min(_STEEPEST_SCALED, steep * k / 4.0))) for k in range(SCALED_RADII))

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        found = {"epsilon_radius": self.radius + sum((look.reach for look in self.looks), Fraction(0))}
        for kind in dict.fromkeys(look.kind for look in self.looks):
            found[f"epsilon_{kind}"] = sum((look.epsilon for look in self.looks if look.kind == kind), Fraction(0))
        return {**found, "epsilon_mean": self.sums}


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
        return isinstance(self.means, ClippedMean) and not self.counts and not self.magnitudes

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
        return _with_spreads(TablePlan(means=searched, counts=Fraction(0), missing=Fraction(0), **shown), rows)
    missing = _for_missing(layout, searched is not None, rows, epsilon)
    if not missing and (layout.levels or layout.means):
        shown["left_out"] += (_missing_left_out(layout, searched is not None, rows, epsilon),)
    rest -= missing
    # Values of columns that lack many are counted too: room for one of them, at least.
    many = max(1, counted + (groups is not None or neighbours == "add-remove" or layout.weight is not None))
    if not layout.means:
        return TablePlan(means=None, counts=rest, missing=missing, **shown)
    need_of_means = _norm_error(len(layout.means), per_group, ease) / MEAN_TOLERANCE
    need_of_counts = ease * median_of_noise(max(1, many)) / per_group / SHARE_TOLERANCE
    share = need_of_counts / (need_of_means + need_of_counts) if per_group < math.inf else many / (many + 3.0)
    if searched is not None:
        counts = _rounded(share, rest / 2)
        own = _searched(layout, rest - counts, size, neighbours, groups, per_group)
        if own is not None:
            return _with_spreads(TablePlan(means=own, counts=counts, missing=missing, **shown), rows)
    looks, radius = _looks(layout, rows, ease, epsilon)
    before = radius + sum((look.reach + look.epsilon for look in looks), Fraction(0))
    counts = _rounded(share, rest - before)
    means = NormPlan(rest - counts, looks, radius, neighbours, rows, per_group)
    return _with_spreads(TablePlan(means=means, counts=counts, missing=missing, **shown), rows)


def _missing_places(layout: Layout, clipped: bool) -> int:
    """Columns whose missing values are counted together."""
    return len(layout.categories) + (0 if clipped else layout.columns.d)


def _missing_told(layout: Layout, clipped: bool, rows: float, epsilon: float) -> float:
    """The share of a column that stands out when it is missing."""
    places = _missing_places(layout, clipped)
    return quantile_of_noise(places, NOTICED) / epsilon / rows if places else 0.0


def _for_missing(layout: Layout, clipped: bool, rows: float, epsilon: Fraction) -> Fraction:
    most = _MISSING_MOST * epsilon
    told = _missing_told(layout, clipped, rows, float(most))
    if told > _MISSING_NEVER:
        return Fraction(0)
    return max(MISSING * epsilon, min(most, Fraction(math.ceil(1000 * told / _MISSING_TOLD), 1000) * most))


def _missing_left_out(layout: Layout, clipped: bool, rows: float, epsilon: Fraction) -> LeftOut:
    more = _missing_told(layout, clipped, rows, float(_MISSING_MOST * epsilon)) / _MISSING_NEVER
    said = f"about {math.ceil(rows * more / 10) * 10} records, or epsilon {_up(float(epsilon) * more)}"
    return LeftOut("all columns", MISSING_N, said)


def _with_spreads(plan: TablePlan, rows: float) -> TablePlan:
    """Standard deviations whose noise is larger than themselves are left out."""
    late = []
    for j in plan.layout.means:
        error = spread_error(plan, rows)
        if error is not None and error > _SPREAD_TOLERANCE:
            need = f"about {math.ceil(rows * error / 10) * 10} records, or epsilon {_up(float(plan.epsilon) * error)}"
            late.append(LeftOut(plan.layout.names[j], "SD", f"{need}, or sd= if it is public"))
    return replace(plan, left_out=(*plan.left_out, *late))


def spread_error(plan: TablePlan, rows: float) -> float | None:
    """Typical (median) relative error of a standard deviation by noise; None where none is released."""
    ease = strength(plan.neighbours) / 2.0
    if isinstance(plan.means, ClippedMean):
        squares = plan.means.shares.squares * plan.means.epsilon
        if not squares:
            return None
        window = 2.0 / (FOUND_WIDTH if plan.means.found else USUAL_WIDTH)
        return ease * median_of_noise(len(plan.means.squared)) / float(squares) / rows / window**2 / 2.0
    if plan.means is None or not plan.means.sizes:
        return None
    d = len(plan.layout.means)
    noise = _noise_of_mean(UNSEEN_RADIUS * usual_radius(d), rows, ease) / float(plan.means.sizes) / MEAN_SIZE
    return math.hypot(_MISFIT, noise)


def _rounded(share: float, of: Fraction) -> Fraction:
    """A share of it in thousandths."""
    return Fraction(round(1000 * share), 1000) * of


def _searched(
    layout: Layout, epsilon: Fraction, size: int | None, neighbours: str, groups: int | None, per_group: float
) -> ClippedMean | None:
    """Means clipped where the records are, if they are precise enough; None where the bounds themselves serve better.

    Also where no number of records is known, and where no column is measured.
    """
    if layout.weight is not None or layout.medians or (not layout.means and layout.categories):
        return None
    if 2 * len(layout.unbounded) > len(layout.means):  # between bounds that were found many may be narrow, far from 0
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
    if layout.unbounded:  # shortened records read deviations too low there
        return plan if own <= _SEARCH_PAYS_UNBOUNDED and plan.found else None
    norm = _norm_error(len(layout.means), per_group, ease) / float(epsilon) / 0.4
    return plan if own < norm or float(size) * float(epsilon) < _FEWEST else None


_MANY = 1e9  # records of which nobody knows how many
MEAN_SIZE = math.sqrt(2.0 / math.pi)  # of a standard Gaussian variable
FOUND_WIDTH = 14.0  # ranges that are found are about so many standard deviations wide
_FEWEST = 60.0  # records times epsilon: below, a rough centre is no better than the middle of the bounds


def usual_radius(d: int) -> float:
    """So many standard deviations that the sizes of d columns seldom add up to more."""
    return 0.8 * d + math.sqrt(d)


def scaled_radii(d: int) -> tuple[float, ...]:
    """Of d columns whose standard deviations are 1 or so, from the largest."""
    return tuple(_LEAST_RADIUS * usual_radius(d) * 2.0 ** (k / 4) for k in reversed(range(SCALED_RADII)))


def _noise_of_mean(radius: float, rows: float, ease: float) -> float:
    """Median error at epsilon 1, in the unit of the radius."""
    return 2.0 * ease * math.log(2.0) * radius / rows


def _norm_error(d: int, per_group: float, ease: float) -> float:
    """Median error of a mean in standard deviations, at epsilon 1: Laplace noise as wide as the radius.

    Columns' spreads are known roughly, the more so the more there are, and narrow ones are off by more of theirs.
    """
    return _noise_of_mean(min(1.8, 0.6 + 0.1 * d) * usual_radius(d), per_group, ease)


def _looks(layout: Layout, rows: float, ease: float, epsilon: Fraction) -> tuple[tuple[Look, ...], Fraction]:
    """What each look needs, and no more than a part of epsilon; and what is for the radius of the sums.

    Columns between bounds that were found may lie anywhere and be narrow: a window of each shows where, and how wide.
    """
    d, each = len(layout.means), rows * float(epsilon)

    def share(rows_needed: float, least: float, most: float) -> Fraction:
        return Fraction(math.ceil(1000 * min(most, max(least, rows_needed / each))), 1000) * epsilon

    radius = share(10.0, 0.005, 0.05)
    reach, sizes = share(16.0, 0.005, 0.03), share(12.0 * ease * usual_radius(d), 0.05, 0.13)
    if layout.unbounded:
        window = share(2.0 * ease * (_LOG_FITTING * d + 3.0) / _HELD, 0.02, 0.25)
        centre, sizes = share(10.0 * ease * d, 0.02, 0.08), share(12.0 * ease * usual_radius(d), 0.05, 0.13)
        unseen = Fraction(0) if layout.weight is None else reach
        looks = Look("window", Fraction(0), window), Look("centre", Fraction(0), centre), Look("sizes", unseen, sizes)
        return looks, radius
    middle = Look("middle", Fraction(0), share(8.3 * ease * (d + 3), 0.03, 0.12))
    return (middle,) if layout.known is not None else (middle, Look("sizes", reach, sizes)), radius


@cache
def table_windows() -> tuple[IntArray, IntArray, tuple[int, ...]]:
    """First cells of windows, the cells behind their last, and weights: narrow windows weigh more, as 1 over width."""
    listed = []
    for k in range(_WIDTHS):
        width = round(CELLS * 2.0 ** (-k / 2))
        begin = sorted({*range(0, CELLS - width + 1, max(1, width // _BEGINNINGS)), CELLS - width})
        listed += [(first, first + width, round(1024 * 2.0 ** (k / 2))) for first in begin]
    first, end, weights = zip(*listed, strict=True)
    return np.array(first), np.array(end), weights


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


def _for_magnitudes(layout: Layout, rows: float, ease: float, epsilon: Fraction) -> Fraction:
    if not layout.unbounded:
        return Fraction(0)
    needed = 2.0 * ease * (math.log(len(windows())) * len(layout.unbounded) + 3.0) / (_HELD * rows)
    return Fraction(math.ceil(1000 * max(needed, 0.02 * float(epsilon))), 1000)


def affords_magnitudes(layout: Layout, rows: float, neighbours: str, epsilon: Fraction) -> bool:
    return _for_magnitudes(layout, rows, strength(neighbours) / 2.0, epsilon) <= epsilon * Fraction(2, 5)


# What to expect, before anything is spent.


def two_digits(value: float) -> str:
    """
    >>> two_digits(1234.5), two_digits(0.01234)
    ('1200', '0.012')
    """
    return f"{float(f'{value:.2g}'):.0f}" if value >= 100.0 else f"{value:.2g}"


@dataclass(frozen=True)
class Forecast:
    """Of a line: by how much it is typically off. `error` is in standard deviations, or a share.

    `half` is half the width of a 95 % interval, for privacy and sampling together, in the same unit; `usual` is the
    standard deviation that is taken for granted, in the column's units: the public one, or a tenth of the bounds. `sd`
    is for standard deviations, as a share of themselves; None where they are not released, or public. For missing
    values `error` is the share of a column from which on they are counted.
    """

    column: str
    statistic: str
    error: float | None
    needs: str | None = None
    sd: float | None = None
    half: float | None = None
    usual: float | None = None

    @property
    def expected(self) -> str:
        """In words; nothing where nothing is known."""
        if self.error is None:
            return ""
        if self.statistic == MISSING_N:
            return f"where they are more than about {100 * self.error:.0f} % of a column"
        unit = " SD" if self.statistic == STATISTICS[0] else ""
        said = f"{self.error:.2g}{unit} off"
        if self.half is not None:
            told = [] if self.usual is None else [two_digits(self.half * self.usual), two_digits(self.usual)]
            units = f", or {told[0]} where the SD is {told[1]}" if told else ""
            said += f", 95 % interval \u00b1 {self.half:.2g}{unit}{units}"
        return said if self.sd is None else f"{said}; SD {100 * self.sd:.0f} % off"


def forecast(plan: TablePlan, size: int | None) -> list[Forecast]:
    """Median errors of every line in a group of equal size; what would do where an interval is as wide as two SDs."""
    layout = plan.layout
    per_group = math.inf if size is None else size / max(1, plan.groups or 1)
    found, rows = [], per_group * max(1, plan.groups or 1)
    for j in layout.means:
        usual = None if j in layout.unbounded else _usual(layout, j)
        error, half = _off_mean(plan, j, per_group)
        one = _told(Forecast(layout.names[j], STATISTICS[0], error, half=half, usual=usual), MEAN_TOLERANCE, size, plan)
        found.append(replace(one, sd=None if left_out(plan, j) else spread_error(plan, rows)))
    named = {layout.names[j]: 2 for j in layout.shares} | {one.title: len(one.names) for one in layout.categories}
    for name, levels in named.items():
        error, half = _off_share(plan, levels, per_group)
        found.append(_told(Forecast(name, "n (%)", error, half=half), SHARE_TOLERANCE, size, plan))
    for j in plan.medians:
        found.append(Forecast(layout.names[j], STATISTICS[1], None))
    if plan.missing:
        told = _missing_told(layout, isinstance(plan.means, ClippedMean), rows, float(plan.missing))
        found.append(Forecast("all columns", MISSING_N, told))
    return found + [Forecast(one.column, one.statistic, None, one.needs) for one in plan.left_out]


def _usual(layout: Layout, j: int) -> float:
    """The standard deviation that bounds let expect, or the public one: in the column's units."""
    wide = float(layout.columns.widths[j])
    if layout.known is not None:
        return layout.known[j] * wide / 2.0
    return wide / (USUAL_OF_SCALES if is_scale(layout.columns, j) else USUAL_WIDTH)


# Means of records that were made shorter are off by about so much besides, in standard deviations; and rough centres
# are off by so much, which counts with the noise of N. Categories beyond two correct each other. The likely upper end
# of a deviation, which intervals are made with, is so many times itself.
_SHORTER, _CENTRE, _TOGETHER, _UPPER = 0.012, 0.4, 0.8, 1.4


def _off_mean(plan: TablePlan, j: int, per_group: float) -> tuple[float, float]:
    """Median error and half of a 95 % interval, in standard deviations."""
    layout, ease = plan.layout, strength(plan.neighbours) / 2.0
    lighter, width = min(MOST_LIGHTER, layout.lighter), _counted(plan)
    if isinstance(plan.means, ClippedMean):
        wide = None if layout.known is None else 2.0 / layout.known[j]
        half_range = (USUAL_WIDTH if j in plan.means.found or wide is None else wide) / 2.0
        scale = 2.0 * ease / float(plan.means.for_sums) / per_group * half_range
        laplace, cube, width, upper = 0.0, scale, layout.columns.d + plan.means.secret, 1.0
        error = lighter * ease * (layout.columns.d + 2) / float(plan.means.for_sums) / per_group * half_range
    else:
        assert plan.means is not None
        found = _FOUND_EASIER if layout.unbounded else 1.0
        error = found * lighter * _norm_error(len(layout.means), per_group, ease) / float(plan.means.sums)
        laplace = error / math.log(2.0)
        cube = _CENTRE * 2.0 * ease / float(plan.counts) / per_group if plan.records else 0.0
        error = math.hypot(error, _SHORTER)
        upper = _UPPER if plan.means.sizes else 1.0
    return error, mixed_quantile(_FORECAST_LEVEL, laplace, cube, width, _sampling(plan, per_group, upper))


def _off_share(plan: TablePlan, levels: int, per_group: float) -> tuple[float, float]:
    """Median error and half of a 95 % interval of the share of a category that half of the records are in."""
    layout, ease = plan.layout, strength(plan.neighbours) / 2.0
    if plan.counts:
        width, scale = _counted(plan), ease / float(plan.counts) / per_group
        error = scale * median_of_noise(width)
    else:
        width, scale = layout.columns.d + 1, ease / float(plan.epsilon) / per_group
        error = scale * (layout.columns.d + 2)
    half = mixed_quantile(
        _FORECAST_LEVEL, 0.0, scale * layout.lighter, width, 0.5 * math.sqrt(layout.lighter / per_group)
    )
    return error * layout.lighter * (_TOGETHER if levels > 2 else 1.0), half


def _sampling(plan: TablePlan, per_group: float, upper: float) -> float:
    """As intervals take it, in standard deviations: of records with weights as if few were as heavy as any."""
    return upper * math.sqrt((1.0 if plan.layout.weight is None else 2.0 * plan.layout.lighter) / per_group)


def _counted(plan: TablePlan) -> int:
    """Numbers of a group that are counted with one noise."""
    return max(1, len(plan.layout.levels) + len(plan.shares) + plan.records)


def left_out(plan: TablePlan, j: int) -> bool:
    """Whether a column's standard deviation is."""
    return any((one.column, one.statistic) == (plan.layout.names[j], "SD") for one in plan.left_out)


def _told(line: Forecast, tolerance: float, size: int | None, plan: TablePlan) -> Forecast:
    if line.error is None or line.error <= _ROUGH * tolerance or size is None:
        return line
    more = line.error / tolerance
    rows = math.ceil(size * more / 10) * 10
    narrower = ", or narrower bounds" if line.statistic == STATISTICS[0] else ", or fewer columns and categories"
    return replace(line, needs=f"about {rows} records, or epsilon {_up(float(plan.epsilon) * more)}{narrower}")
