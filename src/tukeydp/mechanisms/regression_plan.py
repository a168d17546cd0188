"""How many blocks a regression has, and how many rows it needs: from (n, d, epsilon, delta) alone.

Nothing here can break the guarantee: a plan is public whatever it is. A bad one costs releases or accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.accuracy import ASSUMED_WIDTH
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.cliff import SAFE, log_odds
from tukeydp.mechanisms.mean_without_bounds import log_delta_share
from tukeydp.parameters import checked_integer, show
from tukeydp.privacy import ApproxDP, Guarantee

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
