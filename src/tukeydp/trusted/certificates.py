"""Bounds on a level set that hold whatever the hint: exact integers, any multipliers.

For multipliers u of any sign, and y in level l inside a known box,
    c.y = sum_i u_i <v_i, y> + sum_j r_j y_j,     r = c - sum_i u_i v_i,
and each term is at most its value at the end of its known interval: <v_i, y> at the l-th largest (u_i > 0) or
l-th smallest (u_i < 0) projection, y_j at the end of the box. Multipliers are hints, numbers of any quality, turned
into integers over 2^SHIFT first; from there on nothing is rounded except one final floor. (The safe bounds of Neumaier
and Shcherbina, 2004, in integers.) With c = 0 and a negative bound, the multipliers are a Farkas certificate: the level
has no point in the box.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets

# Tightness only: whatever these are, the bounds hold.
SHIFT = 96  # bits behind the point of a multiplier: projections are below 2^62, so rounding costs far less than a step
_LARGEST = 2.0**64  # a multiplier beyond this counts as zero, which keeps the integers short
_PLAIN = (list, tuple, range, np.ndarray)  # what a hint may be a sequence of: others could run code of their own

# Pairs (number of a direction, multiplier * 2^SHIFT).
Weights = list[tuple[int, int]]


@dataclass(frozen=True)
class Multipliers:
    """A sparse combination of directions: `values[i]` times direction `rows[i]`, floats of any quality."""

    rows: Sequence[int]
    values: Sequence[float]


def in_integers(multipliers: Any, directions: int) -> Weights:
    """A hint's multipliers as integers of our own; what is not a finite number of a direction counts as zero."""
    try:
        rows, values = multipliers.rows, multipliers.values
        if type(rows) not in _PLAIN or type(values) not in _PLAIN:
            return []
        pairs = [(operator.index(row), _integer(value)) for row, value in zip(rows, values, strict=True)]
    except Exception:  # whatever a hint does wrong, it is no hint
        return []
    return [(row, weight) for row, weight in pairs if weight and 0 <= row < directions]


def _integer(value: Any) -> int:
    """A number times 2^SHIFT; zero if it is none, or too large."""
    number = float(value)
    return round(math.ldexp(number, SHIFT)) if math.isfinite(number) and abs(number) < _LARGEST else 0


def upper_bound(levels: LevelSets, level: int, objective: Sequence[int], multipliers: Any, known: Box) -> int:
    """An integer that is at least objective.y for every grid point y of `known` with depth >= level."""
    return weighted_bound(levels, level, objective, in_integers(multipliers, len(levels.directions)), known)


def weighted_bound(levels: LevelSets, level: int, objective: Sequence[int], weights: Weights, known: Box) -> int:
    """The same for multipliers in integers; 1 <= level <= rows."""
    total = 0
    residual = [c << SHIFT for c in objective]
    smallest, largest = levels.offsets(level)
    for row, weight in weights:
        total += weight * int(largest[row] if weight > 0 else smallest[row])
        for j, entry in enumerate(levels.directions[row].tolist()):
            residual[j] -= weight * entry
    for rest, a, b in zip(residual, known.low, known.high, strict=True):
        total += rest * (b if rest > 0 else a)
    return total >> SHIFT  # floor: objective.y is an integer


def proves_empty(levels: LevelSets, level: int, multipliers: Any, known: Box) -> bool:
    """Whether the multipliers prove that no grid point of `known` has depth >= level: 0 <= bound < 0."""
    return upper_bound(levels, level, [0] * levels.d, multipliers, known) < 0
