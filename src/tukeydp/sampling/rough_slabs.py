"""A level's slabs in the coordinates of a tilted parallelepiped, in floats, and wide enough for all their roundings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.parameters import FloatArray, IntArray
from tukeydp.trusted.shapes import Parallelepiped, TiltedBox

# Of the largest sum, how far floats may be off: 2^-53 for each of a few hundred roundings is less than 2^-44.
_ROUNDINGS = 2.0**-40


class RoughSlabs(NamedTuple):
    """Points in the level have least[slot, i] <= sum_j slopes[frame[slot], i, j] s_j <= most[slot, i], s from the low
    corner.

    Slots of other boxes have bounds that nothing is beyond.
    """

    slopes: FloatArray
    frame: IntArray
    least: FloatArray
    most: FloatArray


def rough_slabs(directions: IntArray, boxes: Sequence[Any], ranks: Sequence[tuple[IntArray, IntArray]]) -> RoughSlabs:
    """For the box and the two ranks of each slot."""
    frames: dict[int, int] = {}
    slopes = [np.zeros(directions.shape)]
    frame = np.zeros(len(boxes), dtype=np.int64)
    least = np.full((len(boxes), len(directions)), -np.inf)
    most = np.full((len(boxes), len(directions)), np.inf)
    half = np.abs(directions).sum(axis=1) / 2
    for slot, (box, (smallest, largest)) in enumerate(zip(boxes, ranks, strict=True)):
        if not isinstance(box, TiltedBox) or not isinstance(box.box, Parallelepiped):
            continue
        shape = box.box
        if id(shape.frame) not in frames:
            frames[id(shape.frame)] = len(slopes)
            slopes.append(shape.frame.turned(directions).astype(np.float64) * shape.frame.unit)
        frame[slot] = frames[id(shape.frame)]
        first, last = shape.at_corner(directions)
        low, high = (smallest - last).astype(np.float64), (largest - first).astype(np.float64)
        sums = np.abs(slopes[frame[slot]]) @ np.array(shape.widths, dtype=np.float64)
        off = half + 1 + _ROUNDINGS * (sums + np.abs(low) + np.abs(high))
        least[slot], most[slot] = low - off, high + off
    return RoughSlabs(np.array(slopes), frame, least, most)
