"""Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.records import held_records
from tukeydp.data.relation import checked_relation
from tukeydp.data.tables import Table
from tukeydp.forecast.quantiles import quantile_rehearsal
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.quantile_levels import Among, OneDraw, as_if_swapped, by_halves, number_of_levels
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, in_steps
from tukeydp.trusted.bits import Bits, Keystream, source
from tukeydp.trusted.laws import WeightedDraw, bernoulli_exp
from tukeydp.trusted.parameters import (
    FloatArray,
    IntArray,
    ParameterError,
    brief,
    in_order,
    positive_rational,
    rational,
    show,
)
from tukeydp.trusted.release import Charge, Paid, Spends, reserve
from tukeydp.trusted.rows import Grid, bounded_grid, checked_bounds, require_bounds

# One quantile by its rank: the exponential mechanism on how far a point's rank is from the wanted one, drawn exactly.
#
# Of k sorted integers between two ends, a point y has rank from #{s < y} to #{s <= y}. Its score is the distance of the
# wanted rank p k to that range, in units of 1/t where p = s/t: a whole number V(y). Points are drawn with probability
# proportional to e^(-weight V(y) / t) (docs/proofs/quantiles.md). The points with V <= C form an interval between two
# order statistics: what lies between two such intervals is a shell, and shells are few.

# Scores nearest to the wanted rank that have a shell of their own, and by how much the others grow, as a share of their
# number. Speed only: a shell of several scores rejects some proposals.
_OWN, _GROWTH = 200, 16


@dataclass(frozen=True, eq=False)
class RankLaw:
    """The law of one quantile of `values` (sorted) between the ends `low` and `high`, both included.

    Attributes
    ----------
    share
        p: which part of the values shall lie below. A rational between 0 and 1.
    weight
        What one rank counts in the exponent.
    """

    values: IntArray
    low: int
    high: int
    share: Fraction
    weight: Fraction

    @property
    def wanted(self) -> int:
        """The wanted rank, in units of 1/t."""
        return self.share.numerator * len(self.values)

    def score(self, y: int) -> int:
        """V(y): how far the wanted rank is from the ranks of y, in units of 1/t; 0 for a quantile."""
        below, up_to = bisect_left(self.values, y), bisect_right(self.values, y)
        t = self.share.denominator
        return max(0, self.wanted - t * up_to, t * below - self.wanted)

    def interval(self, most: int) -> tuple[int, int]:
        """The points with a score of at most `most`."""
        t, k = self.share.denominator, len(self.values)
        first = -((most - self.wanted) // t)  # the fewest values up to y
        last = (self.wanted + most) // t  # the most values below y
        low = self.low if first <= 0 else int(self.values[first - 1])
        high = self.high if last >= k else int(self.values[last])
        return low, high

    def starts(self) -> IntArray:
        """Scores at which the interval grows, ascending from 0; the last one has all points."""
        t, k = self.share.denominator, len(self.values)
        ranks = np.arange(k + 1, dtype=np.int64) * t
        found = np.concatenate([self.wanted - ranks, ranks - self.wanted, [0]])
        return np.unique(found[found >= 0])

    @cached_property
    def _shells(self) -> list[Shell]:
        """From the narrowest interval out: scores from `least` up to the next start, and the points that have them."""
        edges = _thinned(self.starts()).tolist()
        shells, inner = [], None
        for i, least in enumerate(edges):
            outer = self.interval(edges[i + 1] - 1 if i + 1 < len(edges) else least)
            shell = Shell(least, outer, inner)
            inner = outer
            if shell.size:
                shells.append(shell)
        return shells

    def draw(self, bits: Bits) -> int:
        """A point with exactly this law. No cap on tries.

        A shell is drawn as if all its points had its least score, then a point of it, which is kept with the chance
        that its own score leaves.
        """
        unit = self.weight / self.share.denominator
        while True:
            shell = self._shells[self._law.draw(bits)]
            y = shell.point(bits.below(shell.size))
            more = unit * (self.score(y) - shell.least)
            if bernoulli_exp(more.numerator, more.denominator, bits):
                return y

    @cached_property
    def _law(self) -> WeightedDraw:
        unit = self.weight / self.share.denominator
        return WeightedDraw([shell.size for shell in self._shells], [-unit * shell.least for shell in self._shells])


class Shell(NamedTuple):
    """Points of an interval that are not in the next narrower one."""

    least: int
    outer: tuple[int, int]
    inner: tuple[int, int] | None

    @property
    def size(self) -> int:
        low, high = self.outer
        return high - low + 1 - (0 if self.inner is None else self.inner[1] - self.inner[0] + 1)

    def point(self, number: int) -> int:
        """The point with this number, from 0 to size - 1, ascending."""
        low = self.outer[0]
        if self.inner is None or number < self.inner[0] - low:
            return low + number
        return self.inner[1] + 1 + number - (self.inner[0] - low)


def _thinned(starts: IntArray) -> IntArray:
    """All of a few; of many the smallest, and then ever fewer."""
    kept, i = [], 0
    while i < len(starts) - 1:
        kept.append(starts[i])
        i += 1 if i < _OWN else max(1, i // _GROWTH)
    return np.array([*kept, starts[-1]], dtype=np.int64)


# Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md).
#
# The middle one first, then those below it among the values below it and those above among the others, and so on
# (Kaplan, Schnapp and Stemmer 2022). A row is in one part at each level, so that all quantiles of a level share one
# epsilon: three quantiles cost two levels, seven cost three.

# Bits of a column's default grid, and of what breaks ties: together below 62, so that points fit in 64 bits.
_GRID_BITS, TIE_BITS = 40, 16
_MOST_STEPS = 2**45
# Quantiles, and the common denominator of their shares: ranks are counted in its units, in 64 bits.
_MOST, _FINEST = 1000, 10**6
# Columns that nobody has more of: what is refused before the table is read must be too much for any.
_MANY_COLUMNS = 1000


@padded
@of_persons
@checked()
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
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> QuantileRelease:
    """Release several quantiles of each column, in order, for one epsilon.

    Parameters
    ----------
    x, epsilon, bounds, by, keys, person, per_person, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`; bounds are needed. A missing cell ranks nowhere: it is left out of its column. With
        neighbours="add-remove" `rows` is needed for `expected_error` only, and a median has twice the exponent.
    q
        Which quantiles: numbers between 0 and 1, different from each other, such as 0.5 for the median alone.
    resolution
        Step of the public grid, as for `td.boxem`; the width over 2**40 unless given. Give the true step of columns
        in which many values are equal (1 for counts and scores): released values are then steps, and far more often
        values that occur.
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
    - ties: where the wanted rank is nearer than that to the end of a run of equal values, a random point of the gap
      beside it. With the default grid that is some 140 ranks for quartiles at epsilon = 1, whatever n: the median of
      1000 scores from 1 to 5 may be 3.5 where the table's own is 4, and a column of one value needs about 600 rows.

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
    require_bounds(bounds, "wide ones cost little")
    require_by(by, keys)
    levels = number_of_levels(len(shares))
    steps = _MANY_COLUMNS * levels
    require_room(accountant, in_steps((budget / steps,) * steps, neighbours))  # what no run costs less than
    bits = source(randomness)
    records = held_records(x, relation, by=by, keys=keys)
    table = records.table
    assert isinstance(table, Table)
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(table.d, bounds=ends, resolution=resolution, bits=_GRID_BITS, columns=table.columns)
    if max(grid.cells) > _MOST_STEPS:
        rule = "must give at most 2**45 steps between the bounds of a column, so that ranks fit in 64 bits"
        raise ParameterError("resolution", rule, show(min(grid.step)))
    each = budget / (table.d * levels)
    column: PureDP = in_steps((each,) * levels, neighbours)
    settings = {"quantiles": [show(share) for share in shares], "levels": levels, "epsilon_of_level": each}
    settings |= {**relation.settings, **records.settings}
    told = records.public
    public = {**told, "bounds": ends, "grid": grid.to_dict(), "settings": settings, **records.public_groups}
    parts = {f"column {j}": column for j in range(table.d)}
    run = reserve(parts, mechanism="quantiles", source=bits, accountant=accountant, parameters=public)
    charges = [run.charge(name, "column", j) for j, name in enumerate(parts)]
    groups = records.parts()
    drawn = [column_quantiles(groups, grid, j, shares, charge, records.count) for j, charge in enumerate(charges)]
    size = records.size_of_group
    among = Among(neighbours, records.count)
    effective = as_if_swapped(shares, each, among)
    rehearsal = None
    if size is not None:
        rehearsal = quantile_rehearsal(size, grid, ends, shares, effective, in_order("sd", sd, table.columns))
    found = []
    for g in range(len(groups)):
        values = [[point_of(grid, j, y) for j, y in enumerate(row)] for row in zip(*(c[g] for c in drawn), strict=True)]
        one = QuantileRelease(
            values_by_share=np.array(values),
            shares=shares,
            seal=run.seal,
            seeded=not bits.private,
            n=told["n"],
            columns=table.columns,
            units=table.units,
            bounds=ends,
            settings=settings,
            rehearsal=rehearsal,
        )
        found.append(one)
    return by_group(found, records, settings)


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


def column_quantiles(
    parts: Sequence[tuple[tuple[object, ...], FloatArray]],
    grid: Grid,
    j: int,
    shares: tuple[Fraction, ...],
    charge: Charge,
    keys: int | None = None,
) -> list[list[int]]:
    """The quantiles of one column in every group as steps of the grid: pure DP, an equal part for each level.

    `parts` are the groups' cells, with labels for their keys; `keys` is the number of groups, None without.
    """
    levels = number_of_levels(len(shares))
    paid = charge.consume(rho=levels * (charge.epsilon / levels) ** 2 / 8)
    highest = ((grid.cells[j] + 1) << TIE_BITS) - 1
    found = []
    for labels, cells in parts:
        fine = tie_broken(steps_of(cells[:, j], grid, j), Keystream(paid.key(*labels, "ties")))
        found.append([y >> TIE_BITS for y in halved(fine, highest, shares, paid, labels, keys)])
    return found


def halved(
    fine: IntArray,
    highest: int,
    shares: tuple[Fraction, ...],
    paid: Paid,
    labels: tuple[object, ...] = (),
    keys: int | None = None,
) -> list[int]:
    """Points from 0 to `highest`, in order, by recursive halving."""

    def exactly(one: OneDraw) -> int:
        bits = paid.bits(*labels, "quantile", one.number)
        return RankLaw(one.values, one.low, one.high, one.share, one.weight).draw(bits)

    each = paid.epsilon / number_of_levels(len(shares))
    return by_halves(fine, highest, shares, each, exactly, Among(paid.relation, keys))


def steps_of(cells: FloatArray, grid: Grid, j: int) -> IntArray:
    """The column's values as steps from the lower bound, each by itself; missing cells are left out."""
    one = Grid(grid.lower[j : j + 1], grid.step[j : j + 1], grid.cells[j : j + 1])
    return one.snap(cells[:, np.newaxis])[:, 0] + grid.cells[j] // 2  # the grid counts from its middle


def tie_broken(steps: IntArray, stream: Keystream) -> IntArray:
    """Equal values become different ones: secret bits below each, by its place. What is released is cut off again.

    Without them one part would have all values that are equal to its edge, and the other none.
    """
    words = stream.words(0, len(steps))
    return (steps << TIE_BITS) | (words >> np.uint64(64 - TIE_BITS)).astype(np.int64)


def point_of(grid: Grid, j: int, step: int) -> float:
    """In data units: post-processing."""
    return float(grid.lower[j] + grid.step[j] * step)
