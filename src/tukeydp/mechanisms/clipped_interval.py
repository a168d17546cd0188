"""Confidence intervals for means that were clipped where the records are: post-processing of a transcript.

With S and C the noised sum and number of a group's values, counted from the middle of the window, a mean m is in the
interval if S - m C is no larger than noise and sampling allow (the idea of Fieller 1954): |S - m C| <= the quantile of
|a (z - m z') + b g|, z and z' two coordinates of cube noise at its known scale a, g a standard Gaussian variable, b^2
the number of values times their variance in the window, from the noised squares. A one-sided term at each end that was
found allows for what lies beyond it (docs/proofs/mean.md, section 10). Coverage is empirical
(benchmarks/interval_coverage.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tukeydp.mechanisms.clipped_mean import RADII, Transcript, noise_scale, strength
from tukeydp.mechanisms.table_spread import CANDIDATES, GIVEN, USUAL_WIDTH, Spread, cube_likelihood, likely
from tukeydp.results.interval import Interval, nominal
from tukeydp.results.noise_quantiles import cube_deviation, noise_and_sampling
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, rational, show
from tukeydp.trusted.rows import BoundedColumns

_LOWEST, _HIGHEST = Fraction(1, 2), Fraction(99, 100)  # levels that calibrations can tell
# Of the records that are expected beyond an end, and from how many standard deviations on an end counts as one that
# cuts something off: bell-shaped columns end four to six of them from their mean.
_TAIL, _NEAR, _FAR = 0.8, 4.0, 8.0
# What noise may have taken off a variance, at the least: this share of its scale is left.
_LEAST_VARIANCE = 0.3
_FOUND_WIDTH = 14.0  # ranges that are found are about so many deviations wide
_DRAWS = 40_000  # of the law of noise in sum and number together: quantiles at 95 % are good to a hundredth
_MEANS = (0.0, 0.25, 0.5, 0.75, 1.0)  # sizes of m, in half windows, that it is tabulated for
_RATIOS = np.concatenate([[0.0], np.geomspace(0.02, 50.0, 48)])  # and of b / a
_ROUNDS = 8  # of the search for an end: each brings it nearer by the ratio of the number's noise to the number


def checked_confidence(confidence: Any) -> float:
    level = rational("confidence", confidence)
    if not _LOWEST <= level <= _HIGHEST:
        rule = f"must be from {show(_LOWEST)} to {show(_HIGHEST)}"
        raise ParameterError("confidence", rule, brief(confidence))
    return float(level)


def checked_joint(joint: Any) -> bool:
    if not isinstance(joint, bool):
        raise ParameterError("joint", "must be True or False", brief(joint))
    return joint


@dataclass(frozen=True)
class Level:
    """Confidence for each interval by itself, or for all of them together (Bonferroni)."""

    confidence: float
    joint: bool = False

    def of_one(self, intervals: int) -> float:
        return 1.0 - (1.0 - self.confidence) / intervals if self.joint else self.confidence


def clipped_interval(
    found: Transcript, columns: BoundedColumns, group: int, known: tuple[float, ...] | None, level: Level
) -> Interval:
    """Of all columns of one group; `known` are public standard deviations in relative units, whose width is 2."""
    law = _law(found.coordinates, level.of_one(found.d * len(found.sums)))
    spread = deviations(found, known)
    ends, alone, half_widths = np.empty((found.d, 2)), np.empty(found.d), np.empty(found.d)
    for j in range(found.d):
        low, high, sampling = _ends(found, group, j, spread[j], law)
        ends[j], alone[j], half_widths[j] = (low, high), sampling, (high - low) / 2.0
    lower, widths = np.array([float(a) for a in columns.lower]), columns.widths
    means = found.in_floats[1][group]
    spreads = np.array([_of_share(float(means[j])) if s is None else s for j, s in enumerate(spread)])
    return Interval(
        ends=lower[:, np.newaxis] + (1.0 + ends) / 2.0 * widths[:, np.newaxis],
        spread=spreads * widths / 2.0,
        sampling=alone * widths / 2.0,
        privacy=np.maximum(0.0, half_widths - alone) * widths / 2.0,
        note=interval_note(found, spread, level, known is not None),
    )


def deviations(found: Transcript, known: tuple[float, ...] | None) -> list[float | None]:
    """Standard deviation of each column within groups, in relative units; None for shares, whose mean bounds it."""
    if known is not None:
        shares = set(range(found.d)) - set(found.plan.squared) if found.plan.squared else set()
        return [None if j in shares else known[j] for j in range(found.d)]
    return [_deviation(found, j) if j in found.plan.squared else None for j in range(found.d)]


def _deviation(found: Transcript, j: int) -> float:
    """Of what is left in the window; a variance has one noise scale added, and never less than a part of it."""
    variance, scale = _variance(found, j)
    return float(found.middle(j)[1]) * math.sqrt(min(max(variance + scale, _LEAST_VARIANCE * scale), 1.0))


def likely_deviation(found: Transcript, j: int) -> Spread:
    """The deviation that is shown, without an allowance: in relative units, of groups clipped where they were."""
    squares, width = _squares(found, j), len(found.plan.squared)
    total, between = _between(found, j)
    within = np.minimum(CANDIDATES**2 + between, 1.0)
    likelihood = cube_likelihood(squares, total * (2.0 * within - 1.0), _noise_of_squares(found), width)
    usual = _FOUND_WIDTH if j in found.plan.found else USUAL_WIDTH
    return likely(likelihood, 2.0 / usual, GIVEN[1]).scaled(float(found.middle(j)[1]))


def _variance(found: Transcript, j: int) -> tuple[float, float]:
    """In half windows: mean square less the squares of the groups' means, all of them noised; and the noise's scale."""
    total, between = _between(found, j)
    square = (_squares(found, j) / total + 1.0) / 2.0
    return square - between, _noise_of_squares(found) / (2.0 * total)


def _between(found: Transcript, j: int) -> tuple[float, float]:
    """Values of all groups, and the mean square of these groups' means."""
    sizes, means = (part[:, j] for part in found.in_floats)
    total = sizes.sum()
    # Noise in the means makes their squares too large, by its own variance.
    noise = (noise_scale(found) * cube_deviation(found.coordinates) / sizes) ** 2
    return float(total), float((sizes * np.maximum(0.0, means**2 - noise)).sum() / total)


