"""Mean, standard deviation and interval of each group and column: post-processing of noised sums.

With S, C and Q the noised sum, number and sum of squares of relative values, a mean m is in the interval if S - m C,
that is the sum of all (v - m) with noise of a known law, is no larger than chance and noise together allow (the idea of
Fieller 1954): |S - m C| <= the quantile of |a (z1 - m z2) + b g|, z cube noise at its known scale a = 2 / epsilon, g a
standard Gaussian variable, b^2 the sum of squares around m, Q - 2 m S + m^2 C, raised by what noise may have taken off.
So neither the unknown size of the group nor the noise in it is approximated; that sampling is Gaussian is, and small
groups of skewed columns are widened by a factor that was calibrated on made-up columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.mechanisms.grouped_sums import GroupPlan, GroupSums
from tukeydp.results.interval import nominal
from tukeydp.trusted.parameters import FloatArray

_DRAWS = 10_000  # of the noise's law: quantiles at 95 % are good to one or two hundredths
# One-sided level at which squares and counts are raised for what noise may have taken off. They are the smaller part of
# the width wherever noise is large, and little is raised where it is not.
_RAISED = 0.9
# Values in a group below which there is no interval: the normal approximation is no longer any good for skewed columns.
FEWEST = 20
# Groups up to this size are widened by a factor from so many made-up groups; in larger ones it is nearly 1.
_SMALL, _MADE_UP = 512, 4000
MISSING_AT_RANDOM = "Missing cells are taken to be missing at random."
_FINE = 1e-3  # of a half-width: how well an end is found


@dataclass(frozen=True)
class Estimate:
    """One column of one group, in relative values; None where nothing can be said.

    Attributes
    ----------
    count
        Noised number of values.
    mean, spread
        None where there are too few values, or too little spread, to be told from noise.
    ends
        The interval; None where it would say no more than the bounds do.
    """

    count: float
    mean: float | None
    spread: float | None
    ends: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """Draws of three coordinates of cube noise in rows, and of a Gaussian variable. From a public seed."""

    z: tuple[FloatArray, FloatArray, FloatArray]
    g: FloatArray

    def largest(self, combination: FloatArray, level: float) -> float:
        place = min(_DRAWS - 1, int(level * _DRAWS))
        return float(np.partition(np.abs(combination), place)[place])

    def raised(self, combination: FloatArray) -> float:
        """What noise that is symmetric around 0 exceeds with the small chance of `_RAISED`."""
        return self.largest(combination, 2.0 * _RAISED - 1.0)


@lru_cache(maxsize=32)
def noise_law(coordinates: int, epsilon: float) -> NoiseLaw:
    rng = np.random.default_rng([coordinates, 14])
    s = 2.0 / epsilon * rng.gamma(coordinates + 1, size=_DRAWS)
    first, second, third = (s * rng.uniform(-1.0, 1.0, size=_DRAWS) for _ in range(3))
    return NoiseLaw((first, second, third), rng.normal(size=_DRAWS))


def estimates(
    sums: GroupSums,
    plan: GroupPlan,
    known: tuple[float | None, ...] | None,
    confidence: float | None,
) -> list[list[Estimate]]:
    """For each group its columns; `known` are public standard deviations of relative values, None for shares."""
    law = noise_law(plan.coordinates, float(plan.epsilon))
    return [
        [
            _estimate(
                _Sums(sums.sums[g][j], sums.counts[g][j], sums.squares[g][j], None if known is None else known[j], law),
                confidence,
            )
            for j in range(plan.d)
        ]
        for g in range(plan.groups)
    ]


@dataclass(frozen=True, eq=False)
class _Sums:
    """One column of one group: noised sums, a public spread if there is one, and the noise's law."""

    total: float
    count: float
    squares: float | None
    known: float | None
    law: NoiseLaw

    @property
    def most(self) -> float:
        """Number of values, raised for its noise."""
        return max(0.0, self.count) + self.law.raised(self.law.z[1])

    def around(self, mean: float) -> float:
        """Noised sum of squares around a mean; only where squares are released."""
        assert self.squares is not None
        return (self.squares + self.count) / 2.0 - 2.0 * mean * self.total + mean * mean * self.count

    def noise_around(self, mean: float) -> FloatArray:
        first, second, third = self.law.z
        return np.asarray((third + second) / 2.0 - 2.0 * mean * first + mean * mean * second)

    def sampling(self, mean: float, raised: float) -> float:
        """Standard deviation of the sum of all (v - mean); at most what values between the bounds can have."""
        largest = (1.0 - mean * mean) * self.most
        if self.known is not None:
            return math.sqrt(min(self.known**2 * self.most, largest))
        if self.squares is None:
            return math.sqrt(max(0.0, largest))
        return math.sqrt(max(0.0, min(max(0.0, self.around(mean)) + raised, largest)))


