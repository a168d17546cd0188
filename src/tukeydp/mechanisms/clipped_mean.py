"""Means clipped where the records are: one plan for tables, groups, secret sizes and lazy frames.

Each step is pure DP given what the steps before have released, so their epsilons add up (docs/proofs/mean.md, 6):

1. centre: a cell of each column near its median, all columns at once;
2. radii: how far from there each column is clipped, from the numbers of records beyond; where standard deviations are
   public, a window of some of them for each column is drawn in the place of both;
3. missing: in which columns so many cells are missing that the values must be counted;
4. squares: of what is left between the ends, for standard deviations and intervals, of all groups together;
5. sums of every group between the ends, with the number of its records where that is secret.

Where the records are too few for the first two steps, columns are clipped at their bounds. What the steps have released
is kept (`Transcript`): means, standard deviations and intervals are made of it alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tukeydp.data.records import Records
from tukeydp.results.noise_quantiles import quantile_of_noise
from tukeydp.trusted.account import PureDP, bounded_range, cost_of
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import BoundedColumns
from tukeydp.trusted.steps import (
    BeyondCounts,
    CellCounts,
    Window,
    WindowSums,
    deepest_cells,
    joint_rungs,
    noised_counts,
    noised_sums,
    rung,
)
from tukeydp.trusted.sums import in_pieces

# Cells of a column that its centre is looked for in: fine enough for bounds a hundred standard deviations wide, few
# enough for a few hundred records.
CELLS = 2**10
# Radii in half widths of the bounds, in half octaves down to 1/256: with smaller ones several columns at once are
# clipped to nothing.
RADII = tuple(2.0 ** (1 - k / 2) for k in range(17))
_KNEE = 10  # the place in RADII, 1/32 of the width, from which on smaller ones gain less weight
# With an interval columns are clipped so much farther out than the radius that was drawn: beyond it lie a few records,
# which are not to be lost. A mean alone has more from less noise.
MARGIN = 1.5
# Cells that windows are made of: fine enough for bounds a thousand standard deviations wide.
FINE = 2**12
# Standard deviations in a window, by records times epsilon for each column: they are known within a factor of two, and
# what a window cuts off counts more where there is less noise.
_WINDOWS = ((3000.0, 16.0), (500.0, 12.0), (0.0, 8.0))
# Where windows begin, in windows. A sixth on either side is not counted, but for the bounds' own ends: a column whose
# values end there is not cut.
_STEPS_OF_WINDOW, _MARGINS = 4, 6
# Records beyond a window of bell-shaped columns are few: it has to outweigh all other choices by this part of them.
_HELD, _AHEAD = 0.6, 4.0
_LEAST_FOR_WINDOWS, _MOST_FOR_WINDOWS, _HOPELESS = 0.1, 0.5, 0.85
# Where standard deviations were found and are not known, never less than what is needed over this: with two thirds of
# it windows of thirty exponential columns were lost.
_SHORT = 1.3
# Missing cells stand out where noise alone would be as many in one table of fifty.
_NOTICED = 0.96
MISSING = Fraction(1, 50)  # share of epsilon that tells them
# Up to so many columns the radius of each is drawn by itself where one record is replaced: nested counts of one column
# then weigh twice as much. From there on one draw for all columns reaches farther, and always where a record comes or
# goes, which moves both alike.
_FEW_COLUMNS = 4


class Shares(NamedTuple):
    """Of epsilon, for the steps before the sums; what they leave is for the sums."""

    centre: Fraction
    radii: Fraction
    missing: Fraction
    squares: Fraction


@dataclass(frozen=True)
class ClippedMean:
    """What is fixed beforehand.

    Attributes
    ----------
    found
        Columns whose range is looked for; the others are clipped at their bounds.
    squared
        Columns whose squares are summed.
    weights
        Of the radii, before the data are looked at.
    groups
        None without groups; else how many keys there are.
    windows
        How many of `FINE` cells a window spans, for each column whose range is looked for; empty where centres and
        radii are drawn.
    """

    epsilon: Fraction
    shares: Shares
    found: tuple[int, ...]
    squared: tuple[int, ...]
    weights: tuple[int, ...]
    margin: float = 1.0
    neighbours: str = "swap"
    groups: int | None = None
    windows: tuple[int, ...] = ()

    @property
    def mechanism(self) -> str:
        return "two-step" if self.found else "cube"

    @property
    def for_sums(self) -> Fraction:
        return self.epsilon * (1 - sum(self.shares))

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs."""
        pure = {name: PureDP(share * self.epsilon, neighbours=self.neighbours) for name, share in self._noised if share}
        return self._drawn | pure | {"sums": PureDP(self.for_sums, neighbours=self.neighbours)}

    @property
    def _noised(self) -> tuple[tuple[str, Fraction], ...]:
        return ("missing", self.shares.missing), ("squares", self.shares.squares)

    @property
    def _drawn(self) -> dict[str, PureDP]:
        if not self.found:
            return {}
        if self.windows:
            return {"windows": bounded_range(self.shares.centre * self.epsilon, self.neighbours)}
        radii, each = self.shares.radii * self.epsilon, self.radii_alone
        names = [f"radius {j}" for j in self.found] if each else ["radii"]
        return {"centre": bounded_range(self.shares.centre * self.epsilon, self.neighbours)} | {
            name: bounded_range(radii / len(names), self.neighbours) for name in names
        }

    @property
    def radii_alone(self) -> bool:
        return len(self.found) <= (_FEW_COLUMNS if self.neighbours == "swap" else 1)

    @property
    def guarantee(self) -> PureDP:
        return cost_of(self.parts)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What a release tells of the steps."""
        first = "windows" if self.windows else "centre"
        named = zip((first, "radii", "missing", "squares"), self.shares, strict=True)
        spent = {f"epsilon_{name}": share * self.epsilon for name, share in named if share}
        return {**spent, "epsilon_mean": self.for_sums}

    @property
    def secret(self) -> bool:
        """Whether it is secret how many records a group has: of one table, only with neighbours="add-remove"."""
        return self.groups is not None or self.neighbours == "add-remove"

    def noise_sd(self, n: int, widths: FloatArray) -> None:
        """Not public: the noise is as wide as the range that was found."""
        return None

    def draw(self, relative: FloatArray, public_key: bytes, charge: Charge) -> list[Fraction]:
        """The means of a table of relative values without groups: for forecasts."""
        d = relative.shape[1]
        unit = BoundedColumns((Fraction(-1),) * d, (Fraction(1),) * d)
        return self.run(lambda *kernels: in_pieces(relative, *kernels), unit, len(relative), charge).means()[0]

    def of_groups(self, relative: FloatArray, groups: Any, count: int, charge: Charge) -> list[list[Any]]:
        """The means of groups, -1 for none: for forecasts. None where the number of values cannot be told from none."""
        d = relative.shape[1]
        unit = BoundedColumns((Fraction(-1),) * d, (Fraction(1),) * d)
        cells = np.column_stack([relative, np.where(groups < 0, np.nan, groups)])
        plan = replace(self, groups=count)
        found = plan.run(lambda *kernels: in_pieces(cells, *kernels), unit, len(relative), charge)
        return [[v if found.told(g, j) else None for j, v in enumerate(row)] for g, row in enumerate(found.means())]

    def released(self, records: Records, columns: BoundedColumns, charge: Charge) -> Transcript:
        n = None if records.relation.secret else records.table.n
        return self.run(records.total, columns, n, charge)

    def run(self, total: Any, columns: BoundedColumns, n: int | None, charge: Charge) -> Transcript:
        """All steps, each a reading of the records; n is None where it is secret."""
        run = charge.split(self.parts)
        d = columns.d
        low, high, fill = [-1.0] * d, [1.0] * d, [0.0] * d
        missing = [0] * d
        if self.windows:
            ends, (missing,) = self._windowed(columns, total, run), total(BeyondCounts(columns, (), (), ()))
            for j, (first, end) in zip(self.found, ends, strict=True):
                low[j], high[j] = 2.0 * first / FINE - 1.0, 2.0 * end / FINE - 1.0
                fill[j] = (low[j] + high[j]) / 2.0
        elif self.found:
            cells = CellCounts(columns, self.found, CELLS)
            (counted,) = total(cells)
            places = deepest_cells(cells.most_beyond(counted), run.charge("centre", "step", "centre"))
            centre = tuple((2.0 * place + 1.0) / CELLS - 1.0 for place in places)
            beyond = BeyondCounts(columns, self.found, centre, RADII)
            (counted,) = total(beyond)
            counts, missing = beyond.counts(counted)
            for j, c, radius in zip(self.found, centre, self._radii(counts, run), strict=True):
                low[j], high[j], fill[j] = max(-1.0, c - self.margin * radius), min(1.0, c + self.margin * radius), c
        else:
            beyond = BeyondCounts(columns, (), (), ())
            (missing,) = total(beyond)
        many = self._stand_out(missing, run)
        fill = [math.nan if j in many else v for j, v in enumerate(fill)]
        window = Window(tuple(low), tuple(high), tuple(fill))
        sums = WindowSums(columns, window, self.groups or 1, records=self.secret, counted=many)
        kernels = [sums]
        if self.squared:
            kernels.append(WindowSums(columns, window, 1, squared=self.squared))
        found = total(*kernels)
        squares: tuple[Fraction, ...] = ()
        if self.squared:
            squares = tuple(noised_sums(kernels[1], found[1], run.charge("squares", "step", "squares"))[0])
        noised = noised_sums(sums, found[0], run.charge("sums", "step", "sums"))
        return Transcript(self, n, window, many, tuple(map(tuple, noised)), squares)

    def _windowed(self, columns: BoundedColumns, total: Any, run: Any) -> list[tuple[int, int]]:
        """The cells that each column is clipped to: a window that holds most of its values well inside."""
        cells = CellCounts(columns, self.found, FINE)
        (counted,) = total(cells)
        listed = [windows_of(width) for width in self.windows]
        inner = [inside(first, end) for first, end in listed]
        places = deepest_cells(cells.outside(counted, inner), run.charge("windows", "step", "windows"))
        return [(int(first[place]), int(end[place])) for (first, end), place in zip(listed, places, strict=True)]

    def _radii(self, counts: Sequence[Any], run: Any) -> list[float]:
        if not self.radii_alone:
            return [RADII[i] for i in joint_rungs(counts, self.weights, run.charge("radii", "step", "radii"))]
        charges = (run.charge(f"radius {j}", "step", "radius", j) for j in self.found)
        return [RADII[rung(c, self.weights, charge)] for c, charge in zip(counts, charges, strict=True)]

    def _stand_out(self, missing: list[int], run: Any) -> tuple[int, ...]:
        """The columns in which more cells are missing than noise alone might be."""
        noised = noised_counts(missing, run.charge("missing", "step", "missing"))
        usual = quantile_of_noise(len(missing), _NOTICED) / float(self.shares.missing * self.epsilon)
        return tuple(j for j, count in enumerate(noised) if count > usual)


@dataclass(frozen=True)
class Transcript:
    """What the steps of a clipped mean have released, in relative values; means are made of it, and nothing else.

    Attributes
    ----------
    n
        Records; None where that is secret.
    window
        Where columns were clipped.
    counted
        Columns whose values were counted, since many are missing.
    sums
        For each group its columns' sums, in half widths of the window from its middle; then the number of records
        where it is secret, and the numbers of values of the columns that were counted. With noise.
    squares
        Of 2 v^2 - 1, v from -1 to 1 in the window, for the plan's squared columns, all groups together. With noise.
    """

    plan: ClippedMean
    n: int | None
    window: Window
    counted: tuple[int, ...]
    sums: tuple[tuple[Fraction, ...], ...]
    squares: tuple[Fraction, ...]

    @property
    def d(self) -> int:
        return len(self.window.low)

    @property
    def coordinates(self) -> int:
        """Numbers of each group that share one noise."""
        return len(self.sums[0])

    def size(self, g: int) -> Fraction:
        """Records of a group, as released; at least one."""
        if not self.plan.secret:
            assert self.n is not None
            return Fraction(self.n)
        return max(Fraction(1), self.sums[g][self.d])

    def values(self, g: int, j: int) -> Fraction:
        """Values of a column in a group, as released; at least one, and no more than there are records."""
        if j not in self.counted:
            return self.size(g)
        number = self.numbers(g, j)
        return max(Fraction(1), number if self.plan.secret else min(number, self.size(g)))

    def middle(self, j: int) -> tuple[Fraction, Fraction]:
        """Middle and half width of a column's window."""
        low, high = Fraction(self.window.low[j]), Fraction(self.window.high[j])
        return (low + high) / 2, (high - low) / 2

    @cached_property
    def in_floats(self) -> tuple[FloatArray, FloatArray]:
        """Numbers of values, and means from -1 to 1 in the window, of each group and column."""
        places = [[(g, j) for j in range(self.d)] for g in range(len(self.sums))]
        numbers = np.array([[float(self.values(*place)) for place in row] for row in places])
        return numbers, np.array([[float(self.inside(*place)) for place in row] for row in places])

    def means(self) -> list[list[Fraction]]:
        """Of each group and column, from -1 to 1."""
        return [[self._mean(g, j) for j in range(self.d)] for g in range(len(self.sums))]

    def inside(self, g: int, j: int) -> Fraction:
        """The mean of a column in a group, from -1 to 1 in its window."""
        return max(Fraction(-1), min(self.sums[g][j] / self.values(g, j), Fraction(1)))

    def _mean(self, g: int, j: int) -> Fraction:
        middle, half = self.middle(j)
        return middle + half * self.inside(g, j)

    def told(self, g: int, j: int) -> bool:
        """Whether the number of values can be told from none, but for a chance of one in a hundred."""
        if not self.plan.secret and j not in self.counted:
            return True
        return float(self.numbers(g, j)) > self._least

    @cached_property
    def _least(self) -> float:
        return noise_scale(self) * quantile_of_noise(self.coordinates, 2 * _TOLD - 1)

    def numbers(self, g: int, j: int) -> Fraction:
        """The noised number of values of a column in a group, or of the group's records."""
        return self.sums[g][self.d + (self.plan.secret + self.counted.index(j) if j in self.counted else 0)]


