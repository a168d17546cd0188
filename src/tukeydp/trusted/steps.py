"""The steps that means are made of: what each record adds, by itself, and the draws and noise that are paid for it.

A kernel says what a piece of records adds up to, as integers; it looks at one record at a time, and at nothing else. A
step takes a charge, knows how far one record moves what the kernel adds up, and releases it (docs/proofs/mean.md,
sections 4 and 6; docs/proofs/groups.md). Persons are records like rows. Groups are numbers in the last column of the
cells, counted from 0; records in no listed group have none (NaN), and add nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import accumulate

import numpy as np

from tukeydp.trusted.account import rho_of_cells
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.laws import WORD, Group, LevelDraw, cube_noise, discrete_laplace
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.prices import ADD_REMOVE, COUNT, MOST_BEYOND, sums_from_an_end, sums_from_the_middle
from tukeydp.trusted.release import Charge
from tukeydp.trusted.rows import BoundedColumns

# Steps of a column's range from its middle to either end: so fine that rounding to them is nothing beside the noise, so
# coarse that sums of 2^31 records fit in 64 bits.
HALF = 2**29

Place = tuple[int, ...]


def listed(cells: FloatArray, d: int) -> tuple[FloatArray, IntArray]:
    """The records that are in a listed group, and their groups; all, in group 0, where there are none."""
    if cells.shape[1] == d:
        return cells, np.zeros(len(cells), dtype=np.int64)
    groups = cells[:, d]
    there = groups >= 0
    if not there.all():
        cells, groups = cells[there], groups[there]
    return cells[:, :d], groups.astype(np.int64)


def _by_group(added: IntArray, groups: IntArray, count: int) -> IntArray:
    """Sums of every group. Floats that hold integers: over a piece of records they stay below 2^53, so are exact."""
    groups = groups if count > 1 else np.zeros_like(groups)  # all listed groups together
    found = [np.bincount(groups, one.astype(np.float64), minlength=count) for one in added.T]
    return np.array(found).T.astype(np.int64).reshape(-1)


def clipped(steps: IntArray) -> IntArray:
    """Every number from -HALF to HALF, whatever floats made of a record."""
    return np.clip(steps, -HALF, HALF)


def shortened(steps: IntArray) -> IntArray:
    """Records whose sizes add up to HALF at most, towards 0 where they added up to more, whatever floats did before."""
    within = clipped(steps)
    size = np.abs(within)
    return np.sign(within) * (size * HALF // np.maximum(size.sum(axis=1, keepdims=True), HALF))


def _sizes(vectors: FloatArray) -> FloatArray:
    """Of every record's numbers together: added one after another, so that no record rounds another's."""
    return np.asarray(reduce(np.add, np.abs(vectors).T))


class ByGroup:
    """So many numbers of each group."""

    groups: int
    width: property

    @property
    def length(self) -> int:
        return self.groups * self.width


@dataclass(frozen=True, eq=False)
class CellCounts:
    """For each of `places` how many records have a value in each of so many equal cells between the bounds."""

    columns: BoundedColumns
    places: tuple[int, ...]
    cells: int

    @property
    def length(self) -> int:
        return len(self.places) * self.cells

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        relative = self.columns.relative(listed(cells, self.columns.d)[0])[:, list(self.places)]
        found = np.zeros((len(self.places), self.cells), dtype=np.int64)
        for j in range(len(self.places)):
            values = relative[~np.isnan(relative[:, j]), j]
            # Once more after rounding: a value belongs to one cell, whatever floats did before.
            number = np.clip(np.floor((values + 1.0) / 2.0 * self.cells).astype(np.int64), 0, self.cells - 1)
            found[j] = np.bincount(number, minlength=self.cells)
        return found.reshape(-1)

    def most_beyond(self, total: Sequence[int]) -> list[IntArray]:
        """For each column and cell the most records on one side of it: one record more or less moves it by 0 or 1."""
        return [np.maximum(up_to[:-1], up_to[-1] - up_to[1:]) for up_to in self._up_to(total)]

    def outside(self, total: Sequence[int], windows: Sequence[IntArray]) -> list[IntArray]:
        """For each column how many values lie in no cell of each window, from a first cell to before another: 0 or 1 of
        a record.
        """
        return [n[-1] - (n[end] - n[first]) for n, (first, end) in zip(self._up_to(total), windows, strict=True)]

    def _up_to(self, total: Sequence[int]) -> IntArray:
        """For each column how many values lie before each cell, and behind the last all of them."""
        return np.cumsum(np.pad(np.array(total, dtype=np.int64).reshape(-1, self.cells), ((0, 0), (1, 0))), axis=1)


@dataclass(frozen=True, eq=False)
class BeyondCounts:
    """For each of `places` how many records lie farther from its centre than each radius, in relative units.

    Missing cells do not. The last numbers are those of missing cells, one for each column of the table.
    """

    columns: BoundedColumns
    places: tuple[int, ...]
    centre: tuple[float, ...]
    radii: tuple[float, ...]

    @property
    def length(self) -> int:
        return len(self.places) * len(self.radii) + self.columns.d

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        relative = self.columns.relative(listed(cells, self.columns.d)[0])
        with np.errstate(all="ignore"):
            away = np.abs(relative[:, list(self.places)] - np.array(self.centre))
            beyond = np.array([(away > radius).sum(axis=0) for radius in self.radii], dtype=np.int64).T
        return np.concatenate([beyond.reshape(-1), np.isnan(relative).sum(axis=0)])

    def counts(self, total: Sequence[int]) -> tuple[list[IntArray], list[int]]:
        """Records beyond for each place and radius; missing cells of each column."""
        end = len(self.places) * len(self.radii)
        beyond = np.array(total[:end], dtype=np.int64).reshape(len(self.places), len(self.radii))
        return list(beyond), list(total[end:])


@dataclass(frozen=True)
class Window:
    """Where each column is clipped, as numbers from -1 to 1, and what a missing cell counts as; NaN: as nothing.

    All of it public, or released.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    fill: tuple[float, ...]

    def within(self, relative: FloatArray) -> FloatArray:
        """Values from -1 at the window's lower end to 1 at its upper, each by itself."""
        low, high = np.array(self.low), np.array(self.high)
        with np.errstate(all="ignore"):
            filled = np.where(np.isnan(relative), np.array(self.fill), relative)
            # A window of no width leaves its values in the middle.
            inside = (2.0 * np.clip(filled, low, high) - low - high) / (high - low)
        return np.where(np.isnan(filled), np.nan, np.where(high > low, inside, 0.0))


