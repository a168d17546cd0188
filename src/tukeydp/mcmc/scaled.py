"""Level sets of a dataset on a grid as a nest of polytopes in coordinates of about unit size. Floats; not private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.grid import Grid
from tukeydp.data.scale import middle_range
from tukeydp.depth.levels import LevelSets
from tukeydp.mcmc.nests import Nest, solid_nest
from tukeydp.mcmc.rounding import make_round
from tukeydp.mcmc.walks import walk_on

# Sweeps, for each column, of the walk whose last point is taken. From experience; fewer, and the point remembers where
# the walk began.
_SWEEPS_PER_COLUMN = 200


@dataclass(frozen=True, eq=False)
class ScaledNest:
    """Levels 1, 2, ... that have inner points, cut by the grid's box, in z = (y - centre) / scale."""

    nest: Nest
    centre: IntArray
    scale: FloatArray
    grid: Grid

    @property
    def log_box(self) -> float:
        """Logarithm of the box's volume, in units of z."""
        return float(np.log((self.grid.high - self.grid.low) / self.scale).sum())

    def coordinates(self, level: int, rng: np.random.Generator) -> FloatArray:
        """A point of the level, nearly uniform, in grid coordinates counted from `centre`."""
        low, high = self.grid.low - self.centre, self.grid.high - self.centre
        d = len(self.scale)
        if level == 0:
            return low + rng.random(d) * (high - low)
        nest = self.nest
        rounded = make_round(nest.normals, nest.offsets[level - 1], nest.inside, rng)
        steps = _SWEEPS_PER_COLUMN * d * d
        last = walk_on(rounded.normals, rounded.offsets, np.zeros(d), rng, samples=1, thin=steps)[0]
        return np.clip(self.scale * rounded.outwards(last), low, high)

    def point(self, level: int, rng: np.random.Generator) -> FloatArray:
        """The same in data units."""
        lower = np.array([float(v) for v in self.grid.lower])
        step = np.array([float(v) for v in self.grid.step])
        return lower + (self.coordinates(level, rng) + (self.centre - self.grid.low)) * step


def scaled_nest(levels: LevelSets, grid: Grid, *, highest: int) -> ScaledNest:
    """The levels 1 ... highest, without those that are flat or empty."""
    sample = levels.sample
    centre, scale = sample[len(sample) // 2], np.maximum(middle_range(sample), 1.0)
    stretched = levels.directions * scale
    lengths = np.linalg.norm(stretched, axis=1)
    normals = stretched / lengths[:, np.newaxis]
    count = min(highest, levels.highest_unbroken())
    # Projections are integers below 2^62: their differences are exact, and small where the data is.
    at_centre = (levels.directions @ centre)[:, np.newaxis]
    smallest = (levels.projections[:, :count] - at_centre) / lengths[:, np.newaxis]
    largest = (levels.projections[:, ::-1][:, :count] - at_centre) / lengths[:, np.newaxis]
    walls = np.concatenate([(grid.high - centre) / scale, (centre - grid.low) / scale])
    offsets = np.vstack([largest, -smallest, np.repeat(walls[:, np.newaxis], count, axis=1)]).T
    eye = np.eye(levels.d)
    nest = solid_nest(np.vstack([normals, -normals, eye, -eye]), np.ascontiguousarray(offsets))
    return ScaledNest(nest, centre, scale, grid)
