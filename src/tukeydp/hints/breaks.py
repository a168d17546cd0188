"""Levels from which on a column is far narrower than just below them: where many rows share a value, a single point.

Scores from 1 to 5 on a fine grid: up to level 290, say, a column's order statistics are two scores apart, from 291 on
both are the middle score. Sizes that are read off a curve through other levels miss such a fall by dozens of orders of
magnitude, and nearly all proposals are made for levels that a box below the fall serves and hardly any point of it is
in. Speed only: breaks say which levels are worth a box, never what it contains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tukeydp.trusted.covers import Covers, View
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import IntArray

# From one level to the next a column falls by at least this factor in width. Smaller falls are what continuous columns
# have by chance, in their tails above all; larger ones would miss columns of a few hundred values.
_FALL = 256


@dataclass(frozen=True)
class Break:
    """From `level` on, `column` is narrow; in the sample, from that many rows on either side on."""

    level: int
    column: int
    index: int


def breaks(covers: Covers) -> tuple[Break, ...]:
    """The breaks of the columns along which there is a direction, in ascending order.

    Guessed from the sample, made exact by the order statistics themselves: one level too high or too low would cost a
    factor of e^(epsilon/2).
    """
    found = []
    for column in covers.axes:
        widths = _widths(covers.view.sample[:, column])
        for index in np.flatnonzero(np.maximum(widths[1:], 1.0) * _FALL < widths[:-1]).tolist():
            between = math.sqrt(widths[index] * max(widths[index + 1], 1.0))
            found.append(Break(_first_narrow(covers, column, between, index + 1), column, index + 1))
    return tuple(sorted(found, key=lambda b: (b.level, b.column)))


def _widths(ranked: IntArray) -> IntArray:
    """Of what is left of a sorted column without its first and last i values, for all i up to its middle."""
    half = (len(ranked) + 1) // 2
    return (ranked[::-1][:half] - ranked[:half]).astype(np.float64)


def _first_narrow(covers: Covers, column: int, between: float, index: int) -> int:
    """The lowest level at which a column is narrower than `between`; m + 1 at most. By steps from a guess that double.

    `index` is how many rows of the sample lie outside on either side.
    """
    levels, box = covers.view, covers.box_along_axes

    def narrow(level: int) -> bool:
        here = box(level)
        return here.high[column] - here.low[column] < between

    guess = min(levels.rows, max(1, index * levels.rows // len(levels.sample) + 1))
    low, high, step = 0, levels.rows + 1, 1
    at = guess
    while low < at < high:
        if narrow(at):
            at, high = at - step, at
        else:
            at, low = at + step, at
        step *= 2
    while low + 1 < high:
        middle = (low + high) // 2
        if narrow(middle):
            high = middle
        else:
            low = middle
    return high


def sample_places(levels: LevelSets | View, steps: IntArray, found: Sequence[Break]) -> IntArray:
    """For each level and column, how many rows of the sample to leave out on either side, on the right side of breaks.

    The sample is a part of the rows: by its own account a break may be some levels off.
    """
    last = len(levels.sample) - 1
    place = np.clip(steps / max(1, levels.rows), 0.0, 0.5)
    index = np.repeat(np.floor(place * last).astype(np.int64)[:, np.newaxis], levels.d, axis=1)
    for b in found:
        here, beyond = index[:, b.column], steps >= b.level
        index[:, b.column] = np.where(beyond, np.maximum(here, b.index), np.minimum(here, b.index - 1))
    return index
