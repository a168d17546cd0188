"""One quantile by its rank: the exponential mechanism on how far a point's rank is from the wanted one, drawn exactly.

Of k sorted integers between two ends, a point y has rank from #{s < y} to #{s <= y}. Its score is the distance of the
wanted rank p k to that range, in units of 1/t where p = s/t: a whole number V(y). Points are drawn with probability
proportional to e^(-weight V(y) / t) (docs/proofs/quantiles.md). The points with V <= C form an interval between two
order statistics, so that the level draw of boxem serves here too, without a linear program.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.exact.level_draw import WORD, Group, LevelDraw
from tukeydp.randomness import Bits

# Levels nearest to the wanted rank that have an interval of their own, and by how much the others grow, as a share of
# their number. Speed only: a level that shares the interval of a wider one rejects some proposals.
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
    def _levels(self) -> tuple[LevelDraw, list[tuple[int, int]]]:
        """The law of the level, worst score less score, and the interval of each of its groups.

        From level 0, all points, up: group i holds the scores from edges[i] to edges[i - 1] - 1, and its interval the
        points that have one of them or less.
        """
        edges = [int(c) for c in _thinned(self.starts())[::-1]]
        worst = edges[0]
        boxes = [self.interval(edges[i - 1] - 1 if i else worst) for i in range(len(edges))]
        tops = [worst - c for c in edges]
        groups = [Group(tops[i - 1] + 1 if i else 0, tops[i], b - a + 1) for i, (a, b) in enumerate(boxes)]
        return LevelDraw(groups, 2 * self.weight / self.share.denominator), boxes

    def draw(self, bits: Bits) -> int:
        """A point with exactly this law. No cap on tries."""
        law, boxes = self._levels
        worst = law.groups[-1].highest
        while True:
            level, group = law.finish(bits.take(WORD), bits)
            low, high = boxes[group]
            y = low + bits.below(high - low + 1)
            if worst - self.score(y) >= level:
                return y


def _thinned(starts: IntArray) -> IntArray:
    """All of a few; of many the smallest, and then ever fewer."""
    kept, i = [], 0
    while i < len(starts) - 1:
        kept.append(starts[i])
        i += 1 if i < _OWN else max(1, i // _GROWTH)
    return np.array([*kept, starts[-1]], dtype=np.int64)
