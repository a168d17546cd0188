"""Sizes in one column (docs/proofs/rem.md, section 5)."""

from __future__ import annotations

from fractions import Fraction

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets


class Intervals:
    """One column: level sets are intervals, and counting is subtracting."""

    exact = True
    slack = Fraction(0)

    def __init__(self, levels: LevelSets, within: Box) -> None:
        self._levels, self._within = levels, within
        self.top = levels.highest_unbroken()

    def upper(self, level: int) -> Fraction:
        low, high = self._within.low[0], self._within.high[0]
        if level > self._levels.rows:
            return Fraction(0)
        if level > 0:
            smallest, largest = self._levels.offsets(level)
            for v, a, b in zip(
                self._levels.directions[:, 0].tolist(), smallest.tolist(), largest.tolist(), strict=True
            ):
                if v:
                    a, b = (a, b) if v > 0 else (-b, -a)
                    low, high = max(low, -(-a // abs(v))), min(high, b // abs(v))
        return Fraction(max(0, high - low + 1))

    lower = upper
