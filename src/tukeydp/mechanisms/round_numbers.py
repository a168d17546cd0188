"""Public weights of a column's steps: numbers that people write down weigh more (docs/proofs/quantiles.md, section 3).

Half of the weight lies on all steps alike, the other half in equal parts on the multiples of 10^k between the bounds,
for every k from finer than anybody records to coarser than the bounds. All of it is integers made of the grid alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import Grid

_WHOLE = 2**80  # all weight together, roughly: so that each of 2^45 steps has a weight of many bits
_MOST_MULTIPLES = 10**9  # between the bounds: finer decimals are as good as all steps
_COARSEST = 10  # times the width of the bounds; of every larger power 0 is the one multiple, if there is one


@dataclass(frozen=True)
class Progression:
    """Steps nearest to `first`, `first` + 1, ... times `unit`, `count` of them; each weighs `weight`.

    The step of the multiple m is floor((m unit - lower) / step + 1/2), in integers (m `up` + `offset`) // `down`.
    """

    unit: Fraction
    first: int
    count: int
    up: int
    offset: int
    down: int
    weight: int = 1

    @staticmethod
    def of(unit: Fraction, lower: Fraction, step: Fraction, cells: int) -> Progression:
        first = -(-lower // unit)
        count = max(0, (lower + cells * step) // unit - first + 1)
        slope, start = unit / step, Fraction(1, 2) - lower / step
        down = slope.denominator * start.denominator
        return Progression(unit, first, count, int(slope * down), int(start * down), down)

    def step(self, number: int) -> int:
        return ((self.first + number) * self.up + self.offset) // self.down

    def up_to(self, step: int) -> int:
        """How many of its steps are at most this one: multiples below ((step + 1) down - offset) / up."""
        beyond = -((self.offset - (step + 1) * self.down) // self.up)
        return min(self.count, max(0, beyond - self.first))


@dataclass(frozen=True)
class RoundNumbers:
    """Weights of steps from 0 on.

    A step's weight is the sum over the progressions that it is in: the coarsest first, all steps last.
    """

    progressions: tuple[Progression, ...]

    def weight(self, low: int, high: int) -> int:
        """Of all steps from low to high, both included."""
        return sum(one.weight * (one.up_to(high) - one.up_to(low - 1)) for one in self.progressions)

    def point(self, low: int, high: int, number: int) -> int:
        """The step from low to high with this number, from 0 on, if each has as many numbers as it weighs."""
        for one in self.progressions:
            before = one.up_to(low - 1)
            here = one.weight * (one.up_to(high) - before)
            if number < here:
                return one.step(before + number // one.weight)
            number -= here
        raise ValueError("a number beyond the weight of all steps")

    def value(self, grid: Grid, j: int, step: int) -> float:
        """The roundest number that is this step, in data units: post-processing."""
        for one in self.progressions[:-1]:
            number = one.up_to(step)
            if number > one.up_to(step - 1):
                return float((one.first + number - 1) * one.unit)
        return float(grid.lower[j] + grid.step[j] * step)

    def shares_below(self, edges: FloatArray) -> FloatArray:
        """The weight of all steps below each of these, as a share of all, in floats: for forecasts."""
        first, count, up, offset, down, weight = self._floats
        beyond = np.ceil((np.multiply.outer(down, edges) - offset[:, np.newaxis]) / up[:, np.newaxis])
        counted = np.minimum(np.maximum(beyond - first[:, np.newaxis], 0.0), count[:, np.newaxis])
        return np.asarray((weight / np.dot(weight, count)) @ counted)

    @cached_property
    def _floats(self) -> FloatArray:
        names = ("first", "count", "up", "offset", "down", "weight")
        return np.array([[float(getattr(one, name)) for one in self.progressions] for name in names])

    @property
    def log_odds(self) -> float:
        """ln of what lies between two neighbouring multiples of a power of ten over what one of them weighs: the most.

        All steps have half of the weight, and each of L powers an equal part of the rest: at most 2 L.
        """
        return math.log(max(1, 2 * (len(self.progressions) - 1)))


EVERY_POINT = RoundNumbers((Progression(Fraction(1), -(2**62), 2**63, 1, 0, 1),))  # integers of equal weight


def round_numbers(grid: Grid, j: int) -> RoundNumbers:
    """The weights of column j of a grid."""
    lower, step, cells = grid.lower[j], grid.step[j], grid.cells[j]
    width = step * cells
    power = Fraction(1)
    while power <= _COARSEST * width:
        power *= 10
    while power > _COARSEST * width:
        power /= 10
    decimals = []
    while power > step and power * _MOST_MULTIPLES >= width:
        one = Progression.of(power, lower, step, cells)
        decimals += [one] * (one.count > 0)
        power /= 10
    each = Progression(step, 0, cells + 1, 1, 0, 1, max(1, _WHOLE // 2 // (cells + 1)))
    weights = [max(1, _WHOLE // 2 // (len(decimals) * one.count)) for one in decimals]
    return RoundNumbers((*(replace(one, weight=w) for one, w in zip(decimals, weights, strict=True)), each))
