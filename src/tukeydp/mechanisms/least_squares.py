"""Least squares in every block by itself, for many blocks of one size at once (docs/proofs/aggregate.md, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray

# A column of a block that is a combination of the others, to so many digits, leaves its coefficient open.
_DEPENDENT = 1e-9


@np.errstate(all="ignore")  # no cell may warn
def slopes(blocks: FloatArray) -> FloatArray:
    """Coefficients of the last column on the others, (blocks, rows, columns) -> (blocks, columns - 1)."""
    complete = np.isfinite(blocks).all(axis=2, keepdims=True)
    kept = np.where(complete, blocks, 0.0)  # a row of zeros moves no coefficient
    return _solved(kept[:, :, :-1], kept[:, :, -1])


@np.errstate(all="ignore")
def intercept_and_slopes(blocks: FloatArray) -> FloatArray:
    """The same with a constant besides, whose coefficient comes first."""
    complete = np.isfinite(blocks).all(axis=2, keepdims=True)
    kept = np.where(complete, blocks, 0.0)
    return _solved(np.concatenate([complete.astype(np.float64), kept[:, :, :-1]], axis=2), kept[:, :, -1])


def _solved(design: FloatArray, answer: FloatArray) -> FloatArray:
    """By an orthogonal triangle of each block's own columns, scaled to length 1; NaN where that leaves something open.

    Neither factorisation nor solution can fail: a triangle with an open coefficient is replaced before it is solved, so
    that no block's numbers raise.
    """
    _, rows, columns = design.shape
    identity = np.eye(columns)
    if rows < columns:
        return np.full((len(design), columns), np.nan)
    length = np.sqrt((design**2).sum(axis=1, keepdims=True))
    unit = np.where((length > 0) & np.isfinite(length), design / length, 0.0)
    orthogonal, triangle = np.linalg.qr(unit)
    diagonal = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
    determined = (diagonal > _DEPENDENT).all(axis=1)
    safe = np.where(determined[:, np.newaxis, np.newaxis], triangle, identity)
    projected = (orthogonal * answer[:, :, np.newaxis]).sum(axis=1)
    found = np.linalg.solve(safe, projected[:, :, np.newaxis])[:, :, 0] / length[:, 0]
    usable = determined & np.isfinite(found).all(axis=1)
    return np.asarray(np.where(usable[:, np.newaxis], found, np.nan))


@dataclass(frozen=True)
class Standard:
    """Features and target measured from the middle of public ranges, in half-ranges, and coefficients taken back.

    Cell by cell, nothing is clipped. All numbers are public. Without an intercept middles are not taken off.
    """

    middles: tuple[Fraction, ...]
    halves: tuple[Fraction, ...]  # of the features, and of the target at the end

    @classmethod
    def of(cls, lower: tuple[Fraction, ...], upper: tuple[Fraction, ...], intercept: bool) -> Standard:
        middles = tuple((a + b) / 2 if intercept else Fraction(0) for a, b in zip(lower, upper, strict=True))
        return cls(middles, tuple((b - a) / 2 for a, b in zip(lower, upper, strict=True)))

    def cells(self, cells: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray((cells - np.array(self.middles, dtype=float)) / np.array(self.halves, dtype=float))

    def in_units(self, point: FloatArray, intercept: bool) -> FloatArray:
        """Released coefficients in the columns' own units: post-processing."""
        *x_middles, y_middle = (float(v) for v in self.middles)
        *x_halves, y_half = (float(v) for v in self.halves)
        steep = point[1:] if intercept else point
        back = steep * y_half / np.array(x_halves)
        if not intercept:
            return np.asarray(back)
        return np.append(y_middle + y_half * point[0] - float(np.dot(back, x_middles)), back)
