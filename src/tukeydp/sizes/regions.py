"""The level sets of public directions as regions with integer halfspaces."""

from __future__ import annotations

import numpy as np

from tukeydp.data.scale import centre_and_scale
from tukeydp.exact.linear_programs import Region
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import integers


class Regions:
    """The polytopes of the levels, within the public box."""

    def __init__(self, levels: LevelSets, within: Box) -> None:
        self._levels = levels
        self.d = levels.d
        self.top = levels.highest_unbroken()
        units = np.eye(levels.d, dtype=np.int64)
        self.normals = integers(np.vstack([levels.directions, -levels.directions, units, -units]))
        self._bounds = integers([*within.high, *(-a for a in within.low)])
        centre, self.scale = centre_and_scale(levels.sample)
        self.centre = integers(centre)

    def at(self, level: int) -> Region:
        low, high = self._levels.offsets(level)
        offsets = np.concatenate([integers(high), -integers(low), self._bounds])
        return Region(self.normals, offsets, self.centre, self.scale)
