"""Intervals for the population's mean: post-processing of what is released (docs/proofs/mean.md, section 10).

With z one column's cube noise at its known scale a and g a standard Gaussian variable, the half-width is the quantile
of |a z + b g|, b = k s / sqrt(n): noise by its law, and all else, sampling included, as so many standard errors. The
factor k is calibrated: the smallest that covers the stated share of made-up runs of the whole procedure, for every
shape, with bounds as wide in released spreads as those of the release. No procedure covers all columns, so the shapes
are named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tukeydp.forecast.interval_runs import RemMean, Spending, runs
from tukeydp.forecast.shapes import SHAPES, Shape
from tukeydp.mechanisms.interval_plan import IntervalPlan
from tukeydp.mechanisms.mean_plans import CubeMean, TwoStepMean
from tukeydp.results.interval import SKEWED, Interval, nominal
from tukeydp.results.noise_quantiles import NoiseAndSampling, noise_and_sampling
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import BoundedColumns

Flags = NDArray[np.bool_]  # one for each column

# Columns of few values are left out, and said to be, where they would ask for so many times the factor of measurements.
_WORTH = 1.5
# Runs to cover besides, as a share of those that may be missed: tables are few, and in a skewed table the mean and the
# spread err together, which the runs leave out. Without it log-normal columns were covered 92 times in 100.
_MARGIN = 0.3
# Octaves: bounds are rehearsed at least 64 spreads wide where columns are ranked or clipped. Narrower ones would cut
# the tails off made-up columns, and those of the release's own columns are as they are.
_ROOMY = 6.0
_PLACES = 4001  # candidates for the mean of a share: ends are good to a thousandth of the half-width


@dataclass(frozen=True)
class Found:
    """What a release knows, all of it released or public: numbers in widths of the bounds, of length d each.

    Without bounds they are in the columns' own units.

    Attributes
    ----------
    point
        Means, from 0 at the lower bound to 1 at the upper.
    spread
        Standard deviations, released or public; None for columns whose share bounds it.
    noise
        Scale of the noise that the mean has.
    missing
        Shares of missing cells, 0 where they are not known.
    """

    point: tuple[float, ...]
    spread: tuple[float | None, ...]
    noise: tuple[float, ...]
    missing: tuple[float, ...]


def mean_interval(plan: IntervalPlan, columns: BoundedColumns | None, found: Found) -> Interval:
    """The interval that goes with a release; `columns` is None without bounds."""
    d, n = len(found.point), plan.spending.n
    law = noise_and_sampling(d, _column_level(plan.confidence, plan.joint, d))
    point, noise = np.array(found.point), np.array(found.noise)
    shares = np.array([s is None for s in found.spread])
    spread = np.array([_largest_spread(p) if s is None else s for p, s in zip(point, found.spread, strict=True)])
    lost = ~shares & (plan.known is None) & (spread <= plan.floor)
    error = spread / np.sqrt(n * (1.0 - np.array(found.missing)))
    calibration = Calibrated(1.0, (), ())
    if not shares.all() and not (plan.known is not None and isinstance(plan.spending.mean, CubeMean)):
        calibration = calibrated(plan.spending, _widths(plan, spread, shares), plan.confidence, plan.joint)
    half = law.half_width(noise, calibration.factor * error)
    ends = np.stack([point - half, point + half], axis=1)
    for j in np.flatnonzero(shares):
        ends[j] = _ends_of_share(float(point[j]), float(noise[j]), n, law)
    lower, widths = np.zeros(d), np.ones(d)
    if columns is not None:
        lower, widths = np.array([float(a) for a in columns.lower]), columns.widths
        ends = np.clip(ends, 0.0, 1.0)  # the mean of values between bounds lies between them
    ends[lost] = np.nan
    alone = np.where(lost, np.nan, law.gaussian * error)
    return Interval(
        ends=lower[:, np.newaxis] + ends * widths[:, np.newaxis],
        spread=spread * widths,
        sampling=alone * widths,
        privacy=np.maximum(0.0, half - alone) * widths,
        note=interval_note(plan, calibration, shares, lost, alone / half),
    )


def _column_level(confidence: float, joint: bool, d: int) -> float:
    """The level of one column's quantiles."""
    return 1.0 - (1.0 - confidence) / d if joint else confidence


