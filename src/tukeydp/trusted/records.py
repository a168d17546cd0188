"""What the loops over proposals read, in NumPy and compiled: records, not twenty arrays of equal types.

Two arrays that trade places would change the law.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tukeydp.trusted.boxes import Box, Pieces, Union
from tukeydp.trusted.laws import WordTable
from tukeydp.trusted.levels import LevelSets
from tukeydp.trusted.parameters import IntArray

# What a run of proposals ended with: no words left; a point; a level, coordinates or ranks to be found outside.
EXHAUSTED, ACCEPTED, UNDECIDED, STARVED, SHALLOW = 0, 1, 2, 3, 4
# Words kept in hand when a proposal starts, for coordinates that must be redrawn. Speed only: a proposal that runs out
# of words all the same is finished outside the kernel.
SPARE = 16


class UniformDraw(NamedTuple):
    """One box or several (one a row) to draw from uniformly, by Lemire's method (2019).

    A coordinate is low + (upper half of word * width), and redrawn where the lower half is below `leftover`, which is
    2^64 mod width.
    """

    low: IntArray
    width: NDArray[np.uint64]
    leftover: NDArray[np.uint64]


class PieceTable(NamedTuple):
    """Disjoint boxes, one a row, and how many points each and those before it have."""

    low: IntArray
    width: IntArray
    ends: IntArray


class Proposals(NamedTuple):
    """How words become proposals.

    Words first[i] ... last[i] mean level[i] and box[i], others are undecided; the search for a word's i starts at
    guide[leading byte]. Points of slanted boxes are turned by inverse[box], and must be between `floor` and `ceiling`.
    Where parts[box] is not 0, the points of so many pieces, or of the last of these, are drawn from by number: the box
    is one column wide, and holds the numbers.
    """

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    level: IntArray
    box: IntArray
    guide: IntArray
    boxes: UniformDraw
    parts: IntArray
    pieces: PieceTable
    slanted: NDArray[np.bool_]
    inverse: IntArray
    floor: IntArray
    ceiling: IntArray


class Ranks(NamedTuple):
    """Who is deep: projections are sorted for each direction, the first and last `left_out` of them left out.

    `highest` is the highest level whose two ranks are here: some in the middle may be left out too.
    """

    directions: IntArray
    projections: IntArray
    left_out: int
    highest: int


class Slabs(NamedTuple):
    """One level: the points whose product with every direction is between `smallest` and `largest`, ends included."""

    directions: IntArray
    smallest: IntArray
    largest: IntArray


def uniform_draw(low: IntArray, high: IntArray) -> UniformDraw:
    """Draws from the boxes low ... high, ends included; fewer than 2^63 steps wide."""
    width = (high - low + 1).astype(np.uint64)
    # One layout in memory, whatever the data: compiled code is kept in a file for each layout that was seen.
    return UniformDraw(np.ascontiguousarray(low), width, (np.uint64(0) - width) % width)


def slabs(directions: IntArray, smallest: IntArray, largest: IntArray) -> Slabs:
    """One level, in one layout in memory too."""
    return Slabs(*map(np.ascontiguousarray, (directions, smallest, largest)))


def proposals(table: WordTable, boxes: Sequence[Box | Union], within: Box) -> Proposals:
    """Proposals from these boxes; each of the slanted ones has a basis of its own, the unions share their pieces."""
    d = len(within.low)
    inverse = np.tile(np.eye(d, dtype=np.int64), (len(boxes), 1, 1))
    for i, box in enumerate(boxes):
        if isinstance(box, Box) and box.basis is not None:
            inverse[i] = box.basis.inverse
    unions = [box for box in boxes if isinstance(box, Union)]
    nothing = np.zeros((0, d), dtype=np.int64)
    pieces = unions[0].pieces if unions else Pieces(nothing, nothing, np.zeros(0, dtype=np.int64))
    rest = (0,) * (d - 1)  # of a point's number there is one
    ends = [
        (box.low, box.high) if isinstance(box, Box) else ((box.first, *rest), (box.first + box.size - 1, *rest))
        for box in boxes
    ]
    leading = np.arange(256, dtype=np.uint64) << np.uint64(56)
    return Proposals(
        first=table.first,
        last=table.last,
        level=table.level,
        box=table.group,
        guide=np.maximum(np.searchsorted(table.first, leading, side="right") - 1, 0),
        boxes=uniform_draw(
            np.array([low for low, _ in ends], dtype=np.int64), np.array([high for _, high in ends], dtype=np.int64)
        ),
        parts=np.array([box.count if isinstance(box, Union) else 0 for box in boxes]),
        pieces=PieceTable(pieces.low, pieces.high - pieces.low + 1, pieces.ends),
        slanted=np.array([isinstance(box, Box) and box.basis is not None for box in boxes]),
        inverse=inverse,
        floor=np.array(within.low, dtype=np.int64),
        ceiling=np.array(within.high, dtype=np.int64),
    )


def ranks(levels: LevelSets) -> Ranks:
    """The ranks found so far."""
    window = levels.window
    return Ranks(levels.directions, window.projections, window.first, window.highest)
