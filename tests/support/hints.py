"""Hints for the envelope that no sampler should be able to trust."""

from __future__ import annotations

import math

import numpy as np

from tukeydp.trusted.certificates import Multipliers


class Garbage:
    """Hints that are worse than useless."""

    def __init__(self, levels):
        self._count, self._d = levels.directions.shape
        self._gauss = np.random.default_rng(1)

    def emptiness(self, level):
        return self._multipliers()

    def supports(self, levels, objectives, within=None):
        return [[(self._multipliers(), self._multipliers()) for _ in objectives] for _ in levels]

    def shape(self, level):
        a = self._gauss.normal(size=(self._d, self._d)) * 5
        return a @ a.T

    def middle(self, level):
        return self._gauss.standard_cauchy(self._d)

    def _multipliers(self):
        values = self._gauss.standard_cauchy(self._count)
        values[self._gauss.integers(self._count)] = self._gauss.choice([math.nan, math.inf, -1e300, 1e-300])
        return Multipliers(range(self._count), values.tolist())
