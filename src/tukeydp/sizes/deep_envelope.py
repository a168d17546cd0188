"""Halfspaces around the level sets of exact depth, more of them as they are found.

For any normal the level-th largest projection of the rows, ranked in integers, bounds the level set.
"""

from __future__ import annotations

import numpy as np

from tukeydp.exact.linear_programs import Region
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rows import LIMIT


class DeepEnvelope:
    """What is known to hold the level sets within a box. It only shrinks. Not private: all of this is the data."""

    def __init__(self, levels: LevelSets, within: Box, centre: Integers, scale: FloatArray) -> None:
        """`centre` and `scale` are about those of the level sets: hints."""
        self._levels, self._within = levels, within
        self._place = centre, scale
        self.known: set[tuple[int, ...]] = set()  # normals that were added
        self._long: list[tuple[Integers, list[int]]] = []  # those beyond 64 bits, and sorted projections on them

    @property
    def d(self) -> int:
        return self._levels.d

    def extended(self, normals: list[list[int]]) -> bool:
        """Whether there are any among these that were not known; they are now."""
        fresh = sorted({tuple(v) for v in normals} - self.known)
        self.known.update(fresh)
        short = [v for v in fresh if self._fits(v)]
        if short:
            self._levels = self._levels.with_directions(np.array(short, dtype=np.int64))
        rows = integers(self._levels.table)
        self._long += [(integers(v), sorted((rows @ integers(v)).tolist())) for v in fresh if not self._fits(v)]
        return bool(fresh)

    def _fits(self, normal: tuple[int, ...]) -> bool:
        extent = max(max(abs(a), abs(b)) for a, b in zip(self._within.low, self._within.high, strict=True))
        return sum(map(abs, normal)) * extent < LIMIT

    def halfspaces(self, level: int) -> tuple[FloatArray, FloatArray]:
        """Normals and offsets in floats, those that 64 bits hold: hints."""
        low, high = self._levels.offsets(level)
        directions = self._levels.directions.astype(np.float64)
        return np.concatenate([directions, -directions]), np.concatenate([high, -low]).astype(np.float64)

    def region(self, level: int) -> Region | None:
        """All halfspaces of a level; None if no grid point is so deep."""
        if not 1 <= level <= self._levels.highest_unbroken():
            return None
        low, high = self._levels.offsets(level)
        directions = integers(self._levels.directions)
        units = integers(np.eye(directions.shape[1], dtype=np.int64))
        normals, offsets = [directions, -directions], [integers(high), -integers(low)]
        for normal, projections in self._long:
            normals.append(np.stack([normal, -normal]))
            offsets.append(integers([projections[-level], -projections[level - 1]]))
        bounds = integers([*self._within.high, *(-a for a in self._within.low)])
        return Region(np.concatenate([*normals, units, -units]), np.concatenate([*offsets, bounds]), *self._place)
