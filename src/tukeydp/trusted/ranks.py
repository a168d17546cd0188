"""Quantiles by rank: public weights of points, the recursion, the law of one quantile, equal values.

docs/proofs/quantiles.md. What a rank counts follows from `prices`; the values of a unit, one column of one group, are
asked in order, in memory or pass by pass over integers.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from tukeydp.trusted.bits import Bits, Keystream
from tukeydp.trusted.laws import WeightedDraw, bernoulli_exp
from tukeydp.trusted.parameters import (
    FloatArray,
    IntArray,
)
from tukeydp.trusted.prices import kappa_of_parts, rank
from tukeydp.trusted.release import Charge, Misuse, Paid
from tukeydp.trusted.rows import Grid
from tukeydp.trusted.steps import Place, listed

_WHOLE = 2**80  # all weight together, roughly: so that each of 2^45 steps has a weight of many bits
_MOST_MULTIPLES = 10**9  # between the bounds: finer decimals are as good as all steps
_COARSEST = 10  # times the width of the bounds; of every larger power 0 is the one multiple, if there is one


@dataclass(frozen=True)
class Progression:
    """Steps nearest to `first`, `first` + 1, ... times `unit`, `count` of them; each weighs `weight`.

    The step of the multiple m is floor((m unit - lower) / step + 1/2), in integers (m `up` + `offset`) // `down`.
    """

    unit: Fraction
    first: int
    count: int
    up: int
    offset: int
    down: int
    weight: int = 1

    @staticmethod
    def of(unit: Fraction, lower: Fraction, step: Fraction, cells: int) -> Progression:
        first = -(-lower // unit)
        count = max(0, (lower + cells * step) // unit - first + 1)
        slope, start = unit / step, Fraction(1, 2) - lower / step
        down = slope.denominator * start.denominator
        return Progression(unit, first, count, int(slope * down), int(start * down), down)

    def step(self, number: int) -> int:
        return ((self.first + number) * self.up + self.offset) // self.down

    def up_to(self, step: int) -> int:
        """How many of its steps are at most this one: multiples below ((step + 1) down - offset) / up."""
        beyond = -((self.offset - (step + 1) * self.down) // self.up)
        return min(self.count, max(0, beyond - self.first))


@dataclass(frozen=True)
class RoundNumbers:
    """Weights of steps from 0 on.

    A step's weight is the sum over the progressions that it is in: the coarsest first, all steps last.
    """

    progressions: tuple[Progression, ...]

    def weight(self, low: int, high: int) -> int:
        """Of all steps from low to high, both included."""
        return sum(one.weight * (one.up_to(high) - one.up_to(low - 1)) for one in self.progressions)

    def point(self, low: int, high: int, number: int) -> int:
        """The step from low to high with this number, from 0 on, if each has as many numbers as it weighs."""
        for one in self.progressions:
            before = one.up_to(low - 1)
            here = one.weight * (one.up_to(high) - before)
            if number < here:
                return one.step(before + number // one.weight)
            number -= here
        raise ValueError("a number beyond the weight of all steps")

    def value(self, grid: Grid, j: int, step: int) -> float:
        """The roundest number that is this step, in data units: post-processing."""
        for one in self.progressions[:-1]:
            number = one.up_to(step)
            if number > one.up_to(step - 1):
                return float((one.first + number - 1) * one.unit)
        return float(grid.lower[j] + grid.step[j] * step)

    def shares_below(self, edges: FloatArray) -> FloatArray:
        """The weight of all steps below each of these, as a share of all, in floats: for forecasts."""
        first, count, up, offset, down, weight = self._floats
        beyond = np.ceil((np.multiply.outer(down, edges) - offset[:, np.newaxis]) / up[:, np.newaxis])
        counted = np.minimum(np.maximum(beyond - first[:, np.newaxis], 0.0), count[:, np.newaxis])
        return np.asarray((weight / np.dot(weight, count)) @ counted)

    @cached_property
    def _floats(self) -> FloatArray:
        names = ("first", "count", "up", "offset", "down", "weight")
        return np.array([[float(getattr(one, name)) for one in self.progressions] for name in names])

    @property
    def log_odds(self) -> float:
        """ln of what lies between two neighbouring multiples of a power of ten over what one of them weighs: the most.

        All steps have half of the weight, and each of L powers an equal part of the rest: at most 2 L.
        """
        return math.log(max(1, 2 * (len(self.progressions) - 1)))


EVERY_POINT = RoundNumbers((Progression(Fraction(1), -(2**62), 2**63, 1, 0, 1),))  # integers of equal weight


def round_numbers(grid: Grid, j: int) -> RoundNumbers:
    """The weights of column j of a grid."""
    lower, step, cells = grid.lower[j], grid.step[j], grid.cells[j]
    width = step * cells
    power = Fraction(1)
    while power <= _COARSEST * width:
        power *= 10
    while power > _COARSEST * width:
        power /= 10
    decimals = []
    while power > step and power * _MOST_MULTIPLES >= width:
        one = Progression.of(power, lower, step, cells)
        decimals += [one] * (one.count > 0)
        power /= 10
    each = Progression(step, 0, cells + 1, 1, 0, 1, max(1, _WHOLE // 2 // (cells + 1)))
    weights = [max(1, _WHOLE // 2 // (len(decimals) * one.count)) for one in decimals]
    return RoundNumbers((*(replace(one, weight=w) for one, w in zip(decimals, weights, strict=True)), each))


# The recursion of quantiles, level by level: which part of the values each is drawn from, and what a rank counts.
#
# All of it is public. The draws themselves are sent in: exact for a release, in floats for a forecast.


@dataclass(frozen=True)
class Branch:
    """Quantiles first ... last - 1 that are still to be drawn, between those of the shares `low` and `high`."""

    first: int
    last: int
    low: Fraction
    high: Fraction

    @property
    def middle(self) -> int:
        return (self.first + self.last) // 2

    def share(self, shares: tuple[Fraction, ...]) -> Fraction:
        """Which part of the values of this part shall lie below the middle one."""
        return (shares[self.middle] - self.low) / (self.high - self.low)

    def halves(self, shares: tuple[Fraction, ...]) -> list[Branch]:
        """Below and above the middle one; either may have nothing left to draw."""
        here = shares[self.middle]
        return [Branch(self.first, self.middle, self.low, here), Branch(self.middle + 1, self.last, here, self.high)]


class OneDraw(NamedTuple):
    """What one quantile is drawn from: the values of ranks first ... last - 1, between two steps, both included.

    `number` is that of the quantile; `share` which part of these values shall lie below; `weight` what a rank counts in
    the exponent. `cuts`: something is drawn on either side of it, so that values equal to it must be shared out.
    """

    number: int
    first: int
    last: int
    low: int
    high: int
    share: Fraction
    weight: Fraction
    cuts: bool


class Drawn(NamedTuple):
    """A step, and how many of all values belong below it."""

    step: int
    below: int


def number_of_levels(count: int) -> int:
    """Of the recursion: 1 for one quantile, 2 for up to three, 3 for up to seven."""
    return count.bit_length()


class Among(NamedTuple):
    """Which tables are neighbours, and in how many groups values are ranked, each by itself; None without groups."""

    relation: str = "swap"
    keys: int | None = None


ALL = Among()  # one table under the swap of a row


def level_weight(parts: list[Fraction], epsilon: Fraction, among: Among = ALL) -> Fraction:
    """What a rank counts in the exponent, so that all parts of a level together cost epsilon; `parts` are their shares.

    A swap within a part moves its scores by at most 1 rank. A row that leaves a part, or comes to it, moves them by at
    most max(p, 1 - p), and may do so in two parts, of one group or of two.
    """
    return kappa_of_parts(epsilon, [rank(p) for p in parts], *among)


def levels_of(
    shares: tuple[Fraction, ...], epsilon: Fraction, among: Among = ALL
) -> tuple[tuple[Fraction, tuple[Branch, ...]], ...]:
    """Level by level: what a rank counts, and the parts whose middle quantile is drawn."""
    found = []
    level: tuple[Branch, ...] = (Branch(0, len(shares), Fraction(0), Fraction(1)),)
    while level:
        found.append((level_weight([part.share(shares) for part in level], epsilon, among), level))
        level = tuple(half for part in level for half in part.halves(shares) if half.first < half.last)
    return tuple(found)


def as_if_swapped(shares: tuple[Fraction, ...], epsilon: Fraction, among: Among) -> Fraction:
    """The epsilon at which one table's swaps have no larger weights: for forecasts, which know of these alone."""
    pairs = zip(levels_of(shares, epsilon, among), levels_of(shares, epsilon), strict=True)
    return epsilon * min(weight / swapped for (weight, _), (swapped, _) in pairs)


