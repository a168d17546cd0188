"""Least squares in every block by itself, and how many blocks a regression has (docs/proofs/aggregate.md, 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.mechanisms.mean_without_bounds import log_delta_share
from tukeydp.results.accuracy import ASSUMED_WIDTH
from tukeydp.trusted.account import ApproxDP, Guarantee
from tukeydp.trusted.parameters import FloatArray, ParameterError, checked_integer, show

# Least squares in every block by itself, for many blocks of one size at once (docs/proofs/aggregate.md, section 6).

# A column of a block that is a combination of the others, to so many digits, leaves its coefficient open.
_DEPENDENT = 1e-9


@np.errstate(all="ignore")  # no cell may warn
def slopes(blocks: FloatArray) -> FloatArray:
    """Coefficients of the last column on the others, (blocks, rows, columns) -> (blocks, columns - 1)."""
    complete = np.isfinite(blocks).all(axis=2, keepdims=True)
    kept = np.where(complete, blocks, 0.0)  # a row of zeros moves no coefficient
    return _solved(kept[:, :, :-1], kept[:, :, -1])


@np.errstate(all="ignore")
def intercept_and_slopes(blocks: FloatArray) -> FloatArray:
    """The same with a constant besides, whose coefficient comes first."""
    complete = np.isfinite(blocks).all(axis=2, keepdims=True)
    kept = np.where(complete, blocks, 0.0)
    return _solved(np.concatenate([complete.astype(np.float64), kept[:, :, :-1]], axis=2), kept[:, :, -1])


def _solved(design: FloatArray, answer: FloatArray) -> FloatArray:
    """By an orthogonal triangle of each block's own columns, scaled to length 1; NaN where that leaves something open.

    Neither factorisation nor solution can fail: a triangle with an open coefficient is replaced before it is solved, so
    that no block's numbers raise.
    """
    _, rows, columns = design.shape
    identity = np.eye(columns)
    if rows < columns:
        return np.full((len(design), columns), np.nan)
    length = np.sqrt((design**2).sum(axis=1, keepdims=True))
    unit = np.where((length > 0) & np.isfinite(length), design / length, 0.0)
    orthogonal, triangle = np.linalg.qr(unit)
    diagonal = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
    determined = (diagonal > _DEPENDENT).all(axis=1)
    safe = np.where(determined[:, np.newaxis, np.newaxis], triangle, identity)
    projected = (orthogonal * answer[:, :, np.newaxis]).sum(axis=1)
    found = np.linalg.solve(safe, projected[:, :, np.newaxis])[:, :, 0] / length[:, 0]
    usable = determined & np.isfinite(found).all(axis=1)
    return np.asarray(np.where(usable[:, np.newaxis], found, np.nan))


@dataclass(frozen=True)
class Standard:
    """Features and target measured from the middle of public ranges, in half-ranges, and coefficients taken back.

    Cell by cell, nothing is clipped. All numbers are public. Without an intercept middles are not taken off.
    """

    middles: tuple[Fraction, ...]
    halves: tuple[Fraction, ...]  # of the features, and of the target at the end

    @classmethod
    def of(cls, lower: tuple[Fraction, ...], upper: tuple[Fraction, ...], intercept: bool) -> Standard:
        middles = tuple((a + b) / 2 if intercept else Fraction(0) for a, b in zip(lower, upper, strict=True))
        return cls(middles, tuple((b - a) / 2 for a, b in zip(lower, upper, strict=True)))

    def cells(self, cells: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray((cells - np.array(self.middles, dtype=float)) / np.array(self.halves, dtype=float))

    def in_units(self, point: FloatArray, intercept: bool) -> FloatArray:
        """Released coefficients in the columns' own units: post-processing."""
        *x_middles, y_middle = (float(v) for v in self.middles)
        *x_halves, y_half = (float(v) for v in self.halves)
        steep = point[1:] if intercept else point
        back = steep * y_half / np.array(x_halves)
        if not intercept:
            return np.asarray(back)
        return np.append(y_middle + y_half * point[0] - float(np.dot(back, x_middles)), back)


# How many blocks a regression has, and how many rows it needs: from (n, d, epsilon, delta) alone.
#
# Nothing here can break the guarantee: a plan is public whatever it is. A bad one costs releases or accuracy.