def _squares(found: Transcript, j: int) -> float:
    return float(found.squares[found.plan.squared.index(j)])


def _noise_of_squares(found: Transcript) -> float:
    plan = found.plan
    return strength(plan.neighbours) / float(plan.shares.squares * plan.epsilon)


def _of_share(inside: float) -> float:
    """What values between the ends with that mean have at most: yes/no answers have it."""
    return math.sqrt(max(0.0, 1.0 - inside * inside))


def _ends(found: Transcript, g: int, j: int, spread: float | None, law: _Law) -> tuple[float, float, float]:
    """Both ends in relative units, and the half-width that the sample alone would have."""
    middle, half = (float(v) for v in found.middle(j))
    if half == 0.0:
        return middle, middle, 0.0
    total, count, scale = float(found.sums[g][j]), float(found.in_floats[0][g, j]), noise_scale(found)
    noised = found.plan.secret or j in found.counted

    def allowed(m: float) -> float:
        one = _of_share(m) if spread is None else min(spread / half, 1.0)
        return law.quantile(scale, one * math.sqrt(count), abs(m), noised)

    inside = float(found.in_floats[1][g, j])
    low = high = inside
    if noised and count <= law.quantile(scale, 0.0, 0.0, True):
        low, high = -1.0, 1.0  # the number of values cannot be told from none, and neither can anything else
    else:
        for _ in range(_ROUNDS):
            low, high = (max(-1.0, min(1.0, (total + side * allowed(m)) / count)) for side, m in ((-1, low), (1, high)))
    deviation = half * _of_share(inside) if spread is None else spread
    tails = [_tail(found, g, j, deviation, middle + half * inside, end) for end in (-1, 1)]
    ends = (
        max(-1.0, middle + half * low - tails[0]) if low > -1.0 or found.window.low[j] == -1.0 else -1.0,
        min(1.0, middle + half * high + tails[1]) if high < 1.0 or found.window.high[j] == 1.0 else 1.0,
    )
    return *ends, law.gaussian * deviation / math.sqrt(count)