def by_halves(
    count: int, highest: int, shares: tuple[Fraction, ...], epsilon: Fraction, among: Among = ALL
) -> Generator[list[OneDraw], list[Drawn], list[int]]:
    """Steps from 0 to `highest`, in order: each part's middle quantile, then those on either side of it.

    Yields the draws of a level, takes what was drawn, and returns the steps of all quantiles of `count` values.
    """
    found: dict[int, int] = {}
    within = {(0, len(shares)): (0, count, 0, highest)}
    for weight, level in levels_of(shares, epsilon, among):
        asked = [
            OneDraw(part.middle, *within[part.first, part.last], part.share(shares), weight, part.last - part.first > 1)
            for part in level
        ]
        for part, one, drawn in zip(level, asked, (yield asked), strict=True):
            found[part.middle] = drawn.step
            within[part.first, part.middle] = one.first, drawn.below, one.low, drawn.step
            within[part.middle + 1, part.last] = drawn.below, one.last, drawn.step, one.high
    return [found[i] for i in range(len(shares))]


# Edges of one pass, over all units: a count for each, as Python integers. Fewer mean more passes.
_EDGES = 2**17
_FEWEST = 16  # edges of one gap at least, so that passes are few
Asked = Sequence[tuple[int, IntArray]]  # units, and ranks or steps of each