# Models that REM's test passes with at epsilon = 1 and delta = 1e-6, by number of coefficients. Measured on Gaussian,
# skewed and heavy-tailed features; with a fifth fewer the test takes three times as long, with a quarter it refuses.
_MODELS, _MODELS_PER_COEFFICIENT = 250.0, 35.0
# Rows of a block at least, by number of coefficients: with fewer, coefficients have tails so heavy that most of the
# rows go into noise.
_ROWS, _ROWS_PER_COEFFICIENT = 1, 1.5
_MOST_MODELS = 4000  # more bring nothing measurable, and take seconds
# Dealings fill a block table of up to so many rows, and are at most so many: with bounds, and without, where more make
# REM's test slow.
_ENOUGH_ROWS, _MOST_PARTITIONS = 4000, 8
_ENOUGH_ROWS_OF_REM, _MOST_PARTITIONS_OF_REM = 1800, 4
_DRAWN = 0.7  # of epsilon goes to the draw, the rest to REM's test
# Variance that a deep point of one dealing has beside least squares, in variances of a block's coefficient over N.
_MEDIAN = 1.2
_LOOKS = 40  # numbers of blocks that are compared


@dataclass(frozen=True)
class RegressionPlan:
    """A regression's public numbers; `d` coefficients, the intercept included."""

    n: int
    d: int
    guarantee: Guarantee
    blocks: int
    partitions: int

    @property
    def rows_needed(self) -> int:
        return rows_needed(self.d, self.guarantee)


def regression_plan(n: int, d: int, guarantee: Guarantee, blocks: Any, partitions: int | None) -> RegressionPlan:
    """As many blocks as lose least, by a formula for bell-shaped features; too few rows raise, and nothing is spent.

    Whoever gives `blocks` is asked for no more rows than make every block solvable.
    """
    if blocks is None:
        needed = rows_needed(d, guarantee)
        if n < needed:
            budget = f"epsilon {show(guarantee.epsilon)}"
            if isinstance(guarantee, ApproxDP):
                budget += f" and delta {show(guarantee.delta)}"
            rule = (
                f"must have at least {needed} rows for {d} coefficients at {budget} ({fewest_models(d, guarantee)} "
                f"models of {fewest_rows(d)} rows each; blocks= overrules it)"
            )
            raise ParameterError("x", rule, f"{n} rows")
        count = _best_blocks(n, d, guarantee)
    else:
        count = checked_integer("blocks", blocks, least=1, most=max(1, n // (d + 1)))
    return RegressionPlan(n, d, guarantee, count, partitions or dealings(count, guarantee))


def dealings(blocks: int, guarantee: Guarantee) -> int:
    """How many times rows are dealt: a deep point of several dealings is nearer to least squares than one of one."""
    if isinstance(guarantee, ApproxDP):
        return max(1, min(_MOST_PARTITIONS_OF_REM, _ENOUGH_ROWS_OF_REM // blocks))
    return max(1, min(_MOST_PARTITIONS, _ENOUGH_ROWS // blocks))


def rows_needed(d: int, guarantee: Guarantee) -> int:
    """Rows for d coefficients, the intercept included."""
    return fewest_models(d, guarantee) * fewest_rows(d)


def fewest_rows(d: int) -> int:
    """Of a block."""
    return _ROWS + math.ceil(_ROWS_PER_COEFFICIENT * d)


def fewest_models(d: int, guarantee: Guarantee) -> int:
    """That a release is all but certain with: REM's test without bounds, the cliff with."""
    epsilon = float(guarantee.epsilon)
    if isinstance(guarantee, ApproxDP):
        return math.ceil((_MODELS + _MODELS_PER_COEFFICIENT * d) * log_delta_share(guarantee) / epsilon)
    low, high = 0, 8
    while not _safe(high, d, epsilon):
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _safe(middle, d, epsilon) else (middle, high)
    return high


def _safe(models: int, d: int, epsilon: float) -> bool:
    return log_odds(models, d, epsilon) - d * math.log(ASSUMED_WIDTH) >= SAFE


def _best_blocks(n: int, d: int, guarantee: Guarantee) -> int:
    fewest = fewest_models(d, guarantee)
    most = max(fewest, min(n // fewest_rows(d), _MOST_MODELS))
    looked_at = sorted({round(v) for v in np.geomspace(fewest, most, _LOOKS)})
    return min(looked_at, key=lambda blocks: predicted_loss(n, d, guarantee, blocks))


def predicted_loss(n: int, d: int, guarantee: Guarantee, blocks: int) -> float:
    """Share of the unexplained variance that is added, for bell-shaped features around zero.

    A block of m rows has coefficients of variance 1 / (m - d - 1) in residual deviations. The draw falls off like
    e^(-u eta N / (sqrt(2 pi) s)) with the distance u, in d dimensions; a deep point is a median.
    """
    variance = 1.0 / max(n / blocks - d - 1.0, 0.1)
    share = _DRAWN if isinstance(guarantee, ApproxDP) else 1.0
    drawn = d * (d + 1) * 2.0 * math.pi / (share * float(guarantee.epsilon) / 2.0 * blocks) ** 2
    return variance * (drawn + _MEDIAN * d / (blocks * dealings(blocks, guarantee)))
