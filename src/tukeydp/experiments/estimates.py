"""Numbers with confidence intervals, from independent trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.experiments.results import NotMeasured

Interval = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Estimate:
    """A value and, for any confidence such as 0.99, the interval that goes with it."""

    value: float
    interval: Interval


def _exp(log: float) -> float:
    """e^log; infinite where floats end, as the intervals of two or three trials may."""
    return math.exp(log) if log < 700 else math.inf


def exactly(value: float) -> Estimate:
    """A number without chance in it."""
    return Estimate(value, lambda confidence: (value, value))


def _student(value: float, error: float, freedom: int, shape: Callable[[float], float]) -> Estimate:
    def interval(confidence: float) -> tuple[float, float]:
        from scipy.stats import t

        if freedom < 1:
            return shape(-math.inf), shape(math.inf)
        half_width = float(t.ppf(0.5 + confidence / 2, freedom)) * error
        return shape(value - half_width), shape(value + half_width)

    return Estimate(shape(value), interval)


def mean(sample: FloatArray) -> Estimate:
    """The mean with Student's interval."""
    spread = float(sample.std(ddof=1)) / math.sqrt(len(sample)) if len(sample) > 1 else 0.0
    return _student(float(sample.mean()), spread, len(sample) - 1, float)


def papers_half_width(sample: FloatArray) -> float:
    """Half of the paper's 95 % interval as its footnote prints it: 100 in both places, for its ten trials."""
    ten = sample[:10]
    return 1.96 * math.sqrt(float(((ten - ten.mean()) ** 2).sum()) / 100) / math.sqrt(100)


def _contrast(
    groups: Sequence[FloatArray], coefficients: Sequence[float], paired: bool, shape: Callable[[float], float]
) -> Estimate:
    """sum of c_j ln(mean_j), by linearisation: trial i moves ln(mean_j) by x_ij / mean_j / trials."""
    means = [float(group.mean()) for group in groups]
    if min(means) <= 0:
        raise NotMeasured("no logarithm: an average is not positive")
    value = sum(c * math.log(m) for c, m in zip(coefficients, means, strict=True))
    moved = [c * group / m for c, group, m in zip(coefficients, groups, means, strict=True)]
    fewest = min(len(group) for group in groups)
    if fewest < 2:
        return _student(value, 0.0, 0, shape)
    if paired:
        error = float(np.sum(moved, axis=0).std(ddof=1)) / math.sqrt(fewest)
    else:
        error = math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in moved))
    return _student(value, error, fewest - 1, shape)


def ratio(above: FloatArray, below: FloatArray, *, paired: bool = True, power: float = 1.0) -> Estimate:
    """mean(above) / mean(below), to a power: 0.5 turns mean squares into a ratio of root mean squares."""
    return _contrast([above, below], [power, -power], paired, _exp)


def log_contrast(groups: Sequence[FloatArray], coefficients: Sequence[float]) -> Estimate:
    """The product of mean_j ** c_j over paired groups of positive numbers."""
    return _contrast(groups, coefficients, True, _exp)


def level(sample: FloatArray, unit: float = 1.0, power: float = 1.0) -> Estimate:
    """mean(sample) ** power / unit, for positive samples."""
    return _contrast([sample], [power], True, lambda log: _exp(log) / unit)


def _slope_weights(at: Sequence[float]) -> FloatArray:
    """The least-squares slope of y against `at` is the sum of weights times y."""
    if len(set(at)) < 2:
        raise NotMeasured("no slope: fewer than two places")
    centred = np.asarray(at, dtype=np.float64) - np.mean(at)
    return np.asarray(centred / (centred**2).sum())


def slope(at: Sequence[float], groups: Sequence[FloatArray], *, paired: bool = False) -> Estimate:
    """The least-squares slope of ln(mean) against ln(at): the exponent of a power law.

    `paired`: trial i of every group is on the same data.
    """
    return _contrast(groups, _slope_weights([math.log(place) for place in at]).tolist(), paired, float)


def slope_of_ratio(at: Sequence[float], above: Sequence[FloatArray], below: Sequence[FloatArray]) -> Estimate:
    """The same for mean(above) / mean(below): paired at each place, independent from place to place."""
    weights = _slope_weights([math.log(place) for place in at]).tolist()
    parts = [_contrast(pair, [w, -w], True, float) for w, *pair in zip(weights, above, below, strict=True)]
    fewest = min(map(len, above))
    moved = [w * (a / a.mean() - b / b.mean()) for w, a, b in zip(weights, above, below, strict=True)]
    error = math.sqrt(sum(float(m.var(ddof=1)) / len(m) for m in moved)) if fewest > 1 else 0.0
    return _student(sum(part.value for part in parts), error, fewest - 1, float)


def linear_slope(at: Sequence[float], groups: Sequence[FloatArray]) -> Estimate:
    """The least-squares slope of the mean against `at`; groups are independent."""
    weights = _slope_weights(at)
    value = sum(float(w * group.mean()) for w, group in zip(weights, groups, strict=True))
    fewest = min(len(group) for group in groups)
    if fewest < 2:
        return _student(value, 0.0, 0, float)
    variance = sum(
        float(w) ** 2 * float(group.var(ddof=1)) / len(group) for w, group in zip(weights, groups, strict=True)
    )
    return _student(value, math.sqrt(variance), fewest - 1, float)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """first - second; the interval is the sum of both, hence conservative, whether they are independent or not."""

    def interval(confidence: float) -> tuple[float, float]:
        (a, b), (c, d) = first.interval((1 + confidence) / 2), second.interval((1 + confidence) / 2)
        return a - d, b - c

    return Estimate(first.value - second.value, interval)


def quotient(first: Estimate, second: Estimate) -> Estimate:
    """first / second for positive numbers; the interval is that of the worst cases, hence conservative."""

    def interval(confidence: float) -> tuple[float, float]:
        (a, b), (c, d) = first.interval((1 + confidence) / 2), second.interval((1 + confidence) / 2)
        return a / d, b / c if c else math.inf

    return Estimate(first.value / second.value, interval)


def proportion(sample: FloatArray) -> Estimate:
    """The share of ones, with the Clopper-Pearson interval."""
    ones, count = int(sample.sum()), len(sample)

    def interval(confidence: float) -> tuple[float, float]:
        from scipy.stats import beta

        tail = (1 - confidence) / 2
        low = float(beta.ppf(tail, ones, count - ones + 1)) if ones else 0.0
        high = float(beta.ppf(1 - tail, ones + 1, count - ones)) if ones < count else 1.0
        return low, high

    return Estimate(ones / count, interval)
