"""The recursion of quantiles, level by level: which part of the values each is drawn from, and what a rank counts.

All of it is public. The draws themselves are sent in: exact for a release, in floats for a forecast.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from tukeydp.trusted.prices import kappa_of_parts, rank


@dataclass(frozen=True)
class Part:
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

    def halves(self, shares: tuple[Fraction, ...]) -> list[Part]:
        """Below and above the middle one; either may have nothing left to draw."""
        here = shares[self.middle]
        return [Part(self.first, self.middle, self.low, here), Part(self.middle + 1, self.last, here, self.high)]


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
) -> tuple[tuple[Fraction, tuple[Part, ...]], ...]:
    """Level by level: what a rank counts, and the parts whose middle quantile is drawn."""
    found = []
    level: tuple[Part, ...] = (Part(0, len(shares), Fraction(0), Fraction(1)),)
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
