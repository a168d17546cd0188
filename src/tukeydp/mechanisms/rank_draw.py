"""One quantile by its rank: the exponential mechanism on how far a point's rank is from the wanted one, drawn exactly.

Of k sorted integers between two ends, a point y has rank from #{s < y} to #{s <= y}. Its score is the distance of the
wanted rank p k to that range, in units of 1/t where p = s/t: a whole number V(y). Points are drawn with probability
proportional to e^(-weight V(y) / t) (docs/proofs/quantiles.md). The points with V <= C form an interval between two
order statistics: what lies between two such intervals is a shell, and shells are few.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.exact.noise import bernoulli_exp
from tukeydp.exact.weighted_draw import WeightedDraw
from tukeydp.randomness import Bits

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
