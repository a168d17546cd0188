"""Predicted errors by formulas of public numbers: milliseconds, where a rehearsal takes seconds.

Each is a range: the least and the most over columns of five shapes of measurements (Gaussian, Student's t(3),
exponential, log-normal(0.75), two humps), for the median and for the 95 % quantile of the error. The constants are
fitted to simulated releases; `benchmarks/plan.py` prints predicted against simulated. They decide what a plan says,
never what is released. What `td.mean` chooses by, `predicted_error`, is where the formulas for means begin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.baselines.curve import multiplier
from tukeydp.mechanisms.cliff import log_odds, log_odds_of_ranks
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.mean_ways import ScaledMean, predicted_error
from tukeydp.mechanisms.subset_means import scatter
from tukeydp.results.accuracy import FAR, Range
from tukeydp.results.noise_quantiles import quantile_of_noise, share_all_within
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.block_steps import SubsetPlan
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.ranks import levels_of, number_of_levels

# Least and most over the shapes, in units of the formula beside it: of the median, of the 95 % quantile. Wider ranges
# would be true and say less; narrower ones fail in the benchmark.
_SUBSET, _SUBSET_95 = 0.35, 1.2  # the least, of the scatter
_SUBSET_COLUMNS, _SUBSET_MOST, _SUBSET_MOST_95 = (1, 3, 5), (1.8, 1.5, 1.7), (6.2, 4.8, 4.8)  # the most, by columns
_BIAS = ((2.0, 3.0), (1.9, 1.2))  # rows of a block, and what a log-normal column has of the predicted bias
_TWO_STEP, _TWO_STEP_95 = (0.45, 3.5), (1.6, 9.5)  # of the predicted median
_OTHER, _OTHER_95 = (0.5, 2.0), (1.6, 6.0)  # for ways to a mean that have no line of their own here
_CENTRE, _CENTRE_95 = (0.3, 4.5), (1.4, 12.0)  # of the centre's scatter for bell-shaped columns
_QUARTILES, _QUARTILES_95 = (1.4, 2.8), (6.5, 17.0)  # of what one rank of the weight's size is, over the rows
_BALL, _BALL_95 = (0.45, 5.5), (1.4, 9.0)  # of Huang, Liang and Yi's noise
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
# Scatter of a centre: in standard deviations over (epsilon n), growing like d^(1/4), and what the deepest point strays
# from the columns' medians, over sqrt(n), from two columns on.
_BY_DEPTH, _STRAY = 5.0, 0.5
# What skewed columns have between the deepest point and the columns' medians at any n, by the number of columns.
_COLUMNS, _APART = (1, 2, 3, 5, 10), (0.0, 0.06, 0.12, 0.17, 0.2)
# Noise of Huang, Liang and Yi's mean in standard deviations, times n over (the Gaussian multiplier d^(1/4)); and rows
# for each unit of multiplier sqrt(d) below which its searches are noise.
_BALL_NOISE, _BALL_ROWS = 4.2, 65.0


@dataclass(frozen=True)
class Prediction:
    """Errors in standard deviations of each column, from the least to the most over the shapes, and the share far off.

    `law_known` where all of the error is noise of a known law: it holds in data units, whatever the columns.
    """

    typical: tuple[Range, ...]
    within_95: tuple[Range, ...]
    far: float
    law_known: bool = False


def of_mean(plan: MeanPlan, n: int, widths: FloatArray) -> Prediction:
    """For a planned mean of n rows: those that have a value in a column."""
    d = len(widths)
    if isinstance(plan, CubeMean):
        return of_cube(float(plan.settings["epsilon_mean"]) * n, widths, d)
    if isinstance(plan, ScaledMean):
        return of_mean(plan.way(n, widths), n, widths)  # what it would find out is what is assumed here
    middle = predicted_error(plan, n, widths)
    if isinstance(plan, SubsetMean):
        return _of_subset(middle, n, plan.plan, float(plan.epsilon), d, fallen(plan, n, widths))
    ranges = (_TWO_STEP, _TWO_STEP_95) if isinstance(plan, TwoStepMean) else (_OTHER, _OTHER_95)
    return _alike(d, _times(ranges[0], middle), _times(ranges[1], middle), fallen(plan, n, widths))


def of_rem_mean(n: int, d: int, blocks: int, release: Fraction) -> Prediction:
    """REM on the means of blocks: as depth of subset means with the draw's epsilon, without a box to get lost in."""
    plan = SubsetPlan(blocks, 1, (1,) * d)
    middle = predicted_error(SubsetMean(release, plan), n, np.ones(d))
    return _of_subset(middle, n, plan, float(release), d, far=0.0)


def _of_subset(middle: float, n: int, plan: SubsetPlan, epsilon: float, d: int, far: float) -> Prediction:
    spread = scatter(n, d, epsilon, plan.blocks)
    bias = max(0.0, middle - spread) * float(np.interp(n / plan.blocks, *_BIAS))
    most, most_95 = (float(np.interp(d, _SUBSET_COLUMNS, m)) for m in (_SUBSET_MOST, _SUBSET_MOST_95))
    typical = (_SUBSET * spread, most * spread + bias)
    return _alike(d, typical, (_SUBSET_95 * spread, most_95 * spread + bias), far)