_TOLD = 0.99


def noise_scale(found: Transcript) -> float:
    """Of the cube noise in sums, a value at the window's end being 1."""
    return strength(found.plan.neighbours) / float(found.plan.for_sums)


def strength(neighbours: str) -> float:
    """By how many contributions one record moves a sum: two where it is replaced."""
    return 1.0 if neighbours == "add-remove" else 2.0


# Which shares, from public numbers: rows times epsilon for each column decide.


class _Row(NamedTuple):
    """From so many rows times epsilon for each column on: shares for radii and squares, and how steeply weights of
    radii rise above and below the knee. Small shares for radii, or steep weights, lose far groups of values: at 1000
    rows and 1/4 in place of 7/20 codes such as 99 in 3 % of the rows are covered 87 times in 100, not 95."""

    least: float
    radii: Fraction
    squares: Fraction
    above: float
    below: float


_BY_ROWS = (
    _Row(3000.0, Fraction(1, 4), Fraction(1, 10), 2.0, 1.0),
    _Row(900.0, Fraction(7, 20), Fraction(2, 25), 2.0, 1.0),
    _Row(200.0, Fraction(21, 50), Fraction(1, 20), 1.5, 0.5),
    _Row(0.0, Fraction(7, 20), Fraction(1, 20), 1.5, 0.0),
)
_RADII_ALONE = Fraction(3, 20)  # of a mean without an interval