def _tail(found: Transcript, g: int, j: int, deviation: float, mean: float, end: int) -> float:
    """What records beyond a window's end may add to the mean: as many as the radius leaves, each about that far off."""
    edge, bound = (found.window.low[j], -1.0) if end < 0 else (found.window.high[j], 1.0)
    if j not in found.plan.found or edge == bound or deviation == 0.0:
        return 0.0
    away = max(0.0, end * (edge - mean))
    outside = min(1.0, max(0.0, (away / deviation - _NEAR) / (_FAR - _NEAR)))
    sizes = found.in_floats[0][:, j]
    beyond = _TAIL * records_beyond(found)
    share = beyond * float(sizes[g] / sizes.sum())
    if len(sizes) > 1:  # of a group as many as of the others, give or take
        share = min(beyond, share + math.sqrt(share))
    return share * away / float(sizes[g]) * outside


def records_beyond(found: Transcript) -> float:
    """How many records of a column typically lie beyond its radius: one over what one of them costs in the exponent."""
    plan = found.plan
    # A record that comes or goes costs twice as much in a draw for all columns, and the same in that of one.
    joint = 1.0 if plan.radii_alone else strength(plan.neighbours) / 2.0
    return joint * len(plan.found) / float(plan.shares.radii * plan.epsilon)


class _Law:
    """Quantiles of noise and sampling together, at one level, for so many coordinates."""

    def __init__(self, coordinates: int, share: float) -> None:
        self._alone = noise_and_sampling(coordinates, share)
        self.gaussian = self._alone.gaussian
        self._both = coordinates, share

    def quantile(self, noise: float, sampling: float, mean: float, noised: bool) -> float:
        """Of |noise (z - mean z') + sampling g|; without z' where the number is known."""
        if not noised:
            return float(self._alone.half_width(np.array(noise), np.array(sampling)))
        table = _tabulated(*self._both)
        ratio = sampling / noise
        if ratio >= _RATIOS[-1]:
            return self.gaussian * sampling
        rows = [float(np.interp(ratio, _RATIOS, row)) for row in table]
        return noise * float(np.interp(mean, _MEANS, rows))


@lru_cache(maxsize=64)
def _law(coordinates: int, share: float) -> _Law:
    return _Law(coordinates, share)


@lru_cache(maxsize=64)
def _tabulated(coordinates: int, share: float) -> tuple[FloatArray, ...]:
    """For each size of m the quantile at each ratio b / a; from a public seed."""
    rng = np.random.default_rng([coordinates, 14])
    s = rng.gamma(coordinates + 1, size=_DRAWS)
    first, second = s * rng.uniform(-1.0, 1.0, size=_DRAWS), s * rng.uniform(-1.0, 1.0, size=_DRAWS)
    g = rng.normal(size=_DRAWS)
    place = min(_DRAWS - 1, int(share * _DRAWS))
    return tuple(
        np.array([np.partition(np.abs(first - m * second + ratio * g), place)[place] for ratio in _RATIOS])
        for m in _MEANS
    )


def interval_note(found: Transcript, spread: list[float | None], level: Level, known: bool) -> str:
    """One sentence for a paper, and how far the promise goes; from public and released numbers."""
    plan = found.plan
    together = "for all of them together" if level.joint else "each by itself"
    said = [
        f"A {nominal(level.confidence)} for the population's mean, sampling and privacy together, {together}, from a "
        "clipped mean with noise of a known law and the normal approximation. Its coverage is empirical."
    ]
    wide = ((found.window.high[j] - found.window.low[j], spread[j]) for j in plan.found)
    ratios = [width / sd for width, sd in wide if sd]
    if ratios:
        said.append(
            f"Columns were clipped to a range of {min(ratios):.0f} to {max(ratios):.0f} standard deviations; a small "
            f"group of values far from the others is seen from about {smallest_seen(found):.0f} records on, and below "
            "that nothing is promised."
        )
    if known:
        said.append("It takes the given standard deviations for true; if they are too small, so is the interval.")
    said.append("Missing cells are taken to be missing at random.")
    return " ".join(said)


def smallest_seen(found: Transcript) -> float:
    """Records of a far group that radii reach nine times in ten: what they cost against the weight of small radii."""
    plan = found.plan
    kappa = float(plan.shares.radii * plan.epsilon) / (len(plan.found) if plan.radii_alone else 2.0)
    if plan.neighbours == "add-remove" and not plan.radii_alone:
        kappa *= 2.0
    gained = math.log(plan.weights[_USUAL] / plan.weights[_REACHING])
    return math.ceil((gained + math.log(9.0)) / kappa)


_REACHING, _USUAL = 2, RADII.index(min(RADII, key=lambda r: abs(r - 2.0 / 32)))