def _widths(plan: IntervalPlan, spread: FloatArray, shares: Flags) -> tuple[float, ...]:
    """Bounds in spreads, as runs are made up for: few different ones, so that calibrations can be kept.

    Where depth is all there is, wider bounds are never easier: the next power of two. Clipping and noise depend on
    them, and are cheap to rehearse: the nearest eighth of an octave.
    """
    if isinstance(plan.spending.mean, RemMean):
        return (1.0,) * len(spread)  # there are none
    octaves = -np.log2(np.maximum(spread, plan.floor))
    eighths = np.round(8.0 * octaves) / 8.0
    if isinstance(plan.spending.mean, CubeMean):
        return tuple((2.0 ** np.where(shares, 1.0, eighths)).tolist())
    rounded = eighths if isinstance(plan.spending.mean, TwoStepMean) else np.ceil(octaves - 1e-9)
    return tuple((2.0 ** np.maximum(_ROOMY, rounded)).tolist())


@dataclass(frozen=True)
class Calibrated:
    """The factor of the sampling error, the shapes it holds for, and those that were left out."""

    factor: float
    shapes: tuple[str, ...]
    left_out: tuple[str, ...]


@lru_cache(maxsize=256)
def calibrated(spending: Spending, widths: tuple[float, ...], confidence: float, joint: bool) -> Calibrated:
    """The smallest factor that covers the stated share of the runs of every shape."""
    factors = {shape: _factor(spending, widths, shape, confidence, joint) for shape in SHAPES}
    measured = max(factor for shape, factor in factors.items() if not shape.few_values)
    held = [shape for shape, factor in factors.items() if factor <= _WORTH * measured]
    left_out = tuple(shape.name for shape in SHAPES if shape not in held)
    return Calibrated(max(factors[shape] for shape in held), tuple(shape.name for shape in held), left_out)


def _factor(spending: Spending, widths: tuple[float, ...], shape: Shape, confidence: float, joint: bool) -> float:
    made, d = runs(spending, widths, shape), len(widths)
    columns = list(spending.measured) or list(range(d))
    law = noise_and_sampling(d, _column_level(confidence, joint, d))
    needed = (law.sampling(made.noise, np.abs(made.errors)) / made.spreads)[:, columns]
    if joint:
        needed, confidence = needed.max(axis=1), 1.0 - (1.0 - confidence) * len(columns) / d
    return float(np.quantile(needed, 1.0 - (1.0 - _MARGIN) * (1.0 - confidence))) * math.sqrt(spending.n)


def _largest_spread(mean: float) -> float:
    """What values between 0 and 1 with that mean have at most: yes/no answers have it."""
    return math.sqrt(max(0.0, mean * (1.0 - mean)))


def _ends_of_share(point: float, noise: float, n: int, law: NoiseAndSampling) -> tuple[float, float]:
    """The smallest and the largest mean that the released share is not too far from, given its own sampling error.

    Wilson's interval, with noise. Means between 0 and 1 have a sampling error of at most sqrt(mean (1 - mean) / n).
    """
    farthest = float(law.half_width(np.array(noise), np.array(0.5 / math.sqrt(n))))
    means = np.clip(point + farthest * np.linspace(-1.0, 1.0, _PLACES), 0.0, 1.0)
    near = means[np.abs(means - point) <= law.half_width(np.array(noise), np.sqrt(means * (1.0 - means) / n))]
    return float(near.min()), float(near.max())


def interval_note(plan: IntervalPlan, calibration: Calibrated, shares: Flags, lost: Flags, alone: FloatArray) -> str:
    """How sure the interval is, for which columns, and how that is known; from public and released numbers."""
    together = "for all columns together" if plan.joint else "for each column by itself"
    said = [f"A {nominal(plan.confidence)} for the population's mean, sampling and privacy together, {together}"]
    if calibration.shapes:
        said[0] += (
            ", for columns no more skewed or heavy-tailed than these, on which it was rehearsed: "
            f"{'; '.join(calibration.shapes)}. That is no proof: for other columns it may be too narrow."
        )
        said.append(SKEWED)
        if calibration.left_out:
            said.append(f"It does not hold for columns like these: {'; '.join(calibration.left_out)}.")
    else:
        said[0] += ", by the law of the noise and, for sampling, the normal approximation."
    if plan.known is not None:
        said.append("It takes the given standard deviations for true; if they are too small, so is the interval.")
    if shares.any():
        said.append("Columns between 0 and 1 count with the largest sampling error that their mean allows.")
    told = alone[~lost]
    if len(told):
        least, most = (f"{100 * v:.0f}" for v in (told.min(), told.max()))
        said.append(
            f"Of each half-width the sample alone would have {least if least == most else f'{least} to {most}'} %."
        )
    if lost.any():
        said.append(
            "No interval where the released spread is at its floor: the column has hardly any spread, values that "
            "are nearly all equal, or bounds that are far too wide. Narrower bounds or sd= would help."
        )
    said.append("Missing cells are taken to be few, and missing at random.")
    return " ".join(said)
