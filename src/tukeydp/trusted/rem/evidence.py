"""How safe a dataset is for REM: brackets of 1 + b_k / a_k, refined level by level as far as a test asks.

1 / (1 + b_k / a_k) bounds what k + 1 swapped rows can do (docs/proofs/rem.md, section 3). Over e^(eta t),

    a_k = e^-eta upper(t-1-k) + (1 - e^-eta) upper(t-k)   [ - lower(t+k+1) where sizes are exact ]
    b_k = e^eta sum_i c_i lower(t+k+1+o_i),    c_0 = 1,   c_i = e^(eta o_i) - e^(eta o_(i-1))

for public offsets 0 = o_0 < o_1 < ... Sizes fall as levels rise, so those of a few levels bracket all others; each new
one narrows the brackets, and once all are known only rounding is left.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tukeydp.trusted.hinted import asked
from tukeydp.trusted.laws import exp_between, exp_bracket
from tukeydp.trusted.sizes.level_sizes import RoughlyMeasured, Sizes


class KnownSizes:
    """Sizes at some levels, from below and from above. They fall as levels rise, so a few levels bracket all others.

    A size whose two bounds are equal is *settled*. Sizes from a solver are right up to a slack only: settled ones of
    neighbouring levels may contradict each other by as much, and are left as they are.
    """

    def __init__(self) -> None:
        self.values: dict[int, tuple[int, int]] = {}
        self._levels: list[int] = []

    def add(self, level: int, low: int, high: int) -> None:
        """Bounds of a level, beside those that are known; they sharpen those of all levels that are not settled."""
        if level not in self.values:
            insort(self._levels, level)
            self.values[level] = low, high
        if low < high:
            low = max(low, *(self.values[other][0] for other in self._levels if other >= level))
            high = max(low, min(high, *(self.values[other][1] for other in self._levels if other <= level)))
        self.values[level] = low, high
        for other in self._levels:
            least, most = self.values[other]
            if least < most:
                least = max(least, low) if other < level else least
                most = min(most, high) if other > level else most
                self.values[other] = least, max(least, most)

    def copy(self) -> KnownSizes:
        """For a hint, which may do with it what it likes."""
        other = KnownSizes()
        other.values, other._levels = dict(self.values), list(self._levels)
        return other

    def settled(self, level: int) -> bool:
        low, high = self.values[level]
        return low == high

    def below(self, level: int) -> int | None:
        """The nearest known level at or below."""
        i = bisect_right(self._levels, level)
        return self._levels[i - 1] if i else None

    def above(self, level: int) -> int | None:
        """The nearest known level at or above."""
        i = bisect_left(self._levels, level)
        return self._levels[i] if i < len(self._levels) else None

    def bracket(self, level: int) -> tuple[int, int]:
        """Between which two numbers the size of any level is."""
        below, above = self.below(level), self.above(level)
        assert below is not None
        return 0 if above is None else self.values[above][0], self.values[below][1]


@dataclass(frozen=True)
class View:
    """What a hint sees: sizes, the levels whose lower size was looked at, the weights of a sum, and exactness."""

    upper: KnownSizes
    lower: KnownSizes
    looked: Collection[int]
    weights: Sequence[tuple[int, int]]
    exact: bool


# Sizes are whole numbers of 2^-_UNIT grid points here, rounded to the safe side: below one point there is nothing but
# zero. Fewer bits would weaken the test, more cost time.
_UNIT = 64
# Offsets above t + k + 1: all up to the first number, then growing by the second. Public. Fewer offsets weaken the
# test, more cost time.
_DENSE, _GROWTH = 48, 1.08

# How far apart, relative to the smaller, two bounds of a lower size should be after each closer look, where looks are
# costly; the first look bounds from above only, the last is exact up to the slack: few coins need it.
_APART = (Fraction(8), Fraction(1), Fraction(1, 16))


def closeness(looks: int, bounds: tuple[int, int]) -> tuple[int, Fraction | None]:
    """The number of the next look at a lower size, and how far apart its bounds may be; None for no such freedom.

    What is known from other levels may be closer than the next look would be.
    """
    least, most = bounds
    while least and 0 < looks <= len(_APART) and most <= least * (1 + _APART[looks - 1]):
        looks += 1
    return looks, _APART[looks - 1] if 0 < looks <= len(_APART) else None


@dataclass(frozen=True)
class Plan:
    """What is fixed without the data.

    Attributes
    ----------
    threshold
        The lowest level t that may be released.
    n
        Rows that it was made for: a public number.
    release, test
        The two parts of epsilon: that of the draw (eta is half of it; all of it under add/remove) and that of the test.
    swaps
        K: that many swapped rows are taken to be able to do anything; rows added or removed under add/remove.
    offsets
        0 = o_0 < o_1 < ...: the levels above t + k + 1 that are looked at.
    """

    n: int
    threshold: int
    release: Fraction
    test: Fraction
    delta: Fraction
    swaps: int
    offsets: tuple[int, ...]
    neighbours: str = "swap"

    def __post_init__(self) -> None:
        ascending = self.offsets[:1] == (0,) and all(a < b for a, b in pairwise(self.offsets))
        if not (
            min(self.release, self.test) > 0 and self.threshold >= 1 and 0 <= self.swaps < self.threshold and ascending
        ):
            raise ValueError(
                "no plan of a test: parts of epsilon above 0, fewer swaps than the threshold, rising offsets"
            )

    @property
    def eta(self) -> Fraction:
        return self.release if self.neighbours == "add-remove" else self.release / 2

    @property
    def epsilon(self) -> Fraction:
        return self.release + self.test


def sparse_offsets(n: int) -> tuple[int, ...]:
    """0 ... 48, then growing by 8 percent, up to n."""
    found = list(range(min(_DENSE, n) + 1))
    while found[-1] < n:
        found.append(max(found[-1] + 1, int(found[-1] * _GROWTH)))
    return tuple(found)


class Evidence:
    """Brackets of 1 + b_k / a_k for k = 0 ... K - 1. Not private: all of this is the data."""

    _lowest_sum = 1  # the first level that is summed from, above t

    def __init__(self, sizes: Sizes, plan: Plan) -> None:
        self.plan, self._sizes = plan, sizes
        self.slack = sizes.slack
        # Levels above the top are empty: leaving them out changes nothing.
        self._offsets = [o for o in plan.offsets if plan.threshold + self._lowest_sum + o <= sizes.top] or [0]
        self._upper = KnownSizes()
        self._lower = self._upper if sizes.exact else KnownSizes()
        self._weights: dict[int, list[tuple[int, int]]] = {}
        self._powers: dict[tuple[int, int], tuple[int, int]] = {}
        self._growths: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
        self._looks: dict[int, int] = {}  # how often the lower size of a level was looked at
        self.empty = self._none_at(plan.threshold)
        if not self.empty:
            self._lower.add(max(sizes.top, plan.threshold) + 1, 0, 0)
            if plan.swaps:
                self._measure(self._upper, plan.threshold - plan.swaps)
                self._measure(self._upper, plan.threshold)

    def strength(self, k: int, bits: int) -> tuple[int | None, int | None]:
        """1 + b_k / a_k from below and from above, times 2^bits; None for infinity. It falls as k grows."""
        a_low, a_high = self._a(k, bits)
        b_low = b_high = 0
        for (c_low, c_high), level in zip(self._c(bits), self._levels(k), strict=True):
            low, high = self._lower.bracket(level)
            b_low += c_low * low
            b_high += c_high * high
            if not high:
                break
        e_low, e_high = self._exp(1, bits)
        one = 1 << bits
        return (
            one + b_low * e_low // a_high if a_high > 0 else None if b_low else one,
            one - (-b_high * e_high // a_low) if a_low > 0 else None if b_high else one,
        )

    def peak(self, k: int, bits: int) -> tuple[int, int]:
        """The paper's score: the largest e^(eta o) lower(t+k+1+o) / upper(t-1-k), o >= 1, times 2^bits."""
        a_low, a_high = self._upper.bracket(self.plan.threshold - 1 - k)
        low = high = 0
        for o, level in zip(self._offsets[1:], self._levels(k)[1:], strict=True):
            size_low, size_high = self._lower.bracket(level)
            if not size_high:
                break
            e_low, e_high = self._exp(o, bits)
            low, high = max(low, e_low * size_low), max(high, e_high * size_high)
        return low // a_high, -(-high // a_low)

    def growth(self, k: int, bits: int) -> tuple[Fraction, Fraction]:
        """e^((epsilon_test - 2 slack) k) from below and from above."""
        if (k, bits) not in self._growths:
            self._growths[k, bits] = exp_between((self.plan.test - 2 * self.slack) * k, bits)
        return self._growths[k, bits]

    def refine(self, k: int) -> bool:
        """Measure the level that says most about b_k / a_k; False if all are known."""
        t = self.plan.threshold
        return self._narrow((t - 1 - k, t - k), self._levels(k))

    def _narrow(self, outer: Sequence[int], levels: Sequence[int]) -> bool:
        """Measure a size that the ratio of the sum over `levels` to the sizes of `outer` hangs on; False without one.

        Which comes first is speed only: the proposal is taken if there is something to learn from it.
        """
        view = View(self._upper.copy(), self._lower.copy(), set(self._looks), tuple(self._c(_UNIT)), self._sizes.exact)
        proposed = asked("next_size", view, tuple(outer), tuple(levels))
        step = proposed if self._tells(proposed, outer, levels) else self._first_open(outer, levels)
        if step is None:
            return False
        which, level = step
        if which == "upper" or level not in self._lower.values:
            self._measure(self._upper if which == "upper" else self._lower, level)
        else:
            self._look(level)
        return True

    def _tells(self, step: Any, outer: Sequence[int], levels: Sequence[int]) -> bool:
        """Whether a step is to measure a size that is not known."""
        if not (isinstance(step, tuple) and len(step) == 2 and type(step[1]) is int):
            return False
        which, level = step
        if which == "upper":
            return level in outer and level not in self._upper.values
        known = level in self._lower.values
        return which == "lower" and (not self._lower.settled(level) if known else level in levels)

    def _first_open(self, outer: Sequence[int], levels: Sequence[int]) -> tuple[str, int] | None:
        """The first size that is not known; None if all are, or are known to be zero."""
        for level in outer:
            if level not in self._upper.values:
                return "upper", level
        for level in levels:
            if self._lower.bracket(level)[1] and not (level in self._lower.values and self._lower.settled(level)):
                return "lower", level
        return None

    def _measure(self, known: KnownSizes, level: int) -> int:
        """Learn about a level of which nothing is known; its size from below."""
        if level not in known.values:
            if known is self._upper:
                value = math.ceil(self._sizes.upper(level) * 2**_UNIT)
                known.add(level, value, value)
            else:
                self._look(level)
        return known.values[level][0]

    def _look(self, level: int) -> None:
        """The lower size of a level, more closely than the last time where that is costly."""
        known = self._lower.bracket(level) if self._looks else (0, 0)
        looks, apart = closeness(self._looks.get(level, 0), known)
        self._looks[level] = looks + 1
        sizes = self._sizes
        if isinstance(sizes, RoughlyMeasured) and not looks:
            low, high = Fraction(0), sizes.lower_at_most(level)
        elif isinstance(sizes, RoughlyMeasured) and apart is not None:
            low, high = sizes.lower_between(level, apart)
        else:
            low = high = sizes.lower(level)
        # The same rounding for one number twice: what is known exactly stays one number.
        above = math.floor(high * 2**_UNIT) if low == high else math.ceil(high * 2**_UNIT)
        self._lower.add(level, math.floor(low * 2**_UNIT), above)

    def _none_at(self, level: int) -> bool:
        """Whether the lower size of a level is zero."""
        while self._measure(self._lower, level) == 0 < self._lower.values[level][1]:
            self._look(level)
        return not self._lower.values[level][0]

    def _levels(self, k: int) -> list[int]:
        return [self.plan.threshold + k + 1 + o for o in self._offsets]

    def _a(self, k: int, bits: int) -> tuple[int, int]:
        """a_k from below and from above, times 2^(bits + _UNIT)."""
        t = self.plan.threshold
        e_low, e_high = self._exp(1, bits)
        one = 1 << bits
        part_low, part_high = one * one // e_high, -(-one * one // e_low)  # e^-eta
        outer_low, outer_high = self._upper.bracket(t - 1 - k)
        inner_low, inner_high = self._upper.bracket(t - k)
        # e^-eta outer + (1 - e^-eta) inner, and outer >= inner: it grows with e^-eta.
        low = part_low * outer_low + (one - part_low) * inner_low
        high = part_high * outer_high + (one - part_high) * inner_high
        if self._sizes.exact:
            core_low, core_high = self._lower.bracket(t + k + 1)
            low, high = low - one * core_high, high - one * core_low
        return low, high

    def _exp(self, offset: int, bits: int) -> tuple[int, int]:
        """e^(eta offset), times 2^bits."""
        if (offset, bits) not in self._powers:
            self._powers[offset, bits] = exp_bracket(self.plan.eta * offset, bits + _UNIT).fixed(-bits)
        return self._powers[offset, bits]

    def _c(self, bits: int) -> list[tuple[int, int]]:
        """The weights c_i, times 2^bits."""
        if bits not in self._weights:
            ends = [self._exp(o, bits) for o in self._offsets]
            steps = [(max(0, b[0] - a[1]), b[1] - a[0]) for a, b in pairwise(ends)]
            self._weights[bits] = [(1 << bits, 1 << bits), *steps]
        return self._weights[bits]


