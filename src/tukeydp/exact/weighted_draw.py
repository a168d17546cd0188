"""Exact draw of an index with probability proportional to size * e^(exponent), sizes whole and exponents rational.

Cumulative weights are enclosed in integers, and a uniform real is revealed until one index is certain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from tukeydp.exact.brackets import Bracket, exp_bracket
from tukeydp.randomness import Bits

# Bits of the uniform real that are looked at first, and bits carried beyond: nearly every draw is decided by them.
_FIRST, _GUARD = 64, 64


class WeightedDraw:
    """The law of an index over sizes > 0 and exponents of any sign."""

    def __init__(self, sizes: Sequence[int], exponents: Sequence[Fraction]) -> None:
        if not sizes or min(sizes) < 1 or len(sizes) != len(exponents):
            raise ValueError("sizes must be positive, one for each exponent")
        self._sizes, least = tuple(sizes), min(exponents)
        self._exponents = tuple(exponent - least for exponent in exponents)
        self._tables: dict[int, tuple[list[int], list[int]]] = {}

    def draw(self, bits: Bits) -> int:
        """An index, exactly. No cap on how many bits are looked at."""
        taken, prefix = _FIRST, bits.take(_FIRST)
        while True:
            low, high = self._cumulative(taken)
            # The real lies in [prefix, prefix + 1) / 2^taken; sums up to index i are within low[i] ... high[i].
            i = bisect_left(low, -(-(prefix + 1) * high[-1] >> taken))
            i = min(i, len(low) - 1)
            if (i == 0 or high[i - 1] << taken <= prefix * low[-1]) and (
                i == len(low) - 1 or (prefix + 1) * high[-1] <= low[i] << taken
            ):
                return i
            prefix = (prefix << taken) | bits.take(taken)
            taken *= 2

    def _cumulative(self, bits: int) -> tuple[list[int], list[int]]:
        """Sums of weights up to each index, enclosed from below and from above, in a common unit."""
        if bits not in self._tables:
            work = bits + _GUARD
            tops = [
                exp_bracket(exponent, work).times(Bracket(size, size, 0), work)
                for size, exponent in zip(self._sizes, self._exponents, strict=True)
            ]
            unit = max(top.high.bit_length() + top.exponent for top in tops) - work
            ends = [top.fixed(unit) for top in tops]
            self._tables[bits] = (
                list(accumulate(low for low, _ in ends)),
                list(accumulate(high for _, high in ends)),
            )
        return self._tables[bits]