@dataclass(frozen=True, eq=False)
class WindowSums(ByGroup):
    """Sums of every group: of values in whole steps from the window's middle, and of what is counted.

    `squared`: of 2 v^2 - 1 for values v from -1 to 1 in these columns, in place of the values.
    `records` counts the records themselves, `counted` the values that are there in these columns: HALF for each.
    Whatever a record adds lies between -HALF and HALF, in one group.
    """

    columns: BoundedColumns
    window: Window
    groups: int
    records: bool = False
    counted: tuple[int, ...] = ()
    squared: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """Numbers of each group."""
        return (self.columns.d if self.squared is None else len(self.squared)) + self.records + len(self.counted)

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        inside, groups = listed(cells, self.columns.d)
        relative = self.columns.relative(inside)
        numbers = self.window.within(relative)
        if self.squared is not None:
            numbers = 2.0 * numbers[:, list(self.squared)] ** 2 - 1.0
        with np.errstate(all="ignore"):
            filled = np.where(np.isnan(numbers), 0.0, numbers)
            steps = [clipped(np.rint(filled * HALF).astype(np.int64))]
        if self.records:
            steps.append(np.full((len(inside), 1), HALF, dtype=np.int64))
        steps.append(np.where(np.isnan(relative[:, list(self.counted)]), 0, HALF).astype(np.int64))
        return _by_group(np.concatenate(steps, axis=1), groups, self.groups)


def deepest_cells(beyond: Sequence[IntArray], charge: Charge) -> list[int]:
    """A cell for each column, those near the median of every column most likely: pure epsilon-DP."""
    paid = charge.for_bounded_range()
    return drawn_places(beyond, [[1] * len(counts) for counts in beyond], paid.weight(MOST_BEYOND), paid.bits())


def joint_rungs(beyond: Sequence[IntArray], weights: Sequence[int], charge: Charge) -> list[int]:
    """A rung for each column by its weight times e^(-kappa x the most records beyond a column's): pure epsilon-DP."""
    paid = charge.for_bounded_range()
    return drawn_places(beyond, [weights] * len(beyond), paid.weight(MOST_BEYOND), paid.bits())


def rung(beyond: IntArray, weights: Sequence[int], charge: Charge) -> int:
    """A rung of one column, whose counts all move one way when a record comes, goes or is replaced: pure epsilon-DP."""
    paid = charge.for_bounded_range()
    return drawn_places([beyond], [weights], paid.weight(COUNT), paid.bits())[0]


