"""How often REM would refuse: its graded test on a bell-shaped population, by a few plans instead of all."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tukeydp.accuracy import Range
from tukeydp.mechanisms.rem_test.choice import gaussian_strength

# Thresholds, as shares of the rows, and parts of epsilon for the test that are tried: the strength found is within a
# third of a nat of the best one's. More cost time.
_THRESHOLDS, _PARTS = (0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.25), (0.25, 0.325, 0.375, 0.425)
# The plan is chosen for this strength first (nats), and then for other tables: no more is counted on.
_SURE = 1.2
# Part of epsilon that the draw has; between 0.6 where rows just suffice and 0.9 where they abound.
DRAW = Fraction(13, 20)
# Log-normal columns are refused like bell-shaped ones with fewer rows: by so much for each column, up to so much.
# Fitted to runs with 2, 5 and 10 columns.
_SKEWED, _MOST = 0.025, 0.3


def chance_of_refusal(rows: int, d: int, epsilon: float, delta: float, rows_of_block: float = 1.0) -> Range:
    """For bell-shaped columns, and for log-normal ones: they are refused more often, above all if there are many.

    For means of blocks `rows` are the blocks. Skewness of block means falls like one over the root of their rows.
    """
    fewer = max(1, int(rows * (1.0 - min(_MOST, _SKEWED * d) / math.sqrt(rows_of_block))))
    bell = _chance(rows, d, epsilon, delta)
    return bell, max(bell, _chance(fewer, d, epsilon, delta))


@lru_cache(maxsize=4096)
def _chance(rows: int, d: int, epsilon: float, delta: float) -> float:
    strengths = [
        (gaussian_strength(rows, d, max(1, round(share * rows)), part * epsilon, (1 - part) * epsilon, delta), part)
        for share in _THRESHOLDS
        for part in _PARTS
    ]
    strength, part = max(strengths)
    return 1.0 - _graded(min(strength, _SURE), 1.0 / part)


def _graded(log_strength: float, rho: float) -> float:
    """The graded test's probability of a release (docs/proofs/rem.md, section 4), in floats."""
    turn = math.log(rho / (1.0 + rho))
    if log_strength <= turn:
        return math.exp(log_strength)
    return 1.0 - math.exp(rho * (turn - log_strength)) / (1.0 + rho)
