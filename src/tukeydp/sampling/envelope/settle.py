"""Boxes so small that every grid point in them can be looked at.

On a coarse grid the level sets near the top are polytopes without a single grid point, which no linear program can tell
from others: without this, nearly all proposals would be made for levels that hold no point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.depth.levels import LevelSets
from tukeydp.exact.boxes import Box


class Refinable(Protocol):
    """Boxes at some levels, and more of them when asked; a level that turns out to be empty lowers the top."""

    top: int
    boxes: dict[int, Box]

    def refine(self, wanted: Sequence[int]) -> None: ...


def lowest_small(envelope: Refinable, most_points: int) -> int | None:
    """The lowest level whose box has at most so many points; box sizes fall as levels rise."""
    low, high, step = 0, None, 1
    probe = envelope.top
    while probe > low:
        envelope.refine([probe])
        if probe > envelope.top:  # it turned out to be empty, and so are those above
            high, probe = None, _highest_filled(envelope, low)
        elif envelope.boxes[probe].size <= most_points:
            high, probe, step = probe, max(probe - step, (low + probe) // 2), 2 * step
        else:
            low = probe
            probe = low if high is None else (low + high) // 2
    return high if high in envelope.boxes else None


def _highest_filled(envelope: Refinable, low: int) -> int:
    """The highest level above `low` that is not proven empty, or `low`: by steps that double, then by halving.

    On coarse grids of many rows thousands of levels below the top are empty. Boxes on the way are not kept.
    """
    at, step = envelope.top, 1
    while at > low and not _filled(envelope, at):
        at, step = max(low, at - step), 2 * step
    while at < envelope.top:
        middle = (at + envelope.top + 1) // 2
        if _filled(envelope, middle):
            at = middle
    return at


def _filled(envelope: Refinable, level: int) -> bool:
    """Whether a level is not proven empty; if it is, the top is lowered."""
    if level not in envelope.boxes:
        envelope.refine([level])
        return envelope.boxes.pop(level, None) is not None
    return True


def base_level(envelope: Refinable, levels: LevelSets, within: Box, lowest: int, half_epsilon: float) -> int | None:
    """A level with a box of its own, so low that the levels below it have little weight: branch and bound starts there.

    Little next to the weight of one point of the depth that the middle of the sample has.
    """
    if envelope.top <= lowest:
        return None
    middle = np.clip(levels.sample[len(levels.sample) // 2], within.low, within.high)
    depth = int(levels.depths(middle[np.newaxis], max(1, lowest))[0])
    base = max(lowest + 1, depth - math.ceil(min(float(depth), math.log(within.size) / half_epsilon)))
    envelope.refine([base])
    return base if base in envelope.boxes else None


def spanned_boxes(levels: LevelSets, box: Box, level: int) -> tuple[int, dict[int, Box]]:
    """The depth of the deepest point in the level's box, and what the points of `level` and of those above it span.

    The depth is `level` - 1 if no point is as deep as that. Each box serves the levels up to the next.
    """
    points = _members(levels, _points_in(box), level)
    depths = levels.depths(points, level)
    points, depths = points[depths >= level], depths[depths >= level]
    boxes = {}
    start = level
    for depth in np.unique(depths).tolist():
        deep = points[depths >= depth]
        boxes[start] = Box(tuple(deep.min(axis=0).tolist()), tuple(deep.max(axis=0).tolist()))
        start = depth + 1
    return int(depths.max(initial=level - 1)), boxes


def _members(levels: LevelSets, points: IntArray, level: int) -> IntArray:
    """Those of the points that are in a level: in many columns few are, and the rest need no depth.

    The last directions come first: the axes, which the box has seen to, are among the others.
    """
    smallest, largest = levels.offsets(level)
    end, together = len(levels.directions), 2
    while end:
        some = slice(max(0, end - together), end)
        projected = points @ levels.directions[some].T
        points = points[((smallest[some] <= projected) & (projected <= largest[some])).all(axis=1)]
        end, together = some.start, 2 * together
    return points


def _points_in(box: Box) -> IntArray:
    """All grid points of a box."""
    rest = np.arange(box.size, dtype=np.int64)
    columns = []
    for a, b in zip(box.low, box.high, strict=True):
        rest, place = np.divmod(rest, b - a + 1)
        columns.append(a + place)
    return np.column_stack(columns)