def clipped_plan(
    size: int | None,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    neighbours: str = "swap",
    groups: int | None = None,
    widths: Sequence[float] | None = None,
    interval: bool = False,
    spread: bool = False,
    bounds_only: bool = False,
) -> ClippedMean:
    """The steps for so many records, None if nobody knows.

    `widths` are those of the bounds in public standard deviations: then none is found, and ranges of narrow bounds are
    not looked for. `interval`: an interval is made of them; `spread`: the standard deviations themselves are to be
    shown. Columns between 0 and 1 are clipped there, and what their spread may be follows from their mean.
    """
    measured = tuple(j for j in range(columns.d) if not columns.between_0_and_1(j))
    rows = math.inf if size is None else size * float(epsilon) * 2.0 / strength(neighbours)
    squared = measured if interval and widths is None else ()
    wide = tuple(j for j in measured if not bounds_only and _worth_looking(columns, j, widths))
    found = wide if wide and _centre_share(rows, len(wide)) <= _MOST_FOR_CENTRE else ()
    each = rows / max(1, len(wide))
    shares, steep = _shares(rows, each, len(found), interval)
    squares = max(shares.squares, _SHOWN if spread else Fraction(0)) if squared else Fraction(0)
    margin = MARGIN if interval else 1.0
    weights = radius_weights(*steep)
    return ClippedMean(epsilon, shares._replace(squares=squares), found, squared, weights, margin, neighbours, groups)


