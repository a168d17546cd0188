"""Hints for the envelope that no sampler should be able to trust: the law must not depend on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.depth.levels import LevelSets
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted.certificates import Multipliers


class Garbage:
    """Numbers without any sense, NaN and infinity among them."""

    def __init__(self, levels: LevelSets) -> None:
        self._count, self._d = levels.directions.shape
        self._random = np.random.default_rng(1)

    def emptiness(self, level: int) -> Multipliers:
        return self._multipliers()

    def supports(
        self, levels: Sequence[int], objectives: Any, within: Any = None
    ) -> list[list[tuple[Multipliers, Multipliers]]]:
        return [[(self._multipliers(), self._multipliers()) for _ in objectives] for _ in levels]

    def shape(self, level: int) -> FloatArray:
        a = self._random.normal(size=(self._d, self._d)) * 5
        return np.asarray(a @ a.T)

    def middle(self, level: int) -> FloatArray:
        return np.asarray(self._random.standard_cauchy(self._d))

    def _multipliers(self) -> Multipliers:
        values: FloatArray = np.asarray(self._random.standard_cauchy(self._count))
        values[self._random.integers(self._count)] = self._random.choice([math.nan, math.inf, -1e300, 1e-300])
        return Multipliers(range(self._count), values.tolist())


class AnyShape(LinearPrograms):
    """Good bounds, in a basis for a random shape: it may fit the level sets or not."""

    def __init__(self, levels: LevelSets) -> None:
        super().__init__(levels)
        self._random = np.random.default_rng(2)

    def shape(self, level: int) -> FloatArray:
        a = self._random.normal(size=(2, 2)) * 3
        return np.asarray(a @ a.T)
