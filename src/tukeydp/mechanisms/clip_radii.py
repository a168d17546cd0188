"""How far from the centre each column is clipped, in spreads: drawn for all columns at once.

Radii so large that few rows of any column lie beyond are likely, small ones more than large ones. The score of radii
is minus the largest number of rows beyond the radius of a column, so that a swap moves it by at most 1, however many
columns there are: pure epsilon-DP (docs/proofs/mean.md, section 6).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.exact.level_draw import WORD, Group, LevelDraw
from tukeydp.randomness import Bits
from tukeydp.trusted.prices import MOST_BEYOND
from tukeydp.trusted.release import Charge

# In spreads. Two cover a yes/no column, three to four nearly all of a bell-shaped one, 44 codes such as 99 for unknown,
# far from a narrow bulk. Fewer than two are for spreads that were read too large, the last, which clips nothing, for
# those read far too small. Finer steps from two to eleven, where most columns end: noise is as wide as the radius.
RADII = (0.25, 0.5, 1.0, 2.0, 3.0, 4.5, 7.0, 11.0, 22.0, 44.0, math.inf)
# What each weighs before the data are looked at: from two on about radius^-2. With flatter weights light-tailed columns
# get radii, and noise, half as large again; with steeper ones tails are cut off, and a hundred rows of codes are not
# believed. Below two rows beyond are many, and decide by themselves.
WEIGHTS = (61, 121, 242, 484, 215, 96, 40, 16, 4, 1, 1)
# Weight of each radius and all larger ones; none beyond the last.
_LARGER = tuple(sum(WEIGHTS[i:]) for i in range(len(WEIGHTS)))


def drawn_radii(relative: FloatArray, centre: FloatArray, spread: FloatArray, charge: Charge) -> FloatArray:
    """One radius for each column: pure epsilon-DP, given centre and spread."""
    return radii_of_counts(rows_beyond(relative, centre, spread), charge)


def radii_of_counts(beyond: IntArray, charge: Charge) -> FloatArray:
    """The same from the numbers of rows beyond each radius of each column."""
    paid = charge.for_bounded_range()
    return drawn_by_weight(beyond, paid.weight(MOST_BEYOND), paid.bits())


def drawn_by_weight(beyond: IntArray, weight: Fraction, bits: Bits) -> FloatArray:
    """One radius for each column, by the weight of a row beyond."""
    return np.array([RADII[i] for i in _drawn(beyond, weight, bits)])


def rows_beyond(relative: FloatArray, centre: FloatArray, spread: FloatArray) -> IntArray:
    """For each column and radius, how many rows lie farther out. Missing cells do not; each row counts by itself."""
    with np.errstate(all="ignore"):
        away = np.abs(relative - centre) / spread
    return np.array([(away > radius).sum(axis=0) for radius in RADII], dtype=np.int64).T


def _drawn(beyond: IntArray, weight: Fraction, bits: Bits) -> list[int]:
    """Places in RADII, with probability proportional to their weights times e^(-weight x the most rows beyond).

    Level l of radii says that at most `most - l` rows of any column lie beyond: from then on each column's radii are
    the last few of the list, and have a known weight together. So a level is drawn, as in `boxem`, and radii in it.
    """
    most = int(beyond.max())
    groups, lowest = [], 0
    for rows in sorted({int(count) for count in beyond.flat if count >= beyond[:, -1].max()}, reverse=True):
        groups.append(Group(lowest, most - rows, _weight(_smallest(beyond, rows))))
        lowest = most - rows + 1
    level, _ = LevelDraw(groups, 2 * weight).finish(bits.take(WORD), bits)
    return [_one(first, bits) for first in _smallest(beyond, most - level)]


def _smallest(beyond: IntArray, rows: int) -> list[int]:
    """For each column the place of the smallest radius with at most so many rows beyond."""
    return [int(place) for place in (beyond > rows).sum(axis=1)]


def _weight(first: list[int]) -> int:
    total = 1
    for place in first:
        total *= _LARGER[place]
    return total


def _one(first: int, bits: Bits) -> int:
    """A place from `first` on, by the weights."""
    rest = bits.below(_LARGER[first])
    place = first
    while rest >= WEIGHTS[place]:
        rest -= WEIGHTS[place]
        place += 1
    return place


def rehearsed_radii(beyond: IntArray, epsilon: float, rng: np.random.Generator) -> IntArray:
    """The same law in floats for many made-up tables at once: places, of shape (runs, d), from (runs, d, radii)."""
    runs, d, count = beyond.shape
    fewest = beyond[:, :, -1].max(axis=1)
    rows = np.sort(np.maximum(beyond.reshape(runs, -1), fewest[:, np.newaxis]), axis=1)
    places = (beyond[:, np.newaxis] > rows[:, :, np.newaxis, np.newaxis]).sum(axis=3)
    # The most rows beyond lie from one number of rows up to the next: e^(-epsilon/2 rows) less that of the next.
    gaps = np.diff(rows, axis=1, append=np.inf)
    with np.errstate(divide="ignore"):
        logs = -epsilon / 2.0 * rows + np.log(-np.expm1(-epsilon / 2.0 * gaps))
    logs = logs + np.log(np.array(_LARGER, dtype=float))[places].sum(axis=2)
    # The largest of log weights with Gumbel noise is a draw by the weights.
    chosen = np.argmax(logs + rng.gumbel(size=logs.shape), axis=1)
    first = places[np.arange(runs), chosen]
    weights = np.where(np.arange(count) >= first[:, :, np.newaxis], np.log(np.array(WEIGHTS, dtype=float)), -np.inf)
    return np.asarray(np.argmax(weights + rng.gumbel(size=(runs, d, count)), axis=2))
