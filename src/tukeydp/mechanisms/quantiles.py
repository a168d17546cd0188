"""Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.records import records as opened
from tukeydp.data.relation import checked_relation
from tukeydp.data.sorted_values import HeldValues, SortedValues, sorted_values
from tukeydp.forecast.quantiles import quantile_rehearsal
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.quantile_intervals import COUNTS, Ends, no_ends, noise_of_numbers, shares_of_ends
from tukeydp.mechanisms.quantile_levels import Among, Drawn, OneDraw, as_if_swapped, by_halves, number_of_levels
from tukeydp.mechanisms.readable_check import checked
from tukeydp.mechanisms.round_numbers import EVERY_POINT, RoundNumbers, round_numbers
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, in_steps
from tukeydp.trusted.bits import Bits, Keystream, source
from tukeydp.trusted.laws import WeightedDraw, bernoulli_exp
from tukeydp.trusted.parameters import (
    IntArray,
    ParameterError,
    brief,
    in_order,
    positive_rational,
    rational,
    show,
)
from tukeydp.trusted.release import Paid, Spends, reserve
from tukeydp.trusted.rows import Grid, bounded_grid, checked_bounds, require_bounds
from tukeydp.trusted.steps import noised_counts

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


# Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md).
#
# The middle one first, then those below it among the values below it and those above among the others, and so on
# (Kaplan, Schnapp and Stemmer 2022). A row is in one part at each level, so that all quantiles of a level share one
# epsilon: three quantiles cost two levels, seven cost three.

# Bits of a column's default grid; with those that break ties below 62, so that points fit in 64 bits.
_GRID_BITS = 40
_MOST_STEPS = 2**45
# Quantiles, and the common denominator of their shares: ranks are counted in its units, in 64 bits.
_MOST, _FINEST = 1000, 10**6
# Columns that nobody has more of: what is refused before the table is read must be too much for any.
_MANY_COLUMNS = 1000


@padded
@of_persons
@checked()
@finds_bounds
@on_one_thread
def quantiles(
    x: Any,
    q: Any = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    *,
    epsilon: Any,
    bounds: Any = None,
    resolution: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    sd: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    confidence: Any = None,
    joint: bool = False,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> QuantileRelease:
    """Release several quantiles of each column, in order, for one epsilon.

    Parameters
    ----------
    x, epsilon, bounds, by, keys, person, per_person, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`, lazy frames included, which are read some ten times; bounds are needed. A missing cell ranks
        nowhere: it is left out of its column. With neighbours="add-remove" `rows` is needed for `expected_error` only,
        and a median has twice the exponent.
    q
        Which quantiles: numbers between 0 and 1, different from each other, such as 0.5 for the median alone.
    resolution
        Step of the public grid, as for `td.boxem`; the width over 2**40 unless given. Round numbers weigh more in any
        case, so that values which people write down are found. The true step of a column (1 for counts and scores)
        makes released values steps.
    confidence
        Say 0.95: `found.intervals` then has the ends of nominal 95 % confidence intervals for the *population's*
        quantiles: further quantiles, of shares so far away that sampling and the draws rarely reach beyond. Some two
        thirds of epsilon go to them, a twentieth to a noised number of values. Coverage is empirical
        (docs/guide/intervals.md).
    joint
        Whether the confidence is for all quantiles, columns and groups together, rather than for each by itself.
    sd
        Standard deviations known without the data, as for `td.mean`: what accuracy to expect is then said in the
        columns' own units. Nothing that is released depends on them.

    Returns
    -------
    QuantileRelease
        A dict from shares to the columns' values: `found[0.5]`, `found.to_frame()`, `found.expected_error`. With `by` a
        dict of these by the groups' keys, `found["A"][0.5]`, for one epsilon.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, for all quantiles, columns and groups together; d, the column names and all
    parameters are public, n too under the swap of one row; how many values are missing, or in a group, is not.

    Accuracy
    --------
    Each column has an equal part of epsilon. Where values lie close, a quantile is off by a few times 2 / epsilon'
    ranks, epsilon' being epsilon over the number of columns and of levels (1 for one quantile, 2 for up to three, 3
    for up to seven). Two cliffs, which `found.caveats` and `expected_error` tell with numbers:

    - rows so few that a rank's distance from the ends of the data, q n or (1 - q) n, is below about 2 / epsilon' times
      ln(width of the bounds over the distance between neighbouring values): a random point between the bounds;
    - ties: where the wanted rank is nearer than some 24 ranks (quartiles at epsilon = 1) to the end of a run of equal
      values, it may be a point of the gap beside it. That is for round numbers, of up to nine digits between the
      bounds; the median of 1000 scores from 1 to 5 is the table's own, as a rule. Logarithms of such values are no
      round numbers.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> incomes = np.random.default_rng(1).exponential(30, size=3000)
    >>> found = td.quantiles(incomes, q=[0.25, 0.5, 0.75], epsilon=1, bounds=(0, 1000), randomness=td.seeded(7))
    >>> [round(float(v), 1) for v in np.quantile(incomes, [0.25, 0.5, 0.75])]
    [8.3, 20.9, 41.1]
    >>> [round(float(found[share][0])) for share in found]
    [8, 21, 41]
    """
    budget = positive_rational("epsilon", epsilon)
    relation = checked_relation(neighbours, rows)
    shares = checked_shares(q)
    level = checked_level(confidence, joint)
    require_bounds(bounds, "wide ones cost little")
    require_by(by, keys)
    levels = number_of_levels(len(shares) * (1 if level is None else 3))
    steps = _MANY_COLUMNS * levels
    require_room(accountant, in_steps((budget / steps,) * steps, neighbours))  # what no run costs less than
    bits = source(randomness)
    records = opened(x, relation, by=by, keys=keys)
    table = records.table
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(table.d, bounds=ends, resolution=resolution, bits=_GRID_BITS, columns=table.columns)
    if max(grid.cells) > _MOST_STEPS:
        rule = "must give at most 2**45 steps between the bounds of a column, so that ranks fit in 64 bits"
        raise ParameterError("resolution", rule, show(min(grid.step)))
    counted = Fraction(0) if level is None else COUNTS * budget
    each = (budget - counted) / (table.d * levels)
    settings = {"quantiles": [show(share) for share in shares], "levels": levels, "epsilon_of_level": each}
    settings |= {} if level is None else {"confidence": level.confidence, "joint": level.joint}
    settings |= {**relation.settings, **records.settings}
    told = records.public
    public = {**told, "bounds": ends, "grid": grid.to_dict(), "settings": settings, **records.public_groups}
    parts = {f"column {j}": in_steps((each,) * levels, neighbours) for j in range(table.d)}
    numbers = {} if level is None else {"numbers of values": PureDP(counted, neighbours=neighbours)}
    run = reserve({**parts, **numbers}, mechanism="quantiles", source=bits, accountant=accountant, parameters=public)
    values = sorted_values(records, grid)
    points = [round_numbers(grid, j) for j in range(table.d)]
    among = Among(neighbours, records.count)
    risk = None if level is None else level.of_one(len(shares) * table.d * len(records.labels))

    def plan(number: float, j: int) -> Ends:
        """What is drawn of a column with so many values."""
        if risk is None:
            return no_ends(shares)
        return shares_of_ends(shares, number, each, among, risk, points[j].log_odds)

    found_numbers: list[float] = [0.0] * len(values.counts)
    if level is not None:
        noised = noised_counts(values.counts, run.charge("numbers of values", "numbers of values"), records.count)
        found_numbers = [float(number) for number in noised]
    unsure = 0.0 if risk is None else noise_of_numbers(counted, table.d, among, risk)
    plans = [plan(number - unsure, u % table.d) for u, number in enumerate(found_numbers)]
    paid = [run.charge(name, "column", j).consume(rho=levels * each**2 / 8) for j, name in enumerate(parts)]
    units = [
        Unit(points[j], grid.cells[j], plans[g * table.d + j].shares, paid[j], labels)
        for g, labels in enumerate(records.labels)
        for j in range(table.d)
    ]
    drawn = drawn_quantiles(values, units, levels, records.count)
    size, known = records.size_of_group, in_order("sd", sd, table.columns)
    rehearsal = None
    if size is not None:
        effective = as_if_swapped(shares, each, among)
        rehearsal = quantile_rehearsal(size, grid, ends, shares, effective, known)
    found = []
    for g in range(len(records.labels)):
        columns = [
            _in_units(plans[u], drawn[u], shares, points[j], grid, j)
            for j, u in enumerate(range(g * table.d, (g + 1) * table.d))
        ]
        one = QuantileRelease(
            values_by_share=np.array([values for values, _ in columns]).T,
            intervals=None if level is None else np.array([ends for _, ends in columns]).transpose(1, 0, 2),
            shares=shares,
            seal=run.seal,
            seeded=not bits.private,
            n=told["n"],
            columns=table.columns,
            units=getattr(table, "units", None),
            bounds=ends,
            settings=settings,
            rehearsal=rehearsal,
        )
        found.append(one)
    return by_group(found, records, settings)


def _in_units(
    plan: Ends, drawn: list[int], shares: tuple[Fraction, ...], points: RoundNumbers, grid: Grid, j: int
) -> tuple[list[float], list[tuple[float, float]]]:
    """A column's quantiles and the ends of their intervals in data units: post-processing."""
    by_share = {share: points.value(grid, j, y) for share, y in zip(plan.shares, drawn, strict=True)}
    lowest, highest = (points.value(grid, j, y) for y in (0, grid.cells[j]))
    ends = [
        (lowest if low is None else by_share[low], highest if high is None else by_share[high])
        for low, high in plan.ends
    ]
    return [by_share[share] for share in shares], ends


def checked_level(confidence: Any, joint: Any) -> Level | None:
    """None without intervals."""
    together = checked_joint(joint)
    if confidence is not None:
        return Level(checked_confidence(confidence), together)
    if together:
        raise ParameterError("joint", "must be left out without confidence", brief(joint))
    return None


def checked_shares(q: Any) -> tuple[Fraction, ...]:
    """Ascending rationals between 0 and 1."""
    listed = list(q) if isinstance(q, Iterable) and not isinstance(q, str | bytes) else [q]
    shares = sorted(rational("q", one) for one in listed)
    if not 1 <= len(shares) <= _MOST:
        raise ParameterError("q", f"must be from 1 to {_MOST} numbers", len(shares))
    if not (shares[0] > 0 and shares[-1] < 1) or len(set(shares)) != len(shares):
        raise ParameterError("q", "must be numbers between 0 and 1, different from each other", brief(q))
    if math.lcm(*(share.denominator for share in shares)) > _FINEST:
        raise ParameterError("q", f"must have a common denominator of at most {_FINEST}", brief(q))
    return tuple(shares)


class Unit(NamedTuple):
    """One column of one group: what its points weigh, its steps, which quantiles, and what pays for them."""

    points: RoundNumbers
    cells: int
    shares: tuple[Fraction, ...]
    paid: Paid
    labels: tuple[object, ...]

    def bits(self, what: str, one: OneDraw) -> Bits:
        return self.paid.bits(*self.labels, what, one.number)


def drawn_quantiles(
    values: SortedValues, units: Sequence[Unit], levels: int, keys: int | None = None
) -> list[list[int]]:
    """The quantiles of every unit as steps of its grid: pure DP, an equal part of what is paid for each level.

    `keys` is the number of groups, None without. Level by level for all units at once, so that passes are few.
    """
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
