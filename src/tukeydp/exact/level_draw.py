"""Exact draw of a level: weights enclosed in integers, and a uniform real revealed until one level is certain.

The law is  Pr[level = l] proportional to  w_l * size(l)  with  w_t = q^t  at the lowest level t and
w_l = q^l - q^(l-1)  above it, q = e^(epsilon/2)  (docs/proofs/boxem.md, "The level draw"). Levels that share a
box form a group, whose weights telescope. Nothing is rounded to nearest: every table entry is a pair of
integers that encloses the true value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import IntArray
from tukeydp.exact.brackets import Bracket, exp_bracket
from tukeydp.randomness import Bits

WORD = 64  # bits: what one step of the keystream gives, and what the compiled loop compares
# Bits carried beyond those of the table, so that brackets are far narrower than one of its units. Fewer leave more
# words undecided, which costs speed only.
_GUARD = 64


@dataclass(frozen=True)
class Group:
    """Levels lowest ... highest, all drawn from one box with `size` grid points."""

    lowest: int
    highest: int
    size: int


@dataclass(frozen=True)
class WordTable:
    """For the hot loop: words first[i] ... last[i] mean level[i] of group[i]; all others are undecided."""

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    level: IntArray
    group: IntArray


@dataclass(frozen=True)
class _Rows:
    """Cumulative weights, enclosed: row i covers floor[i-1] ... ceiling[i] of 2^bits."""

    floor: list[int]
    ceiling: list[int]
    level: list[int | None]  # None: a tail of levels too light to be told apart at this precision
    group: list[int]


class LevelDraw:
    """The exact law of the level over consecutive groups, the first of which holds the lowest level.

    Parameters
    ----------
    groups
        Disjoint, consecutive, ascending. Their sizes may be any non-negative integers, not all zero.
    epsilon
        The exponential mechanism's epsilon; q = e^(epsilon/2).
    """

    def __init__(self, groups: Sequence[Group], epsilon: Fraction) -> None:
        self.groups = tuple(groups)
        self.epsilon = epsilon
        self._tables: dict[int, _Rows] = {}

    def word_table(self, bits: int = WORD) -> WordTable:
        """What `bits` leading bits of the uniform real decide. Fewer than 64 only leave more undecided."""
        rows = self._rows(bits)
        first, last, level, group = [], [], [], []
        for i, here in enumerate(rows.level):
            start = rows.ceiling[i - 1] if i else 0
            if here is not None and start < rows.floor[i]:
                first.append(start << (WORD - bits))
                last.append((rows.floor[i] << (WORD - bits)) - 1)
                level.append(here)
                group.append(rows.group[i])
        if not first:  # too few bits to decide anything: an interval that no word is in
            first, last, level, group = [2**WORD - 1], [0], [0], [0]
        return WordTable(
            np.array(first, dtype=np.uint64),
            np.array(last, dtype=np.uint64),
            np.array(level, dtype=np.int64),
            np.array(group, dtype=np.int64),
        )

    def finish(self, prefix: int, more: Bits) -> tuple[int, int]:
        """Level and group of the uniform real that starts with the 64-bit `prefix`."""
        bits = WORD
        while True:
            rows = self._rows(bits)
            i = bisect_right(rows.floor, prefix)
            level = rows.level[i]
            if level is not None and (i == 0 or rows.ceiling[i - 1] <= prefix):
                return level, rows.group[i]
            prefix = (prefix << bits) | more.take(bits)
            bits *= 2

    def _rows(self, bits: int) -> _Rows:
        if bits not in self._tables:
            self._tables[bits] = self._enclose(bits)
        return self._tables[bits]

    def _enclose(self, bits: int) -> _Rows:
        """Enclose the cumulative distribution in units of 2^-bits."""
        x = self.epsilon / 2
        # A group's weight is q^b - q^a: for tiny epsilon the difference cancels, so carry those bits too.
        lost = max(0, x.denominator.bit_length() - x.numerator.bit_length() + 1)
        work = bits + _GUARD + lost + self.groups[-1].highest.bit_length()
        powers = _inverse_powers(x, work, max(g.highest - g.lowest + 1 for g in self.groups), bits + _GUARD // 2)
        tops = [
            exp_bracket(x * g.highest, work).times(Bracket(g.size, g.size, 0), work) if g.size else Bracket(0, 0, 0)
            for g in self.groups
        ]
        unit = max(t.high.bit_length() + t.exponent for t in tops if t.high) - work
        low, high = 0, 0
        ends: list[tuple[int, int]] = []
        level: list[int | None] = []
        group: list[int] = []
        for index, (g, top) in enumerate(zip(self.groups, tops, strict=True)):
            top_low, top_high = top.fixed(unit)
            count = g.highest - g.lowest + 1
            for i in range(1, min(count, len(powers) - 1) + 1):
                power_low, power_high = powers[i]
                if index == 0 and i == count:
                    power_low = power_high = 0  # the lowest level weighs q^t, not q^t - q^(t-1)
                ends.append(_step(low, high, top_low, top_high, power_low, power_high, work))
                level.append(g.highest - i + 1)
                group.append(index)
            if count > len(powers) - 1:
                # q^-count is somewhere between 0 and the smallest power kept.
                power_high = 0 if index == 0 else powers[-1][1]
                ends.append(_step(low, high, top_low, top_high, 0, power_high, work))
                level.append(None)
                group.append(index)
            low, high = ends[-1]
        floor = [(a << bits) // high for a, _ in ends]
        ceiling = [min(1 << bits, -((-b << bits) // low)) for _, b in ends]
        floor[-1] = ceiling[-1] = 1 << bits
        return _Rows(floor, ceiling, level, group)


def _step(
    low: int, high: int, top_low: int, top_high: int, power_low: int, power_high: int, work: int
) -> tuple[int, int]:
    """Enclose what lies below a group plus its part top * (1 - power), with power in units of 2^-work."""
    one = 1 << work
    return low + (top_low * (one - power_high) >> work), high + -(-top_high * (one - power_low) >> work)


def _inverse_powers(x: Fraction, work: int, most: int, negligible: int) -> list[tuple[int, int]]:
    """Enclose e^(-x i) in units of 2^-work for i = 0, 1, ... until below 2^-negligible or i = most."""
    q = exp_bracket(x, work)
    one = 1 << work
    # 1/q, rounded outwards; q >= 1, so both quotients are at most 2^work. A huge q leaves less than one unit.
    scale = work - q.exponent
    ratio = ((1 << scale) // q.high, min(one, -(-(1 << scale) // q.low))) if scale >= 0 else (0, 1)
    powers = [(one, one)]
    while len(powers) <= most and powers[-1][1] >> (work - negligible):
        low, high = powers[-1]
        powers.append((low * ratio[0] >> work, -(-high * ratio[1] >> work)))
    return powers