def _estimate(column: _Sums, confidence: float | None) -> Estimate:
    noise = column.law.largest(column.law.z[1], 0.95)
    if column.count <= max(1.0, noise):
        return Estimate(column.count, None, None, None)
    mean = max(-1.0, min(1.0, column.total / column.count))
    spread = _spread(column, mean)
    ends = None
    if confidence is not None and column.count >= FEWEST:
        ends = _ends(column, mean, confidence)
    return Estimate(column.count, mean, spread, ends)


def _spread(column: _Sums, mean: float) -> float | None:
    if column.known is not None or column.squares is None:
        return column.known
    around = column.around(mean)
    if around <= column.law.largest(column.noise_around(mean), 0.95):
        return None
    return math.sqrt(min(around / column.count, 1.0 - mean * mean))


def _ends(column: _Sums, mean: float, confidence: float) -> tuple[float, float] | None:
    """The means nearest to the estimate, on either side, that are too far off; None if even the bounds are not."""
    first, second, _ = column.law.z
    raised = 0.0 if column.squares is None else column.law.raised(column.noise_around(mean))
    factor = 1.0 if column.squares is None else small_group_factor(_rounded(column.count), confidence)

    def too_far(m: float) -> bool:
        spread = first - m * second + factor * column.sampling(m, raised) * column.law.g
        return abs(column.total - m * column.count) > column.law.largest(spread, confidence)

    low, high = (_crossing(too_far, mean, bound) for bound in (-1.0, 1.0))
    return None if (low, high) == (-1.0, 1.0) else (low, high)


def _crossing(too_far: Callable[[float], bool], inside: float, bound: float) -> float:
    if not too_far(bound):
        return bound
    start, outside = inside, bound
    while abs(outside - inside) > max(_FINE * abs(outside - start), 1e-12):  # a float's last digits at the least
        middle = (inside + outside) / 2.0
        inside, outside = (inside, middle) if too_far(middle) else (middle, outside)
    return outside


def _rounded(count: float) -> int:
    """Few different sizes, so that calibrations can be kept: the next lower power of two."""
    return 2 ** min(int(math.log2(_SMALL)), int(math.log2(max(FEWEST, count))))


@lru_cache(maxsize=64)
def small_group_factor(size: int, confidence: float) -> float:
    """How much wider than Gaussian the sum of (v - m) over so many rows may be, in root sums of squares around m.

    The largest over the shapes of measurements, from made-up groups.
    """
    from scipy.special import ndtri

    factors = [1.0]
    for shape in SHAPES:
        if not shape.few_values:
            values = made_up(shape, size, _MADE_UP, 0)
            ratio = np.abs(values.sum(axis=0)) / np.sqrt((values**2).sum(axis=0))
            factors.append(float(np.quantile(ratio, confidence)) / float(ndtri(0.5 + confidence / 2.0)))
    return max(factors)


@dataclass(frozen=True)
class IntervalKinds:
    """What intervals are for: groups or all rows, shares between 0 and 1, other columns, known standard deviations."""

    groups: bool
    shares: bool
    measured: bool
    known: bool


def group_interval_note(confidence: float, kinds: IntervalKinds) -> str:
    """How sure the intervals are, for which columns, and how that is known."""
    said = []
    where, each = (" in the group", "column and group") if kinds.groups else ("", "column")
    sure = f"for each {each} by itself, by the law of the noise"
    if kinds.measured:
        shapes = "; ".join(shape.name for shape in SHAPES if not shape.few_values)
        said.append(
            f"A {nominal(confidence)} for the population's mean{where}, sampling and privacy together, {sure} and, for "
            "sampling, the normal approximation, widened in small groups so that it holds for columns no more skewed "
            f"or heavy-tailed than these: {shapes}. That is no proof: for other columns it may be too narrow."
        )
    if kinds.measured and kinds.known:
        said.append("It takes the given standard deviations for true; if they are too small, so is the interval.")
    if kinds.shares:
        own = (
            f" a {nominal(confidence)} for the population's mean{where}, sampling and privacy together, {sure} and the "
            "normal approximation,"
        )
        said.append(
            f"Columns between 0 and 1:{'' if kinds.measured else own} with the largest sampling error that their mean "
            "allows."
        )
    said.append(MISSING_AT_RANDOM)
    return " ".join(said)