class SortedValues(Protocol):
    """By unit, numbered group by group, and in it column by column."""

    @property
    def counts(self) -> Sequence[int]:
        """How many values are there."""
        ...

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        """Say what will be asked, all at once."""
        ...

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        """The steps of the values of these ranks, counted from 0."""
        ...

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        """How many values lie below each step, and how many up to it."""
        ...


def steps_of(cells: FloatArray, grid: Grid, j: int) -> IntArray:
    """The column's values as steps from the lower bound, each by itself; missing cells are left out."""
    one = Grid(grid.lower[j : j + 1], grid.step[j : j + 1], grid.cells[j : j + 1])
    return one.snap(cells[:, np.newaxis])[:, 0] + grid.cells[j] // 2  # the grid counts from its middle


@dataclass(frozen=True, eq=False)
class HeldValues:
    """Sorted steps of each unit, in memory."""

    values: Sequence[IntArray]

    @property
    def counts(self) -> list[int]:
        return [len(one) for one in self.values]

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        """Everything is there."""

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        return self.values[unit][ranks]

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        below, up_to = (np.searchsorted(self.values[unit], steps, side=side) for side in ("left", "right"))
        return below.astype(np.int64), up_to.astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountsUpTo:
    """For each unit how many values lie above the edge before, and at most at each edge: edges ascend."""

    grid: Grid
    edges: tuple[IntArray, ...]

    @property
    def length(self) -> int:
        return sum(map(len, self.edges))

    def __call__(self, cells: FloatArray, place: Place) -> IntArray:
        d = self.grid.d
        inside, groups = listed(cells, d)
        found = []
        for g in range(len(self.edges) // d):
            own = inside if cells.shape[1] == d else inside[groups == g]
            for j in range(d):
                edges = self.edges[g * d + j]
                if len(edges):
                    bins = np.searchsorted(edges, steps_of(own[:, j], self.grid, j), side="left")
                    found.append(np.bincount(bins, minlength=len(edges) + 1)[:-1])
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


class Counting(Protocol):
    """Records, of whose groups a pass can count something; in no group of several, there is one."""

    @property
    def count(self) -> int | None: ...

    def total(self, *kernels: Any) -> list[list[int]]: ...


class CountedValues:
    """The same of a lazy frame: what is known is how many values lie at or below some steps of each unit."""

    def __init__(self, records: Counting, grid: Grid) -> None:
        self._records, self._grid = records, grid
        units = (records.count or 1) * grid.d
        self._edges = [np.array([-1], dtype=np.int64) for _ in range(units)]
        self._up_to = [np.array([0], dtype=np.int64) for _ in range(units)]
        self._count([np.array([grid.cells[u % grid.d]], dtype=np.int64) for u in range(units)])

    @property
    def counts(self) -> list[int]:
        return [int(up_to[-1]) for up_to in self._up_to]

    def ask(self, *, ranks: Asked = (), steps: Asked = ()) -> None:
        edges = _by_unit([(unit, np.concatenate([some - 1, some])) for unit, some in steps])
        missing = {unit: np.setdiff1d(some, self._edges[unit]) for unit, some in edges.items()}
        if any(map(len, missing.values())):
            self._count([missing.get(u, _NONE) for u in range(len(self._edges))])
        places = _by_unit(ranks)
        while True:
            gaps = {unit: self._gaps(unit, some) for unit, some in places.items()}
            number = sum(len(low) for low, _ in gaps.values())
            if not number:
                return
            each = max(_FEWEST, _EDGES // number)
            self._count([_between(*gaps[u], each) if u in gaps else _NONE for u in range(len(self._edges))])

    def at(self, unit: int, ranks: IntArray) -> IntArray:
        self.ask(ranks=[(unit, ranks)])
        return self._edges[unit][np.searchsorted(self._up_to[unit], ranks, side="right")]

    def around(self, unit: int, steps: IntArray) -> tuple[IntArray, IntArray]:
        self.ask(steps=[(unit, steps)])
        below, up_to = (self._up_to[unit][np.searchsorted(self._edges[unit], edge)] for edge in (steps - 1, steps))
        return below, up_to

    def _gaps(self, unit: int, ranks: IntArray) -> tuple[IntArray, IntArray]:
        """Edges around each rank's value, where more than one step lies between them."""
        upper = np.unique(np.searchsorted(self._up_to[unit], ranks, side="right"))
        low, high = self._edges[unit][upper - 1], self._edges[unit][upper]
        return low[high - low > 1], high[high - low > 1]

    def _count(self, edges: list[IntArray]) -> None:
        """One pass: what lies up to these edges, none of which is known."""
        (found,) = self._records.total(CountsUpTo(self._grid, tuple(edges)))
        start = 0
        for unit, new in enumerate(edges):
            more = np.array(found[start : start + len(new)], dtype=np.int64)
            start += len(new)
            if len(new):
                both = np.concatenate([self._edges[unit], new])
                order = np.argsort(both, kind="stable")
                up_to = np.concatenate([self._up_to[unit], np.cumsum(more)])
                self._edges[unit], self._up_to[unit] = both[order], up_to[order]


_NONE = np.empty(0, dtype=np.int64)


def _by_unit(asked: Asked) -> dict[int, IntArray]:
    found: dict[int, list[IntArray]] = {}
    for unit, some in asked:
        found.setdefault(unit, []).append(some)
    return {unit: np.unique(np.concatenate(some)) for unit, some in found.items()}


def _between(low: IntArray, high: IntArray, each: int) -> IntArray:
    """Up to `each` edges inside every gap, evenly."""
    inside = [np.unique(_evenly(a, b, each)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return np.concatenate([_NONE, *inside])


def _evenly(low: int, high: int, each: int) -> IntArray:
    if high - low - 1 <= each:
        return np.arange(low + 1, high, dtype=np.int64)
    return low + (high - low) // (each + 1) * np.arange(1, each + 1, dtype=np.int64)


# One quantile by its rank: the exponential mechanism on how far a point's rank is from the wanted one, drawn exactly.
#
# Of k sorted integers between two ends, a point y has rank from #{s < y} to #{s <= y}. Its score is the distance of the
# wanted rank p k to that range, in units of 1/t where p = s/t: a whole number V(y). Points are drawn with probability
# proportional to b(y) e^(-weight V(y) / t), b being public (docs/proofs/quantiles.md). The points with V <= C form an
# interval between two order statistics: what lies between two such intervals is a shell, and shells are few.

# Ranks nearest to the wanted one, on either side, that have a shell of their own, and by how much the others grow, as a
# share of their number. Speed only: a shell of several scores rejects some proposals.
_OWN, _GROWTH = 100, 16


class Values(Protocol):
    """Integers in order."""

    def __len__(self) -> int: ...

    def at(self, ranks: IntArray) -> IntArray:
        """Those of these ranks, counted from 0."""
        ...

    def around(self, y: int) -> tuple[int, int]:
        """How many are below y, and how many up to it."""
        ...


@dataclass(frozen=True, eq=False)
class RankLaw:
    """The law of one quantile of `values` between the ends `low` and `high`, both included.

    Attributes
    ----------
    values
        In order; an array of sorted integers will do.
    share
        p: which part of the values shall lie below. A rational between 0 and 1.
    weight
        What one rank counts in the exponent.
    points
        b: what each point weighs, whatever the values.
    """

    values: Values
    low: int
    high: int
    share: Fraction
    weight: Fraction
    points: RoundNumbers = EVERY_POINT

    def __post_init__(self) -> None:
        if isinstance(self.values, np.ndarray):
            object.__setattr__(self, "values", Part(HeldValues([self.values]), 0, 0, len(self.values)))

    @property
    def wanted(self) -> int:
        """The wanted rank, in units of 1/t."""
        return self.share.numerator * len(self.values)

    def score(self, y: int) -> int:
        """V(y): how far the wanted rank is from the ranks of y, in units of 1/t; 0 for a quantile."""
        below, up_to = self.values.around(y)
        t = self.share.denominator
        return max(0, self.wanted - t * up_to, t * below - self.wanted)

    def interval(self, most: int) -> tuple[int, int]:
        """The points with a score of at most `most`."""
        ((low, high),) = self._intervals(np.array([most]))
        return low, high

    def _intervals(self, most: IntArray) -> list[tuple[int, int]]:
        """From the value that the fewest lie up to, to the first that too many lie below; or to an end.

        Values may lie beyond the ends: an interval whose low end is above the high one has no points.
        """
        first, last = self._places(most)
        k = len(self.values)
        low, high = np.full(len(most), self.low, dtype=np.int64), np.full(len(most), self.high, dtype=np.int64)
        low[first > 0], high[last < k] = self.values.at(first[first > 0] - 1), self.values.at(last[last < k])
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _places(self, most: IntArray) -> tuple[IntArray, IntArray]:
        """The fewest values up to a point with such a score, and the most below it."""
        t = self.share.denominator
        return -((most - self.wanted) // t), (self.wanted + most) // t

    @cached_property
    def starts(self) -> IntArray:
        """Scores at which shells start: 0, those of the ranks nearest to the wanted one, then ever fewer, the largest.

        Any others would do, for the same law.
        """
        t, k = self.share.denominator, len(self.values)
        below, above = _thinned(self.wanted // t), _thinned(k - -(-self.wanted // t))
        ends = [0, max(self.wanted, t * k - self.wanted)]
        return np.unique(np.concatenate([ends, self.wanted % t + t * below, -self.wanted % t + t * above]))

    @property
    def _outer(self) -> IntArray:
        """The largest score of each shell."""
        return np.append(self.starts[1:] - 1, self.starts[-1])

    @property
    def ranks(self) -> IntArray:
        """Of the values that shells end at."""
        first, last = self._places(self._outer)
        return np.unique(np.concatenate([first[first > 0] - 1, last[last < len(self.values)]]))

    @cached_property
    def _shells(self) -> list[Shell]:
        """From the narrowest interval out: scores from `least` up to the next start, and the points that have them."""
        shells, inner = [], None
        for least, outer in zip(self.starts.tolist(), self._intervals(self._outer), strict=True):
            shell = Shell.of(least, outer, inner, self.points)
            inner = outer if outer[0] <= outer[1] else None
            if shell.size:
                shells.append(shell)
        return shells

    def draw(self, bits: Bits) -> int:
        """A point with exactly this law. No cap on tries."""
        while True:
            proposal = self.propose(bits)
            if self.keeps(proposal, bits):
                return proposal.point

    def propose(self, bits: Bits) -> Proposal:
        """A shell as if all its points had its least score, then a point of it, by what points weigh."""
        shell = self._shells[self._law.draw(bits)]
        return Proposal(shell.point(bits.below(shell.size), self.points), shell.least)

    def keeps(self, proposal: Proposal, bits: Bits) -> bool:
        """Keep it with the chance that its own score leaves."""
        more = self.weight / self.share.denominator * (self.score(proposal.point) - proposal.least)
        return bernoulli_exp(more.numerator, more.denominator, bits)

    @cached_property
    def _law(self) -> WeightedDraw:
        unit = self.weight / self.share.denominator
        return WeightedDraw([shell.size for shell in self._shells], [-unit * shell.least for shell in self._shells])


class Proposal(NamedTuple):
    """A point, and the least score of the shell that it came from."""

    point: int
    least: int


class Shell(NamedTuple):
    """Points of an interval that are not in the next narrower one: up to two stretches, and what each weighs."""

    least: int
    stretches: list[tuple[int, int, int]]

    @staticmethod
    def of(least: int, outer: tuple[int, int], inner: tuple[int, int] | None, points: RoundNumbers) -> Shell:
        low, high = outer
        ends = [outer] if inner is None else [(low, inner[0] - 1), (inner[1] + 1, high)]
        return Shell(least, [(a, b, points.weight(a, b)) for a, b in ends if a <= b])

    @property
    def size(self) -> int:
        return sum(weight for _, _, weight in self.stretches)

    def point(self, number: int, points: RoundNumbers) -> int:
        """The point with this number, from 0 to size - 1: each has as many as it weighs."""
        low, high, weight = self.stretches[0]
        if number < weight:
            return points.point(low, high, number)
        return points.point(*self.stretches[1][:2], number - weight)


def _thinned(last: int) -> IntArray:
    """0 to last: all of a few; of many the smallest, and then ever fewer."""
    kept, i = [], 0
    while i <= last:
        kept.append(i)
        i += 1 if i < _OWN else max(1, i // _GROWTH)
    return np.array(kept, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """The values of one unit from one rank to another."""

    source: SortedValues
    unit: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def at(self, ranks: IntArray) -> IntArray:
        return self.source.at(self.unit, ranks + self.first)

    def around(self, y: int) -> tuple[int, int]:
        ((below,), (up_to,)) = self.source.around(self.unit, np.array([y], dtype=np.int64))
        low, high = (min(max(int(rank), self.first), self.last) - self.first for rank in (below, up_to))
        return low, high


# Equal values. Where something is drawn on either side of a quantile, it must be said how many of the values equal to
# it belong below: each of them has secret bits, and where these are cut is drawn by rank like the quantile itself.

TIE_BITS = 16
CUT = Fraction(1, 8)  # of what a level has, where it has to cut: more is taken from finding the quantile
_WORDS = 2**18  # ties from one lane of words


@dataclass(frozen=True, eq=False)
class Tied:
    """Ties of the values of a part that are equal to a step, from 0 to 2^16 - 1; others lie before or beyond them all.

    The i-th of all values at a step has the i-th bits that the step has. Bits are independent of each other and of
    everything else; so a neighbour with a value less, or more, may be given the same ones for the values both have.
    """

    part: Part
    step: int
    stream: Keystream

    def __len__(self) -> int:
        return len(self.part)

    @cached_property
    def _ranks(self) -> tuple[int, IntArray]:
        """The rank of the first value at the step among all, and how many of them have ties of at most 0, 1, 2, ..."""
        ((below,), (up_to,)) = self.part.source.around(self.part.unit, np.array([self.step], dtype=np.int64))
        most = 1 << TIE_BITS
        found = np.zeros(most, dtype=np.int64)
        for i, start in enumerate(range(int(below), int(up_to), _WORDS)):
            words = self.stream.words((self.step << TIE_BITS) | i, min(_WORDS, int(up_to) - start))
            found += np.bincount((words % np.uint64(most)).astype(np.int64), minlength=most)
        return int(below), np.cumsum(found)

    def at(self, ranks: IntArray) -> IntArray:
        below, counts = self._ranks
        inside = ranks + (self.part.first - below)
        return np.where(inside < 0, -1, np.searchsorted(counts, inside, side="right")).astype(np.int64)

    def around(self, y: int) -> tuple[int, int]:
        below, counts = self._ranks
        first, last = self.part.first, self.part.last
        ranks = below + (int(counts[y - 1]) if y else 0), below + int(counts[y])
        low, high = (min(max(rank, first), last) - first for rank in ranks)
        return low, high


class Unit(NamedTuple):
    """One column of one group: what its points weigh, its steps, which quantiles, and what pays for them."""

    points: RoundNumbers
    cells: int
    shares: tuple[Fraction, ...]
    paid: Paid
    labels: tuple[object, ...]

    def bits(self, what: str, one: OneDraw) -> Bits:
        return self.paid.bits(*self.labels, what, one.number)


def paid_units(
    charges: Sequence[Charge],
    levels: int,
    points: Sequence[RoundNumbers],
    cells: Sequence[int],
    shares: Sequence[tuple[Fraction, ...]],
    labels: Sequence[tuple[object, ...]],
) -> list[Unit]:
    """The units of all groups, one group's columns after the other's: a charge for each column, so many levels each."""
    if levels < max(number_of_levels(len(one)) for one in shares):
        raise Misuse("the quantiles take more levels than are paid for")
    paid = [charge.consume(rho=levels * (charge.epsilon / levels) ** 2 / 8) for charge in charges]
    return [
        Unit(points[j], cells[j], shares[g * len(paid) + j], one, group)
        for g, group in enumerate(labels)
        for j, one in enumerate(paid)
    ]


def drawn_quantiles(
    values: SortedValues, units: Sequence[Unit], levels: int, keys: int | None = None
) -> list[list[int]]:
    """The quantiles of every unit as steps of its grid: pure DP, an equal part of what is paid for each level.

    `keys` is the number of groups, None without. Level by level for all units at once, so that passes are few.
    """
    if len({unit.labels for unit in units}) != (keys or 1):
        raise Misuse("the number of groups is not that of the units")
    if levels < max(number_of_levels(len(unit.shares)) for unit in units):
        raise Misuse("the quantiles take more levels than are paid for")
    found: list[list[int]] = [[] for _ in units]
    counts = values.counts
    running = [
        by_halves(count, unit.cells, unit.shares, unit.paid.epsilon / levels, Among(unit.paid.relation, keys))
        for count, unit in zip(counts, units, strict=True)
    ]
    streams = [Keystream(unit.paid.key(*unit.labels, "ties")) for unit in units]
    asked = {u: next(one) for u, one in enumerate(running)}
    while asked:
        draws = [(u, one) for u, level in asked.items() for one in level]
        parts = [Part(values, u, one.first, one.last) for u, one in draws]
        laws = [
            RankLaw(part, one.low, one.high, one.share, one.weight * (1 - CUT * one.cuts), units[u].points)
            for (u, one), part in zip(draws, parts, strict=True)
        ]
        points = draw_together(laws, [units[u].bits("quantile", one) for u, one in draws], values)
        drawn: dict[int, list[Drawn]] = {u: [] for u in asked}
        for (u, one), part, y in zip(draws, parts, points, strict=True):
            cut = one.first
            if one.cuts:
                tied = Tied(part, y, streams[u])
                law = RankLaw(tied, 0, (1 << TIE_BITS) - 1, one.share, one.weight * CUT)
                cut += tied.around(law.draw(units[u].bits("cut", one)))[1]
            drawn[u].append(Drawn(y, cut))
        asked = {}
        for u, some in drawn.items():
            try:
                asked[u] = running[u].send(some)
            except StopIteration as end:
                found[u] = end.value
    return found


def draw_together(laws: Sequence[RankLaw], bits: Sequence[Bits], values: SortedValues) -> list[int]:
    """A point of each law, from its own bits, as `RankLaw.draw`; what they need of the values is asked for at once."""
    parts = [cast("Part", law.values) for law in laws]
    values.ask(ranks=[(part.unit, law.ranks + part.first) for law, part in zip(laws, parts, strict=True)])
    found: dict[int, int] = {}
    while len(found) < len(laws):
        proposed = {i: law.propose(bits[i]) for i, law in enumerate(laws) if i not in found}
        steps = [(parts[i].unit, np.array([one.point], dtype=np.int64)) for i, one in proposed.items()]
        values.ask(steps=steps)
        found |= {i: one.point for i, one in proposed.items() if laws[i].keeps(one, bits[i])}
    return [found[i] for i in range(len(laws))]
