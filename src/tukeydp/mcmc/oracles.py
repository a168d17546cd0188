"""Random walks as Algorithm 3's oracle and sampler. They promise nothing, so neither does a run with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.algorithm3.oracles import PublicSetting, SamplingPromise, VolumePromise
from tukeydp.algorithm3.padded_levels import PaddedLevels
from tukeydp.depth.levels import LevelSets
from tukeydp.mcmc.nests import Nest, generator, nest_log_volumes
from tukeydp.mcmc.scaled import scaled_nest
from tukeydp.randomness import derived_key


@dataclass(frozen=True)
class McmcVolumes:
    """Gaussian cooling and ratios between levels; volumes in place of counts of grid points. Proves nothing."""

    error: float = 0.03

    def promise(self, asked: VolumePromise, setting: PublicSetting) -> None:
        return None

    def sizes(self, sets: PaddedLevels, asked: VolumePromise, key: bytes) -> list[Fraction]:
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=sets.highest)
        unit = float(np.log(scaled.scale).sum())
        logs = nest_log_volumes(scaled.nest, key, error=self.error) + unit
        volumes = [Fraction(sets.box_size(0)), *map(_exp, logs.tolist())]
        volumes += [Fraction(0)] * (sets.highest + 1 - len(volumes))
        return [v + sets.padding * sets.box_size(level) for level, v in enumerate(volumes)]


@dataclass(frozen=True)
class HitAndRun:
    """The end of one walk, rounded to the grid. Proves nothing."""

    def promise(self, asked: SamplingPromise, setting: PublicSetting) -> None:
        return None

    def point(self, sets: PaddedLevels, level: int, asked: SamplingPromise, key: bytes) -> list[int]:
        rng = generator(key, 0)
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=max(1, sets.highest))
        low, high = sets.box(level) or (sets.grid.low, sets.grid.high)
        solid = level <= len(scaled.nest.offsets)
        if level > 0 and (not solid or rng.random() < self._share_of_copy(sets, scaled.nest, scaled.scale, level, key)):
            return [a + int(rng.random() * (b - a + 1)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        y = np.rint(scaled.coordinates(level, rng)).astype(np.int64) + scaled.centre
        return np.clip(y, low, high).tolist()

    def _share_of_copy(self, sets: PaddedLevels, nest: Nest, scale: np.ndarray, level: int, key: bytes) -> float:
        only = Nest(nest.normals, nest.offsets[level - 1 : level], nest.inside)
        # A key of its own: the walk that comes afterwards must not go through the same numbers again.
        volume = _exp(float(nest_log_volumes(only, derived_key("share", key))[0] + np.log(scale).sum()))
        copy = sets.padding * sets.box_size(level)
        return float(copy / (copy + volume))


def _with_axes(sets: PaddedLevels) -> LevelSets:
    return sets.axes.with_directions(sets.levels.directions)


def _exp(x: float) -> Fraction:
    """e^x as a rational, also where it is beyond the floats."""
    whole = math.floor(x / math.log(2))
    return Fraction(math.exp(x - whole * math.log(2))) * Fraction(2) ** whole
