"""Parallelepipeds of directions: of all the slabs that bound a level, d whose common part is small.

The ranks of a level bound it along every direction; near the top programs bound it more tightly. Which directions make
up a frame affects speed only: those along which strongly correlated columns are narrow make parallelepipeds 10^7 times
smaller than boxes.
"""

from __future__ import annotations

import math

import numpy as np

from tukeydp.hints.boxes import Certifier
from tukeydp.trusted.covers import Cover
from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.shapes import Parallelepiped

# Speed only.
_REACH = 20.0  # a level is about as wide as so many radii of the ellipsoid, at most
_SWAPS = 200  # of one direction of a frame for a better one, at most
_BETTER = 1.05  # a swap makes a volume smaller by this factor at least
_WORTH_ANOTHER = math.log(2)  # log of how much smaller a level is in a frame of its own: these take a while to invert


class Frames:
    """The frames chosen so far, each for one level or more."""

    def __init__(self, certifier: Certifier) -> None:
        self._certifier, self._levels = certifier, certifier.covers.view
        levels = self._levels
        self._lengths = np.abs(levels.directions).sum(axis=1)
        self._chosen: list[IntArray] = []  # directions of each, by number

    def around(self, level: int, known: Cover) -> list[Cover]:
        """A small parallelepiped that holds a level; nothing if there is none whose points fit in words.

        `known` is a box around the level. Where not all slabs touch it, programs make the parallelepiped tighter.
        """
        if not self._levels.directions.any(axis=0).all():  # a column that no direction crosses
            return []
        smallest, largest = self._levels.offsets(level)
        slabs = self._levels.directions / self._widths(level, smallest, largest)[:, np.newaxis]
        rows = _most_independent(slabs)
        if rows is None:
            return []
        best = max(self._chosen, key=lambda chosen: _log_determinant(slabs, chosen), default=None)
        if best is None or _log_determinant(slabs, rows) > _log_determinant(slabs, best) + _WORTH_ANOTHER:
            best = rows
            self._chosen.append(best)
        supports = self._certifier.hints.supports([level], self._levels.directions[best].tolist())[0]
        found = self._certifier.covers.framed(level, best.tolist(), supports, known)
        return [found] if found.parts and isinstance(found.parts[0], Parallelepiped) else []

    def _widths(self, level: int, smallest: IntArray, largest: IntArray) -> FloatArray:
        """About how wide a level is along each direction: its slab, or less where others bound it more tightly."""
        slabs: FloatArray = (largest - smallest + self._lengths).astype(np.float64)
        middle = self._certifier.hints.middle(level)
        if middle is None:
            return slabs
        at = self._levels.directions @ middle
        near = np.maximum(largest - at, 1.0) ** -2 + np.maximum(at - smallest, 1.0) ** -2
        # The ellipsoid around the middle that fits between all slabs (Dikin 1967), of columns of about equal widths.
        columns = self._levels.directions / np.abs(self._levels.directions / slabs[:, np.newaxis]).max(axis=0)
        try:
            inner = np.linalg.inv((columns.T * near) @ columns)
        except np.linalg.LinAlgError:
            return slabs
        # Of a level that is far thinner one way than another, rounding makes some squares negative.
        squares = np.maximum(np.einsum("ij,jk,ik->i", columns, inner, columns), 0.0)
        found = np.minimum(slabs, _REACH * np.sqrt(squares))
        return np.where(found > 0, found, slabs)


def _log_determinant(slabs: FloatArray, rows: IntArray) -> float:
    return float(np.linalg.slogdet(slabs[rows])[1])


def _most_independent(slabs: FloatArray) -> IntArray | None:
    """d rows of which the determinant is large, and no swap of one makes it much larger: a hint."""
    d = slabs.shape[1]
    rest = slabs / np.abs(slabs).max(axis=0)
    slabs, rows = rest, np.empty(d, dtype=np.int64)
    for i in range(d):
        lengths = np.linalg.norm(rest, axis=1)
        rows[i] = np.argmax(lengths)
        if not lengths[rows[i]] > 0:
            return None
        unit = rest[rows[i]] / lengths[rows[i]]
        rest = rest - np.outer(rest @ unit, unit)
    for _ in range(_SWAPS):
        try:
            factors = np.abs(slabs @ np.linalg.inv(slabs[rows]))
        except np.linalg.LinAlgError:
            return None
        fresh, out = np.unravel_index(np.argmax(factors), factors.shape)
        if not factors[fresh, out] > _BETTER:
            break
        rows[out] = fresh
    return rows
