"""Exact laws: enclosed exponentials, weighted draws, levels, discrete Laplace and Gaussian noise, cube noise."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.bits import Bits
from tukeydp.trusted.parameters import IntArray, ParameterError

# Exponentials and logarithms of rationals enclosed between integers or rationals, as narrowly as asked for.

# Bits of an enclosure unless the caller asks for others. Fewer cost sharpness, never truth.
BITS = 192


@dataclass(frozen=True)
class Bracket:
    """A positive real enclosed by low * 2^exponent and high * 2^exponent."""

    low: int
    high: int
    exponent: int

    def trimmed(self, bits: int) -> Bracket:
        """The same real with about `bits` bits, rounded outwards."""
        excess = max(0, self.high.bit_length() - bits)
        return Bracket(self.low >> excess, -(-self.high >> excess), self.exponent + excess)

    def times(self, other: Bracket, bits: int) -> Bracket:
        product = Bracket(self.low * other.low, self.high * other.high, self.exponent + other.exponent)
        return product.trimmed(bits)

    def fixed(self, exponent: int) -> tuple[int, int]:
        """Floor and ceiling of the bracket's ends in units of 2^exponent."""
        shift = self.exponent - exponent
        if shift >= 0:
            return self.low << shift, self.high << shift
        shift = min(-shift, self.high.bit_length() + 1)  # beyond this the answer no longer changes
        return self.low >> shift, -(-self.high >> shift)