def of_cube(strength: float, widths: FloatArray, coordinates: int) -> Prediction:
    """Cube noise by its law; `strength` is epsilon n. In groups it has more coordinates than columns."""
    halves = [float(quantile_of_noise(coordinates, share)) / strength for share in (0.5, 0.95)]
    # A result is moved back between the bounds.
    typical, within_95 = (tuple((w * min(1.0, q),) * 2 for w in widths.tolist()) for q in halves)
    limits = np.full(coordinates, np.inf)
    limits[: len(widths)] = np.where(widths > FAR, FAR / widths * strength, np.inf)
    return Prediction(typical, within_95, 1.0 - share_all_within(limits), law_known=True)


def of_centre(n: int, d: int, epsilon: float, far: float) -> Prediction:
    """A deep point of n complete rows, against the columns' medians."""
    stray = _STRAY / math.sqrt(n) if d > 1 else 0.0
    spread = math.hypot(_BY_DEPTH * d**0.25 / (epsilon * n), stray)
    apart = float(np.interp(d, _COLUMNS, _APART))
    typical, within_95 = (
        (low * spread, max(high * spread, low_95 * spread + apart))
        for (low, high), low_95 in ((_CENTRE, 1.0), (_CENTRE_95, 4.0))
    )
    return _alike(d, typical, within_95, far)


def of_quartiles(n: int, d: int, epsilon: Fraction, far: float) -> Prediction:
    """The three quartiles of each column of n values, against the table's own; columns and levels share epsilon."""
    ((weight, _), *_) = levels_of(QUARTILES, level_epsilon(d, epsilon))
    size = 1.0 / (float(weight) * n)
    return _alike(d, _times(_QUARTILES, size), _times(_QUARTILES_95, size), far)


def level_epsilon(d: int, epsilon: Fraction) -> Fraction:
    """What each level of the quartiles of each of d columns has."""
    return epsilon / (d * number_of_levels(len(QUARTILES)))


def chance_of_lost_quartiles(n: int, d: int, epsilon: Fraction, widths: FloatArray) -> float:
    """Share of releases with some column's quartile a random point between its bounds, which are so many sd wide."""
    odds = log_odds_of_ranks(n, QUARTILES, level_epsilon(d, epsilon)) - np.log(widths)
    return 1.0 - float(np.exp(-np.logaddexp(0.0, -odds).sum()))


def of_analytic_gaussian(n: int, guarantee: ApproxDP, widths: FloatArray) -> Prediction:
    """Gaussian noise by its law: the box's diameter over n, times the multiplier."""
    from scipy.special import ndtr, ndtri

    deviations = widths * math.sqrt(len(widths)) * float(multiplier(guarantee)) / n
    typical, within_95 = (
        tuple((float(s) * float(ndtri(0.5 + share / 2)),) * 2 for s in deviations) for share in (0.5, 0.95)
    )
    far = 1.0 - float(np.prod(2.0 * ndtr(FAR / deviations) - 1.0))
    return Prediction(typical, within_95, far, law_known=True)


def of_huang_liang_yi(n: int, guarantee: ApproxDP, d: int) -> Prediction | None:
    """None where the rows are too few for its searches."""
    noise = float(multiplier(guarantee))
    if n < _BALL_ROWS * noise * math.sqrt(d):
        return None
    size = _BALL_NOISE * noise * d**0.25 / n
    return _alike(d, _times(_BALL, size), _times(_BALL_95, size), far=0.0)


def fallen(plan: MeanPlan, n: int, widths: FloatArray) -> float:
    """Chance that depth of subset means finds nothing, for bell-shaped columns (the cliff); 0 if it is not used."""
    if isinstance(plan, SubsetMean):
        subset, epsilon = plan.plan, plan.epsilon
    elif isinstance(plan, TwoStepMean):
        subset, epsilon = plan.plan.centre, plan.plan.epsilons[0]
    else:
        return 0.0
    rows_of_block = max(1.0, n / subset.blocks)
    width = math.exp(float(np.log(widths).mean())) * math.sqrt(rows_of_block)
    return chance_of_noise(subset.blocks, len(widths), float(epsilon), width)


def chance_of_noise(rows: int, d: int, epsilon: float, width: float) -> float:
    """Share of releases that are a random point of the box: its odds against the deep middle."""
    odds = log_odds(rows, d, epsilon) - d * math.log(width)
    return 1.0 / (1.0 + math.exp(min(700.0, odds)))


def _alike(d: int, typical: Range, within_95: Range, far: float) -> Prediction:
    """Columns are alike in their own standard deviations."""
    return Prediction((typical,) * d, (within_95,) * d, far)


def _times(pair: Range, size: float) -> Range:
    return pair[0] * size, pair[1] * size