def drawn_places(
    beyond: Sequence[IntArray], weights: Sequence[Sequence[int]], kappa: Fraction, bits: Bits
) -> list[int]:
    """One place for each column, with probability proportional to the product of weights times e^(-kappa most).

    Level l says that at most `most - l` records lie beyond in any column: each column's places with as few are known,
    and so is their weight. So a level is drawn, as for depth, and in it a place for each column by itself.
    """
    ladders = [_Ladder.of(counts, weight) for counts, weight in zip(beyond, weights, strict=True)]
    fewest = max(ladder.rows[0] for ladder in ladders)
    thresholds = sorted({rows for ladder in ladders for rows in ladder.rows if rows >= fewest}, reverse=True)
    most, lowest, groups = thresholds[0], 0, []
    for rows in thresholds:
        size = 1
        for ladder in ladders:
            size *= ladder.weight_up_to(rows)
        groups.append(Group(lowest, most - rows, size))
        lowest = most - rows + 1
    level, _ = LevelDraw(groups, 2 * kappa).finish(bits.take(WORD), bits)
    return [ladder.drawn(most - level, bits) for ladder in ladders]


@dataclass(frozen=True)
class _Ladder:
    """Places of one column in the order of their counts, and the weight of each and all before it."""

    rows: list[int]
    places: list[int]
    ends: list[int]

    @staticmethod
    def of(counts: IntArray, weights: Sequence[int]) -> _Ladder:
        order = np.argsort(counts, kind="stable").tolist()
        return _Ladder([int(counts[i]) for i in order], order, list(accumulate(weights[i] for i in order)))

    def weight_up_to(self, rows: int) -> int:
        return self.ends[bisect_right(self.rows, rows) - 1]

    def drawn(self, rows: int, bits: Bits) -> int:
        """A place with at most so many records beyond, by the weights."""
        number = bits.below(self.weight_up_to(rows))
        return self.places[bisect_right(self.ends, number)]


def noised_sums(sums: WindowSums | TableCounts, total: Sequence[int], charge: Charge) -> list[list[Fraction]]:
    """Every group's sums with cube noise, a value at the window's end being 1: pure epsilon-DP for all groups together.

    A record that is replaced, or goes to another group, moves two groups' numbers by HALF each, or one by twice that.
    """
    paid = charge.for_any_law()
    scale = paid.scale(sums_from_the_middle(HALF), sums.groups)
    return [
        [Fraction(s + z, HALF) for s, z in zip(row, cube_noise(sums.width, scale, paid.bits("group", g)), strict=True)]
        for g, row in enumerate(_rows(total, sums.width))
    ]