def exp_bracket(x: Fraction, bits: int) -> Bracket:
    """Enclose e^x, x >= 0, to about `bits` bits.

    Taylor's series at r = x / 2^k < 1/16, then k squarings, each with rounding outwards.
    """
    k = max(0, (x.numerator // x.denominator).bit_length() + 4)
    work = bits + 2 * k + 32
    numerator, denominator = x.numerator, x.denominator << k
    low = high = term_low = term_high = 1 << work
    j = 0
    while term_high > 1:
        j += 1
        term_low = term_low * numerator // (denominator * j)
        term_high = -(-term_high * numerator // (denominator * j))
        low += term_low
        high += term_high
    # The terms left out add up to less than r/(j+1) * (1 + r + ...) of the last one, so to less than it.
    result = Bracket(low, high + term_high + 1, -work)
    for _ in range(k):
        result = result.times(result, work)
    return result.trimmed(bits)


def rounded_down(value: Fraction, bits: int = 128) -> Fraction:
    """The value with its leading bits only."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - bits
    if shift >= 0:
        return Fraction((value.numerator // (value.denominator << shift)) << shift)
    return Fraction((value.numerator << -shift) // value.denominator, 1 << -shift)


def exp_between(x: Fraction, bits: int = BITS) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^x, for any rational x, to about `bits` bits.

    >>> low, high = exp_between(Fraction(1), bits=40)
    >>> low < Fraction("2.718281828459045235360287471352") < high
    True
    """
    bracket = exp_bracket(abs(x), bits)
    unit = Fraction(2) ** bracket.exponent
    low, high = bracket.low * unit, bracket.high * unit
    return (low, high) if x >= 0 else (1 / high, 1 / low)


def log_between(x: Fraction, bits: int = BITS) -> tuple[Fraction, Fraction]:
    """Rationals below and above log x, x > 0, to about `bits` bits after the point.

    x = 2^k m with 1 <= m < 2, and log m = 2 artanh((m - 1)/(m + 1)).

    >>> low, high = log_between(Fraction(2), bits=40)
    >>> low < Fraction("0.693147180559945309417232121458") < high
    True
    """
    k = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** k:
        k -= 1
    m = x / Fraction(2) ** k
    work = bits + 16 + abs(k).bit_length()
    low, high = _twice_artanh((m - 1) / (m + 1), work)
    two_low, two_high = _twice_artanh(Fraction(1, 3), work)
    return low + k * (two_low if k >= 0 else two_high), high + k * (two_high if k >= 0 else two_low)


def _twice_artanh(u: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """2 (u + u^3/3 + u^5/5 + ...) for 0 <= u <= 1/3, in integers over 2^bits rounded outwards."""
    square = u * u
    power_low = (u.numerator << bits) // u.denominator
    power_high = -((-u.numerator << bits) // u.denominator)
    low, high, j = 0, 0, 1
    while power_high > 1:
        low += power_low // j
        high += -(-power_high // j)
        power_low = power_low * square.numerator // square.denominator
        power_high = -(-power_high * square.numerator // square.denominator)
        j += 2
    # What is left out is below power/j (1 + 1/9 + 1/81 + ...) < 2 units.
    return Fraction(2 * low, 1 << bits), Fraction(2 * (high + 2), 1 << bits)


# Integer noise with exact laws: discrete Laplace and discrete Gaussian, from uniform bits and integers only.
#
# The samplers are those of Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020),
# algorithms 1 to 3. They know nothing of data or budgets.
#
# Privacy
# -------
# How long a draw takes depends on what is drawn (docs/threat-model.md).


def discrete_gaussian(deviation: int, bits: Bits) -> int:
    """An integer z with probability proportional to e^(-z^2 / (2 deviation^2)), exactly.

    Algorithm 3 of the paper: a discrete Laplace draw of about the same scale, kept with the ratio of the two laws.
    """
    if deviation < 1:
        raise ParameterError("deviation", "must be a positive integer", deviation)
    scale = deviation + 1
    square = deviation * deviation
    while True:
        z = _laplace(scale, bits)
        excess = abs(z) * scale - square
        if bernoulli_exp(excess * excess, 2 * square * scale * scale, bits):
            return z


def discrete_laplace(scale: Fraction | int, bits: Bits) -> int:
    """An integer z with probability proportional to e^(-|z| / scale), exactly, for any rational scale > 0.

    Algorithm 2 of the paper: a geometric draw with a sign, again and again until it is not minus zero.
    """
    if not scale > 0:
        raise ParameterError("scale", "must be > 0", scale)
    return _laplace(scale, bits)


def _laplace(scale: Fraction | int, bits: Bits) -> int:
    while True:
        z = _signed_geometric(scale.numerator, scale.denominator, bits)
        if z is not None:
            return z


def _signed_geometric(numerator: int, denominator: int, bits: Bits) -> int | None:
    """One attempt at a discrete Laplace draw of scale numerator / denominator; None if it came to nothing."""
    size = _geometric(numerator, denominator, bits)
    if size is None:
        return None
    if not bits.take(1):
        return size
    return -size or None  # zero would come with both signs, and twice as often as it should


def geometric(scale: Fraction | int, bits: Bits) -> int:
    """An integer k >= 0 with probability proportional to e^(-k / scale), exactly, for any rational scale > 0."""
    if not scale > 0:
        raise ParameterError("scale", "must be > 0", scale)
    while (size := _geometric(scale.numerator, scale.denominator, bits)) is None:
        pass
    return size


def _geometric(numerator: int, denominator: int, bits: Bits) -> int | None:
    """One attempt at a geometric draw of scale numerator / denominator; None if it came to nothing.

    rest + numerator * whole has probability proportional to e^(-value / numerator); so its quotient by the denominator
    is geometric with the ratio e^(-denominator / numerator).
    """
    rest = bits.below(numerator)
    if not bernoulli_exp(rest, numerator, bits):
        return None
    whole = 0
    while bernoulli_exp(1, 1, bits):
        whole += 1
    return (rest + numerator * whole) // denominator


def bernoulli_exp(numerator: int, denominator: int, bits: Bits) -> bool:
    """True with probability e^(-numerator/denominator), exactly; the ratio is >= 0.

    Algorithm 1 of the paper.
    """
    whole, rest = divmod(numerator, denominator)
    return all(_series(1, 1, bits) for _ in range(whole)) and _series(rest, denominator, bits)


def _series(numerator: int, denominator: int, bits: Bits) -> bool:
    """The same for a ratio g of at most 1: the first failure of coins with g, g/2, g/3, ... comes at an odd place."""
    k = 1
    while bits.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


# Integer noise whose law falls with the largest coordinate: Pr[z] proportional to e^(-max_j |z_j| / scale), exactly.
#
# The K-norm mechanism of Hardt and Talwar (2010) for the cube, on integers (docs/proofs/mean.md, section 4). With q =
# e^(-1/scale): the sum s of d + 1 geometric variables is kept with the rational probability
#
#     product over j = 1 ... d of (2 s + 1) / (2 (s + j)),
#
# and z is uniform in {-s ... s}^d. Then s and z come with probability proportional to q^s, for every s >= max |z|.


def cube_noise(d: int, scale: Fraction, bits: Bits) -> list[int]:
    """d integers with one law in every column; exact for any rational scale > 0.

    Cost: one attempt in two fails at scale 1 and d = 1, one in 10^4 succeeds at d = 20; nearly all succeed where the
    scale is far above d^2.
    """
    while True:
        s = sum(geometric(scale, bits) for _ in range(d + 1))
        if bits.below(2**d * math.prod(range(s + 1, s + d + 1))) < (2 * s + 1) ** d:
            return [bits.below(2 * s + 1) - s for _ in range(d)]


# Exact draw of an index with probability proportional to size * e^(exponent), sizes whole and exponents rational.
#
# Cumulative weights are enclosed in integers, and a uniform real is revealed until one index is certain.

# Bits of the uniform real that are looked at first, and bits carried beyond: nearly every draw is decided by them.
_FIRST, _GUARD_BITS = 64, 64


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
            work = bits + _GUARD_BITS
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


# Exact draw of a level: weights enclosed in integers, and a uniform real revealed until one level is certain.
#
# The law is  Pr[level = l] proportional to  w_l * size(l)  with  w_t = q^t  at the lowest level t and w_l = q^l -
# q^(l-1)  above it, q = e^(epsilon/2)  (docs/proofs/boxem.md, "The level draw"). Levels that share a box form a group,
# whose weights telescope. Nothing is rounded to nearest: every table entry is a pair of integers that encloses the true
# value.

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
