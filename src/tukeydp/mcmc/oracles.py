"""Random walks as Algorithm 3's oracle and sampler. They promise nothing, so neither does a run with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.data.grid import Grid
from tukeydp.depth.levels import LevelSets
from tukeydp.mcmc.nests import Nest, generator, nest_log_volumes
from tukeydp.mcmc.scaled import scaled_nest
from tukeydp.mcmc.volumes import USUAL_ERROR
from tukeydp.randomness import derived_key


class PaddedSets(Protocol):
    """What Algorithm 3 hands to its oracles: see `tukeydp.algorithm3.padded_levels`."""

    @property
    def levels(self) -> LevelSets: ...

    @property
    def axes(self) -> LevelSets: ...

    @property
    def grid(self) -> Grid: ...

    @property
    def padding(self) -> Fraction: ...

    @property
    def highest(self) -> int: ...

    def box(self, level: int) -> tuple[IntArray, IntArray] | None: ...

    def box_size(self, level: int) -> int: ...


@dataclass(frozen=True)
class McmcVolumes:
    """Gaussian cooling and ratios between levels; volumes in place of counts of grid points. Proves nothing."""

    error: float = USUAL_ERROR

    def promise(self, asked: object, setting: object) -> None:
        return None

    def sizes(self, sets: PaddedSets, asked: object, key: bytes) -> list[Fraction]:
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=sets.highest)
        unit = float(np.log(scaled.scale).sum())
        logs = nest_log_volumes(scaled.nest, key, error=self.error) + unit
        volumes = [Fraction(sets.box_size(0)), *map(_exp, logs.tolist())]
        volumes += [Fraction(0)] * (sets.highest + 1 - len(volumes))
        return [v + sets.padding * sets.box_size(level) for level, v in enumerate(volumes)]


@dataclass(frozen=True)
class HitAndRun:
    """The end of one walk, rounded to the grid. Proves nothing."""

    def promise(self, asked: object, setting: object) -> None:
        return None

    def point(self, sets: PaddedSets, level: int, asked: object, key: bytes) -> list[int]:
        rng = generator(key, 0)
        scaled = scaled_nest(_with_axes(sets), sets.grid, highest=max(1, sets.highest))
        low, high = sets.box(level) or (sets.grid.low, sets.grid.high)
        solid = level <= len(scaled.nest.offsets)
        if level > 0 and (not solid or rng.random() < self._share_of_copy(sets, scaled.nest, scaled.scale, level, key)):
            return [a + int(rng.random() * (b - a + 1)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        y = np.rint(scaled.coordinates(level, rng)).astype(np.int64) + scaled.centre
        return np.clip(y, low, high).tolist()

    def _share_of_copy(self, sets: PaddedSets, nest: Nest, scale: np.ndarray, level: int, key: bytes) -> float:
        only = Nest(nest.normals, nest.offsets[level - 1 : level], nest.inside)
        # A key of its own: the walk that comes afterwards must not go through the same numbers again.
        volume = _exp(float(nest_log_volumes(only, derived_key("share", key))[0] + np.log(scale).sum()))
        copy = sets.padding * sets.box_size(level)
        return float(copy / (copy + volume))


def _with_axes(sets: PaddedSets) -> LevelSets:
    return sets.axes.with_directions(sets.levels.directions)


def _exp(x: float) -> Fraction:
    """e^x as a rational, also where it is beyond the floats."""
    whole = math.floor(x / math.log(2))
    return Fraction(math.exp(x - whole * math.log(2))) * Fraction(2) ** whole
