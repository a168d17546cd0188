"""The deepest level of exact depth that holds a grid point.

A thin level set may hold none, and still be in boxes of many: proposals from there would all be refuted.
"""

from __future__ import annotations

import numpy as np

from tukeydp.depth.deciding import GridDepth
from tukeydp.exact.slices import count_in_slices
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import region_of
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.matrices import Integers


def deepest(levels: LevelSets, depth: GridDepth, within: Box, lowest: int, top: int) -> tuple[LevelSets, int]:
    """The deepest level with a grid point in `within`, from `top` down, and level sets with what refuted the others.

    `levels` are the envelope of the depth, and no grid point is deeper than `top`. At least `lowest`.
    """
    step = 1
    empty = top + 1
    held = lowest
    while empty - step > held:
        levels, found = _holds(levels, depth, within, empty - step)
        if found:
            held = empty - step
            break
        empty, step = empty - step, 2 * step
    while held + 1 < empty:
        middle = (held + empty) // 2
        levels, found = _holds(levels, depth, within, middle)
        held, empty = (middle, empty) if found else (held, middle)
    return levels, held


def _holds(levels: LevelSets, depth: GridDepth, within: Box, level: int) -> tuple[LevelSets, bool]:
    """Whether some grid point is so deep, and the level sets with the halfspaces that showed where none is."""
    fresh: list[list[int]] = []

    def decide(point: Integers) -> tuple[Integers, Integers] | None:
        cuts = depth.cuts(point, level)
        if cuts is None:
            return None
        fresh.extend(cuts.fitting)
        return cuts.normals, cuts.offsets

    found = count_in_slices(1, region_of(levels, within, level), decide)
    if fresh:
        levels = levels.with_directions(np.unique(np.array(fresh, dtype=np.int64), axis=0))
    return levels, bool(found)
