"""Small cases for REM: its tests, plans and exact chances of a release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Graded, Laplace, Paper, SafetyTest

TESTS: list[SafetyTest] = [Graded(), Laplace(), Paper()]


def grid_points(widths: tuple[int, ...]) -> np.ndarray:
    return np.array(list(np.ndindex(*widths)), dtype=np.int64)


def plan(n: int, t: int, release: Fraction, test: Fraction, delta: Fraction, swaps: int | None = None) -> Plan:
    return Plan(n, t, release, test, delta, t - 1 if swaps is None else swaps, tuple(range(n + 1)))


def chance(test: SafetyTest, evidence: Evidence, bits: int = 96) -> float:
    """The probability of a release, with everything measured."""
    if evidence.empty:
        return 0.0
    while True:
        found = test.chance(evidence, bits)
        if found.doubtful is None or not evidence.refine(found.doubtful):
            assert found.high - found.low < Fraction(1, 10**9)
            return float(found.low)
