"""What notions with drawn directions have in common: how many, beside the axes or not, and their integers."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.depth.notions.base import FiniteNotion, Notion
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.directions import LONGEST, SHORTEST, as_fractions, fitting
from tukeydp.trusted.parameters import FloatArray, IntArray, ParameterError, checked_integer
from tukeydp.trusted.rows import LIMIT, Grid


@dataclass(frozen=True)
class Drawn(FiniteNotion):
    """The axes, unless they are left out, and further directions drawn from public randomness."""

    directions: int | None = None
    axes: bool = True
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.directions is not None:
            object.__setattr__(
                self, "directions", checked_integer("directions", self.directions, least=0 if self.axes else 1)
            )
        if self.seed is not None:
            object.__setattr__(self, "seed", checked_integer("seed", self.seed, least=0))

    def size(self, d: int) -> int:
        drawn = self.usual(d) if self.directions is None else self.directions
        return drawn + d if self.axes else max(1, drawn)

    def on_grid(self, grid: Grid, key: bytes) -> IntArray:
        d = grid.d
        # |round(B u)|_1 <= B sqrt(d) + d/2 for a unit vector u.
        scale = LONGEST
        while (scale * (math.isqrt(d) + 1) + d) * max(grid.extent) >= LIMIT:
            scale //= 2
        shortest = max(SHORTEST, 2 * math.isqrt(d) + 2)
        if scale < shortest:
            most = (LIMIT // (shortest * (math.isqrt(d) + 1) + d)).bit_length()
            rule = f"must give fewer than 2**{most} steps between the bounds, so that projections fit in 64 bits"
            raise ParameterError("resolution", rule, f"{max(grid.cells)} steps")
        return fitting(self._integers(d, scale, key), grid)

    def in_data_units(self, d: int, key: bytes) -> list[list[Fraction]]:
        return as_fractions(self._integers(d, LONGEST, key))

    def _integers(self, d: int, scale: int, key: bytes) -> IntArray:
        if self.seed is not None:
            key = derived_key("directions", self.seed, d)
        count = self.size(d) - d if self.axes else self.size(d)
        drawn = np.rint(scale * self.units(count, d, key)).astype(np.int64)
        shortened = drawn // np.gcd.reduce(drawn, axis=1, keepdims=True)
        return np.vstack([np.eye(d, dtype=np.int64), shortened]) if self.axes else shortened

    @abstractmethod
    def units(self, count: int, d: int, key: bytes) -> FloatArray:
        """So many unit vectors besides the axes."""

    @classmethod
    def usual(cls, d: int) -> int:
        """How many directions besides the axes are taken unless a number is given."""
        return default_directions(d)

    @classmethod
    def with_options(cls, directions: int | None, axes: bool) -> Notion:
        return cls(directions, axes=axes)


def default_directions(d: int) -> int:
    """How many directions go with the d axes: nearly free here, and each rounds the level sets."""
    if d == 1:
        return 0
    # Past 32 columns each further direction costs more proposals than it gains accuracy.
    return min(30 * d, 300) if d <= 32 else int(300 * (32 / d) ** 3)