# How safe a dataset is for REM under add/remove: rows that are added only raise depths, removed ones only lower them.
#
# What k + 1 rows, each added or removed, can do is at most 1 / (1 + ratio_k) with
#
#     ratio_k = min over j = t ... t+k+1 of  e^eta sum_i c_i lower(j+o_i) / upper(j-1-k),
#
# [ upper(j-1-k) - lower(j) where sizes are exact ], for public offsets o_i and the weights c_i of `evidence`
# (docs/proofs/add-remove.md, section 6). j says how many of k rows are removed, and on which side of the threshold
# harm is done.


_GUIDE_BITS = 64  # of the ratios that say where to look first; speed only

Ratio = tuple[int | None, int | None]


class OneSided(Evidence):
    """Brackets of 1 + ratio_k for k = 0 ... K - 1, under the interface of `Evidence`."""

    _lowest_sum = 0

    def __init__(self, sizes: Sizes, plan: Plan) -> None:
        self._sums: dict[tuple[int, int], tuple[int, int]] = {}
        super().__init__(sizes, plan)

    def strength(self, k: int, bits: int) -> Ratio:
        found = self._ratios(k, bits)
        lows = [low for low, _ in found.values() if low is not None]
        highs = [high for _, high in found.values() if high is not None]
        return min(lows, default=None), min(highs, default=None)

    def refine(self, k: int) -> bool:
        """Measure the level that says most about the least ratio; False if all are known."""
        found = self._ratios(k, _GUIDE_BITS)
        # The least from below comes first. Where all of it is known the next may still be smaller, by a rounding.
        order = sorted(found, key=lambda j: (found[j][0] is None, found[j][0] or 0))
        return any(self._narrow((j - 1 - k,), [j + o for o in self._offsets]) for j in order)

    def _ratios(self, k: int, bits: int) -> dict[int, Ratio]:
        """1 + each ratio from below and from above, times 2^bits; None for infinity."""
        t, one = self.plan.threshold, 1 << bits
        e_low, e_high = self._exp(1, bits)
        found: dict[int, Ratio] = {}
        for j in range(t, t + k + 2):
            b_low, b_high = self._sum(j, bits)
            a_low, a_high = self._harm(j, k, bits)
            found[j] = (
                one + b_low * e_low // a_high if a_high > 0 else None if b_low else one,
                one - (-b_high * e_high // a_low) if a_low > 0 else None if b_high else one,
            )
        return found

    def _harm(self, j: int, k: int, bits: int) -> tuple[int, int]:
        """The points that may stand just below the edge, from below and from above, times 2^(bits + unit)."""
        low, high = self._upper.bracket(j - 1 - k)
        if self._sizes.exact:
            core_low, core_high = self._lower.bracket(j)
            low, high = low - core_high, high - core_low
        return low << bits, high << bits

    def _sum(self, j: int, bits: int) -> tuple[int, int]:
        """sum_i c_i lower(j+o_i), times 2^(bits + unit)."""
        if (j, bits) not in self._sums:
            low = high = 0
            for (c_low, c_high), o in zip(self._c(bits), self._offsets, strict=True):
                size_low, size_high = self._lower.bracket(j + o)
                if not size_high:
                    break
                low += c_low * size_low
                high += c_high * size_high
            self._sums[j, bits] = low, high
        return self._sums[j, bits]

    def _measure(self, known: KnownSizes, level: int) -> int:
        if level not in known.values:
            self._sums.clear()
        return super()._measure(known, level)

    def _look(self, level: int) -> None:
        self._sums.clear()
        super()._look(level)


def evidence_of(sizes: Sizes, plan: Plan) -> Evidence:
    """What the test of such a plan looks at."""
    return OneSided(sizes, plan) if plan.neighbours == "add-remove" else Evidence(sizes, plan)
