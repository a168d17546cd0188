"""Vectors from a point to the rows: floats for the sweeps, integers wherever those are in doubt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.depth.projections import Vector
from tukeydp.trusted.parameters import FloatArray, IntArray

# In data units: a vector with no component larger than this is taken from the integers. Floats lose digits below
# 2.2e-308, and the bound on `shadow` needs them; the distance to that is generous, and larger costs speed only.
_SMALL = 1e-290


@dataclass(frozen=True, eq=False)
class Vectors:
    """Distinct nonzero vectors with weights: floats for speed, integers (up to a positive factor each) when it matters.

    `shadow` is off by at most 2^-51 of a vector's largest component; where `whole` it is whole numbers, and not off.
    """

    shadow: FloatArray
    weights: IntArray
    exactly: Callable[[int], Vector]
    whole: bool = False

    @property
    def total(self) -> int:
        return int(self.weights.sum())


def from_integers(exact: Sequence[Vector], weights: Sequence[int]) -> Vectors:
    """Nonzero vectors given as integers of any size; those of one direction are merged."""
    reduced: dict[tuple[int, ...], int] = {}
    for v, w in zip(exact, weights, strict=True):
        shrink = math.gcd(*v)
        key = tuple(c // shrink for c in v)
        reduced[key] = reduced.get(key, 0) + w
    kept = list(reduced)
    shadow = np.array([[c / max(map(abs, v)) for c in v] for v in kept], dtype=np.float64)
    d = len(exact[0]) if exact else 1
    return Vectors(shadow.reshape(len(kept), d), np.array(list(reduced.values()), dtype=np.int64), kept.__getitem__)


def from_floats(rows: FloatArray, point: FloatArray, weights: IntArray) -> Vectors:
    """Vectors from a point to distinct rows, none of them equal to it, all finite."""

    def exactly(j: int) -> Vector:
        parts = [Fraction(a) - Fraction(b) for a, b in zip(rows[j].tolist(), point.tolist(), strict=True)]
        common = math.lcm(*(part.denominator for part in parts))
        return [int(part * common) for part in parts]

    with np.errstate(all="ignore"):
        offsets = rows - point
        lengths = np.abs(offsets).max(axis=1, keepdims=True, initial=0.0)
        shadow = offsets / lengths
    if len(rows) and not (np.isfinite(lengths).all() and lengths.min() > _SMALL):
        # Differences overflow or lose digits: start from the integers.
        return from_integers([exactly(j) for j in range(len(rows))], weights.tolist())
    return Vectors(np.ascontiguousarray(shadow), weights, exactly)