def noised_counts(counts: Sequence[int], charge: Charge, keys: int | None = None) -> list[Fraction]:
    """Numbers of cells in each column, group by group, with cube noise: pure epsilon-DP for all groups together.

    A record moves each number of its group by at most 1.
    """
    paid = charge.for_any_law()
    scale, found = paid.scale(sums_from_an_end(HALF), keys), []
    for g, row in enumerate(_rows(counts, len(counts) // (keys or 1))):
        noise = cube_noise(len(row), scale, paid.bits(*(() if keys is None else ("group", g))))
        found += [Fraction(count * HALF + z, HALF) for count, z in zip(row, noise, strict=True)]
    return found


@dataclass(frozen=True, eq=False)
class CategoryCounts(ByGroup):
    """How many records of each group are in every cell of a table of categories: a record is in one cell, or in none.

    The cells are all combinations of `sizes` categories in the columns at `places`, and with `rest` a last one for
    every other record of the group. A column holds numbers of categories, from 0 on, or values between its `edges`.
    """

    d: int
    places: tuple[int, ...]
    sizes: tuple[int, ...]
    edges: tuple[tuple[float, ...] | None, ...]
    groups: int = 1
    rest: bool = True

    @property
    def width(self) -> int:
        """Cells of each group."""
        return math.prod(self.sizes) + self.rest

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        inside, groups = listed(cells, self.d)
        known, number = np.ones(len(inside), dtype=np.bool_), np.zeros(len(inside), dtype=np.int64)
        for j, size, edges in zip(self.places, self.sizes, self.edges, strict=True):
            one = inside[:, j] if edges is None else _between(inside[:, j], edges)
            there = (one >= 0) & (one < size)  # not so for NaN
            number = number * size + np.where(there, one, 0.0).astype(np.int64)
            known &= there
        counted = (known | self.rest) & (groups < self.groups)
        cell = groups * self.width + np.where(known, number, self.width - 1)
        return np.bincount(cell[counted], minlength=self.length)


def _between(values: FloatArray, edges: Sequence[float]) -> FloatArray:
    """The number of the interval that holds each value: lower ends belong to it, and the last upper end too."""
    numbers = np.searchsorted(edges, values, side="right") - 1.0
    return np.where(values == edges[-1], len(edges) - 2.0, numbers)


def noised_cells(counts: CategoryCounts, total: Sequence[int], charge: Charge, relation: str) -> list[int]:
    """Every cell's count with discrete Laplace noise: pure epsilon-DP for all cells together (docs/proofs/counts.md).

    A record that comes or goes moves one count by 1; one that is replaced moves two, or the only one there is.
    """
    paid = charge.consume(rho=rho_of_cells(charge.epsilon, relation, counts.length)).under(relation)
    scale = paid.scale(COUNT, counts.length)
    cells = zip(range(counts.length), total, strict=True)
    return [count + discrete_laplace(scale, paid.bits("cell", i)) for i, count in cells]


# A table of numbers, categories and weights (docs/proofs/groups.md, section 11). Cells are the measured columns, then
# the weights if there are any, then numbers of categories.


Weight = tuple[int, float]  # the place of the records' weights among the cells, and the largest, which is public


def _weighed(inside: FloatArray, weight: Weight | None) -> FloatArray:
    """Every record's share of the largest weight, from 0 to 1, each by itself; missing weights are 0."""
    if weight is None:
        return np.ones((len(inside), 1))
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.clip(inside[:, weight[0] : weight[0] + 1] / weight[1], 0.0, 1.0), nan=0.0)


@dataclass(frozen=True, eq=False)
class TableCounts(ByGroup):
    """Of every group: shares, categories, values and records, each of them from -HALF to HALF for a record.

    `shares` are measured columns, from -1 to 1 between their bounds. `levels` are pairs of a column's place and a
    category: HALF in it, -HALF in another of its `sizes` categories, 0 in none. `counted` are places whose values, or
    cells with a category, are counted, HALF for each; `records` counts the records themselves.
    """

    d: int
    columns: BoundedColumns
    shares: tuple[int, ...]
    levels: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    counted: tuple[int, ...]
    groups: int
    records: bool = True
    weight: Weight | None = None

    @property
    def width(self) -> int:
        """Numbers of each group."""
        return len(self.shares) + len(self.levels) + self.records + len(self.counted)

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        inside, groups = listed(cells, self.d)
        measured = np.nan_to_num(self.columns.relative(inside[:, : self.columns.d]), nan=0.0)
        signs = [measured[:, j] for j in self.shares]
        signs += [np.where(inside[:, j] == level, 1.0, -1.0) * self._there(inside, j) for j, level in self.levels]
        signs += [np.ones(len(inside))] * self.records + [self._there(inside, j) for j in self.counted]
        steps = np.rint(np.column_stack(signs) * _weighed(inside, self.weight) * HALF).astype(np.int64)
        return _by_group(clipped(steps), groups, self.groups)

    def _there(self, inside: FloatArray, j: int) -> FloatArray:
        """1 for a value, or one of the column's categories; else 0."""
        at, size = inside[:, j], self.sizes[j]
        return ((at >= 0) & (at < size) if size else ~np.isnan(at)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NormSums(ByGroup):
    """Of every group: sums of records' distances from `centre` in the columns at `places`, all of them bounded at once.

    A record is a vector of (value - centre) times the column's `scale` and its weight, missing cells 0. Where its sizes
    add up to more than `radius`, it is made shorter until they do not. With `absolute` its coordinates' sizes are
    summed. Whatever a record adds, in sizes it is HALF at most.
    """

    d: int
    columns: BoundedColumns
    places: tuple[int, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    radius: float
    groups: int
    absolute: bool = False
    weight: Weight | None = None

    @property
    def width(self) -> int:
        return len(self.places)

    def away(self, inside: FloatArray, groups: IntArray) -> FloatArray:
        """The records' vectors."""
        relative = self.columns.relative(inside[:, : self.columns.d])[:, list(self.places)]
        away = np.nan_to_num((relative - np.array(self.centre)) * np.array(self.scale), nan=0.0)
        return away * _weighed(inside, self.weight)

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        inside, groups = listed(cells, self.d)
        away = self.away(inside, groups)
        share = away / np.maximum(_sizes(away), self.radius)[:, np.newaxis]
        shorter = shortened((share * HALF).astype(np.int64))  # towards 0
        return _by_group(np.abs(shorter) if self.absolute else shorter, groups, self.groups)


@dataclass(frozen=True, eq=False)
class ProductSums(NormSums):
    """The same of products, for least squares: of every two of a record's numbers, a constant 1 among them if wanted.

    With `coefficients`, those of each group, of the residual of the last number with each of the others. A record with
    a missing cell adds nothing.
    """

    constant: bool = True
    coefficients: tuple[tuple[float, ...], ...] | None = None

    @property
    def width(self) -> int:
        m = len(self.places) + self.constant
        return m * (m + 1) // 2 if self.coefficients is None else m - 1

    def away(self, inside: FloatArray, groups: IntArray) -> FloatArray:
        relative = self.columns.relative(inside[:, : self.columns.d])[:, list(self.places)]
        numbers = (relative - np.array(self.centre)) * np.array(self.scale)
        numbers = np.column_stack([*[np.ones(len(numbers))] * self.constant, numbers])
        numbers[np.isnan(relative).any(axis=1)] = 0.0
        if self.coefficients is None:
            first, second = np.triu_indices(numbers.shape[1])
            return np.nan_to_num(numbers[:, first] * numbers[:, second])
        residual = numbers[:, -1]
        for j, one in enumerate(np.array(self.coefficients).T):
            residual = residual - one[groups] * numbers[:, j]
        return np.nan_to_num(numbers[:, :-1] * residual[:, np.newaxis])


@dataclass(frozen=True, eq=False)
class NormBeyond:
    """How many records have sizes that add up to more than each of several radii."""

    sums: NormSums
    radii: tuple[float, ...]

    @property
    def length(self) -> int:
        return len(self.radii)

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        norm = _sizes(self.sums.away(*listed(cells, self.sums.d)))
        return (norm[:, np.newaxis] > np.array(self.radii)).sum(axis=0)


def noised_norm_sums(sums: NormSums, total: Sequence[int], charge: Charge) -> list[list[Fraction]]:
    """Every group's sums with discrete Laplace noise, in radii: pure epsilon-DP for all groups together.

    A record that is replaced, or goes to another group, moves them by twice HALF in the norm that adds up sizes.
    """
    paid = charge.for_any_law()
    laplace = paid.scale(sums_from_the_middle(HALF), sums.groups)
    return [
        [Fraction(s + discrete_laplace(laplace, paid.bits("group", g, j)), HALF) for j, s in enumerate(row)]
        for g, row in enumerate(_rows(total, sums.width))
    ]


@dataclass(frozen=True, eq=False)
class OutsideCounts:
    """For each column at `places` and each window of magnitudes, how many records have a value that is not in it.

    Windows are (low, high, sign): of sizes above `low`, up to `high`, and with `sign` of positive values alone. Cells
    that are missing, or 0, have no magnitude and are outside none.
    """

    d: int
    places: tuple[int, ...]
    windows: tuple[tuple[float, float, bool], ...]

    @property
    def length(self) -> int:
        return len(self.places) * len(self.windows)

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        edges = np.unique([edge for low, high, _ in self.windows for edge in (low, high)])
        low, high = (np.searchsorted(edges, [one[end] for one in self.windows]) for end in (0, 1))
        signs = np.array([sign for *_, sign in self.windows], dtype=np.int64)
        outside = []
        for values in listed(cells, self.d)[0].T[list(self.places)]:
            some = values[~np.isnan(values) & (values != 0)]
            # Of all, and of the positive ones: how many sizes are at most as large as each edge.
            places = [np.searchsorted(edges, np.abs(some[kept])) for kept in (some != 0, some > 0)]
            up_to = np.array([np.bincount(one, minlength=len(edges) + 1).cumsum() for one in places])
            outside.append(len(some) - (up_to[signs, high] - up_to[signs, low]))
        return np.concatenate(outside)


def _rows(total: Sequence[int], width: int) -> list[list[int]]:
    return [list(total[start : start + width]) for start in range(0, len(total), width)]


def noised_whole(counts: Sequence[int], charge: Charge) -> list[int]:
    """Numbers of which a record moves each by at most 1, with whole cube noise: pure epsilon-DP."""
    paid = charge.for_any_law()
    noise = cube_noise(len(counts), paid.scale(COUNT), paid.bits())
    return [count + z for count, z in zip(counts, noise, strict=True)]


def noised_group_counts(groups: IntArray, count: int, charge: Charge) -> list[int]:
    """Rows in each group, whole and from 0 to n where that is public: pure epsilon-DP for all groups together.

    A swap within a group moves no count; a row that goes to another group moves two of them by 1. One group alone has
    as much noise as several, which `rows_told` counts on.
    """
    paid = charge.for_any_law()
    scale = paid.scale(COUNT, keys=max(2, count))
    n, found = None if paid.relation == ADD_REMOVE else len(groups), list[int]()
    for g in range(count):
        noise = discrete_laplace(scale, paid.bits("count", g))
        noised = max(0, int(np.count_nonzero(groups == g)) + noise)
        found.append(noised if n is None else min(n, noised))
    return found