def windows_of(width: int) -> tuple[IntArray, IntArray]:
    """First cells of all windows of so many cells, and the cells behind their last."""
    first = np.arange(0, FINE - width + 1, max(1, width // _STEPS_OF_WINDOW))
    first = np.unique(np.append(first, FINE - width))
    return first, first + width


def inside(first: IntArray, end: IntArray) -> IntArray:
    """First cells and those behind the last of what counts as well inside windows: nothing is beyond the bounds."""
    cut = (end - first) // _MARGINS
    return np.array([np.where(first == 0, 0, first + cut), np.where(end == FINE, FINE, end - cut)])


def windowed_plan(
    size: int,
    columns: BoundedColumns,
    epsilon: Fraction,
    widths: Sequence[float],
    *,
    neighbours: str = "swap",
    known: bool = True,
) -> ClippedMean | None:
    """A mean clipped to windows of public standard deviations; None if the records are too few to find them.

    `widths` are those of the bounds in standard deviations, `known` or found for all columns together. What is no wider
    than a window is clipped at its bounds.
    """
    each = size * float(epsilon) / columns.d
    window = next(sds for least, sds in _WINDOWS if each >= least)
    found = tuple(j for j in range(columns.d) if widths[j] > window and not columns.between_0_and_1(j))
    if not found:
        return None
    cells = tuple(max(1, round(window / widths[j] * FINE)) for j in found)
    choices = sum(math.log(len(windows_of(width)[0])) for width in cells)
    needed = strength(neighbours) * (choices + _AHEAD) / (_HELD * size * float(epsilon))
    if needed > _HOPELESS:
        return None
    least = _LEAST_FOR_WINDOWS if known else max(_LEAST_FOR_WINDOWS, needed / _SHORT)
    share = Fraction(math.ceil(1000 * max(least, min(needed, _MOST_FOR_WINDOWS))), 1000)
    shares = Shares(share, Fraction(0), MISSING, Fraction(0))
    return ClippedMean(epsilon, shares, found, (), (), neighbours=neighbours, windows=cells)


def windowed_width(plan: ClippedMean, widths: FloatArray) -> FloatArray:
    """Of the range that each column is clipped to, in standard deviations of which the bounds have so many."""
    found = np.array(widths, dtype=np.float64)
    found[list(plan.found)] *= np.array(plan.windows) / FINE
    return found


_MOST_FOR_CENTRE = 0.35
# Bounds so many standard deviations wide are worth a search, which takes up to half of epsilon: ranges that are found
# are some 14 of them wide. And answers between whole numbers so near each other are scales: nobody gives such bounds to
# a column whose values differ by hundredths.
_WORTH, _SCALE = 24.0, 12
_SHOWN = Fraction(3, 20)  # share for squares that are to be shown: with a third of it they are often off by a half


def _worth_looking(columns: BoundedColumns, j: int, widths: Sequence[float] | None) -> bool:
    """Whether values may lie in a small part of the bounds: from public numbers."""
    if widths is not None:
        return widths[j] > _WORTH
    return not is_scale(columns, j)


def is_scale(columns: BoundedColumns, j: int) -> bool:
    """Whether a column has answers between whole numbers near each other."""
    low, high = columns.lower[j], columns.upper[j]
    return low.denominator == high.denominator == 1 and high - low <= _SCALE


def _centre_share(rows: float, d: int) -> float:
    """So that a cell near the median outweighs all others: rows times epsilon against the logarithm of their number."""
    return 4.0 * (math.log(CELLS) * d + 4.0) / rows


def _shares(rows: float, each: float, d: int, interval: bool) -> tuple[Shares, tuple[float, float]]:
    """Shares, and how steeply the weights of radii rise above and below the knee."""
    if not d:
        return Shares(Fraction(0), Fraction(0), MISSING, Fraction(1, 10)), (0.0, 0.0)
    centre = Fraction(math.ceil(1000 * max(0.05, _centre_share(rows, d))), 1000)
    found = next(row for row in _BY_ROWS if each >= row.least)
    radii = found.radii if interval else _RADII_ALONE
    return Shares(centre, radii, MISSING, found.squares), (found.above, found.below)


def radius_weights(above: float, below: float) -> tuple[int, ...]:
    """Of the radii: wide ranges cost noise, so that smaller radii weigh more, and the smallest hardly more."""
    found = []
    for k in range(len(RADII)):
        octaves = above * min(k, _KNEE) / 2 + below * max(0, k - _KNEE) / 2
        found.append(round(1024 * 2.0**octaves))
    return tuple(found)
