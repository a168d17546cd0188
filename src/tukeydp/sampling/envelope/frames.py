"""Parallelepipeds of directions: of all the slabs that bound a level, d whose common part is small.

The ranks of a level bound it along every direction: no program is needed. Which directions make up a frame affects
speed only; of strongly correlated columns those along which rows are narrow make parallelepipeds 10^7 times smaller
than boxes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.parallelepipeds import Frame, Parallelepiped, around, frame_of

# Speed only.
_SWAPS = 200  # of one direction of a frame for a better one, at most
_BETTER = 1.05  # a swap makes a volume smaller by this factor at least
_WORTH_ANOTHER = math.log(2)  # log of how much smaller a level is in a frame of its own: these take a while to invert
_LARGEST = 2.0**61  # products of a corner with directions, so that differences with ranks are exact in 64 bits


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Directions, by number, and the frame of them."""

    rows: IntArray
    frame: Frame


class Frames:
    """The frames chosen so far, each for one level or more."""

    def __init__(self, levels: LevelSets) -> None:
        self._levels = levels
        self._lengths = np.abs(levels.directions).sum(axis=1)
        self._chosen: list[_Chosen] = []

    def around(self, level: int) -> list[Parallelepiped]:
        """A small parallelepiped that holds a level; nothing if there is none whose points fit in words."""
        smallest, largest = self._levels.offsets(level)
        slabs = self._levels.directions / (largest - smallest + self._lengths)[:, np.newaxis].astype(np.float64)
        rows = _most_independent(slabs)
        if rows is None:
            return []
        best = max(self._chosen, key=lambda chosen: _log_determinant(slabs, chosen.rows), default=None)
        if best is None or _log_determinant(slabs, rows) > _log_determinant(slabs, best.rows) + _WORTH_ANOTHER:
            frame = frame_of(self._levels.directions[rows])
            if frame is None:
                return []
            best = _Chosen(rows, frame)
            self._chosen.append(best)
        found = around(best.frame, smallest[best.rows].tolist(), largest[best.rows].tolist())
        corner = np.abs(np.array(found.corner(), dtype=np.float64)) + 1
        return [found] if (np.abs(self._levels.directions).astype(np.float64) @ corner).max() < _LARGEST else []


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
